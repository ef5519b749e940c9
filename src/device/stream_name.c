/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of streams. They are passed to profilers and not kept. */
#include "gnomon/tool.h"
#include "mark/callbacks.h"
#include "mark/region.h"
#include "mark/tls.h"
#include "mark/upcall.h"
#include "platform/owner.h"

/* Interned, as in gnomon_thread_name_n, so that profilers may keep the pointer. */
void gnomon_stream_name_n(const gnomon_device *device, void *stream,
                          const char *name, size_t length)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__tls_now()->thread, reentered);
        return;
    }
    if (!gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__no_thread, reentered);
        return;
    }
    const gnomon_host *to = load_acquire(&gnomon__owner);
    if (to) {
        if (to->struct_size > offsetof(gnomon_host, stream_name))
            to->stream_name(device, stream, name, length);
        return;
    }
    if (!load_relaxed(&gnomon_enabled) || !device)
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    const char *clean = gnomon__region_name(gnomon__region_named(
        gnomon__text_of(name, length),
        gnomon__text_of("stream name", GNOMON_TO_NUL), GNOMON_KIND_MARK));
    uint32_t hooks = load_relaxed(&t->attached) & ~t->recorder_bits;
    gnomon_stream_event event = {sizeof event, t->number, device, stream,
                                 clean};
    GNOMON__HOOKS_CALL(t, &t->attached, hooks, stream, &event);
    gnomon__leave(t);
}

void gnomon_stream_name(const gnomon_device *device, void *stream,
                        const char *name)
{
    gnomon_stream_name_n(device, stream, name, GNOMON_TO_NUL);
}

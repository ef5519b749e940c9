/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of streams: handed to whoever shows streams, and kept nowhere. */
#include "mark/region.h"
#include "mark/sink.h"
#include "mark/upcall.h"
#include "platform/owner.h"

/* As gnomon_thread_name: the text is interned, so that it stays. */
void gnomon_stream_name(const gnomon_device *device, void *stream,
                        const char *name)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    if (!gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__nobody, reentered);
        return;
    }
    const gnomon_host *to = load_acquire(&gnomon__owner);
    if (to) {
        if (to->struct_size > offsetof(gnomon_host, stream_name))
            to->stream_name(device, stream, name);
        return;
    }
    if (!load_relaxed(&gnomon_gate) || !device)
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    if (!name)
        gnomon__trouble(t, bad_names);
    const char *clean = gnomon__region_name(gnomon__region_intern(
        name ? name : "(null)", "stream name", GNOMON_KIND_MARK));
    uint32_t hooks = load_relaxed(&t->attached) & ~t->tree_bits;
    uint32_t live = gnomon__hooks_enter(t, &t->attached, hooks);
    for (; live; live &= live - 1) {
        const gnomon__sink *s = &gnomon__sinks[__builtin_ctz(live)];
        if (s->hook->stream)
            s->hook->stream(s->self, device, stream, clean);
    }
    gnomon__hooks_leave(t);
    gnomon__leave(t);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Streams (keep=stream): once a quarter of all memory is full blocks of events, or an
 * eighth events of devices, the thread that waits for the end of the process (end.c) gives
 * them to the callback `events`, as profiles of PART_BYTES of each. The blocks are free again
 * once they are copied, before the profile is made and written. In control calls. */
#include "platform/error.h"
#include "profile/model.h"
#include "record/activities.h"
#include "run/files.h"
#include "run/run.h"
#include "run/snapshots.h"

/* What a part is made of may take four times as much of the heap. */
#define PART_BYTES (8u << 20)

void gnomon__call_ready(gnomon__attachment *a, const gnomon__model *m)
{
    gnomon__buffer b;
    gnomon__buffer_init(&b, a);
    gnomon__fail_reason_clear();
    int code = a->profiler.events(a->self, &m->base, &b.writer);
    if (code < 0)
        gnomon__log("%s: events failed (%s)", a->profiler.name,
                    gnomon__fail_reason(code));
    gnomon__buffer_free(&b);
}

/* One profile for all profilers of the window. 0: it could not be made, or nobody wants
 * it. */
static int deliver_part(gnomon__view *v, size_t bytes)
{
    const gnomon__event_range range = {.window = v,
                                       .until = UINT64_MAX,
                                       .most = bytes,
                                       .which = GNOMON__TAPE_PART};
    gnomon__model *m = NULL;
    int code = GNOMON_OK;
    for (gnomon__attachment *a = gnomon__attachments; a && !code; a = a->next) {
        if (a->window != v || !gnomon__wants_ready(a))
            continue;
        if (!m) {
            gnomon__readers_lock();
            code = gnomon__snapshot_live(&m, v->base, 1, &range);
            gnomon__readers_unlock();
        }
        if (!code)
            gnomon__call_ready(a, m);
    }
    if (code)
        gnomon__log("a part of the trace cannot be written: %s; the next part "
                    "counts what is missing",
                    gnomon_error_text());
    int is_done = m != NULL;
    if (m)
        gnomon_profile_free(&m->base);
    return is_done;
}

/* Bytes of full blocks, and twice those of events of devices, of which half as many are
 * enough for a part. */
static uint64_t gather(const gnomon__view *v)
{
    return gnomon__tape_gather(v->tape->bit, v->tape->generation) +
           2 * gnomon__activities_waiting(v->base->tree->generation);
}

static void deliver_parts(gnomon__view *v, int all)
{
    uint64_t part = gnomon__marks_arena.size / 4;
    part = part < PART_BYTES ? part : PART_BYTES;
    /* Threads may mark faster than parts are written: then others follow later. */
    uint64_t rounds = gnomon__marks_arena.size / part + 1, least = 1;
    while (rounds-- && gather(v) >= least && deliver_part(v, (size_t)part))
        least = all ? 1 : part;
}

void gnomon__streams_deliver(int all)
{
    if (!all && !gnomon__tapes_are_full())
        return;
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape && v->keep.mode == GNOMON__KEEP_STREAM)
            deliver_parts(v, all);
}

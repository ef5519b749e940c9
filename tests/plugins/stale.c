/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin compiled against the headers of release 0.1, kept in tests/abi. It
 * must compile, load and count for as long as GNOMON_ABI is 1. */
#include "../abi/0.1/gnomon/profiler.h"

static unsigned long stale_starts, stale_stops, stale_slots;

static void stale_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    *slot = frame->token;
    __atomic_add_fetch(&stale_starts, 1, __ATOMIC_RELAXED);
}

static void stale_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    __atomic_add_fetch(&stale_stops, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&stale_slots,
                       *slot == frame->token &&
                           frame->end_ns >= frame->begin_ns &&
                           frame->name[0] == 'o',
                       __ATOMIC_RELAXED);
}

static int stale_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    gnomon_run_info run;
    gnomon_node_info node;
    unsigned long calls = 0;
    (void)self;
    for (size_t i = 1; gnomon_profile_node(profile, i, &node) == GNOMON_OK; i++)
        calls += node.host ? node.host->count : 0;
    gnomon_profile_run(profile, 1, &run);
    return out->print(out,
                      "stale: %lu starts, %lu stops, %lu slots, %lu calls, "
                      "%s\n",
                      stale_starts, stale_stops, stale_slots, calls,
                      run.spec[0] ? "a spec" : "no spec");
}

static const gnomon_profiler stale = {
    .struct_size = sizeof stale,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_TIMES,
    .name = "stale",
    .help = "of release 0.1",
    .start = stale_start,
    .stop = stale_stop,
    .summary = stale_summary,
};

GNOMON_PLUGIN(stale);

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The real functions on a state that nobody else sees, worn by a thread of ours
 * for the time of the measurement: it takes no signal, so no handler's marks go
 * astray. The smallest of several rounds, since everything that disturbs makes
 * it larger. */
#include "mark/calibrate.h"

#include "mark/region.h"
#include "mark/sink.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/os.h"

#define ROUNDS 7
#define PAIRS 500
#define BIT 30u

static gnomon_region probe = {1u << BIT,
                              sizeof probe,
                              GNOMON_ABI,
                              GNOMON_KIND_SCOPE,
                              GNOMON__OTHER_ID,
                              0,
                              "probe",
                              NULL,
                              NULL,
                              NULL,
                              NULL};

static double measured_ns; /* 0: not measured */

static void measure(void *state)
{
    uint64_t best = UINT64_MAX;
    gnomon__here_set(state);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = gnomon__os_monotonic_ns();
        for (int k = 0; k < PAIRS; k++)
            gnomon_end(gnomon_begin(&probe));
        uint64_t d = gnomon__os_monotonic_ns() - begin;
        best = d < best ? d : best;
    }
    gnomon__here_set(&gnomon__nobody);
    measured_ns = (double)best / PAIRS;
}

double gnomon__calibrate_pair_ns(void)
{
    gnomon__os_thread thread;
    gnomon__thread *t;
#ifdef GNOMON_TESTING
    return 0; /* the clock stands still */
#endif
    if (measured_ns > 0 || !gnomon__marks_arena.base ||
        gnomon__clock_kind() != GNOMON__CLOCK_COUNTER ||
        !(t = gnomon__alloc(sizeof *t)))
        return measured_ns;
    t->base = gnomon__marks_arena.base;
    t->seq = (uint64_t)(GNOMON__MAX_THREADS - 1) << GNOMON__TOKEN_SHIFT;
    t->hot_bit = BIT;
    t->gate = t->fast = t->attached = 1u << BIT;
    t->tree_bits = t->time_bits = 1u << BIT;
    t->stage_key = GNOMON__MAX_STAGES << GNOMON__REGION_BITS;
    t->epoch = load_relaxed(&gnomon__sink_epoch);
    if (gnomon__tree_make(t, BIT, 1)) {
        t->trees[BIT].stage = GNOMON__MAX_STAGES; /* no stage of the run's */
        if (!gnomon__os_thread_start(&thread, "gnomon", measure, t))
            gnomon__os_thread_join(&thread);
        gnomon__tree_drop(t, BIT);
    }
    gnomon__free(t);
    return measured_ns;
}

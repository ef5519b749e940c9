/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Measures the cost of a begin and its end: the real functions run on a thread of
 * gnomon with a state of its own. That thread takes no signal, so no handler can
 * mark in that state. The shortest of many short rounds counts, because any
 * disturbance makes a round longer, and the first rounds have cold caches. In all
 * half a millisecond. */
#include "mark/calibrate.h"

#include "mark/region.h"
#include "mark/observer.h"
#include "mark/tls.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/os.h"

#define ROUNDS 40
#define LAYERS 50
#define BIT 30u

/* Ids that no registered region has. */
#define PROBE(i, text) \
    { \
        1u << BIT, sizeof(gnomon_region), GNOMON_ABI, GNOMON_KIND_SCOPE, \
            GNOMON__MAX_REGIONS - 1 - (i), 0, text, NULL, NULL, NULL, NULL \
    }
static gnomon_region probes[] = {PROBE(0, "layer"),    PROBE(1, "norm"),
                                 PROBE(2, "matmul"),   PROBE(3, "attention"),
                                 PROBE(4, "residual"), PROBE(5, "gelu")};

/* The cost depends on whether the next path was predicted. As in a layer of a
 * GPT, half of these follow a different path than the last time. */
static const unsigned char scopes_inside[] = {1, 2, 3, 2, 4, 1, 2, 5, 2, 4};

static void mark_layer(void)
{
    gnomon_token layer = gnomon_begin(&probes[0]);
    for (size_t i = 0; i < sizeof scopes_inside; i++)
        gnomon_end(gnomon_begin(&probes[scopes_inside[i]]));
    gnomon_end(layer);
}

static uint64_t measured_bits; /* of the double; 0: not measured */

double gnomon__calibrated_ns(void)
{
    const uint64_t bits = load_relaxed(&measured_bits);
    double ns;
    memcpy(&ns, &bits, sizeof ns);
    return ns;
}

static void measure(void *state)
{
    uint64_t best = UINT64_MAX;
    gnomon__tls_set(state);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = gnomon__os_monotonic_ns();
        for (int k = 0; k < LAYERS; k++)
            mark_layer();
        uint64_t d = gnomon__os_monotonic_ns() - begin;
        best = d < best ? d : best;
    }
    gnomon__tls_set(&gnomon__no_thread);
    const double ns = (double)best / (LAYERS * (sizeof scopes_inside + 1));
    uint64_t bits;
    memcpy(&bits, &ns, sizeof bits);
    store_relaxed(&measured_bits, bits);
}

double gnomon__calibrate_pair_ns(void)
{
    gnomon__os_thread thread;
    gnomon__thread *t;
#ifdef GNOMON_TESTING
    return 0; /* the clock stands still */
#endif
    if (load_relaxed(&measured_bits) || !gnomon__marks_arena.base ||
        gnomon__clock_kind() != GNOMON__CLOCK_COUNTER ||
        !(t = gnomon__alloc(sizeof *t)))
        return gnomon__calibrated_ns();
    t->base = t->ground = gnomon__marks_arena.base;
    t->seq = (uint64_t)(GNOMON__MAX_THREADS - 1) << GNOMON__TOKEN_SHIFT;
    t->hot_bit = BIT;
    t->open_bits = t->fast = t->attached = 1u << BIT;
    t->recorder_bits = t->tree_bits = t->time_bits = 1u << BIT;
    t->end_only_bits = 0;
    t->hot.pending = GNOMON__NO_CELL;
    t->segment = 0; /* of no run */
    t->epoch = load_relaxed(&gnomon__observer_epoch);
    if (gnomon__tree_adopt(t, BIT, 1)) {
        store_relaxed(&t->hot.current, gnomon__tree_of(t, BIT)->root);
        if (!gnomon__os_thread_start(&thread, "gnomon", measure, t))
            gnomon__os_thread_join(&thread);
        gnomon__tree_drop(t, BIT);
    }
    gnomon__free(t);
    return gnomon__calibrated_ns();
}

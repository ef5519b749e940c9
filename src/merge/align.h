/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One time for all ranks of a job: that of its first rank. */
#ifndef GNOMON_MERGE_ALIGN_H
#define GNOMON_MERGE_ALIGN_H

#include "merge/clock_fit.h"
#include "merge/merge.h"

/* ---- Barriers -------------------------------------------------------------------- */

/* One execution. Two ranks' are the same barrier if all but the times are equal. */
typedef struct gnomon__barrier {
    uint64_t key;              /* of its region and kind of track */
    uint64_t step;             /* in which it began; 0: in none */
    uint32_t stage;            /* ordinal of that one */
    uint32_t n;                /* of its key in the step, or in all */
    uint64_t begin_ns, end_ns; /* since the run's zero */
} gnomon__barrier;

/* Sorted by all but the times. Zeroes are none. */
typedef struct gnomon__barriers {
    gnomon__barrier *of;
    size_t count, room;
    uint64_t stride; /* only steps and numbers that it divides are kept */
} gnomon__barriers;

/* Pairs of what both have, times since `a`'s zero; `zero_b` is b's zero by that. The caller
 * frees *out with gnomon__free; NULL: no memory. */
size_t gnomon__barriers_match(const gnomon__barriers *a,
                              const gnomon__barriers *b, double zero_b,
                              gnomon__clock_pair **out);

/* ---- Runs ------------------------------------------------------------------------- */

/* What is done to the moments of a run. */
typedef struct gnomon__aligned {
    size_t to; /* the run whose time it gets; itself: it is unchanged */
    size_t
        with; /* the run of the same host whose line it has; itself: its own */
    gnomon__clock_fit fit; /* its count is 0: by the hosts' clocks */
    double rate;           /* ns to be added for each ns since the run's zero */
    uint64_t zero_unix_ns; /* the run's new zero */
    double error;          /* ns */
} gnomon__aligned;

/* Compares the clocks of all runs of the merge, which reads each of them. Barriers are
 * regions of this name; NULL: all collectives; "hosts": none. One for each run, which the
 * caller frees with gnomon__free. GNOMON_OK or an error. */
int gnomon__align(gnomon__aligned **out, gnomon__merge *m, const char *name);

/* Sets the zero and the rate by the line of `a`, which says what is to be added at a moment
 * of the other run's clock: x = t + offset + drift * (x - from), where t is the moment by
 * the own clock and both are since the other's zero. `t`: the own zero. */
void gnomon__align_by_fit(gnomon__aligned *a, uint64_t zero_unix_ns, double t);

/* Moves all moments of a run's profile, which the merge made, and which `a` must outlive,
 * and notes it in the metadata. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__align_profile(const gnomon__aligned *a, int32_t to_rank,
                          gnomon_profile *p);
void gnomon__align_event(const void *aligned, gnomon_event_info *e);

/* Logs a line for each run. */
void gnomon__align_notes(const gnomon__aligned *all, const gnomon__merge *m);

/* All of the merge as a .gnomon file. `aligned`, for each run: how its moments are moved;
 * NULL: they stay. `run` is called before each run with its number from 1, and with the
 * number of all. GNOMON_OK or the first error. */
int gnomon__merge_write(gnomon__merge *m, const gnomon_writer *out,
                        const gnomon__aligned *aligned,
                        void (*run)(size_t number, size_t count));

#endif

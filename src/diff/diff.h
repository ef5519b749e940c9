/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of two sides, matched by stage and region name, as simple's rows are, and
 * summed over regions, paths and tracks. There are rows of times on the host and on
 * devices, of the devices' work by scope, of steps (one for each stage), and of counters. A side is any number of
 * profiles, added one at a time: O(rows) memory, whatever their number. */
#ifndef GNOMON_DIFF_DIFF_H
#define GNOMON_DIFF_DIFF_H

#include "diff/jobs.h"
#include "gnomon/profile.h"
#include "profile/sums.h"

enum gnomon__side { GNOMON__SIDE_A = 0, GNOMON__SIDE_B = 1 };

enum { GNOMON__P50, GNOMON__P90, GNOMON__P99, GNOMON__QUANTILES };
extern const double gnomon__quantiles[GNOMON__QUANTILES];

/* A side has so many parts at most, for the spread between jobs; its n-th job is in part
 * n modulo this. */
#define GNOMON__DIFF_PARTS 32

enum gnomon__diff_kind {
    GNOMON__DIFF_HOST,
    GNOMON__DIFF_DEVICE,
    GNOMON__DIFF_BUSY,  /* work of devices, by each scope around its launch */
    GNOMON__DIFF_STEPS, /* named as their stage */
    GNOMON__DIFF_COUNTER,
    GNOMON__DIFF_KINDS
};

/* What the samples of a counter came to. */
typedef struct gnomon__diff_samples {
    double sum, low, high;
    double last; /* summed over its runs */
} gnomon__diff_samples;

typedef struct gnomon__diff_part {
    uint64_t calls;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t max_ns, min_ns;
    double quantiles[GNOMON__QUANTILES]; /* each summed over its runs */
    uint64_t runs;                       /* in which the row is */
    gnomon__diff_samples samples;        /* of counters, whose calls they are */
} gnomon__diff_part;

/* One side of a row. count 0: it is not on this side. */
typedef struct gnomon__diff_half {
    gnomon__sum all; /* of all its runs; of a counter the count alone */
    gnomon__diff_part *parts;
    size_t part_count, part_room; /* parts past its count are zero */
    gnomon__diff_samples samples; /* of all its runs */
} gnomon__diff_half;

typedef struct gnomon__diff_row {
    char *stage; /* "": of none */
    char *name;
    enum gnomon__diff_kind kind;
    uint32_t ordinal; /* the first of a stage of this name */
    gnomon__diff_half side[2];
} gnomon__diff_row;

typedef struct gnomon__diff {
    gnomon__diff_row **rows; /* after an add by stage, kind and name */
    size_t count, room;
    gnomon__jobs jobs[2];     /* of each side */
    size_t doubled[2];        /* stages left out, as they were there already */
    size_t in_other_views[2]; /* and those of another view than the one taken */
    /* Views whose words match this pattern are read alone; * and ? in it are any text
     * and any letter. Not owned. NULL: all. */
    const char *view;
} gnomon__diff;

/* GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__diff_create(gnomon__diff **out);
void gnomon__diff_free(gnomon__diff *diff);

/* Adds what finished in a profile to a side, but no stage of a process that was added
 * already. Of one that was recorded in several views, under filters that differ, the
 * first is taken: by their order in the profile, else by that of profiles. Borrows
 * nothing. GNOMON_ENOMEM: the side is of no use any more. */
int gnomon__diff_add(gnomon__diff *diff, enum gnomon__side side,
                     const gnomon_profile *profile);

/* Whether each side is one job, so that the spread between jobs is assumed. */
int gnomon__diff_is_assumed(const gnomon__diff *diff);

#endif

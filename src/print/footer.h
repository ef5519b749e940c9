/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lines after a report: why it has no rows, what gnomon itself cost, and
 * what went wrong. Each begins with "gnomon: "; nothing to say is no line. */
#ifndef GNOMON_PRINT_FOOTER_H
#define GNOMON_PRINT_FOOTER_H

#include "gnomon/profiler.h"

/* What the profile does not tell. Steps count from the stage's begin. */
typedef struct gnomon__footer_input {
    int rank_excluded;         /* the rank is not in ranks= */
    int scheduled;             /* the view has a schedule */
    uint64_t regions_seen;     /* of all views, with those excluded */
    uint64_t regions_excluded; /* by the view's filter */
    uint64_t steps_made;
    uint64_t first_active_step; /* by number; UINT64_MAX: there is none */
    int64_t pid;
    int64_t forked_from;  /* the process; 0: not known to be a child */
    double pair_ns;       /* of a begin and its end; 0: not known */
    int own_opens;        /* of open scopes those of the profile's own stages */
    char memory[16];      /* what recorders may take, as in mem= */
    gnomon_health before; /* at the stage's begin */
    gnomon_health after;
} gnomon__footer_input;

/* One line on what came late of a stage: its own profile, of that alone. */
int gnomon__footer_late(const gnomon_profile *profile,
                        const gnomon_writer *out);

/* Writes them for `profile`, or, where it is NULL, those on health only.
 * Returns the writer's code. */
int gnomon__footer(const gnomon_profile *profile,
                   const gnomon__footer_input *input, const gnomon_writer *out);

#endif

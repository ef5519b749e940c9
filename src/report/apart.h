/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of ranks in which each rank or host is kept apart. */
#ifndef GNOMON_REPORT_APART_H
#define GNOMON_REPORT_APART_H

#include "merge/unite.h"

/* How the tracks of a sum of several runs are named, and so kept apart: by thread,
 * "rank 3", or "host n7". */
enum gnomon__stages_by {
    GNOMON__STAGES_BY_THREAD, /* threads of one name */
    GNOMON__STAGES_BY_RANK,
    GNOMON__STAGES_BY_HOST
};

/* Steps are on no track. In a sum of them each rank or host has a stage of its own,
 * whose ordinal in the sum is that of these runs. Only what a report shows of its steps
 * is in the sum, once the rank or host is complete. */
typedef struct gnomon__apart {
    gnomon_profile base; /* the sum with these runs */
    const gnomon_profile *of;
    /* Set these first: */
    enum gnomon__stages_by by;
    int of_steps;
    gnomon_run_info *runs; /* from 0: a rank or a host, which it owns */
    size_t count, room;
    uint32_t ordinal;   /* of the stage in its runs */
    gnomon__unite *one; /* the steps of the rank or host at hand; NULL: none */
    uint32_t one_run;   /* its number among the runs */
} gnomon__apart;

/* Adds a stage of one rank to the sum: attempts of a rank one after the other, and of
 * steps by host the ranks of a host. Its error codes are those of gnomon__unite_add. */
int gnomon__apart_add(gnomon__apart *a, gnomon__unite *sum,
                      const gnomon__shared *shared, const gnomon_profile *stage,
                      const gnomon_run_info *run);
/* All are added. Likewise. */
int gnomon__apart_end(gnomon__apart *a, gnomon__unite *sum);

/* The finished sum as reports read it: `sum` itself, or a view of it that both of them
 * must outlive. */
const gnomon_profile *gnomon__apart_view(gnomon__apart *a,
                                         const gnomon_profile *sum);
void gnomon__apart_free(gnomon__apart *a);

#endif

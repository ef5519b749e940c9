/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of one rank or host, without what a report of them does not show: of each
 * slow step the times of the regions that are named for it remain, and of all steps the
 * times of these. So those of many ranks fit in memory. */
#ifndef GNOMON_REPORT_RANK_STEPS_H
#define GNOMON_REPORT_RANK_STEPS_H

#include "gnomon/profile.h"

typedef struct gnomon__rank_steps {
    gnomon_profile base; /* what readers see */
    const gnomon_profile *of;
    uint32_t *times; /* from 0: numbers of the times that remain */
    size_t time_count;
} gnomon__rank_steps;

/* `of` must outlive it; paths are not in it. GNOMON_OK or GNOMON_ENOMEM; free in any
 * case. */
int gnomon__rank_steps_make(gnomon__rank_steps *s, const gnomon_profile *of);
void gnomon__rank_steps_free(gnomon__rank_steps *s);

#endif

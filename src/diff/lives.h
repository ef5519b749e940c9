/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which lives of processes (runs) are of one job, and what of a life was seen
 * before: jobs are what varies independently, ranks of one are not. */
#ifndef GNOMON_DIFF_LIVES_H
#define GNOMON_DIFF_LIVES_H

#include "gnomon/profile.h"
#include "profile/texts.h"

/* Begins as zeroes. O(lives * stages) memory. */
typedef struct gnomon__lives {
    gnomon__text_table texts; /* its own */
    uint32_t jobs;
    uint32_t lives;
} gnomon__lives;

void gnomon__lives_free(gnomon__lives *lives);

/* The job of a run, from 0: the n-th life of a rank is of the n-th job of that
 * name. A life that was seen already (uuid, else host, pid and begin) keeps its
 * job; of one that has none of these nothing was ever seen. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__lives_job(gnomon__lives *lives, const gnomon_run_info *run,
                      size_t *job);

/* Whether this stage of the life was not asked about before: one life may have
 * a file for each stage, and another for all. */
int gnomon__lives_stage(gnomon__lives *lives, const gnomon_run_info *run,
                        uint32_t ordinal, const char *name, int *is_new);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which lives of processes (runs) are of one job, and what of a life was seen
 * before: jobs are what varies independently, ranks of one are not. */
#ifndef GNOMON_DIFF_LIVES_H
#define GNOMON_DIFF_LIVES_H

#include "gnomon/profile.h"
#include "profile/texts.h"

/* A rank of a job. All its attempts are one. */
typedef struct gnomon__job_rank {
    uint32_t job;   /* from 0 */
    int32_t rank;   /* -1: not known */
    int32_t world;  /* the largest world size that it was told; -1: none */
    uint32_t lives; /* attempts that were met */
} gnomon__job_rank;

/* Begins as zeroes. O(lives * stages) memory. */
typedef struct gnomon__lives {
    gnomon__text_table texts; /* its own */
    char **names;             /* of jobs; "": it has none */
    size_t name_room;
    uint32_t jobs, views;
    gnomon__job_rank *ranks;
    size_t rank_count, rank_room;
} gnomon__lives;

void gnomon__lives_free(gnomon__lives *lives);

/* The job of a run, from 0. Attempts of one rank are of one job: the n-th life of
 * a rank's attempt is of the n-th job of that name. A life that was seen already
 * (uuid, else host, pid and begin) keeps its job; of one that has none of these
 * nothing was ever seen. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__lives_job(gnomon__lives *lives, const gnomon_run_info *run,
                      size_t *job);

enum gnomon__lives_news {
    GNOMON__LIVES_NEW,
    GNOMON__LIVES_OLD,  /* it was there already */
    GNOMON__LIVES_OTHER /* in another view, so that both would count twice */
};

/* What this stage of the life is, in a view: one life may have a file for each
 * stage, another for all, and one for each filter. After the first time it is
 * old. `view` NULL: what is of no view, as its steps. */
int gnomon__lives_stage(gnomon__lives *lives, const gnomon_run_info *run,
                        uint32_t ordinal, const char *name, const char *view,
                        enum gnomon__lives_news *news);

/* Lines on standard error: which ranks of `side`'s jobs are missing, and which were
 * restarted. Whether some are missing. Reorders the ranks: when all lives are in. */
int gnomon__lives_tell(gnomon__lives *lives, const char *side);

/* After that: whether all jobs of both have the same ranks. */
int gnomon__lives_same_ranks(const gnomon__lives *a, const gnomon__lives *b);

#endif

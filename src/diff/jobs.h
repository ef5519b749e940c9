/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which runs are of one job, and which stages of a run were added before. A run is one
 * process. Jobs are independent samples; ranks of one job are not. */
#ifndef GNOMON_DIFF_JOBS_H
#define GNOMON_DIFF_JOBS_H

#include "profile/texts.h"

struct gnomon_run_info;

/* A rank of a job. All its attempts are one. */
typedef struct gnomon__job_rank {
    uint32_t job;      /* from 0 */
    int32_t rank;      /* -1: not known */
    int32_t world;     /* the largest world size of its runs; -1: none */
    uint32_t attempts; /* runs of it */
} gnomon__job_rank;

/* Begins as zeroes. O(runs * stages) memory. */
typedef struct gnomon__jobs {
    gnomon__text_table texts; /* its own */
    char **names;             /* of jobs; "": it has none */
    size_t name_room;
    uint32_t jobs, views;
    gnomon__job_rank *ranks;
    size_t rank_count, rank_room;
} gnomon__jobs;

void gnomon__jobs_free(gnomon__jobs *jobs);

/* The job of a run, from 0. Attempts of one rank are of one job: the n-th process of
 * a rank's attempt is of the n-th job of that name. A process that was seen already
 * (uuid, else host, pid and begin) keeps its job; of one that has none of these
 * nothing was ever seen. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__jobs_find(gnomon__jobs *jobs, const struct gnomon_run_info *run,
                      size_t *job);

enum gnomon__stage_state {
    GNOMON__STAGE_NEW,
    GNOMON__STAGE_SEEN,      /* it was added already */
    GNOMON__STAGE_OTHER_VIEW /* in another view, so that both would count twice */
};

/* What this stage of the process is, in a view: one process may have a file for each
 * stage, another for all, and one for each filter. After the first time it is
 * old. `view` NULL: what is of no view, as its steps. */
int gnomon__jobs_see_stage(gnomon__jobs *jobs,
                           const struct gnomon_run_info *run, uint32_t ordinal,
                           const char *name, const char *view,
                           enum gnomon__stage_state *state);

/* Lines on standard error: which ranks of `side`'s jobs are missing, and which were
 * restarted. Returns whether some are missing. Call it after all runs were added: it
 * sorts the ranks. */
int gnomon__jobs_log_ranks(gnomon__jobs *jobs, const char *side);

/* After that: whether all jobs of both have the same ranks. */
int gnomon__jobs_same_ranks(const gnomon__jobs *a, const gnomon__jobs *b);

#endif

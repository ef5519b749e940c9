/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which runs of a side are of one job. A run is one process. Jobs are independent samples;
 * ranks of one job are not. Pure functions, but for what they log. */
#ifndef GNOMON_DIFF_JOBS_H
#define GNOMON_DIFF_JOBS_H

#include <stddef.h>
#include <stdint.h>

struct gnomon_run_info;

/* A run of a side. */
typedef struct gnomon__job_run {
    const struct gnomon_run_info *info;
    size_t input, number; /* its first file; its number there */
    uint32_t nth;         /* of the processes of one rank's attempt, from 0 */
    uint32_t job;         /* from 0 */
    int32_t rank;         /* -1: not known */
} gnomon__job_run;

/* Zeroes are none. */
typedef struct gnomon__jobs {
    gnomon__job_run *runs;
    size_t count;
    uint32_t jobs;
} gnomon__jobs;

/* Numbers the jobs, and puts the runs in the order of job and rank. `info`, `input` and
 * `number` are given. Attempts of one rank are of one job: the n-th process of a rank's
 * attempt, in the order of files, is of the n-th job of that name. */
void gnomon__jobs_find(gnomon__jobs *jobs);

/* Lines on standard error: which ranks of `side`'s jobs are missing, and which were
 * restarted. Returns whether some are missing. After it there is one run for each rank of
 * a job, whatever the number of its attempts, and one for each whose rank is not known;
 * `info` is not read any more. */
int gnomon__jobs_log_ranks(gnomon__jobs *jobs, const char *side);

/* After that: whether all jobs of both have the same ranks. */
int gnomon__jobs_same_ranks(const gnomon__jobs *a, const gnomon__jobs *b);

#endif

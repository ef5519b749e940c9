/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One side of a comparison: its files, and which of its runs are of one job. */
#ifndef GNOMON_DIFF_SIDE_H
#define GNOMON_DIFF_SIDE_H

#include "diff/diff.h"

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

/* Adds all runs of a file, folder or pattern to a side. A gnomon__exit; lines have
 * said what could not be read, what was lost, what is there twice, and which ranks are
 * missing: then *are_missing becomes 1. */
int gnomon__diff_read_side(gnomon__diff *diff, enum gnomon__side side,
                           char *word, int *are_missing);

#endif

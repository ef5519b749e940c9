/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs that `gnomon run --repeat` makes one after the other: each has a name of its
 * own and its profiles in one folder, as one side of `gnomon diff`. */
#ifndef GNOMON_CLI_JOBS_H
#define GNOMON_CLI_JOBS_H

#include <stddef.h>

/* Zeroes are none. */
typedef struct gnomon__cli_jobs {
    char *folder;      /* its whole path; NULL: none is made */
    const char *given; /* as it was named */
    char *name;        /* what those of jobs begin with */
} gnomon__cli_jobs;

/* Makes the folder, where it is not there. 0: it cannot be made, or holds profiles
 * already; one line has said so. Free it in any case. */
int gnomon__cli_jobs_begin(gnomon__cli_jobs *jobs, const char *folder);

/* Sets $GNOMON_JOB for the n-th job, from 1. Returns what $GNOMON is to be: `spec`,
 * which may be NULL, and its profile in the folder. The caller frees it; NULL: no
 * memory. */
char *gnomon__cli_jobs_spec(const gnomon__cli_jobs *jobs, const char *spec,
                            unsigned n);

/* How many profiles are in the folder. */
size_t gnomon__cli_jobs_files(const gnomon__cli_jobs *jobs);
void gnomon__cli_jobs_free(gnomon__cli_jobs *jobs);

#endif

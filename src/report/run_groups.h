/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which runs of the inputs are reported together: those of one job. */
#ifndef GNOMON_REPORT_RUN_GROUPS_H
#define GNOMON_REPORT_RUN_GROUPS_H

#include "merge/gather.h"

/* Runs of one job, or one that is alone: the ranks of a job are those whose world
 * is larger than one. */
typedef struct gnomon__cli_group {
    size_t *runs;
    size_t count;
    size_t ranks; /* attempts of one rank are one */
    size_t input; /* the first file that has one of them */
} gnomon__cli_group;

typedef struct gnomon__cli_groups {
    gnomon__cli_group *at; /* in the order of their first files */
    size_t count;
    size_t *runs; /* of all, group after group */
} gnomon__cli_groups;

/* With `apart` each run is alone. GNOMON_OK or GNOMON_ENOMEM. Free in any case. */
int gnomon__cli_groups_find(gnomon__cli_groups *groups, const gnomon__gather *g,
                            int apart);
/* Puts the runs of each host together, hosts by their names. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__cli_group_by_host(const gnomon__cli_group *group,
                              const gnomon__gather *g);
void gnomon__cli_groups_free(gnomon__cli_groups *groups);

#endif

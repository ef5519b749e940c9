/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Groups of runs, in the order of the files in which they are first. */
#include "report/run_groups.h"

#include <stdlib.h>

#include "profile/fields.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"

typedef struct group_run {
    const gnomon_run_info *info;
    size_t run, input;
    int is_alone;
} group_run;

/* Those of one job together; runs come in the order of their keys. */
GNOMON__ORDER(by_group, group_run, UP(is_alone),
              OF(a->is_alone
                     ? 0
                     : gnomon__compare_texts(a->info->job, b->info->job)),
              UP(run))

GNOMON__ORDER(by_input, gnomon__cli_group, UP(input), UP(runs[0]))

int gnomon__cli_groups_find(gnomon__cli_groups *groups, const gnomon__gather *g,
                            int apart)
{
    size_t n = gnomon__merge_count(g->merge);
    group_run *runs = gnomon__alloc((n + 1) * sizeof *runs);
    groups->count = 0;
    groups->at = gnomon__alloc((n + 1) * sizeof *groups->at);
    groups->runs = gnomon__alloc((n + 1) * sizeof *groups->runs);
    if (!runs || !groups->at || !groups->runs) {
        gnomon__free(runs);
        return gnomon__fail(GNOMON_ENOMEM, "no memory for the groups of runs");
    }
    for (size_t i = 0; i < n; i++) {
        group_run *r = &runs[i];
        size_t last = gnomon__merge_readings(g->merge, i) - 1, input;
        r->run = i;
        r->info = gnomon__merge_reading(g->merge, i, last, &input);
        r->is_alone = apart || r->info->world_size <= 1;
        r->input = SIZE_MAX;
        for (size_t k = 0; k <= last; k++) {
            (void)gnomon__merge_reading(g->merge, i, k, &input);
            r->input = input < r->input ? input : r->input;
        }
    }
    GNOMON__SORT(runs, n, by_group);
    for (size_t i = 0; i < n; i++) {
        if (!i || runs[i].is_alone || runs[i - 1].is_alone ||
            gnomon__compare_texts(runs[i - 1].info->job, runs[i].info->job)) {
            groups->at[groups->count++] = (gnomon__cli_group){
                .runs = &groups->runs[i], .input = SIZE_MAX};
        }
        gnomon__cli_group *to = &groups->at[groups->count - 1];
        groups->runs[i] = runs[i].run;
        to->ranks += !to->count++ || runs[i].info->rank < 0 ||
                     runs[i].info->rank != runs[i - 1].info->rank;
        to->input = runs[i].input < to->input ? runs[i].input : to->input;
    }
    GNOMON__SORT(groups->at, groups->count, by_input);
    gnomon__free(runs);
    return GNOMON_OK;
}

typedef struct host_run {
    const char *host;
    size_t run, position;
} host_run;

GNOMON__ORDER(by_host_name, host_run,
              OF(gnomon__compare_texts(a->host, b->host)), UP(position))

int gnomon__cli_group_by_host(const gnomon__cli_group *group,
                              const gnomon__gather *g)
{
    host_run *runs = gnomon__alloc((group->count + 1) * sizeof *runs);
    if (!runs)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for the runs of hosts");
    for (size_t i = 0; i < group->count; i++) {
        const size_t run = group->runs[i];
        size_t last = gnomon__merge_readings(g->merge, run) - 1, input;
        runs[i] = (host_run){
            gnomon__merge_reading(g->merge, run, last, &input)->host, run, i};
    }
    GNOMON__SORT(runs, group->count, by_host_name);
    for (size_t i = 0; i < group->count; i++)
        group->runs[i] = runs[i].run;
    gnomon__free(runs);
    return GNOMON_OK;
}

void gnomon__cli_groups_free(gnomon__cli_groups *groups)
{
    gnomon__free(groups->at);
    gnomon__free(groups->runs);
    *groups = (gnomon__cli_groups){0};
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "diff/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gnomon/profile.h"
#include "merge/gather.h"
#include "platform/error.h"
#include "profile/compare.h"
#include "profile/keys.h"

static int compare_names(const gnomon__job_run *a, const gnomon__job_run *b)
{
    return gnomon__compare_texts(a->info->job, b->info->job);
}

/* 0: they are processes of one rank's attempt. */
static int compare_attempts(const gnomon__job_run *a, const gnomon__job_run *b)
{
    GNOMON__TRY(compare_names(a, b));
    GNOMON__TRY_NUMBER(rank);
    return gnomon__compare_texts(a->info->attempt, b->info->attempt);
}

static int by_attempt(const void *left, const void *right)
{
    const gnomon__job_run *a = left, *b = right;
    GNOMON__TRY(compare_attempts(a, b));
    GNOMON__TRY_NUMBER(input);
    return GNOMON__COMPARE(a->number, b->number);
}

static int by_job(const void *left, const void *right)
{
    const gnomon__job_run *a = left, *b = right;
    GNOMON__TRY(compare_names(a, b));
    GNOMON__TRY_NUMBER(nth);
    return by_attempt(a, b);
}

void gnomon__jobs_find(gnomon__jobs *l)
{
    gnomon__job_run *runs = l->runs;
    for (size_t i = 0; i < l->count; i++)
        runs[i].rank = runs[i].info->rank;
    if (l->count)
        qsort(runs, l->count, sizeof *runs, by_attempt);
    for (size_t i = 1; i < l->count; i++)
        runs[i].nth =
            compare_attempts(&runs[i - 1], &runs[i]) ? 0 : runs[i - 1].nth + 1;
    if (l->count)
        qsort(runs, l->count, sizeof *runs, by_job);
    for (size_t i = 0; i < l->count; i++) {
        l->jobs += !i || compare_names(&runs[i - 1], &runs[i]) ||
                   runs[i - 1].nth != runs[i].nth;
        runs[i].job = l->jobs - 1;
    }
}

/* ---- Ranks ------------------------------------------------------------------ */

/* Where the next job begins. */
static size_t end_of_job(const gnomon__jobs *l, size_t first)
{
    size_t end = first;
    while (end < l->count && l->runs[end].job == l->runs[first].job)
        end++;
    return end;
}

/* Of the job whose runs these are. Its ranks are kept from `*used` on. */
static int log_ranks_of_job(gnomon__jobs *l, size_t first, size_t end,
                            size_t *used, const char *side)
{
    gnomon__rank_list missing = {.next = 0}, again = {.next = 0};
    const char *job = l->runs[first].info->job;
    char name[80] = "";
    int32_t world = -1, before = -1;
    for (size_t i = first; i < end; i++)
        if (l->runs[i].info->world_size > world)
            world = l->runs[i].info->world_size;
    for (size_t i = first; i < end; i++) {
        const int32_t rank = l->runs[i].rank;
        gnomon__rank_list_met(&missing, rank, world);
        if (rank < 0 || i == first || rank != l->runs[*used - 1].rank)
            l->runs[(*used)++] = l->runs[i];
        else if (rank != before)
            gnomon__rank_list_add(&again, rank, before = rank);
    }
    gnomon__rank_list_end(&missing, world);
    if (job && *job)
        snprintf(name, sizeof name, " of job %.64s", job);
    if (again.count)
        gnomon__log("%s: restarted%s: rank %s; its attempts add up", side, name,
                    again.text);
    if (missing.count)
        gnomon__log("%s: %" PRIu64 " of %" PRId32 " ranks%s %s missing: %s",
                    side, missing.count, world, name,
                    missing.count == 1 ? "is" : "are", missing.text);
    return missing.count > 0;
}

int gnomon__jobs_log_ranks(gnomon__jobs *l, const char *side)
{
    int are_missing = 0;
    size_t used = 0;
    for (size_t i = 0, end; i < l->count; i = end) {
        end = end_of_job(l, i);
        are_missing |= log_ranks_of_job(l, i, end, &used, side);
    }
    l->count = used;
    return are_missing;
}

int gnomon__jobs_same_ranks(const gnomon__jobs *a, const gnomon__jobs *b)
{
    const gnomon__jobs *sides[] = {a, b};
    const size_t ranks = end_of_job(a, 0);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->count; i += ranks) {
            if (end_of_job(sides[side], i) - i != ranks)
                return 0;
            for (size_t k = 0; k < ranks; k++)
                if (sides[side]->runs[i + k].rank != a->runs[k].rank)
                    return 0;
        }
    return 1;
}

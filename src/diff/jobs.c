/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Processes, jobs and ranks by name: one table from texts to numbers. The first letter of
 * a text is its kind. */
#include "diff/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "merge/rank_list.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/compare.h"

void gnomon__jobs_free(gnomon__jobs *l)
{
    for (size_t i = 0; i < l->texts.slots.count; i++)
        gnomon__free((char *)(uintptr_t)l->texts.items[i].text);
    gnomon__text_table_free(&l->texts);
    for (size_t i = 0; i < l->jobs; i++)
        gnomon__free(l->names[i]);
    gnomon__free((void *)l->names);
    gnomon__free(l->ranks);
    memset(l, 0, sizeof *l);
}

/* The number of a text, 0 where it is new; NULL: no memory. Valid until the next
 * call. */
static uint32_t *jobs_number(gnomon__jobs *l, const char *text)
{
    gnomon__text_item *item = gnomon__text_intern(&l->texts, text);
    if (item && !item->text)
        item->text = gnomon__strdup(text);
    return item && item->text ? &item->number : NULL;
}

/* The text of a process: `kind`, then its uuid, or host, pid and begin; with room for
 * `more` after it. NULL: it has none of these, and *known is 0; or no memory. The caller
 * frees it. */
static char *process_name(char kind, const gnomon_run_info *run, size_t more,
                          int *known)
{
    const char *host = run->host ? run->host : "";
    size_t size = strlen(host) + 64 + more;
    char *text;
    *known = run->uuid || run->zero_unix_ns;
    if (!*known)
        return NULL;
    if (run->uuid)
        size += strlen(run->uuid);
    text = gnomon__alloc(size);
    if (!text)
        return NULL;
    if (run->uuid)
        snprintf(text, size, "%cu%s\n", kind, run->uuid);
    else
        snprintf(text, size, "%cp%s\n%" PRId64 "\n%" PRIu64 "\n", kind, host,
                 run->pid, run->zero_unix_ns);
    return text;
}

/* The number of KIND NAME NUMBER ATTEMPT; no attempt is not "". */
static uint32_t *jobs_key_number(gnomon__jobs *l, char kind, const char *name,
                                 int64_t number, const char *attempt)
{
    size_t size = strlen(name) + (attempt ? strlen(attempt) : 0) + 32;
    uint32_t *number_at = NULL;
    char *text = gnomon__alloc(size);
    if (text) {
        snprintf(text, size, "%c%s\n%" PRId64 "%s%s", kind, name, number,
                 attempt ? "\n" : "", attempt ? attempt : "");
        number_at = jobs_number(l, text);
    }
    gnomon__free(text);
    return number_at;
}

/* 0: no memory. */
static int jobs_add(gnomon__jobs *l, const char *name)
{
    if (!gnomon__grow(&l->names, &l->name_room, (size_t)l->jobs + 1,
                      sizeof *l->names) ||
        !(l->names[l->jobs] = gnomon__strdup(name)))
        return 0;
    l->jobs++;
    return 1;
}

/* Counts a process of a rank; each whose rank is not known is one by itself. 0: no
 * memory. */
static int jobs_add_attempt(gnomon__jobs *l, uint32_t job,
                            const gnomon_run_info *run)
{
    char kind[16];
    uint32_t none = 0, *number = &none;
    snprintf(kind, sizeof kind, "%" PRIu32, job);
    if (run->rank >= 0)
        number = jobs_key_number(l, 'k', kind, run->rank, NULL);
    if (!number)
        return 0;
    if (!*number) {
        if (!gnomon__grow(&l->ranks, &l->rank_room, l->rank_count + 1,
                          sizeof *l->ranks))
            return 0;
        l->ranks[l->rank_count++] =
            (gnomon__job_rank){.job = job, .rank = run->rank, .world = -1};
        *number = (uint32_t)l->rank_count;
    }
    gnomon__job_rank *r = &l->ranks[*number - 1];
    r->attempts++;
    r->world = run->world_size > r->world ? run->world_size : r->world;
    return 1;
}

/* The n-th process of this rank's attempt, so of the n-th job. */
static int jobs_add_process(gnomon__jobs *l, const gnomon_run_info *run,
                            size_t *job)
{
    const char *name = run->job ? run->job : "";
    uint32_t *nth = jobs_key_number(l, 'r', name, run->rank, run->attempt);
    uint32_t *number =
        nth ? jobs_key_number(l, 'j', name, (int64_t)(*nth)++, NULL) : NULL;
    if (!number)
        return GNOMON_ENOMEM;
    if (!*number) {
        if (!jobs_add(l, name))
            return GNOMON_ENOMEM;
        *number = l->jobs;
    }
    *job = *number - 1;
    return jobs_add_attempt(l, (uint32_t)*job, run) ? GNOMON_OK : GNOMON_ENOMEM;
}

int gnomon__jobs_find(gnomon__jobs *l, const gnomon_run_info *run, size_t *job)
{
    int known, code = GNOMON_OK;
    char *process = process_name('l', run, 0, &known);
    uint32_t *number = process ? jobs_number(l, process) : NULL;
    if (known && !number)
        code = GNOMON_ENOMEM;
    else if (number && *number)
        *job = *number - 1;
    else
        code = jobs_add_process(l, run, job);
    if (code == GNOMON_OK && process) {
        number = jobs_number(l, process); /* others moved it */
        *number = (uint32_t)*job + 1;
    }
    gnomon__free(process);
    return code;
}

/* From 1, by its words; 0: no memory. */
static uint32_t jobs_view(gnomon__jobs *l, const char *words)
{
    uint32_t *number = jobs_key_number(l, 'v', words, 0, NULL);
    if (number && !*number)
        *number = ++l->views;
    return number ? *number : 0;
}

int gnomon__jobs_see_stage(gnomon__jobs *l, const gnomon_run_info *run,
                           uint32_t ordinal, const char *name, const char *view,
                           enum gnomon__stage_state *state)
{
    int known;
    size_t size = strlen(name) + 16;
    uint32_t *number, which = view ? jobs_view(l, view) : 1;
    char *text = process_name(view ? 's' : 't', run, size, &known);
    *state = GNOMON__STAGE_NEW;
    if (!text)
        return known || !which ? GNOMON_ENOMEM : GNOMON_OK;
    snprintf(text + strlen(text), size, "%" PRIu32 "\n%s", ordinal, name);
    number = jobs_number(l, text);
    gnomon__free(text);
    if (!number || !which)
        return GNOMON_ENOMEM;
    if (*number)
        *state =
            *number == which ? GNOMON__STAGE_SEEN : GNOMON__STAGE_OTHER_VIEW;
    else
        *number = which;
    return GNOMON_OK;
}

/* ---- Ranks ------------------------------------------------------------------ */

static int by_job_and_rank(const void *left, const void *right)
{
    const gnomon__job_rank *a = left, *b = right;
    GNOMON__TRY_NUMBER(job);
    return GNOMON__COMPARE(a->rank, b->rank);
}

/* " of job NAME" */
static const char *job_words(const gnomon__jobs *l, uint32_t job, char text[80])
{
    const char *name = l->names[job];
    snprintf(text, 80, "%s%.64s", *name ? " of job " : "", name);
    return text;
}

/* Of the job whose ranks these are. */
static int log_ranks_of_job(const gnomon__jobs *l, const gnomon__job_rank *of,
                            size_t count, const char *side)
{
    gnomon__rank_list missing = {.next = 0}, again = {.next = 0};
    char name[80];
    int32_t world = -1;
    for (size_t i = 0; i < count; i++)
        world = of[i].world > world ? of[i].world : world;
    for (size_t i = 0; i < count; i++) {
        gnomon__rank_list_met(&missing, of[i].rank, world);
        if (of[i].attempts > 1)
            gnomon__rank_list_add(&again, of[i].rank, of[i].rank);
    }
    gnomon__rank_list_end(&missing, world);
    job_words(l, of->job, name);
    if (again.count)
        gnomon__log("%s: restarted%s: rank %s; its attempts add up", side, name,
                    again.text);
    if (missing.count)
        gnomon__log("%s: %" PRIu64 " of %" PRId32 " ranks%s %s missing: %s",
                    side, missing.count, world, name,
                    missing.count == 1 ? "is" : "are", missing.text);
    return missing.count > 0;
}

/* How many ranks from `first` on are of one job. */
static size_t ranks_of_job(const gnomon__jobs *l, size_t first)
{
    size_t end = first;
    while (end < l->rank_count && l->ranks[end].job == l->ranks[first].job)
        end++;
    return end - first;
}

int gnomon__jobs_log_ranks(gnomon__jobs *l, const char *side)
{
    int are_missing = 0;
    if (l->rank_count > 1)
        qsort(l->ranks, l->rank_count, sizeof *l->ranks, by_job_and_rank);
    for (size_t i = 0, n; i < l->rank_count; i += n) {
        n = ranks_of_job(l, i);
        are_missing |= log_ranks_of_job(l, &l->ranks[i], n, side);
    }
    return are_missing;
}

int gnomon__jobs_same_ranks(const gnomon__jobs *a, const gnomon__jobs *b)
{
    const gnomon__jobs *sides[] = {a, b};
    size_t of_first = a->rank_count ? ranks_of_job(a, 0) : 0, n;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->rank_count; i += n) {
            n = ranks_of_job(sides[side], i);
            if (n != of_first)
                return 0;
            for (size_t k = 0; k < n; k++)
                if (sides[side]->ranks[i + k].rank != a->ranks[k].rank)
                    return 0;
        }
    return 1;
}

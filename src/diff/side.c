/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads one side of a comparison: what several files have of one run is one, by the rules
 * of a merge, and one run is in memory at a time. */
#include "diff/side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "command/inputs.h"
#include "merge/gather.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"
#include "profile/fields.h"

/* ---- Jobs --------------------------------------------------------------------- */

GNOMON__ORDER(compare_names, gnomon__job_run,
              OF(gnomon__compare_texts(a->info->job, b->info->job)))

/* 0: they are processes of one rank's attempt. */
GNOMON__ORDER(compare_attempts, gnomon__job_run, OF(compare_names(a, b)),
              UP(rank),
              OF(gnomon__compare_texts(a->info->attempt, b->info->attempt)))

GNOMON__ORDER(by_attempt, gnomon__job_run, OF(compare_attempts(a, b)),
              UP(input), UP(number))

GNOMON__ORDER(by_job, gnomon__job_run, OF(compare_names(a, b)), UP(nth),
              OF(by_attempt(a, b)))

void gnomon__jobs_find(gnomon__jobs *l)
{
    gnomon__job_run *runs = l->runs;
    for (size_t i = 0; i < l->count; i++)
        runs[i].rank = runs[i].info->rank;
    GNOMON__SORT(runs, l->count, by_attempt);
    for (size_t i = 1; i < l->count; i++)
        runs[i].nth =
            compare_attempts(&runs[i - 1], &runs[i]) ? 0 : runs[i - 1].nth + 1;
    GNOMON__SORT(runs, l->count, by_job);
    for (size_t i = 0; i < l->count; i++) {
        l->jobs += !i || compare_names(&runs[i - 1], &runs[i]) ||
                   runs[i - 1].nth != runs[i].nth;
        runs[i].job = l->jobs - 1;
    }
}

/* Where the next job begins. */
static size_t end_of_job(const gnomon__jobs *l, size_t first)
{
    size_t end = first;
    while (end < l->count && l->runs[end].job == l->runs[first].job)
        end++;
    return end;
}

/* For the job whose runs these are. Its ranks are kept from `*used` on. */
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

/* ---- Reading ------------------------------------------------------------------ */

typedef struct side_reader {
    gnomon__diff *diff;
    enum gnomon__side side;
    gnomon__gather g;
    gnomon__cli_notes *notes; /* by file */
    size_t doubled, other_views;
} side_reader;

static int side_find_jobs(side_reader *r)
{
    const gnomon__merge *m = r->g.merge;
    gnomon__jobs *l = &r->diff->jobs[r->side];
    const size_t count = gnomon__merge_count(m);
    l->runs = gnomon__alloc((count + 1) * sizeof *l->runs);
    if (!l->runs)
        return GNOMON_ENOMEM;
    for (size_t at = 0; at < count; at++) {
        gnomon__job_run run = {.number = at, .input = SIZE_MAX};
        for (size_t i = 0, input; i < gnomon__merge_readings(m, at); i++) {
            run.info = gnomon__merge_reading(m, at, i, &input);
            run.input = input < run.input ? input : run.input;
        }
        if (gnomon__merge_is_run(m, at))
            l->runs[l->count++] = run;
    }
    gnomon__jobs_find(l);
    return GNOMON_OK;
}

/* The same profile in two files has equal records; parts of one, as of its stages, have
 * not. But files of two views may. */
static int side_is_doubled(const gnomon__merge *m, size_t run)
{
    int is_doubled = 0;
    for (size_t i = 1, input; i < gnomon__merge_readings(m, run); i++)
        is_doubled |=
            !gnomon__compare_runs(gnomon__merge_reading(m, run, i - 1, &input),
                                  gnomon__merge_reading(m, run, i, &input));
    return is_doubled;
}

/* `of` NULL: what an input has of no run, of which the losses count. */
static int side_add_run(side_reader *r, size_t number,
                        const gnomon__job_run *of)
{
    gnomon__merge *m = r->g.merge;
    const gnomon_profile *read;
    gnomon_profile *made = NULL;
    size_t others = 0, input;
    (void)gnomon__merge_reading(m, number, 0, &input);
    int code = gnomon__merge_run_read(m, number, &read);
    if (!code && !read)
        code = gnomon__merge_run(m, number, &made);
    if (!code && of)
        code = gnomon__diff_add(r->diff, r->side, of->job, read ? read : made,
                                &others);
    if (!code)
        code = gnomon__cli_notes_add(&r->notes[input], read ? read : made);
    r->other_views += others;
    if (!others && !r->diff->view)
        r->doubled += (size_t)side_is_doubled(m, number);
    gnomon_profile_free(made);
    if (code)
        gnomon__log("%s: %s", r->g.in->paths[input],
                    *gnomon_error_text() ? gnomon_error_text()
                                         : gnomon_error_name(code));
    return code;
}

static int side_add_runs(side_reader *r)
{
    const gnomon__jobs *l = &r->diff->jobs[r->side];
    const gnomon__cli_inputs *in = r->g.in;
    int code = GNOMON_OK;
    for (size_t i = 0; i < l->count; i++) {
        gnomon__progress_at("run", i + 1, l->count);
        code |= side_add_run(r, l->runs[i].number, &l->runs[i]);
        gnomon__progress_hide();
    }
    for (size_t i = 0; i < gnomon__merge_count(r->g.merge); i++)
        if (!gnomon__merge_is_run(r->g.merge, i))
            code |= side_add_run(r, i, NULL);
    int status = code ? GNOMON__EXIT_UNREADABLE : GNOMON__EXIT_OK;
    for (size_t i = 0; i < in->count; i++) {
        status = gnomon__cli_worse(
            status, gnomon__cli_notes_print(&r->notes[i], in->paths[i]));
        gnomon__cli_notes_free(&r->notes[i]);
    }
    return gnomon__cli_worse(status, gnomon__gather_damage(&r->g));
}

static int side_read(side_reader *r, const gnomon__cli_inputs *in,
                     int *are_missing)
{
    static const char *const names[] = {"A", "B"};
    const uint32_t kinds =
        GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS) & ~(1u << GNOMON_LINKS);
    int status =
        gnomon__gather_begin(&r->g, in, kinds, GNOMON__APART_WITHOUT_UUID);
    r->notes = gnomon__alloc((in->count + 1) * sizeof *r->notes);
    if (!r->g.merge) {
        ; /* the error is logged */
    } else if (!r->notes || side_find_jobs(r)) {
        gnomon__log("no memory for so many runs");
        status = GNOMON__EXIT_UNREADABLE;
    } else {
        status = gnomon__cli_worse(status, side_add_runs(r));
        *are_missing |=
            gnomon__jobs_log_ranks(&r->diff->jobs[r->side], names[r->side]);
    }
    gnomon__free(r->notes);
    gnomon__gather_end(&r->g);
    return status;
}

int gnomon__diff_read_side(gnomon__diff *diff, enum gnomon__side side,
                           char *word, int *are_missing)
{
    side_reader r = {.diff = diff, .side = side};
    gnomon__cli_inputs in = {0};
    char *words[] = {word, NULL};
    int status = gnomon__cli_expand(&in, words);
    gnomon__progress_begin(&in);
    if (in.count)
        status = gnomon__cli_worse(status, side_read(&r, &in, are_missing));
    gnomon__progress_end();
    gnomon__cli_inputs_free(&in);
    if (r.doubled)
        gnomon__log("%s: %zu run%s there twice, and count%s once", word,
                    r.doubled, r.doubled == 1 ? " is" : "s are",
                    r.doubled == 1 ? "s" : "");
    if (r.other_views)
        gnomon__log("%s: %zu stage%s there in another view, too, which is left "
                    "out: --view chooses one",
                    word, r.other_views, r.other_views == 1 ? " is" : "s are");
    return status;
}

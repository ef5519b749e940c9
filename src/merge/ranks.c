/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Logs a line for ranks of a merge that are missing, that came more than once, or that
 * were restarted. Runs are in the order of job, rank, attempt, so those of one rank
 * follow one another. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "merge/gather.h"
#include "merge/rank_list.h"
#include "command/command.h"
#include "command/notes.h"
#include "profile/keys.h"
#include "platform/error.h"

static const gnomon_run_info *run_at(const gnomon__gather *g, size_t run)
{
    size_t input, last = gnomon__merge_readings(g->merge, run) - 1;
    return gnomon__merge_reading(g->merge, run, last, &input);
}

static const char *job_of(const gnomon_run_info *run, char text[80])
{
    if (!run->job)
        return "";
    snprintf(text, 80, " of job %.64s", run->job);
    return text;
}

/* ---- Missing ------------------------------------------------------------------------ */

/* Of a job, the runs from `first` up to `end`. */
static void log_missing(const gnomon__gather *g, size_t first, size_t end)
{
    gnomon__rank_list missing = {.next = 0};
    char job[80];
    int32_t world = -1;
    for (size_t i = first; i < end; i++)
        if (run_at(g, i)->world_size > world)
            world = run_at(g, i)->world_size;
    for (size_t i = first; i < end; i++)
        gnomon__rank_list_met(&missing, run_at(g, i)->rank, world);
    gnomon__rank_list_end(&missing, world);
    if (missing.count)
        gnomon__log("%" PRIu64 " of %" PRId32 " ranks%s %s missing: %s",
                    missing.count, world, job_of(run_at(g, first), job),
                    missing.count == 1 ? "is" : "are", missing.text);
}

/* ---- Restarted, or there twice ------------------------------------------------------ */

static void log_restarts(const gnomon__gather *g, size_t first, size_t end)
{
    const gnomon_run_info *a = run_at(g, first);
    char text[256] = "", job[80];
    size_t attempts = 1, used = 0;
    for (size_t i = first; i < end && used < sizeof text - 40; i++) {
        const gnomon_run_info *r = run_at(g, i);
        int is_new =
            i == first ||
            gnomon__compare_texts(run_at(g, i - 1)->attempt, r->attempt) != 0;
        attempts += i > first && is_new;
        if (is_new)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.16s",
                                     used ? ", " : "",
                                     r->attempt ? r->attempt : "first");
    }
    if (attempts > 1)
        gnomon__log("rank %" PRId32 "%s was restarted: attempts %s", a->rank,
                    job_of(a, job), text);
    for (size_t i = first + 1; i < end; i++) {
        const gnomon_run_info *b = run_at(g, i - 1), *c = run_at(g, i);
        if (gnomon__compare_texts(b->attempt, c->attempt) == 0)
            gnomon__log("rank %" PRId32 "%s is there twice: process %" PRId64
                        " on %.64s and process %" PRId64 " on %.64s",
                        a->rank, job_of(a, job), b->pid, b->host, c->pid,
                        c->host);
    }
}

/* Equal records mean the same profile in two files. Different readings of one process, as
 * of its stages, are normal and not logged. */
static void log_readings(const gnomon__gather *g, size_t run)
{
    size_t count = gnomon__merge_readings(g->merge, run), before, input;
    const gnomon_run_info *r = run_at(g, run);
    int has_uuid = r->uuid && *r->uuid;
    for (size_t i = 1; i < count; i++) {
        const gnomon_run_info *a =
            gnomon__merge_reading(g->merge, run, i - 1, &before);
        const gnomon_run_info *b =
            gnomon__merge_reading(g->merge, run, i, &input);
        if (has_uuid && gnomon__compare_runs(a, b) == 0)
            gnomon__log("%s: has rank %" PRId32 " as %s has it: counted once",
                        g->in->paths[input], r->rank, g->in->paths[before]);
        else if (!has_uuid && r->rank >= 0)
            gnomon__log("%s: has rank %" PRId32 ", which %s has, too: without "
                        "a uuid their times add up",
                        g->in->paths[input], r->rank, g->in->paths[before]);
    }
}

void gnomon__gather_notes(const gnomon__gather *g)
{
    size_t count = gnomon__merge_count(g->merge);
    for (size_t first = 0, end; first < count; first = end) {
        const char *job = run_at(g, first)->job;
        for (end = first;
             end < count && !gnomon__compare_texts(run_at(g, end)->job, job);)
            end++;
        log_missing(g, first, end);
        for (size_t i = first, next; i < end; i = next) {
            for (next = i;
                 next < end && run_at(g, next)->rank == run_at(g, i)->rank;)
                log_readings(g, next++);
            if (run_at(g, i)->rank >= 0)
                log_restarts(g, i, next);
        }
    }
}

int gnomon__gather_damage(const gnomon__gather *g)
{
    int status = GNOMON__EXIT_OK;
    size_t input;
    const gnomon_loss_info *l;
    char text[320];
    for (size_t i = 0; (l = gnomon__merge_loss(g->merge, i, &input)) != NULL;
         i++) {
        gnomon__log("%s: %s", g->in->paths[input],
                    gnomon__cli_loss(text, sizeof text, l));
        if (gnomon__cli_is_damage(l))
            status = GNOMON__EXIT_UNREADABLE;
    }
    return status;
}

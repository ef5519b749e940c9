/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files as inputs of a merge. A .gnomon file is read in place. Any other is converted to
 * .gnomon in memory while it is open; a pipe, which cannot be read twice, stays there. */
#include "merge/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/inputs.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profile/fields.h"

/* ---- Inputs ----------------------------------------------------------------------- */

static void forget(gnomon__export_memory *m)
{
    free(m->text);
    *m = (gnomon__export_memory){0};
}

/* Damage is recorded in the profile, as losses. */
static int memory_load(gnomon__gather *g, gnomon__export_memory *to,
                       const char *path, int again)
{
    const gnomon_writer out = gnomon__export_to_memory(to);
    gnomon_profile *p;
    int code = gnomon__cli_load_again(path, &p, again);
    g->was_logged = code != GNOMON_OK;
    if (!code && (code = gnomon_write(p, "gnomon", &out)) != GNOMON_OK)
        gnomon__fail(code, "no memory for a whole file");
    gnomon_profile_free(p);
    return code;
}

/* Opens the file, if it begins as a .gnomon file does; else 0. */
static int opens_as_file(gnomon__gather *g, const char *path,
                         gnomon__source *out)
{
    char magic[sizeof GNOMON__FILE_MAGIC - 1];
    uint64_t size;
    if (gnomon__os_open(path, &g->fd, &size) != 0)
        return 0;
    if (size >= sizeof magic &&
        gnomon__os_read_at(g->fd, 0, magic, sizeof magic) == 0 &&
        memcmp(magic, GNOMON__FILE_MAGIC, sizeof magic) == 0) {
        *out = gnomon__file_source(&g->fd, size);
        return 1;
    }
    gnomon__os_close(g->fd);
    return 0;
}

static int can_be_read_again(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode);
}

static int gather_open(void *context, size_t input, gnomon__source *out)
{
    gnomon__gather *g = context;
    const char *path = g->in->paths[input];
    gnomon__export_memory *to = &g->kept[input];
    g->fd = -1;
    g->was_logged = 0;
    if (!to->text) {
        if (strcmp(path, "-") != 0 && opens_as_file(g, path, out))
            return GNOMON_OK;
        g->fd = -1;
        if (can_be_read_again(path))
            to = &g->loaded;
        int code = memory_load(g, to, path, g->was_loaded[input]);
        g->was_loaded[input] = 1;
        if (code) {
            forget(to);
            return code;
        }
    }
    *out = gnomon__memory_source(to->text, to->size);
    return GNOMON_OK;
}

static void gather_close(void *context, gnomon__source *source)
{
    gnomon__gather *g = context;
    (void)source;
    if (g->fd >= 0)
        gnomon__os_close(g->fd);
    g->fd = -1;
    forget(&g->loaded);
}

/* ---- The whole ---------------------------------------------------------------------- */

int gnomon__gather_begin(gnomon__gather *g, const gnomon__cli_inputs *in,
                         uint32_t kinds, int apart)
{
    int status = GNOMON__EXIT_OK;
    *g = (gnomon__gather){.in = in, .fd = -1};
    const gnomon__merge_inputs inputs = {in->count, gather_open, gather_close,
                                         g, apart};
    g->kept = gnomon__alloc((in->count + 1) * sizeof *g->kept);
    g->was_loaded = gnomon__alloc(in->count + 1);
    int code = g->kept && g->was_loaded
                   ? gnomon__merge_create(&g->merge, &inputs, kinds)
                   : GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < in->count; i++) {
        gnomon__progress_at("file", i + 1, in->count);
        int wrong = gnomon__merge_scan(g->merge, i);
        gnomon__progress_hide();
        if (!wrong)
            continue;
        if (!g->was_logged)
            gnomon__log("%s: %s", in->paths[i], gnomon_error_text());
        status = GNOMON__EXIT_UNREADABLE;
    }
    if (!code)
        code = gnomon__merge_order(g->merge);
    if (!code)
        return status;
    gnomon__log("no memory for so many runs");
    gnomon__merge_free(g->merge);
    g->merge = NULL;
    return GNOMON__EXIT_UNREADABLE;
}

int gnomon__gather_whole(gnomon__gather *g, size_t input, gnomon_profile **out,
                         uint64_t *events)
{
    const gnomon__file_part all = {
        .begin = GNOMON__FILE_HEADER, .end = UINT64_MAX, .is_whole = 1};
    gnomon__file_index index = {0};
    gnomon__source from;
    *out = NULL;
    gnomon__fail_clear();
    gnomon__merge_close(g->merge);
    int code = gather_open(g, input, &from);
    if (!code)
        code = gnomon__index_file(&index, &from);
    if (!code)
        code = gnomon__read_part(out, &from, &all, 0,
                                 GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS));
    *events = index.seen[GNOMON_EVENTS];
    gnomon__index_free(&index);
    if (code && !g->was_logged)
        gnomon__log("%s: %s", g->in->paths[input], gnomon_error_text());
    gather_close(g, &from);
    return code;
}

void gnomon__gather_end(gnomon__gather *g)
{
    gnomon__merge_free(g->merge);
    forget(&g->loaded);
    for (size_t i = 0; g->kept && i < g->in->count; i++)
        forget(&g->kept[i]);
    gnomon__free(g->kept);
    gnomon__free(g->was_loaded);
    *g = (gnomon__gather){.fd = -1};
}

/* ---- Ranks as text ----------------------------------------------------------------- */

#define LISTED 20 /* ranges of ranks in one line */

void gnomon__rank_list_add(gnomon__rank_list *l, int32_t from, int32_t to)
{
    const char *comma = l->used ? ", " : "";
    l->count += (uint64_t)(to - from) + 1;
    if (l->ranges++ > LISTED || l->used > sizeof l->text - 40)
        return;
    char *at = l->text + l->used;
    size_t room = sizeof l->text - l->used;
    int n;
    if (l->ranges > LISTED)
        n = snprintf(at, room, "%s...", comma);
    else if (from == to)
        n = snprintf(at, room, "%s%" PRId32, comma, from);
    else
        n = snprintf(at, room, "%s%" PRId32 "-%" PRId32, comma, from, to);
    l->used += (size_t)n;
}

void gnomon__rank_list_met(gnomon__rank_list *l, int32_t rank, int32_t world)
{
    if (rank > l->next && rank <= world)
        gnomon__rank_list_add(l, l->next, rank - 1);
    if (rank >= l->next)
        l->next = rank < INT32_MAX ? rank + 1 : rank;
}

void gnomon__rank_list_end(gnomon__rank_list *l, int32_t world)
{
    if (l->next < world)
        gnomon__rank_list_add(l, l->next, world - 1);
}

/* ---- Ranks that are missing, came more than once, or were restarted -------------------
 *
 * Runs are in the order of job, rank, attempt, so those of one rank follow one another. */

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
        if (gnomon__merge_info(g->merge, i)->world_size > world)
            world = gnomon__merge_info(g->merge, i)->world_size;
    for (size_t i = first; i < end; i++)
        gnomon__rank_list_met(&missing, gnomon__merge_info(g->merge, i)->rank,
                              world);
    gnomon__rank_list_end(&missing, world);
    if (missing.count)
        gnomon__log("%" PRIu64 " of %" PRId32 " ranks%s %s missing: %s",
                    missing.count, world,
                    job_of(gnomon__merge_info(g->merge, first), job),
                    missing.count == 1 ? "is" : "are", missing.text);
}

/* ---- Restarted, or there twice ------------------------------------------------------ */

static void log_restarts(const gnomon__gather *g, size_t first, size_t end)
{
    const gnomon_run_info *a = gnomon__merge_info(g->merge, first);
    char text[256] = "", job[80];
    size_t attempts = 1, used = 0;
    for (size_t i = first; i < end && used < sizeof text - 40; i++) {
        const gnomon_run_info *r = gnomon__merge_info(g->merge, i);
        int is_new =
            i == first ||
            gnomon__compare_texts(gnomon__merge_info(g->merge, i - 1)->attempt,
                                  r->attempt) != 0;
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
        const gnomon_run_info *b = gnomon__merge_info(g->merge, i - 1),
                              *c = gnomon__merge_info(g->merge, i);
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
    const gnomon_run_info *r = gnomon__merge_info(g->merge, run);
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
        const char *job = gnomon__merge_info(g->merge, first)->job;
        for (end = first;
             end < count && !gnomon__compare_texts(
                                gnomon__merge_info(g->merge, end)->job, job);)
            end++;
        log_missing(g, first, end);
        for (size_t i = first, next; i < end; i = next) {
            for (next = i;
                 next < end && gnomon__merge_info(g->merge, next)->rank ==
                                   gnomon__merge_info(g->merge, i)->rank;)
                log_readings(g, next++);
            if (gnomon__merge_info(g->merge, i)->rank >= 0)
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

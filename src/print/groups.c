/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts tracks, regions or runs of a profile by the order and text of their group; those
 * that are equal in both are one group, also of several profiles. */
#include "print/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/order.h"

static const char *const group_words[] = {
    [GNOMON__BY_NOTHING] = NULL,        [GNOMON__BY_THREAD] = "thread",
    [GNOMON__BY_RANK] = "rank",         [GNOMON__BY_HOST] = "host",
    [GNOMON__BY_CATEGORY] = "category", [GNOMON__BY_FILE] = "file"};

static bool is_of_regions(int by)
{
    return by == GNOMON__BY_CATEGORY || by == GNOMON__BY_FILE;
}

GNOMON__ORDER(by_group, gnomon__group, UP(order), TEXT(text), UP(number))

static const char *thread_text(const gnomon_track_info *t,
                               const gnomon_run_info *run, bool has_ranks,
                               gnomon__report_table *table)
{
    char of_rank[32] = "", id[32] = "", lives[48] = "";
    if (has_ranks && run->rank >= 0)
        (void)snprintf(of_rank, sizeof of_rank, " of rank %" PRId32, run->rank);
    if (t->os_id)
        (void)snprintf(id, sizeof id, " (%" PRId64 ")", t->os_id);
    if (t->thread_count > 1)
        (void)snprintf(lives, sizeof lives,
                       ", %" PRIu32 " that followed one another",
                       t->thread_count);
    return gnomon__table_keep(table, "%" PRIu32 " %s%s%s%s", t->index, t->name,
                              id, of_rank, lives);
}

static void read_rank_or_host(gnomon__group *e, int by,
                              const gnomon_run_info *run, uint32_t number,
                              gnomon__report_table *table)
{
    if (by == GNOMON__BY_HOST) {
        e->text = run->host && *run->host ? run->host : "(not known)";
    } else if (run->rank >= 0) {
        e->order = run->rank;
        e->text = gnomon__table_keep(table, "%" PRId32, run->rank);
    } else {
        e->order = INT64_MAX;
        e->text = gnomon__table_keep(table, "of run %" PRIu32, number);
    }
}

static void read_track(gnomon__group *e, int by, const gnomon_profile *p,
                       gnomon__report_table *table)
{
    gnomon_track_info track;
    gnomon_run_info run = {.rank = -1, .host = ""};
    bool has_ranks = gnomon_profile_count(p, GNOMON_RUNS) > 1;
    (void)gnomon_profile_track(p, e->number, &track);
    if (track.run)
        (void)gnomon_profile_run(p, track.run, &run);
    if (by == GNOMON__BY_THREAD) {
        e->order = (int64_t)e->number;
        e->text = thread_text(&track, &run, has_ranks, table);
    } else {
        read_rank_or_host(e, by, &run, track.run, table);
    }
}

static void read_region(gnomon__group *e, int by, const gnomon_profile *p)
{
    gnomon_region_info region;
    (void)gnomon_profile_region(p, e->number, &region);
    e->text = by == GNOMON__BY_FILE ? region.file : region.category;
    if (!*e->text) {
        e->text = "(none)";
        e->order = 1;
    }
}

/* `entity`: what is grouped: regions, tracks or runs. */
static bool read_entries(gnomon__group *items, size_t count, int by, int entity,
                         const gnomon_profile *p, gnomon__report_table *table)
{
    gnomon_run_info run;
    for (size_t i = 0; i < count; i++) {
        items[i].number = (uint32_t)i + 1;
        if (entity == GNOMON_RUNS &&
            gnomon_profile_run(p, i + 1, &run) == GNOMON_OK)
            read_rank_or_host(&items[i], by, &run, (uint32_t)i + 1, table);
        else if (entity == GNOMON_REGIONS)
            read_region(&items[i], by, p);
        else
            read_track(&items[i], by, p, table);
        if (!items[i].text)
            return false;
    }
    return true;
}

/* ---- Groups -------------------------------------------------------------------- */

void gnomon__groups_begin(gnomon__groups *g, int by,
                          gnomon__report_table *table)
{
    *g = (gnomon__groups){.by = by, .word = group_words[by], .count = !by};
    table->group_word = g->word;
}

/* A new group; UINT32_MAX: no memory. */
static uint32_t add_group(gnomon__groups *g, int64_t order, const char *text,
                          const char *inner)
{
    if (!text ||
        !gnomon__table_grow(&g->at, &g->room, g->count + 1, sizeof *g->at))
        return UINT32_MAX;
    g->at[g->count] = (gnomon__group){order, text, inner, g->count};
    return g->count++;
}

/* The group of an entry among the first `known`, or a new one. */
static uint32_t find_group(gnomon__groups *g, const gnomon__group *e,
                           uint32_t known, gnomon__report_table *table)
{
    for (uint32_t i = known; i-- > 0;)
        if (g->at[i].order == e->order && !g->at[i].inner &&
            strcmp(g->at[i].text, e->text) == 0)
            return i;
    return add_group(g, e->order, gnomon__table_keep(table, "%s", e->text),
                     NULL);
}

static int read_groups(gnomon__groups *g, gnomon__group *items, size_t count,
                       gnomon__report_table *table)
{
    const uint32_t known = g->count;
    uint32_t group = 0;
    GNOMON__SORT(items, count, by_group);
    for (size_t i = 0; i < count; i++) {
        const gnomon__group *e = &items[i];
        if (!i || e->order != e[-1].order || strcmp(e->text, e[-1].text) != 0)
            group = find_group(g, e, known, table);
        if (group == UINT32_MAX)
            return GNOMON_ENOMEM;
        g->of_number[e->number] = group;
        if (!i)
            g->of_number[0] = group;
    }
    return GNOMON_OK;
}

int gnomon__groups_read(gnomon__groups *g, const gnomon_profile *p,
                        const gnomon_run_info *run, bool is_of_runs,
                        gnomon__report_table *table)
{
    const bool is_of_one =
        run && (g->by == GNOMON__BY_RANK || g->by == GNOMON__BY_HOST);
    const int entity = is_of_regions(g->by) ? GNOMON_REGIONS
                       : is_of_runs         ? GNOMON_RUNS
                                            : GNOMON_TRACKS;
    const size_t count = is_of_one ? 1 : gnomon_profile_count(p, entity);
    free(g->of_number);
    g->of_number = g->of_track = g->of_region = g->of_run = NULL;
    if (g->by == GNOMON__BY_NOTHING)
        return GNOMON_OK;
    gnomon__group *items = calloc(count + 1, sizeof *items);
    g->of_number = calloc(count + 1, sizeof *g->of_number);
    int code = items && g->of_number ? GNOMON_OK : GNOMON_ENOMEM;
    if (!code && is_of_one)
        read_rank_or_host(items, g->by, run, g->count + 1, table);
    else if (!code && !read_entries(items, count, g->by, entity, p, table))
        code = GNOMON_ENOMEM;
    if (!code && is_of_one && !items->text)
        code = GNOMON_ENOMEM;
    if (!code && !count) /* of number 0, which stands for none */
        *items = (gnomon__group){.text = "(not known)"};
    if (!code)
        code = read_groups(g, items, count + !count, table);
    if (!code)
        g->of_all = g->of_number[0];
    g->of_region = entity == GNOMON_REGIONS ? g->of_number : NULL;
    g->of_track = entity == GNOMON_TRACKS && !is_of_one ? g->of_number : NULL;
    g->of_run = entity == GNOMON_RUNS && !is_of_one ? g->of_number : NULL;
    free(items);
    return code;
}

uint32_t gnomon__groups_add(gnomon__groups *g, uint32_t outer, const char *text)
{
    if (!g->by)
        return add_group(g, g->at ? g->count : (g->count = 0), text, NULL);
    return add_group(g, g->at[outer].order, g->at[outer].text, text);
}

int gnomon__groups_end(gnomon__groups *g, gnomon__report_table *t)
{
    if (!g->at)
        return GNOMON_OK;
    uint32_t *place = calloc(g->count, sizeof *place);
    g->texts = calloc(2 * (size_t)g->count, sizeof *g->texts);
    if (!place || !g->texts) {
        free(place);
        return GNOMON_ENOMEM;
    }
    GNOMON__SORT(g->at, g->count, by_group);
    for (uint32_t i = 0; i < g->count; i++) {
        place[g->at[i].number] = i;
        g->texts[i] = g->at[i].text;
        g->texts[g->count + i] = g->at[i].inner;
    }
    for (size_t i = 0; i < t->row_count; i++)
        t->rows[i].group = place[t->rows[i].group];
    t->groups = g->texts;
    t->inner_groups = g->texts + g->count;
    free(place);
    return GNOMON_OK;
}

void gnomon__groups_free(gnomon__groups *g)
{
    free((void *)g->texts);
    free(g->of_number);
    free(g->at);
    *g = (gnomon__groups){0};
}

uint32_t gnomon__group_of(const gnomon__groups *g, uint32_t track,
                          uint32_t region)
{
    return g->of_region  ? g->of_region[region]
           : g->of_track ? g->of_track[track]
                         : g->of_all;
}

uint32_t gnomon__group_of_run(const gnomon__groups *g, uint32_t run)
{
    return g->of_run ? g->of_run[run] : g->of_all;
}

int gnomon__groups_choose(const char *report, int first, int last,
                          const gnomon_options *options)
{
    const char *text = options ? options->text(options, "by") : NULL;
    char line[160];
    for (int by = first; text && by <= last; by++)
        if (strcmp(text, group_words[by]) == 0)
            return by;
    if (!text)
        return GNOMON__BY_NOTHING;
    int n = snprintf(line, sizeof line, "%s: by=%.48s: say ", report, text);
    for (int by = first; by <= last; by++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s",
                      by == first  ? ""
                      : by == last ? " or "
                                   : ", ",
                      group_words[by]);
    options->log(line);
    return GNOMON__BY_NOTHING;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts tracks, regions or runs by the order and text of their group; those that are
 * equal in both are one group. */
#include "print/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"

static const char *const group_words[] = {
    [GNOMON__BY_NOTHING] = NULL,        [GNOMON__BY_THREAD] = "thread",
    [GNOMON__BY_RANK] = "rank",         [GNOMON__BY_HOST] = "host",
    [GNOMON__BY_CATEGORY] = "category", [GNOMON__BY_FILE] = "file"};

typedef struct group_entry {
    int64_t order; /* groups are sorted by it first, then by text */
    const char *text;
    uint32_t number; /* of the track or region */
    uint32_t reserved;
} group_entry;

static bool is_of_regions(int by)
{
    return by == GNOMON__BY_CATEGORY || by == GNOMON__BY_FILE;
}

static int by_entry(const void *left, const void *right)
{
    const group_entry *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

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

/* Whether the track's name states its group, as "rank 3" or "host n7" do in a sum of
 * ranks: gnomon__stages_by. */
static bool is_named_after(int by, const gnomon_track_info *track,
                           const gnomon_run_info *run)
{
    size_t n = strlen(group_words[by]);
    return by != GNOMON__BY_THREAD && run->rank < 0 && !*run->host &&
           strncmp(track->name, group_words[by], n) == 0 &&
           track->name[n] == ' ';
}

static void read_rank_or_host(group_entry *e, int by,
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

static void read_track(group_entry *e, int by, const gnomon_profile *p,
                       gnomon__report_table *table)
{
    gnomon_track_info track;
    gnomon_run_info run = {.rank = -1, .host = ""};
    bool has_ranks = gnomon_profile_count(p, GNOMON_RUNS) > 1;
    (void)gnomon_profile_track(p, e->number, &track);
    if (track.run)
        (void)gnomon_profile_run(p, track.run, &run);
    if (is_named_after(by, &track, &run)) {
        char *end;
        e->text = track.name + strlen(group_words[by]) + 1;
        long rank = strtol(e->text, &end, 10);
        e->order = *end ? INT64_MAX : rank;
    } else if (by == GNOMON__BY_THREAD) {
        e->order = (int64_t)e->number;
        e->text = thread_text(&track, &run, has_ranks, table);
    } else {
        read_rank_or_host(e, by, &run, track.run, table);
    }
}

static void read_region(group_entry *e, int by, const gnomon_profile *p)
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
static bool read_entries(group_entry *group_entries, size_t count, int by,
                         int entity, const gnomon_profile *p,
                         gnomon__report_table *table)
{
    gnomon_run_info run;
    for (size_t i = 0; i < count; i++) {
        group_entries[i].number = (uint32_t)i + 1;
        if (entity == GNOMON_RUNS &&
            gnomon_profile_run(p, i + 1, &run) == GNOMON_OK)
            read_rank_or_host(&group_entries[i], by, &run, (uint32_t)i + 1,
                              table);
        else if (entity == GNOMON_REGIONS)
            read_region(&group_entries[i], by, p);
        else
            read_track(&group_entries[i], by, p, table);
        if (!group_entries[i].text)
            return false;
    }
    return true;
}

static int make_groups(gnomon__groups *g, int by, int entity,
                       const gnomon_profile *p, gnomon__report_table *table)
{
    *g = (gnomon__groups){.by = by, .word = group_words[by], .count = 1};
    if (by == GNOMON__BY_NOTHING)
        return GNOMON_OK;
    size_t count = gnomon_profile_count(p, entity);
    group_entry *group_entries = calloc(count + 1, sizeof *group_entries);
    g->texts = calloc(count + 1, sizeof *g->texts);
    g->of_number = calloc(count + 1, sizeof *g->of_number);
    if (!group_entries || !g->texts || !g->of_number ||
        !read_entries(group_entries, count, by, entity, p, table)) {
        free(group_entries);
        return GNOMON_ENOMEM;
    }
    qsort(group_entries, count, sizeof *group_entries, by_entry);
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || group_entries[i].order != group_entries[i - 1].order ||
            strcmp(group_entries[i].text, group_entries[i - 1].text) != 0)
            g->texts[used++] = group_entries[i].text;
        g->of_number[group_entries[i].number] = used - 1;
    }
    if (!used) /* of number 0, which stands for none */
        g->texts[used++] = "(not known)";
    g->count = used;
    g->of_region = entity == GNOMON_REGIONS ? g->of_number : NULL;
    g->of_track = entity == GNOMON_TRACKS ? g->of_number : NULL;
    table->group_word = g->word;
    table->groups = g->texts;
    free(group_entries);
    return GNOMON_OK;
}

int gnomon__groups_make(gnomon__groups *g, int by, const gnomon_profile *p,
                        gnomon__report_table *table)
{
    return make_groups(
        g, by, is_of_regions(by) ? GNOMON_REGIONS : GNOMON_TRACKS, p, table);
}

int gnomon__groups_of_runs(gnomon__groups *g, int by, const gnomon_profile *p,
                           gnomon__report_table *table)
{
    return make_groups(g, by, GNOMON_RUNS, p, table);
}

void gnomon__groups_free(gnomon__groups *g)
{
    free((void *)g->texts);
    free(g->of_number);
    *g = (gnomon__groups){0};
}

uint32_t gnomon__group_of(const gnomon__groups *g, uint32_t track,
                          uint32_t region)
{
    return g->of_region  ? g->of_region[region]
           : g->of_track ? g->of_track[track]
                         : 0;
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

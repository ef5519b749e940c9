/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random profiles against a model (facts.h): what a filter leaves of them, the rows of
 * reports and of diffs.
 *
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 600 */
#include "gnomon/report.h"

#include "facts.h"
#include "random_rounds.h"

#include "diff/diff.h"
#include "print/regions.h"
#include "merge/unite.h"
#include "spec/filter.h"

static gnomon_profile *make_ranks(uint32_t most)
{
    static const char *const ranks[] = {"0", "02", "13"};
    random_size(most);
    return random_profile(ranks[random_below(3)], 0);
}

/* What the filter takes of the only run of a profile. */
static gnomon_profile *filtered(const gnomon_profile *p,
                                const gnomon__filter *filter,
                                gnomon__shared *shared)
{
    gnomon__unite *u;
    gnomon_profile *out = NULL;
    CHECK_EQ(gnomon__shared_add(shared, p), GNOMON_OK);
    CHECK_EQ(gnomon__shared_order(shared), GNOMON_OK);
    CHECK_EQ(gnomon__unite_create(&u, shared, GNOMON__UNITE_LENDS), GNOMON_OK);
    gnomon__unite_filter(u, filter);
    CHECK_EQ(gnomon__unite_add(u, p, 1, NULL), GNOMON_OK);
    if (!CHECK_EQ(gnomon__unite_finish(u, GNOMON_OK, &out), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return out;
}

/* ---- Filters --------------------------------------------------------------------- */

/* Names begin with one of p to t. */
static void check_filter(uint32_t most)
{
    static const char *const words[][2] = {
        {"p*", "p"}, {"p*|s*", "ps"}, {"q*|r*|t*", "qrt"}, {"*", "pqrst"}};
    const char *const *word = words[random_below(4)];
    gnomon__filter *filter = NULL;
    gnomon__shared shared = {0};
    random_size(most);
    gnomon_profile *p = random_profile(random_below(2) ? "0" : "2", 0);
    CHECK_EQ(gnomon__filter_create(&filter, word[0], NULL), GNOMON_OK);
    gnomon_profile *f = filtered(p, filter, &shared);
    facts is = {.way = FACTS_OF_RUNS}, must = is;
    must.taken = word[1];
    if (f)
        facts_add(&is, f);
    facts_add(&must, p);
    facts_of_kinds(&is, "|link|",
                   1); /* see links_by_group in test_cli_links.c */
    facts_of_kinds(&must, "|link|", 1);
    facts_equal(&is, &must);
    facts_free(&is);
    facts_free(&must);
    gnomon_profile_free(f);
    gnomon__shared_free(&shared);
    gnomon__filter_destroy(filter);
    gnomon_profile_free(p);
}

TEST(soak_a_filter_keeps_what_it_takes)
{
    each_size("filter", 100000, check_filter);
}

/* ---- Rows ------------------------------------------------------------------------- */

/* The text of a path's group. */
static const char *group_text(const gnomon_profile *p, uint32_t track, int by,
                              char text[16])
{
    gnomon_track_info t;
    gnomon_run_info r;
    gnomon_profile_track(p, track, &t);
    gnomon_profile_run(p, t.run, &r);
    snprintf(text, 16, "%d", (int)r.rank);
    return by == GNOMON_ROWS_BY_RANK   ? text
           : by == GNOMON_ROWS_BY_HOST ? r.host
                                       : "";
}

/* What rows must say: the sums of all paths of a name in a group. */
static void facts_of_rows(facts *f, const gnomon_profile *p, int by)
{
    gnomon_node_info n;
    gnomon_region_info r;
    char text[16];
    f->kind = "row, from node";
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        gnomon_profile_region(p, n.region, &r);
        const uint64_t key =
            fact_text(fact_text(1, group_text(p, n.track, by, text)), r.name);
        f->number = i;
        if (n.host && n.host->count && n.first)
            fact_add(f, key, "first", FACT_LEAST, (double)n.first);
        facts_stats(f, fact_key(key, 2), n.host);
        if (n.device && n.device->count)
            facts_stats(f, fact_key(key, 3), n.device);
    }
}

static void facts_row(facts *f, const gnomon_row *row)
{
    const uint64_t key = fact_text(fact_text(1, row->group), row->name);
    if (row->host->count)
        facts_stats(f, fact_key(key, 2), row->host);
    facts_stats(f, fact_key(key, 3), row->device);
}

/* In the order of names; within groups, which come in theirs. */
static void check_order(const gnomon_rows *rows)
{
    for (size_t i = 1; i < rows->count; i++) {
        const gnomon_row *a = gnomon_row_at(rows, i - 1);
        const gnomon_row *b = gnomon_row_at(rows, i);
        int order = strcmp(a->group, b->group);
        CHECK(order < 0 || (!order && strcmp(a->name, b->name) < 0));
    }
}

static void check_groups(uint32_t most)
{
    static const int ways[] = {GNOMON_ROWS_ALL, GNOMON_ROWS_BY_RANK,
                               GNOMON_ROWS_BY_HOST};
    gnomon_profile *p = make_ranks(most);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        facts is = {.way = FACTS_OF_RANKS}, must = is;
        gnomon_rows *rows;
        is.kind = "row";
        CHECK_EQ(gnomon_host_get()->rows(&rows, p, ways[k]), GNOMON_OK);
        check_order(rows);
        for (size_t i = 0; i < rows->count; i++) {
            is.number = (uint32_t)i + 1;
            facts_row(&is, gnomon_row_at(rows, i));
        }
        facts_of_rows(&must, p, ways[k]);
        facts_but_fields(&must, "|first|"); /* not in the public rows */
        facts_equal(&is, &must);
        facts_free(&is);
        facts_free(&must);
        gnomon_host_get()->rows_free(rows);
    }
    gnomon_profile_free(p);
}

TEST(soak_rows_of_groups_add_up)
{
    each_size("groups", 30000, check_groups);
}

/* Reports list rows of equal value in the order in which they ended first. */
static void check_first(uint32_t most)
{
    gnomon_profile *p = make_ranks(most);
    const gnomon__table_choice nothing = {.by = GNOMON__BY_NOTHING};
    gnomon__report_rows all;
    facts is = {.kind = "row"}, must = {0};
    CHECK_EQ(gnomon__report_make(&all, &gnomon__regions, &nothing, NULL, p),
             GNOMON_OK);
    for (size_t i = 0; i < all.table.row_count; i++) {
        const gnomon__cell *cells = gnomon__cells_of(&all.table, i);
        const uint64_t first = cells[GNOMON__REGION_FIRST].count;
        const uint64_t key =
            fact_text(fact_text(1, ""), cells[GNOMON__REGION_NAME].text);
        const gnomon_stats *host =
            gnomon__times_of(&cells[GNOMON__REGION_HOST_TIMES]);
        const gnomon_stats *device =
            gnomon__times_of(&cells[GNOMON__REGION_DEVICE_TIMES]);
        is.number = (uint32_t)i + 1;
        if (first != UINT64_MAX)
            fact_add(&is, key, "first", FACT_LEAST, (double)first);
        if (host->count)
            facts_stats(&is, fact_key(key, 2), host);
        if (device->count)
            facts_stats(&is, fact_key(key, 3), device);
    }
    facts_of_rows(&must, p, GNOMON_ROWS_ALL);
    facts_equal(&is, &must);
    facts_free(&is);
    facts_free(&must);
    gnomon__report_free(&all);
    gnomon_profile_free(p);
}

TEST(soak_rows_know_their_first_end)
{
    each_size("first", 5000, check_first);
}

/* ---- Diffs ------------------------------------------------------------------------- */

static uint64_t diff_key(const gnomon_profile *p, uint32_t stage, int kind,
                         const char *name)
{
    gnomon_stage_info s = {.name = ""};
    if (stage)
        gnomon_profile_stage(p, stage, &s);
    return fact_key(fact_text(fact_text(1, s.name), name), (uint64_t)kind);
}

/* Rows of one view and of what is of none; of counters the count alone. */
static void facts_of_diff(facts *f, const gnomon_profile *p, const char *words)
{
    gnomon_node_info n;
    gnomon_region_info r;
    gnomon_view_info v;
    gnomon_counter_info c;
    f->kind = "row, from node";
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        if (n.view &&
            (gnomon_profile_view(p, n.view, &v) || strcmp(v.words, words) != 0))
            continue;
        gnomon_profile_region(p, n.region, &r);
        f->number = i;
        facts_stats(f, diff_key(p, n.stage, GNOMON__DIFF_HOST, r.name), n.host);
        if (n.device && n.device->count)
            facts_stats(f, diff_key(p, n.stage, GNOMON__DIFF_DEVICE, r.name),
                        n.device);
    }
    f->kind = "row, from counter";
    for (uint32_t i = 1; !gnomon_profile_counter(p, i, &c); i++) {
        gnomon_profile_region(p, c.region, &r);
        f->number = i;
        const uint64_t key = diff_key(p, c.stage, GNOMON__DIFF_COUNTER, r.name);
        if (!c.count)
            continue;
        fact_add(f, key, "count", FACT_SUM, (double)c.count);
        fact_add(f, key, "sum", FACT_SUM, c.sum);
        fact_add(f, key, "min", FACT_LEAST, c.min);
        fact_add(f, key, "max", FACT_MOST, c.max);
    }
}

static void facts_of_half(facts *f, const gnomon__diff_row *row)
{
    const gnomon__diff_half *h = &row->side[0];
    const uint64_t key = fact_key(
        fact_text(fact_text(1, row->stage), row->name), (uint64_t)row->kind);
    if (row->kind < GNOMON__DIFF_COUNTER) {
        facts_stats(f, key, &h->all.s);
        return;
    }
    if (row->kind == GNOMON__DIFF_MEMORY)
        return;
    fact_add(f, key, "count", FACT_SUM, (double)h->all.s.count);
    fact_add(f, key, "sum", FACT_SUM, h->parts[0].total);
    fact_add(f, key, "min", FACT_LEAST, h->parts[0].min);
    fact_add(f, key, "max", FACT_MOST, h->parts[0].max);
}

static void check_diff(uint32_t most)
{
    const char *words = random_below(2) ? "" : "filter=p";
    gnomon_profile *p = make_ranks(most);
    gnomon__diff *d;
    facts is = {.kind = "row"}, must = {0};
    CHECK_EQ(gnomon__diff_create(&d), GNOMON_OK);
    d->view = words;
    CHECK_EQ(gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0}),
             GNOMON_OK);
    for (size_t i = 0; i < d->count; i++) {
        is.number = (uint32_t)i + 1;
        if (d->rows[i].kind != GNOMON__DIFF_STEPS)
            facts_of_half(&is, &d->rows[i]);
    }
    facts_of_diff(&must, p, words);
    facts_equal(&is, &must);
    facts_free(&is);
    facts_free(&must);
    gnomon__diff_free(d);
    gnomon_profile_free(p);
}

TEST(soak_rows_of_a_diff_add_up)
{
    each_size("diff", 5000, check_diff);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * links: which path caused which other one, how often, and the times of the other one.
 * With by= a link is in the group of the path that caused it. A pure function of a
 * profile.
 */
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/groups.h"

enum {
    LINKS_FROM,
    LINKS_TO,
    LINKS_KIND,
    LINKS_COUNT,
    LINKS_CALLS,
    LINKS_TOTAL,
    LINKS_SELF,
    LINKS_COLUMNS
};

static const gnomon__column links_columns[LINKS_COLUMNS] = {
    [LINKS_FROM] = {"from", "From", GNOMON__CELL_TEXT, false},
    [LINKS_TO] = {"to", "To", GNOMON__CELL_TEXT, false},
    [LINKS_KIND] = {"kind", "Kind", GNOMON__CELL_TEXT, false},
    [LINKS_COUNT] = {"count", "Links", GNOMON__CELL_COUNT, false},
    [LINKS_CALLS] = {"calls", "Calls of it", GNOMON__CELL_COUNT, false},
    [LINKS_TOTAL] = {"total", "Total of it", GNOMON__CELL_TIME, false},
    [LINKS_SELF] = {"self", "Self of it", GNOMON__CELL_TIME, true},
};

/* All links between two paths by their names, on any threads of the group. */
typedef struct links_row {
    const char *from, *to;
    uint32_t group, kind, to_node;
    uint64_t count, calls, total_ns, self_ns;
} links_row;

static int links_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "links", links_columns, LINKS_COLUMNS, options);
    c->by = gnomon__groups_choose("links", GNOMON__BY_THREAD, GNOMON__BY_FILE,
                                  options);
    if (c->sort < 0)
        c->sort = LINKS_COUNT;
    *self = c;
    return GNOMON_OK;
}

/* "train_step/forward"; NULL: no memory. */
static const char *links_path(gnomon__report_table *table,
                              const gnomon_profile *p, uint32_t node)
{
    const char *path = "";
    while (node) {
        gnomon_node_info n;
        gnomon_region_info region = {.name = ""};
        (void)gnomon_profile_node(p, node, &n);
        (void)gnomon_profile_region(p, n.region, &region);
        path = *path ? gnomon__table_keep(table, "%s/%s", region.name, path)
                     : region.name;
        if (!path)
            return NULL;
        node = n.parent < node ? n.parent : 0;
    }
    return path;
}

static int links_by_row(const void *left, const void *right)
{
    const links_row *a = left, *b = right;
    int order = (a->group > b->group) - (a->group < b->group);
    order = order ? order : strcmp(a->from, b->from);
    order = order ? order : strcmp(a->to, b->to);
    if (order || a->kind == b->kind)
        return order;
    return a->kind < b->kind ? -1 : 1;
}

static int links_by_node(const void *left, const void *right)
{
    const links_row *a = left, *b = right;
    int order = links_by_row(a, b);
    return order ? order
                 : (a->to_node > b->to_node) - (a->to_node < b->to_node);
}

static bool links_read(links_row *rows, size_t *count,
                       const gnomon__groups *groups,
                       gnomon__report_table *table, const gnomon_profile *p)
{
    size_t links = gnomon_profile_count(p, GNOMON_LINKS);
    *count = 0;
    for (size_t i = 1; i <= links; i++) {
        gnomon_link_info link;
        gnomon_node_info from, to;
        if (gnomon_profile_link(p, i, &link) != GNOMON_OK ||
            gnomon_profile_node(p, link.to, &to) != GNOMON_OK)
            continue;
        (void)gnomon_profile_node(p, link.from, &from);
        links_row *r = &rows[(*count)++];
        *r = (links_row){.from = links_path(table, p, link.from),
                         .to = links_path(table, p, link.to),
                         .group =
                             gnomon__group_of(groups, from.track, from.region),
                         .kind = link.kind,
                         .to_node = link.to,
                         .count = link.count};
        if (to.host) {
            r->calls = to.host->count;
            r->total_ns = to.host->total_ns;
            r->self_ns = to.host->self_ns;
        }
        if (!r->from || !r->to)
            return false;
    }
    return true;
}

/* Adds up equal rows. A node with several links counts once in their row. */
static size_t links_unite(links_row *rows, size_t count)
{
    size_t used = 0;
    uint32_t last_node = 0;
    qsort(rows, count, sizeof *rows, links_by_node);
    for (size_t i = 0; i < count; i++) {
        if (!used || links_by_row(&rows[used - 1], &rows[i]) != 0) {
            last_node = rows[i].to_node;
            rows[used++] = rows[i];
            continue;
        }
        links_row *to = &rows[used - 1];
        to->count += rows[i].count;
        if (rows[i].to_node != last_node) {
            to->calls += rows[i].calls;
            to->total_ns += rows[i].total_ns;
            to->self_ns += rows[i].self_ns;
        }
        last_node = rows[i].to_node;
    }
    return used;
}

static bool links_add(gnomon__report_table *table, const links_row *row)
{
    static const char *const kinds[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "backward",
                                        [GNOMON_LINK_LAUNCH] = "launch"};
    gnomon__cell *cells = gnomon__table_add(table, row->group, 0);
    if (!cells)
        return false;
    gnomon__cell_text(&cells[LINKS_FROM], row->from);
    gnomon__cell_text(&cells[LINKS_TO], row->to);
    gnomon__cell_text(&cells[LINKS_KIND],
                      row->kind <= GNOMON_LINK_LAUNCH ? kinds[row->kind] : "?");
    gnomon__cell_count(&cells[LINKS_COUNT], row->count);
    gnomon__cell_count(&cells[LINKS_CALLS], row->calls);
    gnomon__cell_count(&cells[LINKS_TOTAL], row->total_ns);
    gnomon__cell_count(&cells[LINKS_SELF], row->self_ns);
    return true;
}

static int links_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = LINKS_COUNT};
    gnomon__report_table table = {.name = "links",
                                  .title = "Links",
                                  .columns = links_columns,
                                  .column_count = LINKS_COLUMNS,
                                  .if_empty =
                                      "no link was recorded: gnomon_link_in() "
                                      "makes one, from gnomon_link_out()"};
    gnomon__groups groups;
    if (!profile)
        return GNOMON_EINVAL;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    size_t count = gnomon_profile_count(profile, GNOMON_LINKS);
    links_row *rows = calloc(count + 1, sizeof *rows);
    int code = gnomon__groups_make(&groups, choice.by, profile, &table);
    if (!code && (!rows || !links_read(rows, &count, &groups, &table, profile)))
        code = GNOMON_ENOMEM;
    count = code ? 0 : links_unite(rows, count);
    for (size_t i = 0; !code && i < count; i++)
        if (!links_add(&table, &rows[i]))
            code = GNOMON_ENOMEM;
    if (!code)
        code = gnomon__table_print(&table, &choice, profile, out);
    free(rows);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code;
}

static const gnomon_option_info links_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    {.key = NULL}};

static const gnomon_profiler links = {
    .struct_size = sizeof links,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "links",
    .help = "what was handed to other threads, by whom, and what it took",
    .options = links_options,
    .create = links_create,
    .summary = links_summary,
    .destroy = free,
};

GNOMON_PLUGIN(links);

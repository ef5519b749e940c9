/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tree: the call tree, with the times of each path. Paths of all threads with equal
 * names are one row. Work that a link passes to another thread is a child of the path
 * that submitted it. A pure function of a profile, made by src/print.
 */
#include <stdlib.h>
#include <string.h>

#include "gnomon/profiler.h"
#include "print/rows.h"
#include "print/tree.h"

enum {
    TREE_NAME,
    TREE_PERCENT,
    TREE_TOTAL,
    TREE_SELF,
    TREE_CALLS,
    TREE_THREADS,
    TREE_MAX,
    TREE_DEVICE,
    TREE_CATEGORY,
    TREE_LINKED,
    TREE_DEPTH,
    TREE_PATH,
    TREE_COLUMNS
};

static const gnomon__column tree_columns[TREE_COLUMNS] = {
    [TREE_NAME] = {"name", "Path", GNOMON__CELL_TEXT, false},
    [TREE_PERCENT] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [TREE_TOTAL] = {"total", "Total", GNOMON__CELL_TIME, false},
    [TREE_SELF] = {"self", "Self", GNOMON__CELL_TIME, false},
    [TREE_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT, false},
    [TREE_THREADS] = {"threads", "Threads", GNOMON__CELL_COUNT, false},
    [TREE_MAX] = {"max", "Max", GNOMON__CELL_TIME, true},
    [TREE_DEVICE] = {"device", "Device", GNOMON__CELL_TIME, true},
    [TREE_CATEGORY] = {"category", "Category", GNOMON__CELL_TEXT, true},
    [TREE_LINKED] = {"linked", "Linked", GNOMON__CELL_COUNT, true},
    [TREE_DEPTH] = {"depth", "Depth", GNOMON__CELL_COUNT, true},
    [TREE_PATH] = {"path", "Whole path", GNOMON__CELL_TEXT, true},
};

static int tree_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "tree", tree_columns, TREE_COLUMNS, options);
    c->by = gnomon__groups_choose("tree", GNOMON__BY_THREAD, GNOMON__BY_HOST,
                                  options);
    if (c->sort >= 0 && c->sort != TREE_NAME && c->sort != TREE_TOTAL &&
        c->sort != TREE_SELF && c->sort != TREE_CALLS) {
        options->log("tree: sort= orders what has one parent: say total, self, "
                     "calls or name");
        c->sort = -1;
    }
    *self = c;
    return GNOMON_OK;
}

typedef struct tree_printing {
    const gnomon__tree_rows *tree;
    gnomon__report_table *table;
    const char **paths; /* of each row; NULL: they are not asked for */
    uint64_t recorded_ns;
} tree_printing;

static bool tree_add_path(const tree_printing *p, uint32_t number,
                          gnomon__cell *cell)
{
    const gnomon__tree_row *row = &p->tree->rows[number];
    if (!p->paths)
        return true;
    p->paths[number] =
        row->parent == UINT32_MAX
            ? row->name
            : gnomon__table_keep(p->table, "%s/%s", p->paths[row->parent],
                                 row->name);
    gnomon__cell_text(cell, p->paths[number]);
    return p->paths[number] != NULL;
}

static bool tree_add(const tree_printing *p, uint32_t number, uint32_t group)
{
    const gnomon__tree_row *row = &p->tree->rows[number];
    gnomon__cell *cells = gnomon__table_add(p->table, group, row->depth);
    const char *name = row->name;
    if (!cells)
        return false;
    if (row->is_linked || row->is_range)
        name = gnomon__table_keep(p->table, "%s%s%s",
                                  row->is_linked ? "~ " : "", row->name,
                                  row->is_range ? " (overlapping)" : "");
    if (!name)
        return false;
    gnomon__cell_text(&cells[TREE_NAME], name);
    gnomon__cell_text(&cells[TREE_CATEGORY], row->category);
    gnomon__cell_count(&cells[TREE_CALLS], row->calls);
    gnomon__cell_count(&cells[TREE_TOTAL], row->total_ns);
    gnomon__cell_count(&cells[TREE_SELF], row->self_ns);
    gnomon__cell_count(&cells[TREE_THREADS], row->tracks);
    gnomon__cell_count(&cells[TREE_MAX], row->max_ns);
    gnomon__cell_count(&cells[TREE_DEPTH], row->depth);
    gnomon__cell_count(&cells[TREE_LINKED], row->is_linked);
    if (row->device_calls)
        gnomon__cell_count(&cells[TREE_DEVICE], row->device_ns);
    if (p->recorded_ns)
        gnomon__cell_number(&cells[TREE_PERCENT], 100.0 *
                                                      (double)row->total_ns /
                                                      (double)p->recorded_ns);
    return tree_add_path(p, number, &cells[TREE_PATH]);
}

/* Adds rows depth first, siblings in their order. next[level] and end[level] are the
 * rows of a level that remain. */
static bool tree_add_all(const tree_printing *p)
{
    const gnomon__tree_rows *tree = p->tree;
    uint32_t *next = calloc(2 * ((size_t)tree->count + 1), sizeof *next);
    uint32_t *end = next ? next + tree->count + 1 : NULL;
    uint32_t level = 0, group = 0;
    bool ok = next != NULL;
    if (ok)
        end[0] = tree->roots;
    while (ok) {
        if (next[level] == end[level]) {
            if (!level--)
                break;
            continue;
        }
        uint32_t number = tree->order[next[level]++];
        const gnomon__tree_row *row = &tree->rows[number];
        if (!level)
            group = row->group;
        if (!row->has_times)
            continue;
        ok = tree_add(p, number, group);
        level++;
        next[level] = row->first;
        end[level] = row->first + row->count;
    }
    free(next);
    return ok;
}

static bool tree_wants_paths(const gnomon__table_choice *c)
{
    bool is_asked = !c->count && (c->format == GNOMON__TABLE_CSV ||
                                  c->format == GNOMON__TABLE_JSON);
    for (uint32_t i = 0; i < c->count; i++)
        is_asked |= c->columns[i] == TREE_PATH;
    return is_asked;
}

static int tree_summary(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table table = {.name = "tree",
                                  .title = "Call Tree",
                                  .columns = tree_columns,
                                  .column_count = TREE_COLUMNS,
                                  .is_ordered = true,
                                  .is_tree = true};
    gnomon__groups groups;
    gnomon__tree_rows tree = {0};
    if (!profile)
        return GNOMON_EINVAL;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    tree_printing p = {.tree = &tree,
                       .table = &table,
                       .recorded_ns = gnomon__recorded_ns(profile)};
    int sort = choice.sort == TREE_SELF    ? GNOMON__TREE_SELF
               : choice.sort == TREE_CALLS ? GNOMON__TREE_CALLS
               : choice.sort == TREE_NAME  ? GNOMON__TREE_NAME
                                           : GNOMON__TREE_TOTAL;
    int code = gnomon__groups_make(&groups, choice.by, profile, &table);
    if (!code)
        code = gnomon__tree_rows_make(&tree, sort, &groups, profile);
    if (!code && tree_wants_paths(&choice) &&
        !(p.paths = calloc((size_t)tree.count + 1, sizeof *p.paths)))
        code = GNOMON_ENOMEM;
    if (!code && !tree_add_all(&p))
        code = GNOMON_ENOMEM;
    if (!code)
        code = gnomon__table_print(&table, &choice, profile, out);
    free((void *)p.paths);
    gnomon__tree_rows_free(&tree);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code;
}

static const gnomon_option_info tree_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "a tree for each thread, rank or host"),
    {.key = NULL}};

static const gnomon_profiler call_tree = {
    .struct_size = sizeof call_tree,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "tree",
    .help = "the call tree: total, self and calls of each path",
    .options = tree_options,
    .create = tree_create,
    .summary = tree_summary,
    .destroy = free,
};

GNOMON_PLUGIN(call_tree);

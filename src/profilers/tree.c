/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tree: the call tree, with the times of each path. Paths of all threads with equal
 * names are one row. Work that a link passes to another thread is a child of the path
 * that submitted it. A pure function of a profile.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/tool.h"
#include "print/links.h"
#include "print/rows.h"

#define TREE_COLUMN_LIST(X) \
    X(TREE_NAME, "name", "Path", TEXT, SHOWN, KEY) \
    X(TREE_PERCENT, "percent", "%", SHARE, SHOWN, MADE) \
    X(TREE_TOTAL, "total", "Total", TIME, SHOWN, SUM) \
    X(TREE_SELF, "self", "Self", TIME, SHOWN, SUM) \
    X(TREE_CALLS, "calls", "Calls", COUNT, SHOWN, SUM) \
    X(TREE_THREADS, "threads", "Threads", COUNT, SHOWN, ONCE) \
    X(TREE_MAX, "max", "Max", TIME, EXTRA, MOST) \
    X(TREE_DEVICE, "device", "Device", TIME, EXTRA, SUM) \
    X(TREE_CATEGORY, "category", "Category", TEXT, EXTRA, KEY) \
    X(TREE_LINKED, "linked", "Linked", COUNT, EXTRA, LAST) \
    X(TREE_DEPTH, "depth", "Depth", COUNT, EXTRA, MADE) \
    X(TREE_PATH, "path", "Whole path", TEXT, EXTRA, MADE) \
    /* number of its row; 0: outermost */ \
    X(TREE_PARENT, "", "", ID, HIDDEN, KEY) \
    /* 2: its times may overlap others'; 1: linked; their sum */ \
    X(TREE_KIND, "", "", ID, HIDDEN, KEY) \
    /* how many calls were submitted, by what is above if linked */ \
    X(TREE_IN_PART, "", "", COUNT, HIDDEN, SUM) \
    /* how many of its nodes have some, or those below it */ \
    X(TREE_TIMES, "", "", COUNT, HIDDEN, SUM)
GNOMON__COLUMNS(tree_columns, TREE_COLUMNS, TREE_COLUMN_LIST);

/* ---- Rows ------------------------------------------------------------------------ */

/* Work lies on tracks of its own. */
static bool tree_is_thread(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    return gnomon_profile_track(p, track, &t) == GNOMON_OK &&
           t.kind == GNOMON_TRACK_THREAD;
}

/* Nodes that are parts (GNOMON_NODE_PART) are left out: a thread's node has their
 * device times too. */
static void tree_put_times(gnomon__cell *cells, const gnomon_node_info *n)
{
    const gnomon_stats none = {.count = 0};
    const gnomon_stats *host = n->host ? n->host : &none;
    const gnomon_stats *device =
        n->device && !(n->flags & GNOMON_NODE_PART) ? n->device : &none;
    gnomon__cell_count(&cells[TREE_CALLS], host->count);
    gnomon__cell_count(&cells[TREE_TOTAL], host->total_ns);
    if (!(n->flags & GNOMON_NODE_RANGE)) /* they have none */
        gnomon__cell_count(&cells[TREE_SELF], host->self_ns);
    gnomon__cell_count(&cells[TREE_MAX], host->max_ns);
    if (device->count)
        gnomon__cell_count(&cells[TREE_DEVICE], device->total_ns);
    gnomon__cell_count(&cells[TREE_TIMES],
                       !(n->flags & GNOMON_NODE_PART) &&
                           (host->count || host->self_ns || device->count));
}

/* The number of the node's row, below that of its parent; 0: it has none. */
static uint32_t tree_put(gnomon__report_rows *r, uint32_t node, uint32_t above,
                         const gnomon__linked *linked)
{
    const bool has_above = above > 0;
    gnomon__report_node n;
    if (!gnomon__report_node_at(r->profile, node, &n) || !n.of.region ||
        n.region.kind == GNOMON_KIND_MARK ||
        n.region.kind == GNOMON_KIND_COUNTER)
        return 0;
    gnomon__cell *cells =
        has_above ? gnomon__report_row_of(r, r->table.rows[above - 1].group)
                  : gnomon__report_row(r, n.of.track, n.of.region);
    r->id = n.of.track;
    gnomon__cell_text(&cells[TREE_NAME], n.region.name);
    gnomon__cell_text(&cells[TREE_CATEGORY], n.region.category);
    gnomon__cell_count(&cells[TREE_PARENT], above);
    gnomon__cell_count(&cells[TREE_KIND],
                       (n.of.flags & GNOMON_NODE_RANGE ? 2u : 0u) +
                           linked->is_linked);
    gnomon__cell_count(&cells[TREE_LINKED], linked->is_linked);
    gnomon__cell_count(&cells[TREE_IN_PART], linked->in_part);
    gnomon__cell_count(&cells[TREE_THREADS],
                       tree_is_thread(r->profile, n.of.track));
    tree_put_times(cells, &n.of);
    return gnomon__report_put(r);
}

/* By a link, a parent may have a higher number than its child: way[] leads down to a
 * node. */
static void tree_read(gnomon__report_rows *r)
{
    const size_t count = gnomon_profile_count(r->profile, GNOMON_NODES);
    uint32_t *rows = calloc(2 * (count + 1), sizeof *rows);
    uint32_t *way = rows ? rows + count + 1 : NULL;
    gnomon__linked *of = gnomon__linked_parents(NULL, r->profile);
    if (!rows || !of)
        r->code = GNOMON_ENOMEM;
    for (uint32_t i = 1; !r->code && i <= count; i++) {
        size_t n = 0;
        for (uint32_t at = i; at && !rows[at]; at = of[at].parent)
            way[n++] = at;
        while (n--)
            rows[way[n]] =
                tree_put(r, way[n], rows[of[way[n]].parent], &of[way[n]]);
    }
    free(of);
    free(rows);
}

/* ---- Order ----------------------------------------------------------------------- */

static bool tree_wants_paths(const gnomon__table_choice *c)
{
    bool is_asked = !c->count && (c->format == GNOMON__TABLE_CSV ||
                                  c->format == GNOMON__TABLE_JSON);
    for (uint32_t i = 0; i < c->count; i++)
        is_asked |= c->columns[i] == TREE_PATH;
    return is_asked;
}

static gnomon__cell *tree_row(const gnomon__report_rows *r, uint64_t number)
{
    return &r->table.cells[(number - 1) * TREE_COLUMNS];
}

/* Totals do not have the time so far of open scopes, so a self time may be above its
 * total and is limited to it. If no execution of a path has ended, the self time is all
 * there is. */
static void tree_show_open(gnomon__cell *cells)
{
    if (cells[TREE_SELF].count <= cells[TREE_TOTAL].count)
        return;
    if (cells[TREE_CALLS].count)
        cells[TREE_SELF] = cells[TREE_TOTAL];
    else
        cells[TREE_TOTAL] = cells[TREE_PERCENT] = (gnomon__cell){0};
}

/* Its whole path, and the name that is shown. */
static void tree_name(gnomon__report_rows *r, gnomon__cell *cells,
                      const gnomon__cell *above, bool with_path)
{
    const uint64_t kind = cells[TREE_KIND].count;
    const char *name = cells[TREE_NAME].text, *path = name;
    if (with_path && above)
        path = gnomon__report_kept(r, gnomon__table_keep(&r->table, "%s/%s",
                                                         above[TREE_PATH].text,
                                                         name));
    if (with_path)
        gnomon__cell_text(&cells[TREE_PATH], path);
    if (kind)
        name = gnomon__report_kept(
            r, gnomon__table_keep(&r->table, "%s%s%s", kind & 1 ? "~ " : "",
                                  name, kind & 2 ? " (overlapping)" : ""));
    if (cells[TREE_IN_PART].count &&
        cells[TREE_IN_PART].count < cells[TREE_CALLS].count)
        name = gnomon__table_keep(
            &r->table, "%s (%" PRIu64 " of %" PRIu64 " submitted)", name,
            cells[TREE_IN_PART].count, cells[TREE_CALLS].count);
    gnomon__cell_text(&cells[TREE_NAME], gnomon__report_kept(r, name));
}

/* Parents come before their children, by number. Rows without times, and without such
 * ones below them, are left out. */
static void tree_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    const size_t count = t->row_count;
    const bool with_paths = tree_wants_paths(r->choice);
    const int sort = r->choice->sort < 0 ? TREE_TOTAL : r->choice->sort;
    for (size_t i = count; i > 0; i--) {
        const gnomon__cell *cells = tree_row(r, i);
        if (cells[TREE_PARENT].count)
            tree_row(r, cells[TREE_PARENT].count)[TREE_TIMES].count +=
                cells[TREE_TIMES].count;
    }
    t->row_count = 0;
    for (size_t i = 0; i < count; i++)
        if (t->cells[t->rows[i].cells + TREE_TIMES].count)
            t->rows[t->row_count++] = t->rows[i];
    if (sort != TREE_NAME)
        r->code = gnomon__table_sort(t, sort);
    if (!r->code)
        gnomon__report_nest(r, TREE_PARENT);
    for (size_t i = 0; !r->code && i < t->row_count; i++) {
        gnomon__cell *cells = gnomon__cells_of(t, i);
        const uint64_t above = cells[TREE_PARENT].count;
        gnomon__cell_count(&cells[TREE_DEPTH], t->rows[i].depth);
        gnomon__cell_share(&cells[TREE_PERCENT], cells[TREE_TOTAL].count,
                           r->recorded_ns);
        tree_show_open(cells);
        tree_name(r, cells, above ? tree_row(r, above) : NULL, with_paths);
    }
}

static void tree_set(void *settings, const gnomon_options *options)
{
    gnomon__table_choice *c = settings;
    if (c->sort < 0 || c->sort == TREE_NAME ||
        (c->sort >= TREE_TOTAL && c->sort <= TREE_CALLS))
        return;
    options->log("tree: sort= orders rows of one parent: say total, self, "
                 "calls or name");
    c->sort = -1;
}

static const gnomon__report tree_report = {
    .name = "tree",
    .title = "Call Tree",
    .columns = tree_columns,
    .column_count = TREE_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_HOST,
    .reads = GNOMON__READS_LINKS,
    .sort = -1,
    .set = tree_set,
    .read = tree_read,
    .choose = tree_choose,
};

GNOMON__REPORT_PROFILER(
    tree, tree_report, GNOMON_WANT_TREE,
    "the call tree: total, self and calls of each path", GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "a tree for each thread, rank or host"));

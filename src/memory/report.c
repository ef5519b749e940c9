/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory: what each region took from each pool and gave back; in libgnomon-memory.so and
 * in the program. */
#include "memory/memory.h"
#include "print/rows.h"

/* Columns, with what they have of a path's sums. `total` has those of all paths below,
 * too, and each once, however often its region is around them. */
#define MEMORY_SUM_LIST(X) \
    X(TAKEN, "allocations", "Allocations", COUNT, SHOWN, SUM, 0, allocations) \
    X(FREES, "frees", "Frees", COUNT, SHOWN, SUM, 0, frees) \
    X(SELF, "allocated", "Allocated", COUNT, SHOWN, SUM, 0, allocated_bytes) \
    X(TOTAL, "total", "with below", COUNT, SHOWN, SUM, 0, allocated_bytes) \
    X(FREED, "freed", "Freed", COUNT, SHOWN, SUM, 0, freed_bytes) \
    X(AT_PEAK, "at_peak", "Held at peak", COUNT, SHOWN, SUM, 0, at_peak_bytes) \
    X(HELD, "held", "Held now", NUMBER, SHOWN, SUM, 0, held_bytes) \
    X(A_STEP, "held_per_step", "a step", NUMBER, SHOWN, SUM, 0, held_bytes) \
    X(LIVE, "live", "Net", NUMBER, EXTRA, SUM, 0, live_bytes) \
    X(PEAK, "peak", "Peak", COUNT, EXTRA, MOST, 0, peak_bytes) \
    X(RESERVED, "reserved", "Reserved", COUNT, EXTRA, MOST, 0, reserved_bytes) \
    X(UNKNOWN, "unknown", "Unknown", COUNT, EXTRA, SUM, 0, unknown) \
    X(FAILURES, "failures", "Out of memory", COUNT, EXTRA, SUM, 0, failures)
#define MEMORY_COLUMN_LIST(X) \
    X(NAME, "name", "Name", TEXT, SHOWN, KEY) \
    X(CATEGORY, "category", "Category", TEXT, TELLS, KEY) \
    X(POOL, "pool", "Pool", TEXT, SHOWN, KEY) \
    MEMORY_SUM_LIST(X) \
    X(AROUND, "", "", COUNT, HIDDEN, MADE) /* the row's outermost open node */
GNOMON__COLUMNS(memory_columns, MEMORY_COLUMNS, MEMORY_COLUMN_LIST);

#define PUT_COUNT(cell, bytes) gnomon__cell_count(cell, bytes)
#define PUT_NUMBER(cell, bytes) gnomon__cell_number(cell, (double)(bytes))
#define PUT(column, key, title, kind, shown, rule, of, sum) \
    PUT_##kind(&cells[column], m->sum);

/* What a path and all below it allocated from a pool. */
typedef struct memory_sum {
    uint64_t bytes;
    uint32_t pool, next; /* of the same path, from 1; 0: it is the last */
    uint32_t row;        /* its number, while the node is open */
} memory_sum;

typedef struct memory_tree {
    struct memory_node {
        uint32_t parent, child, next, sum; /* 0: none */
    } * nodes;                             /* from 1; in 0 are the outermost */
    memory_sum *sums;                      /* from 1 */
    size_t count, room;
} memory_tree;

static void memory_add(gnomon__report_rows *r, memory_tree *t, uint32_t node,
                       uint32_t pool, uint64_t bytes)
{
    if (!gnomon__table_grow(&t->sums, &t->room, t->count + 2,
                            sizeof *t->sums)) {
        r->code = GNOMON_ENOMEM;
        return;
    }
    uint32_t at = t->nodes[node].sum;
    while (at && t->sums[at].pool != pool)
        at = t->sums[at].next;
    if (!at) {
        at = (uint32_t)++t->count;
        t->sums[at] = (memory_sum){.pool = pool, .next = t->nodes[node].sum};
        t->nodes[node].sum = at;
    }
    t->sums[at].bytes += bytes;
}

/* From the last node on, so that a node's sums are whole before they are added to those of
 * its parent, which has a lower number. */
static void memory_add_up(gnomon__report_rows *r, memory_tree *t, size_t count)
{
    gnomon_node_info n;
    for (uint32_t i = (uint32_t)count; i && !r->code; i--) {
        if (gnomon_profile_node(r->profile, i, &n))
            continue;
        for (size_t k = 0; k < n.memory_count; k++) {
            const gnomon_memory_stats *m = gnomon_memory_at(&n, k);
            memory_add(r, t, i, m->pool, m->allocated_bytes);
        }
        t->nodes[i].parent = n.parent;
        t->nodes[i].next = t->nodes[n.parent].child;
        t->nodes[n.parent].child = i;
        for (uint32_t at = t->nodes[i].sum; at && n.parent;
             at = t->sums[at].next)
            if (t->sums[at].bytes)
                memory_add(r, t, n.parent, t->sums[at].pool, t->sums[at].bytes);
    }
}

static gnomon__cell *memory_row(gnomon__report_rows *r,
                                const gnomon__report_node *n, uint32_t number)
{
    gnomon__cell *cells = gnomon__report_row(r, n->of.track, n->of.region);
    gnomon_track_info pool;
    (void)gnomon_profile_track(r->profile, number, &pool);
    gnomon__cell_text(&cells[NAME], n->region.name);
    gnomon__cell_text(&cells[CATEGORY], n->region.category);
    gnomon__cell_text(&cells[POOL], pool.name);
    return cells;
}

/* A region may be around itself. So of the open nodes of a row, which are the node and
 * those around it, only the outermost adds its total. */
static void memory_enter(gnomon__report_rows *r, memory_tree *t, uint32_t node)
{
    gnomon__report_node n;
    gnomon__cell *cells;
    (void)gnomon__report_node_at(r->profile, node, &n);
    for (size_t k = 0; k < n.of.memory_count; k++) {
        const gnomon_memory_stats *m = gnomon_memory_at(&n.of, k);
        cells = memory_row(r, &n, m->pool);
        MEMORY_SUM_LIST(PUT)
        gnomon__cell_count(&cells[TOTAL], 0);
    }
    for (uint32_t at = t->nodes[node].sum; at; at = t->sums[at].next) {
        cells = memory_row(r, &n, t->sums[at].pool);
        gnomon__cell_count(&cells[TOTAL], 0);
        t->sums[at].row = gnomon__report_put(r);
        if (!t->sums[at].row)
            return;
        cells = gnomon__cells_of(&r->table, t->sums[at].row - 1);
        if (!cells[AROUND].count)
            cells[AROUND].count = node;
        if (cells[AROUND].count == node)
            cells[TOTAL].count += t->sums[at].bytes;
    }
}

static void memory_leave(gnomon__report_rows *r, const memory_tree *t,
                         uint32_t node)
{
    for (uint32_t at = t->nodes[node].sum; at; at = t->sums[at].next) {
        gnomon__cell *around =
            &gnomon__cells_of(&r->table, t->sums[at].row - 1)[AROUND];
        if (around->count == node)
            around->count = 0;
    }
}

static void memory_read(gnomon__report_rows *r)
{
    const size_t count = gnomon_profile_count(r->profile, GNOMON_NODES);
    memory_tree t = {.nodes = calloc(count + 1, sizeof *t.nodes),
                     .sums = calloc(1, sizeof *t.sums),
                     .room = 1};
    if (t.nodes && t.sums)
        memory_add_up(r, &t, count);
    else
        r->code = GNOMON_ENOMEM;
    for (uint32_t at = r->code ? 0 : t.nodes[0].child, next; at; at = next) {
        memory_enter(r, &t, at);
        if (r->code)
            break;
        for (next = t.nodes[at].child; !next && at; at = t.nodes[at].parent) {
            memory_leave(r, &t, at);
            next = t.nodes[at].next;
        }
    }
    free(t.sums);
    free(t.nodes);
}

static bool memory_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    uint64_t steps = 0;
    gnomon_stage_info s;
    for (size_t i = 1; !gnomon_profile_stage(r->profile, i, &s); i++)
        steps += s.steps ? s.steps->count : 0;
    cells[A_STEP].number /= steps ? (double)steps : 1;
    cells[A_STEP].is_there &= steps != 0;
    return true;
}

static const gnomon__report memory_report = {
    .name = "memory",
    .title = "Memory (bytes)",
    .if_empty = "no memory was marked: gnomon_pool_allocated() does so",
    .columns = memory_columns,
    .column_count = MEMORY_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .sort = AT_PEAK,
    .order = TOTAL,
    .read = memory_read,
    .finish = memory_finish,
};

GNOMON__REPORTER(memory, memory_report, GNOMON_WANT_TREE | GNOMON_WANT_MEMORY,
                 "what regions took from pools of memory and gave back",
                 GNOMON__TABLE_OPTIONS, GNOMON__BY_ANY_OPTION);

const gnomon_profiler *const gnomon__memory_report = &memory_reporter.profiler;

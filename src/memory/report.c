/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory: what each region took from each pool and gave back; in libgnomon-memory.so and
 * in the program. */
#include "memory/memory.h"
#include "print/rows.h"

/* `total` includes the paths below. If a region is inside itself, only the
 * outermost counts. */
#define MEMORY_COLUMN_LIST(X) \
    X(MEMORY_NAME, "name", "Name", TEXT, SHOWN, KEY) \
    X(MEMORY_CATEGORY, "category", "Category", TEXT, TELLS, KEY) \
    X(MEMORY_POOL, "pool", "Pool", TEXT, SHOWN, KEY) \
    X(MEMORY_ALLOCATIONS, "allocations", "Allocations", COUNT, SHOWN, SUM) \
    X(MEMORY_FREES, "frees", "Frees", COUNT, SHOWN, SUM) \
    X(MEMORY_SELF, "allocated", "Allocated", COUNT, SHOWN, SUM) \
    X(MEMORY_TOTAL, "total", "with below", COUNT, SHOWN, SUM) \
    X(MEMORY_FREED, "freed", "Freed", COUNT, SHOWN, SUM) \
    X(MEMORY_AT_PEAK, "at_peak", "Held at peak", COUNT, SHOWN, SUM) \
    X(MEMORY_HELD, "held", "Held now", NUMBER, SHOWN, SUM) \
    X(MEMORY_PER_STEP, "held_per_step", "a step", NUMBER, SHOWN, MADE) \
    X(MEMORY_LIVE, "live", "Net", NUMBER, EXTRA, SUM) \
    X(MEMORY_PEAK, "peak", "Peak", COUNT, EXTRA, MOST) \
    X(MEMORY_RESERVED, "reserved", "Reserved", COUNT, EXTRA, MOST) \
    X(MEMORY_UNKNOWN, "unknown", "Unknown", COUNT, EXTRA, SUM) \
    X(MEMORY_FAILURES, "failures", "Out of memory", COUNT, EXTRA, SUM)
GNOMON__COLUMNS(memory_columns, MEMORY_COLUMNS, MEMORY_COLUMN_LIST);

static bool is_inside_itself(const gnomon_profile *p, gnomon_node_info n)
{
    const uint32_t region = n.region;
    while (n.parent && !gnomon_profile_node(p, n.parent, &n))
        if (n.region == region)
            return true;
    return false;
}

static void put_sums(gnomon__cell *cells, const gnomon_memory_stats *m)
{
    gnomon__cell_count(&cells[MEMORY_ALLOCATIONS], m->allocations);
    gnomon__cell_count(&cells[MEMORY_FREES], m->frees);
    gnomon__cell_count(&cells[MEMORY_SELF], m->allocated_bytes);
    gnomon__cell_count(&cells[MEMORY_FREED], m->freed_bytes);
    gnomon__cell_count(&cells[MEMORY_AT_PEAK], m->at_peak_bytes);
    gnomon__cell_number(&cells[MEMORY_HELD], (double)m->held_bytes);
    gnomon__cell_number(&cells[MEMORY_LIVE], (double)m->live_bytes);
    gnomon__cell_count(&cells[MEMORY_PEAK], m->peak_bytes);
    gnomon__cell_count(&cells[MEMORY_RESERVED], m->reserved_bytes);
    gnomon__cell_count(&cells[MEMORY_UNKNOWN], m->unknown);
    gnomon__cell_count(&cells[MEMORY_FAILURES], m->failures);
}

static const gnomon_memory_stats *sums_of_pool(const gnomon_node_info *n,
                                               size_t pool)
{
    for (size_t i = 0; i < n->memory_count; i++)
        if (gnomon_memory_at(n, i)->pool == pool)
            return gnomon_memory_at(n, i);
    return NULL;
}

/* `total` is zeroes and will be again. Parents have lower numbers than their children. */
static void read_pool(gnomon__report_rows *r, size_t pool, const char *name,
                      uint64_t *total)
{
    const size_t count = gnomon_profile_count(r->profile, GNOMON_NODES);
    gnomon__report_node n;
    for (size_t i = count; i; i--) {
        gnomon__report_node_at(r->profile, i, &n);
        const gnomon_memory_stats *m = sums_of_pool(&n.of, pool);
        total[i] += m ? m->allocated_bytes : 0;
        total[n.of.parent] += total[i];
    }
    for (size_t i = 1; i <= count; i++) {
        gnomon__report_node_at(r->profile, i, &n);
        const gnomon_memory_stats *m = sums_of_pool(&n.of, pool);
        if (!m && !total[i])
            continue;
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        gnomon__cell_text(&cells[MEMORY_NAME], n.region.name);
        gnomon__cell_text(&cells[MEMORY_CATEGORY], n.region.category);
        gnomon__cell_text(&cells[MEMORY_POOL], name);
        if (m)
            put_sums(cells, m);
        if (!is_inside_itself(r->profile, n.of))
            gnomon__cell_count(&cells[MEMORY_TOTAL], total[i]);
    }
    for (size_t i = 0; i <= count; i++)
        total[i] = 0;
}

static void memory_read(gnomon__report_rows *r)
{
    uint64_t *total = calloc(gnomon_profile_count(r->profile, GNOMON_NODES) + 1,
                             sizeof *total);
    gnomon_track_info k;
    for (size_t i = 1; total && !gnomon_profile_track(r->profile, i, &k); i++)
        if (k.kind == GNOMON_TRACK_POOL)
            read_pool(r, i, k.name, total);
    if (!total)
        r->code = GNOMON_ENOMEM;
    free(total);
}

static bool memory_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    uint64_t steps = 0;
    gnomon_stage_info s;
    for (size_t i = 1; !gnomon_profile_stage(r->profile, i, &s); i++)
        steps += s.steps ? s.steps->count : 0;
    if (steps && cells[MEMORY_HELD].is_there)
        gnomon__cell_number(&cells[MEMORY_PER_STEP],
                            cells[MEMORY_HELD].number / (double)steps);
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
    .sort = MEMORY_AT_PEAK,
    .order = MEMORY_TOTAL,
    .read = memory_read,
    .finish = memory_finish,
};

GNOMON__REPORTER(memory, memory_report, GNOMON_WANT_TREE | GNOMON_WANT_MEMORY,
                 "what regions took from pools of memory and gave back",
                 GNOMON__TABLE_OPTIONS, GNOMON__BY_ANY_OPTION);

const gnomon_profiler *const gnomon__memory_report = &memory_reporter.profiler;

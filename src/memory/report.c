/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory: what each region took from each pool and gave back; in libgnomon-memory.so and
 * in the program. */
#include "memory/memory.h"
#include "print/rows.h"

/* Columns, with what they have of a path's sums, which count once in the `total` of each
 * region that is around. */
#define MEMORY_SUM_LIST(X) \
    X(TAKEN, "allocations", "Allocations", COUNT, SHOWN, SUM, 0, allocations) \
    X(FREES, "frees", "Frees", COUNT, SHOWN, SUM, 0, frees) \
    X(SELF, "allocated", "Allocated", COUNT, SHOWN, SUM, 0, allocated_bytes) \
    X(TOTAL, "total", "with below", COUNT, SHOWN, ONCE, 0, allocated_bytes) \
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
    MEMORY_SUM_LIST(X)
GNOMON__COLUMNS(memory_columns, MEMORY_COLUMNS, MEMORY_COLUMN_LIST);

#define PUT_COUNT(cell, bytes) gnomon__cell_count(cell, bytes)
#define PUT_NUMBER(cell, bytes) gnomon__cell_number(cell, (double)(bytes))
#define PUT(column, key, title, kind, shown, rule, of, sum) \
    PUT_##kind(&cells[column], m->sum);

static void memory_read(gnomon__report_rows *r)
{
    gnomon__report_node n, up;
    gnomon_track_info pool;
    uint64_t number = 0; /* of the sums */
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++)
        for (size_t k = 0; k < n.of.memory_count; k++) {
            const gnomon_memory_stats *m = gnomon_memory_at(&n.of, k);
            (void)gnomon_profile_track(r->profile, m->pool, &pool);
            number++;
            for (size_t at = i; gnomon__report_node_at(r->profile, at, &up);
                 at = m->allocated_bytes ? up.of.parent : 0) {
                gnomon__cell *cells =
                    gnomon__report_row(r, up.of.track, up.of.region);
                r->id = number;
                gnomon__cell_text(&cells[NAME], up.region.name);
                gnomon__cell_text(&cells[CATEGORY], up.region.category);
                gnomon__cell_text(&cells[POOL], pool.name);
                gnomon__cell_count(&cells[TOTAL], m->allocated_bytes);
                if (at == i) {
                    MEMORY_SUM_LIST(PUT)
                }
            }
        }
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

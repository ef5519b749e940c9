/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Statistics of executions, and how lists of sized structs are walked. Included
 * by gnomon/entities.h.
 *
 * Structs grow at their ends, from release to release. Each begins with its
 * struct_size, also behind a pointer and in a list: whoever makes one sets it to
 * sizeof. A struct may therefore have another size than the reader's:
 *   - The items of a list lie as far apart as the first one's struct_size says.
 *     gnomon_memory_at(&node, i) and its like find them. Never index a list.
 *   - A struct behind a pointer has at least the first release's fields. A field
 *     that a later release added is there if GNOMON_HAS(pointer, field) says so.
 * gnomon_cell alone never grows: the file format fixes it.
 */
#ifndef GNOMON_STATS_H
#define GNOMON_STATS_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* Whether the struct that `pointer` leads to is large enough to have `field`.
 * The pointer must not be NULL. */
#define GNOMON_HAS(pointer, field) \
    (GNOMON_CAST(const char *, \
                 GNOMON_CAST(const void *, &(pointer)->field + 1)) <= \
     GNOMON_CAST(const char *, GNOMON_CAST(const void *, (pointer))) + \
         (pointer)->struct_size)

/* Defines gnomon_NAME_at(owner, i): item `i` of a list of the owner, from 0 to
 * its count - 1. The item lives as long as the list. `i` is not checked. */
#define GNOMON__LIST(name, type, owner, list) \
    GNOMON_INLINE const type *gnomon_##name##_at(const owner *of, size_t i) \
    { \
        const void *first = of->list; \
        const void *item = \
            GNOMON_CAST(const char *, first) + i * of->list->struct_size; \
        return GNOMON_CAST(const type *, item); \
    }

/* One cell of a histogram: how many durations fell into it. The file format fixes
 * the cells for ever, and this struct with them: so histograms of all runs add
 * up cell by cell. Durations below 32 ns have a cell for each value; from there
 * on there are 16 cells to the octave. With e = max(0, floor(log2(ns)) - 4), the
 * cell of ns is 16 e + (ns >> e); gnomon_cell_of computes it. */
typedef struct gnomon_cell {
    /* 0 .. 975. */
    uint32_t cell;
    uint32_t reserved;
    /* How many durations; never 0 in a profile. */
    uint64_t count;
} gnomon_cell;

/* Statistics of executions that are over, on the host or on a device, or of
 * steps. Sums of several are exact: gnomon_stats_add, and gnomon_sum_add in
 * gnomon/report.h, which adds the cells too. */
typedef struct gnomon_stats {
    uint32_t struct_size;
    uint32_t reserved;
    /* How many executions are over. */
    uint64_t count;
    /* The sum of their durations. */
    uint64_t total_ns;
    /* How long one of them was the innermost open scope of its track. Of an
     * execution that is still open, it has the time up to now. */
    uint64_t self_ns;
    /* The shortest and the longest; both are 0 where count is. */
    uint64_t min_ns;
    uint64_t max_ns;
    /* The histogram of the durations: cells in ascending order, none with a
     * count of 0. Their counts add up to `count`. */
    const gnomon_cell *cells;
    size_t cell_count;
} gnomon_stats;

/* Adds all of `from` to *to, but no cells. *to is all zero or a sum, and its
 * struct_size is set. The sum does not depend on the order. One thread at a time for
 * each `to`. */
GNOMON_INLINE void gnomon_stats_add(gnomon_stats *to, const gnomon_stats *from)
{
    to->struct_size = GNOMON_CAST(uint32_t, sizeof *to);
    if (from->count && (!to->count || from->min_ns < to->min_ns))
        to->min_ns = from->min_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
    to->count += from->count;
    to->total_ns += from->total_ns;
    to->self_ns += from->self_ns;
}

/* The cell of a histogram in which a duration counts: 0 .. 975. */
static inline uint32_t gnomon_cell_of(uint64_t ns)
{
    uint32_t e = 0;
#ifdef __GNUC__
    if (ns >= 32)
        e = 59u - GNOMON_CAST(uint32_t, __builtin_clzll(ns));
#else
    while (ns >> e >= 32)
        e++;
#endif
    return 16u * e + GNOMON_CAST(uint32_t, ns >> e);
}

/* The shortest duration of a cell, in ns. Past the last cell: UINT64_MAX. */
static inline uint64_t gnomon_cell_low(uint32_t cell)
{
    uint32_t e = cell < 32 ? 0 : cell / 16 - 1;
    uint64_t low = cell - 16u * e;
    return e < 60 ? low << e : UINT64_MAX; /* no duration is that long */
}

/* The duration in ns below which the fraction `q` (0 .. 1) of the executions lies:
 * 0.5 is the median. It takes those of a cell as spread evenly over it. So it is
 * within 6.3 % of a recorded duration (9.4 % where ticks of a counter were
 * converted), and never outside min and max. 0 where there are no executions.
 * All reports and comparisons of gnomon use this one. */
static inline double gnomon_quantile(const gnomon_stats *s, double q)
{
    const double want = q * GNOMON_CAST(double, s->count);
    const double min = GNOMON_CAST(double, s->min_ns);
    const double max = GNOMON_CAST(double, s->max_ns);
    double below = 0;
    size_t i;
    for (i = 0; i < s->cell_count; i++) {
        const double count = GNOMON_CAST(double, s->cells[i].count);
        if (below + count >= want) {
            const uint32_t cell = s->cells[i].cell;
            double low = GNOMON_CAST(double, gnomon_cell_low(cell));
            double high = GNOMON_CAST(double, gnomon_cell_low(cell + 1) - 1);
            low = low < min ? min : low;
            high = high > max ? max : high;
            if (high <= low) /* also where ticks were moved past both */
                return high < min ? min : high;
            return low + (high - low) * (want - below) / count;
        }
        below += count;
    }
    return max;
}

/* The same in whole ns, rounded down. */
static inline uint64_t gnomon_quantile_ns(const gnomon_stats *s, double q)
{
    const double value = gnomon_quantile(s, q);
    if (value >= GNOMON_CAST(double, s->max_ns))
        return s->max_ns;
    if (value <= GNOMON_CAST(double, s->min_ns))
        return s->min_ns;
    return GNOMON_CAST(uint64_t, value);
}

/* Memory that one path took from one pool, and gave back to it. */
typedef struct gnomon_memory_stats {
    uint32_t struct_size;
    /* The pool: a track of the kind GNOMON_TRACK_POOL. */
    uint32_t pool;
    /* How many allocations and how many frees. */
    uint64_t allocations;
    uint64_t frees;
    /* The bytes of all allocations, and of all frees. */
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    /* Allocated bytes less freed ones: below 0 where it freed what other paths
     * had allocated. */
    int64_t live_bytes;
    /* The most bytes in use at once. */
    uint64_t peak_bytes;
} gnomon_memory_stats;

/* What a path computed, all executions together. */
typedef struct gnomon_work_stats {
    uint32_t struct_size;
    uint32_t reserved;
    /* Floating-point operations. */
    uint64_t flops;
    /* Bytes read and written. */
    uint64_t bytes;
} gnomon_work_stats;

GNOMON_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For profilers and programs that write their own reports: rows of a profile,
 * sums of histograms, and JSON text.
 *
 *     host->rows(&rows, profile, GNOMON_ROWS_BY_THREAD);
 *     for (i = 0; i < rows->count; i++) ... gnomon_row_at(rows, i) ...
 *     host->rows_free(rows);
 *
 * `host` is the host table (gnomon/tool.h), which also makes names of files.
 * Units are ns, as in gnomon/profile.h.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include "tool.h"

GNOMON_BEGIN_DECLS

/* ---- Rows ------------------------------------------------------------------ */

/* What gets rows of its own. */
enum gnomon_rows_by {
    /* One group: the whole profile. */
    GNOMON_ROWS_ALL = 0,
    GNOMON_ROWS_BY_THREAD = 1,
    GNOMON_ROWS_BY_RANK = 2,
    GNOMON_ROWS_BY_HOST = 3,
    GNOMON_ROWS_BY_CATEGORY = 4,
    GNOMON_ROWS_BY_FILE = 5
};

/* A row of a report: regions of one name and category in one group, added up over
 * all their paths. Marks and counters have no row. Texts are UTF-8 and the
 * profile's. */
typedef struct gnomon_row {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    /* "" is none. */
    const char *category;
    /* The row's group: a thread as "0 main (4711)", a rank as "3", a host as
     * "node7", a category, or a file; "" with GNOMON_ROWS_ALL. */
    const char *group;
    /* Times on the host. Its count is 0 if only a device worked. */
    const gnomon_stats *host;
    /* Times on a device; NULL: there are none. */
    const gnomon_stats *device;
} gnomon_row;

/* The rows of a profile, in the order of groups, then names, then categories. */
typedef struct gnomon_rows {
    uint32_t struct_size;
    uint32_t reserved;
    size_t count;
    /* Read them with gnomon_row_at: later releases may make a row larger. */
    const gnomon_row *rows;
} gnomon_rows;

/* Row `i`, from 0 to count - 1; `i` is not checked. The row lives as long as the
 * rows. */
GNOMON__LIST(row, gnomon_row, gnomon_rows, rows)

/* ---- Sums ------------------------------------------------------------------- */

/* How many cells a histogram has, if it has every cell that a duration of 64
 * bits can fall into. */
#define GNOMON_CELLS 976

/* Statistics to which others are added. All zero is an empty sum. It takes 8 KB:
 * put it into static memory or on the heap if stacks are small. */
typedef struct gnomon_sum {
    /* The sum without its cells. */
    gnomon_stats stats;
    /* How many durations each cell has. */
    uint64_t cells[GNOMON_CELLS];
} gnomon_sum;

/* Adds statistics to a sum. The result does not depend on the order. NULL is ignored.
 * Statistics whose count is 0 may have self time, which is added too. One thread at a
 * time for each sum. */
static inline void gnomon_sum_add(gnomon_sum *sum, const gnomon_stats *s)
{
    size_t i;
    if (!s)
        return;
    gnomon_stats_add(&sum->stats, s);
    for (i = 0; i < s->cell_count; i++)
        if (s->cells[i].cell < GNOMON_CELLS)
            sum->cells[s->cells[i].cell] += s->cells[i].count;
}

/* Makes statistics of the sum, for example for gnomon_quantile_ns. The caller
 * provides `cells`, with room for GNOMON_CELLS or for those that are not 0. *out
 * points to them, so they must live as long as *out. */
static inline void gnomon_sum_stats(const gnomon_sum *sum, gnomon_cell *cells,
                                    gnomon_stats *out)
{
    uint32_t i;
    *out = sum->stats;
    out->struct_size = GNOMON_CAST(uint32_t, sizeof *out);
    out->cells = cells;
    for (i = 0; i < GNOMON_CELLS; i++) {
        if (!sum->cells[i])
            continue;
        cells[out->cell_count].cell = i;
        cells[out->cell_count].reserved = 0;
        cells[out->cell_count++].count = sum->cells[i];
    }
}

/* ---- Text -------------------------------------------------------------------- */

/* Writes a text as a JSON string, with its quotes and the escapes that JSON
 * needs. `text` is UTF-8. Returns the writer's code. */
static inline int gnomon_write_json(const gnomon_writer *out, const char *text)
{
    const char *from = text;
    out->write(out, "\"", 1);
    for (; *text; text++) {
        const unsigned char c = GNOMON_CAST(unsigned char, *text);
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        out->write(out, from, GNOMON_CAST(size_t, text - from));
        if (c == '"' || c == '\\')
            out->print(out, "\\%c", c);
        else
            out->print(out, "\\u%04x", c);
        from = text + 1;
    }
    out->write(out, from, GNOMON_CAST(size_t, text - from));
    return out->write(out, "\"", 1);
}

GNOMON_END_DECLS

#endif

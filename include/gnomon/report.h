/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What reports are made of, for profilers and programs that write their own: rows
 * of a profile, sums of histograms, JSON text, names of files.
 *
 * A plugin, which is linked to nothing, reaches the functions through the host
 * table: host->rows, host->rows_free, host->file_name. All else here is inline.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include "profiler.h"

GNOMON_BEGIN_DECLS

/* ---- Rows ------------------------------------------------------------------ */

enum gnomon_rows_by {
    GNOMON_ROWS_ALL = 0, /* of the whole profile */
    GNOMON_ROWS_BY_THREAD = 1,
    GNOMON_ROWS_BY_RANK = 2,
    GNOMON_ROWS_BY_HOST = 3,
    GNOMON_ROWS_BY_CATEGORY = 4,
    GNOMON_ROWS_BY_FILE = 5
};

/* Regions of one name and category, in one group, added up over their paths.
 * Marks and counters have no row. */
typedef struct gnomon_row {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    const char *category; /* "" where none */
    const char
        *group; /* "0 main (4711)", "3", "node7"; "" of GNOMON_ROWS_ALL */
    const gnomon_stats *host;   /* count 0: only a device worked for it */
    const gnomon_stats *device; /* GNOMON_NULL: nothing on a device */
} gnomon_row;

typedef struct gnomon_rows {
    uint32_t struct_size;
    uint32_t reserved;
    size_t count;
    const gnomon_row *rows; /* read them by gnomon_row_at */
} gnomon_rows;

GNOMON_INLINE const gnomon_row *gnomon_row_at(const gnomon_rows *of, size_t i)
{
    const void *first = of->rows;
    const void *item =
        GNOMON_CAST(const char *, first) + i * of->rows->struct_size;
    return GNOMON_CAST(const gnomon_row *, item);
}

/* The rows of a profile in the order of their groups, names and categories; `by`
 * is a gnomon_rows_by. Texts are the profile's, so free the rows before it.
 * O(nodes) memory, from libc's heap. Any thread. GNOMON_OK; GNOMON_ENOMEM or
 * GNOMON_EINVAL, and *out is GNOMON_NULL. */
GNOMON__CALL int gnomon_rows_make(gnomon_rows **out,
                                  const gnomon_profile *profile, int by);

/* Frees them; NULL is nothing. */
GNOMON__CALL void gnomon_rows_free(gnomon_rows *rows);

/* ---- Sums ------------------------------------------------------------------- */

#define GNOMON_CELLS 976 /* of all durations of 64 bits */

/* Statistics to which others are added: zeroes are an empty one. 8 KB. */
typedef struct gnomon_sum {
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t cells[GNOMON_CELLS];
} gnomon_sum;

static inline void gnomon_sum_add(gnomon_sum *sum, const gnomon_stats *s)
{
    size_t i;
    if (!s || !s->count)
        return;
    if (!sum->count || s->min_ns < sum->min_ns)
        sum->min_ns = s->min_ns;
    if (s->max_ns > sum->max_ns)
        sum->max_ns = s->max_ns;
    sum->count += s->count;
    sum->total_ns += s->total_ns;
    sum->self_ns += s->self_ns;
    for (i = 0; i < s->cell_count; i++)
        if (s->cells[i].cell < GNOMON_CELLS)
            sum->cells[s->cells[i].cell] += s->cells[i].count;
}

/* The sum as statistics, for gnomon_quantile_ns: `cells` has room for all of them,
 * or for as many as are not 0, and must live as long as *out. */
static inline void gnomon_sum_stats(const gnomon_sum *sum, gnomon_cell *cells,
                                    gnomon_stats *out)
{
    uint32_t i;
    out->struct_size = GNOMON_CAST(uint32_t, sizeof *out);
    out->reserved = 0;
    out->count = sum->count;
    out->total_ns = sum->total_ns;
    out->self_ns = sum->self_ns;
    out->min_ns = sum->min_ns;
    out->max_ns = sum->max_ns;
    out->cells = cells;
    out->cell_count = 0;
    for (i = 0; i < GNOMON_CELLS; i++) {
        if (!sum->cells[i])
            continue;
        cells[out->cell_count].cell = i;
        cells[out->cell_count].reserved = 0;
        cells[out->cell_count++].count = sum->cells[i];
    }
}

/* ---- Text -------------------------------------------------------------------- */

/* Writes a text as a JSON string, quotes included. The writer's code. */
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

/* ---- Files -------------------------------------------------------------------- */

/* The name of a file as $GNOMON's file= would make it: %r is the rank, %h the host,
 * %p the process, %s the stage, ... (docs/environment.md), and ranks that share a
 * disk never share a name. Its folders are made. For a profiler's own files while
 * it runs: ask in setup, where all of that is known, and write at will.
 * As snprintf: at most `size` bytes with the NUL; returns the length of all, or 0:
 * the name is empty or NULL, there is no memory, or a folder cannot be made; then
 * gnomon_error_text() says why. In the profiler's create, setup, summary and
 * teardown, or outside of callbacks; one call at a time. */
GNOMON__CALL size_t gnomon_file_name(const char *pattern, char *buffer,
                                     size_t size);

#ifdef GNOMON_DISABLE
GNOMON__CALL int gnomon_rows_make(gnomon_rows **out,
                                  const gnomon_profile *profile, int by)
{
    (void)profile;
    (void)by;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_rows_free(gnomon_rows *rows)
{
    (void)rows;
}

GNOMON__CALL size_t gnomon_file_name(const char *pattern, char *buffer,
                                     size_t size)
{
    (void)pattern;
    if (size)
        *buffer = 0;
    return 0;
}
#endif

GNOMON_END_DECLS

#endif

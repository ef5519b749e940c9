/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels: the kernels, copies and sets of devices by name, and the calls that programs
 * made of a vendor's interface. As text a table for each; as another table, where
 * columns, groups, an order or a format are asked for, all of them in one. */
#include "print/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_COLUMN_LIST(X) \
    X(KERNEL_NAME, "name", "Name", TEXT, SHOWN, KEY) \
    X(KERNEL_KIND, "kind", "Kind", TEXT, SHOWN, LAST) \
    X(KERNEL_CALLS, "calls", "Calls", COUNT, SHOWN, SUM) \
    X(KERNEL_TOTAL, "total", "Total", TIME, SHOWN, SUM) \
    X(KERNEL_SHARE, "percent", "%", SHARE, SHOWN, MADE) \
    X(KERNEL_MEAN, "mean", "Mean", TIME, SHOWN, MADE) \
    X(KERNEL_MIN, "min", "Min", TIME, SHOWN, LEAST) \
    X(KERNEL_MAX, "max", "Max", TIME, SHOWN, MOST) \
    X(KERNEL_BYTES, "bytes", "Bytes", COUNT, SHOWN, SUM) \
    X(KERNEL_RATE, "gb_per_s", "GB/s", NUMBER, SHOWN, MADE) \
    /* that launched most of it */ \
    X(KERNEL_SCOPE, "scope", "Most in", TEXT, SHOWN, TOP, KERNEL_TOTAL) \
    X(KERNEL_OF_SCOPE, "of_scope", "% there", SHARE, SHOWN, MADE) \
    X(KERNEL_WORK, "", "", ID, HIDDEN, KEY) /* gnomon__work */
GNOMON__COLUMNS(kernel_columns, KERNEL_COLUMNS, KERNEL_COLUMN_LIST);

typedef struct kernels_work {
    gnomon__device_work of; /* the profile that was read last */
    uint64_t busy_ns;       /* of all */
    bool is_any;
} kernels_work;

static void kernels_read(gnomon__report_rows *r)
{
    static const char *const kinds[] = {[GNOMON__WORK_NONE] = "",
                                        [GNOMON__WORK_KERNEL] = "kernel",
                                        [GNOMON__WORK_COMMUNICATION] =
                                            "communication",
                                        [GNOMON__WORK_COPY] = "copy",
                                        [GNOMON__WORK_SET] = "set",
                                        [GNOMON__WORK_WAIT] = "wait",
                                        [GNOMON__WORK_OVERHEAD] = "overhead",
                                        [GNOMON__WORK_CALL] = "call"};
    kernels_work *all = r->more;
    gnomon__device_work *w = &all->of;
    gnomon__report_node n;
    gnomon__device_work_free(w);
    r->code = gnomon__device_work_make(w, r->profile);
    all->busy_ns += w->busy_ns;
    for (uint32_t i = 1; !r->code && i <= w->nodes; i++) {
        if (!w->work[i] || !gnomon__report_node_at(r->profile, i, &n))
            continue;
        const gnomon_stats *s = gnomon__work_stats(&n.of);
        const uint64_t bytes = gnomon__work_bytes(r->profile, &n.of);
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        all->is_any = true;
        gnomon__cell_text(&cells[KERNEL_NAME], n.region.name);
        gnomon__cell_text(&cells[KERNEL_KIND], kinds[w->work[i]]);
        gnomon__cell_count(&cells[KERNEL_WORK], w->work[i]);
        gnomon__cell_count(&cells[KERNEL_CALLS], s->count);
        gnomon__cell_count(&cells[KERNEL_TOTAL], s->total_ns);
        gnomon__cell_count(&cells[KERNEL_MIN], s->min_ns);
        gnomon__cell_count(&cells[KERNEL_MAX], s->max_ns);
        gnomon__cell_text(&cells[KERNEL_SCOPE],
                          gnomon__node_name(r->profile, n.of.parent));
        if (bytes)
            gnomon__cell_count(&cells[KERNEL_BYTES], bytes);
    }
    r->none = all->is_any ? NULL : GNOMON__NO_DEVICE_WORK;
}

static bool kernels_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const uint64_t total = cells[KERNEL_TOTAL].count;
    const uint64_t in_scope = cells[KERNEL_OF_SCOPE].count;
    (void)r;
    gnomon__cell_count(&cells[KERNEL_MEAN], total / cells[KERNEL_CALLS].count);
    if (cells[KERNEL_BYTES].is_there && total)
        gnomon__cell_number(&cells[KERNEL_RATE],
                            (double)cells[KERNEL_BYTES].count / (double)total);
    cells[KERNEL_OF_SCOPE] = (gnomon__cell){0};
    if (cells[KERNEL_SCOPE].is_there && !*cells[KERNEL_SCOPE].text)
        cells[KERNEL_SCOPE] = (gnomon__cell){0};
    if (cells[KERNEL_SCOPE].is_there)
        gnomon__cell_share(&cells[KERNEL_OF_SCOPE], in_scope, total);
    return true;
}

/* Percents are of the time of all work of devices. */
static void kernels_choose(gnomon__report_rows *r)
{
    const kernels_work *w = r->more;
    for (size_t i = 0; i < r->table.row_count; i++) {
        gnomon__cell *cells = gnomon__cells_of(&r->table, i);
        if (gnomon__work_is_busy((int)cells[KERNEL_WORK].count))
            gnomon__cell_share(&cells[KERNEL_SHARE], cells[KERNEL_TOTAL].count,
                               w->busy_ns);
    }
}

/* ---- As text ----------------------------------------------------------------------- */

/* A table of rows of these kinds. */
typedef struct kernels_part {
    const char *title, *first; /* the name of the first column */
    int from, to;              /* gnomon__work */
    uint32_t columns;          /* bits, besides those of all */
} kernels_part;

enum {
    KERNELS_OF_ALL = 1 << KERNEL_NAME | 1 << KERNEL_CALLS | 1 << KERNEL_TOTAL |
                     1 << KERNEL_MEAN | 1 << KERNEL_MAX
};

static const kernels_part kernels_parts[] = {
    {"Kernels", "Kernel", GNOMON__WORK_KERNEL, GNOMON__WORK_COMMUNICATION,
     1 << KERNEL_SHARE | 1 << KERNEL_MIN | 1 << KERNEL_SCOPE |
         1 << KERNEL_OF_SCOPE},
    {"Copies and sets", "Copy", GNOMON__WORK_COPY, GNOMON__WORK_SET,
     1 << KERNEL_SHARE | 1 << KERNEL_BYTES | 1 << KERNEL_RATE |
         1 << KERNEL_SCOPE},
    {"Calls", "Call", GNOMON__WORK_CALL, GNOMON__WORK_CALL, 1 << KERNEL_SCOPE},
    {"Overhead of recording", "Overhead", GNOMON__WORK_OVERHEAD,
     GNOMON__WORK_OVERHEAD, 0},
};

static const kernels_part kernels_waits = {
    "Waits", "Wait", GNOMON__WORK_WAIT, GNOMON__WORK_WAIT, 1 << KERNEL_SCOPE};

/* Like gnomon__report_part; *is_part says whether something was printed above it, and
 * becomes true. */
static int kernels_print_part(gnomon__report_rows *r, const kernels_part *part,
                              bool *is_part, const gnomon_writer *out)
{
    uint16_t shown[KERNEL_COLUMNS];
    gnomon__table_choice choice = {
        .limit = r->choice->limit, .sort = KERNEL_TOTAL, .columns = shown};
    gnomon__column columns[KERNEL_COLUMNS];
    gnomon__report_table table = r->table;
    int code = GNOMON_OK;
    for (int k = 0; k < KERNEL_COLUMNS; k++)
        if ((part->columns | KERNELS_OF_ALL) >> k & 1)
            shown[choice.count++] = (uint16_t)k;
    memcpy(columns, kernel_columns, sizeof columns);
    (void)snprintf(columns[KERNEL_NAME].title,
                   sizeof columns[KERNEL_NAME].title, "%s", part->first);
    table.title = part->title;
    table.columns = columns;
    table.is_part = *is_part;
    table.row_count = 0;
    table.rows = calloc(r->table.row_count + 1, sizeof *table.rows);
    if (!table.rows)
        return GNOMON_ENOMEM;
    for (size_t i = 0; i < r->table.row_count; i++) {
        const uint64_t work = gnomon__cells_of(&r->table, i)[KERNEL_WORK].count;
        if (work >= (uint64_t)part->from && work <= (uint64_t)part->to)
            table.rows[table.row_count++] = r->table.rows[i];
    }
    if (table.row_count) {
        if (*is_part)
            out->write(out, "\n", 1);
        *is_part = true;
        code = gnomon__table_print(&table, &choice, r->profile, out);
    }
    free(table.rows);
    return code;
}

/* Whether work found the scope that launched it, and what is not in the tables. */
static void kernels_print_losses(const gnomon__device_work *w,
                                 const gnomon_writer *out)
{
    const uint64_t missed =
        w->unlinked < w->busy_work ? w->unlinked : w->busy_work;
    out->print(out,
               "\nThe launch of %" PRIu64 " of %" PRIu64
               " pieces of work was found",
               w->busy_work - missed, w->busy_work);
    if (w->lost)
        out->print(out, "; %" PRIu64 " record%s lost", w->lost,
                   w->lost == 1 ? " was" : "s were");
    if (w->late)
        out->print(out, "; %" PRIu64 " came after their stage's report",
                   w->late);
    if (w->odd)
        out->print(out, "; %" PRIu64 " had impossible times", w->odd);
    out->write(out, "\n", 1);
}

static int kernels_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const size_t count = sizeof kernels_parts / sizeof *kernels_parts;
    int code = GNOMON_OK;
    bool is_part = false;
    for (size_t i = 0; !code && i < count; i++)
        code = kernels_print_part(r, &kernels_parts[i], &is_part, out);
    if (!code)
        kernels_print_losses(&((kernels_work *)r->more)->of, out);
    return code;
}

int gnomon__kernels_print_waits(const gnomon_profile *profile,
                                const gnomon_writer *out)
{
    static const gnomon__table_choice all = {.limit = SIZE_MAX};
    gnomon__report_rows rows;
    bool is_part = true;
    int code =
        gnomon__report_make(&rows, &gnomon__kernels, &all, NULL, profile);
    if (!code)
        code = kernels_print_part(&rows, &kernels_waits, &is_part, out);
    gnomon__report_free(&rows);
    return code;
}

static void kernels_free(void *more)
{
    gnomon__device_work_free(&((kernels_work *)more)->of);
}

const gnomon__report gnomon__kernels = {
    .name = "kernels",
    .title = "Kernels, copies and calls",
    .columns = kernel_columns,
    .column_count = KERNEL_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_HOST,
    .limit = 20,
    .sort = KERNEL_TOTAL,
    .order = KERNEL_TOTAL,
    .more_size = sizeof(kernels_work),
    .read = kernels_read,
    .finish = kernels_finish,
    .choose = kernels_choose,
    .text = kernels_text,
    .free_more = kernels_free,
};

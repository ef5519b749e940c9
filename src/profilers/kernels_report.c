/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernels: the kernels, copies and sets of devices by name, and the calls that programs
 * made of a vendor's interface. As text a table for each; as another table, where
 * columns, groups, an order or a format are asked for, all of them in one. A pure
 * function from a profile.
 */
#include "profilers/kernels_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profiler.h"
#include "print/device_names.h"

#define KERNELS_PRESET 20u /* rows of each table */

/* Begins with the choice: gnomon__table_choice says why. */
typedef struct kernels_settings {
    gnomon__table_choice table;
    void (*log)(const char *line); /* NULL: attached from C */
} kernels_settings;

enum {
    KERNELS_NAME,
    KERNELS_KIND,
    KERNELS_CALLS,
    KERNELS_TOTAL,
    KERNELS_SHARE,
    KERNELS_MEAN,
    KERNELS_MIN,
    KERNELS_MAX,
    KERNELS_BYTES,
    KERNELS_RATE,
    KERNELS_SCOPE,
    KERNELS_OF_SCOPE,
    KERNELS_COLUMNS
};

static const gnomon__column kernels_columns[KERNELS_COLUMNS] = {
    [KERNELS_NAME] = {"name", "Name", GNOMON__CELL_TEXT, false},
    [KERNELS_KIND] = {"kind", "Kind", GNOMON__CELL_TEXT, false},
    [KERNELS_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT, false},
    [KERNELS_TOTAL] = {"total", "Total", GNOMON__CELL_TIME, false},
    [KERNELS_SHARE] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [KERNELS_MEAN] = {"mean", "Mean", GNOMON__CELL_TIME, false},
    [KERNELS_MIN] = {"min", "Min", GNOMON__CELL_TIME, false},
    [KERNELS_MAX] = {"max", "Max", GNOMON__CELL_TIME, false},
    [KERNELS_BYTES] = {"bytes", "Bytes", GNOMON__CELL_COUNT, false},
    [KERNELS_RATE] = {"gb_per_s", "GB/s", GNOMON__CELL_NUMBER, false},
    [KERNELS_SCOPE] = {"scope", "Most in", GNOMON__CELL_TEXT, false},
    [KERNELS_OF_SCOPE] = {"of_scope", "% there", GNOMON__CELL_SHARE, false},
};

/* What text shows of each kind. */
static const struct kernels_part {
    const char *title, *first; /* the name of the first column */
    int from, to;              /* gnomon__work */
    uint32_t count;
    uint8_t columns[GNOMON__MOST_COLUMNS];
} kernels_parts[] = {
    {"Kernels",
     "Kernel",
     GNOMON__WORK_KERNEL,
     GNOMON__WORK_COMMUNICATION,
     9,
     {KERNELS_NAME, KERNELS_CALLS, KERNELS_TOTAL, KERNELS_SHARE, KERNELS_MEAN,
      KERNELS_MIN, KERNELS_MAX, KERNELS_SCOPE, KERNELS_OF_SCOPE}},
    {"Copies and sets",
     "Copy",
     GNOMON__WORK_COPY,
     GNOMON__WORK_SET,
     9,
     {KERNELS_NAME, KERNELS_CALLS, KERNELS_TOTAL, KERNELS_SHARE, KERNELS_MEAN,
      KERNELS_MAX, KERNELS_BYTES, KERNELS_RATE, KERNELS_SCOPE}},
    {"Calls",
     "Call",
     GNOMON__WORK_CALL,
     GNOMON__WORK_CALL,
     6,
     {KERNELS_NAME, KERNELS_CALLS, KERNELS_TOTAL, KERNELS_MEAN, KERNELS_MAX,
      KERNELS_SCOPE}},
    {"Overhead of recording",
     "Overhead",
     GNOMON__WORK_OVERHEAD,
     GNOMON__WORK_OVERHEAD,
     5,
     {KERNELS_NAME, KERNELS_CALLS, KERNELS_TOTAL, KERNELS_MEAN, KERNELS_MAX}},
};
#define KERNELS_PARTS (sizeof kernels_parts / sizeof *kernels_parts)

/* ---- Rows ---------------------------------------------------------------------------- */

/* Percents are of the time of all work of devices. */
static void kernels_put_shares(gnomon__cell *cells,
                               const gnomon__device_name *n,
                               const gnomon__device_work *work)
{
    const double total = (double)n->stats.total_ns;
    if (gnomon__work_is_busy(n->work) && work->busy_ns)
        gnomon__cell_number(&cells[KERNELS_SHARE],
                            100.0 * total / (double)work->busy_ns);
    if (n->bytes)
        gnomon__cell_count(&cells[KERNELS_BYTES], n->bytes);
    if (n->bytes && n->stats.total_ns)
        gnomon__cell_number(&cells[KERNELS_RATE], (double)n->bytes / total);
    if (!*n->scope)
        return;
    gnomon__cell_text(&cells[KERNELS_SCOPE], n->scope);
    if (n->stats.total_ns)
        gnomon__cell_number(&cells[KERNELS_OF_SCOPE],
                            100.0 * (double)n->scope_ns / total);
}

static int kernels_add(gnomon__report_table *table,
                       const gnomon__device_name *n,
                       const gnomon__device_work *work)
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
    const gnomon_stats *s = &n->stats;
    gnomon__cell *cells = gnomon__table_add(table, n->group, 0);
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[KERNELS_NAME], n->name);
    gnomon__cell_text(&cells[KERNELS_KIND], kinds[n->work]);
    gnomon__cell_count(&cells[KERNELS_CALLS], s->count);
    gnomon__cell_count(&cells[KERNELS_TOTAL], s->total_ns);
    gnomon__cell_count(&cells[KERNELS_MEAN], s->total_ns / s->count);
    gnomon__cell_count(&cells[KERNELS_MIN], s->min_ns);
    gnomon__cell_count(&cells[KERNELS_MAX], s->max_ns);
    kernels_put_shares(cells, n, work);
    return GNOMON_OK;
}

/* ---- The report ---------------------------------------------------------------------- */

typedef struct kernels_report {
    const gnomon_profile *profile;
    const kernels_settings *settings;
    const gnomon_writer *out;
    gnomon__device_work work;
    gnomon__device_names names;
    gnomon__groups groups;
    gnomon__report_table table; /* of which each part has the heads */
    bool has_printed;
} kernels_report;

static int kernels_print_part(kernels_report *r,
                              const struct kernels_part *part)
{
    gnomon__table_choice choice = r->settings->table;
    gnomon__column columns[KERNELS_COLUMNS];
    gnomon__report_table table = r->table;
    int code = GNOMON_OK;
    memcpy(columns, kernels_columns, sizeof columns);
    (void)snprintf(columns[KERNELS_NAME].title,
                   sizeof columns[KERNELS_NAME].title, "%s", part->first);
    choice.sort = KERNELS_TOTAL;
    choice.count = part->count;
    memcpy(choice.columns, part->columns, sizeof choice.columns);
    table.title = part->title;
    table.columns = columns;
    table.is_part = r->has_printed;
    table.kept = NULL; /* stays the report's */
    for (size_t i = 0; !code && i < r->names.count; i++)
        if (r->names.rows[i].work >= part->from &&
            r->names.rows[i].work <= part->to)
            code = kernels_add(&table, &r->names.rows[i], &r->work);
    if (!code && table.row_count) {
        if (r->has_printed)
            r->out->write(r->out, "\n", 1);
        r->has_printed = true;
        code = gnomon__table_print(&table, &choice, r->profile, r->out);
    }
    gnomon__table_free(&table);
    return code;
}

static int kernels_print_all(kernels_report *r)
{
    gnomon__table_choice choice = r->settings->table;
    int code = GNOMON_OK;
    choice.sort = choice.sort < 0 ? KERNELS_TOTAL : choice.sort;
    for (size_t i = 0; !code && i < r->names.count; i++)
        code = kernels_add(&r->table, &r->names.rows[i], &r->work);
    return code ? code
                : gnomon__table_print(&r->table, &choice, r->profile, r->out);
}

/* Whether work found the scope that launched it, and what is not in the tables. */
static void kernels_print_losses(const kernels_report *r)
{
    const gnomon__device_work *w = &r->work;
    const uint64_t missed =
        w->unlinked < w->busy_work ? w->unlinked : w->busy_work;
    r->out->print(r->out,
                  "\nThe launch of %" PRIu64 " of %" PRIu64
                  " pieces of work was found",
                  w->busy_work - missed, w->busy_work);
    if (w->lost)
        r->out->print(r->out, "; %" PRIu64 " record%s lost", w->lost,
                      w->lost == 1 ? " was" : "s were");
    if (w->late)
        r->out->print(r->out, "; %" PRIu64 " came after their stage's report",
                      w->late);
    if (w->odd)
        r->out->print(r->out, "; %" PRIu64 " had impossible times", w->odd);
    r->out->write(r->out, "\n", 1);
}

static int kernels_print(kernels_report *r)
{
    int code = GNOMON_OK;
    if (r->settings->table.is_table)
        return kernels_print_all(r);
    for (size_t i = 0; !code && i < KERNELS_PARTS; i++)
        code = kernels_print_part(r, &kernels_parts[i]);
    if (!code)
        kernels_print_losses(r);
    return code;
}

/* Text is a line that says so; a table is an empty one. */
static int kernels_print_none(kernels_report *r)
{
    if (r->settings->table.format != GNOMON__TABLE_TEXT) {
        if (r->settings->log)
            r->settings->log("kernels: " GNOMON__NO_DEVICE_WORK);
        return kernels_print_all(r);
    }
    return r->out->print(r->out, "kernels: " GNOMON__NO_DEVICE_WORK "\n");
}

int gnomon__kernels_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    static const kernels_settings preset = {
        .table = {.limit = KERNELS_PRESET, .sort = -1}};
    kernels_report r = {.profile = profile,
                        .settings = self ? self : &preset,
                        .out = out,
                        .table = {.name = "kernels",
                                  .title = "Kernels, copies and calls",
                                  .columns = kernels_columns,
                                  .column_count = KERNELS_COLUMNS}};
    if (!profile)
        return GNOMON_EINVAL;
    int code =
        gnomon__groups_make(&r.groups, r.settings->table.by, profile, &r.table);
    if (!code)
        code = gnomon__device_work_make(&r.work, profile);
    if (!code)
        code = gnomon__device_names_make(&r.names, &r.work, &r.groups);
    if (!code)
        code = r.names.count ? kernels_print(&r) : kernels_print_none(&r);
    gnomon__device_names_free(&r.names);
    gnomon__device_work_free(&r.work);
    gnomon__groups_free(&r.groups);
    gnomon__table_free(&r.table);
    return code ? code : out->write(out, "", 0);
}

int gnomon__kernels_create(const gnomon_options *options, void **self)
{
    kernels_settings *s = calloc(1, sizeof *s);
    if (!s)
        return GNOMON_ENOMEM;
    s->log = options->log;
    gnomon__table_choose(&s->table, "kernels", kernels_columns, KERNELS_COLUMNS,
                         options);
    s->table.by = gnomon__groups_choose("kernels", GNOMON__BY_THREAD,
                                        GNOMON__BY_HOST, options);
    s->table.is_table = gnomon__table_is_asked_for(&s->table);
    if (s->table.limit == SIZE_MAX)
        s->table.limit = KERNELS_PRESET;
    *self = s;
    return GNOMON_OK;
}

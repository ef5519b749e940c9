/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda: how long scopes on streams were on their stream, waits and idle time
 * included, a table below others'; as the other tables where columns, groups, an order
 * or a format are asked for.
 *
 * A pure function from a profile of one stage to text; rows are names, summed
 * over all their regions, paths and threads, or over those of a group. Uses
 * public headers and src/print only. All memory is taken before the first byte
 * is written. Numbers are made of integers, as printf's decimal point depends on
 * the host's locale.
 */
#include "profilers/cuda_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/groups.h"
#include "print/letters.h"
#include "print/timed_rows.h"
#include "print/width.h"

/* ---- Text ---------------------------------------------------------------- */

/* The units of times, in ns; `last` is the value of the last digit. */
typedef struct device_unit {
    uint64_t unit, last;
    int places;
} device_unit;
static const device_unit device_s = {1000000000u, 1000u, 6};
static const device_unit device_ms = {1000000u, 100u, 4};
static const device_unit device_us = {1000u, 100u, 1};

/* Rounded half up. */
static const char *device_number(char text[32], uint64_t ns, device_unit in)
{
    uint64_t half = in.last / 2, whole = ns / in.unit;
    uint64_t part = (ns % in.unit + half) / in.last;
    if (part == in.unit / in.last) {
        whole++;
        part = 0;
    }
    snprintf(text, 32, "%" PRIu64 ".%0*" PRIu64, whole, in.places, part);
    return text;
}

static void device_line(const gnomon_writer *out, size_t width,
                        const char *const cells[8])
{
    size_t is = gnomon__print_width(cells[0], strlen(cells[0]));
    out->print(out, "%s%*s", cells[0], (int)(width - is), "");
    for (int i = 1; i < 8; i++)
        out->print(out, "  %12s", cells[i]);
    out->write(out, "\n", 1);
}

/* "  GPU 1" below the row of all devices. */
static const char *device_label(const gnomon__timed_row *row, char text[24])
{
    if (row->number < 0)
        return row->name;
    snprintf(text, 24, "  GPU %" PRId32, row->number);
    return text;
}

static void device_print_row(const gnomon_writer *out, size_t width,
                             const gnomon__timed_row *row)
{
    char text[7][48], label[24];
    const gnomon_stats *d = &row->device;
    const int is_all = row->number < 0;
    snprintf(text[0], sizeof text[0],
             d->count < row->host_calls ? "%" PRIu64 "/%" PRIu64 : "%" PRIu64,
             d->count, row->host_calls);
    const char *cells[8] = {
        device_label(row, label),
        text[0],
        device_number(text[1], d->total_ns, device_s),
        device_number(text[2], d->self_ns, device_s),
        device_number(text[3], d->total_ns / d->count, device_ms),
        device_number(text[4], d->min_ns, device_ms),
        device_number(text[5], d->max_ns, device_ms),
        is_all ? device_number(text[6], row->host_ns, device_s) : ""};
    device_line(out, width, cells);
}

static void device_title(const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    gnomon_stage_info stage;
    const char *name = "";
    if (gnomon_profile_count(profile, GNOMON_STAGES) == 1 &&
        gnomon_profile_stage(profile, 1, &stage) == GNOMON_OK && stage.name)
        name = stage.name;
    gnomon__print_title(out, name, "Device Report\n\n");
}

/* The JSON text of metadata `key`, without its quotes; length 0: none. */
static const char *device_text(const gnomon_profile *profile, const char *key,
                               int *length)
{
    size_t count = gnomon_profile_count(profile, GNOMON_METADATA);
    *length = 0;
    for (size_t i = 1; i <= count; i++) {
        gnomon_metadata_info m;
        if (gnomon_profile_metadata(profile, i, &m) != GNOMON_OK ||
            strcmp(m.key, key) != 0 || *m.json != '"')
            continue;
        size_t size = strlen(m.json);
        *length = size < 2 || size > 256 ? 0 : (int)size - 2;
        return m.json + 1;
    }
    return "";
}

/* How much time the events themselves take in a stream, as measured on each device:
 * metadata gnomon.KIND.INDEX.event_ns, and .name. */
static void device_cost(const gnomon_profile *profile, const gnomon_writer *out)
{
    static const char head[] = "gnomon.", tail[] = ".event_ns";
    const size_t fixed = sizeof head + sizeof tail - 2;
    size_t count = gnomon_profile_count(profile, GNOMON_METADATA);
    for (size_t i = 1; i <= count; i++) {
        gnomon_metadata_info m;
        char device[64], key[96], one[32], two[32];
        if (gnomon_profile_metadata(profile, i, &m) != GNOMON_OK)
            continue;
        size_t size = strlen(m.key);
        uint64_t ns = strtoull(m.json, NULL, 10);
        if (size <= fixed || size - fixed >= sizeof device ||
            memcmp(m.key, head, sizeof head - 1) != 0 ||
            strcmp(m.key + size - (sizeof tail - 1), tail) != 0 || !ns ||
            ns > UINT64_MAX / 2)
            continue;
        snprintf(device, sizeof device, "%.*s", (int)(size - fixed),
                 m.key + sizeof head - 1);
        snprintf(key, sizeof key, "gnomon.%s.name", device);
        char *dot = strrchr(device, '.');
        if (dot)
            *dot = ' ';
        int length;
        const char *name = device_text(profile, key, &length);
        out->print(out,
                   "%s%s%.*s: two events one after the other take %s us of a "
                   "stream, so an empty scope measures %s us\n",
                   device, length > 0 ? ", " : "", length, name,
                   device_number(two, 2 * ns, device_us),
                   device_number(one, ns, device_us));
    }
}

static void device_print(const gnomon_profile *profile, gnomon__timed_row *rows,
                         size_t count, const gnomon_writer *out)
{
    static const char *const heads[8] = {"Action",   "Num calls", "Stream (s)",
                                         "Self (s)", "Mean (ms)", "Min (ms)",
                                         "Max (ms)", "Host (s)"};
    size_t width = strlen(heads[0]);
    device_title(profile, out);
    for (size_t i = 0; i < count; i++) {
        char label[24];
        rows[i].name = gnomon_shown(out, rows[i].name);
        const char *shown = device_label(&rows[i], label);
        size_t is = gnomon__print_width(shown, strlen(shown));
        width = is > width ? is : width;
    }
    if (count)
        device_line(out, width, heads);
    else
        out->print(out, "no scope on a stream was timed\n");
    for (size_t i = 0; i < count; i++)
        device_print_row(out, width, &rows[i]);
    if (count)
        device_cost(profile, out);
    out->write(out, "\n", 1);
}

/* ---- As a table ------------------------------------------------------------ */

enum {
    DEVICE_NAME,
    DEVICE_CALLS,
    DEVICE_TOTAL,
    DEVICE_SELF,
    DEVICE_MEAN,
    DEVICE_MIN,
    DEVICE_MAX,
    DEVICE_HOST_CALLS,
    DEVICE_HOST,
    DEVICE_COLUMNS
};

static const gnomon__column device_columns[DEVICE_COLUMNS] = {
    [DEVICE_NAME] = {"name", "Action", GNOMON__CELL_TEXT, false},
    [DEVICE_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT, false},
    [DEVICE_TOTAL] = {"total", "Stream", GNOMON__CELL_TIME, false},
    [DEVICE_SELF] = {"self", "Self", GNOMON__CELL_TIME, false},
    [DEVICE_MEAN] = {"mean", "Mean", GNOMON__CELL_TIME, false},
    [DEVICE_MIN] = {"min", "Min", GNOMON__CELL_TIME, false},
    [DEVICE_MAX] = {"max", "Max", GNOMON__CELL_TIME, false},
    [DEVICE_HOST_CALLS] = {"host_calls", "Host calls", GNOMON__CELL_COUNT,
                           true},
    [DEVICE_HOST] = {"host", "Host", GNOMON__CELL_TIME, false},
};

static int device_print_table(gnomon__report_table *table,
                              const gnomon__timed_row *rows, size_t count,
                              const gnomon__table_choice *choice,
                              const gnomon_profile *profile,
                              const gnomon_writer *out)
{
    for (size_t i = 0; i < count; i++) {
        const gnomon_stats *d = &rows[i].device;
        const uint64_t values[] = {
            d->count,  d->total_ns, d->self_ns,         d->total_ns / d->count,
            d->min_ns, d->max_ns,   rows[i].host_calls, rows[i].host_ns};
        gnomon__cell *cells = gnomon__table_add(table, rows[i].group, 0);
        if (!cells)
            return GNOMON_ENOMEM;
        const char *name = rows[i].name;
        if (rows[i].number >= 0)
            name = gnomon__table_keep(table, "%s (GPU %" PRId32 ")", name,
                                      rows[i].number);
        if (!name)
            return GNOMON_ENOMEM;
        gnomon__cell_text(&cells[DEVICE_NAME], name);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            gnomon__cell_count(&cells[DEVICE_CALLS + k], values[k]);
    }
    return gnomon__table_print(table, choice, profile, out);
}

/* ---- The profiler -------------------------------------------------------- */

int gnomon__cuda_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "cuda", device_columns, DEVICE_COLUMNS, options);
    c->by = gnomon__groups_choose("cuda", GNOMON__BY_THREAD, GNOMON__BY_FILE,
                                  options);
    c->is_table = gnomon__table_is_asked_for(c) || c->limit != SIZE_MAX;
    *self = c;
    return GNOMON_OK;
}

int gnomon__cuda_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    static const gnomon__table_choice preset = {.limit = SIZE_MAX, .sort = -1};
    const gnomon__table_choice *choice = self ? self : &preset;
    gnomon__report_table table = {.name = "cuda",
                                  .title = "Device Report",
                                  .columns = device_columns,
                                  .column_count = DEVICE_COLUMNS};
    gnomon__groups groups;
    gnomon__timed_row *rows = NULL;
    size_t count = 0;
    if (!profile)
        return GNOMON_EINVAL;
    int code = gnomon__groups_make(&groups, choice->by, profile, &table);
    if (!code)
        code = gnomon__timed_rows(profile, &groups, &rows, &count);
    if (!code && choice->is_table)
        code = device_print_table(&table, rows, count, choice, profile, out);
    else if (!code)
        device_print(profile, rows, count, out);
    free(rows);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code ? code : out->write(out, "", 0);
}

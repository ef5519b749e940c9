/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* Titles, widths and units depend on all rows, so that these are looked at first. */
#include "report/averages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/width.h"

#define NUMBERS 12 /* the width of a column of numbers */

const gnomon__averages_choice gnomon__averages_preset = {
    .row_limit = 100, .name_width = 55, .shapes_width = 80, .source_width = 75};

enum average_column {
    AVERAGE_NAME,
    AVERAGE_OVERLOAD,
    AVERAGE_SELF_CPU_SHARE,
    AVERAGE_SELF_CPU,
    AVERAGE_CPU_SHARE,
    AVERAGE_CPU,
    AVERAGE_CPU_MEAN,
    AVERAGE_SELF_DEVICE,
    AVERAGE_SELF_DEVICE_SHARE,
    AVERAGE_DEVICE,
    AVERAGE_DEVICE_MEAN,
    AVERAGE_CPU_BYTES,
    AVERAGE_SELF_CPU_BYTES,
    AVERAGE_DEVICE_BYTES,
    AVERAGE_SELF_DEVICE_BYTES,
    AVERAGE_COUNT,
    AVERAGE_NODE,
    AVERAGE_SHAPES,
    AVERAGE_SOURCE,
    AVERAGE_FLOPS,
    AVERAGE_COLUMNS
};

typedef struct averages_table {
    const gnomon__average *rows;
    const gnomon__average **order;
    size_t count;
    const gnomon__averages_choice *choice;
    const gnomon_writer *out;
    int code;                      /* the writer's */
    size_t width[AVERAGE_COLUMNS]; /* 0: there is no such column */
    char title[AVERAGE_COLUMNS][40];
    int64_t self_cpu, self_device; /* of all rows */
    double flops_unit;
} averages_table;

/* ---- Cells ------------------------------------------------------------------------- */

/* With a point in any locale. */
static void fixed_text(char text[40], double value, int digits, int width,
                       const char *unit)
{
    int n = snprintf(text, 40, "%*.*f", width, digits, value);
    if (n > digits && digits)
        text[n - digits - 1] = '.';
    snprintf(text + n, 40 - (size_t)n, "%s", unit);
}

static void time_text(char text[40], double ns, const char *unit)
{
    const double us = ns / 1000.0;
    const char forced = unit && (!strcmp(unit, "s") || !strcmp(unit, "ms") ||
                                 !strcmp(unit, "us"))
                            ? *unit
                            : 0;
    if (forced ? forced == 's' : us >= 1e6)
        fixed_text(text, us / 1e6, 3, 0, "s");
    else if (forced ? forced == 'm' : us >= 1e3)
        fixed_text(text, us / 1e3, 3, 0, "ms");
    else
        fixed_text(text, us, 3, 0, "us");
}

static void share_text(char text[40], double part, double whole)
{
    if (whole == 0)
        snprintf(text, 40, "NaN");
    else
        fixed_text(text, part * 100.0 / whole, 2, 0, "%");
}

static void bytes_text(char text[40], double bytes)
{
    static const char *const units[] = {" KB", " MB", " GB"};
    int unit = -1;
    double scaled = bytes;
    while (unit < 2 && fabs(scaled) >= 1024.0) {
        scaled /= 1024.0;
        unit++;
    }
    if (unit < 0)
        fixed_text(text, bytes, 0, 0, " B");
    else
        fixed_text(text, scaled, 2, 0, units[unit]);
}

static double mean_of(const gnomon__average *row, int64_t ns)
{
    return row->count ? (double)ns / (double)row->count : 0.0;
}

/* What a cell shows, and rows are ordered by. */
static double value_of(const gnomon__average *row, int column)
{
    switch (column) {
    case AVERAGE_SELF_CPU_SHARE:
    case AVERAGE_SELF_CPU:
        return (double)row->self_cpu_ns;
    case AVERAGE_CPU_SHARE:
    case AVERAGE_CPU:
        return (double)row->cpu_ns;
    case AVERAGE_CPU_MEAN:
        return mean_of(row, row->cpu_ns);
    case AVERAGE_SELF_DEVICE:
    case AVERAGE_SELF_DEVICE_SHARE:
        return (double)row->self_device_ns;
    case AVERAGE_DEVICE:
        return (double)row->device_ns;
    case AVERAGE_DEVICE_MEAN:
        return mean_of(row, row->device_ns);
    case AVERAGE_CPU_BYTES:
        return (double)row->cpu_bytes;
    case AVERAGE_SELF_CPU_BYTES:
        return (double)row->self_cpu_bytes;
    case AVERAGE_DEVICE_BYTES:
        return (double)row->device_bytes;
    case AVERAGE_SELF_DEVICE_BYTES:
        return (double)row->self_device_bytes;
    case AVERAGE_COUNT:
        return (double)row->count;
    case AVERAGE_NODE:
        return (double)row->node;
    default:
        return (double)row->flops;
    }
}

/* A cell that is a number. */
static void number_text(char text[40], const averages_table *t,
                        const gnomon__average *row, int column)
{
    const double value = value_of(row, column);
    if (column == AVERAGE_CPU_SHARE && row->is_async)
        snprintf(text, 40, "0");
    else if (column == AVERAGE_SELF_CPU_SHARE || column == AVERAGE_CPU_SHARE)
        share_text(text, value, (double)t->self_cpu);
    else if (column == AVERAGE_SELF_DEVICE_SHARE)
        share_text(text, value, (double)t->self_device);
    else if (column <= AVERAGE_DEVICE_MEAN)
        time_text(text, value, t->choice->time_unit);
    else if (column <= AVERAGE_SELF_DEVICE_BYTES)
        bytes_text(text, value);
    else if (column == AVERAGE_COUNT)
        snprintf(text, 40, "%llu", (unsigned long long)row->count);
    else if (column == AVERAGE_NODE)
        snprintf(text, 40, "%lld", (long long)row->node);
    else if (row->flops)
        fixed_text(text, value / t->flops_unit, 3, 8, "");
    else
        snprintf(text, 40, "--");
}

/* ---- Lines ------------------------------------------------------------------------- */

static void put_some(averages_table *t, const char *text, size_t size)
{
    if (size && !t->code)
        t->code = t->out->write(t->out, text, size);
}

static void put_many(averages_table *t, char what, size_t count)
{
    char some[64];
    memset(some, what, sizeof some);
    for (; count; count -= count < sizeof some ? count : sizeof some)
        put_some(t, some, count < sizeof some ? count : sizeof some);
}

/* A cell of `size` bytes, to the right or to the left, and what stands after it. */
static void put_cell(averages_table *t, int column, const char *text,
                     size_t size)
{
    const size_t wide = gnomon__print_width(text, size);
    const size_t blanks = wide < t->width[column] ? t->width[column] - wide : 0;
    const bool is_left = column == AVERAGE_SOURCE;
    put_many(t, ' ', is_left ? 0 : blanks);
    put_some(t, text, size);
    put_many(t, ' ', (is_left ? blanks : 0) + 2);
}

static void put_rule(averages_table *t)
{
    for (int i = 0; i < AVERAGE_COLUMNS; i++)
        if (t->width[i]) {
            put_many(t, '-', t->width[i]);
            put_many(t, ' ', 2);
        }
    put_some(t, "\n", 1);
}

/* Where the first `characters` of a text end. */
static size_t bytes_of(const char *text, size_t characters)
{
    size_t at = 0;
    while (text[at] && characters--)
        do
            at++;
        while (((unsigned char)text[at] & 0xC0) == 0x80);
    return at;
}

/* A name is cut from three characters below the limit on. */
static void put_name(averages_table *t, int column, const char *name)
{
    const int64_t limit = t->choice->name_width;
    char cut[512];
    const size_t size = strlen(name);
    if (limit < 0 ||
        gnomon__print_width(name, size) + 3 < (size_t)(limit > 3 ? limit : 3)) {
        put_cell(t, column, name, size);
        return;
    }
    const size_t kept = bytes_of(name, limit > 3 ? (size_t)limit - 3 : 0);
    const int n = snprintf(cut, sizeof cut, "%.*s...",
                           (int)(kept < 500 ? kept : 500), name);
    put_cell(t, column, cut, (size_t)n);
}

/* A frame keeps its tail. */
static void put_frame(averages_table *t, const char *frame)
{
    const size_t size = strlen(frame);
    const size_t wide = gnomon__print_width(frame, size);
    const size_t most = t->choice->source_width < 0
                            ? SIZE_MAX
                            : (size_t)t->choice->source_width;
    char cut[512];
    if (wide <= most) {
        put_cell(t, AVERAGE_SOURCE, frame, size);
        return;
    }
    const size_t from = bytes_of(frame, wide - (most > 3 ? most - 3 : 0));
    const int n = snprintf(cut, sizeof cut, "...%s", frame + from);
    put_cell(t, AVERAGE_SOURCE, cut,
             (size_t)n < sizeof cut ? (size_t)n : sizeof cut - 1);
}

static void put_further_frames(averages_table *t, const gnomon__average *row)
{
    for (size_t i = 1; i <= (row->stack_count ? row->stack_count : 1); i++) {
        for (int column = 0; column < AVERAGE_COLUMNS; column++) {
            if (!t->width[column])
                continue;
            if (column == AVERAGE_SOURCE && i < row->stack_count)
                put_frame(t, row->stack[i]);
            else
                put_cell(t, column, "", 0);
        }
        put_some(t, "\n", 1);
    }
}

static void put_average(averages_table *t, const gnomon__average *row)
{
    char text[40];
    for (int i = 0; i < AVERAGE_COLUMNS; i++) {
        if (!t->width[i])
            continue;
        if (i == AVERAGE_NAME) {
            put_name(t, i, row->name);
        } else if (i == AVERAGE_OVERLOAD) {
            put_name(t, i, row->overload ? row->overload : "");
        } else if (i == AVERAGE_SHAPES) {
            const char *shapes = row->shapes ? row->shapes : "";
            put_cell(t, i, shapes,
                     t->choice->shapes_width < 0
                         ? strlen(shapes)
                         : bytes_of(shapes, (size_t)t->choice->shapes_width));
        } else if (i == AVERAGE_SOURCE) {
            put_frame(t, row->stack_count ? row->stack[0] : "");
        } else {
            number_text(text, t, row, i);
            put_cell(t, i, text, strlen(text));
        }
    }
    put_some(t, "\n", 1);
    if (t->width[AVERAGE_SOURCE])
        put_further_frames(t, row);
}

/* ---- Columns ----------------------------------------------------------------------- */

static size_t limited(size_t longest, int64_t limit)
{
    return limit >= 0 && longest + 4 > (size_t)limit ? (size_t)limit
                                                     : longest + 4;
}

static void add_column(averages_table *t, int column, size_t width,
                       const char *before, const char *device,
                       const char *after)
{
    t->width[column] = width;
    snprintf(t->title[column], sizeof t->title[column], "%s%s%s", before,
             device, after);
}

/* The unit of the smallest figure. */
static void add_flops(averages_table *t)
{
    static const char *const units[] = {"FLOPs",  "KFLOPs", "MFLOPs",
                                        "GFLOPs", "TFLOPs", "PFLOPs"};
    uint64_t least = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].flops && (!least || t->rows[i].flops < least))
            least = t->rows[i].flops;
    if (!least || !t->choice->has_flops)
        return;
    double third = log10((double)least) / 3.0;
    const int unit = third > 5 ? 5 : (int)third;
    t->flops_unit = pow(10.0, 3.0 * unit);
    add_column(t, AVERAGE_FLOPS, NUMBERS, "Total ", units[unit], "");
}

typedef struct averages_seen {
    size_t name, shapes, frame, overload; /* the longest */
    bool has_device_time, has_device_bytes, has_node, has_shapes;
} averages_seen;

static void see_row(averages_seen *seen, const gnomon__average *row)
{
    const struct {
        size_t *longest;
        const char *text;
    } texts[] = {{&seen->name, row->name},
                 {&seen->shapes, row->shapes},
                 {&seen->overload, row->overload}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i].text ? texts[i].text : "";
        const size_t wide = gnomon__print_width(text, strlen(text));
        if (wide > *texts[i].longest)
            *texts[i].longest = wide;
    }
    for (size_t i = 0; i < row->stack_count; i++) {
        const size_t wide =
            gnomon__print_width(row->stack[i], strlen(row->stack[i]));
        if (wide > seen->frame)
            seen->frame = wide;
    }
    seen->has_device_time |= row->self_device_ns > 0;
    seen->has_device_bytes |= row->self_device_bytes > 0;
    seen->has_node |= row->node != -1;
    seen->has_shapes |=
        row->shapes && *row->shapes && strcmp(row->shapes, "[]") != 0;
}

static void add_columns(averages_table *t, const averages_seen *seen)
{
    const gnomon__averages_choice *c = t->choice;
    const char *device = c->device ? c->device : "";
    const size_t name = limited(seen->name, c->name_width);
    add_column(t, AVERAGE_NAME, name, "Name", "", "");
    if (c->has_overloads && seen->overload)
        add_column(t, AVERAGE_OVERLOAD, name, "Overload Name", "", "");
    add_column(t, AVERAGE_SELF_CPU_SHARE, NUMBERS, "Self CPU %", "", "");
    add_column(t, AVERAGE_SELF_CPU, NUMBERS, "Self CPU", "", "");
    add_column(t, AVERAGE_CPU_SHARE, NUMBERS, "CPU total %", "", "");
    add_column(t, AVERAGE_CPU, NUMBERS, "CPU total", "", "");
    add_column(t, AVERAGE_CPU_MEAN, NUMBERS, "CPU time avg", "", "");
    if (seen->has_device_time) {
        add_column(t, AVERAGE_SELF_DEVICE, NUMBERS, "Self ", device, "");
        add_column(t, AVERAGE_SELF_DEVICE_SHARE, NUMBERS, "Self ", device,
                   " %");
        add_column(t, AVERAGE_DEVICE, NUMBERS, "", device, " total");
        add_column(t, AVERAGE_DEVICE_MEAN, NUMBERS, "", device, " time avg");
    }
    if (c->has_memory) {
        add_column(t, AVERAGE_CPU_BYTES, NUMBERS, "CPU Mem", "", "");
        add_column(t, AVERAGE_SELF_CPU_BYTES, NUMBERS, "Self CPU Mem", "", "");
    }
    if (c->has_memory && c->device && seen->has_device_bytes) {
        add_column(t, AVERAGE_DEVICE_BYTES, NUMBERS, "", device, " Mem");
        add_column(t, AVERAGE_SELF_DEVICE_BYTES, NUMBERS, "Self ", device,
                   " Mem");
    }
    add_column(t, AVERAGE_COUNT, NUMBERS, "# of Calls", "", "");
    if (seen->has_node)
        add_column(t, AVERAGE_NODE, NUMBERS, "Node ID", "", "");
    if (c->has_shapes && seen->has_shapes)
        add_column(t, AVERAGE_SHAPES, limited(seen->shapes, c->shapes_width),
                   "Input Shapes", "", "");
    if (c->has_stacks && seen->frame)
        add_column(t, AVERAGE_SOURCE, limited(seen->frame, c->source_width),
                   "Source Location", "", "");
    add_flops(t);
}

/* ---- Order ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int column;
} average_keys[] = {{"key", AVERAGE_NAME},
                    {"cpu_time", AVERAGE_CPU_MEAN},
                    {"cpu_time_total", AVERAGE_CPU},
                    {"self_cpu_time_total", AVERAGE_SELF_CPU},
                    {"device_time", AVERAGE_DEVICE_MEAN},
                    {"device_time_total", AVERAGE_DEVICE},
                    {"self_device_time_total", AVERAGE_SELF_DEVICE},
                    {"cpu_memory_usage", AVERAGE_CPU_BYTES},
                    {"self_cpu_memory_usage", AVERAGE_SELF_CPU_BYTES},
                    {"device_memory_usage", AVERAGE_DEVICE_BYTES},
                    {"self_device_memory_usage", AVERAGE_SELF_DEVICE_BYTES},
                    {"count", AVERAGE_COUNT},
                    {"node_id", AVERAGE_NODE},
                    {"flops", AVERAGE_FLOPS}};

/* torch's words of a device stand for "device". -1: there is no such key. */
static int key_column(const char *sort_by)
{
    static const char *const devices[] = {"cuda", "xpu", "privateuse1"};
    char key[64];
    const char *at = NULL;
    for (size_t i = 0; !at && i < sizeof devices / sizeof *devices; i++)
        if ((at = strstr(sort_by, devices[i])) != NULL)
            snprintf(key, sizeof key, "%.*sdevice%s", (int)(at - sort_by),
                     sort_by, at + strlen(devices[i]));
    if (!at)
        snprintf(key, sizeof key, "%s", sort_by);
    for (size_t i = 0; i < sizeof average_keys / sizeof *average_keys; i++)
        if (strcmp(key, average_keys[i].name) == 0)
            return average_keys[i].column;
    return -1;
}

typedef struct keyed_average {
    const gnomon__average *row;
    double key;
} keyed_average;

static int by_key(const void *left, const void *right)
{
    const keyed_average *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_name_down(const void *left, const void *right)
{
    const keyed_average *a = left, *b = right;
    const int order = strcmp(b->row->name, a->row->name);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* Descending; of equal ones the first comes first. */
static int order_rows(averages_table *t)
{
    const char *sort_by = t->choice->sort_by;
    const int column = sort_by ? key_column(sort_by) : 0;
    keyed_average *keyed = malloc(t->count * sizeof *keyed);
    t->order = malloc(t->count * sizeof(const gnomon__average *));
    if (!keyed || !t->order) {
        free(keyed);
        return GNOMON_ENOMEM;
    }
    for (size_t i = 0; i < t->count; i++)
        keyed[i] = (keyed_average){&t->rows[i], value_of(&t->rows[i], column)};
    if (sort_by && column >= 0)
        qsort(keyed, t->count, sizeof *keyed,
              column == AVERAGE_NAME ? by_name_down : by_key);
    for (size_t i = 0; i < t->count; i++)
        t->order[i] = keyed[i].row;
    free(keyed);
    return column < 0 ? GNOMON_EINVAL : GNOMON_OK;
}

/* ---- The table --------------------------------------------------------------------- */

static void put_heading(averages_table *t, const char *text)
{
    size_t wide = 0;
    for (int i = 0; i < AVERAGE_COLUMNS; i++)
        wide += t->width[i] ? t->width[i] + 2 : 0;
    put_many(t, '=', wide - 2);
    put_some(t, "\n", 1);
    put_some(t, text, strlen(text));
    put_some(t, "\n", 1);
}

static void put_total(averages_table *t, const char *device, int64_t ns)
{
    char text[40], line[96];
    time_text(text, (double)ns, t->choice->time_unit);
    const int n =
        snprintf(line, sizeof line, "Self %s time total: %s\n", device, text);
    put_some(t, line, (size_t)n);
}

static void put_table(averages_table *t)
{
    const gnomon__averages_choice *c = t->choice;
    int64_t shown = 0;
    if (c->header)
        put_heading(t, c->header);
    if (c->is_top_level)
        put_heading(t, "This report only display top-level ops statistics");
    put_rule(t);
    for (int i = 0; i < AVERAGE_COLUMNS; i++)
        if (t->width[i])
            put_cell(t, i, t->title[i], strlen(t->title[i]));
    put_some(t, "\n", 1);
    put_rule(t);
    for (size_t i = 0; i < t->count && shown != c->row_limit; i++)
        if (!c->is_top_level || !t->order[i]->is_inner) {
            put_average(t, t->order[i]);
            shown++;
        }
    put_rule(t);
    put_total(t, "CPU", t->self_cpu);
    if (t->width[AVERAGE_DEVICE])
        put_total(t, c->device ? c->device : "", t->self_device);
}

int gnomon__averages_print(const gnomon__average *rows, size_t count,
                           const gnomon__averages_choice *choice,
                           const gnomon_writer *out)
{
    averages_table t = {
        .rows = rows, .count = count, .choice = choice, .out = out};
    averages_seen seen = {0};
    if (!count)
        return GNOMON_OK;
    for (size_t i = 0; i < count; i++) {
        see_row(&seen, &rows[i]);
        t.self_cpu += rows[i].self_cpu_ns;
        if (rows[i].is_device && !rows[i].is_annotation)
            t.self_device += rows[i].self_device_ns;
    }
    int code = order_rows(&t);
    if (!code) {
        add_columns(&t, &seen);
        put_table(&t);
        code = t.code;
    }
    free(t.order);
    return code;
}

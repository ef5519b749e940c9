/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * simple: the table of Lightning's SimpleProfiler, byte for byte.
 *
 * A pure function from a profile of one stage to text; rows are names, summed
 * over all their regions, paths and threads. Uses public headers and src/print only:
 * compiled with src/print/width.c and -shared it is a plugin that prints the same
 * bytes. All memory is taken before the first byte is written, so a table is complete
 * or not written at all.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/letters.h"
#include "print/width.h"

/* ---- Rows ----------------------------------------------------------------- */

typedef struct simple_row {
    const char *name; /* NULL: its kind has no row */
    uint64_t calls;
    uint64_t total_ns;
    uint64_t first; /* order of its first end; UINT64_MAX: none */
    double total;
    double mean;
    double percent;
    double key; /* what rows are ordered by, descending */
} simple_row;

enum simple_sort { SIMPLE_TOTAL, SIMPLE_MEAN, SIMPLE_CALLS, SIMPLE_NAME };

typedef struct simple_settings {
    int sort; /* simple_sort */
    bool extended;
    size_t limit; /* rows */
} simple_settings;

/* The table: its rows, and what its title and total show. */
typedef struct simple_table {
    simple_row *rows;
    size_t row_count;
    size_t width; /* code points of the longest name */
    uint64_t calls;
    double wall;
    const struct simple_settings *settings;
    const char *stage; /* "": none */
    const gnomon_writer *out;
} simple_table;

static bool simple_has_row(uint32_t kind)
{
    return kind == GNOMON_KIND_SCOPE || kind == GNOMON_KIND_FUNCTION ||
           kind == GNOMON_KIND_ACTION || kind == GNOMON_KIND_RANGE;
}

static int simple_by_name(const void *left, const void *right)
{
    const simple_row *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Equal keys keep the order of first ends, as in Lightning's stable sort. Where a
 * profile does not have that order, the name decides. */
static int simple_by_key(const void *left, const void *right)
{
    const simple_row *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void simple_add(simple_row *row, uint64_t calls, uint64_t total_ns,
                       uint64_t first)
{
    row->calls += calls;
    row->total_ns += total_ns;
    if (first < row->first)
        row->first = first;
}

/* One row for each region, in the order of regions, so that nodes find theirs
 * by number. */
static void simple_count(const gnomon_profile *profile, simple_row *rows,
                         size_t region_count)
{
    size_t node_count = gnomon_profile_count(profile, GNOMON_NODES);
    for (size_t i = 0; i < region_count; i++) {
        gnomon_region_info region;
        rows[i].first = UINT64_MAX;
        if (gnomon_profile_region(profile, i + 1, &region) == GNOMON_OK &&
            simple_has_row(region.kind))
            rows[i].name = region.name;
    }
    for (size_t i = 1; i <= node_count; i++) {
        gnomon_node_info node;
        if (gnomon_profile_node(profile, i, &node) != GNOMON_OK)
            continue;
        if (!node.host || node.host->count == 0)
            continue;
        if (node.region == 0 || node.region > region_count)
            continue;
        simple_add(&rows[node.region - 1], node.host->count,
                   node.host->total_ns, node.first ? node.first : UINT64_MAX);
    }
}

/* Keeps the rows with calls, one for each name. Returns their number. */
static size_t simple_merge(simple_row *rows, size_t count)
{
    size_t used = 0, merged = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].name && rows[i].calls)
            rows[used++] = rows[i];
    if (used > 1)
        qsort(rows, used, sizeof *rows, simple_by_name);
    for (size_t i = 0; i < used; i++) {
        if (merged && strcmp(rows[merged - 1].name, rows[i].name) == 0)
            simple_add(&rows[merged - 1], rows[i].calls, rows[i].total_ns,
                       rows[i].first);
        else
            rows[merged++] = rows[i];
    }
    return merged;
}

/* Rows are in descending order of the key. For names it is 0, as simple_merge has left
 * the rows in that order. */
static double simple_key(const simple_row *row, const simple_settings *s)
{
    switch (s->sort) {
    case SIMPLE_MEAN:
        return row->mean;
    case SIMPLE_CALLS:
        return (double)row->calls;
    case SIMPLE_NAME:
        return 0;
    default:
        return row->percent;
    }
}

/* ns are divided by 1e9: multiplying by 1e-9 would sometimes print another last digit.
 * If the stage took no time, rows without time have 0 %, the others inf. */
static void simple_reckon(simple_table *table)
{
    for (size_t i = 0; i < table->row_count; i++) {
        simple_row *row = &table->rows[i];
        row->name = gnomon_shown(table->out, row->name);
        size_t width = gnomon__print_width(row->name, strlen(row->name));
        row->total = (double)row->total_ns / 1e9;
        row->mean = row->total / (double)row->calls;
        row->percent = row->total_ns ? 100.0 * row->total / table->wall : 0.0;
        row->key = simple_key(row, table->settings);
        table->calls += row->calls;
        if (width > table->width)
            table->width = width;
    }
    /* simple_merge has left them in the order of names. */
    if (table->row_count > 1 && table->settings->sort != SIMPLE_NAME)
        qsort(table->rows, table->row_count, sizeof *table->rows,
              simple_by_key);
}

/* The stage's name, if there is only one, and the sum of the times for which stages
 * were recorded. */
static void simple_stage(simple_table *table, const gnomon_profile *profile)
{
    size_t count = gnomon_profile_count(profile, GNOMON_STAGES);
    gnomon_stage_info s;
    uint64_t wall_ns = 0;
    for (size_t i = 1; i <= count; i++)
        if (gnomon_profile_stage(profile, i, &s) == GNOMON_OK)
            wall_ns += s.recorded_ns ? s.recorded_ns : s.end_ns - s.begin_ns;
    table->wall = (double)wall_ns / 1e9;
    if (count == 1 && gnomon_profile_stage(profile, 1, &s) == GNOMON_OK &&
        s.name)
        table->stage = s.name;
}

/* ---- Text ----------------------------------------------------------------- */

/* Python's format ".5" of a value that is not negative: 5 significant digits without
 * trailing zeros. From 1e-4 to below 1e4 it has at least one digit after the point,
 * else an exponent. The decimal point of printf is skipped, as it depends on the host's
 * locale. */
static void simple_number(char text[24], double value)
{
    char raw[48], digits[6] = "";
    const char *e;
    int exponent, count = 5;
    if (!isfinite(value)) {
        snprintf(text, 24, "%s", isnan(value) ? "nan" : "inf");
        return;
    }
    snprintf(raw, sizeof raw, "%.4e", value);
    e = strchr(raw, 'e');
    exponent = (int)strtol(e + 1, NULL, 10);
    digits[0] = raw[0];
    memcpy(digits + 1, e - 4, 4);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -4 || exponent > 3) {
        snprintf(text, 24, "%c%s%.*se%+03d", digits[0], count > 1 ? "." : "",
                 count - 1, digits + 1, exponent);
    } else if (exponent < 0) {
        snprintf(text, 24, "0.%.*s%.*s", -exponent - 1, "000", count, digits);
    } else {
        int whole = exponent + 1;
        int rest = count > whole ? count - whole : 1;
        snprintf(text, 24, "%.*s.%.*s", whole, digits, rest, digits + whole);
    }
}

/* Writers do nothing after an error, so only the last call's code counts. */
static void simple_repeat(const gnomon_writer *out, char c, size_t count)
{
    char run[128];
    memset(run, c, sizeof run);
    for (; count > sizeof run; count -= sizeof run)
        out->write(out, run, sizeof run);
    out->write(out, run, count);
}

static size_t simple_tab(size_t column)
{
    return 8 * (column / 8 + 1);
}

/* As long as the header with its tabs expanded, + 1 for the line feed before it, which
 * Lightning counts too. */
static void simple_rule(const simple_table *table)
{
    size_t width = table->width > 6 ? table->width : 6;
    width = simple_tab(3 + width);
    width = simple_tab(width + 20);
    for (int more = table->settings->extended ? 3 : 1; more > 0; more--)
        width = simple_tab(width + 18);
    table->out->write(table->out, "\n", 1);
    simple_repeat(table->out, '-', width + 2);
}

static void simple_line(const simple_table *table, const char *name,
                        const char *mean, const char *calls, const char *total,
                        const char *percent)
{
    const gnomon_writer *out = table->out;
    size_t size = strlen(name), width = gnomon__print_width(name, size);
    out->write(out, "\n|  ", 4);
    out->write(out, name, size);
    simple_repeat(out, ' ', width < table->width ? table->width - width : 0);
    if (table->settings->extended)
        out->print(out, "\t|  %-15s\t|  %-15s\t|  %-15s\t|  %-15s\t|", mean,
                   calls, total, percent);
    else
        out->print(out, "\t|  %-15s\t|  %-15s\t|", mean, total);
}

static void simple_title(const simple_table *table)
{
    const gnomon_writer *out = table->out;
    gnomon__print_title(out, table->stage, "Profiler Report\n");
}

static void simple_print_rows(const simple_table *table)
{
    char mean[24], calls[24], total[24], percent[24];
    simple_rule(table);
    simple_line(table, "Action", "Mean duration (s)", "Num calls",
                "Total time (s)", "Percentage %");
    simple_rule(table);
    if (table->settings->extended) {
        snprintf(calls, sizeof calls, "%" PRIu64, table->calls);
        simple_number(total, table->wall);
        simple_line(table, "Total", "-", calls, total, "100 %");
        simple_rule(table);
    }
    for (size_t i = 0; i < table->row_count && i < table->settings->limit;
         i++) {
        const simple_row *row = &table->rows[i];
        simple_number(mean, row->mean);
        snprintf(calls, sizeof calls, "%" PRIu64, row->calls);
        simple_number(total, row->total);
        simple_number(percent, row->percent);
        simple_line(table, row->name, mean, calls, total, percent);
    }
    simple_rule(table);
}

/* ---- The profiler --------------------------------------------------------- */

static const simple_settings simple_preset = {
    .sort = SIMPLE_TOTAL, .extended = true, .limit = SIZE_MAX};

/* A value that is none is told of, and it is as if nothing was said. */
static void simple_complain(const gnomon_options *options, const char *key,
                            const char *hint)
{
    char line[160];
    snprintf(line, sizeof line, "simple: %s=%.48s: %s", key,
             options->text(options, key), hint);
    options->log(line);
}

static int simple_create(const gnomon_options *options, void **self)
{
    static const char *const words[] = {
        [SIMPLE_TOTAL] = "total",
        [SIMPLE_MEAN] = "mean",
        [SIMPLE_CALLS] = "calls",
        [SIMPLE_NAME] = "name",
    };
    simple_settings *s = calloc(1, sizeof *s);
    const char *sort = options->text(options, "sort");
    int word = 0;
    if (!s)
        return GNOMON_ENOMEM;
    s->extended = options->number(options, "extended") != 0;
    s->sort = s->extended ? SIMPLE_TOTAL : SIMPLE_MEAN;
    s->limit = options->number(options, "limit") > 0
                   ? (size_t)options->number(options, "limit")
                   : SIZE_MAX;
    while (sort && word < 4 &&
           !gnomon__print_same_word(sort, strlen(sort), words[word]))
        word++;
    if (sort && word < 4)
        s->sort = word;
    else if (sort)
        simple_complain(options, "sort", "say total, mean, calls or name");
    if (options->text(options, "limit") && s->limit == SIZE_MAX)
        simple_complain(options, "limit", "say how many rows, from 1");
    *self = s;
    return GNOMON_OK;
}

static int simple_summary(void *self, const gnomon_profile *profile,
                          const gnomon_writer *out)
{
    simple_table table = {.out = out, .stage = "", .settings = &simple_preset};
    size_t region_count;
    if (!profile)
        return GNOMON_EINVAL;
    if (self) /* attached from C, there may be none */
        table.settings = self;
    region_count = gnomon_profile_count(profile, GNOMON_REGIONS);
    table.rows = calloc(region_count + 1, sizeof *table.rows);
    if (!table.rows)
        return GNOMON_ENOMEM;
    simple_count(profile, table.rows, region_count);
    table.row_count = simple_merge(table.rows, region_count);
    simple_stage(&table, profile);
    simple_reckon(&table);
    simple_title(&table);
    if (table.row_count)
        simple_print_rows(&table);
    free(table.rows);
    return out->write(out, "\n", 1);
}

static const gnomon_option_info simple_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "extended",
     .type = GNOMON_OPTION_BOOL,
     .preset = "true",
     .help = "calls, total and percentage too, ordered by total"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "sort",
     .type = GNOMON_OPTION_TEXT,
     .help = "what rows are ordered by: total, mean, calls or name"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .help = "the most rows; else all"},
    {.key = NULL}};

static const gnomon_profiler simple = {
    .struct_size = sizeof simple,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "simple",
    .help = "Lightning's table: calls, mean and total time of each action",
    .options = simple_options,
    .create = simple_create,
    .summary = simple_summary,
    .destroy = free,
};

GNOMON_PLUGIN(simple);

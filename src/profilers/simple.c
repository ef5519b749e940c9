/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * simple: the table of Lightning's SimpleProfiler, byte for byte.
 *
 * A pure function from a profile of one stage to text; rows are names, summed
 * over all their regions, paths and threads. Uses public headers and src/print only:
 * compiled with src/print and -shared it is a plugin that prints the same bytes. All
 * memory is taken before the first byte is written, so a table is complete or not
 * written at all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print/letters.h"
#include "print/python.h"
#include "print/rows.h"

#define SIMPLE_COLUMN_LIST(X) \
    X(SIMPLE_NAME, "name", "Action", TEXT, SHOWN, KEY) \
    X(SIMPLE_TOTAL, "total", "Total", TIME, SHOWN, SUM) /* in ns */ \
    X(SIMPLE_MEAN, "mean", "Mean", NUMBER, SHOWN, MADE) /* s */ \
    X(SIMPLE_CALLS, "calls", "Calls", COUNT, SHOWN, SUM) \
    X(SIMPLE_PERCENT, "percent", "%", SHARE, SHOWN, MADE) \
    /* order of its first end; empty: not known */ \
    X(SIMPLE_FIRST, "", "", ID, HIDDEN, LEAST)
GNOMON__COLUMNS(simple_columns, SIMPLE_COLUMNS, SIMPLE_COLUMN_LIST);

typedef struct simple_settings {
    gnomon__table_choice table; /* the first */
    int sort;                   /* column */
    bool extended;
} simple_settings;

/* What the line of totals shows, and the widest name. */
typedef struct simple_sums {
    double wall; /* s */
    uint64_t calls;
    size_t width; /* code points */
} simple_sums;

/* ---- Rows ----------------------------------------------------------------- */

static bool simple_has_row(const gnomon__report_node *n)
{
    const uint32_t kind = n->region.kind;
    return n->of.host && n->of.host->count &&
           (kind == GNOMON_KIND_SCOPE || kind == GNOMON_KIND_FUNCTION ||
            kind == GNOMON_KIND_ACTION || kind == GNOMON_KIND_RANGE);
}

static void simple_read(gnomon__report_rows *r)
{
    simple_sums *sums = r->more;
    gnomon_stage_info s;
    gnomon__report_node n;
    uint64_t wall_ns = 0;
    for (size_t i = 1; !gnomon_profile_stage(r->profile, i, &s); i++)
        wall_ns += s.recorded_ns ? s.recorded_ns : s.end_ns - s.begin_ns;
    sums->wall = (double)wall_ns / 1e9;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        if (!simple_has_row(&n))
            continue;
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        sums->calls += n.of.host->count;
        gnomon__cell_text(&cells[SIMPLE_NAME], n.region.name);
        gnomon__cell_count(&cells[SIMPLE_CALLS], n.of.host->count);
        gnomon__cell_count(&cells[SIMPLE_TOTAL], n.of.host->total_ns);
        if (n.of.first)
            gnomon__cell_count(&cells[SIMPLE_FIRST], n.of.first);
    }
}

/* ns are divided by 1e9: multiplying by 1e-9 would sometimes print another last digit. */
static double simple_seconds(const gnomon__cell *cells)
{
    return (double)cells[SIMPLE_TOTAL].count / 1e9;
}

/* If the stage took no time, rows without time have 0 %, the others inf. */
static bool simple_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const simple_sums *sums = r->more;
    const double total = simple_seconds(cells);
    gnomon__cell_number(&cells[SIMPLE_MEAN],
                        total / (double)cells[SIMPLE_CALLS].count);
    gnomon__cell_number(&cells[SIMPLE_PERCENT],
                        total > 0 ? 100.0 * total / sums->wall : 0.0);
    return true;
}

/* What is equal keeps the order of first ends, as in Lightning's stable sort. Where a
 * profile does not have that order, the name decides. */
static void simple_choose(gnomon__report_rows *r)
{
    const simple_settings *s = (const void *)r->choice;
    if (s->sort == SIMPLE_NAME)
        return;
    r->code = gnomon__table_sort(&r->table, SIMPLE_FIRST);
    if (!r->code)
        r->code = gnomon__table_sort(&r->table, s->sort);
}

/* ---- Text ----------------------------------------------------------------- */

static size_t simple_tab(size_t column)
{
    return 8 * (column / 8 + 1);
}

/* As long as the header with its tabs expanded, + 1 for the line feed before it, which
 * Lightning counts too. */
static void simple_rule(const gnomon__report_rows *r, const gnomon_writer *out)
{
    const simple_settings *s = (const void *)r->choice;
    size_t width = ((const simple_sums *)r->more)->width;
    width = simple_tab(3 + (width > 6 ? width : 6));
    width = simple_tab(width + 20);
    for (int more = s->extended ? 3 : 1; more > 0; more--)
        width = simple_tab(width + 18);
    out->write(out, "\n", 1);
    gnomon__print_many(out, '-', width + 2);
}

static void simple_line(const gnomon__report_rows *r, const gnomon_writer *out,
                        const char *name, const char *mean, const char *calls,
                        const char *total, const char *percent)
{
    const simple_settings *s = (const void *)r->choice;
    const size_t size = strlen(name), width = gnomon__print_width(name, size);
    const size_t widest = ((const simple_sums *)r->more)->width;
    out->write(out, "\n|  ", 4);
    out->write(out, name, size);
    gnomon__print_many(out, ' ', widest > width ? widest - width : 0);
    if (s->extended)
        out->print(out, "\t|  %-15s\t|  %-15s\t|  %-15s\t|  %-15s\t|", mean,
                   calls, total, percent);
    else
        out->print(out, "\t|  %-15s\t|  %-15s\t|", mean, total);
}

static void simple_print_row(const gnomon__report_rows *r,
                             const gnomon_writer *out,
                             const gnomon__cell *cells)
{
    char mean[GNOMON__PYTHON_TEXT], total[GNOMON__PYTHON_TEXT];
    char percent[GNOMON__PYTHON_TEXT], calls[24];
    gnomon__python_general(mean, cells[SIMPLE_MEAN].number);
    gnomon__python_general(total, simple_seconds(cells));
    gnomon__python_general(percent, cells[SIMPLE_PERCENT].number);
    snprintf(calls, sizeof calls, "%" PRIu64, cells[SIMPLE_CALLS].count);
    simple_line(r, out, gnomon_shown(out, cells[SIMPLE_NAME].text), mean, calls,
                total, percent);
}

static size_t simple_width(const gnomon__report_rows *r,
                           const gnomon_writer *out)
{
    size_t most = 0;
    for (size_t i = 0; i < r->table.row_count; i++) {
        const char *name =
            gnomon_shown(out, gnomon__cells_of(&r->table, i)[SIMPLE_NAME].text);
        const size_t width = gnomon__print_width(name, strlen(name));
        most = width > most ? width : most;
    }
    return most;
}

static int simple_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const simple_settings *s = (const void *)r->choice;
    simple_sums *sums = r->more;
    char calls[24], wall[GNOMON__PYTHON_TEXT];
    gnomon__print_title(out, gnomon__only_stage(r->profile),
                        "Profiler Report\n");
    sums->width = simple_width(r, out);
    if (r->table.row_count) {
        simple_rule(r, out);
        simple_line(r, out, "Action", "Mean duration (s)", "Num calls",
                    "Total time (s)", "Percentage %");
        simple_rule(r, out);
    }
    if (r->table.row_count && s->extended) {
        snprintf(calls, sizeof calls, "%" PRIu64, sums->calls);
        gnomon__python_general(wall, sums->wall);
        simple_line(r, out, "Total", "-", calls, wall, "100 %");
        simple_rule(r, out);
    }
    for (size_t i = 0; i < r->table.row_count && i < s->table.limit; i++)
        simple_print_row(r, out, gnomon__cells_of(&r->table, i));
    if (r->table.row_count)
        simple_rule(r, out);
    out->write(out, "\n", 1);
    return GNOMON_OK;
}

/* ---- The profiler --------------------------------------------------------- */

/* An unknown word gets a line, and is then ignored. */
static void simple_set(void *settings, const gnomon_options *options)
{
    simple_settings *s = settings;
    const char *sort = options ? options->text(options, "sort") : NULL;
    char line[96];
    s->extended = !options || options->number(options, "extended");
    s->sort = s->extended ? SIMPLE_PERCENT : SIMPLE_MEAN;
    for (int k = SIMPLE_NAME; sort && k <= SIMPLE_CALLS; k++)
        if (gnomon__print_same_word(sort, strlen(sort),
                                    simple_columns[k].key)) {
            s->sort = k == SIMPLE_TOTAL ? SIMPLE_PERCENT : k;
            return;
        }
    snprintf(line, sizeof line,
             "simple: sort=%.48s: say total, mean, calls or name",
             sort ? sort : "");
    if (sort)
        options->log(line);
}

static const gnomon__report simple_report = {
    .name = "simple",
    .columns = simple_columns,
    .column_count = SIMPLE_COLUMNS,
    .has_own_sort = true,
    .sort = -1,
    .more_size = sizeof(simple_sums),
    .settings_size = sizeof(simple_settings),
    .set = simple_set,
    .read = simple_read,
    .finish = simple_finish,
    .choose = simple_choose,
    .text = simple_text,
};

GNOMON__REPORT_PROFILER(
    simple, simple_report, GNOMON_WANT_TREE,
    "Lightning's table: calls, mean and total time of each action",
    GNOMON__PRESET_OPTION("extended", BOOL, "true",
                          "calls, total and percentage too, ordered by total"),
    GNOMON__TABLE_OPTION(
        "sort", TEXT, "what rows are ordered by: total, mean, calls or name"),
    GNOMON__TABLE_OPTION("limit", INTEGER, "the most rows; else all"));

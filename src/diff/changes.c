/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables of changes. A pure function of its lines; all texts are made before the
 * first byte is written, so a table comes whole, and its columns are as wide as
 * what is in them. */
#include "diff/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/text.h"
#include "platform/memory.h"
#include "print/letters.h"
#include "print/table.h"

enum {
    CHANGES_CALLS_A,
    CHANGES_CALLS_B,
    CHANGES_A,
    CHANGES_B,
    CHANGES_RELATIVE,
    CHANGES_BETWEEN,
    CHANGES_CONFIDENCE,
    CHANGES_TOTAL,
    CHANGES_COLUMNS
};

typedef char changes_cells[CHANGES_COLUMNS][GNOMON__CHANGES_TEXT];

const char *const gnomon__changes_words[] = {"total", "change", "confidence",
                                             "name", NULL};
const char *const gnomon__changes_forms[] = {"text", "md", "json", NULL};

/* ---- Numbers ------------------------------------------------------------ */

enum gnomon__changes_unit gnomon__changes_unit_of(enum gnomon__diff_kind kind,
                                                  enum gnomon__metric metric)
{
    if (metric == GNOMON__CALLS)
        return GNOMON__CHANGES_COUNT;
    return kind == GNOMON__DIFF_COUNTER ? GNOMON__CHANGES_SAMPLE
                                        : GNOMON__CHANGES_NS;
}

const char *gnomon__changes_value(char text[GNOMON__CHANGES_TEXT], double value,
                                  enum gnomon__changes_unit in, int sign)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *plus = sign && value > 0 ? "+" : "";
    int unit = 0;
    if (isnan(value))
        return strcpy(text, "-");
    int is_count = in == GNOMON__CHANGES_COUNT;
    if (in == GNOMON__CHANGES_SAMPLE) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.6g", plus, value);
        return text;
    }
    if (is_count || value == 0) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f%s", plus,
                 value != floor(value), value, is_count ? "" : " ns");
        return text;
    }
    for (; fabs(value) >= 999.95 && unit < 3; unit++)
        value /= 1000;
    snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f %s", plus,
             fabs(value) < 9.9995   ? 3
             : fabs(value) < 99.995 ? 2
                                    : 1,
             value, units[unit]);
    return text;
}

const char *gnomon__changes_percent(char text[GNOMON__CHANGES_TEXT],
                                    double share)
{
    if (fabs(share) < 0.0005)
        return strcpy(text, "0.0 %");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.1f %%", 100 * share);
    return text;
}

const char *gnomon__changes_sure(char text[GNOMON__CHANGES_TEXT],
                                 double confidence)
{
    if (isnan(confidence))
        return strcpy(text, "-");
    if (confidence > 0.9999)
        return strcpy(text, "> 99.99 %");
    snprintf(text, GNOMON__CHANGES_TEXT, "%.2f %%",
             floor(confidence * 10000) / 100);
    return text;
}

const char *gnomon__changes_drift(char text[GNOMON__CHANGES_TEXT],
                                  const gnomon__assumptions *assumed)
{
    snprintf(text, GNOMON__CHANGES_TEXT, "%.4g %% + %.6g ns",
             100 * assumed->drift, assumed->drift_ns);
    return text;
}

const char *gnomon__changes_between(char text[GNOMON__CHANGES_TEXT], double low,
                                    double high)
{
    if (isinf(low) && isinf(high))
        return strcpy(text, "-");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.1f .. %+.1f %%", 100 * low,
             100 * high);
    return text;
}

/* ---- Order -------------------------------------------------------------- */

static double changes_or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static double changes_of_total(const gnomon__changes_line *line)
{
    return changes_or_zero(line->total_ns[1]) -
           changes_or_zero(line->total_ns[0]);
}

/* The sort key of a row, descending. A row on one side only counts as the largest and
 * the most certain change. */
static double changes_key(const gnomon__changes_line *line,
                          enum gnomon__changes_sort sort)
{
    int is_alone = isnan(line->values[0]) || isnan(line->values[1]);
    switch (sort) {
    case GNOMON__CHANGES_CHANGE:
        return is_alone ? HUGE_VAL : fabs(changes_or_zero(line->relative));
    case GNOMON__CHANGES_CONFIDENCE:
        return is_alone ? HUGE_VAL : changes_or_zero(line->confidence);
    case GNOMON__CHANGES_NAME:
        return 0;
    default:
        return fabs(changes_of_total(line));
    }
}

static int changes_by_key(const void *left, const void *right)
{
    const gnomon__changes_line *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- Text --------------------------------------------------------------- */

static const struct {
    const char *title, *name, *calls;
} changes_kinds[] = {
    [GNOMON__DIFF_HOST] = {"Changes", "action", "calls"},
    [GNOMON__DIFF_DEVICE] = {"Changes on devices", "action", "calls"},
    [GNOMON__DIFF_BUSY] = {"Changes of work by scope", "action", "work"},
    [GNOMON__DIFF_STEPS] = {"Changes of steps", "stage", "steps"},
    [GNOMON__DIFF_COUNTER] = {"Changes of counters", "counter", "samples"},
};

static void changes_fill_head(changes_cells head, const gnomon__changes *c)
{
    for (int side = 0; side < 2; side++)
        snprintf(head[CHANGES_CALLS_A + side], GNOMON__CHANGES_TEXT, "%s %c",
                 changes_kinds[c->kind].calls, 'A' + side);
    snprintf(head[CHANGES_A], GNOMON__CHANGES_TEXT, "%s A", c->metric);
    snprintf(head[CHANGES_B], GNOMON__CHANGES_TEXT, "%s B", c->metric);
    strcpy(head[CHANGES_RELATIVE], "change");
    snprintf(head[CHANGES_BETWEEN], GNOMON__CHANGES_TEXT, "%.6g %% sure of",
             100 * c->confidence);
    strcpy(head[CHANGES_CONFIDENCE], "confidence");
    strcpy(head[CHANGES_TOTAL], "change of total");
}

static void changes_fill(changes_cells cells, const gnomon__changes_line *line,
                         const gnomon__changes *c)
{
    for (int side = 0; side < 2; side++) {
        gnomon__changes_value(cells[CHANGES_CALLS_A + side], line->calls[side],
                              GNOMON__CHANGES_COUNT, 0);
        gnomon__changes_value(cells[CHANGES_A + side], line->values[side],
                              c->unit, 0);
    }
    if (isnan(line->values[0]) || isnan(line->values[1]))
        snprintf(cells[CHANGES_RELATIVE], GNOMON__CHANGES_TEXT, "only in %c",
                 isnan(line->values[0]) ? 'B' : 'A');
    else
        gnomon__changes_percent(cells[CHANGES_RELATIVE], line->relative);
    gnomon__changes_between(cells[CHANGES_BETWEEN], line->low, line->high);
    gnomon__changes_sure(cells[CHANGES_CONFIDENCE], line->confidence);
    gnomon__changes_value(cells[CHANGES_TOTAL], changes_of_total(line),
                          GNOMON__CHANGES_NS, 1);
}

/* Calls are left out where they are the value. Writers do nothing after an
 * error. */
static void changes_row(const gnomon_writer *out, const char *name,
                        size_t name_width, changes_cells cells,
                        const size_t *widths, int first, int last)
{
    gnomon__cli_put(out, name, name_width);
    for (int i = first; i <= last; i++)
        out->print(out, "  %*s", (int)widths[i], cells[i]);
    out->write(out, "\n", 1);
}

static void changes_md_row(const gnomon_writer *out, const char *name,
                           changes_cells cells, int first, int last)
{
    out->write(out, "| ", 2);
    gnomon__put_md(out, name);
    for (int i = first; i <= last; i++) {
        out->write(out, " | ", 3);
        gnomon__put_md(out, cells[i]);
    }
    out->write(out, " |\n", 3);
}

static void changes_md_rule(const gnomon_writer *out, int first, int last)
{
    out->print(out, "| --- ");
    for (int i = first; i <= last; i++)
        out->print(out, "| ---: ");
    out->write(out, "|\n", 2);
}

static void changes_title(const gnomon__changes *c, const gnomon_writer *out)
{
    if (c->form == GNOMON__CHANGES_MD)
        out->write(out, "### ", 4);
    gnomon__print_title(out, c->stage, changes_kinds[c->kind].title);
    out->print(out, " from A to B\n\n");
}

static void changes_sort(const gnomon__changes *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->lines[i].key = changes_key(&c->lines[i], c->sort);
    if (c->count > 1)
        qsort(c->lines, c->count, sizeof *c->lines, changes_by_key);
}

/* Of row `i` of a table; row 0 is the head. */
static const char *changes_name(const gnomon__changes *c, size_t i)
{
    return i ? c->lines[i - 1].name : changes_kinds[c->kind].name;
}

static void changes_table(const gnomon__changes *c, size_t shown,
                          changes_cells *cells, const gnomon_writer *out)
{
    int first = c->unit == GNOMON__CHANGES_COUNT ? CHANGES_A : CHANGES_CALLS_A;
    int last =
        c->kind == GNOMON__DIFF_COUNTER ? CHANGES_CONFIDENCE : CHANGES_TOTAL;
    size_t widths[CHANGES_COLUMNS] = {0}, name_width = 0;
    for (size_t i = 0; i <= shown; i++) {
        size_t width = gnomon__cli_width(changes_name(c, i));
        name_width = width > name_width ? width : name_width;
        for (int k = 0; k < CHANGES_COLUMNS; k++) {
            width = gnomon__cli_width(cells[i][k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    for (size_t i = 0; i <= shown; i++) {
        const char *name = changes_name(c, i);
        if (c->form != GNOMON__CHANGES_MD)
            changes_row(out, name, name_width, cells[i], widths, first, last);
        else
            changes_md_row(out, name, cells[i], first, last);
        if (!i && c->form == GNOMON__CHANGES_MD)
            changes_md_rule(out, first, last);
    }
}

int gnomon__changes_print(const gnomon__changes *c, const gnomon_writer *out)
{
    size_t shown = c->limit && c->limit < c->count ? c->limit : c->count;
    changes_cells *cells;
    changes_sort(c);
    if (c->form == GNOMON__CHANGES_JSON) {
        gnomon__changes_json(c, shown, out);
        return out->write(out, "", 0);
    }
    cells = gnomon__alloc((shown + 1) * sizeof *cells);
    if (!cells)
        return GNOMON_ENOMEM;
    changes_fill_head(cells[0], c);
    for (size_t i = 0; i < shown; i++)
        changes_fill(cells[i + 1], &c->lines[i], c);
    changes_title(c, out);
    changes_table(c, shown, cells, out);
    if (shown < c->count)
        out->print(out, "%s%zu more\n",
                   c->form == GNOMON__CHANGES_MD ? "\n" : "", c->count - shown);
    gnomon__free(cells);
    return out->write(out, "\n", 1);
}

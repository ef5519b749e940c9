/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fills rows of two sides with what is said of them, and prints those of a stage and kind,
 * which follow one another, as one table. A quantile is interpolated in a cell of its
 * histogram, of 16 an octave: more than two digits of it, or tenths of a percent, would be
 * of no meaning. */
#include "diff/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/report.h"

/* ---- Numbers as text ---------------------------------------------------------------- */

enum gnomon__changes_unit gnomon__changes_unit_of(enum gnomon__diff_kind kind,
                                                  enum gnomon__metric metric)
{
    if (metric == GNOMON__CALLS)
        return GNOMON__CHANGES_COUNT;
    if (kind >= GNOMON__DIFF_COUNTER)
        return kind == GNOMON__DIFF_COUNTER ? GNOMON__CHANGES_SAMPLE
                                            : GNOMON__CHANGES_BYTES;
    return metric >= GNOMON__METRIC_P50 && metric <= GNOMON__METRIC_P99
               ? GNOMON__CHANGES_ABOUT_NS
               : GNOMON__CHANGES_NS;
}

const char *gnomon__changes_value(char text[GNOMON__CHANGES_TEXT], double value,
                                  enum gnomon__changes_unit in, int sign)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *plus = sign && value > 0 ? "+" : "";
    int unit = 0, digits = 0;
    if (isnan(value))
        return strcpy(text, "-");
    if (in == GNOMON__CHANGES_SAMPLE) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.6g", plus, value);
        return text;
    }
    if (in >= GNOMON__CHANGES_COUNT || value == 0) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f%s", plus,
                 value != floor(value), value,
                 in >= GNOMON__CHANGES_COUNT ? "" : " ns");
        return text;
    }
    if (in == GNOMON__CHANGES_ABOUT_NS) {
        double step = pow(10, floor(log10(fabs(value))) - 1);
        value = round(value / step) * step;
    }
    for (; fabs(value) >= 999.95 && unit < 3; unit++)
        value /= 1000;
    if (in == GNOMON__CHANGES_ABOUT_NS)
        digits = fabs(value) < 9.95;
    else
        digits = fabs(value) < 9.9995 ? 3 : fabs(value) < 99.995 ? 2 : 1;
    snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f %s", plus, digits, value,
             units[unit]);
    return text;
}

static int percent_digits(enum gnomon__changes_unit in)
{
    return in != GNOMON__CHANGES_ABOUT_NS;
}

const char *gnomon__changes_percent(char text[GNOMON__CHANGES_TEXT],
                                    double share, enum gnomon__changes_unit in)
{
    const int digits = percent_digits(in);
    if (isnan(share))
        return strcpy(text, "-");
    if (fabs(share) < (digits ? 0.0005 : 0.005))
        return strcpy(text, digits ? "0.0 %" : "0 %");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.*f %%", digits, 100 * share);
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
                                    double high, enum gnomon__changes_unit in)
{
    if (!isfinite(low) && !isfinite(high))
        return strcpy(text, "-");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.*f .. %+.*f %%",
             percent_digits(in), 100 * low, percent_digits(in), 100 * high);
    return text;
}

void gnomon__changes_json_number(const gnomon_writer *out, const char *key,
                                 double value)
{
    char text[32];
    if (!isfinite(value))
        out->print(out, "\"%s\": null", key);
    else if (value == floor(value) && fabs(value) < 9007199254740992.0)
        out->print(out, "\"%s\": %.0f", key, value); /* 2^53 */
    else
        out->print(out, "\"%s\": %s", key,
                   gnomon__print_number(text, value, true));
}

void gnomon__changes_json_text(const gnomon_writer *out, const char *key,
                               const char *text)
{
    out->print(out, "\"%s\": ", key);
    gnomon_write_json(out, text);
}

/* ---- What is asked for --------------------------------------------------------------- */

const char *const gnomon__diff_sort_words[] = {"total", "change", "confidence",
                                               "name", NULL};
const int gnomon__diff_sort_columns[] = {
    GNOMON__DIFF_BY_TOTAL, GNOMON__DIFF_BY_CHANGE, GNOMON__DIFF_BY_CONFIDENCE,
    GNOMON__DIFF_NAME};

static const struct {
    const char *word, *title, *name, *calls;
} show_kinds[] = {
    [GNOMON__DIFF_HOST] = {"host", "Changes", "Action", "Calls"},
    [GNOMON__DIFF_DEVICE] = {"device", "Changes on devices", "Action", "Calls"},
    [GNOMON__DIFF_BUSY] = {"busy", "Changes of work by scope", "Action",
                           "Work"},
    [GNOMON__DIFF_STEPS] = {"steps", "Changes of steps", "Stage", "Steps"},
    [GNOMON__DIFF_COUNTER] = {"counter", "Changes of counters", "Counter",
                              "Samples"},
    [GNOMON__DIFF_MEMORY] = {"memory", "Changes of memory (bytes)", "Pool",
                             "Allocations"},
};

/* What a table of the kind compares: a metric of a kind is of its table alone, and one
 * of the host of all that have it. */
static enum gnomon__metric show_metric(const gnomon__diff_request *r,
                                       enum gnomon__diff_kind kind)
{
    const gnomon__metric_of *asked =
        &gnomon__metrics[r->metric < 0 ? GNOMON__MEAN : r->metric];
    if (kind == asked->kind)
        return asked->metric;
    if (kind == GNOMON__DIFF_MEMORY)
        return GNOMON__MAX;
    return kind == GNOMON__DIFF_COUNTER || asked->metric == GNOMON__SELF
               ? GNOMON__MEAN
               : asked->metric;
}

int gnomon__diff_is_shown(const gnomon__diff_request *r,
                          const gnomon__diff_row *row)
{
    return (!r->stage || strcmp(row->stage, r->stage) == 0) &&
           (r->metric < 0 ||
            gnomon__metrics[r->metric].kind == GNOMON__DIFF_HOST ||
            gnomon__metrics[r->metric].kind == row->kind);
}

/* ---- Cells ------------------------------------------------------------------------ */

/* What only one side has, or cannot be said, is NAN. */
static void fill(gnomon__cell *cell, double value)
{
    if (!isnan(value))
        gnomon__cell_number(cell, value);
}

/* A row on one side only counts as the largest and the most certain change. */
static double or_largest(double value, int is_alone)
{
    return is_alone ? HUGE_VAL : isnan(value) ? 0 : fabs(value);
}

void gnomon__diff_fill(const gnomon__diff_request *r,
                       const gnomon__diff_row *row, gnomon__cell *cells)
{
    const gnomon__change c = gnomon__compare(
        r->diff, row, show_metric(r, row->kind), r->confidence, &r->assumed);
    const int is_alone = isnan(c.a) || isnan(c.b);
    double total[2] = {(double)NAN, (double)NAN};
    for (int side = 0; side < 2; side++) {
        enum gnomon__side which = (enum gnomon__side)side;
        fill(&cells[GNOMON__DIFF_CALLS_A + side],
             gnomon__estimate_value(r->diff, row, which, GNOMON__CALLS));
        if (row->kind < GNOMON__DIFF_COUNTER)
            total[side] =
                gnomon__estimate_value(r->diff, row, which, GNOMON__TOTAL);
        fill(&cells[GNOMON__DIFF_TOTAL_A + side], total[side]);
        if (row->kind == GNOMON__DIFF_MEMORY) /* the order is by these bytes */
            total[side] = side ? c.b : c.a;
        total[side] = isnan(total[side]) ? 0 : total[side];
    }
    /* These cells have a text also if nothing can be said. */
    gnomon__cell_number(&cells[GNOMON__DIFF_A], c.a);
    gnomon__cell_number(&cells[GNOMON__DIFF_B], c.b);
    gnomon__cell_number(&cells[GNOMON__DIFF_CHANGE], c.relative);
    gnomon__cell_number(&cells[GNOMON__DIFF_LOW], c.low);
    gnomon__cell_number(&cells[GNOMON__DIFF_HIGH], c.high);
    gnomon__cell_number(&cells[GNOMON__DIFF_CONFIDENCE], c.confidence);
    if (row->kind < GNOMON__DIFF_COUNTER)
        fill(&cells[GNOMON__DIFF_MORE], total[1] - total[0]);
    fill(&cells[GNOMON__DIFF_BY_TOTAL], fabs(total[1] - total[0]));
    fill(&cells[GNOMON__DIFF_BY_CHANGE], or_largest(c.relative, is_alone));
    fill(&cells[GNOMON__DIFF_BY_CONFIDENCE],
         or_largest(c.confidence, is_alone));
}

/* ---- Text ------------------------------------------------------------------------- */

typedef struct show_table {
    gnomon__report_table base; /* first */
    gnomon__column columns[GNOMON__DIFF_COLUMNS];
    enum gnomon__diff_kind kind;
    enum gnomon__metric metric;
    enum gnomon__changes_unit unit;
    char title[48];
    const char *kinds[GNOMON__DIFF_KINDS], *metrics[GNOMON__DIFF_KINDS];
} show_table;

static const char *show_cell(char room[32], const gnomon__report_table *table,
                             size_t column, const gnomon__cell *cells)
{
    const show_table *t = (const show_table *)(const void *)table;
    const double value =
        cells[column].is_there ? cells[column].number : (double)NAN;
    switch (column) {
    case GNOMON__DIFF_NAME:
        return NULL;
    case GNOMON__DIFF_CALLS_A:
    case GNOMON__DIFF_CALLS_B:
        return gnomon__changes_value(room, value, GNOMON__CHANGES_COUNT, 0);
    case GNOMON__DIFF_A:
    case GNOMON__DIFF_B:
        return gnomon__changes_value(room, value, t->unit, 0);
    case GNOMON__DIFF_CHANGE:
        if (isnan(cells[GNOMON__DIFF_A].number) !=
            isnan(cells[GNOMON__DIFF_B].number))
            return isnan(cells[GNOMON__DIFF_A].number) ? "only in B"
                                                       : "only in A";
        return gnomon__changes_percent(room, value, t->unit);
    case GNOMON__DIFF_LOW:
        return gnomon__changes_between(
            room, value, cells[GNOMON__DIFF_HIGH].number, t->unit);
    case GNOMON__DIFF_HIGH:
        return isfinite(value) ? gnomon__changes_percent(room, value, t->unit)
                               : "-";
    case GNOMON__DIFF_CONFIDENCE:
        return gnomon__changes_sure(room, value);
    default:
        return gnomon__changes_value(room, value, GNOMON__CHANGES_NS,
                                     column == GNOMON__DIFF_MORE);
    }
}

/* "mean"; what has no times has words of its own: "last", "peak". */
static const char *metric_word(const show_table *t)
{
    size_t i = 0;
    while (t->kind >= GNOMON__DIFF_COUNTER &&
           (gnomon__metrics[i].kind != t->kind ||
            gnomon__metrics[i].metric != t->metric))
        i++;
    return i ? strchr(gnomon__metric_words[i], '-') + 1
             : gnomon__metric_words[t->metric];
}

static void put_column_title(show_table *t, size_t column, const char *word,
                             const char *side)
{
    char *title = t->columns[column].title;
    const int room = (int)(sizeof t->columns->title - 1 - strlen(side));
    (void)snprintf(title, sizeof t->columns->title, "%.*s%s", room, word, side);
    if (*title >= 'a' && *title <= 'z' && title[1] >= 'a') /* "p50" stays */
        *title = (char)(*title - 'a' + 'A');
}

/* Of the rows from `first` on that are of one stage and kind. Returns how many. `rows` has
 * room for them, and is ordered by itself: gates keep the order of names. */
static size_t make_table(show_table *t, const gnomon__diff_request *r,
                         size_t first, gnomon__table_row *rows)
{
    const gnomon__report_table *all = &r->diff->table.table;
    const gnomon__diff_row *row = gnomon__diff_row_at(r->diff, first);
    size_t end = first;
    *t = (show_table){.base = *all, .kind = row->kind};
    t->metric = show_metric(r, row->kind);
    t->unit = gnomon__changes_unit_of(t->kind, t->metric);
    for (; end < all->row_count; end++) {
        const gnomon__diff_row *next = gnomon__diff_row_at(r->diff, end);
        if (next->kind != row->kind || strcmp(next->stage, row->stage) != 0)
            break;
        gnomon__diff_fill(r, next, gnomon__cells_of(all, end));
        rows[end - first] = all->rows[end];
    }
    memcpy(t->columns, gnomon__diff_columns, sizeof t->columns);
    put_column_title(t, GNOMON__DIFF_NAME, show_kinds[t->kind].name, "");
    put_column_title(t, GNOMON__DIFF_CALLS_A, show_kinds[t->kind].calls, " A");
    put_column_title(t, GNOMON__DIFF_CALLS_B, show_kinds[t->kind].calls, " B");
    put_column_title(t, GNOMON__DIFF_A, metric_word(t), " A");
    put_column_title(t, GNOMON__DIFF_B, metric_word(t), " B");
    (void)snprintf(t->title, sizeof t->title, "%.6g %% sure",
                   100 * r->confidence);
    put_column_title(t, GNOMON__DIFF_LOW, t->title, "");
    (void)snprintf(t->title, sizeof t->title, "%s from A to B",
                   show_kinds[t->kind].title);
    t->base.title = t->title;
    t->base.stage = row->stage;
    t->base.columns = t->columns;
    t->base.column_count = r->choice.format == GNOMON__TABLE_JSON
                               ? GNOMON__DIFF_MORE
                               : GNOMON__DIFF_SHOWN;
    t->base.shown = show_cell;
    t->base.rows = rows;
    t->base.row_count = end - first;
    t->base.is_ordered = false;
    return end - first;
}

/* In csv the kind and the metric are columns. */
static void name_groups(show_table *t, int is_first)
{
    t->base.has_head = !is_first;
    t->base.group_word = "kind";
    t->base.inner_word = "metric";
    t->kinds[t->kind] = show_kinds[t->kind].word;
    t->metrics[t->kind] = metric_word(t);
    t->base.groups = t->kinds;
    t->base.inner_groups = t->metrics;
    for (size_t i = 0; i < t->base.row_count; i++)
        t->base.rows[i].group = t->kind;
}

static void put_json_head(show_table *t, size_t left_out, int is_first,
                          const gnomon_writer *out)
{
    static const char *const units[] = {"ns", "ns", "calls", "samples",
                                        "bytes"};
    out->print(out, is_first ? "\n{" : ",\n{");
    gnomon__changes_json_text(out, "stage", t->base.stage);
    out->print(out,
               ", \"kind\": \"%s\", \"metric\": \"%s\", \"unit\": \"%s\", "
               "\"left_out\": %zu",
               show_kinds[t->kind].word, metric_word(t), units[t->unit],
               left_out);
    t->base.has_head = true;
}

static int show_rows(const gnomon__diff_request *r, show_table *t, int is_first)
{
    const size_t rows = t->base.row_count, limit = r->choice.limit;
    const size_t left_out = rows > limit ? rows - limit : 0;
    const int format = r->choice.format;
    if (format == GNOMON__TABLE_CSV)
        name_groups(t, is_first);
    else if (format == GNOMON__TABLE_JSON)
        put_json_head(t, left_out, is_first, &r->out);
    int code = gnomon__table_print(&t->base, &r->choice, NULL, &r->out);
    if (format == GNOMON__TABLE_CSV || format == GNOMON__TABLE_JSON)
        return code;
    if (left_out)
        r->out.print(&r->out, "%s%zu more\n",
                     format == GNOMON__TABLE_MD ? "\n" : "", left_out);
    r->out.write(&r->out, "\n", 1);
    return code;
}

/* ---- The whole -------------------------------------------------------------------- */

/* "A: 3 jobs, 24 runs": a run is a rank of a job, with all its attempts. */
static void put_text_head(const gnomon__diff_request *r)
{
    char drift[GNOMON__CHANGES_TEXT];
    for (int side = 0; side < 2; side++) {
        const gnomon__jobs *l = &r->diff->jobs[side];
        r->out.print(&r->out, "%s%c: %" PRIu32 " job%s, %zu run%s",
                     side ? "; " : "", 'A' + side, l->jobs,
                     l->jobs == 1 ? "" : "s", l->count,
                     l->count == 1 ? "" : "s");
    }
    r->out.write(&r->out, "\n", 1);
    if (gnomon__diff_is_assumed(r->diff))
        r->out.print(&r->out,
                     "How far jobs differ is assumed: %s. Three jobs a side "
                     "measure it.\n",
                     gnomon__changes_drift(drift, &r->assumed));
    r->out.write(&r->out, "\n", 1);
}

/* {"a": {"jobs": 1, "runs": 8}, ..., "tables": [ */
static void put_json_begin(const gnomon__diff_request *r)
{
    const gnomon_writer *out = &r->out;
    for (int i = 0; i < 2; i++)
        out->print(out, "%s\"%c\": {\"jobs\": %" PRIu32 ", \"runs\": %zu}",
                   i ? ", " : "{", 'a' + i, r->diff->jobs[i].jobs,
                   r->diff->jobs[i].count);
    out->print(out, ", ");
    gnomon__changes_json_number(out, "confidence", r->confidence);
    if (gnomon__diff_is_assumed(r->diff)) {
        out->print(out, ", \"assumed\": {");
        gnomon__changes_json_number(out, "drift", r->assumed.drift);
        out->print(out, ", ");
        gnomon__changes_json_number(out, "drift_ns", r->assumed.drift_ns);
        out->print(out, "}");
    } else {
        out->print(out, ", \"assumed\": null");
    }
    out->print(out, ",\n\"tables\": [");
}

int gnomon__diff_show(const gnomon__diff_request *r)
{
    const size_t rows = r->diff->table.table.row_count;
    const int is_json = r->choice.format == GNOMON__TABLE_JSON;
    gnomon__table_row *sorted =
        gnomon__table_take(&r->diff->table.table, (rows + 1) * sizeof *sorted);
    int code = sorted ? GNOMON_OK : GNOMON_ENOMEM, is_first = 1;
    show_table t;
    if (code)
        return code;
    if (is_json)
        put_json_begin(r);
    else if (r->choice.format != GNOMON__TABLE_CSV)
        put_text_head(r);
    for (size_t i = 0, count; !code && i < rows; i += count) {
        count = 1;
        if (!gnomon__diff_is_shown(r, gnomon__diff_row_at(r->diff, i)))
            continue;
        count = make_table(&t, r, i, sorted);
        code = show_rows(r, &t, is_first);
        is_first = 0;
    }
    if (is_json)
        r->out.write(&r->out, "]", 1);
    return code;
}

void gnomon__diff_show_end(const gnomon__diff_request *r, int is_judged)
{
    if (r->choice.format == GNOMON__TABLE_JSON)
        r->out.print(&r->out, "%s}\n", is_judged ? "" : ",\n\"gates\": null");
}

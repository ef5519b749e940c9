/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plot has as many columns as fit, each of one value or of the largest of a few that
 * follow one another, and is some lines high, each of eight steps. O(values) memory. */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/events.h"
#include "print/letters.h"
#include "print/order.h"
#include "print/table.h"
#include "profile/model.h"

#define PLOT_LINES 6
#define PLOT_LABEL 11     /* columns before a plot */
#define PLOT_MOST 1000    /* columns of one */
#define PLOT_SLOW 1.25    /* times the median */
#define PLOT_COUNTERS 16u /* of a file */

const char *const gnomon__plot_words[] = {"steps", "counters", NULL};
enum { PLOT_STEPS, PLOT_COUNTER };

/* Values in the order of time. Zeroes are none. */
typedef struct plot_values {
    double *at;
    size_t count, room;
} plot_values;

static int plot_add(plot_values *v, double value)
{
    if (!gnomon__grow(&v->at, &v->room, v->count + 1, sizeof *v->at))
        return GNOMON_ENOMEM;
    v->at[v->count++] = value;
    return GNOMON_OK;
}

/* ---- Drawing ------------------------------------------------------------------------- */

static size_t plot_columns(const gnomon_writer *out, size_t values)
{
    const size_t all = out->columns ? out->columns : 80;
    size_t columns = all > PLOT_LABEL + 8 ? all - PLOT_LABEL : 8;
    columns = columns < PLOT_MOST ? columns : PLOT_MOST;
    return columns < values ? columns : values;
}

/* The largest value of a column; NAN: it has no number. */
static double plot_column(const plot_values *v, size_t column, size_t columns)
{
    const size_t end = (column + 1) * v->count / columns;
    double most = (double)NAN;
    for (size_t i = column * v->count / columns; i < end; i++)
        most = isnan(most) || v->at[i] > most ? v->at[i] : most;
    return most;
}

static void plot_label(const gnomon_writer *out, double value, int is_time)
{
    char text[GNOMON__DURATION];
    const char *shown = is_time ? gnomon__print_duration(text, (uint64_t)value)
                                : gnomon__print_number(text, value, false);
    out->print(out, "%*s ", PLOT_LABEL - 1, shown);
}

/* How many eighths of a line are filled: 0 .. 8. */
static int plot_eighths(double value, double least, double most, int line)
{
    const double all =
        most > least ? (value - least) / (most - least) * PLOT_LINES * 8 : 8;
    const double here = (isnan(value) ? -1 : fmax(all, 1)) - 8.0 * line;
    return here <= 0 ? 0 : here >= 8 ? 8 : (int)ceil(here);
}

/* From `least` at the foot. */
static void plot_draw(const plot_values *v, double least, int is_time,
                      const gnomon_writer *out)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    const size_t columns = plot_columns(out, v->count);
    double most = least;
    for (size_t i = 0; i < v->count; i++)
        most = v->at[i] > most ? v->at[i] : most;
    for (int line = PLOT_LINES - 1; line >= 0; line--) {
        size_t last = columns;
        if (line == PLOT_LINES - 1)
            plot_label(out, most, is_time);
        else if (line == 0)
            plot_label(out, least, is_time);
        else
            out->print(out, "%*s", PLOT_LABEL, "");
        while (last && !plot_eighths(plot_column(v, last - 1, columns), least,
                                     most, line))
            last--; /* no blanks at the end of a line */
        for (size_t i = 0; i < last; i++)
            out->print(out, "%s",
                       blocks[plot_eighths(plot_column(v, i, columns), least,
                                           most, line)]);
        out->print(out, "\n");
    }
}

/* ---- Steps --------------------------------------------------------------------------- */

GNOMON__ORDER(by_value, double, ITSELF)

static int plot_marks(const plot_values *v, const gnomon_writer *out)
{
    const size_t columns = plot_columns(out, v->count);
    double *sorted = gnomon__alloc(v->count * sizeof *sorted);
    if (!sorted)
        return GNOMON_ENOMEM;
    memcpy(sorted, v->at, v->count * sizeof *sorted);
    GNOMON__SORT(sorted, v->count, by_value);
    const double limit = PLOT_SLOW * sorted[v->count / 2];
    gnomon__free(sorted);
    char text[GNOMON__DURATION];
    size_t last = columns;
    while (last && plot_column(v, last - 1, columns) <= limit)
        last--;
    if (!last)
        return GNOMON_OK;
    out->print(out, "%*s", PLOT_LABEL, "");
    for (size_t i = 0; i < last; i++)
        out->print(out, "%s", plot_column(v, i, columns) > limit ? "^" : " ");
    out->print(out, "\n%*s^ more than %g times the median, %s\n", PLOT_LABEL,
               "", PLOT_SLOW,
               gnomon__print_duration(text, (uint64_t)(limit / PLOT_SLOW)));
    return GNOMON_OK;
}

/* Of one stage, whose number is known. */
static int plot_stage(const gnomon_profile *p, uint32_t stage, const char *name,
                      const gnomon_writer *out, size_t *plots)
{
    gnomon__event_steps steps;
    plot_values v = {0};
    int code = gnomon__event_steps_make(&steps, p, stage);
    for (size_t i = 0; !code && i < steps.count; i++)
        code =
            plot_add(&v, (double)(steps.at[i].end_ns - steps.at[i].begin_ns));
    if (!code && v.count) {
        out->print(out, "%s%s%ssteps %llu to %llu, %zu of them here\n",
                   *plots ? "\n" : "", gnomon_shown(out, name),
                   *name ? ": " : "", (unsigned long long)steps.at[0].number,
                   (unsigned long long)steps.at[steps.count - 1].number,
                   v.count);
        plot_draw(&v, 0, 1, out);
        code = plot_marks(&v, out);
        ++*plots;
    }
    gnomon__event_steps_free(&steps);
    gnomon__free(v.at);
    return code;
}

static int plot_steps(const gnomon_profile *p, const char *stage,
                      const gnomon_writer *out, size_t *plots)
{
    gnomon_stage_info s;
    int code = GNOMON_OK;
    for (uint32_t i = 1; !code && !gnomon_profile_stage(p, i, &s); i++)
        if (!stage || strcmp(s.name, stage) == 0)
            code = plot_stage(p, i, s.name, out, plots);
    return code;
}

/* ---- Counters ------------------------------------------------------------------------ */

/* Samples of threads come one thread after the other. */
static int plot_region(const gnomon_profile *p, uint32_t region,
                       const gnomon_writer *out, size_t *plots)
{
    gnomon__event_walk w;
    const gnomon_event_info *e;
    gnomon_region_info r = {.name = ""};
    plot_values v = {0};
    double least = HUGE_VAL;
    int code = GNOMON_OK;
    gnomon__walk_all(&w, p);
    while (!code && (e = gnomon__walk_next(&w)) != NULL)
        if (e->kind == GNOMON_EVENT_COUNTER && e->region == region &&
            isfinite(e->value)) {
            least = fmin(least, e->value);
            code = plot_add(&v, e->value);
        }
    if (!code && v.count) {
        (void)gnomon_profile_region(p, region, &r);
        out->print(out, "%s%s: %zu samples\n", *plots ? "\n" : "",
                   gnomon_shown(out, r.name), v.count);
        plot_draw(&v, least, 0, out);
        ++*plots;
    }
    gnomon__free(v.at);
    return code;
}

static int plot_counters(const gnomon_profile *p, const gnomon_writer *out,
                         size_t *plots)
{
    gnomon_counter_info c;
    uint32_t met[PLOT_COUNTERS];
    size_t count = 0;
    int code = GNOMON_OK;
    for (size_t i = 1; !code && !gnomon_profile_counter(p, i, &c); i++) {
        size_t k = 0;
        while (k < count && met[k] != c.region)
            k++;
        if (k < count || count == PLOT_COUNTERS)
            continue;
        met[count++] = c.region;
        code = plot_region(p, c.region, out, plots);
    }
    return code;
}

/* ---- Files --------------------------------------------------------------------------- */

static int plot_file(const char *path, int word, const char *stage,
                     const gnomon_writer *out, size_t *plots)
{
    const size_t before = *plots;
    gnomon_profile *p;
    if (gnomon__cli_load(path, &p))
        return GNOMON__EXIT_UNREADABLE;
    int status = gnomon__cli_log_damage(path, p);
    int code = word == PLOT_STEPS ? plot_steps(p, stage, out, plots)
                                  : plot_counters(p, out, plots);
    code = code ? code : gnomon__profile_failed(p);
    if (code) {
        gnomon__log("%s: %s", path,
                    *gnomon_error_text() ? gnomon_error_text()
                                         : "no memory for a plot");
        status = GNOMON__EXIT_UNREADABLE;
    } else if (*plots == before) {
        gnomon__log(word == PLOT_STEPS
                        ? "%s: nothing to draw: no single steps are in it: "
                          "GNOMON=steps,file=run.gnomon records them"
                        : "%s: nothing to draw: no single samples are in it: "
                          "GNOMON=trace,file=run.gnomon records them",
                    path);
    }
    gnomon_profile_free(p);
    return status;
}

int gnomon__plot(const gnomon__cli_inputs *in, int word, const char *stage,
                 const gnomon_writer *out)
{
    size_t plots = 0;
    int status = GNOMON__EXIT_OK;
    for (size_t i = 0; i < in->count; i++)
        status = gnomon__cli_worse(
            status, plot_file(in->paths[i], word, stage, out, &plots));
    return !status && !plots ? GNOMON__EXIT_NOTHING : status;
}

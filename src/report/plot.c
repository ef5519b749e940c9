/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plot has as many columns as fit, each of one value or of the largest of a few that
 * follow one another, and is some lines high, each of eight steps. It is of a strip, where
 * the profile has one, else of what is there one by one. O(values) memory. */
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
#include "profile/strip.h"

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

static const char *plot_time(char text[GNOMON__DURATION], double ns)
{
    return gnomon__print_duration(text, ns < 0x1p64 ? (uint64_t)fmax(ns, 0)
                                                    : UINT64_MAX);
}

static void plot_label(const gnomon_writer *out, double value, int is_time)
{
    char text[GNOMON__DURATION];
    const char *shown = is_time ? plot_time(text, value)
                                : gnomon__print_number(text, value, false);
    out->print(out, "%*s ", PLOT_LABEL - 1, shown);
}

/* How many eighths of a line are filled: 0 .. 8. */
static int plot_eighths(double value, double least, double most, int line)
{
    const double span = most / 2 - least / 2; /* all of it may be too large */
    const double all =
        span > 0 ? (value / 2 - least / 2) / span * PLOT_LINES * 8 : 8;
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

/* ---- Strips -------------------------------------------------------------------------- */

/* The largest of each bin, of all tracks, NAN where that is infinite; none where there is
 * no strip. *count: how many steps or samples are in them; *width: of a bin, in steps. */
static int plot_strip(plot_values *v, const gnomon_profile *p, uint32_t stage,
                      uint32_t region, uint64_t *count, uint64_t *width)
{
    gnomon__strip sum = {0};
    gnomon_strip_info s;
    int ok = 1;
    *count = 0;
    for (size_t i = 1; ok && !gnomon_profile_strip(p, i, &s); i++)
        if (s.stage == stage && s.region == region && (region || !s.track))
            ok = gnomon__strip_add(&sum, s.width, s.bins, s.bin_count);
    *width = sum.width;
    for (size_t i = 0; ok && i < sum.count; i++) {
        *count += sum.bins[i].count;
        ok = !plot_add(v, sum.bins[i].count && isfinite(sum.bins[i].max)
                              ? sum.bins[i].max
                              : (double)NAN);
    }
    gnomon__strip_free(&sum);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

static void plot_width(const gnomon_writer *out, uint64_t width)
{
    if (width > 1)
        out->print(out, ", the most of each %llu steps",
                   (unsigned long long)width);
    out->print(out, "\n");
}

/* ---- Steps --------------------------------------------------------------------------- */

GNOMON__ORDER(by_value, double, ITSELF)

/* `all`: of the steps that the values are of; NULL: they are the steps. */
static int plot_marks(const plot_values *v, const gnomon_stats *all,
                      const gnomon_writer *out)
{
    const size_t columns = plot_columns(out, v->count);
    double *sorted = gnomon__alloc(v->count * sizeof *sorted);
    if (!sorted)
        return GNOMON_ENOMEM;
    memcpy(sorted, v->at, v->count * sizeof *sorted);
    GNOMON__SORT(sorted, v->count, by_value);
    const double limit =
        PLOT_SLOW * (all ? gnomon_quantile(all, 0.5) : sorted[v->count / 2]);
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
               "", PLOT_SLOW, plot_time(text, limit / PLOT_SLOW));
    return GNOMON_OK;
}

/* Of one stage, whose number is known. */
static int plot_stage(const gnomon_profile *p, uint32_t stage,
                      const gnomon_stage_info *s, const gnomon_writer *out,
                      size_t *plots)
{
    gnomon__event_steps steps;
    plot_values v = {0};
    uint64_t made, width;
    int code = gnomon__event_steps_make(&steps, p, stage);
    if (!code)
        code = plot_strip(&v, p, stage, 0, &made, &width);
    const int is_strip = v.count > 0;
    for (size_t i = 0; !code && !is_strip && i < steps.count; i++)
        code =
            plot_add(&v, (double)(steps.at[i].end_ns - steps.at[i].begin_ns));
    if (!code && v.count) {
        out->print(out, "%s%s%s", *plots ? "\n" : "",
                   gnomon_shown(out, s->name), *s->name ? ": " : "");
        if (is_strip) {
            out->print(out, "%llu steps", (unsigned long long)made);
            plot_width(out, width);
        } else {
            out->print(out, "steps %llu to %llu, %zu of them here\n",
                       (unsigned long long)steps.at[0].number,
                       (unsigned long long)steps.at[steps.count - 1].number,
                       v.count);
        }
        plot_draw(&v, 0, 1, out);
        code = plot_marks(&v, is_strip ? s->steps : NULL, out);
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
            code = plot_stage(p, i, &s, out, plots);
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

/* By steps, a plot for each stage that has a strip of the region. */
static int plot_region_strips(const gnomon_profile *p, uint32_t region,
                              const gnomon_writer *out, size_t *plots)
{
    gnomon_region_info r = {.name = ""};
    gnomon_stage_info s;
    int code = GNOMON_OK;
    (void)gnomon_profile_region(p, region, &r);
    for (uint32_t i = 1; !code && !gnomon_profile_stage(p, i, &s); i++) {
        plot_values v = {0};
        uint64_t made, width;
        double least = HUGE_VAL;
        code = plot_strip(&v, p, i, region, &made, &width);
        for (size_t k = 0; k < v.count; k++)
            least = fmin(least, v.at[k]);
        if (!code && isfinite(least)) {
            out->print(out, "%s%s%s%s: %llu samples", *plots ? "\n" : "",
                       gnomon_shown(out, s.name), *s.name ? ": " : "",
                       gnomon_shown(out, r.name), (unsigned long long)made);
            plot_width(out, width);
            plot_draw(&v, least, 0, out);
            ++*plots;
        }
        gnomon__free(v.at);
    }
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
        const size_t before = *plots;
        code = plot_region_strips(p, c.region, out, plots);
        if (!code && *plots == before)
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

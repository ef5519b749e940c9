/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * steps: how long steps took, and of the slowest what took longer in them than it
 * does in the median step. As the other tables where columns, groups, an order or a
 * format are asked for. A pure function from a profile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "print/letters.h"
#include "print/rows.h"
#include "print/slow_steps.h"
#include "print/step_events.h"

typedef struct steps_report {
    gnomon__slow_steps *of;
    const gnomon_writer *out;
    const gnomon__table_choice *choice;
} steps_report;

/* ---- Text ------------------------------------------------------------------------- */

static void steps_print_region(const steps_report *t,
                               const gnomon__step_reason *e)
{
    char took[GNOMON__DURATION], usual[GNOMON__DURATION];
    gnomon_region_info region;
    gnomon_profile_region(t->of->profile, e->region, &region);
    const char *name = gnomon_shown(t->out, region.name);
    t->out->write(t->out, name, strlen(name));
    t->out->print(t->out, " %s", gnomon__short_duration(took, e->ns));
    if (e->ran_more && e->usual_ns && e->calls > 1)
        t->out->print(t->out, " in %" PRIu64 " calls", e->calls);
    t->out->print(t->out, ", usually %s",
                  gnomon__short_duration(usual, e->usual_ns));
}

static void steps_print_why(steps_report *t, const gnomon__listed_step *slow)
{
    const gnomon__step_reason *reasons[GNOMON__STEP_REASONS];
    int named = gnomon__slow_steps_reasons(t->of, slow, reasons);
    for (int i = 0; i < named; i++) {
        t->out->write(t->out, i ? "; " : slow->step.rank < 0 ? "  " : ": ", 2);
        steps_print_region(t, reasons[i]);
    }
}

static void steps_label(const steps_report *t, const gnomon__listed_step *slow,
                        char text[64])
{
    int n = snprintf(text, 64, "step %" PRIu64, slow->step.number);
    if (t->of->stage.count > 1 && slow->step.ordinal)
        snprintf(text + n, 64 - (size_t)n, " of stage %" PRIu32,
                 slow->step.ordinal);
}

static void steps_print_slow(steps_report *t)
{
    size_t count = t->of->slow_count < t->choice->limit ? t->of->slow_count
                                                        : t->choice->limit;
    int width = 0;
    char label[64], took[GNOMON__DURATION];
    for (size_t i = 0; i < count; i++) {
        steps_label(t, &t->of->slow[i], label);
        width = (int)strlen(label) > width ? (int)strlen(label) : width;
    }
    for (size_t i = 0; i < count; i++) {
        const gnomon__listed_step *slow = &t->of->slow[i];
        steps_label(t, slow, label);
        t->out->print(t->out, "%s%-*s  %7s", i ? "" : "\n", width, label,
                      gnomon__short_duration(took, slow->ns));
        if (slow->step.rank >= 0)
            t->out->print(t->out, "  rank %" PRId32, slow->step.rank);
        steps_print_why(t, slow);
        t->out->write(t->out, "\n", 1);
    }
}

/* ---- Their events ------------------------------------------------------------------ */

static void steps_print_event(const steps_report *t, const gnomon__cell *cells)
{
    char at[GNOMON__DURATION], took[GNOMON__DURATION], usual[GNOMON__DURATION];
    gnomon_node_info node = {.track = 0};
    gnomon_track_info track = {.name = ""};
    (void)gnomon_profile_node(t->of->profile, cells[GNOMON__STEP_NODE].count,
                              &node);
    (void)gnomon_profile_track(t->of->profile, node.track, &track);
    t->out->print(
        t->out, "\n%10s  %10s  %10s  %s%s%s",
        gnomon__short_duration(at, cells[GNOMON__STEP_AT].count),
        gnomon__short_duration(took, cells[GNOMON__STEP_TOOK].count),
        gnomon__short_duration(usual, cells[GNOMON__STEP_USUAL].count),
        gnomon_shown(t->out, cells[GNOMON__STEP_PATH].text),
        *track.name ? " on " : "", gnomon_shown(t->out, track.name));
}

/* Of the slow steps that the profile has events of; else nothing. */
static int steps_print_events(steps_report *t, uint32_t stage)
{
    gnomon__step_events events;
    int code = gnomon__step_events_make(&events, t->of->profile, stage);
    for (size_t i = 0; !code && events.has_median && i < t->of->slow_count &&
                       i < t->choice->limit;
         i++) {
        const gnomon_step_info *step = &t->of->slow[i].step;
        gnomon__report_rows rows;
        code = gnomon__step_events_read(&rows, &events, step);
        const size_t count = code ? 0 : rows.table.row_count;
        if (count)
            t->out->print(t->out,
                          "\nStep %" PRIu64 ", beside step %" PRIu64
                          " of median length\n%10s  %10s  %10s  %s",
                          step->number, events.median.number, "At", "Took",
                          "Usually", "Path");
        for (size_t k = 0; k < count; k++)
            steps_print_event(t, gnomon__cells_of(&rows.table, k));
        t->out->write(t->out, "\n", count > 0);
        gnomon__report_free(&rows);
    }
    gnomon__step_events_free(&events);
    return code;
}

/* "of a step: 77 % loader, 9 % model": which of them is the bottleneck. */
static int steps_print_parts(steps_report *t)
{
    int code = gnomon__slow_steps_parts(t->of);
    const gnomon__step_reason *part = t->of->excess;
    double all = (double)t->of->all->total_ns / 100;
    const char *head = "of a step: ";
    for (size_t i = 0; !code && i < GNOMON__STEP_PARTS && i <= t->of->regions &&
                       (double)part[i].excess_ns > all;
         i++, head = ", ") {
        gnomon_region_info region;
        gnomon_profile_region(t->of->profile, part[i].region, &region);
        t->out->print(t->out, "%s%.0f %% %s", head,
                      (double)part[i].excess_ns / all,
                      gnomon_shown(t->out, region.name));
    }
    if (*head == ',')
        t->out->write(t->out, "\n", 1);
    return code;
}

static void steps_print_all(const steps_report *t)
{
    static const char *const heads[] = {"Mean", "Median", "p99", "Max"};
    const gnomon_stats *s = t->of->all;
    const uint64_t ns[] = {s->total_ns / s->count, gnomon_quantile_ns(s, 0.5),
                           gnomon_quantile_ns(s, 0.99), s->max_ns};
    char text[GNOMON__DURATION];
    t->out->print(t->out, "\n%10s", "Steps");
    for (int i = 0; i < 4; i++)
        t->out->print(t->out, "  %9s", heads[i]);
    t->out->print(t->out, "\n%10" PRIu64, s->count);
    for (int i = 0; i < 4; i++)
        t->out->print(t->out, "  %9s", gnomon__short_duration(text, ns[i]));
    t->out->write(t->out, "\n", 1);
    uint64_t before = gnomon__slow_steps_before(t->of);
    if (before && before > t->of->stage.steps->total_ns / 1000)
        t->out->print(t->out, "before the first step: %s\n",
                      gnomon__short_duration(text, before));
}

/* A stage by one view after the other, where there are several. */
static int steps_print_stage(steps_report *t, uint32_t stage)
{
    int code = GNOMON_OK;
    bool is_any = false;
    size_t views = gnomon_profile_count(t->of->profile, GNOMON_VIEWS);
    for (uint32_t view = 0; !code && view <= views; view++) {
        gnomon__slow_steps_read(t->of, stage, view);
        if (!view)
            gnomon__print_title(t->out, t->of->stage.name, "Steps\n");
        is_any |= t->of->all || t->of->slow_count;
        if (t->of->all) {
            steps_print_all(t);
            code = steps_print_parts(t);
        }
        steps_print_slow(t);
        code = code ? code : steps_print_events(t, stage);
    }
    if (!is_any)
        t->out->print(t->out,
                      "\nno step was recorded: gnomon_step() makes one, "
                      "or step= in $GNOMON\n");
    return code;
}

/* ---- As a table -------------------------------------------------------------------- */

enum {
    STEPS_STEP,
    STEPS_ORDINAL,
    STEPS_RANK,
    STEPS_TIME,
    STEPS_MEDIAN,
    STEPS_P99,
    STEPS_MAX,
    STEPS_COUNT,
    STEPS_WHY, /* three columns for each reason */
    STEPS_COLUMNS = STEPS_WHY + 3 * GNOMON__STEP_REASONS
};

#define STEPS_REASON(name, title, shown) \
    GNOMON__COLUMN(name, title, TEXT, shown, MADE), \
        GNOMON__COLUMN(name "_time", title " took", TIME, shown, MADE), \
        GNOMON__COLUMN(name "_usual", "usually", TIME, shown, MADE)

static const gnomon__column steps_columns[STEPS_COLUMNS] = {
    GNOMON__COLUMN("step", "Step", ID, SHOWN, MADE),
    GNOMON__COLUMN("ordinal", "Of stage", ID, EXTRA, MADE),
    GNOMON__COLUMN("rank", "Rank", ID, SHOWN, MADE),
    GNOMON__COLUMN("time", "Time", TIME, SHOWN, MADE),
    GNOMON__COLUMN("median", "Median", TIME, SHOWN, MADE),
    GNOMON__COLUMN("p99", "p99", TIME, SHOWN, MADE),
    GNOMON__COLUMN("max", "Max", TIME, EXTRA, MADE),
    GNOMON__COLUMN("steps", "Steps", COUNT, EXTRA, MADE),
    STEPS_REASON("why", "Why", SHOWN),
    STEPS_REASON("why2", "Second", EXTRA),
    STEPS_REASON("why3", "Third", EXTRA)};

static void steps_add_row(gnomon__report_rows *r, uint32_t group,
                          const gnomon__listed_step *slow)
{
    gnomon__slow_steps *of = r->more;
    const gnomon__step_reason *reasons[GNOMON__STEP_REASONS];
    const int named = gnomon__slow_steps_reasons(of, slow, reasons);
    const gnomon_stats *all = of->all;
    gnomon__cell *cells = gnomon__report_row_of(r, group);
    gnomon_region_info region;
    gnomon__cell_count(&cells[STEPS_STEP], slow->step.number);
    gnomon__cell_count(&cells[STEPS_TIME], slow->ns);
    if (slow->step.ordinal)
        gnomon__cell_count(&cells[STEPS_ORDINAL], slow->step.ordinal);
    if (slow->step.rank >= 0)
        gnomon__cell_count(&cells[STEPS_RANK], (uint64_t)slow->step.rank);
    if (all) {
        gnomon__cell_count(&cells[STEPS_MEDIAN], gnomon_quantile_ns(all, 0.5));
        gnomon__cell_count(&cells[STEPS_P99], gnomon_quantile_ns(all, 0.99));
        gnomon__cell_count(&cells[STEPS_MAX], all->max_ns);
        gnomon__cell_count(&cells[STEPS_COUNT], all->count);
    }
    for (int i = 0; i < named; i++) {
        gnomon__cell *why = &cells[STEPS_WHY + 3 * i];
        gnomon_profile_region(r->profile, reasons[i]->region, &region);
        gnomon__cell_text(&why[0], region.name);
        gnomon__cell_count(&why[1], reasons[i]->ns);
        gnomon__cell_count(&why[2], reasons[i]->usual_ns);
    }
}

/* Of all stages and views of the profile: as a report has it, one of each. */
static void steps_read(gnomon__report_rows *r)
{
    gnomon__slow_steps *of = r->more;
    const size_t views = gnomon_profile_count(r->profile, GNOMON_VIEWS);
    const size_t stages = gnomon_profile_count(r->profile, GNOMON_STAGES);
    gnomon__slow_steps_free(of); /* of the profile before */
    r->code = gnomon__slow_steps_make(of, r->profile);
    for (uint32_t stage = 1; r->choice->is_table && !r->code && stage <= stages;
         stage++)
        for (uint32_t view = 0; view <= views; view++) {
            gnomon__slow_steps_read(of, stage, view);
            for (size_t i = 0; i < of->slow_count; i++)
                steps_add_row(r,
                              gnomon__group_of_run(&r->groups, of->stage.run),
                              &of->slow[i]);
        }
}

static int steps_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    steps_report t = {.of = r->more, .out = out, .choice = r->choice};
    const size_t stages = gnomon_profile_count(r->profile, GNOMON_STAGES);
    int code = GNOMON_OK;
    for (uint32_t i = 1; !code && i <= stages; i++)
        code = steps_print_stage(&t, i);
    return code;
}

static void steps_free(void *more)
{
    gnomon__slow_steps_free(more);
}

static const gnomon__report slowest_steps = {
    .name = "steps",
    .title = "Steps",
    .columns = steps_columns,
    .column_count = STEPS_COLUMNS,
    .by_from = GNOMON__BY_RANK,
    .by_to = GNOMON__BY_HOST,
    .is_of_runs = true,
    .limit = 10, /* steps that are listed */
    .sort = -1,
    .more_size = sizeof(gnomon__slow_steps),
    .read = steps_read,
    .text = steps_text,
    .free_more = steps_free,
};

GNOMON__REPORT_PROFILER(
    steps, slowest_steps, GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
    "median and p99 of steps, and why the slowest were slow",
    GNOMON__TEXT_OPTIONS("10", "how many of the slowest steps",
                         "the slowest of each rank or host"));

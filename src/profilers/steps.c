/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * steps: how long steps took, and of the slowest what took longer in them than it
 * does in the median step. As the other tables where columns, groups, an order or a
 * format are asked for. A pure function from a profile.
 *
 * First comes what the thread did that makes the steps. A scope is not named where one
 * inside it has most of its excess: that one is why; but where both only ran more often,
 * as in a validation, or only the outer one is new in the step, the outer one is.
 *
 * O(nodes + times) memory, and for each step that is asked about a walk over the times of
 * its stage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "print/letters.h"
#include "print/order.h"
#include "print/rows.h"
#include "print/step_events.h"

#define STEP_REASONS 3 /* that are named of a step */
#define STEP_PARTS 5   /* that are named of all steps */

typedef struct slow_step {
    gnomon_step_info step;
    size_t number; /* in the profile */
    uint64_t ns;
} slow_step;

/* A region that took longer. */
typedef struct step_reason {
    uint32_t region;
    uint8_t is_beside; /* on other threads than the one that makes the steps */
    uint8_t ran_more; /* no longer than usual, but more often, or there alone */
    uint64_t ns, usual_ns, excess_ns;
    uint64_t calls; /* 0: not known */
} step_reason;

/* By the names of regions alone, whatever stage or thread it was on. */
typedef struct slow_steps_path {
    uint32_t parent, region;
    int is_below; /* the region that was asked for last */
} slow_steps_path;

/* Region 0 is the steps themselves. */
typedef struct slow_steps_region {
    const gnomon_stats *all; /* its time in all steps */
    uint64_t all_own_ns, all_calls;
    uint64_t ns, own_ns, calls; /* in the step at hand */
} slow_steps_region;

typedef struct slow_steps {
    const gnomon_profile *profile;
    size_t paths, regions, steps;
    slow_steps_path *path; /* from 1; parents have lower numbers */
    slow_steps_region *region;
    gnomon__keyed_list times; /* numbers, by stage */
    step_reason *excess;      /* of the step at hand, as they are named */
    size_t excess_count;
    /* The stage and view that were read last: */
    gnomon_stage_info stage;
    uint32_t stage_number, view;
    const gnomon_stats *all; /* NULL: no step ended */
    slow_step *slow;         /* the slowest first */
    size_t slow_count;
    const gnomon_writer *out; /* of the text, ... */
    size_t limit;             /* ... which lists so many of them */
} slow_steps;

/* ---- Reading --------------------------------------------------------------------- */

/* The median over `steps` steps, in some of which it took no time. */
static uint64_t slow_steps_median(const gnomon_stats *time, uint64_t steps)
{
    uint64_t count = time ? time->count : 0;
    double below = (double)steps - (double)count, half = (double)steps / 2;
    if (!count || below >= half)
        return 0;
    return gnomon_quantile_ns(time, (half - below) / (double)count);
}

static void slow_steps_free(void *more)
{
    slow_steps *t = more;
    free(t->path);
    free(t->times.at);
    free(t->region);
    free(t->excess);
    free(t->slow);
}

#define SLOW_STEPS_KEY_LIST(X) \
    X(SLOW_STEPS_PARENT, "", "", ID, SHOWN, KEY) \
    X(SLOW_STEPS_REGION, "", "", ID, SHOWN, KEY)
GNOMON__COLUMNS(slow_steps_keys, SLOW_STEPS_KEYS, SLOW_STEPS_KEY_LIST);

/* Finds the paths of all nodes. */
static bool slow_steps_read_paths(slow_steps *t)
{
    static const gnomon__report numbers = {.columns = slow_steps_keys,
                                           .column_count = SLOW_STEPS_KEYS};
    const size_t nodes = gnomon_profile_count(t->profile, GNOMON_NODES);
    uint32_t *path_of = calloc(nodes + 1, sizeof *path_of);
    gnomon__report_rows rows;
    gnomon_node_info n;
    bool ok = !gnomon__report_begin(&rows, &numbers, NULL, NULL);
    t->path = calloc(nodes + 1, sizeof *t->path);
    ok = ok && path_of && t->path;
    for (size_t i = 1; ok && i <= nodes; i++) {
        if (gnomon_profile_node(t->profile, i, &n) != GNOMON_OK)
            continue;
        const uint32_t parent = n.parent < i ? path_of[n.parent] : 0;
        gnomon__cell *cells = gnomon__report_row_of(&rows, 0);
        gnomon__cell_count(&cells[SLOW_STEPS_PARENT], parent);
        gnomon__cell_count(&cells[SLOW_STEPS_REGION], n.region);
        path_of[i] = gnomon__report_put(&rows);
        t->path[path_of[i]] = (slow_steps_path){parent, n.region, 0};
        ok = !rows.code;
    }
    t->paths = rows.table.row_count;
    gnomon__report_free(&rows);
    free(path_of);
    return ok;
}

static bool slow_steps_sort_times(slow_steps *t)
{
    gnomon_step_time_info time;
    bool ok = true;
    for (size_t i = 1; ok && !gnomon_profile_step_time(t->profile, i, &time);
         i++)
        ok = gnomon__keyed_add(&t->times, time.stage, i, 0);
    gnomon__keyed_sort(&t->times);
    return ok;
}

static int slow_steps_make(slow_steps *t, const gnomon_profile *p)
{
    memset(t, 0, sizeof *t);
    t->profile = p;
    t->regions = gnomon_profile_count(p, GNOMON_REGIONS);
    t->steps = gnomon_profile_count(p, GNOMON_STEPS);
    t->region = calloc(t->regions + 1, sizeof *t->region);
    t->excess = calloc(t->regions + 1, sizeof *t->excess);
    t->slow = calloc(t->steps + 1, sizeof *t->slow);
    if (!t->region || !t->excess || !t->slow || !slow_steps_read_paths(t) ||
        !slow_steps_sort_times(t))
        return GNOMON_ENOMEM;
    return GNOMON_OK;
}

/* The next time of the stage and view at hand. False: there is none. */
static bool slow_steps_next(const slow_steps *t, size_t *at,
                            gnomon_step_time_info *time)
{
    const gnomon__keyed_list *l = &t->times;
    while (*at < l->count && l->at[*at].key == t->stage_number)
        if (!gnomon_profile_step_time(t->profile, l->at[(*at)++].value, time) &&
            time->view == t->view && time->time && time->region <= t->regions)
            return true;
    return false;
}

GNOMON__ORDER(slow_steps_order, slow_step, DOWN(ns), UP(step.rank),
              UP(step.ordinal), UP(step.begin_ns))

static void slow_steps_add_slow(slow_steps *t, size_t number)
{
    slow_step *slow = &t->slow[t->slow_count];
    if (t->slow_count >= t->steps ||
        gnomon_profile_step(t->profile, number, &slow->step) != GNOMON_OK ||
        slow->step.stage != t->stage_number || !slow->step.end_ns)
        return;
    slow->number = number;
    slow->ns = slow->step.end_ns - slow->step.begin_ns;
    t->slow_count++;
}

/* From now on it is about this stage and this view; 0: the only one. Where no times were
 * recorded, the slowest of the steps that were kept. */
static void slow_steps_read(slow_steps *t, uint32_t stage, uint32_t view)
{
    gnomon_step_time_info time;
    gnomon_profile_stage(t->profile, stage, &t->stage);
    t->stage_number = stage;
    t->view = view;
    t->slow_count = 0;
    memset(t->region, 0, (t->regions + 1) * sizeof *t->region);
    for (size_t i = gnomon__keyed_from(&t->times, stage);
         slow_steps_next(t, &i, &time);) {
        if (!time.step)
            t->region[time.region] = (slow_steps_region){
                .all = time.time,
                .all_own_ns = time.calls ? time.own_ns : time.time->total_ns,
                .all_calls = time.calls};
        else if (!time.region)
            slow_steps_add_slow(t, time.step);
    }
    if (!t->region[0].all && !t->view) {
        t->region[0].all = t->stage.steps;
        for (size_t i = 1; !t->times.count && i <= t->steps; i++)
            slow_steps_add_slow(t, i);
    }
    t->all = t->region[0].all;
    if (t->all && !t->all->count)
        t->all = NULL;
    GNOMON__SORT(t->slow, t->slow_count, slow_steps_order);
}

/* A step of the stage at hand, of this process. */
static bool slow_steps_own(const slow_steps *t, size_t i,
                           gnomon_step_info *step)
{
    return gnomon_profile_step(t->profile, i, step) == GNOMON_OK &&
           step->stage == t->stage_number && step->rank < 0;
}

/* How long the stage was recorded before its first step; 0: not known, or not at all.
 * Where the first step is not in the profile, steps that follow one another tell by the
 * last one and the sum of all; not so where the program begins its steps itself. */
static uint64_t slow_steps_before(const slow_steps *t)
{
    gnomon_step_info step, last = {.end_ns = 0};
    uint64_t from = UINT64_MAX, count = 0;
    bool follow = false;
    if (!t->stage.steps || t->stage.count > 1)
        return 0;
    for (size_t i = 1; i <= t->steps; i++)
        if (slow_steps_own(t, i, &step)) {
            count++;
            from = step.begin_ns < from ? step.begin_ns : from;
            last = step.end_ns > last.end_ns ? step : last;
        }
    for (size_t i = 1; i <= t->steps; i++)
        follow |= slow_steps_own(t, i, &step) && step.end_ns == last.begin_ns;
    if (count < t->stage.steps->count)
        from = follow ? last.end_ns - t->stage.steps->total_ns : 0;
    return from > t->stage.begin_ns && from < last.end_ns
               ? from - t->stage.begin_ns
               : 0;
}

/* ---- Why --------------------------------------------------------------------------- */

GNOMON__ORDER(slow_steps_by_excess, step_reason, UP(is_beside), DOWN(excess_ns),
              UP(region))

static uint64_t slow_steps_scaled(uint64_t ns, uint64_t by, uint64_t of)
{
    if (!of)
        return ns;
    const double scaled = (double)ns * (double)by / (double)of;
    return scaled < 0x1p63 ? (uint64_t)scaled : INT64_MAX;
}

/* By how much it is above what is expected, and by more than a median may be off, which is
 * a cell's middle; else 0. */
static uint64_t slow_steps_excess(uint64_t ns, uint64_t expected)
{
    return ns > expected + expected / 16 ? ns - expected : 0;
}

/* Whether it ran more often than in the other steps, and half of its excess is not that
 * each execution took longer than there. */
static bool slow_steps_ran_more(const slow_steps_region *r, uint64_t steps,
                                uint64_t excess)
{
    if (!r->calls || !r->all || r->all_calls <= r->calls)
        return r->calls && r->all_calls == r->calls;
    uint64_t calls = r->all_calls - r->calls;
    uint64_t ns = r->all->total_ns - r->ns;
    return r->calls > slow_steps_scaled(calls, 17, 16 * (steps - 1)) &&
           r->ns < slow_steps_scaled(ns, r->calls, calls) + excess / 2;
}

/* 0: the region took no longer than usual. What takes longer than the step runs on several
 * threads at once, as loaders, which never rest: the longer a step, the more of it. */
static bool slow_steps_reason(const slow_steps *t, uint32_t region,
                              const slow_step *slow, uint64_t usual_step,
                              step_reason *to)
{
    const slow_steps_region *r = &t->region[region];
    uint64_t usual = r->ns ? slow_steps_median(r->all, t->all->count) : 0;
    uint64_t expected = r->ns > slow->ns
                            ? slow_steps_scaled(usual, slow->ns, usual_step)
                            : usual;
    uint64_t all = r->all ? r->all->total_ns : 0;
    uint64_t own = slow_steps_excess(
        r->own_ns, slow_steps_scaled(usual, r->all_own_ns, all));
    uint64_t excess = slow_steps_excess(r->ns, expected);
    bool is_beside = own < (slow->ns - usual_step) / 10;
    excess = is_beside ? excess : own;
    *to = (step_reason){
        region,  is_beside, slow_steps_ran_more(r, t->all->count, excess),
        r->ns,   usual,     excess,
        r->calls};
    return excess;
}

/* What took longer in the step than it does usually. */
static void slow_steps_compare(slow_steps *t, const slow_step *slow,
                               uint64_t usual_step)
{
    gnomon_step_time_info time;
    for (size_t i = 1; i <= t->regions; i++)
        t->region[i].ns = t->region[i].own_ns = t->region[i].calls = 0;
    for (size_t i = gnomon__keyed_from(&t->times, t->stage_number);
         slow_steps_next(t, &i, &time);) {
        if (time.step != slow->number)
            continue;
        slow_steps_region *r = &t->region[time.region];
        r->ns = time.time->total_ns;
        r->own_ns = time.calls ? time.own_ns : r->ns;
        r->calls = time.calls;
    }
    t->excess_count = 0;
    for (uint32_t i = 1; i <= t->regions; i++)
        t->excess_count += slow_steps_reason(t, i, slow, usual_step,
                                             &t->excess[t->excess_count]);
    GNOMON__SORT(t->excess, t->excess_count, slow_steps_by_excess);
}

/* Whether a path of the one lies below a path of the other; parents have lower
 * numbers. */
static int slow_steps_is_inside(slow_steps *t, uint32_t inner, uint32_t outer)
{
    for (size_t i = 1; i <= t->paths; i++) {
        const slow_steps_path *above = &t->path[t->path[i].parent];
        t->path[i].is_below = above->is_below || above->region == outer;
        if (t->path[i].is_below && t->path[i].region == inner)
            return 1;
    }
    return 0;
}

/* Whether the inner one only ran because the outer one did: a validation, in which the same
 * layers run as in training. */
static int slow_steps_is_calls(const step_reason *outer,
                               const step_reason *inner)
{
    return (outer->ran_more && inner->ran_more) ||
           (!outer->usual_ns && inner->usual_ns);
}

/* Whether one inside it has four fifths of its excess, or one around it is why it ran. Of
 * two that are inside one another the first one is named. */
static int slow_steps_is_explained(slow_steps *t, size_t which)
{
    const step_reason *one = &t->excess[which];
    for (size_t i = 0; i < t->excess_count; i++) {
        const step_reason *other = &t->excess[i];
        if (i == which || other->is_beside != one->is_beside ||
            other->excess_ns < one->excess_ns - one->excess_ns / 5)
            continue;
        int is_outer = slow_steps_is_inside(t, one->region, other->region);
        int is_inner = slow_steps_is_inside(t, other->region, one->region);
        if (is_outer && is_inner ? i < which
            : is_outer           ? slow_steps_is_calls(other, one)
                                 : is_inner && !slow_steps_is_calls(one, other))
            return 1;
    }
    return 0;
}

/* What is named of a step: no more than three, and none that is small beside what
 * the step took too long. */
static int slow_steps_reasons(slow_steps *t, const slow_step *slow,
                              const step_reason *reasons[STEP_REASONS])
{
    uint64_t usual =
        t->all ? slow_steps_median(t->all, t->all->count) : UINT64_MAX;
    uint64_t too_long = slow->ns > usual ? slow->ns - usual : 0;
    int named = 0;
    if (too_long)
        slow_steps_compare(t, slow, usual);
    for (size_t i = 0; too_long && i < t->excess_count && named < STEP_REASONS;
         i++)
        if (t->excess[i].excess_ns >= too_long / 10 &&
            !slow_steps_is_explained(t, i))
            reasons[named++] = &t->excess[i];
    return named;
}

/* ---- Parts ------------------------------------------------------------------------- */

enum { PART_NONE, PART_NAMED, PART_OPENED };

/* What a node of the stage and view at hand took in steps, at most; 0: it is another's, or
 * of other threads than the one that makes the steps. */
static uint64_t slow_steps_part(const slow_steps *t, uint32_t i,
                                gnomon_node_info *n)
{
    if (gnomon_profile_node(t->profile, i, n) != GNOMON_OK ||
        n->stage != t->stage_number || (t->view && n->view != t->view) ||
        !n->host || !t->region[n->region].all_calls ||
        n->flags & (GNOMON_NODE_RANGE | GNOMON_NODE_PART))
        return 0;
    const uint64_t most = t->region[n->region].all_own_ns;
    return n->host->total_ns < most ? n->host->total_ns : most;
}

/* Adds up what is named, by region. Returns the largest region. */
static uint32_t slow_steps_add_parts(const slow_steps *t, uint32_t nodes,
                                     const uint8_t *state)
{
    gnomon_node_info n;
    uint32_t largest = 0;
    memset(t->excess, 0, (t->regions + 1) * sizeof *t->excess);
    for (uint32_t i = 1; i <= nodes; i++) {
        uint64_t ns = state[i] == PART_NAMED ? slow_steps_part(t, i, &n) : 0;
        if (!ns)
            continue;
        step_reason *part = &t->excess[n.region];
        const uint64_t left = t->region[n.region].all_own_ns - part->excess_ns;
        part->region = n.region;
        part->excess_ns += ns < left ? ns : left;
        if (part->excess_ns > t->excess[largest].excess_ns)
            largest = n.region;
    }
    return largest;
}

/* Names what is inside a region in its place. Parents come before their children. */
static bool slow_steps_open(const slow_steps *t, uint32_t nodes, uint8_t *state,
                            uint32_t region)
{
    gnomon_node_info n;
    bool is_any = false;
    for (uint32_t i = 1; i <= nodes; i++) {
        if (!slow_steps_part(t, i, &n))
            continue;
        if (state[i] == PART_NAMED && n.region == region) {
            state[i] = PART_OPENED;
        } else if (!state[i] && state[n.parent] == PART_OPENED) {
            state[i] = PART_NAMED;
            is_any = true;
        }
    }
    return is_any;
}

/* Of what all steps consist: makes `excess` what the thread did outermost that makes
 * them, the largest first, with what is inside of a scope that is nine tenths of them in
 * its place. None where that is not known, as in older files. */
static int slow_steps_parts(slow_steps *t)
{
    gnomon_node_info n;
    uint32_t nodes = (uint32_t)gnomon_profile_count(t->profile, GNOMON_NODES);
    uint64_t most = t->all->total_ns - t->all->total_ns / 10;
    uint8_t *state = calloc(nodes + 1, 1);
    if (!state)
        return GNOMON_ENOMEM;
    for (uint32_t i = 1; i <= nodes; i++)
        state[i] = slow_steps_part(t, i, &n) && !n.parent;
    uint32_t largest;
    do
        largest = slow_steps_add_parts(t, nodes, state);
    while (t->excess[largest].excess_ns > most &&
           slow_steps_open(t, nodes, state, largest));
    free(state);
    qsort(t->excess, t->regions + 1, sizeof *t->excess, slow_steps_by_excess);
    return GNOMON_OK;
}

/* ---- Text ------------------------------------------------------------------------- */

static void steps_print_region(const slow_steps *t, const step_reason *e)
{
    char took[GNOMON__DURATION], usual[GNOMON__DURATION];
    gnomon_region_info region;
    gnomon_profile_region(t->profile, e->region, &region);
    const char *name = gnomon_shown(t->out, region.name);
    t->out->write(t->out, name, strlen(name));
    t->out->print(t->out, " %s", gnomon__short_duration(took, e->ns));
    if (e->ran_more && e->usual_ns && e->calls > 1)
        t->out->print(t->out, " in %" PRIu64 " calls", e->calls);
    t->out->print(t->out, ", usually %s",
                  gnomon__short_duration(usual, e->usual_ns));
}

static void steps_print_why(slow_steps *t, const slow_step *slow)
{
    const step_reason *reasons[STEP_REASONS];
    int named = slow_steps_reasons(t, slow, reasons);
    for (int i = 0; i < named; i++) {
        t->out->write(t->out, i ? "; " : slow->step.rank < 0 ? "  " : ": ", 2);
        steps_print_region(t, reasons[i]);
    }
}

static void steps_label(const slow_steps *t, const slow_step *slow,
                        char text[64])
{
    int n = snprintf(text, 64, "step %" PRIu64, slow->step.number);
    if (t->stage.count > 1 && slow->step.ordinal)
        snprintf(text + n, 64 - (size_t)n, " of stage %" PRIu32,
                 slow->step.ordinal);
}

static void steps_print_slow(slow_steps *t)
{
    size_t count = t->slow_count < t->limit ? t->slow_count : t->limit;
    int width = 0;
    char label[64], took[GNOMON__DURATION];
    for (size_t i = 0; i < count; i++) {
        steps_label(t, &t->slow[i], label);
        width = (int)strlen(label) > width ? (int)strlen(label) : width;
    }
    for (size_t i = 0; i < count; i++) {
        const slow_step *slow = &t->slow[i];
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

static void steps_print_event(const slow_steps *t, const gnomon__cell *cells)
{
    char at[GNOMON__DURATION], took[GNOMON__DURATION], usual[GNOMON__DURATION];
    gnomon_node_info node = {.track = 0};
    gnomon_track_info track = {.name = ""};
    (void)gnomon_profile_node(t->profile, cells[GNOMON__STEP_NODE].count,
                              &node);
    (void)gnomon_profile_track(t->profile, node.track, &track);
    t->out->print(
        t->out, "\n%10s  %10s  %10s  %s%s%s",
        gnomon__short_duration(at, cells[GNOMON__STEP_AT].count),
        gnomon__short_duration(took, cells[GNOMON__STEP_TOOK].count),
        gnomon__short_duration(usual, cells[GNOMON__STEP_USUAL].count),
        gnomon_shown(t->out, cells[GNOMON__STEP_PATH].text),
        *track.name ? " on " : "", gnomon_shown(t->out, track.name));
}

/* For the slow steps whose events are in the profile; else nothing. */
static int steps_print_events(slow_steps *t, uint32_t stage)
{
    gnomon__step_events events;
    int code = gnomon__step_events_make(&events, t->profile, stage);
    for (size_t i = 0;
         !code && events.has_median && i < t->slow_count && i < t->limit; i++) {
        const gnomon_step_info *step = &t->slow[i].step;
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
static int steps_print_parts(slow_steps *t)
{
    int code = slow_steps_parts(t);
    const step_reason *part = t->excess;
    double all = (double)t->all->total_ns / 100;
    const char *head = "of a step: ";
    for (size_t i = 0; !code && i < STEP_PARTS && i <= t->regions &&
                       (double)part[i].excess_ns > all;
         i++, head = ", ") {
        gnomon_region_info region;
        gnomon_profile_region(t->profile, part[i].region, &region);
        t->out->print(t->out, "%s%.0f %% %s", head,
                      (double)part[i].excess_ns / all,
                      gnomon_shown(t->out, region.name));
    }
    if (*head == ',')
        t->out->write(t->out, "\n", 1);
    return code;
}

static void steps_print_all(const slow_steps *t)
{
    static const char *const heads[] = {"Mean", "Median", "p99", "Max"};
    const gnomon_stats *s = t->all;
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
    uint64_t before = slow_steps_before(t);
    if (before && before > t->stage.steps->total_ns / 1000)
        t->out->print(t->out, "before the first step: %s\n",
                      gnomon__short_duration(text, before));
}

/* A stage by one view after the other, where there are several. */
static int steps_print_stage(slow_steps *t, uint32_t stage)
{
    int code = GNOMON_OK;
    bool is_any = false;
    size_t views = gnomon_profile_count(t->profile, GNOMON_VIEWS);
    for (uint32_t view = 0; !code && view <= views; view++) {
        slow_steps_read(t, stage, view);
        if (!view)
            gnomon__print_title(t->out, t->stage.name, "Steps\n");
        is_any |= t->all || t->slow_count;
        if (t->all) {
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

#define STEPS_REASON(X, number, name, title, shown) \
    X(number, name, title, TEXT, shown, MADE) \
    X(number##_TIME, name "_time", title " took", TIME, shown, MADE) \
    X(number##_USUAL, name "_usual", "usually", TIME, shown, MADE)
#define STEPS_COLUMN_LIST(X) \
    X(STEPS_STEP, "step", "Step", ID, SHOWN, MADE) \
    X(STEPS_ORDINAL, "ordinal", "Of stage", ID, EXTRA, MADE) \
    X(STEPS_RANK, "rank", "Rank", ID, SHOWN, MADE) \
    X(STEPS_TIME, "time", "Time", TIME, SHOWN, MADE) \
    X(STEPS_MEDIAN, "median", "Median", TIME, SHOWN, MADE) \
    X(STEPS_P99, "p99", "p99", TIME, SHOWN, MADE) \
    X(STEPS_MAX, "max", "Max", TIME, EXTRA, MADE) \
    X(STEPS_COUNT, "steps", "Steps", COUNT, EXTRA, MADE) \
    STEPS_REASON(X, STEPS_WHY, "why", "Why", SHOWN) \
    STEPS_REASON(X, STEPS_WHY2, "why2", "Second", EXTRA) \
    STEPS_REASON(X, STEPS_WHY3, "why3", "Third", EXTRA)
GNOMON__COLUMNS(steps_columns, STEPS_COLUMNS, STEPS_COLUMN_LIST);

static void steps_add_row(gnomon__report_rows *r, uint32_t group,
                          const slow_step *slow)
{
    slow_steps *of = r->more;
    const step_reason *reasons[STEP_REASONS];
    const int named = slow_steps_reasons(of, slow, reasons);
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

/* All stages and views of the profile; a report has only one of each. */
static void steps_read(gnomon__report_rows *r)
{
    slow_steps *of = r->more;
    const size_t views = gnomon_profile_count(r->profile, GNOMON_VIEWS);
    const size_t stages = gnomon_profile_count(r->profile, GNOMON_STAGES);
    slow_steps_free(of); /* of the profile before */
    r->code = slow_steps_make(of, r->profile);
    for (uint32_t stage = 1; r->choice->is_table && !r->code && stage <= stages;
         stage++)
        for (uint32_t view = 0; view <= views; view++) {
            slow_steps_read(of, stage, view);
            for (size_t i = 0; i < of->slow_count; i++)
                steps_add_row(r,
                              gnomon__group_of_run(&r->groups, of->stage.run),
                              &of->slow[i]);
        }
}

static int steps_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    slow_steps *t = r->more;
    const size_t stages = gnomon_profile_count(r->profile, GNOMON_STAGES);
    int code = GNOMON_OK;
    t->out = out;
    t->limit = r->choice->limit;
    for (uint32_t i = 1; !code && i <= stages; i++)
        code = steps_print_stage(t, i);
    return code;
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
    .more_size = sizeof(slow_steps),
    .read = steps_read,
    .text = steps_text,
    .free_more = slow_steps_free,
};

GNOMON__REPORT_PROFILER(
    steps, slowest_steps, GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
    "median and p99 of steps, and why the slowest were slow",
    GNOMON__TEXT_OPTIONS("10", "how many of the slowest steps",
                         "the slowest of each rank or host"));

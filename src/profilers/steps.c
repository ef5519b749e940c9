/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * steps: how long steps took, and of the slowest what took longer in them than it
 * does in the median step.
 *
 * A pure function from a profile to text, with public headers and print/ only. A scope
 * is not named where one inside it has most of its excess: that one is why.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/short_time.h"

#define STEPS_NAMED 3    /* regions of a step */
#define STEPS_PRESET 10u /* steps that are listed */

typedef struct steps_slow {
    gnomon_step_info step;
    size_t number; /* in the profile */
    uint64_t ns;
} steps_slow;

typedef struct steps_excess {
    uint32_t region;
    uint64_t ns, usual_ns, excess_ns;
} steps_excess;

typedef struct steps_node {
    uint32_t parent, region;
    int is_below; /* the region that was asked for last */
} steps_node;

typedef struct steps_region {
    const gnomon_stats *all; /* its time in all steps */
    uint64_t ns;             /* in the step at hand */
} steps_region;

typedef struct steps_table {
    const gnomon_profile *profile;
    const gnomon_writer *out;
    size_t limit;
    size_t nodes, regions, times, steps;
    steps_node *node;
    steps_region *region; /* 0: the steps themselves */
    steps_excess *excess; /* of the step at hand, the largest first */
    size_t excess_count;
    steps_slow *slow; /* the slowest first */
    size_t slow_count;
    gnomon_stage_info stage;
    uint32_t stage_number, view;
} steps_table;

/* ---- Reading --------------------------------------------------------------------- */

/* The median over `steps` steps, in some of which it took no time. */
static uint64_t steps_median(const gnomon_stats *time, uint64_t steps)
{
    uint64_t count = time ? time->count : 0;
    double below = (double)steps - (double)count, half = (double)steps / 2;
    if (!count || below >= half)
        return 0;
    return gnomon_quantile_ns(time, (half - below) / (double)count);
}

static void steps_free(steps_table *t)
{
    free(t->node);
    free(t->region);
    free(t->excess);
    free(t->slow);
}

static int steps_make(steps_table *t)
{
    const gnomon_profile *p = t->profile;
    gnomon_node_info n;
    t->nodes = gnomon_profile_count(p, GNOMON_NODES);
    t->regions = gnomon_profile_count(p, GNOMON_REGIONS);
    t->times = gnomon_profile_count(p, GNOMON_STEP_TIMES);
    t->steps = gnomon_profile_count(p, GNOMON_STEPS);
    t->node = calloc(t->nodes + 1, sizeof *t->node);
    t->region = calloc(t->regions + 1, sizeof *t->region);
    t->excess = calloc(t->regions + 1, sizeof *t->excess);
    t->slow = calloc(t->steps + 1, sizeof *t->slow);
    if (!t->node || !t->region || !t->excess || !t->slow)
        return 0;
    for (size_t i = 1; i <= t->nodes; i++) {
        gnomon_profile_node(p, i, &n);
        t->node[i].parent = n.parent;
        t->node[i].region = n.region;
    }
    return 1;
}

/* A time of the stage and view at hand. */
static int steps_get(const steps_table *t, size_t i,
                     gnomon_step_time_info *time)
{
    return gnomon_profile_step_time(t->profile, i, time) == GNOMON_OK &&
           time->stage == t->stage_number && time->view == t->view &&
           time->time && time->region <= t->regions;
}

static int steps_slow_order(const void *left, const void *right)
{
    const steps_slow *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->step.rank != b->step.rank)
        return a->step.rank < b->step.rank ? -1 : 1;
    if (a->step.ordinal != b->step.ordinal)
        return a->step.ordinal < b->step.ordinal ? -1 : 1;
    return a->step.begin_ns < b->step.begin_ns
               ? -1
               : a->step.begin_ns > b->step.begin_ns;
}

static void steps_add_slow(steps_table *t, size_t number)
{
    steps_slow *slow = &t->slow[t->slow_count];
    if (t->slow_count >= t->steps ||
        gnomon_profile_step(t->profile, number, &slow->step) != GNOMON_OK ||
        slow->step.stage != t->stage_number || !slow->step.end_ns)
        return;
    slow->number = number;
    slow->ns = slow->step.end_ns - slow->step.begin_ns;
    t->slow_count++;
}

/* Where no times were recorded, the slowest of the steps that were kept. */
static void steps_read(steps_table *t)
{
    gnomon_step_time_info time;
    t->slow_count = 0;
    memset(t->region, 0, (t->regions + 1) * sizeof *t->region);
    for (size_t i = 1; i <= t->times; i++) {
        if (!steps_get(t, i, &time))
            continue;
        if (!time.step)
            t->region[time.region].all = time.time;
        else if (!time.region)
            steps_add_slow(t, time.step);
    }
    if (!t->region[0].all && !t->view) {
        t->region[0].all = t->stage.steps;
        for (size_t i = 1; !t->times && i <= t->steps; i++)
            steps_add_slow(t, i);
    }
    if (t->region[0].all && !t->region[0].all->count)
        t->region[0].all = NULL;
    if (t->slow_count > 1)
        qsort(t->slow, t->slow_count, sizeof *t->slow, steps_slow_order);
}

/* ---- Why --------------------------------------------------------------------------- */

static int steps_excess_order(const void *left, const void *right)
{
    const steps_excess *a = left, *b = right;
    if (a->excess_ns != b->excess_ns)
        return a->excess_ns > b->excess_ns ? -1 : 1;
    return a->region < b->region ? -1 : a->region > b->region;
}

/* What took longer in the step than it does usually: by more than a median may be
 * off, which is a cell's middle. */
static void steps_compare(steps_table *t, const steps_slow *slow)
{
    gnomon_step_time_info time;
    for (size_t i = 1; i <= t->regions; i++)
        t->region[i].ns = 0;
    for (size_t i = 1; i <= t->times; i++)
        if (steps_get(t, i, &time) && time.step == slow->number)
            t->region[time.region].ns = time.time->total_ns;
    t->excess_count = 0;
    for (uint32_t i = 1; i <= t->regions; i++) {
        uint64_t usual = t->region[i].ns ? steps_median(t->region[i].all,
                                                        t->region[0].all->count)
                                         : 0;
        if (t->region[i].ns > usual + usual / 16)
            t->excess[t->excess_count++] = (steps_excess){
                i, t->region[i].ns, usual, t->region[i].ns - usual};
    }
    if (t->excess_count > 1)
        qsort(t->excess, t->excess_count, sizeof *t->excess,
              steps_excess_order);
}

/* Whether a path of the one lies below a path of the other; parents have lower
 * numbers. */
static int steps_is_inside(steps_table *t, uint32_t inner, uint32_t outer)
{
    for (size_t i = 1; i <= t->nodes; i++) {
        const steps_node *above = &t->node[t->node[i].parent];
        t->node[i].is_below = above->is_below || above->region == outer;
        if (t->node[i].is_below && t->node[i].region == inner)
            return 1;
    }
    return 0;
}

/* Whether one inside it has four fifths of its excess. Of two that are inside one
 * another the first one is named. */
static int steps_is_explained(steps_table *t, size_t which)
{
    const steps_excess *outer = &t->excess[which];
    for (size_t i = 0; i < t->excess_count; i++) {
        const steps_excess *inner = &t->excess[i];
        if (inner->excess_ns < outer->excess_ns - outer->excess_ns / 5)
            return 0;
        if (i != which && steps_is_inside(t, inner->region, outer->region) &&
            (i < which || !steps_is_inside(t, outer->region, inner->region)))
            return 1;
    }
    return 0;
}

/* ---- Text ------------------------------------------------------------------------- */

static void steps_print_region(const steps_table *t, const steps_excess *e)
{
    char took[GNOMON__SHORT_TIME], usual[GNOMON__SHORT_TIME];
    gnomon_region_info region;
    gnomon_profile_region(t->profile, e->region, &region);
    const char *name = gnomon_shown(t->out, region.name);
    t->out->write(t->out, name, strlen(name));
    t->out->print(t->out, " %s, usually %s", gnomon__short_time(took, e->ns),
                  gnomon__short_time(usual, e->usual_ns));
}

/* No more than three, and none that is small beside what the step took too long. */
static void steps_print_why(steps_table *t, const steps_slow *slow)
{
    uint64_t usual = t->region[0].all ? steps_median(t->region[0].all,
                                                     t->region[0].all->count)
                                      : UINT64_MAX;
    uint64_t too_long = slow->ns > usual ? slow->ns - usual : 0;
    const char *before = slow->step.rank < 0 ? "  " : ": ";
    int named = 0;
    if (too_long)
        steps_compare(t, slow);
    for (size_t i = 0; too_long && i < t->excess_count && named < STEPS_NAMED;
         i++) {
        if (t->excess[i].excess_ns < too_long / 10)
            break;
        if (steps_is_explained(t, i))
            continue;
        t->out->write(t->out, named++ ? "; " : before, 2);
        steps_print_region(t, &t->excess[i]);
    }
}

static void steps_label(const steps_table *t, const steps_slow *slow,
                        char text[64])
{
    int n = snprintf(text, 64, "step %" PRIu64, slow->step.number);
    if (t->stage.count > 1 && slow->step.ordinal)
        snprintf(text + n, 64 - (size_t)n, " of stage %" PRIu32,
                 slow->step.ordinal);
}

static void steps_print_slow(steps_table *t)
{
    size_t count = t->slow_count < t->limit ? t->slow_count : t->limit;
    int width = 0;
    char label[64], took[GNOMON__SHORT_TIME];
    for (size_t i = 0; i < count; i++) {
        steps_label(t, &t->slow[i], label);
        width = (int)strlen(label) > width ? (int)strlen(label) : width;
    }
    for (size_t i = 0; i < count; i++) {
        const steps_slow *slow = &t->slow[i];
        steps_label(t, slow, label);
        t->out->print(t->out, "%s%-*s  %7s", i ? "" : "\n", width, label,
                      gnomon__short_time(took, slow->ns));
        if (slow->step.rank >= 0)
            t->out->print(t->out, "  rank %" PRId32, slow->step.rank);
        steps_print_why(t, slow);
        t->out->write(t->out, "\n", 1);
    }
}

static void steps_print_all(const steps_table *t)
{
    static const char *const heads[] = {"Mean", "Median", "p99", "Max"};
    const gnomon_stats *s = t->region[0].all;
    const uint64_t ns[] = {s->total_ns / s->count, gnomon_quantile_ns(s, 0.5),
                           gnomon_quantile_ns(s, 0.99), s->max_ns};
    char text[GNOMON__SHORT_TIME];
    t->out->print(t->out, "\n%10s", "Steps");
    for (int i = 0; i < 4; i++)
        t->out->print(t->out, "  %9s", heads[i]);
    t->out->print(t->out, "\n%10" PRIu64, s->count);
    for (int i = 0; i < 4; i++)
        t->out->print(t->out, "  %9s", gnomon__short_time(text, ns[i]));
    t->out->write(t->out, "\n", 1);
}

/* "FIT Steps", as the titles of other reports. */
static void steps_title(const steps_table *t, const char *stage)
{
    for (const char *c = gnomon_shown(t->out, stage); *c; c++) {
        char capital = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        t->out->write(t->out, &capital, 1);
    }
    t->out->print(t->out, "%sSteps\n", *stage ? " " : "");
}

/* A stage by one view after the other, where there are several. */
static void steps_print_stage(steps_table *t)
{
    size_t views = gnomon_profile_count(t->profile, GNOMON_VIEWS);
    steps_title(t, t->stage.name);
    for (t->view = 0; t->view <= views; t->view++) {
        steps_read(t);
        if (t->region[0].all)
            steps_print_all(t);
        steps_print_slow(t);
    }
}

/* ---- The profiler ------------------------------------------------------------------- */

static int steps_create(const gnomon_options *options, void **self)
{
    size_t *limit = calloc(1, sizeof *limit);
    if (!limit)
        return GNOMON_ENOMEM;
    *limit = STEPS_PRESET;
    if (options->number(options, "limit") > 0)
        *limit = (size_t)options->number(options, "limit");
    else
        options->log("steps: limit: say how many slow steps, from 1");
    *self = limit;
    return GNOMON_OK;
}

static int steps_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    if (!profile)
        return GNOMON_EINVAL;
    steps_table t = {.profile = profile,
                     .out = out,
                     .limit = self ? *(const size_t *)self : STEPS_PRESET};
    int code = steps_make(&t) ? GNOMON_OK : GNOMON_ENOMEM;
    size_t stages = gnomon_profile_count(profile, GNOMON_STAGES);
    for (size_t i = 1; !code && i <= stages; i++) {
        gnomon_profile_stage(profile, i, &t.stage);
        t.stage_number = (uint32_t)i;
        steps_print_stage(&t);
    }
    steps_free(&t);
    return code ? code : out->write(out, "", 0);
}

static const gnomon_option_info steps_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "10",
     .help = "how many of the slowest steps"},
    {.key = NULL}};

static const gnomon_profiler step_reporter = {
    .struct_size = sizeof step_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
    .name = "steps",
    .help = "median and p99 of steps, and why the slowest were slow",
    .options = steps_options,
    .create = steps_create,
    .summary = steps_summary,
    .destroy = free,
};

GNOMON_PLUGIN(step_reporter);

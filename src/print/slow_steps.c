/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* O(nodes + times) memory, and for each step that is asked about a walk over the times
 * of its stage. */
#include "print/slow_steps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "print/rows.h"

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

void gnomon__slow_steps_free(gnomon__slow_steps *t)
{
    free(t->path);
    free(t->time);
    free(t->first);
    free(t->region);
    free(t->excess);
    free(t->slow);
}

/* Finds the paths of all nodes. */
static bool slow_steps_read_paths(gnomon__slow_steps *t)
{
    static const gnomon__column keys[] = {
        GNOMON__COLUMN("", "", ID, SHOWN, KEY),
        GNOMON__COLUMN("", "", ID, SHOWN, KEY)};
    static const gnomon__report numbers = {.columns = keys, .column_count = 2};
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
        gnomon__cell_count(&cells[0], parent);
        gnomon__cell_count(&cells[1], n.region);
        path_of[i] = gnomon__report_put(&rows);
        t->path[path_of[i]] = (slow_steps_path){parent, n.region, 0};
        ok = !rows.code;
    }
    t->paths = rows.table.row_count;
    gnomon__report_free(&rows);
    free(path_of);
    return ok;
}

/* Sorts the times by stage, in their order. */
static bool slow_steps_sort_times(gnomon__slow_steps *t)
{
    gnomon_step_time_info time;
    t->first = calloc(t->stages + 3, sizeof *t->first);
    t->time = calloc(t->times + 1, sizeof *t->time);
    if (!t->first || !t->time)
        return false;
    size_t *next =
        t->first + 1; /* once all are placed, what follows is first */
    for (size_t i = 1; i <= t->times; i++)
        if (gnomon_profile_step_time(t->profile, i, &time) == GNOMON_OK &&
            time.stage <= t->stages)
            next[time.stage + 1]++;
    for (size_t i = 1; i <= t->stages + 1; i++)
        next[i] += next[i - 1];
    for (size_t i = 1; i <= t->times; i++)
        if (gnomon_profile_step_time(t->profile, i, &time) == GNOMON_OK &&
            time.stage <= t->stages)
            t->time[next[time.stage]++] = (uint32_t)i;
    return true;
}

int gnomon__slow_steps_make(gnomon__slow_steps *t, const gnomon_profile *p)
{
    memset(t, 0, sizeof *t);
    t->profile = p;
    t->stages = gnomon_profile_count(p, GNOMON_STAGES);
    t->regions = gnomon_profile_count(p, GNOMON_REGIONS);
    t->times = gnomon_profile_count(p, GNOMON_STEP_TIMES);
    t->steps = gnomon_profile_count(p, GNOMON_STEPS);
    t->region = calloc(t->regions + 1, sizeof *t->region);
    t->excess = calloc(t->regions + 1, sizeof *t->excess);
    t->slow = calloc(t->steps + 1, sizeof *t->slow);
    if (!t->region || !t->excess || !t->slow || !slow_steps_read_paths(t) ||
        !slow_steps_sort_times(t))
        return GNOMON_ENOMEM;
    return GNOMON_OK;
}

/* A time of the stage and view at hand. */
static int slow_steps_get(const gnomon__slow_steps *t, size_t i,
                          gnomon_step_time_info *time)
{
    return gnomon_profile_step_time(t->profile, t->time[i], time) ==
               GNOMON_OK &&
           time->stage == t->stage_number && time->view == t->view &&
           time->time && time->region <= t->regions;
}

static int slow_steps_order(const void *left, const void *right)
{
    const gnomon__listed_step *a = left, *b = right;
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

static void slow_steps_add_slow(gnomon__slow_steps *t, size_t number)
{
    gnomon__listed_step *slow = &t->slow[t->slow_count];
    if (t->slow_count >= t->steps ||
        gnomon_profile_step(t->profile, number, &slow->step) != GNOMON_OK ||
        slow->step.stage != t->stage_number || !slow->step.end_ns)
        return;
    slow->number = number;
    slow->ns = slow->step.end_ns - slow->step.begin_ns;
    t->slow_count++;
}

/* Where no times were recorded, the slowest of the steps that were kept. */
void gnomon__slow_steps_read(gnomon__slow_steps *t, uint32_t stage,
                             uint32_t view)
{
    gnomon_step_time_info time;
    gnomon_profile_stage(t->profile, stage, &t->stage);
    t->stage_number = stage;
    t->view = view;
    t->slow_count = 0;
    memset(t->region, 0, (t->regions + 1) * sizeof *t->region);
    for (size_t i = t->first[stage]; i < t->first[stage + 1]; i++) {
        if (!slow_steps_get(t, i, &time))
            continue;
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
        for (size_t i = 1; !t->times && i <= t->steps; i++)
            slow_steps_add_slow(t, i);
    }
    t->all = t->region[0].all;
    if (t->all && !t->all->count)
        t->all = NULL;
    if (t->slow_count > 1)
        qsort(t->slow, t->slow_count, sizeof *t->slow, slow_steps_order);
}

/* A step of the stage at hand, of this process. */
static bool slow_steps_own(const gnomon__slow_steps *t, size_t i,
                           gnomon_step_info *step)
{
    return gnomon_profile_step(t->profile, i, step) == GNOMON_OK &&
           step->stage == t->stage_number && step->rank < 0;
}

/* Where the first step is not in the profile, steps that follow one another tell by the
 * last one and the sum of all; not so where the program begins its steps itself. */
uint64_t gnomon__slow_steps_before(const gnomon__slow_steps *t)
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

static int slow_steps_by_excess(const void *left, const void *right)
{
    const gnomon__step_reason *a = left, *b = right;
    if (a->is_beside != b->is_beside)
        return a->is_beside - b->is_beside;
    if (a->excess_ns != b->excess_ns)
        return a->excess_ns > b->excess_ns ? -1 : 1;
    return a->region < b->region ? -1 : a->region > b->region;
}

static uint64_t slow_steps_scaled(uint64_t ns, uint64_t by, uint64_t of)
{
    return of ? (uint64_t)((double)ns * (double)by / (double)of) : ns;
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
static bool slow_steps_reason(const gnomon__slow_steps *t, uint32_t region,
                              const gnomon__listed_step *slow,
                              uint64_t usual_step, gnomon__step_reason *to)
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
    *to = (gnomon__step_reason){
        region,  is_beside, slow_steps_ran_more(r, t->all->count, excess),
        r->ns,   usual,     excess,
        r->calls};
    return excess;
}

/* What took longer in the step than it does usually. */
static void slow_steps_compare(gnomon__slow_steps *t,
                               const gnomon__listed_step *slow,
                               uint64_t usual_step)
{
    gnomon_step_time_info time;
    for (size_t i = 1; i <= t->regions; i++)
        t->region[i].ns = t->region[i].own_ns = t->region[i].calls = 0;
    for (size_t i = t->first[t->stage_number];
         i < t->first[t->stage_number + 1]; i++) {
        if (!slow_steps_get(t, i, &time) || time.step != slow->number)
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
    if (t->excess_count > 1)
        qsort(t->excess, t->excess_count, sizeof *t->excess,
              slow_steps_by_excess);
}

/* Whether a path of the one lies below a path of the other; parents have lower
 * numbers. */
static int slow_steps_is_inside(gnomon__slow_steps *t, uint32_t inner,
                                uint32_t outer)
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
static int slow_steps_is_calls(const gnomon__step_reason *outer,
                               const gnomon__step_reason *inner)
{
    return (outer->ran_more && inner->ran_more) ||
           (!outer->usual_ns && inner->usual_ns);
}

/* Whether one inside it has four fifths of its excess, or one around it is why it ran. Of
 * two that are inside one another the first one is named. */
static int slow_steps_is_explained(gnomon__slow_steps *t, size_t which)
{
    const gnomon__step_reason *one = &t->excess[which];
    for (size_t i = 0; i < t->excess_count; i++) {
        const gnomon__step_reason *other = &t->excess[i];
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
int gnomon__slow_steps_reasons(
    gnomon__slow_steps *t, const gnomon__listed_step *slow,
    const gnomon__step_reason *reasons[GNOMON__STEP_REASONS])
{
    uint64_t usual =
        t->all ? slow_steps_median(t->all, t->all->count) : UINT64_MAX;
    uint64_t too_long = slow->ns > usual ? slow->ns - usual : 0;
    int named = 0;
    if (too_long)
        slow_steps_compare(t, slow, usual);
    for (size_t i = 0;
         too_long && i < t->excess_count && named < GNOMON__STEP_REASONS; i++)
        if (t->excess[i].excess_ns >= too_long / 10 &&
            !slow_steps_is_explained(t, i))
            reasons[named++] = &t->excess[i];
    return named;
}

/* ---- Parts ------------------------------------------------------------------------- */

enum { PART_NONE, PART_NAMED, PART_OPENED };

/* What a node of the stage and view at hand took in steps, at most; 0: it is another's, or
 * of other threads than the one that makes the steps. */
static uint64_t slow_steps_part(const gnomon__slow_steps *t, uint32_t i,
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
static uint32_t slow_steps_add_parts(const gnomon__slow_steps *t,
                                     uint32_t nodes, const uint8_t *state)
{
    gnomon_node_info n;
    uint32_t largest = 0;
    memset(t->excess, 0, (t->regions + 1) * sizeof *t->excess);
    for (uint32_t i = 1; i <= nodes; i++) {
        uint64_t ns = state[i] == PART_NAMED ? slow_steps_part(t, i, &n) : 0;
        if (!ns)
            continue;
        gnomon__step_reason *part = &t->excess[n.region];
        const uint64_t left = t->region[n.region].all_own_ns - part->excess_ns;
        part->region = n.region;
        part->excess_ns += ns < left ? ns : left;
        if (part->excess_ns > t->excess[largest].excess_ns)
            largest = n.region;
    }
    return largest;
}

/* Names what is inside a region in its place. Parents come before their children. */
static bool slow_steps_open(const gnomon__slow_steps *t, uint32_t nodes,
                            uint8_t *state, uint32_t region)
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

int gnomon__slow_steps_parts(gnomon__slow_steps *t)
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

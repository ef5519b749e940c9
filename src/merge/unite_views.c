/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long each view recorded the stages. Views with different schedules record one stage
 * for different times, and a stage has room for one. So a merge writes the time of each
 * view by itself, and the report of a view takes its own.
 *
 * Invariant: a run that was recorded in one view gets a time for each of its stages when
 * it is merged first. So the grouping of inputs makes no difference. */
#include "merge/unite_views.h"

#include "platform/memory.h"

/* ---- The times of one view -------------------------------------------------------- */

#define OF_OTHERS UINT32_MAX /* all times of the stage are of other views */

static int is_of_one_view(const gnomon__united_part *part)
{
    return part->only && part->only->view &&
           part->only->view != GNOMON__ALL_VIEWS;
}

int gnomon__unite_views_begin(gnomon__united_part *part)
{
    const uint32_t *views = part->map.of[GNOMON_VIEWS];
    gnomon_view_time_info t;
    gnomon_node_info n;
    if (!is_of_one_view(part) || !part->count[GNOMON_VIEW_TIMES])
        return GNOMON_OK;
    uint32_t *of = gnomon__alloc((part->count[GNOMON_STAGES] + 1) * sizeof *of);
    if (!(part->view_time = of))
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= part->count[GNOMON_VIEW_TIMES]; i++) {
        gnomon_profile_view_time(part->p, i, &t);
        if (views[t.view] == part->only->view)
            of[t.stage] = i;
        else if (!of[t.stage])
            of[t.stage] = OF_OTHERS;
    }
    /* A time may be lost from a damaged file. */
    for (size_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (of[n.stage] == OF_OTHERS && n.view &&
            views[n.view] == part->only->view)
            of[n.stage] = 0;
    }
    return GNOMON_OK;
}

int gnomon__unite_view_stage(const gnomon__united_part *part, size_t number,
                             gnomon_stage_info *s)
{
    gnomon_view_time_info t;
    uint32_t time = part->view_time ? part->view_time[number] : 0;
    if (time && time != OF_OTHERS) {
        gnomon_profile_view_time(part->p, time, &t);
        s->recorded_ns = t.recorded_ns;
    }
    return time != OF_OTHERS;
}

/* ---- The times of all ------------------------------------------------------------- */

static int add_view_time(gnomon__united_part *part,
                         const gnomon_view_time_info *t)
{
    gnomon_view_time_info *to =
        gnomon__model_add(part->u->fold.m, GNOMON_VIEW_TIMES);
    if (!to)
        return gnomon__no_memory_to_merge();
    *to = *t;
    gnomon__renumber(&part->map, GNOMON_VIEW_TIMES, to);
    return GNOMON_OK;
}

/* The run's only view; 0: it has none, or several. */
static uint32_t only_view(const gnomon__united_part *part)
{
    gnomon_node_info n;
    if (part->count[GNOMON_VIEWS] != 1)
        return 0;
    for (size_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (n.view && part->map.of[GNOMON_TRACKS][n.track])
            return n.view;
    }
    return 0;
}

int gnomon__unite_views(gnomon__united_part *part)
{
    const uint32_t *stages = part->map.of[GNOMON_STAGES];
    gnomon_view_time_info t;
    int code = GNOMON_OK, has_times = 0;
    if (part->only) /* the time is in the stage now */
        return GNOMON_OK;
    for (size_t i = 1; !code && i <= part->count[GNOMON_VIEW_TIMES]; i++) {
        gnomon_profile_view_time(part->p, i, &t);
        if (!stages[t.stage])
            continue;
        has_times = 1;
        code = add_view_time(part, &t);
    }
    uint32_t view =
        code || has_times || part->u->fold.rules & GNOMON__UNITE_RANKS
            ? 0
            : only_view(part);
    for (uint32_t i = 1; !code && view && i <= part->count[GNOMON_STAGES];
         i++) {
        gnomon_stage_info s;
        if (!stages[i])
            continue;
        gnomon_profile_stage(part->p, i, &s);
        t = (gnomon_view_time_info){.struct_size = sizeof t,
                                    .stage = i,
                                    .view = view,
                                    .recorded_ns = s.recorded_ns
                                                       ? s.recorded_ns
                                                       : s.end_ns - s.begin_ns};
        code = add_view_time(part, &t);
    }
    return code;
}

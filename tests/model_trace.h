/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares a profile's events with those of the model: each is there once, or is counted
 * as missing on its thread, and no other is there. A part of model_compare.h. */
#ifndef GNOMON_TESTS_MODEL_TRACE_H
#define GNOMON_TESTS_MODEL_TRACE_H

/* What a profile must have or count as missing, and what it may. */
enum model_due { MODEL_NOT_DUE, MODEL_MAY_BE, MODEL_DUE };

/* With keep=2steps: it began before the last two. */
static int model_is_expired(const model_match *x, const model_event *e)
{
    return x->scope == MODEL_FILE ? e->is_dropped
                                  : e->begin < x->of->kept_since;
}

/* Whether the events of stages that are over stay, for a profile of the run. */
static int model_keeps_stages(const model_view *v)
{
    return v->has_ready && !model_is_scheduled(v->schedule);
}

/* Whether a cycle that is over is in no other profile than that for `events`. */
static int model_takes_cycles(const model_view *v)
{
    return model_is_scheduled(v->schedule) && !v->has_report && !v->has_file;
}

static enum model_due model_due_now(const model_match *x, const model_event *e)
{
    int is_open = e->stage == (uint32_t)x->m->stage_count;
    if (x->scope == MODEL_ONE && !is_open)
        return MODEL_NOT_DUE;
    if (model_takes_cycles(x->of) &&
        (e->cycle != x->of->cycle || !x->of->cycle_at))
        return MODEL_MAY_BE;
    return is_open || model_keeps_stages(x->of) ? MODEL_DUE : MODEL_MAY_BE;
}

static enum model_due model_due_in(const model_match *x, const model_event *e)
{
    uint32_t stage = x->stages[1].ordinal;
    if (e->view != x->view || !e->cycle)
        return MODEL_NOT_DUE;
    if (model_is_stream(x->of->keep) && x->time != MODEL_PART)
        return MODEL_MAY_BE; /* it may have been given */
    switch (x->time) {
    case MODEL_NOW:
        return model_due_now(x, e);
    case MODEL_CYCLE:
        return e->cycle == x->cycle ? MODEL_DUE : MODEL_NOT_DUE;
    case MODEL_STAGE:
        if (x->scope == MODEL_FILE)
            return e->ended < (uint32_t)x->m->stage_count || x->m->is_run_over
                       ? MODEL_DUE
                       : MODEL_NOT_DUE;
        if (e->stage != stage || e->ended != stage)
            return MODEL_NOT_DUE;
        return model_takes_cycles(x->of) ? MODEL_MAY_BE : MODEL_DUE;
    default:
        return MODEL_DUE;
    }
}

/* An execution is on its node in the stage in which it began. */
static int model_is_event(const model_match *x, const model_event *e,
                          const gnomon_event_info *is)
{
    gnomon_region_info region = {.name = ""};
    int path = is->node ? x->path[is->node] : NOWHERE;
    if (e->begin != is->begin_ns || e->ns != is->duration_ns ||
        e->kind != (int)is->kind || e->path != path ||
        model_thread_of(x->p, is->track) != e->thread)
        return 0;
    if (is->kind == GNOMON_EVENT_EXECUTION)
        return x->time == MODEL_PART ||
               x->node[is->node].stage == model_stage_number(x, e->stage);
    gnomon_profile_region(x->p, is->region, &region);
    return !strcmp(region.name, model_region_name(e->region)) &&
           (e->value == is->value || (isnan(e->value) && isnan(is->value)));
}

/* Of equal ones that which must be there. */
static int model_find_event(const model_match *x, const gnomon_event_info *is,
                            const char *found)
{
    int found_at = NOWHERE;
    for (int i = 0; i < x->m->event_count; i++) {
        const model_event *e = &x->m->events[i];
        enum model_due due = found[i] || e->is_lost || model_is_expired(x, e)
                                 ? MODEL_NOT_DUE
                                 : model_due_in(x, e);
        if (due == MODEL_NOT_DUE || !model_is_event(x, e, is))
            continue;
        if (due == MODEL_DUE)
            return i;
        found_at = found_at == NOWHERE ? i : found_at;
    }
    return found_at;
}

/* Whether the views have one tape. */
static int model_share(const model_view *a, const model_view *b)
{
    return a->serial && b->serial && a->has_trace && b->has_trace &&
           a->filter == b->filter && a->schedule == b->schedule;
}

/* Whether the tape of a view is for no report or file, of this view or of one that shares
 * it: then what is open is lost to the cycle. */
static int model_loses_opens(const model *m, const model_view *of)
{
    int is_alone = model_takes_cycles(of);
    for (int v = 0; v < MODEL_VIEWS; v++)
        is_alone &=
            !model_share(&m->views[v], of) || model_takes_cycles(&m->views[v]);
    return is_alone;
}

/* Whether the last profiles of the view's tape are made. */
static int model_is_leaving(const model *m, const model_view *of)
{
    int leaves = 1;
    for (int v = 0; v < MODEL_VIEWS; v++)
        leaves &= !model_share(&m->views[v], of) || m->views[v].is_leaving;
    return leaves;
}

/* Ranges that the view saw begin, in this cycle or in any, and are open. */
static uint64_t model_open_ranges(const model *m, const model_view *of,
                                  int thread, int cycle)
{
    uint64_t count = 0;
    int v = (int)(of - m->views);
    for (int i = 0; i < m->exec_count; i++) {
        const model_exec *e = &m->execs[i];
        count += e->kind == MODEL_RANGE && e->is_open && e->thread == thread &&
                 model_saw(m, e, v) && e->cycle[v] &&
                 (!cycle || e->cycle[v] == cycle);
    }
    return count;
}

/* Of these those that the profile counts as lost. */
static void model_lost_ranges(const model_match *x, int thread, uint64_t *least,
                              uint64_t *most)
{
    const int is_cycle = x->time == MODEL_CYCLE,
              is_alone = model_loses_opens(x->m, x->of),
              is_last = !is_alone && model_is_leaving(x->m, x->of);
    *most = is_cycle || is_last
                ? model_open_ranges(x->m, x->of, thread, is_last ? 0 : x->cycle)
                : 0;
    *least =
        (is_cycle && !is_alone) || model_is_stream(x->of->keep) ? 0 : *most;
}

static uint64_t model_missing_on(const model_match *x, int thread)
{
    uint64_t count = 0;
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(x->p, i, &l); i++)
        if (!strncmp(l.kind, "events_", 7) &&
            model_thread_of(x->p, l.track) == thread)
            count += l.count;
    return count;
}

/* What is counted as missing on each thread is what was not found. Only a file and a
 * profile of the run know of no other event that was lost. */
static int model_same_missing(const model_match *x, const char *found)
{
    int ok = 1;
    for (int t = 0; t < MODEL_THREADS; t++) {
        uint64_t is = model_missing_on(x, t), least, most;
        model_lost_ranges(x, t, &least, &most);
        int is_lost = most != 0;
        for (int i = 0; i < x->m->event_count; i++) {
            const model_event *e = &x->m->events[i];
            if (found[i] || e->thread != t || e->view != x->view || !e->cycle)
                continue;
            enum model_due due = model_due_in(x, e);
            is_lost |= e->is_lost ||
                       (x->time == MODEL_CYCLE && due != MODEL_DUE &&
                        e->path != NOWHERE && x->m->paths[e->path].is_range);
            least +=
                due == MODEL_DUE && !e->is_lost; /* it may not have ended */
            most += due || (x->time != MODEL_RUN && x->scope != MODEL_FILE);
        }
        int may_miss =
            x->m->is_tight || is_lost || model_kept_steps(x->of->keep);
        if (!CHECK(is >= least && is <= most && (!is || may_miss)))
            ok = !fprintf(stderr, "    w%d: %d events missing, not %d to %d\n",
                          t, (int)is, (int)least, (int)most);
    }
    return ok;
}

/* Sets `found` of the profile's events. */
static int model_find_events(const model_match *x, char *found)
{
    int ok = 1;
    size_t count = gnomon_profile_count(x->p, GNOMON_EVENTS);
    for (size_t i = 1; i <= count; i++) {
        gnomon_event_info e;
        gnomon_profile_event(x->p, i, &e);
        int is = model_find_event(x, &e, found);
        if (CHECK(is != NOWHERE))
            found[is] = 1;
        else
            ok = !fprintf(stderr, "    event %zu: %s, %llu ns at %llu\n", i,
                          node_name(x->p, &x->node[e.node]),
                          (unsigned long long)e.duration_ns,
                          (unsigned long long)e.begin_ns);
    }
    return ok;
}

static int model_same_trace(const model_match *x)
{
    static char found[MODEL_EVENTS];
    if (!x->of->has_trace)
        return CHECK_EQ(gnomon_profile_count(x->p, GNOMON_EVENTS), 0);
    memset(found, 0, (size_t)x->m->event_count);
    return model_find_events(x, found) & model_same_missing(x, found);
}

/* ---- Streams --------------------------------------------------------------------- */

/* The parts together have each event once, or count it as missing. A part was made while
 * the program went on, so of its tree the paths are compared, and not the stages. */
static void model_take_part(model *m, int v, const gnomon_profile *p)
{
    static char found[MODEL_EVENTS];
    const model_match *x = model_match_of(m, v, p, MODEL_NAMES, MODEL_PART);
    if (!x)
        return;
    for (int i = 0; i < m->event_count; i++)
        found[i] = (char)m->events[i].is_given;
    model_find_events(x, found);
    for (int i = 0; i < m->event_count; i++)
        m->events[i].is_given = found[i];
    for (int t = 0; t < MODEL_THREADS; t++)
        m->views[v].lost[t] += model_missing_on(x, t);
}

/* After the last part, or where a profiler goes without it. */
static void model_check_parts(const model *m, int v, int is_last)
{
    for (int t = 0; t < MODEL_THREADS; t++) {
        uint64_t most = model_is_leaving(m, &m->views[v])
                            ? model_open_ranges(m, &m->views[v], t, 0)
                            : 0,
                 least = is_last ? most : 0, lost = m->views[v].lost[t];
        for (int i = 0; i < m->event_count; i++) {
            const model_event *e = &m->events[i];
            if (e->view != m->views[v].serial || e->thread != t || !e->cycle ||
                e->is_given)
                continue;
            least += is_last && !e->is_lost;
            most++;
        }
        if (!CHECK(lost >= least && lost <= most))
            fprintf(stderr,
                    "    w%d: %d events missing in parts, not %d to %d\n", t,
                    (int)lost, (int)least, (int)most);
    }
}

#endif

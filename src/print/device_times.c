/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts begins and ends of all work by device and time. Between two of them what is
 * done does not change, so times in which work overlaps count once. */
#include "print/device_times.h"

#include <stdlib.h>

#include "gnomon/link.h"
#include "print/event_walk.h"
#include "print/keyed.h"

/* ---- Calls ------------------------------------------------------------------------ */

typedef struct times_reader {
    gnomon__device_times *t;
    gnomon__keyed *calls; /* begin and track, by instance */
    size_t call_count;
    gnomon__keyed *launches; /* calls, by work */
    size_t launch_count;
} times_reader;

static bool times_read_launches(times_reader *r)
{
    const gnomon_profile *p = r->t->work->profile;
    const size_t count = gnomon_profile_count(p, GNOMON_LINKS);
    gnomon_link_info l;
    r->launches = calloc(count + 1, sizeof *r->launches);
    for (size_t i = 1; r->launches && i <= count; i++)
        if (gnomon_profile_link(p, i, &l) == GNOMON_OK &&
            l.kind == GNOMON_LINK_LAUNCH && l.from_instance && l.to_instance)
            r->launches[r->launch_count++] =
                (gnomon__keyed){l.to_instance, l.from_instance, 0};
    gnomon__keyed_sort(r->launches, r->launch_count);
    return r->launches != NULL;
}

static void times_find_call(const times_reader *r, gnomon__work_item *item)
{
    const gnomon__keyed *l =
        gnomon__keyed_find(r->launches, r->launch_count, item->instance);
    const gnomon__keyed *c =
        l ? gnomon__keyed_find(r->calls, r->call_count, l->value) : NULL;
    item->call_track = c ? c->more : 0;
    item->launched_ns = c ? c->value : 0;
}

/* ---- Events ----------------------------------------------------------------------- */

static void times_count(times_reader *r, size_t *items, size_t *calls)
{
    const gnomon__device_work *w = r->t->work;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, w->profile);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->node > w->nodes)
            continue;
        *items += gnomon__work_is_busy(w->work[e->node]);
        *calls += w->work[e->node] == GNOMON__WORK_CALL && e->instance;
    }
}

static void times_take(times_reader *r, const gnomon_event_info *e,
                       size_t most_items, size_t most_calls)
{
    const gnomon__device_work *w = r->t->work;
    gnomon_node_info n;
    if (w->work[e->node] == GNOMON__WORK_CALL && e->instance &&
        r->call_count < most_calls)
        r->calls[r->call_count++] =
            (gnomon__keyed){e->instance, e->begin_ns, e->track};
    if (!gnomon__work_is_busy(w->work[e->node]) || !w->on[e->track] ||
        r->t->count == most_items)
        return;
    (void)gnomon_profile_node(w->profile, e->node, &n);
    const uint64_t end = e->begin_ns + e->duration_ns;
    r->t->items[r->t->count++] =
        (gnomon__work_item){.begin_ns = e->begin_ns,
                            .end_ns = end < e->begin_ns ? UINT64_MAX : end,
                            .instance = e->instance,
                            .node = e->node,
                            .stage = n.stage,
                            .device = w->on[e->track] - 1};
}

static int times_by_begin(const void *left, const void *right)
{
    const gnomon__work_item *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static bool times_read(times_reader *r)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    size_t items = 0, calls = 0;
    times_count(r, &items, &calls);
    r->t->items = calloc(items + 1, sizeof *r->t->items);
    r->calls = calloc(calls + 1, sizeof *r->calls);
    if (!r->t->items || !r->calls || !times_read_launches(r))
        return false;
    gnomon__walk_all(&walk, r->t->work->profile);
    while ((e = gnomon__walk_next(&walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION && e->node <= r->t->work->nodes)
            times_take(r, e, items, calls);
    gnomon__keyed_sort(r->calls, r->call_count);
    for (size_t i = 0; i < r->t->count; i++)
        times_find_call(r, &r->t->items[i]);
    if (r->t->count)
        qsort(r->t->items, r->t->count, sizeof *r->t->items, times_by_begin);
    return true;
}

/* ---- What overlaps ------------------------------------------------------------------ */

enum { TIMES_COMPUTE, TIMES_COPY, TIMES_COMMUNICATION, TIMES_CLASSES };

/* A begin or an end. */
typedef struct times_edge {
    uint64_t ns;
    uint32_t device;
    int16_t what; /* a class */
    int16_t more; /* 1 or -1 */
} times_edge;

static int times_by_moment(const void *left, const void *right)
{
    const times_edge *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

static void times_add(gnomon__device_parts *to, uint64_t ns,
                      const int64_t active[TIMES_CLASSES])
{
    const bool computes = active[TIMES_COMPUTE] != 0;
    const bool copies = active[TIMES_COPY] != 0;
    const bool communicates = active[TIMES_COMMUNICATION] != 0;
    to->busy_ns += ns;
    to->compute_ns += computes ? ns : 0;
    to->copy_ns += copies ? ns : 0;
    to->communication_ns += communicates ? ns : 0;
    to->hidden_copy_ns += copies && computes ? ns : 0;
    to->hidden_communication_ns += communicates && computes ? ns : 0;
}

/* The parts of a time that are in steps. *first: the first step that may reach into
 * it, as times come in their order. */
static void times_add_to_steps(gnomon__device_times *t, size_t *first,
                               uint64_t begin, uint64_t end,
                               const int64_t active[TIMES_CLASSES])
{
    while (*first < t->steps.count && t->steps.at[*first].end_ns <= begin)
        ++*first;
    for (size_t i = *first; i < t->steps.count && t->steps.at[i].begin_ns < end;
         i++) {
        const gnomon_step_info *s = &t->steps.at[i];
        const uint64_t from = s->begin_ns > begin ? s->begin_ns : begin;
        const uint64_t until = s->end_ns < end ? s->end_ns : end;
        if (until > from)
            times_add(&t->of_step[i], until - from, active);
    }
}

static void times_sweep(gnomon__device_times *t, const times_edge *edges,
                        size_t count)
{
    int64_t active[TIMES_CLASSES] = {0};
    size_t first = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const times_edge *e = &edges[i], *next = e + 1;
        active[e->what] += e->more; /* of equal moments an end may come first */
        if (next->device != e->device) { /* nothing is active */
            first = 0;
            continue;
        }
        if (next->ns == e->ns ||
            !(active[0] || active[1] || active[TIMES_COMMUNICATION]))
            continue;
        times_add(&t->of_device[e->device], next->ns - e->ns, active);
        times_add_to_steps(t, &first, e->ns, next->ns, active);
    }
}

static bool times_find_parts(gnomon__device_times *t)
{
    times_edge *edges = calloc(2 * t->count + 1, sizeof *edges);
    t->of_device = calloc(t->work->device_count + 1, sizeof *t->of_device);
    t->of_step = calloc(t->steps.count + 1, sizeof *t->of_step);
    const bool ok = edges && t->of_device && t->of_step;
    for (size_t i = 0; ok && i < t->count; i++) {
        const gnomon__work_item *w = &t->items[i];
        const int work = t->work->work[w->node];
        times_edge *e = &edges[2 * i];
        e[0] = e[1] = (times_edge){
            .ns = w->begin_ns,
            .device = w->device,
            .what = work == GNOMON__WORK_KERNEL          ? TIMES_COMPUTE
                    : work == GNOMON__WORK_COMMUNICATION ? TIMES_COMMUNICATION
                                                         : TIMES_COPY,
            .more = 1};
        e[1].ns = w->end_ns;
        e[1].more = -1;
    }
    if (ok && t->count) {
        qsort(edges, 2 * t->count, sizeof *edges, times_by_moment);
        times_sweep(t, edges, 2 * t->count);
    }
    free(edges);
    return ok;
}

int gnomon__device_times_make(gnomon__device_times *t,
                              const gnomon__device_work *work)
{
    *t = (gnomon__device_times){.work = work};
    times_reader r = {.t = t};
    int code = gnomon__event_steps_make(&t->steps, work->profile, 0);
    if (!code && (!times_read(&r) || !times_find_parts(t)))
        code = GNOMON_ENOMEM;
    t->missing = work->busy_work > t->count ? work->busy_work - t->count : 0;
    free(r.calls);
    free(r.launches);
    return code;
}

void gnomon__device_times_free(gnomon__device_times *t)
{
    free(t->items);
    free(t->of_device);
    free(t->of_step);
    gnomon__event_steps_free(&t->steps);
    *t = (gnomon__device_times){0};
}

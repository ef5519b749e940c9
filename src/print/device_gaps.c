/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Goes through the work of each device in its order. What the host did meanwhile is
 * asked for the longest gaps alone: a table of gaps and nodes has the times in which
 * they overlap. */
#include "print/device_gaps.h"

#include <stdlib.h>
#include <string.h>

#include "print/event_walk.h"

/* How many cells that table may have. */
#define GAP_CELLS ((size_t)1 << 22)

/* ---- Gaps -------------------------------------------------------------------------- */

static int idle_by_length(const void *left, const void *right)
{
    const gnomon__device_gap *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

/* Before this moment events are missing. */
static uint64_t idle_known_from(const gnomon_profile *p)
{
    uint64_t from = 0;
    gnomon_loss_info l;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++) {
        gnomon_track_info t = {.device = -1};
        if (strncmp(l.kind, "events_", 7) != 0)
            continue;
        if (l.track)
            (void)gnomon_profile_track(p, l.track, &t);
        if ((!l.track || t.device >= 0) && l.end_ns > from)
            from = l.end_ns;
    }
    return from;
}

static int idle_bound(const gnomon__work_item *item, uint64_t gap_begin)
{
    if (!item->call_track)
        return GNOMON__BOUND_UNKNOWN;
    return item->launched_ns > gap_begin ? GNOMON__BOUND_HOST
                                         : GNOMON__BOUND_DEVICE;
}

static void idle_add(gnomon__device_gaps *g, const gnomon__device_gap *gap)
{
    gnomon__device_idle *d = &g->of_device[gap->device];
    d->gaps++;
    d->ns[gap->bound] += gap->ns;
    d->longest_ns = gap->ns > d->longest_ns ? gap->ns : d->longest_ns;
    g->at[g->count++] = *gap;
}

static void idle_find(gnomon__device_gaps *g)
{
    const gnomon__device_times *t = g->times;
    const uint64_t known = idle_known_from(t->work->profile);
    const gnomon__work_item *last = NULL; /* what ended last on the device */
    for (size_t i = 0; i < t->count; i++) {
        const gnomon__work_item *item = &t->items[i];
        const bool is_same =
            last && last->device == item->device && last->stage == item->stage;
        if (is_same && item->begin_ns > last->end_ns && last->end_ns >= known &&
            !gnomon__event_steps_miss(&t->steps, last->end_ns, item->begin_ns))
            idle_add(g, &(gnomon__device_gap){
                            .begin_ns = last->end_ns,
                            .ns = item->begin_ns - last->end_ns,
                            .before = i,
                            .after = last->node,
                            .bound = (uint32_t)idle_bound(item, last->end_ns),
                            .device = item->device});
        if (!is_same || item->end_ns >= last->end_ns)
            last = item;
    }
    if (g->count)
        qsort(g->at, g->count, sizeof *g->at, idle_by_length);
}

/* ---- What the host did ------------------------------------------------------------ */

/* The thread whose calls are on this lane; 0: not known. */
static uint32_t idle_thread_of(const gnomon_profile *p, uint32_t lane)
{
    gnomon_track_info of, t;
    if (gnomon_profile_track(p, lane, &of) != GNOMON_OK)
        return 0;
    if (of.kind == GNOMON_TRACK_THREAD)
        return lane;
    for (size_t i = 1; gnomon_profile_track(p, i, &t) == GNOMON_OK; i++)
        if (t.kind == GNOMON_TRACK_THREAD && t.run == of.run &&
            t.os_id == of.os_id && t.index == of.index)
            return (uint32_t)i;
    return 0;
}

/* A gap whose scope is asked for, by its begin. */
typedef struct idle_asked {
    uint64_t begin_ns, end_ns; /* up to the launch */
    uint64_t *overlap;         /* by node */
    gnomon__device_gap *gap;
    uint32_t thread;
} idle_asked;

/* Also what lasts into the gap from before. */
static void idle_add_events(idle_asked *asked, size_t count,
                            const gnomon__device_work *w)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, w->profile);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->node > w->nodes)
            continue;
        const uint64_t end = e->begin_ns + e->duration_ns;
        for (size_t k = 0; k < count; k++) {
            idle_asked *a = &asked[k];
            const uint64_t from =
                e->begin_ns > a->begin_ns ? e->begin_ns : a->begin_ns;
            const uint64_t until = end < a->end_ns ? end : a->end_ns;
            if (a->thread == e->track && until > from)
                a->overlap[e->node] += until - from;
        }
    }
}

/* The scope that was innermost for the longest time; 0: nothing was for longer. */
static uint32_t idle_innermost(const idle_asked *a,
                               const gnomon__device_work *w)
{
    uint64_t most = a->end_ns - a->begin_ns;
    uint32_t scope = 0;
    gnomon_node_info n;
    for (size_t i = 1; i <= w->nodes; i++) { /* parents before their children */
        if (!a->overlap[i] || gnomon_profile_node(w->profile, i, &n))
            continue;
        uint64_t *around = n.parent ? &a->overlap[n.parent] : &most;
        *around -= a->overlap[i] < *around ? a->overlap[i] : *around;
    }
    for (uint32_t i = 1; i <= w->nodes; i++)
        if (a->overlap[i] > most) {
            most = a->overlap[i];
            scope = i;
        }
    return scope;
}

/* What launched the work that ended the gap. */
static uint32_t idle_launcher(const gnomon__device_gaps *g,
                              const gnomon__device_gap *gap)
{
    gnomon_node_info n;
    return gnomon_profile_node(g->times->work->profile,
                               g->times->items[gap->before].node,
                               &n) == GNOMON_OK
               ? n.parent
               : 0;
}

static size_t idle_ask(const gnomon__device_gaps *g, idle_asked *asked,
                       size_t limit)
{
    const gnomon__device_work *w = g->times->work;
    size_t count = 0;
    for (size_t i = 0; i < limit; i++) {
        gnomon__device_gap *gap = &g->at[i];
        const gnomon__work_item *item = &g->times->items[gap->before];
        gap->scope = idle_launcher(g, gap);
        if (gap->bound != GNOMON__BOUND_HOST ||
            (count + 1) * (w->nodes + 1) > GAP_CELLS)
            continue;
        const uint64_t until = gap->begin_ns + gap->ns;
        asked[count++] = (idle_asked){
            .begin_ns = gap->begin_ns,
            .end_ns = item->launched_ns < until ? item->launched_ns : until,
            .gap = gap,
            .thread = idle_thread_of(w->profile, item->call_track)};
    }
    return count;
}

static int idle_find_scopes(gnomon__device_gaps *g, size_t limit)
{
    const gnomon__device_work *w = g->times->work;
    idle_asked *asked = calloc(limit + 1, sizeof *asked);
    const size_t count = asked ? idle_ask(g, asked, limit) : 0;
    uint64_t *cells = calloc(count * (w->nodes + 1) + 1, sizeof *cells);
    for (size_t i = 0; cells && i < count; i++)
        asked[i].overlap = cells + i * (w->nodes + 1);
    if (cells && count)
        idle_add_events(asked, count, w);
    for (size_t i = 0; cells && i < count; i++)
        if (asked[i].thread)
            asked[i].gap->scope = idle_innermost(&asked[i], w);
    const int code = asked && cells ? GNOMON_OK : GNOMON_ENOMEM;
    free(cells);
    free(asked);
    return code;
}

int gnomon__device_gaps_make(gnomon__device_gaps *g,
                             const gnomon__device_times *times, size_t limit)
{
    *g = (gnomon__device_gaps){.times = times};
    g->at = calloc(times->count + 1, sizeof *g->at);
    g->of_device = calloc(times->work->device_count + 1, sizeof *g->of_device);
    if (!g->at || !g->of_device)
        return GNOMON_ENOMEM;
    idle_find(g);
    return idle_find_scopes(g, limit < g->count ? limit : g->count);
}

void gnomon__device_gaps_free(gnomon__device_gaps *g)
{
    free(g->at);
    free(g->of_device);
    *g = (gnomon__device_gaps){0};
}

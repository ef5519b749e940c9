/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the events once, in their order, and keeps for each track what was busy last. */
#include "print/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "print/event_walk.h"

/* ---- What is not known ------------------------------------------------------------ */

static bool gaps_is_loss_of_events(const gnomon_loss_info *l)
{
    return strncmp(l->kind, "events_", 7) == 0;
}

static bool gaps_read_losses(gnomon__gaps *g)
{
    const size_t count = gnomon_profile_count(g->profile, GNOMON_LOSSES);
    g->lost = calloc(count + 1, sizeof *g->lost);
    for (size_t i = 1; g->lost && i <= count; i++) {
        gnomon_loss_info l;
        if (gnomon_profile_loss(g->profile, i, &l) != GNOMON_OK ||
            !gaps_is_loss_of_events(&l))
            continue;
        g->missing += l.count;
        if (l.begin_ns || l.end_ns)
            g->lost[g->lost_count++] = l;
    }
    return g->lost != NULL;
}

static bool gaps_is_known(const gnomon__gaps *g, const gnomon__gap *gap)
{
    const uint64_t end = gap->begin_ns + gap->ns;
    for (size_t i = 0; i < g->lost_count; i++) {
        const gnomon_loss_info *l = &g->lost[i];
        if ((!l->track || l->track == gap->track) && l->begin_ns <= end &&
            l->end_ns >= gap->begin_ns)
            return false;
    }
    return !gnomon__event_steps_miss(&g->steps, gap->begin_ns, end);
}

/* ---- The longest ---------------------------------------------------------------- */

/* The longest first; of equal ones the earlier, then the lower track. */
static int gaps_by_length(const void *left, const void *right)
{
    const gnomon__gap *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static void gaps_swap(gnomon__gap *a, gnomon__gap *b)
{
    gnomon__gap c = *a;
    *a = *b;
    *b = c;
}

/* The heap's first takes the place that it belongs to. */
static void gaps_sink_first(gnomon__gap_heap *h)
{
    for (size_t i = 0, k; (k = 2 * i + 1) < h->count; i = k) {
        if (k + 1 < h->count && gaps_by_length(&h->at[k + 1], &h->at[k]) > 0)
            k++;
        if (gaps_by_length(&h->at[k], &h->at[i]) <= 0)
            return;
        gaps_swap(&h->at[k], &h->at[i]);
    }
}

static bool gaps_keep(gnomon__gap_heap *h, size_t limit, const gnomon__gap *gap)
{
    if (h->count >= limit) {
        if (limit && gaps_by_length(gap, &h->at[0]) < 0) {
            h->at[0] = *gap;
            gaps_sink_first(h);
        }
        return true;
    }
    if (h->count == h->room) {
        size_t room = h->room ? 2 * h->room : 16;
        gnomon__gap *at = realloc(h->at, room * sizeof *at);
        if (!at)
            return false;
        h->at = at;
        h->room = room;
    }
    size_t i = h->count++;
    h->at[i] = *gap;
    for (; i && gaps_by_length(&h->at[i], &h->at[(i - 1) / 2]) > 0;
         i = (i - 1) / 2)
        gaps_swap(&h->at[i], &h->at[(i - 1) / 2]);
    return true;
}

/* ---- Events --------------------------------------------------------------------- */

static bool gaps_add(gnomon__gaps *g, gnomon__gap_track *t,
                     const gnomon__gap *gap)
{
    if (!gaps_is_known(g, gap))
        return true;
    t->gaps++;
    t->idle_ns += gap->ns;
    t->longest_ns = gap->ns > t->longest_ns ? gap->ns : t->longest_ns;
    return gaps_keep(&g->heaps[gap->group < g->groups ? gap->group : 0],
                     g->limit, gap);
}

/* Whether an execution around it is there, which comes first. */
static bool gaps_is_inside(const gnomon__gaps *g, const gnomon_event_info *e,
                           uint32_t parent)
{
    gnomon_node_info n;
    while (parent && g->until_ns[parent] <= e->begin_ns &&
           gnomon_profile_node(g->profile, parent, &n) == GNOMON_OK)
        parent = n.parent < parent ? n.parent : 0;
    return parent != 0;
}

static bool gaps_add_execution(gnomon__gaps *g, const gnomon_event_info *e,
                               uint32_t group)
{
    gnomon__gap_track *t = &g->tracks[e->track];
    uint64_t end = e->begin_ns + e->duration_ns, from = e->begin_ns;
    gnomon_node_info n;
    bool ok = true;
    end = end < e->begin_ns ? UINT64_MAX : end;
    if (gnomon_profile_node(g->profile, e->node, &n) != GNOMON_OK ||
        !n.region || n.flags & GNOMON_NODE_RANGE)
        return true;
    g->until_ns[e->node] = end + (end != UINT64_MAX);
    if (gaps_is_inside(g, e, n.parent))
        return true;
    if (t->stage != n.stage)
        t->last = 0;
    if (t->last && e->begin_ns > t->until_ns)
        ok = gaps_add(g, t,
                      &(gnomon__gap){.begin_ns = t->until_ns,
                                     .ns = e->begin_ns - t->until_ns,
                                     .track = e->track,
                                     .after = t->last,
                                     .before = e->node,
                                     .group = group});
    else if (t->last)
        from = t->until_ns;
    t->executions++;
    t->stage = n.stage;
    t->busy_ns += end > from ? end - from : 0;
    if (!t->last || end >= t->until_ns) {
        t->until_ns = end;
        t->last = e->node;
    }
    return ok;
}

int gnomon__gaps_make(gnomon__gaps *g, const gnomon_profile *profile,
                      size_t limit, size_t groups, const uint32_t *group_of)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    const size_t nodes = gnomon_profile_count(profile, GNOMON_NODES);
    const size_t tracks = gnomon_profile_count(profile, GNOMON_TRACKS);
    *g = (gnomon__gaps){.profile = profile,
                        .track_count = tracks,
                        .groups = groups ? groups : 1,
                        .limit = limit};
    g->tracks = calloc(tracks + 1, sizeof *g->tracks);
    g->heaps = calloc(g->groups, sizeof *g->heaps);
    g->until_ns = calloc(nodes + 1, sizeof *g->until_ns);
    if (!g->tracks || !g->heaps || !g->until_ns || !gaps_read_losses(g))
        return GNOMON_ENOMEM;
    int code = gnomon__event_steps_make(&g->steps, profile, 0);
    gnomon__walk_all(&walk, profile);
    while (!code && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->track > tracks)
            continue;
        g->has_events = true;
        if (e->node <= nodes &&
            !gaps_add_execution(g, e, group_of ? group_of[e->track] : 0))
            code = GNOMON_ENOMEM;
    }
    for (size_t i = 0; i < g->groups; i++)
        if (g->heaps[i].count)
            qsort(g->heaps[i].at, g->heaps[i].count, sizeof *g->heaps[i].at,
                  gaps_by_length);
    return code;
}

void gnomon__gaps_free(gnomon__gaps *g)
{
    for (size_t i = 0; g->heaps && i < g->groups; i++)
        free(g->heaps[i].at);
    free(g->heaps);
    free(g->tracks);
    free(g->until_ns);
    free(g->lost);
    gnomon__event_steps_free(&g->steps);
    *g = (gnomon__gaps){0};
}

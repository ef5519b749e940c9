/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the executions of one step, and cuts each track into the times in which one of
 * them was innermost: a lookup by a moment is then a binary search. */
#include "print/critical_step.h"

#include <stdlib.h>

#include "print/event_walk.h"

/* ---- Executions ----------------------------------------------------------------- */

static uint64_t critical_end(const gnomon_event_info *e)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    return end < e->begin_ns ? UINT64_MAX : end;
}

static bool critical_add_item(critical_step *s, const gnomon_event_info *e,
                              size_t order)
{
    if (s->item_count == s->item_room) {
        size_t room = s->item_room ? 2 * s->item_room : 256;
        critical_item *items = realloc(s->items, room * sizeof *items);
        if (!items)
            return false;
        s->items = items;
        s->item_room = room;
    }
    s->items[s->item_count++] = (critical_item){.begin = e->begin_ns,
                                                .end = critical_end(e),
                                                .instance = e->instance,
                                                .track = e->track,
                                                .node = e->node,
                                                .order = order};
    return true;
}

/* The outer of two that begin together comes first. */
static int critical_by_track(const void *left, const void *right)
{
    const critical_item *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool critical_read_items(critical_step *s, const gnomon__critical *c,
                                uint32_t run)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, c->profile);
    while ((e = gnomon__walk_next(&walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION && e->track <= c->track_count &&
            e->node <= c->node_count && c->is_taken[e->node] &&
            c->tracks[e->track].run == run && e->begin_ns < s->end &&
            critical_end(e) > s->begin && !critical_add_item(s, e, walk.number))
            return false;
    if (s->item_count)
        qsort(s->items, s->item_count, sizeof *s->items, critical_by_track);
    return true;
}

/* ---- Segments --------------------------------------------------------------------- */

typedef struct critical_sweep {
    critical_step *s;
    uint32_t *open; /* items, innermost last */
    size_t open_count;
    uint64_t at; /* all before it is in segments */
} critical_sweep;

static void critical_sweep_to(critical_sweep *w, uint64_t ns)
{
    ns = ns < w->s->end ? ns : w->s->end;
    if (w->open_count && ns > w->at)
        w->s->segments[w->s->segment_count++] =
            (critical_segment){w->at, ns, w->open[w->open_count - 1]};
    w->at = ns > w->at ? ns : w->at;
}

/* Until `ns`, by which some may have ended. */
static void critical_sweep_ends(critical_sweep *w, uint64_t ns)
{
    while (w->open_count && w->s->items[w->open[w->open_count - 1]].end <= ns) {
        critical_sweep_to(w, w->s->items[w->open[w->open_count - 1]].end);
        w->open_count--;
    }
    critical_sweep_to(w, ns);
}

static void critical_sweep_track(critical_sweep *w, size_t first, size_t last)
{
    w->open_count = 0;
    w->at = w->s->begin;
    for (size_t i = first; i < last; i++) {
        critical_item *item = &w->s->items[i];
        critical_sweep_ends(w, item->begin);
        item->is_outermost = !w->open_count;
        w->open[w->open_count++] = (uint32_t)i;
    }
    critical_sweep_ends(w, UINT64_MAX);
}

static bool critical_cut(critical_step *s, gnomon__critical *c)
{
    critical_sweep w = {.s = s};
    s->segments = calloc(2 * s->item_count + 1, sizeof *s->segments);
    w.open = calloc(s->item_count + 1, sizeof *w.open);
    for (size_t i = 0; i <= c->track_count; i++)
        c->tracks[i].first = c->tracks[i].count = 0;
    for (size_t i = 0, k; w.open && s->segments && i < s->item_count; i = k) {
        struct critical_track *t = &c->tracks[s->items[i].track];
        for (k = i;
             k < s->item_count && s->items[k].track == s->items[i].track;)
            k++;
        t->first = s->segment_count;
        critical_sweep_track(&w, i, k);
        t->count = s->segment_count - t->first;
    }
    free(w.open);
    return w.open && s->segments;
}

const critical_segment *gnomon__critical_before(const critical_step *s,
                                                const struct critical_track *t,
                                                uint64_t ns)
{
    size_t low = t->first, high = t->first + t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->segments[middle].begin < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > t->first ? &s->segments[low - 1] : NULL;
}

/* ---- Instances ---------------------------------------------------------------------- */

static bool critical_name_items(critical_step *s)
{
    s->names = calloc(s->item_count + 1, sizeof *s->names);
    for (size_t i = 0; s->names && i < s->item_count; i++)
        if (s->items[i].instance)
            s->names[s->name_count++] =
                (gnomon__keyed){s->items[i].instance, i, 0};
    gnomon__keyed_sort(s->names, s->name_count);
    return s->names != NULL;
}

const critical_item *gnomon__critical_named(const critical_step *s,
                                            uint64_t instance)
{
    const gnomon__keyed *name =
        gnomon__keyed_find(s->names, s->name_count, instance);
    return name ? &s->items[name->value] : NULL;
}

/* ---- The whole ------------------------------------------------------------------------ */

int gnomon__critical_load(critical_step *s, gnomon__critical *c,
                          const gnomon_step_info *step)
{
    gnomon_stage_info stage = {.run = 0};
    *s = (critical_step){.begin = step->begin_ns, .end = step->end_ns};
    (void)gnomon_profile_stage(c->profile, step->stage, &stage);
    return critical_read_items(s, c, stage.run) && critical_cut(s, c) &&
                   critical_name_items(s)
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

void gnomon__critical_unload(critical_step *s)
{
    free(s->items);
    free(s->segments);
    free(s->names);
    *s = (critical_step){0};
}

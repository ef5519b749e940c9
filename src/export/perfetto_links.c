/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Flows: arrows from the execution that was a cause to its effect. A flow is drawn if
 * both are in the file and in this order; one with a single end would be an arrow from
 * or to nowhere. */
#include "export/perfetto.h"

#include <stdlib.h>

static int perfetto_compare_ends(const void *left, const void *right)
{
    const gnomon__perfetto_end *a = left, *b = right;
    if (a->run != b->run)
        return a->run > b->run ? 1 : -1;
    if (a->instance != b->instance)
        return a->instance > b->instance ? 1 : -1;
    if (a->link != b->link)
        return a->link > b->link ? 1 : -1;
    return (a->is_effect > b->is_effect) - (a->is_effect < b->is_effect);
}

static uint32_t perfetto_run_of_node(const gnomon__perfetto *f, uint32_t node)
{
    gnomon_node_info n;
    if (gnomon_profile_node(f->p, node, &n) || n.track > f->track_count)
        return 0;
    return f->rows[n.track].run;
}

static int perfetto_is_of_executions(const gnomon_link_info *l)
{
    return l->from_instance && l->to_instance;
}

int gnomon__perfetto_links_begin(gnomon__perfetto *f)
{
    gnomon__perfetto_links *l = &f->links;
    gnomon_link_info link;
    size_t count = 0;
    for (size_t i = 1; !gnomon_profile_link(f->p, i, &link); i++)
        count += perfetto_is_of_executions(&link) != 0;
    l->count = 0;
    l->ends = calloc(2 * count + 1, sizeof *l->ends);
    if (!l->ends)
        return 0;
    for (size_t i = 1; !gnomon_profile_link(f->p, i, &link); i++) {
        if (!perfetto_is_of_executions(&link))
            continue;
        gnomon__perfetto_end *end = &l->ends[l->count];
        end[0].instance = link.from_instance;
        end[1].instance = link.to_instance;
        end[0].run = end[1].run = perfetto_run_of_node(f, link.from);
        end[0].link = end[1].link = (uint32_t)(l->count / 2);
        end[0].number = end[1].number = (uint32_t)i;
        end[1].is_effect = 1;
        l->count += 2;
    }
    if (l->count)
        qsort(l->ends, l->count, sizeof *l->ends, perfetto_compare_ends);
    return 1;
}

void gnomon__perfetto_links_end(gnomon__perfetto *f)
{
    f->links.before += f->links.count / 2;
    free(f->links.ends);
    free(f->links.late);
    f->links = (gnomon__perfetto_links){.before = f->links.before};
}

/* The first end of this execution, or `count`. */
static size_t perfetto_first_end(const gnomon__perfetto_links *l, uint32_t run,
                                 uint64_t instance)
{
    const gnomon__perfetto_end wanted = {.instance = instance, .run = run};
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        if (perfetto_compare_ends(&l->ends[at], &wanted) < 0)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

static int perfetto_is_end_of(const gnomon__perfetto_links *l, size_t i,
                              uint32_t run, uint64_t instance)
{
    return i < l->count && l->ends[i].run == run &&
           l->ends[i].instance == instance;
}

void gnomon__perfetto_links_meet(gnomon__perfetto *f, uint32_t run,
                                 const gnomon_event_info *e, size_t number,
                                 uint64_t unix_ns)
{
    gnomon__perfetto_links *l = &f->links;
    gnomon_link_info link;
    for (size_t i = perfetto_first_end(l, run, e->instance);
         perfetto_is_end_of(l, i, run, e->instance); i++)
        if (!l->ends[i].event) {
            l->ends[i].event = number;
            l->ends[i].begin = unix_ns;
            l->ends[i].is_late =
                l->ends[i].is_effect &&
                !gnomon_profile_link(f->p, l->ends[i].number, &link) &&
                gnomon__export_is_late(&link, e);
        }
}

/* Events of equal times are in the order of the file. */
static int perfetto_is_in_order(const gnomon__perfetto_end *cause,
                                const gnomon__perfetto_end *effect)
{
    if (!cause->event || !effect->event)
        return 0;
    return cause->begin != effect->begin ? cause->begin < effect->begin
                                         : cause->event < effect->event;
}

int gnomon__perfetto_links_join(gnomon__perfetto *f)
{
    gnomon__perfetto_links *l = &f->links;
    size_t *at =
        calloc(l->count + 1, sizeof *at); /* cause, effect, cause ... */
    if (!at)
        return 0;
    for (size_t i = 0; i < l->count; i++)
        at[2 * (size_t)l->ends[i].link + l->ends[i].is_effect] = i;
    for (size_t i = 0; i < l->count; i += 2) {
        gnomon__perfetto_end *cause = &l->ends[at[i]],
                             *effect = &l->ends[at[i + 1]];
        const int is_in_order = perfetto_is_in_order(cause, effect);
        effect->is_late &= !is_in_order;
        if (is_in_order || (effect->is_late && cause->event))
            cause->is_drawn = effect->is_drawn = 1;
        else
            f->runs[cause->run].undrawn_links++;
    }
    free(at);
    return 1;
}

/* Perfetto draws no arrow to what began before its cause, as a wait does: it leads to an
 * instant in it, when the link came in. */
static void perfetto_note_late(gnomon__perfetto *f, const gnomon_event_info *e,
                               const gnomon__perfetto_end *end)
{
    gnomon__perfetto_links *l = &f->links;
    gnomon_link_info link;
    if (l->late_count == l->late_room) {
        size_t room = l->late_room ? 2 * l->late_room : 16;
        void *late = realloc(l->late, room * sizeof *l->late);
        if (!late) {
            f->has_no_memory = 1;
            return;
        }
        l->late = late;
        l->late_room = room;
    }
    (void)gnomon_profile_link(f->p, end->number, &link);
    l->late[l->late_count++] = (gnomon__perfetto_late){
        .row = e->track,
        .lane = f->begun_lane,
        .region = gnomon__perfetto_node_at(f, e->node)->region,
        .ns = link.to_ns,
        .flow = l->before + end->link + 1};
}

void gnomon__perfetto_flows(gnomon__perfetto *f, uint32_t run,
                            const gnomon_event_info *e, size_t number)
{
    const gnomon__perfetto_links *l = &f->links;
    if (!e->instance)
        return;
    for (size_t i = perfetto_first_end(l, run, e->instance);
         perfetto_is_end_of(l, i, run, e->instance); i++) {
        const gnomon__perfetto_end *end = &l->ends[i];
        if (!end->is_drawn || end->event != number)
            continue;
        if (end->is_late)
            perfetto_note_late(f, e, end);
        else
            gnomon__wire_fixed(&f->wire,
                               end->is_effect ? EVENT_LAST_FLOW : EVENT_FLOW,
                               l->before + end->link + 1);
    }
}

static void perfetto_put_late(gnomon__perfetto *f,
                              const gnomon__perfetto_late *at)
{
    const uint32_t run = f->rows[at->row].run;
    size_t from;
    gnomon__wire *w = gnomon__perfetto_event(
        f, run, gnomon__perfetto_unix(&f->runs[run], at->ns),
        gnomon__perfetto_lane(f, at->row, at->lane), TYPE_INSTANT, &from);
    gnomon__perfetto_name(f, at->region);
    gnomon__wire_fixed(w, EVENT_LAST_FLOW, at->flow);
    gnomon__perfetto_event_end(f, from);
}

void gnomon__perfetto_late_flows(gnomon__perfetto *f, size_t row, uint32_t lane,
                                 uint64_t until)
{
    gnomon__perfetto_links *l = &f->links;
    for (size_t first; l->late_count;) {
        first = l->late_count;
        for (size_t i = 0; i < l->late_count; i++)
            if (l->late[i].row == row && l->late[i].lane == lane &&
                l->late[i].ns <= until &&
                (first == l->late_count || l->late[i].ns < l->late[first].ns))
                first = i;
        if (first == l->late_count)
            return;
        perfetto_put_late(f, &l->late[first]);
        l->late[first] = l->late[--l->late_count];
    }
}

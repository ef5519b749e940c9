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
    f->links.count = 0;
    free(f->links.ends);
    f->links.ends = NULL;
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
    for (size_t i = perfetto_first_end(l, run, e->instance);
         perfetto_is_end_of(l, i, run, e->instance); i++)
        if (!l->ends[i].event) {
            l->ends[i].event = number;
            l->ends[i].begin = unix_ns;
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
        if (perfetto_is_in_order(cause, effect))
            cause->is_drawn = effect->is_drawn = 1;
        else
            f->runs[cause->run].undrawn_links++;
    }
    free(at);
    return 1;
}

void gnomon__perfetto_flows(gnomon__perfetto *f, uint32_t run,
                            const gnomon_event_info *e, size_t number)
{
    const gnomon__perfetto_links *l = &f->links;
    if (!e->instance)
        return;
    for (size_t i = perfetto_first_end(l, run, e->instance);
         perfetto_is_end_of(l, i, run, e->instance); i++)
        if (l->ends[i].is_drawn && l->ends[i].event == number)
            gnomon__wire_fixed(
                &f->wire, l->ends[i].is_effect ? EVENT_LAST_FLOW : EVENT_FLOW,
                l->before + l->ends[i].link + 1);
}

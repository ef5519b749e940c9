/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All sums of a stage. Adding and clearing them costs only the paths that it touched. */
#include "record/totals.h"

#include <string.h>

#include "platform/memory.h"

/* ---- Counters ---------------------------------------------------------------- */

static void add_samples(gnomon__sums_of_samples *to,
                        const gnomon__sums_of_samples *from)
{
    to->nans += from->nans;
    if (!from->count)
        return;
    if (!to->count || from->min < to->min)
        to->min = from->min;
    if (!to->count || from->max > to->max)
        to->max = from->max;
    to->last = from->last;
    to->sum += from->sum;
    to->count += from->count;
}

int gnomon__totals_counter(gnomon__totals_thread *t,
                           const gnomon__row_counter *from)
{
    uint32_t i = 0;
    while (i < t->counter_count && t->counters[i].key != from->key)
        i++;
    if (i == t->counter_count) {
        if (!gnomon__grow(&t->counters, &t->counter_room, i + 1,
                          sizeof *t->counters))
            return 0;
        t->counters[i] = (gnomon__row_counter){.key = from->key};
        t->counter_count++;
    }
    add_samples(&t->counters[i].samples, &from->samples);
    return gnomon__strip_add(&t->counters[i].strip, from->strip.width,
                             from->strip.bins, from->strip.count);
}

static void clear_counters(gnomon__totals_thread *t)
{
    for (size_t i = 0; i < t->counter_count; i++)
        gnomon__strip_free(&t->counters[i].strip);
    t->counter_count = 0;
}

/* ---- Links --------------------------------------------------------------------- */

/* Links of several threads between the same nodes stay apart. */
int gnomon__totals_link(gnomon__totals *t, const gnomon__total_edge *e)
{
    const size_t before = t->edge_count;
    uint32_t item =
        gnomon__keyed_at(&t->edge_slots, &t->edges, &t->edge_room, sizeof *e, e,
                         offsetof(gnomon__total_edge, count), SIZE_MAX);
    t->edge_count = t->edge_slots.count;
    if (item && t->edge_count == before)
        t->edges[item - 1].count += e->count;
    return item != 0;
}

/* ---- The whole -------------------------------------------------------------------- */

static int add_sums(gnomon__totals *to, const gnomon__totals *from)
{
    int ok = 1;
    for (int i = 0; i < GNOMON__RECORDERS; i++)
        if (from->sums[i])
            ok &= gnomon__recorders[i]->add_sums(&to->sums[i], from->sums[i]);
    return ok;
}

static void free_sums(gnomon__totals *t)
{
    for (int i = 0; i < GNOMON__RECORDERS; i++) {
        if (t->sums[i])
            gnomon__recorders[i]->free_sums(t->sums[i]);
        t->sums[i] = NULL;
    }
}

static int add_thread(gnomon__totals *to, uint32_t thread,
                      const gnomon__totals_thread *from)
{
    gnomon__totals_thread *t = gnomon__totals_thread_at(to, thread);
    int ok = t != NULL;
    if (ok)
        t->is_inexact |= from->is_inexact;
    for (uint32_t i = 0; ok && i < from->counter_count; i++)
        ok = gnomon__totals_counter(t, &from->counters[i]);
    for (uint32_t i = 0; ok && i < from->touched_count; i++) {
        uint32_t number = from->touched[i];
        gnomon__total *s = gnomon__totals_flags(to, thread, number);
        ok = s && gnomon__total_add(s, from->of[number]);
    }
    return ok;
}

int gnomon__totals_add(gnomon__totals *to, const gnomon__totals *from)
{
    int ok = 1;
    for (uint32_t i = 0; ok && i < from->thread_count; i++)
        if (from->threads[i].has_tree)
            ok = add_thread(to, i, &from->threads[i]);
    for (size_t i = 0; ok && i < from->edge_count; i++)
        ok = gnomon__totals_link(to, &from->edges[i]);
    ok &= add_sums(to, from);
    to->recorded_ns += from->recorded_ns;
    to->late += from->late;
    to->is_incomplete |= from->is_incomplete | !ok;
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__totals_clear(gnomon__totals *t)
{
    for (uint32_t i = 0; i < t->thread_count; i++) {
        gnomon__totals_thread *at = &t->threads[i];
        for (uint32_t k = 0; k < at->touched_count; k++)
            gnomon__total_clear(at->of[at->touched[k]]);
        at->touched_count = 0;
        clear_counters(at);
        at->has_tree = at->is_inexact = 0;
    }
    gnomon__slots_empty(&t->edge_slots);
    t->edge_count = 0;
    free_sums(t);
    t->recorded_ns = t->late = 0;
    t->is_incomplete = 0;
}

void gnomon__totals_free(gnomon__totals *t)
{
    for (uint32_t i = 0; i < t->thread_count; i++) {
        gnomon__totals_thread *at = &t->threads[i];
        for (uint32_t k = 0; k < at->room; k++)
            gnomon__total_free(at->of[k]);
        gnomon__free(at->of);
        gnomon__free(at->touched);
        clear_counters(at);
        gnomon__free(at->counters);
    }
    gnomon__free(t->threads);
    gnomon__free(t->edges);
    gnomon__slots_free(&t->edge_slots);
    free_sums(t);
    *t = (gnomon__totals){0};
}

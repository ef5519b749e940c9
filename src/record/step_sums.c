/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of what steps took. The slowest steps are ordered by duration, then by stage
 * and begin, so any order of adding keeps the same ones. */
#include "record/step_sums.h"

#include <string.h>

#include "gnomon/profile.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/memory.h"

/* ---- In ticks ------------------------------------------------------------------- */

void gnomon__tick_sum_count(gnomon__tick_sum *s, uint64_t ticks)
{
    if (!s->count || ticks < s->min)
        s->min = ticks;
    if (!s->count || ticks > s->max)
        s->max = ticks;
    s->count++;
    s->total += ticks;
    s->cells[gnomon__cell_of_ticks(ticks)]++;
}

int gnomon__tick_sum_add(gnomon__total *to, const gnomon__tick_sum *s,
                         uint64_t rate)
{
    if (!s->count)
        return 1;
    uint32_t last = gnomon__cell_of_ticks(s->max);
    uint64_t min_ns = gnomon__line_scale(s->min, rate);
    uint64_t max_ns = gnomon__line_scale(s->max, rate);
    uint64_t count = 0; /* that of the cells: a fork may come between the two */
    const uint32_t first = gnomon__cell_of_ticks(s->min);
    const uint64_t most = last - first + 1;
    if (!gnomon__total_hold(to, (size_t)(most < s->count ? most : s->count)))
        return 0;
    for (uint32_t i = first; i <= last; i++) {
        if (!s->cells[i])
            continue;
        uint64_t from = gnomon_cell_low(i), to_ticks = gnomon_cell_low(i + 1);
        gnomon__total_cell(to,
                           gnomon_cell_of(gnomon__line_scale(
                               from + (to_ticks - from) / 2, rate)),
                           s->cells[i]);
        count += s->cells[i];
    }
    uint64_t total_ns = gnomon__line_scale(s->total, rate);
    const gnomon_stats more = {.struct_size = sizeof more,
                               .count = count,
                               .total_ns = total_ns,
                               .self_ns = total_ns,
                               .min_ns = min_ns,
                               .max_ns = max_ns};
    gnomon_stats_add(&to->s, &more);
    return 1;
}

/* ---- Sums --------------------------------------------------------------------------- */

gnomon__step_sum *gnomon__step_sums_at(gnomon__step_sums **s, uint32_t region)
{
    if (!*s && !(*s = gnomon__alloc(sizeof **s)))
        return NULL;
    return gnomon__grow_zeroed(&(*s)->of, &(*s)->room, region + 1,
                               sizeof *(*s)->of)
               ? &(*s)->of[region]
               : NULL;
}

/* Below 0: `a` stands before `b`. */
static int slow_order(const gnomon__slow_step *a, const gnomon__slow_step *b)
{
    uint64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    if (x != y)
        return x > y ? -1 : 1;
    if (a->ordinal != b->ordinal)
        return a->ordinal < b->ordinal ? -1 : 1;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

void gnomon__step_sums_slow(gnomon__step_sums *s, gnomon__slow_step step)
{
    uint32_t at = s->slow_count;
    if (at == GNOMON__SLOWEST_STEPS) {
        gnomon__slow_step last = s->slow[--at];
        int stays = slow_order(&last, &step) <= 0;
        gnomon__free(stays ? step.of : last.of);
        if (stays)
            return;
        s->slow_count--;
    }
    for (; at && slow_order(&step, &s->slow[at - 1]) < 0; at--)
        s->slow[at] = s->slow[at - 1];
    s->slow[at] = step;
    s->slow_count++;
}

int gnomon__step_sums_add(void **to, const void *sums)
{
    const gnomon__step_sums *from = sums;
    gnomon__step_sums *all = *to;
    int ok = 1;
    for (uint32_t i = 0; i < from->room; i++) {
        const gnomon__step_sum *more = &from->of[i];
        if (!more->time.s.count)
            continue;
        gnomon__step_sum *s = gnomon__step_sums_at(&all, i);
        if (!s || !gnomon__total_add(&s->time, &more->time)) {
            ok = 0;
            continue;
        }
        s->own_ns += more->own_ns;
        s->calls += more->calls;
    }
    for (uint32_t i = 0; all && i < from->slow_count; i++) {
        gnomon__slow_step copy = from->slow[i];
        copy.of = NULL;
        copy.room = 0;
        size_t room = from->slow[i].room;
        if (!gnomon__grow_zeroed(&copy.of, &copy.room, room, sizeof *copy.of))
            ok = 0;
        else if (room)
            memcpy(copy.of, from->slow[i].of, room * sizeof *copy.of);
        gnomon__step_sums_slow(all, copy);
    }
    *to = all;
    return ok;
}

void gnomon__step_sums_free(void *sums)
{
    gnomon__step_sums *all = sums;
    for (size_t i = 0; i < all->room; i++)
        gnomon__total_empty(&all->of[i].time);
    for (uint32_t i = 0; i < all->slow_count; i++)
        gnomon__free(all->slow[i].of);
    gnomon__free(all->of);
    gnomon__free(all);
}

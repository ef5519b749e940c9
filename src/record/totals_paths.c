/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Sums of paths, in an array by the path's number, and a list of those in use. */
#include "platform/memory.h"
#include "record/totals.h"

gnomon__totals_thread *gnomon__totals_thread_at(gnomon__totals *t,
                                                uint32_t thread)
{
    if (!gnomon__grow_zeroed(&t->threads, &t->thread_count, thread + 1,
                             sizeof *t->threads))
        return NULL;
    t->threads[thread].has_tree = 1;
    return &t->threads[thread];
}

gnomon__total *gnomon__totals_flags(gnomon__totals *t, uint32_t thread,
                                    uint32_t number)
{
    gnomon__totals_thread *at = gnomon__totals_thread_at(t, thread);
    if (!at ||
        !gnomon__grow_zeroed(&at->of, &at->room, number + 1, sizeof *at->of) ||
        !gnomon__grow(&at->touched, &at->touched_room, at->touched_count + 1,
                      sizeof *at->touched))
        return NULL;
    gnomon__total *s = at->of[number];
    if (!s && !(s = at->of[number] = gnomon__alloc(sizeof *s)))
        return NULL;
    if (!s->is_touched) {
        s->is_touched = 1;
        at->touched[at->touched_count++] = number;
    }
    return s;
}

gnomon__total *gnomon__totals_path(gnomon__totals *t, uint32_t thread,
                                   uint32_t number)
{
    gnomon__total *s = gnomon__totals_flags(t, thread, number);
    if (s)
        s->has_times = 1;
    return s;
}

const gnomon__total *gnomon__totals_find(const gnomon__totals *t,
                                         uint32_t thread, uint32_t number)
{
    if (thread >= t->thread_count || number >= t->threads[thread].room)
        return NULL;
    const gnomon__total *s = t->threads[thread].of[number];
    return s && s->is_touched ? s : NULL;
}

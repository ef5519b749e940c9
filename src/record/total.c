/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The sums of one path. */
#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/totals.h"

int gnomon__total_hold(gnomon__total *s, size_t more)
{
    return gnomon__grow(&s->cells, &s->cell_room, s->cell_count + more,
                        sizeof *s->cells);
}

/* Mostly cells come in order, and to a path that has none yet. */
void gnomon__total_cell(gnomon__total *s, uint32_t cell, uint64_t count)
{
    size_t at = s->cell_count, from = 0;
    if (at && s->cells[at - 1].cell >= cell)
        GNOMON__SEARCH(from, at, i, s->cells[i].cell < cell)
    gnomon_cell *c = &s->cells[at];
    if (at < s->cell_count && c->cell == cell) {
        c->count += count;
        return;
    }
    if (at < s->cell_count)
        memmove(c + 1, c, (s->cell_count - at) * sizeof *c);
    s->cell_count++;
    *c = (gnomon_cell){cell, 0, count};
}

void gnomon__total_first(gnomon__total *s, uint64_t first)
{
    if (first && (!s->first || first < s->first))
        s->first = first;
}

int gnomon__total_count(gnomon__total *s, uint64_t ns, uint64_t self_ns)
{
    if (!gnomon__total_hold(s, 1))
        return 0;
    const gnomon_stats one = {.struct_size = sizeof one,
                              .count = 1,
                              .total_ns = ns,
                              .self_ns = self_ns,
                              .min_ns = ns,
                              .max_ns = ns};
    gnomon__total_cell(s, gnomon_cell_of(ns), 1);
    gnomon_stats_add(&s->s, &one);
    return 1;
}

int gnomon__total_add(gnomon__total *to, const gnomon__total *from)
{
    if (from->device && !to->device &&
        !(to->device = gnomon__alloc(sizeof *to->device)))
        return 0;
    if (!gnomon__total_hold(to, from->cell_count))
        return 0;
    if (from->device && !gnomon__total_add(to->device, from->device))
        return 0;
    for (size_t i = 0; i < from->cell_count; i++)
        gnomon__total_cell(to, from->cells[i].cell, from->cells[i].count);
    gnomon_stats_add(&to->s, &from->s);
    to->flags |= from->flags;
    to->has_times |= from->has_times;
    gnomon__total_first(to, from->first);
    return 1;
}

void gnomon__total_clear(gnomon__total *s)
{
    gnomon__total_free(s->device);
    *s = (gnomon__total){.cells = s->cells, .cell_room = s->cell_room};
}

void gnomon__total_empty(gnomon__total *s)
{
    gnomon__total_free(s->device);
    gnomon__free(s->cells);
    *s = (gnomon__total){0};
}

void gnomon__total_free(gnomon__total *s)
{
    if (!s)
        return;
    gnomon__total_empty(s);
    gnomon__free(s);
}

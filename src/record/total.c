/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sums of one path. Its histogram has room only for the octaves between the
 * shortest and the longest duration so far. */
#include <string.h>

#include "gnomon/stats.h"
#include "platform/memory.h"
#include "record/totals.h"

int gnomon__total_hold(gnomon__total *s, uint32_t low, uint32_t high)
{
    if (s->room && s->low <= low && high < (uint32_t)s->low + s->room)
        return 1;
    if (s->room) {
        uint32_t last = (uint32_t)s->low + s->room - 1;
        low = s->low < low ? s->low : low;
        high = last > high ? last : high;
    }
    size_t room = high - low + 1;
    uint64_t *cells = gnomon__alloc(room * GNOMON__CELLS * sizeof *cells);
    if (!cells)
        return 0;
    if (s->room)
        memcpy(cells + (size_t)(s->low - low) * GNOMON__CELLS, s->cells,
               (size_t)s->room * GNOMON__CELLS * sizeof *cells);
    gnomon__free(s->cells);
    s->cells = cells;
    s->low = (uint8_t)low;
    s->room = (uint8_t)room;
    return 1;
}

void gnomon__total_cell(gnomon__total *s, uint32_t cell, uint64_t count)
{
    uint8_t octave = (uint8_t)(cell / GNOMON__CELLS);
    if (!s->end || octave < s->least)
        s->least = octave;
    if (octave >= s->end)
        s->end = (uint8_t)(octave + 1);
    s->cells[cell - s->low * GNOMON__CELLS] += count;
}

void gnomon__total_first(gnomon__total *s, uint64_t first)
{
    if (first && (!s->first || first < s->first))
        s->first = first;
}

int gnomon__total_count(gnomon__total *s, uint64_t ns, uint64_t self_ns)
{
    uint32_t cell = gnomon_cell_of(ns), octave = cell / GNOMON__CELLS;
    if (octave - s->low >= s->room && !gnomon__total_hold(s, octave, octave))
        return 0;
    const gnomon_stats one = {.struct_size = sizeof one,
                              .count = 1,
                              .total_ns = ns,
                              .self_ns = self_ns,
                              .min_ns = ns,
                              .max_ns = ns};
    gnomon__total_cell(s, cell, 1);
    gnomon_stats_add(&s->s, &one);
    return 1;
}

int gnomon__total_add(gnomon__total *to, const gnomon__total *from)
{
    if (from->device && !to->device &&
        !(to->device = gnomon__alloc(sizeof *to->device)))
        return 0;
    if (from->end && !gnomon__total_hold(to, from->least, from->end - 1u))
        return 0;
    if (from->device && !gnomon__total_add(to->device, from->device))
        return 0;
    uint32_t below = from->low * GNOMON__CELLS;
    for (uint32_t i = from->least * GNOMON__CELLS;
         i < from->end * (uint32_t)GNOMON__CELLS; i++)
        if (from->cells[i - below])
            gnomon__total_cell(to, i, from->cells[i - below]);
    gnomon_stats_add(&to->s, &from->s);
    to->flags |= from->flags;
    to->has_times |= from->has_times;
    gnomon__total_first(to, from->first);
    return 1;
}

void gnomon__total_clear(gnomon__total *s)
{
    gnomon__total_free(s->device);
    if (s->end)
        memset(s->cells + (size_t)(s->least - s->low) * GNOMON__CELLS, 0,
               (size_t)(s->end - s->least) * GNOMON__CELLS * sizeof *s->cells);
    *s = (gnomon__total){.cells = s->cells, .low = s->low, .room = s->room};
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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all parts of a snapshot put into it: statistics and regions. */
#include "record/snapshot_parts.h"

#include "mark/region.h"
#include "platform/memory.h"

gnomon_stats *gnomon__snapshot_stats(gnomon__snapshot_builder *b,
                                     const gnomon__total *s)
{
    gnomon_stats *out = gnomon__model_sized(b->m, sizeof *out);
    size_t used = 0, cells = s->room * (size_t)GNOMON__CELLS;
    for (size_t i = 0; i < cells; i++)
        used += s->cells[i] != 0;
    gnomon_cell *at = gnomon__model_room(b->m, used * sizeof *at);
    if (!out || !at)
        return NULL;
    *out = s->s;
    out->struct_size = sizeof *out;
    out->cells = at;
    for (size_t i = 0; i < cells; i++)
        if (s->cells[i])
            at[out->cell_count++] = (gnomon_cell){
                s->low * GNOMON__CELLS + (uint32_t)i, 0, s->cells[i]};
    return out;
}

uint32_t gnomon__snapshot_region(gnomon__snapshot_builder *b, uint32_t id)
{
    if (!gnomon__grow_zeroed(&b->region_numbers, &b->region_room, id + 1,
                             sizeof *b->region_numbers))
        return 0;
    if (b->region_numbers[id])
        return b->region_numbers[id];
    gnomon_region_info *r = gnomon__model_add(b->m, GNOMON_REGIONS);
    if (!r)
        return 0;
    const gnomon__entry *e = gnomon__region_entry(id);
    r->kind = e->region->kind;
    r->name = e->name;
    r->category = e->category;
    r->file = e->region->file ? e->region->file : "";
    r->function = e->region->function ? e->region->function : "";
    r->line = e->region->line;
    return b->region_numbers[id] =
               (uint32_t)gnomon__model_count(b->m, GNOMON_REGIONS);
}

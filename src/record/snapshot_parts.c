/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all parts of a snapshot put into it: statistics, regions and operations. */
#include "record/snapshot_parts.h"

#include <string.h>

#include "mark/op.h"
#include "platform/memory.h"

gnomon_stats *gnomon__snapshot_stats(gnomon__snapshot_builder *b,
                                     const gnomon__total *s)
{
    gnomon_stats *out = gnomon__model_sized(b->m, sizeof *out);
    const size_t bytes = s->cell_count * sizeof *s->cells;
    gnomon_cell *cells = gnomon__model_room(b->m, bytes);
    if (!out || !cells)
        return NULL;
    *out = s->s;
    out->struct_size = sizeof *out;
    out->cells = cells;
    out->cell_count = s->cell_count;
    if (bytes)
        memcpy(cells, s->cells, bytes);
    return out;
}

uint32_t gnomon__snapshot_region(gnomon__snapshot_builder *b, uint32_t id)
{
    id = gnomon__plain_id(id);
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

int gnomon__snapshot_op(gnomon__snapshot_builder *b, uint32_t id, uint32_t *op)
{
    const gnomon__op *from = gnomon__region_entry(id)->op;
    *op = 0;
    if (!from)
        return 1;
    if (!gnomon__grow_zeroed(&b->op_numbers, &b->op_room, from->number + 1,
                             sizeof *b->op_numbers))
        return 0;
    if (!b->op_numbers[from->number]) {
        gnomon_op_info *to = gnomon__model_add(b->m, GNOMON_OPS);
        if (!to)
            return 0;
        *to = from->info; /* which lives as long as the process */
        b->op_numbers[from->number] =
            (uint32_t)gnomon__model_count(b->m, GNOMON_OPS);
    }
    *op = b->op_numbers[from->number];
    return 1;
}

/* The most there is, where the product is more. */
static uint64_t capped_product(uint64_t one, uint64_t count)
{
    return one && count > UINT64_MAX / one ? UINT64_MAX : one * count;
}

int gnomon__snapshot_work(gnomon__snapshot_builder *b, uint32_t id,
                          uint64_t count, const gnomon_work_stats **work)
{
    const gnomon__op *op = gnomon__region_entry(id)->op;
    *work = NULL;
    if (!op || !(op->info.flops | op->info.bytes))
        return 1;
    gnomon_work_stats *w = gnomon__model_sized(b->m, sizeof *w);
    if (!w)
        return 0;
    w->flops = capped_product(op->info.flops, count);
    w->bytes = capped_product(op->info.bytes, count);
    *work = w;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts memory into a profile: a track for each pool, and sums at the nodes of paths. What
 * was marked outside of all scopes is of a node "(outside)". */
#include <stdlib.h>
#include <string.h>

#include "mark/region.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/memory_sums.h"

/* The number behind the last colon of "cuda:0"; -1: the host. */
static int32_t device_of(const char *pool)
{
    const char *colon = strrchr(pool, ':');
    char *end;
    const long number = colon ? strtol(colon + 1, &end, 10) : -1;
    return colon && end != colon + 1 && !*end && number >= 0 &&
                   number <= INT32_MAX
               ? (int32_t)number
               : -1;
}

uint32_t gnomon__snapshot_pool(gnomon__snapshot_builder *b, uint32_t region)
{
    const char *name = gnomon__region_entry(region)->name;
    const size_t count = gnomon__model_count(b->m, GNOMON_TRACKS);
    for (size_t i = 1; i <= count; i++) {
        const gnomon_track_info *k = gnomon__model_at(b->m, GNOMON_TRACKS, i);
        if (k->kind == GNOMON_TRACK_POOL && strcmp(k->name, name) == 0)
            return (uint32_t)i;
    }
    gnomon_track_info *k = gnomon__model_add(b->m, GNOMON_TRACKS);
    if (!k || !(k->name = gnomon__model_text(b->m, name)))
        return 0;
    k->kind = GNOMON_TRACK_POOL;
    k->run = 1;
    k->device = device_of(name);
    return (uint32_t)count + 1;
}

/* A node for what was marked outside of scopes. 0: no memory. */
static uint32_t put_outside(gnomon__snapshot_builder *b, uint32_t track,
                            uint32_t stage)
{
    static const char name[] = "(outside)";
    size_t region = gnomon__model_count(b->m, GNOMON_REGIONS);
    const gnomon_region_info *r;
    for (; region; region--) {
        r = gnomon__model_at(b->m, GNOMON_REGIONS, region);
        if (r->name == name)
            break;
    }
    if (!region) {
        gnomon_region_info *made = gnomon__model_add(b->m, GNOMON_REGIONS);
        if (!made)
            return 0;
        made->name = name;
        made->category = made->file = made->function = "";
        region = gnomon__model_count(b->m, GNOMON_REGIONS);
    }
    gnomon_node_info *n = gnomon__model_add(b->m, GNOMON_NODES);
    if (!n)
        return 0;
    n->track = track;
    n->stage = stage;
    n->view = 1;
    n->region = (uint32_t)region;
    return (uint32_t)gnomon__model_count(b->m, GNOMON_NODES);
}

GNOMON__ORDER(memory_order, gnomon__memory_sum, UP(thread), UP(path), UP(pool))

/* Of one path: from `of` on, of which `pool` is a track's number by now. */
static int put_path(gnomon__snapshot_builder *b, uint32_t stage,
                    const gnomon__memory_sum *of, size_t count)
{
    const uint32_t track =
        of->thread < b->thread_count ? b->threads[of->thread].track : 0;
    uint32_t node =
        of->path ? gnomon__snapshot_node(b, of->thread, of->path, stage) : 0;
    if (!of->path && track && !(node = put_outside(b, track, stage)))
        return 0;
    if (!node) /* marked after the tree was read: it comes with the next profile */
        return 1;
    gnomon_memory_stats *list = gnomon__model_room(b->m, count * sizeof *list);
    if (!list)
        return 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = of[i].s;
        list[i].struct_size = sizeof *list;
        list[i].pool = of[i].pool;
    }
    gnomon_node_info *n = gnomon__model_at(b->m, GNOMON_NODES, node);
    n->memory = list;
    n->memory_count = count;
    return 1;
}

int gnomon__snapshot_memory(gnomon__snapshot_builder *b, uint32_t stage)
{
    const gnomon__memory_sums *from =
        b->record->stages[stage - 1].totals->sums[GNOMON__MEMORY_RECORDER];
    if (!from)
        return 1;
    gnomon__memory_sum *all = gnomon__alloc((from->count + 1) * sizeof *all);
    int ok = all != NULL;
    if (ok && from->count)
        memcpy(all, from->of, from->count * sizeof *all);
    for (size_t i = 0; ok && i < from->count; i++)
        ok = (all[i].pool = gnomon__snapshot_pool(b, all[i].pool)) != 0;
    if (ok)
        GNOMON__SORT(all, from->count, memory_order);
    for (size_t i = 0, next; ok && i < from->count; i = next) {
        for (next = i + 1; next < from->count &&
                           all[next].thread == all[i].thread &&
                           all[next].path == all[i].path;)
            next++;
        ok = put_path(b, stage, &all[i], next - i);
    }
    gnomon__free(all);
    for (size_t i = 0; ok && i < from->level_count; i++) {
        const gnomon_strip_info level = {
            .stage = stage,
            .track = gnomon__snapshot_pool(b, from->levels[i].pool)};
        ok = level.track &&
             gnomon__snapshot_strip(b, level, &from->levels[i].strip);
    }
    return ok;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Merges one kind after the other, in the order of a file: so the references in a key
 * have their new numbers when keys are compared. In place: kept entities move to the
 * front. */
#include "profile/parts.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/keys.h"
#include "profile/slots.h"
#include "profile/sums.h"

static int no_memory_for_parts(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
}

/* ---- Two that are the same --------------------------------------------------- */

/* Both stay as they are; *to is a third one. */
static int add_stats(gnomon__model *m, const gnomon_stats **to,
                     const gnomon_stats *from)
{
    gnomon__sum sum = {.room = 0};
    if (!from)
        return 1;
    int ok = !gnomon__sum_become(&sum, *to) && !gnomon__sum_add(&sum, from) &&
             gnomon__sum_keep(&sum, m, to);
    gnomon__sum_free(&sum);
    return ok;
}

/* Two lists, both by ascending pool, become one. */
static int add_memory(gnomon__model *m, gnomon_node_info *to,
                      const gnomon_node_info *from)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON__MEMORY];
    size_t i = 0, k = 0, n = 0, all = to->memory_count + from->memory_count;
    gnomon_memory_stats *list = gnomon__model_room(m, all * sizeof *list);
    if (!from->memory_count || !list)
        return list != NULL;
    while (i < to->memory_count || k < from->memory_count) {
        const gnomon_memory_stats *a =
            i < to->memory_count ? gnomon_memory_at(to, i) : NULL;
        const gnomon_memory_stats *b =
            k < from->memory_count ? gnomon_memory_at(from, k) : NULL;
        int is_a = a && (!b || a->pool <= b->pool);
        int is_b = b && (!a || b->pool <= a->pool);
        if (is_a)
            list[n] = *a;
        if (is_a && is_b)
            gnomon__merge_fields(s, &list[n], b, 0);
        else if (is_b)
            list[n] = *b;
        i += (size_t)is_a;
        k += (size_t)is_b;
        n++;
    }
    to->memory = list;
    to->memory_count = n;
    return 1;
}

static int add_work(gnomon__model *m, gnomon_node_info *to,
                    const gnomon_node_info *from)
{
    gnomon_work_stats *work;
    if (!from->work)
        return 1;
    if (!(work = gnomon__model_sized(m, sizeof *work)))
        return 0;
    if (to->work)
        *work = *to->work;
    gnomon__merge_fields(&gnomon__structs[GNOMON__WORK], work, from->work, 0);
    to->work = work;
    return 1;
}

static int add_node(gnomon__model *m, gnomon_node_info *to,
                    const gnomon_node_info *from)
{
    to->flags |= from->flags;
    to->open |= from->open;
    if (from->first && (!to->first || from->first < to->first))
        to->first = from->first;
    return add_stats(m, &to->host, from->host) &&
           add_stats(m, &to->device, from->device) && add_memory(m, to, from) &&
           add_work(m, to, from);
}

static int add_stage(gnomon__model *m, gnomon_stage_info *to,
                     const gnomon_stage_info *from)
{
    if (from->begin_ns < to->begin_ns)
        to->begin_ns = from->begin_ns;
    if (from->end_ns > to->end_ns)
        to->end_ns = from->end_ns;
    to->ended |= from->ended;
    gnomon__merge_fields(&gnomon__structs[GNOMON_STAGES], to, from, 0);
    return add_stats(m, &to->steps, from->steps);
}

/* A counter that has only NaN samples has no min and max. */
static void add_counter(gnomon_counter_info *to,
                        const gnomon_counter_info *from)
{
    double last = from->count ? from->last : to->last;
    gnomon_counter_info one = to->count ? *to : *from;
    const gnomon_counter_info *other = to->count ? from : to;
    if (other->count)
        gnomon__merge_fields(&gnomon__structs[GNOMON_COUNTERS], &one, other, 0);
    else
        one.nans += other->nans;
    *to = one;
    to->last = last;
}

/* The later record of a track wins; `inexact` stays, as sums of it stay. */
static void take_track(gnomon_track_info *to, const gnomon_track_info *from)
{
    int32_t inexact = to->inexact | from->inexact;
    *to = *from;
    to->inexact = inexact;
}

static int add_step_time(gnomon__model *m, gnomon_step_time_info *to,
                         const gnomon_step_time_info *from)
{
    if (to->step) {
        *to = *from;
        return 1;
    }
    gnomon__merge_fields(&gnomon__structs[GNOMON_STEP_TIMES], to, from, 0);
    return add_stats(m, &to->time, from->time);
}

/* Each part says what was lost of its own events; all else that is lost is counted since
 * the process began. */
static void join_loss(gnomon_loss_info *to, const gnomon_loss_info *from)
{
    gnomon_loss_info sum = *from;
    if (from->kind && (strcmp(from->kind, "events_lost") == 0 ||
                       strcmp(from->kind, "events_overwritten") == 0)) {
        sum.count += to->count;
        if (to->begin_ns < sum.begin_ns)
            sum.begin_ns = to->begin_ns;
        if (to->end_ns > sum.end_ns)
            sum.end_ns = to->end_ns;
    }
    *to = sum;
}

/* Merges `from` into `to`. Kinds without sums take the later record. */
static int join(gnomon__model *m, int entity, void *to, const void *from)
{
    switch (entity) {
    case GNOMON_NODES:
        return add_node(m, to, from);
    case GNOMON_STAGES:
        return add_stage(m, to, from);
    case GNOMON_COUNTERS:
        add_counter(to, from);
        return 1;
    case GNOMON_TRACKS:
        take_track(to, from);
        return 1;
    case GNOMON_LOSSES:
        join_loss(to, from);
        return 1;
    case GNOMON_STEP_TIMES:
        return add_step_time(m, to, from);
    case GNOMON_LINKS:
        gnomon__merge_fields(&gnomon__structs[entity], to, from, 0);
        return 1;
    default:
        memcpy(to, from, m->tables[entity].size);
        return 1;
    }
}

/* ---- A kind --------------------------------------------------------------------- */

typedef struct parts_kind {
    const gnomon__model *m;
    int entity;
} parts_kind;

static int same_key(const void *context, uint32_t item, const void *wanted)
{
    const parts_kind *k = context;
    return !gnomon__compare_keys(
        k->entity, gnomon__model_at(k->m, k->entity, item), wanted);
}

/* Our paths are not deeper; a damaged file's may be. */
#define DEEPEST 4096

/* The node of the same path in `stage`, for a node in no stage; 0: none. */
static uint32_t in_stage(const parts_kind *k, const gnomon__slots *slots,
                         uint32_t node, uint32_t stage, int depth)
{
    gnomon_node_info key =
        *(gnomon_node_info *)gnomon__model_at(k->m, GNOMON_NODES, node);
    uint32_t parent = key.parent && depth < DEEPEST
                          ? in_stage(k, slots, key.parent, stage, depth + 1)
                          : 0;
    key.parent = parent ? parent : key.parent;
    key.stage = stage;
    return gnomon__slots_find(slots, gnomon__hash_key(GNOMON_NODES, &key),
                              same_key, k, &key);
}

/* A part of late records has its outer paths in no stage: finds the same paths in the
 * node's stage. */
static void find_parent(const parts_kind *k, const gnomon__slots *slots,
                        gnomon_node_info *n)
{
    const gnomon_node_info *above =
        n->stage && n->parent ? gnomon__model_at(k->m, GNOMON_NODES, n->parent)
                              : NULL;
    uint32_t parent =
        above && !above->stage ? in_stage(k, slots, n->parent, n->stage, 0) : 0;
    n->parent = parent ? parent : n->parent;
}

static int unite_kind(gnomon__model *m, gnomon__numbers *maps, int entity)
{
    gnomon__table *t = &m->tables[entity];
    const parts_kind kind = {m, entity};
    gnomon__slots slots = {0};
    size_t kept = 0;
    uint32_t *map = gnomon__alloc((t->count + 1) * sizeof *map);
    int ok = map != NULL;
    maps->of[entity] = map; /* nodes name nodes */
    for (size_t i = 1; ok && i <= t->count; i++) {
        void *item = gnomon__model_at(m, entity, i);
        gnomon__renumber(maps, entity, item);
        if (entity == GNOMON_NODES)
            find_parent(&kind, &slots, item);
        uint64_t hash = gnomon__hash_key(entity, item);
        uint32_t same = gnomon__slots_find(&slots, hash, same_key, &kind, item);
        if (same) {
            ok = join(m, entity, gnomon__model_at(m, entity, same), item);
            map[i] = same;
            continue;
        }
        memmove(t->items + kept++ * t->size, item, t->size);
        map[i] = (uint32_t)kept;
        ok = !gnomon__slots_add(&slots, hash, map[i]);
    }
    t->count = kept;
    gnomon__slots_free(&slots);
    return ok;
}

/* ---- The whole ------------------------------------------------------------------ */

static void keep_opens(gnomon__model *m, size_t first, size_t count)
{
    gnomon__table *t = &m->tables[GNOMON_OPENS];
    if (first + count > t->count + 1)
        count = 0;
    if (count)
        memmove(t->items, t->items + (first - 1) * t->size, count * t->size);
    t->count = count;
}

/* Only the last part says what is open. A node that was open in an earlier part may have
 * self time of an execution that it does not count: it is partial. */
static void count_opens(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_NODES); i++) {
        gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, i);
        if (n->open && n->host)
            n->flags |= GNOMON_NODE_PARTIAL;
        n->open = 0;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_OPENS); i++) {
        const gnomon_open_info *o = gnomon__model_at(m, GNOMON_OPENS, i);
        ((gnomon_node_info *)gnomon__model_at(m, GNOMON_NODES, o->node))
            ->open++;
    }
}

int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count,
                        gnomon__numbers *maps)
{
    int ok = 1;
    keep_opens(m, first_open, open_count);
    for (int i = 0; ok && i < GNOMON__ENTITIES; i++)
        ok = unite_kind(m, maps, gnomon__file_order[i]);
    if (!ok)
        return no_memory_for_parts();
    count_opens(m);
    return GNOMON_OK;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts work of devices into a profile. Each stream, each thread's calls and so on are a
 * track. On it the path that launched the work is there again, as nodes without times,
 * with the work below. Work of several threads below equal paths is one node. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mark/names.h"
#include "mark/tree.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/activities.h"
#include "record/activity_rows.h"
#include "record/activity_tables.h"

#define MOST_PATH_DEPTH (GNOMON__MAX_DEPTH + 2) /* with an "(other)" */

/* A node to be. A parent comes before its children. */
typedef struct work_node {
    /* Its key: */
    uint32_t track;  /* number in the tables */
    uint32_t stage;  /* in the profile */
    uint32_t parent; /* number in the list of these, from 1; 0: none */
    uint32_t region; /* of a scope its id, of work the name's number */
    uint32_t op;
    uint32_t is_work;
    /* The rest: */
    uint32_t flags;
    uint32_t node;     /* in the profile, ... */
    uint32_t on;       /* ... and its track */
    uint32_t is_timed; /* a scope whose times on the stream are known */
    uint64_t bytes;
    gnomon__total total;
} work_node;

typedef struct work_nodes {
    gnomon__snapshot_builder *b;
    work_node *of;
    size_t count, room;
    gnomon__slots slots;
    uint32_t *names, *ops; /* by number in the tables: in the profile; 0: new */
    size_t name_room, op_room;
    gnomon__work_place *places; /* where there are events */
    size_t place_count, place_room;
} work_nodes;

/* ---- Tracks: a stream, the calls of a thread, or a lane ---------------------------- */

/* Above the numbers that vendors give streams. */
#define FIRST_TIMED_STREAM 1000000u

static void name_track(char *name, size_t size,
                       const gnomon__activity_track *of)
{
    static const char *const lanes[] = {[GNOMON__LANE_OVERHEAD] = "overhead",
                                        [GNOMON__LANE_GRAPHS] = "graphs",
                                        [GNOMON__LANE_COLLECTIVES] =
                                            "collectives"};
    char room[16];
    switch (of->lane) {
    case GNOMON__LANE_STREAM:
        (void)snprintf(name, size, "stream %" PRId64, of->number);
        break;
    case GNOMON__LANE_TIMED:
        (void)snprintf(name, size, "timed stream %" PRId64, of->number);
        break;
    case GNOMON__LANE_CALLS:
        (void)snprintf(
            name, size, "calls of %s",
            gnomon__thread_name_of(
                gnomon__thread_numbered((uint64_t)of->number), room));
        break;
    case GNOMON__LANE_CALLS_OF:
        (void)snprintf(name, size, "calls of thread %" PRId64, of->number);
        break;
    default:
        (void)snprintf(name, size, "%s", lanes[of->lane]);
    }
}

static int64_t system_thread(const gnomon__activity_track *of)
{
    if (of->lane != GNOMON__LANE_CALLS)
        return of->lane == GNOMON__LANE_CALLS_OF ? of->number : 0;
    return load_relaxed(&gnomon__thread_numbered((uint64_t)of->number)->os_id);
}

static uint32_t put_work_track(gnomon__model *m,
                               const gnomon__activity_track *from)
{
    gnomon_track_info *t = gnomon__model_add(m, GNOMON_TRACKS);
    char name[GNOMON__MAX_NAME + 64];
    if (!t)
        return 0;
    name_track(name, sizeof name, from);
    t->run = 1;
    t->device = from->device;
    t->kind =
        from->lane == GNOMON__LANE_STREAM || from->lane == GNOMON__LANE_TIMED
            ? GNOMON_TRACK_STREAM
            : GNOMON_TRACK_LANE;
    t->index = (uint32_t)from->number;
    if (from->lane == GNOMON__LANE_TIMED)
        t->index += FIRST_TIMED_STREAM;
    t->os_id = system_thread(from);
    t->name = gnomon__model_text(m, name);
    return t->name ? (uint32_t)gnomon__model_count(m, GNOMON_TRACKS) : 0;
}

/* Whether its work has times on the host. */
static int is_host_lane(uint32_t lane)
{
    return lane == GNOMON__LANE_CALLS || lane == GNOMON__LANE_CALLS_OF;
}

/* ---- Which nodes -------------------------------------------------------------------- */

/* The number of a node of this key, from 1. 0: no memory. */
static uint32_t work_node_of(work_nodes *w, const work_node *key)
{
    uint32_t item = gnomon__keyed_at(&w->slots, &w->of, &w->room, sizeof *key,
                                     key, offsetof(work_node, flags), SIZE_MAX);
    w->count = w->slots.count;
    return item;
}

/* The node on the track that stands for a path, below those of its parents. *ok: 0 where
 * there is no memory. At most 1024 deep, as paths are. */
static uint32_t scope_node(work_nodes *w, const gnomon__activity_leaf *leaf,
                           uint32_t stage, int *ok)
{
    uint32_t path[MOST_PATH_DEPTH], depth = 0, parent = 0;
    const gnomon__path *p;
    for (uint32_t at = leaf->path;
         depth < MOST_PATH_DEPTH &&
         (p = gnomon__ledger_path(w->b->ledger, leaf->thread, at)) != NULL;
         at = p->parent)
        path[depth++] = at;
    while (*ok && depth--) {
        p = gnomon__ledger_path(w->b->ledger, leaf->thread, path[depth]);
        const work_node key = {.track = leaf->track,
                               .stage = stage,
                               .parent = parent,
                               .region = GNOMON__KEY_REGION(p->key),
                               .flags = p->flags & GNOMON__NODE_OTHER
                                            ? (uint32_t)GNOMON_NODE_OTHER
                                            : 0};
        parent = work_node_of(w, &key);
        *ok = parent != 0;
    }
    return parent;
}

static int add_sum(work_nodes *w, uint32_t stage,
                   const gnomon__activity_sum *sum)
{
    const gnomon__activity_leaf *leaf = gnomon__activity_leaf_at(sum->leaf);
    int ok = 1;
    uint32_t scope = scope_node(w, leaf, stage, &ok);
    const work_node key = {.track = leaf->track,
                           .stage = stage,
                           .parent = scope,
                           .region = leaf->name,
                           .op = leaf->op,
                           .is_work = 1};
    if (ok && !leaf->name && !scope)
        return 1; /* its path is not known yet: it comes with the next one */
    uint32_t number = leaf->name ? ok ? work_node_of(w, &key) : 0 : scope;
    if (number && !leaf->name)
        w->of[number - 1].is_timed = 1;
    if (!number || !gnomon__total_add(&w->of[number - 1].total, &sum->total))
        return 0;
    w->of[number - 1].bytes += sum->bytes;
    if (!w->b->record->work)
        return 1;
    return GNOMON__ADD(w->places, w->place_room, w->place_count,
                       (gnomon__work_place){
                           .stage = stage, .leaf = sum->leaf, .node = number});
}

static int add_stages(work_nodes *w)
{
    int ok = 1;
    for (uint32_t i = 0; ok && i < w->b->record->stage_count; i++) {
        const gnomon__activity_sums *sums =
            w->b->record->stages[i].totals->sums[GNOMON__ACTIVITY_RECORDER];
        for (size_t k = 0; ok && sums && k < sums->count; k++)
            ok = add_sum(w, i + 1, &sums->of[k]);
    }
    return ok;
}

/* ---- Regions and operations ------------------------------------------------------------ */

static uint32_t work_region(work_nodes *w, uint32_t number)
{
    if (!gnomon__grow_zeroed(&w->names, &w->name_room, number + 1,
                             sizeof *w->names))
        return 0;
    if (w->names[number])
        return w->names[number];
    const gnomon__activity_name *name = gnomon__activity_name_at(number);
    gnomon_region_info *r = gnomon__model_add(w->b->m, GNOMON_REGIONS);
    if (!r || !(r->name = gnomon__model_text(w->b->m, name->text)))
        return 0;
    r->kind = name->kind;
    r->category = name->category;
    r->file = r->function = "";
    return w->names[number] =
               (uint32_t)gnomon__model_count(w->b->m, GNOMON_REGIONS);
}

/* 0: no memory. */
static int add_attribute(gnomon__model *m, gnomon_op_info *op, const char *key,
                         const char *json)
{
    gnomon_attribute *all = (gnomon_attribute *)(uintptr_t)op->attributes;
    gnomon_attribute *a = &all[op->attribute_count++];
    a->struct_size = sizeof *a;
    a->key = key;
    a->json = gnomon__model_text(m, json);
    return a->json != NULL;
}

static int add_attribute_number(gnomon__model *m, gnomon_op_info *op,
                                const char *key, uint64_t value)
{
    char json[24];
    (void)snprintf(json, sizeof json, "%" PRIu64, value);
    return !value || add_attribute(m, op, key, json);
}

static int add_attribute_sizes(gnomon__model *m, gnomon_op_info *op,
                               const char *key, const uint32_t sizes[3])
{
    char json[48];
    (void)snprintf(json, sizeof json, "[%u, %u, %u]", sizes[0], sizes[1],
                   sizes[2]);
    return !sizes[0] || add_attribute(m, op, key, json);
}

#define MOST_ATTRIBUTES 6

/* Its number in the profile. 0: no memory. */
static uint32_t work_op(work_nodes *w, uint32_t number)
{
    gnomon__model *m = w->b->m;
    if (!gnomon__grow_zeroed(&w->ops, &w->op_room, number + 1, sizeof *w->ops))
        return 0;
    if (w->ops[number])
        return w->ops[number];
    const gnomon__activity_op *from = gnomon__activity_op_at(number);
    gnomon_attribute *room =
        gnomon__model_room(m, MOST_ATTRIBUTES * sizeof *room);
    gnomon_op_info *op = gnomon__model_add(m, GNOMON_OPS);
    if (!op || !room)
        return 0;
    op->operation = "";
    op->attributes = room;
    op->bytes = from->bytes;
    op->flags = from->bytes ? (uint32_t)GNOMON_OP_BYTES_GIVEN : 0;
    if (!add_attribute_number(m, op, "context", from->context) ||
        !add_attribute_number(m, op, "registers per thread", from->registers) ||
        !add_attribute_number(m, op, "shared memory", from->shared) ||
        !add_attribute_sizes(m, op, "grid", from->grid) ||
        !add_attribute_sizes(m, op, "block", from->block) ||
        !add_attribute_number(m, op, "communicator", from->communicator))
        return 0;
    return w->ops[number] = (uint32_t)gnomon__model_count(m, GNOMON_OPS);
}

/* ---- Nodes --------------------------------------------------------------------------------- */

static int put_times(work_nodes *w, gnomon_node_info *n, const work_node *from,
                     int is_on_host)
{
    gnomon_stats *s = gnomon__snapshot_stats(w->b, &from->total);
    gnomon_work_stats *work =
        from->bytes ? gnomon__model_sized(w->b->m, sizeof *work) : NULL;
    *(is_on_host ? &n->host : &n->device) = s;
    n->work = work;
    if (work)
        work->bytes = from->bytes;
    return s && (work || !from->bytes);
}

/* What a node is of: work, or the scope around it. 0: no memory. */
static int find_work_place(work_nodes *w, const work_node *from,
                           uint32_t *region, uint32_t *op)
{
    if (!from->is_work) {
        *region = gnomon__snapshot_region(w->b, from->region);
        return *region && gnomon__snapshot_op(w->b, from->region, op);
    }
    *region = work_region(w, from->region);
    *op = from->op ? work_op(w, from->op) : 0;
    return *region && (*op || !from->op);
}

static int put_node(work_nodes *w, work_node *from, uint32_t track,
                    int is_on_host)
{
    uint32_t region, op;
    gnomon_node_info *n = find_work_place(w, from, &region, &op)
                              ? gnomon__model_add(w->b->m, GNOMON_NODES)
                              : NULL;
    if (!n)
        return 0;
    from->node = (uint32_t)gnomon__model_count(w->b->m, GNOMON_NODES);
    n->track = from->on = track;
    n->view = 1;
    n->stage = from->stage;
    n->parent = from->parent ? w->of[from->parent - 1].node : 0;
    n->region = region;
    n->op = op;
    n->flags = from->flags | (from->is_timed ? (uint32_t)GNOMON_NODE_PART : 0);
    return (!from->is_work && !from->is_timed) ||
           put_times(w, n, from, is_on_host);
}

GNOMON__ORDER(work_track_order, gnomon__activity_track, UP(device), UP(lane),
              UP(number))

/* By track; on each in the order of the list. Under the lock of the tables. */
GNOMON__ORDER(work_node_order, work_node *const,
              OF(work_track_order(gnomon__activity_track_at((*a)->track),
                                  gnomon__activity_track_at((*b)->track))),
              ITSELF)

static int put_nodes(work_nodes *w)
{
    work_node **order = gnomon__alloc((w->count + 1) * sizeof *order);
    int ok = order != NULL;
    uint32_t track = 0;
    for (size_t i = 0; ok && i < w->count; i++)
        order[i] = &w->of[i];
    if (ok)
        GNOMON__SORT(order, w->count, work_node_order);
    for (size_t i = 0; ok && i < w->count; i++) {
        const gnomon__activity_track *on =
            gnomon__activity_track_at(order[i]->track);
        if (!i || order[i]->track != order[i - 1]->track)
            track = put_work_track(w->b->m, on);
        ok = track && put_node(w, order[i], track, is_host_lane(on->lane));
    }
    gnomon__free((void *)order);
    return ok;
}

/* The numbers of nodes and tracks are known now. */
static void complete_places(work_nodes *w)
{
    for (size_t i = 0; i < w->place_count; i++) {
        gnomon__work_place *p = &w->places[i];
        const gnomon__activity_leaf *leaf = gnomon__activity_leaf_at(p->leaf);
        const work_node *n = &w->of[p->node - 1];
        const gnomon__activity_track *on = gnomon__activity_track_at(n->track);
        p->node = n->node;
        p->track = n->on;
        p->thread = leaf->thread;
        p->path = leaf->name ? leaf->path : 0;
        p->is_on_host = (uint32_t)is_host_lane(on->lane);
        p->is_call = n->is_work && gnomon__activity_name_at(n->region)->kind ==
                                       GNOMON_KIND_API;
    }
}

int gnomon__snapshot_activities(gnomon__snapshot_builder *b)
{
    work_nodes w = {.b = b};
    gnomon__activities_lock();
    int ok = add_stages(&w) && put_nodes(&w);
    if (ok)
        complete_places(&w);
    gnomon__activities_unlock();
    ok = ok && gnomon__snapshot_work_rows(b, w.places, w.place_count);
    gnomon__free(w.places);
    for (size_t i = 0; i < w.count; i++)
        gnomon__total_empty(&w.of[i].total);
    gnomon__free(w.of);
    gnomon__slots_free(&w.slots);
    gnomon__free(w.names);
    gnomon__free(w.ops);
    return ok;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The scopes around a kernel become what ranges of NVTX are, so that all that follows is
 * the same. */
#include "nsys/own.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/inputs.h"
#include "nsys/payload.h"
#include "ops/operands.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/events.h"
#include "print/order.h"

/* A node whose executions are rows. */
typedef struct own_node {
    uint32_t group, node; /* the operation around it, or what launched it */
    uint64_t count, ns;   /* of executions that are to come */
    uint64_t least, most; /* of all; taken ones are 0 */
    uint64_t flops, bytes;
    size_t event, event_end;
} own_node;

typedef struct own_event {
    uint32_t node;
    uint64_t begin_ns, ns, instance;
    uint64_t launch_ns; /* its call's begin, else its own */
} own_event;

typedef struct own_level {
    uint32_t node;
    gnomon__marker marker;
} own_level;

struct gnomon__own {
    gnomon_profile *p;
    own_node *nodes;
    size_t count, room;
    own_event *events;
    size_t event_count, event_room;
    own_level *levels; /* around the last kernel, from the outermost */
    size_t level_count, level_room;
    gnomon__marker_text text;
    size_t begin, at, end; /* of the group at hand */
    uint64_t round;        /* which execution */
    bool has_more;
    int damage; /* a gnomon__exit: some of the file is lost */
};

bool gnomon__own_is(const char *head, size_t size)
{
    return size && ((unsigned char)*head >= 0x80 ||
                    (*head == '{' && memmem(head, size, "\"gnomon\"", 8)));
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* The nearest node around it that computes something, or that it is in. */
static uint32_t group_of(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    gnomon_op_info op;
    uint32_t above = 0;
    for (uint32_t at = node; at && !gnomon_profile_node(p, at, &n);
         at = n.parent) {
        if (n.op && !gnomon_profile_op(p, n.op, &op) && *op.operation)
            return at;
        above = above ? above : n.parent;
    }
    return above;
}

static bool add_node(gnomon__own *o, uint32_t number, const gnomon_node_info *n,
                     uint64_t ns)
{
    const bool is_whole = ns == n->device->total_ns && n->device->count > 2;
    return GNOMON__PUSH(o->nodes, o->room, o->count,
                        (own_node){.group = group_of(o->p, number),
                                   .node = number,
                                   .count = n->device->count,
                                   .ns = ns,
                                   .least = is_whole ? n->device->min_ns : 0,
                                   .most = is_whole ? n->device->max_ns : 0,
                                   .flops = n->work ? n->work->flops : 0,
                                   .bytes = n->work ? n->work->bytes : 0});
}

static bool read_nodes(gnomon__own *o, bool is_by_events)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    bool ok = true;
    for (uint32_t i = 1; ok && !gnomon_profile_node(o->p, i, &n); i++) {
        if (!n.device || !n.device->count ||
            gnomon_profile_region(o->p, n.region, &region) ||
            gnomon_profile_track(o->p, n.track, &track))
            continue;
        if (!is_by_events && region.kind == GNOMON_KIND_KERNEL)
            ok = add_node(o, i, &n, n.device->total_ns);
        else if (is_by_events && track.device < 0 && n.device->self_ns)
            ok = add_node(o, i, &n, n.device->self_ns);
    }
    return ok;
}

GNOMON__ORDER(by_group, own_node, UP(group), UP(node))

GNOMON__ORDER(by_node, own_event, UP(node), UP(begin_ns))

/* Calls are begins by instance. */
static bool find_launches(gnomon__own *o)
{
    gnomon__keyed_list launches = {0}, calls = {0};
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    bool ok = gnomon__keyed_links(&launches, o->p, GNOMON_LINK_LAUNCH);
    gnomon__walk_all(&walk, o->p);
    while (ok && launches.count && (e = gnomon__walk_next(&walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION && e->instance)
            ok = gnomon__keyed_add(&calls, e->instance, e->begin_ns, 0);
    gnomon__keyed_sort(&calls);
    for (size_t i = 0; i < o->event_count; i++) {
        own_event *to = &o->events[i];
        const gnomon__keyed *c =
            gnomon__keyed_call(&calls, &launches, to->instance);
        to->launch_ns = c ? c->value : to->begin_ns;
    }
    free(launches.at);
    free(calls.at);
    return ok;
}

/* Single executions, in the order of the nodes' numbers; what they took is taken off. */
static bool read_events(gnomon__own *o)
{
    const size_t nodes = gnomon_profile_count(o->p, GNOMON_NODES);
    uint32_t *of = gnomon__alloc((nodes + 1) * sizeof *of);
    gnomon_event_info some[256];
    for (size_t i = 0; of && i < o->count; i++)
        of[o->nodes[i].node] = (uint32_t)i + 1;
    bool ok = of != NULL;
    size_t number = 1, n;
    for (; ok && (n = gnomon_profile_events(o->p, number, some, 256));
         number += n)
        for (size_t i = 0; ok && i < n; i++) {
            const gnomon_event_info *e = &some[i];
            if (e->kind || e->node > nodes || !of[e->node])
                continue;
            ok = GNOMON__PUSH(o->events, o->event_room, o->event_count,
                              (own_event){.node = of[e->node] - 1,
                                          .begin_ns = e->begin_ns,
                                          .ns = e->duration_ns,
                                          .instance = e->instance});
        }
    gnomon__free(of);
    GNOMON__SORT(o->events, o->event_count, by_node);
    for (size_t i = 0; i < o->event_count; i++) {
        own_node *node = &o->nodes[o->events[i].node];
        node->event = node->event_end ? node->event : i;
        node->event_end = i + 1;
        node->least = node->most = 0;
    }
    return ok && find_launches(o);
}

int gnomon__own_open(gnomon__own **out, const char *path)
{
    gnomon__own *o = *out = calloc(1, sizeof *o);
    if (o && gnomon__cli_load(path, &o->p))
        return GNOMON__EXIT_UNREADABLE;
    bool ok = o && read_nodes(o, false) && (o->count || read_nodes(o, true));
    if (o) {
        o->damage = gnomon__cli_log_damage(path, o->p);
        GNOMON__SORT(o->nodes, o->count, by_group);
    }
    if (!ok || !read_events(o)) {
        gnomon__log("%s: no memory for its kernels", path);
        return GNOMON__EXIT_UNREADABLE;
    }
    if (!o->count && o->damage)
        return o->damage;
    if (!o->count)
        gnomon__log("%s: no kernels in it, and no times of a device: record "
                    "with GNOMON=cupti or cuda",
                    path);
    return o->count ? GNOMON__EXIT_OK : GNOMON__EXIT_NOTHING;
}

/* ---- Kernels ------------------------------------------------------------------------------ */

/* The marker of a scope, as its name or what it computes. */
static bool set_level(gnomon__own *o, own_level *l, uint32_t node,
                      const gnomon_node_info *n)
{
    gnomon_region_info region;
    gnomon_op_info op;
    if (l->node == node)
        return true;
    (void)gnomon_profile_region(o->p, n->region, &region);
    l->node = node;
    if (!n->op || gnomon_profile_op(o->p, n->op, &op) || !*op.operation)
        return gnomon__marker_set(&l->marker, region.name, strlen(region.name));
    FILE *to = gnomon__marker_begin(&o->text);
    if (!to)
        return false;
    gnomon__op_text(to, region.name, &op);
    return gnomon__marker_end(&o->text, &l->marker);
}

/* Adds the scopes around it; a kernel itself is none, but for what it computes. */
static bool add_levels(gnomon__own *o, gnomon__nsys_record *r, uint32_t node)
{
    gnomon_node_info n;
    gnomon_op_info op;
    size_t depth = 0;
    (void)gnomon_profile_node(o->p, node, &n);
    if (!n.op || gnomon_profile_op(o->p, n.op, &op) || !*op.operation)
        node = n.parent;
    for (uint32_t at = node; at && !gnomon_profile_node(o->p, at, &n);
         at = n.parent)
        depth++;
    if (!gnomon__grow_zeroed(&o->levels, &o->level_room, depth,
                             sizeof *o->levels))
        return false;
    for (size_t i = depth; i--; node = n.parent) {
        (void)gnomon_profile_node(o->p, node, &n);
        if (!set_level(o, &o->levels[i], node, &n))
            return false;
    }
    for (size_t i = 0; i < depth; i++)
        gnomon__nsys_record_add(r, &o->levels[i].marker);
    return true;
}

static uint64_t take(uint64_t *all, uint64_t count)
{
    const uint64_t part = *all / count;
    *all -= part;
    return part;
}

static void take_time(gnomon__own *o, own_node *node, gnomon__nsys_record *r)
{
    uint64_t ns;
    if (node->event < node->event_end) {
        const own_event *e = &o->events[node->event++];
        r->begin_ns = (int64_t)e->begin_ns;
        r->launch_ns = (int64_t)e->launch_ns;
        ns = e->ns < node->ns ? e->ns : node->ns;
        node->ns -= ns;
    } else if (node->least || node->most) {
        uint64_t *one = node->least ? &node->least : &node->most;
        ns = *one < node->ns ? *one : node->ns;
        node->ns -= ns;
        *one = 0;
    } else {
        ns = take(&node->ns, node->count);
    }
    r->ns = (int64_t)ns;
    if (node->flops || node->bytes) {
        r->has_work = true;
        r->flops = take(&node->flops, node->count);
        r->bytes = take(&node->bytes, node->count);
    }
    node->count--;
}

static void fill(gnomon__own *o, own_node *node, gnomon__nsys_record *r)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_run_info run;
    gnomon_op_info op;
    gnomon__nsys_record_begin(r);
    (void)gnomon_profile_node(o->p, node->node, &n);
    (void)gnomon_profile_region(o->p, n.region, &region);
    (void)gnomon_profile_track(o->p, n.track, &track);
    (void)gnomon_profile_run(o->p, track.run, &run);
    gnomon__nsys_record_name(r, region.name);
    r->device = track.device < 0 ? 0 : track.device;
    r->stream = track.device < 0 ? 0 : track.index;
    r->process = run.pid;
    r->has_call = true;
    r->is_whole = region.kind != GNOMON_KIND_KERNEL;
    r->instance = (uint64_t)node->group << 32 | (uint32_t)(o->round + 1);
    if (n.op && !gnomon_profile_op(o->p, n.op, &op)) {
        (void)gnomon__op_list(&op, "grid", r->grid, 3);
        (void)gnomon__op_list(&op, "block", r->block, 3);
    }
    take_time(o, node, r);
    r->has_no_memory |= !add_levels(o, r, node->node);
}

bool gnomon__own_next(gnomon__own *o, gnomon__nsys_record *r, int *status)
{
    while (o->begin < o->count) {
        if (o->at == o->end) {
            o->begin = o->has_more ? o->begin : o->end;
            o->round = o->has_more ? o->round + 1 : 0;
            for (o->end = o->begin;
                 o->end < o->count &&
                 o->nodes[o->end].group == o->nodes[o->begin].group;)
                o->end++;
            o->at = o->begin;
            o->has_more = false;
            continue;
        }
        own_node *node = &o->nodes[o->at++];
        if (!node->count)
            continue;
        fill(o, node, r);
        o->has_more |= node->count > 0;
        return true;
    }
    *status = o->damage;
    return false;
}

bool gnomon__own_step(const gnomon__own *o, size_t i,
                      gnomon__nsys_step_range *out)
{
    gnomon_step_info s;
    gnomon_stage_info stage;
    gnomon_run_info run;
    if (gnomon_profile_step(o->p, i + 1, &s))
        return false;
    (void)gnomon_profile_stage(o->p, s.stage, &stage);
    (void)gnomon_profile_run(o->p, stage.run, &run);
    *out = (gnomon__nsys_step_range){run.pid, (int64_t)s.begin_ns,
                                     s.end_ns ? (int64_t)s.end_ns : INT64_MAX,
                                     (uint32_t)s.number};
    return true;
}

void gnomon__own_free(gnomon__own *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->level_room; i++)
        gnomon__marker_free(&o->levels[i].marker);
    gnomon__free(o->levels);
    free(o->nodes);
    free(o->events);
    gnomon__marker_text_free(&o->text);
    gnomon_profile_free(o->p);
    free(o);
}

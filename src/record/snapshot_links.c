/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts links into a profile: between executions where both are events, and from path to
 * path what the tree counted besides. */
#include <string.h>

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/snapshot_parts.h"
#include "record/tape_read.h"

/* Links between executions, by from, to and kind. */
struct gnomon__event_links {
    size_t count;
    struct event_link {
        uint32_t from, to, kind, reserved;
        uint64_t from_instance, to_instance;
        uint64_t from_ns, to_ns;
        /* As the tree counts it: by paths, in the stage of its second call. Its executions
         * may have begun in earlier ones. */
        uint32_t stage;
        gnomon__total_edge paths;
    } of[];
};

/* ---- Between executions ------------------------------------------------------------- */

GNOMON__ORDER(compare_links, struct event_link, UP(from), UP(to), UP(kind))
GNOMON__ORDER(compare_paths, struct event_link, UP(stage),
              OF(memcmp(&a->paths, &b->paths, sizeof a->paths)))

/* Of an execution that was on `path` in a link's stage; 0: that is not known. It may have
 * moved to another path before it ended. */
static uint32_t node_of_named(const gnomon__snapshot_builder *b,
                              const gnomon__tape_named *n, uint32_t path,
                              uint32_t stage)
{
    if (!n)
        return 0;
    if (path && path != n->path)
        return gnomon__snapshot_node(b, n->thread, path, stage);
    return gnomon__snapshot_node(b, n->thread, n->path,
                                 gnomon__snapshot_stage_of(b, n->segment));
}

/* Links both of whose executions are events. */
static int find_links(gnomon__snapshot_builder *b, const gnomon__tape_events *e)
{
    struct gnomon__event_links *links =
        gnomon__alloc(sizeof *links + e->link_count * sizeof *links->of);
    if (!links)
        return 0;
    for (size_t i = 0; i < e->link_count; i++) {
        const gnomon__tape_link *l = &e->links[i];
        const gnomon__tape_named *from = gnomon__tape_find(e, l->from);
        const gnomon__tape_named *to = gnomon__tape_find(e, l->to);
        uint32_t stage = gnomon__snapshot_stage_of(b, l->segment);
        struct event_link one = {
            .from = node_of_named(b, from, l->from_path, stage),
            .to = node_of_named(b, to, l->to_path, stage),
            .kind = l->kind,
            .from_instance = l->from,
            .to_instance = l->to,
            .from_ns = from && from->out ? gnomon__clock_ns(from->out) : 0,
            .to_ns = gnomon__clock_ns(l->at),
            .stage = stage};
        /* A part of a stream may be made before its stage is known. */
        int is_elsewhere =
            !one.stage && (b->record->has_some_stages || !e->most);
        if (!one.from || !one.to || is_elsewhere)
            continue;
        one.paths.from_thread = from->thread;
        one.paths.from = l->from_path;
        one.paths.to_thread = to->thread;
        one.paths.to = l->to_path;
        one.paths.kind = l->kind;
        links->of[links->count++] = one;
    }
    b->links = links;
    return 1;
}

/* The first link that is not before `key`. */
static size_t first_link(const struct gnomon__event_links *links,
                         const struct event_link *key)
{
    size_t low = 0, high = links->count;
    GNOMON__SEARCH(low, high, i, compare_paths(&links->of[i], key) < 0)
    return low;
}

static uint64_t count_linked(const gnomon__snapshot_builder *b, uint32_t stage,
                             const gnomon__total_edge *e)
{
    struct event_link key = {.stage = stage, .paths = *e};
    if (!b->links)
        return 0;
    key.paths.count = 0;
    size_t first = first_link(b->links, &key), i = first;
    while (i < b->links->count && !compare_paths(&b->links->of[i], &key))
        i++;
    return i - first;
}

static int put_event_links(gnomon__snapshot_builder *b)
{
    struct gnomon__event_links *links = b->links;
    GNOMON__SORT(links->of, links->count, compare_links);
    for (size_t i = 0; i < links->count; i++) {
        const struct event_link *from = &b->links->of[i];
        gnomon_link_info *l = gnomon__model_add(b->m, GNOMON_LINKS);
        if (!l)
            return 0;
        l->from = from->from;
        l->to = from->to;
        l->kind = from->kind;
        l->count = 1;
        l->from_instance = from->from_instance;
        l->to_instance = from->to_instance;
        l->from_ns = from->from_ns;
        l->to_ns = from->to_ns;
    }
    GNOMON__SORT(links->of, links->count, compare_paths);
    return 1;
}

int gnomon__snapshot_event_links(gnomon__snapshot_builder *b)
{
    return !b->record->events ||
           (find_links(b, b->record->events) && put_event_links(b));
}

/* ---- From path to path ---------------------------------------------------------------- */

static int put_link(gnomon__snapshot_builder *b, uint32_t stage,
                    const gnomon__total_edge *e)
{
    uint32_t from = gnomon__snapshot_node(b, e->from_thread, e->from, stage);
    uint32_t to = gnomon__snapshot_node(b, e->to_thread, e->to, stage);
    uint64_t linked = from && to ? count_linked(b, stage, e) : e->count;
    if (linked >= e->count)
        return 1;
    gnomon_link_info *l = gnomon__model_add(b->m, GNOMON_LINKS);
    if (!l)
        return 0;
    l->from = from;
    l->to = to;
    l->kind = e->kind;
    l->count = e->count - linked;
    return 1;
}

int gnomon__snapshot_links(gnomon__snapshot_builder *b)
{
    for (uint32_t stage = 1; stage <= b->record->stage_count; stage++) {
        const gnomon__totals *totals = b->record->stages[stage - 1].totals;
        for (size_t k = 0; k < totals->edge_count; k++)
            if (!put_link(b, stage, &totals->edges[k]))
                return 0;
    }
    return 1;
}

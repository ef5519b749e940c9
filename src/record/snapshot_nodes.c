/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Puts nodes and counters of a ledger into a profile.
 *
 * A node's parent is the node of its path's parent in the same stage. Where the
 * parent has no times in that stage, for example because it was open all the time,
 * the node's parent is one without a stage and without times; there is one such node
 * for each path.
 *
 * A thread's nodes are in the order in which they were first entered, as after a
 * merge (merge/order.c). The numbers of paths do not give that order, as a path may
 * be older than the stage. */
#include "record/snapshot_parts.h"

#include <string.h>

#include "mark/node.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/tape_read.h"

/* ---- Choice of paths ------------------------------------------------------------ */

static gnomon__path *path_of(const gnomon__snapshot_builder *b, uint32_t thread,
                             uint32_t path)
{
    return gnomon__ledger_path(b->ledger, thread, path);
}

static const gnomon__totals *totals_of(const gnomon__snapshot_builder *b,
                                       uint32_t stage)
{
    return b->record->stages[stage - 1].totals;
}

GNOMON__ORDER(item_order, gnomon__snapshot_item, UP(path), UP(stage))

/* Items of one stage come in the order of paths, and paths mostly in that of their first
 * entries: then there is nothing to sort. */
static void sort(void *items, size_t count, size_t size,
                 int (*order)(const void *, const void *))
{
    const char *at = items;
    for (size_t i = 1; i < count; i++, at += size)
        if (order(at, at + size) > 0) {
            qsort(items, count, size, order);
            return;
        }
}

static void sort_items(gnomon__snapshot_thread *t)
{
    sort(t->items, t->count, sizeof *t->items, item_order);
    t->sorted = t->count;
}

/* NULL: the path has nothing in that stage. */
static gnomon__snapshot_item *item_of(const gnomon__snapshot_thread *t,
                                      uint32_t path, uint32_t stage)
{
    const gnomon__snapshot_item key = {.path = path, .stage = stage};
    return t->sorted
               ? bsearch(&key, t->items, t->sorted, sizeof key, item_order)
               : NULL;
}

static int add_item(gnomon__snapshot_builder *b, uint32_t thread, uint32_t path,
                    uint32_t stage)
{
    gnomon__snapshot_thread *t = &b->threads[thread];
    return GNOMON__ADD(t->items, t->room, t->count,
                       (gnomon__snapshot_item){.path = path, .stage = stage});
}

/* Adds an item for each path that has something in a stage. */
static int list_items(gnomon__snapshot_builder *b, uint32_t thread)
{
    int ok = 1;
    for (uint32_t stage = 1; stage <= b->record->stage_count; stage++) {
        const gnomon__totals *totals = totals_of(b, stage);
        if (thread >= totals->thread_count)
            continue;
        const gnomon__totals_thread *from = &totals->threads[thread];
        for (uint32_t i = 0; ok && i < from->touched_count; i++)
            if (from->of[from->touched[i]]->has_times &&
                path_of(b, thread, from->touched[i]))
                ok = add_item(b, thread, from->touched[i], stage);
    }
    sort_items(&b->threads[thread]);
    return ok;
}

/* Adds the path and all above it, without a stage; each path once. */
static int need_path(gnomon__snapshot_builder *b, uint32_t thread,
                     uint32_t path)
{
    gnomon__path *p = path_of(b, thread, path);
    int ok = 1;
    for (; ok && p && p->note != b->serial;
         path = p->parent, p = path_of(b, thread, path)) {
        p->note = b->serial;
        ok = add_item(b, thread, path, 0);
    }
    return ok;
}

static int need_parents(gnomon__snapshot_builder *b, uint32_t thread)
{
    const gnomon__snapshot_thread *t = &b->threads[thread];
    size_t count = t->count;
    int ok = 1;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t parent = path_of(b, thread, t->items[i].path)->parent;
        if (parent && !item_of(t, parent, t->items[i].stage))
            ok = need_path(b, thread, parent);
    }
    return ok;
}

/* Whether both ends of the link are known paths. */
static int is_link(const gnomon__snapshot_builder *b,
                   const gnomon__total_edge *e)
{
    return e->from && e->from_thread < b->thread_count &&
           e->to_thread < b->thread_count &&
           path_of(b, e->from_thread, e->from) &&
           path_of(b, e->to_thread, e->to);
}

static int need_ends(gnomon__snapshot_builder *b, uint32_t stage,
                     const gnomon__total_edge *e)
{
    if (!is_link(b, e))
        return 1;
    return (item_of(&b->threads[e->from_thread], e->from, stage) ||
            need_path(b, e->from_thread, e->from)) &&
           (item_of(&b->threads[e->to_thread], e->to, stage) ||
            need_path(b, e->to_thread, e->to));
}

uint32_t gnomon__snapshot_stage(const gnomon__snapshot_builder *b,
                                gnomon__stage_key key)
{
    const gnomon__run_record *f = b->record;
    int by_name = f->by_name && key.ordinal != f->open;
    uint32_t i = 0;
    while (i < f->stage_count &&
           (by_name ? f->stages[i].key.name != key.name
                    : f->stages[i].key.ordinal != key.ordinal))
        i++;
    return i + 1;
}

/* Ordinal 0: it is not known any more. */
static uint32_t stage_of_key(const gnomon__snapshot_builder *b,
                             gnomon__stage_key key)
{
    const uint32_t stage = gnomon__snapshot_stage(b, key);
    return key.ordinal && stage <= b->record->stage_count ? stage : 0;
}

uint32_t gnomon__snapshot_stage_in(const gnomon__snapshot_builder *b,
                                   uint32_t segment)
{
    gnomon__stage_key key = gnomon__segments_stage(segment);
    if (segment == load_relaxed(&gnomon__segment))
        key.ordinal = b->record->open;
    return stage_of_key(b, key);
}

/* Whether all events of tapes are of the profile's only stage. */
static int are_of_one_stage(const gnomon__run_record *r)
{
    return r->events && gnomon__tape_is_of_stage(r->events->which);
}

uint32_t gnomon__snapshot_stage_after(const gnomon__snapshot_builder *b,
                                      uint64_t ticks, gnomon__stage_cursor *at)
{
    const gnomon__past_segments *over = &gnomon__segments_over;
    gnomon__stage_key key = {.ordinal = b->record->open}, none = {0};
    size_t i = 0, high = over->count;
    GNOMON__SEARCH(i, high, k, over->at[k].until <= ticks)
    at->until = UINT64_MAX;
    if (i < over->count) {
        const gnomon__past_segment *s = &over->at[i];
        key = ticks < s->from ? none : s->stage;
        at->until = ticks < s->from ? s->from : s->until;
    }
    at->ordinal = key.ordinal;
    return at->stage = are_of_one_stage(b->record) ? 1 : stage_of_key(b, key);
}

uint32_t gnomon__snapshot_stage_of(const gnomon__snapshot_builder *b,
                                   uint32_t segment)
{
    return are_of_one_stage(b->record) ? 1
                                       : gnomon__snapshot_stage_in(b, segment);
}

int gnomon__snapshot_need(gnomon__snapshot_builder *b, uint32_t thread,
                          uint32_t path, uint32_t stage)
{
    return thread >= b->thread_count ||
           item_of(&b->threads[thread], path, stage) ||
           need_path(b, thread, path);
}

/* ---- Order of nodes -------------------------------------------------------------- */

/* NULL: it is outermost. */
static gnomon__snapshot_item *item_above(const gnomon__snapshot_builder *b,
                                         uint32_t thread,
                                         const gnomon__snapshot_item *item)
{
    const gnomon__snapshot_thread *t = &b->threads[thread];
    uint32_t parent = path_of(b, thread, item->path)->parent;
    gnomon__snapshot_item *its =
        parent ? item_of(t, parent, item->stage) : NULL;
    return its || !parent ? its : item_of(t, parent, 0);
}

GNOMON__ORDER(entry_order, gnomon__snapshot_item *const, AT(first), AT(depth),
              OF(item_order(*a, *b)))

/* A parent's path has a lower number than its children's, so one pass backwards gives
 * each item the first end of all below it. */
static int order_entries(gnomon__snapshot_builder *b, uint32_t thread)
{
    gnomon__snapshot_thread *t = &b->threads[thread];
    if (!t->count)
        return 1;
    t->order = gnomon__alloc(t->count * sizeof(gnomon__snapshot_item *));
    for (uint32_t i = 0; t->order && i < t->count; i++) {
        gnomon__snapshot_item *item = t->order[i] = &t->items[i];
        const gnomon__snapshot_item *parent = item_above(b, thread, item);
        const gnomon__total *s =
            item->stage ? gnomon__totals_find(totals_of(b, item->stage), thread,
                                              item->path)
                        : NULL;
        item->first = s && s->first ? s->first : UINT64_MAX;
        item->depth = parent ? parent->depth + 1 : 0;
    }
    for (size_t i = t->count; t->order && i-- > 0;) {
        gnomon__snapshot_item *parent = item_above(b, thread, &t->items[i]);
        if (parent && t->items[i].first < parent->first)
            parent->first = t->items[i].first;
    }
    if (t->order)
        sort((void *)t->order, t->count, sizeof *t->order, entry_order);
    return t->order != NULL;
}

int gnomon__snapshot_choose(gnomon__snapshot_builder *b)
{
    static uint32_t serials;
    b->serial = ++serials ? serials : ++serials;
    b->thread_count = b->ledger->path_threads;
    b->threads = gnomon__alloc((b->thread_count + 1) * sizeof *b->threads);
    int ok = b->threads != NULL;
    for (uint32_t i = 0; ok && i < b->thread_count; i++)
        ok = list_items(b, i);
    for (uint32_t i = 0; ok && i < b->thread_count; i++)
        ok = need_parents(b, i);
    for (uint32_t stage = 1; ok && stage <= b->record->stage_count; stage++) {
        const gnomon__totals *totals = totals_of(b, stage);
        for (size_t k = 0; ok && k < totals->edge_count; k++)
            ok = need_ends(b, stage, &totals->edges[k]);
    }
    for (uint32_t i = 0; ok && i < b->ledger->open_count; i++)
        ok = gnomon__snapshot_need(
            b, b->ledger->opens[i].thread, b->ledger->opens[i].path,
            gnomon__snapshot_stage(b, b->ledger->opens[i].stage));
    return ok;
}

int gnomon__snapshot_order(gnomon__snapshot_builder *b)
{
    int ok = 1;
    for (uint32_t i = 0; ok && i < b->thread_count; i++) {
        sort_items(&b->threads[i]);
        ok = order_entries(b, i);
    }
    return ok;
}

/* ---- Nodes ------------------------------------------------------------------------ */

/* The node of a path in a stage, or its node without a stage. 0: none. */
static uint32_t node_of(const gnomon__snapshot_thread *t, uint32_t path,
                        uint32_t stage)
{
    const gnomon__snapshot_item *item = item_of(t, path, stage);
    item = item ? item : item_of(t, path, 0);
    return item ? item->node : 0;
}

uint32_t gnomon__snapshot_node(const gnomon__snapshot_builder *b,
                               uint32_t thread, uint32_t path, uint32_t stage)
{
    return thread < b->thread_count && path_of(b, thread, path)
               ? node_of(&b->threads[thread], path, stage)
               : 0;
}

static uint32_t public_flags(const gnomon__path *p)
{
    return (p->flags & GNOMON__NODE_OTHER ? GNOMON_NODE_OTHER : 0) |
           (p->flags & GNOMON__NODE_RANGES ? GNOMON_NODE_RANGE : 0);
}

static int put_item(gnomon__snapshot_builder *b, uint32_t thread,
                    gnomon__snapshot_item *item)
{
    const gnomon__snapshot_thread *t = &b->threads[thread];
    const gnomon__path *p = path_of(b, thread, item->path);
    uint32_t id = GNOMON__KEY_REGION(p->key);
    gnomon_node_info *n = gnomon__model_add(b->m, GNOMON_NODES);
    if (!n || !(n->region = gnomon__snapshot_region(b, id)) ||
        !gnomon__snapshot_op(b, id, &n->op))
        return 0;
    item->node = (uint32_t)gnomon__model_count(b->m, GNOMON_NODES);
    n->track = t->track;
    n->view = 1;
    n->stage = item->stage;
    n->parent = p->parent ? node_of(t, p->parent, item->stage) : 0;
    n->flags = public_flags(p);
    if (!item->stage)
        return 1;
    const gnomon__total *s =
        gnomon__totals_find(totals_of(b, item->stage), thread, item->path);
    n->flags |= s->flags;
    n->first = s->first;
    n->host = gnomon__snapshot_stats(b, s);
    n->device = s->device ? gnomon__snapshot_stats(b, s->device) : NULL;
    return n->host && (n->device || !s->device) &&
           gnomon__snapshot_work(b, id, s->s.count, &n->work);
}

/* In the order of order_entries: parents before their children. */
int gnomon__snapshot_nodes(gnomon__snapshot_builder *b, uint32_t thread)
{
    const gnomon__snapshot_thread *t = &b->threads[thread];
    const size_t before = gnomon__model_count(b->m, GNOMON_NODES);
    int ok = gnomon__model_reserve(b->m, GNOMON_NODES, before + t->count);
    for (uint32_t i = 0; ok && i < t->count; i++)
        ok = put_item(b, thread, t->order[i]);
    return ok;
}

/* ---- Open scopes ------------------------------------------------------------------- */

/* A cycle was over before the scope began, though its profile is made now. */
static int begins_after(const gnomon__snapshot_builder *b,
                        const gnomon__open_path *open)
{
    return b->events && gnomon__tape_is_cycle(b->events->which) &&
           open->begin >= b->events->until;
}

int gnomon__snapshot_opens(gnomon__snapshot_builder *b)
{
    for (uint32_t i = 0; i < b->ledger->open_count; i++) {
        const gnomon__open_path *open = &b->ledger->opens[i];
        if (open->thread >= b->thread_count || begins_after(b, open) ||
            !path_of(b, open->thread, open->path))
            continue;
        uint32_t node = node_of(&b->threads[open->thread], open->path,
                                gnomon__snapshot_stage(b, open->stage));
        if (!node)
            continue;
        gnomon_open_info *o = gnomon__model_add(b->m, GNOMON_OPENS);
        if (!o)
            return 0;
        gnomon_node_info *n = gnomon__model_at(b->m, GNOMON_NODES, node);
        n->open = 1;
        o->track = b->threads[open->thread].track;
        o->node = node;
        o->begin_ns = gnomon__clock_ns(open->begin);
    }
    return 1;
}

/* ---- Counters ------------------------------------------------------------------------ */

static int put_counter(gnomon__snapshot_builder *b, uint32_t thread,
                       uint32_t stage, const gnomon__row_counter *from)
{
    const gnomon__sums_of_samples *s = &from->samples;
    gnomon_counter_info *c = gnomon__model_add(b->m, GNOMON_COUNTERS);
    if (!c)
        return 0;
    c->region = gnomon__snapshot_region(b, GNOMON__KEY_REGION(from->key));
    c->track = b->threads[thread].track;
    c->stage = stage;
    c->count = s->count;
    c->nans = s->nans;
    c->last = s->last;
    c->min = s->min;
    c->max = s->max;
    c->sum = s->sum;
    return c->region != 0 &&
           (from->strip.count < 2 ||
            gnomon__snapshot_strip(b,
                                   (gnomon_strip_info){.stage = stage,
                                                       .track = c->track,
                                                       .region = c->region},
                                   &from->strip));
}

int gnomon__snapshot_counters(gnomon__snapshot_builder *b, uint32_t thread)
{
    for (uint32_t stage = 1; stage <= b->record->stage_count; stage++) {
        const gnomon__totals *totals = totals_of(b, stage);
        for (uint32_t k = 0; thread < totals->thread_count &&
                             k < totals->threads[thread].counter_count;
             k++)
            if (!put_counter(b, thread, stage,
                             &totals->threads[thread].counters[k]))
                return 0;
    }
    return 1;
}

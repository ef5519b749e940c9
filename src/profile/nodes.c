/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Nodes, links and counters: rows of threads become entities of a profile.
 *
 * Durations round down, sums after adding up, so that a node is never shorter
 * than its children: self is what remains. Executions that are open count in
 * self up to now, and nowhere else. */
#include "profile/take.h"

#include <stdlib.h>
#include <string.h>

#include "platform/memory.h"

/* A row that has something to say: of a wanted stage, or above one that has. */
void gnomon__take_choose(gnomon__take *b, uint32_t thread)
{
    const gnomon__rows *r = &b->tracks[thread];
    uint32_t *number = b->node_numbers[thread];
    for (size_t i = r->count; i-- > 0;) {
        const gnomon__node *n = &r->rows[i].node;
        uint32_t stage = GNOMON__KEY_STAGE(n->key);
        if (!n->key)
            number[i] = 0;
        else if (stage <= GNOMON__MAX_STAGES && b->stage_numbers[stage] &&
                 (r->rows[i].count || n->token))
            number[i] = 1;
        if (number[i] && r->rows[r->rows[i].parent].node.key)
            number[r->rows[i].parent] = 1;
    }
    for (size_t i = 0; i < r->count; i++)
        if (number[i])
            number[i] = (uint32_t)++b->node_count;
}

/* What an open node and those that outlived a parent add to selfs, as if all
 * that is open ended now: the rule of gnomon__tree_close, on the copy. */
static void settle_open(gnomon__rows *r, uint64_t *open)
{
    for (size_t i = r->count; i-- > 0;) {
        gnomon__row *row = &r->rows[i];
        if (!row->node.token || !row->node.key)
            continue;
        open[i] = r->now > row->node.begin ? r->now - row->node.begin : 0;
        gnomon__row *p = &r->rows[row->parent];
        if (p->node.token || !p->node.key)
            continue;
        uint64_t covered = p->node.begin;
        p->node.adjust += (int64_t)(r->now - covered);
        p->node.flags |= GNOMON__NODE_CROSSED;
        for (p = &r->rows[p->parent]; p->node.key; p = &r->rows[p->parent]) {
            p->node.flags |= GNOMON__NODE_CROSSED;
            if (p->node.token) {
                p->node.adjust -= (int64_t)(r->now - covered);
                break;
            }
            if (p->node.begin > covered) {
                p->node.adjust -= (int64_t)(p->node.begin - covered);
                covered = p->node.begin;
            }
        }
    }
}

/* Paths below one outermost scope are worth the same, so that they add up: what
 * they were in their stage, or, where they reach over several, what they are.
 * `outermost`: by row, the one above it; `worth`: by outermost row, the stage. */
static void find_worth(const gnomon__rows *r, uint32_t *outermost,
                       uint32_t *worth)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const gnomon__row *row = &r->rows[i];
        uint32_t stage = GNOMON__KEY_STAGE(row->node.key);
        int is_below = row->node.key && r->rows[row->parent].node.key;
        uint32_t top = outermost[i] = is_below ? outermost[row->parent] : i;
        if (top == i)
            worth[i] = stage;
        else if (worth[top] != stage)
            worth[top] = 0;
    }
}

static void self_times(gnomon__take *b, const gnomon__rows *r,
                       const uint64_t *open, const uint32_t *outermost,
                       const uint32_t *worth, uint64_t *self)
{
    for (size_t i = 0; i < r->count; i++) {
        gnomon__take_use(b, worth[outermost[i]]);
        self[i] = gnomon__take_ns(b, r->rows[i].node.total + open[i]);
    }
    /* Children before parents: each is whole when it is taken from above. */
    for (size_t i = r->count; i-- > 0;) {
        const gnomon__row *row = &r->rows[i];
        if (!row->node.key || !r->rows[row->parent].node.key)
            continue;
        gnomon__take_use(b, worth[outermost[i]]);
        uint64_t whole = gnomon__take_ns(b, row->node.total + open[i]);
        uint64_t *above = &self[row->parent];
        *above -= whole; /* modulo 2^64; mended below */
    }
    for (size_t i = 0; i < r->count; i++) {
        int64_t adjust = r->rows[i].node.adjust;
        gnomon__take_use(b, worth[outermost[i]]);
        uint64_t size = gnomon__take_ns(b, adjust < 0 ? 0 - (uint64_t)adjust
                                                      : (uint64_t)adjust);
        self[i] = adjust < 0 ? self[i] - size : self[i] + size;
        if ((int64_t)self[i] < 0) /* rounding, or a copy in motion */
            self[i] = 0;
        if (r->rows[r->rows[i].parent].node.flags & GNOMON__NODE_RANGES)
            self[i] = 0;
    }
}

static uint32_t public_flags(const gnomon__rows *r, size_t i)
{
    const gnomon__row *row = &r->rows[i];
    const gnomon__node *parent = &r->rows[row->parent].node;
    uint32_t flags = 0;
    if (row->node.flags & GNOMON__NODE_CROSSED)
        flags |= GNOMON_NODE_CROSSED;
    if (row->node.flags & GNOMON__NODE_OTHER)
        flags |= GNOMON_NODE_OTHER;
    if (parent->flags & GNOMON__NODE_RANGES)
        flags |= GNOMON_NODE_RANGE;
    return flags;
}

static int put_stats(gnomon__take *b, gnomon_node_info *n,
                     const gnomon__rows *r, const gnomon__row *row,
                     uint64_t self)
{
    gnomon_stats *s = gnomon__model_sized(b->m, sizeof *s);
    if (!s)
        return 0;
    n->host = s;
    s->count = row->count;
    s->total_ns = gnomon__take_ns(b, row->node.total);
    s->self_ns = self;
    s->min_ns = gnomon__take_ns(b, row->node.min);
    s->max_ns = gnomon__take_ns(b, row->max);
    return gnomon__take_cells(b, s, r->cells + row->cells, row->cell_count);
}

/* What the node took on devices, if anybody wanted it and anything is over. */
static int put_device(gnomon__take *b, gnomon_node_info *n,
                      const gnomon__row *row)
{
    gnomon_stats got;
    if (!gnomon__device_stats_get(row->offset, b->generation, &got,
                                  b->device_cells))
        return 1;
    gnomon_stats *s = gnomon__model_room(b->m, sizeof *s);
    size_t bytes = got.cell_count * sizeof *got.cells;
    gnomon_cell *cells = gnomon__model_room(b->m, bytes);
    if (!s || !cells)
        return 0;
    *s = got;
    s->cells = memcpy(cells, got.cells, bytes);
    n->device = s;
    return 1;
}

int gnomon__take_nodes(gnomon__take *b, uint32_t thread, uint32_t track)
{
    gnomon__rows *r = &b->tracks[thread];
    const uint32_t *number = b->node_numbers[thread];
    uint64_t *open = gnomon__alloc(3 * (r->count + 1) * sizeof *open);
    if (!open)
        return 0;
    uint64_t *self = open + r->count + 1;
    uint32_t *outermost = (uint32_t *)(self + r->count + 1);
    uint32_t *worth = outermost + r->count + 1;
    settle_open(r, open);
    find_worth(r, outermost, worth);
    self_times(b, r, open, outermost, worth, self);
    int ok = 1;
    for (size_t i = 0; ok && i < r->count; i++) {
        const gnomon__row *row = &r->rows[i];
        const gnomon__row *parent = &r->rows[row->parent];
        uint32_t stage = b->stage_numbers[GNOMON__KEY_STAGE(row->node.key)];
        /* Left out, but a child of one that is in. */
        if (!number[i] && row->node.key && number[row->parent] &&
            (row->count || row->node.token))
            ((gnomon_node_info *)gnomon__model_at(b->m, GNOMON_NODES,
                                                  number[row->parent]))
                ->flags |= GNOMON_NODE_PARTIAL;
        if (!number[i])
            continue;
        gnomon_node_info *n = gnomon__model_add(b->m, GNOMON_NODES);
        ok = n && (n->region = gnomon__take_region(
                       b, GNOMON__KEY_REGION(row->node.key)));
        if (!ok)
            break;
        n->track = track;
        n->stage = stage;
        n->parent = parent->node.key ? number[row->parent] : 0;
        n->op = row->node.op;
        n->open = row->node.token != 0;
        n->flags = public_flags(r, i);
        n->first = row->node.first;
        gnomon__take_use(b, worth[outermost[i]]);
        if (stage)
            ok = put_stats(b, n, r, row, self[i]) && put_device(b, n, row);
        gnomon__take_use(b, 0);
        if (row->node.token) {
            gnomon_open_info *o = gnomon__model_add(b->m, GNOMON_OPENS);
            ok = ok && o;
            if (o) {
                o->track = track;
                o->node = number[i];
                o->begin_ns = gnomon__take_when(b, row->node.begin);
            }
        }
    }
    gnomon__free(open);
    return ok;
}

/* ---- Links and counters ---------------------------------------------------------- */

typedef struct node_place {
    uint32_t offset;
    uint32_t number;
} node_place;

static int place_order(const void *a, const void *b)
{
    uint32_t x = ((const node_place *)a)->offset,
             y = ((const node_place *)b)->offset;
    return (x > y) - (x < y);
}

static uint32_t number_at(const node_place *places, size_t n, uint32_t offset)
{
    node_place key = {offset, 0};
    const node_place *p =
        n ? bsearch(&key, places, n, sizeof key, place_order) : NULL;
    return p ? p->number : 0;
}

/* Offsets are unique in the arena, so one table serves all threads. Links from
 * or to a node that is left out are left out. */
int gnomon__take_links(gnomon__take *b)
{
    size_t n = 0, edges = 0;
    for (uint32_t i = 0; i < b->track_count; i++)
        edges += b->tracks[i].edge_count;
    if (!edges)
        return 1;
    node_place *places = gnomon__alloc((b->node_count + 1) * sizeof *places);
    if (!places)
        return 0;
    for (uint32_t i = 0; i < b->track_count; i++)
        for (size_t k = 0; k < b->tracks[i].count; k++)
            if (b->node_numbers[i][k])
                places[n++] = (node_place){b->tracks[i].rows[k].offset,
                                           b->node_numbers[i][k]};
    qsort(places, n, sizeof *places, place_order);
    int ok = 1;
    for (uint32_t i = 0; ok && i < b->track_count; i++) {
        for (size_t k = 0; ok && k < b->tracks[i].edge_count; k++) {
            const gnomon__edge *e = &b->tracks[i].edges[k];
            uint32_t from = number_at(places, n, e->from);
            uint32_t to = number_at(places, n, e->to);
            gnomon_link_info *l =
                from && to ? gnomon__model_add(b->m, GNOMON_LINKS) : NULL;
            ok = l || !from || !to;
            if (l) {
                l->from = from;
                l->to = to;
                l->kind = e->kind;
                l->count = e->count;
            }
        }
    }
    gnomon__free(places);
    return ok;
}

int gnomon__take_counters(gnomon__take *b, uint32_t thread, uint32_t track)
{
    const gnomon__rows *r = &b->tracks[thread];
    for (size_t i = 0; i < r->counter_count; i++) {
        const gnomon__counter *from = &r->counters[i];
        uint32_t stage = b->stage_numbers[GNOMON__KEY_STAGE(from->key)];
        if (!stage || !from->count)
            continue;
        gnomon_counter_info *c = gnomon__model_add(b->m, GNOMON_COUNTERS);
        if (!c || !(c->region =
                        gnomon__take_region(b, GNOMON__KEY_REGION(from->key))))
            return 0;
        c->track = track;
        c->stage = stage;
        c->count = from->count;
        c->last = from->last;
        c->min = from->min;
        c->max = from->max;
        c->sum = from->sum;
    }
    return 1;
}

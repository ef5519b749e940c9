/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies a thread's tree under its sequence word. If the word stands still over
 * the whole copy, all rows belong to one moment. Else each node is copied by
 * itself until its own copy is of one moment, ten times at most; then field by
 * field, and the rows say that they are not exact.
 *
 * Nodes are only ever added while a tree lives, so the list taken first stays
 * whole. A tree that is dropped meanwhile changes its generation: then the rows
 * are thrown away. */
#include "record/collect.h"

#include <string.h>

#include "gnomon/profile.h"
#include "platform/clock.h"

#define NODE_TRIES 10
#define TREE_TRIES 3

/* Relaxed word by word: the owner may be writing. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    uint64_t *out = to;
    const uint64_t *in = from;
    for (size_t i = 0; i < bytes / 8; i++)
        out[i] = load_relaxed(&in[i]);
}

/* The word when nothing is being written: even, or inside a callback. 0: busy. */
static uint64_t quiet_word(const gnomon__thread *t)
{
    uint64_t seq = load_acquire(&t->seq);
    if (!(seq & 1))
        return seq + 2; /* never 0 */
    return load_acquire(&t->in_hook) & 1 ? seq + 2 : 0;
}

static int still(const gnomon__thread *t, uint64_t word)
{
    fence_acquire();
    return word && quiet_word(t) == word;
}

static int add_cells(gnomon__rows *r, gnomon__row *row, const gnomon__thread *t,
                     uint32_t slot)
{
    gnomon__cells copy;
    if (!slot)
        return 1;
    copy_words(&copy, gnomon__at(t, slot & ~127u), sizeof copy);
    if (r->cell_count + GNOMON__CELLS > r->cell_room) {
        size_t room = r->cell_room ? 2 * r->cell_room : 256;
        gnomon__row_cell *more = gnomon__realloc(r->cells, room * sizeof *more);
        if (!more)
            return 0;
        r->cells = more;
        r->cell_room = room;
    }
    for (uint32_t i = 0; i < GNOMON__CELLS; i++) {
        if (!copy.count[i])
            continue;
        uint32_t cell = (slot & 127) * GNOMON__CELLS + i;
        r->cells[r->cell_count++] = (gnomon__row_cell){cell, 0, copy.count[i]};
        row->cell_count++;
        row->count += copy.count[i];
    }
    return 1;
}

/* The node and its cells as they are at this moment. 0: no memory. */
static int copy_node(gnomon__rows *r, gnomon__row *row, const gnomon__thread *t)
{
    r->cell_count = row->cells;
    row->cell_count = 0;
    row->count = 0;
    copy_words(&row->node, gnomon__at(t, row->offset), sizeof row->node);
    for (int i = 0; i < GNOMON__OCTAVES; i++)
        if (!add_cells(r, row, t, row->node.octave[i]))
            return 0;
    if (row->node.more) {
        uint32_t table[64];
        copy_words(table, gnomon__at(t, row->node.more), sizeof table);
        for (int i = 0; i < 64; i++)
            if (!add_cells(r, row, t, table[i]))
                return 0;
    }
    row->max = row->count ? row->node.min + row->node.spread : 0;
    if (!row->count)
        row->node.min = 0;
    return 1;
}

/* The list of nodes, oldest first, so that parents come before children. */
static int list_nodes(gnomon__rows *r, const gnomon__thread *t, uint32_t newest)
{
    size_t n = 0;
    for (uint32_t at = newest; at; n++)
        at = load_relaxed(&gnomon__node_at(t, at)->older);
    r->rows = gnomon__alloc((n ? n : 1) * sizeof *r->rows);
    if (!r->rows)
        return 0;
    r->count = n;
    for (uint32_t at = newest; at && n;) {
        r->rows[--n].offset = at;
        at = load_relaxed(&gnomon__node_at(t, at)->older);
    }
    return n == 0;
}

static int copy_all(gnomon__rows *r, const gnomon__thread *t, int tries)
{
    r->exact = 1;
    r->cell_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        gnomon__row *row = &r->rows[i];
        row->cells = (uint32_t)r->cell_count;
        int once = 0;
        for (int left = tries; !once; left--) {
            uint64_t word = tries ? quiet_word(t) : 0;
            if (!copy_node(r, row, t))
                return 0;
            once = !tries || still(t, word);
            if (!once && !left) {
                r->exact = 0;
                once = 1;
            }
        }
    }
    return 1;
}

/* Parents' offsets become rows: through a map where there are many. */
static int find_parents(gnomon__rows *r)
{
    size_t room = 64;
    while (room < 2 * r->count)
        room *= 2;
    uint32_t *map = gnomon__alloc(room * sizeof *map);
    if (!map)
        return 0;
    for (size_t i = 0; i < r->count; i++) {
        gnomon__row *row = &r->rows[i];
        size_t at = (row->node.parent >> 7) * 2654435761u & (room - 1);
        while (map[at] && r->rows[map[at] - 1].offset != row->node.parent)
            at = (at + 1) & (room - 1);
        row->parent = map[at] ? map[at] - 1 : (uint32_t)i;
        at = (row->offset >> 7) * 2654435761u & (room - 1);
        while (map[at])
            at = (at + 1) & (room - 1);
        map[at] = (uint32_t)i + 1;
    }
    gnomon__free(map);
    return 1;
}

static int copy_facts(gnomon__rows *r, const gnomon__thread *t,
                      const gnomon__tree *tree)
{
    /* The room first: the table is never smaller than the room read before. */
    uint32_t room = load_acquire(&tree->link_room);
    uint32_t links = load_acquire(&tree->links);
    gnomon__free(r->edges);
    gnomon__free(r->counters);
    r->edges = NULL;
    r->counters = NULL;
    r->edge_count = r->counter_count = 0;
    if (room) {
        r->edges = gnomon__alloc(room * sizeof *r->edges);
        if (!r->edges)
            return 0;
        copy_words(r->edges, gnomon__at(t, links), room * sizeof *r->edges);
        for (uint32_t i = 0; i < room; i++)
            if (r->edges[i].from)
                r->edges[r->edge_count++] = r->edges[i];
    }
    size_t n = 0;
    uint32_t first = load_acquire(&tree->counters);
    for (uint32_t at = first; at; n++)
        at = load_relaxed(&((gnomon__counter *)gnomon__at(t, at))->next);
    if (!n)
        return 1;
    r->counters = gnomon__alloc(n * sizeof *r->counters);
    if (!r->counters)
        return 0;
    for (uint32_t at = first; at && r->counter_count < n;) {
        gnomon__counter *c = &r->counters[r->counter_count++];
        copy_words(c, gnomon__at(t, at), sizeof *c);
        at = c->next;
    }
    return 1;
}

int gnomon__rows_copy(gnomon__rows *out, const gnomon__thread *t, uint32_t bit,
                      uint32_t generation)
{
    const gnomon__tree *tree = &t->trees[bit];
    memset(out, 0, sizeof *out);
    for (int left = TREE_TRIES; left; left--) {
        gnomon__rows_free(out);
        if (load_acquire(&tree->generation) != generation)
            return GNOMON_OK;
        uint64_t word = quiet_word(t);
        out->now = gnomon__ticks();
        if (!list_nodes(out, t, load_acquire(&tree->newest)) ||
            !copy_all(out, t, left == 1 ? NODE_TRIES : 0) ||
            !copy_facts(out, t, tree) || !find_parents(out)) {
            gnomon__rows_free(out);
            return GNOMON_ENOMEM;
        }
        if (load_acquire(&tree->generation) != generation) {
            gnomon__rows_free(out);
            return GNOMON_OK;
        }
        if (still(t, word))
            return GNOMON_OK;
        out->exact = 0;
    }
    return GNOMON_OK;
}

void gnomon__rows_free(gnomon__rows *rows)
{
    gnomon__free(rows->rows);
    gnomon__free(rows->cells);
    gnomon__free(rows->edges);
    gnomon__free(rows->counters);
    memset(rows, 0, sizeof *rows);
}

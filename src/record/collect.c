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

/* The word when nothing is being written: even, or inside a callback, of which
 * there may be several while it is odd. 0: busy. */
static uint64_t quiet_word(const gnomon__thread *t)
{
    uint64_t seq = load_acquire(&t->seq);
    uint64_t hook = load_acquire(&t->in_hook);
    if ((seq & 1) && !(hook & 1))
        return 0;
    return (seq + 2) ^ (hook << GNOMON__TOKEN_SHIFT); /* never 0 */
}

static int still(const gnomon__thread *t, uint64_t word)
{
    fence_acquire();
    return word && quiet_word(t) == word;
}

static int cell_room(gnomon__rows *r, size_t more)
{
    if (r->cell_count + more <= r->cell_room)
        return 1;
    size_t room = r->cell_room ? 2 * r->cell_room : 256;
    while (room < r->cell_count + more)
        room *= 2;
    gnomon__row_cell *cells = gnomon__realloc(r->cells, room * sizeof *cells);
    if (!cells)
        return 0;
    r->cells = cells;
    r->cell_room = room;
    return 1;
}

static void add_cell(gnomon__rows *r, gnomon__row *row, uint32_t cell,
                     uint64_t count)
{
    r->cells[r->cell_count++] = (gnomon__row_cell){cell, 0, count};
    row->cell_count++;
    row->count += count;
}

/* The node and its cells as they are at this moment, with what is pending; every
 * number is checked before it leads anywhere, since the copy may be torn. 0: no
 * memory. */
static int copy_node(gnomon__rows *r, gnomon__row *row, const gnomon__thread *t)
{
    gnomon__node *n = &row->node;
    r->cell_count = row->cells;
    row->cell_count = 0;
    row->count = 0;
    copy_words(n, gnomon__at(t, row->offset), sizeof *n);
    if (!cell_room(r, (size_t)GNOMON__OCTAVES * GNOMON__CELLS))
        return 0;
    uint64_t bytes = (uint64_t)n->room * GNOMON__OCTAVE_BYTES;
    uint32_t pending = load_relaxed(&t->pending);
    if (n->window && n->low + n->room <= GNOMON__OCTAVES &&
        n->room <= GNOMON__OCTAVES &&
        n->window + bytes <= load_relaxed(&gnomon__marks_arena.used)) {
        const uint64_t *count = gnomon__at(t, n->window);
        for (uint32_t i = 0; i < n->room * GNOMON__CELLS; i++) {
            uint32_t cell = n->low * GNOMON__CELLS + i;
            uint64_t c =
                load_relaxed(&count[i]) + (pending == n->window + 8 * i);
            if (c)
                add_cell(r, row, cell, c);
        }
        row->max = n->min + n->spread;
    } else if (n->first) { /* once */
        add_cell(r, row, gnomon__cell_of_ticks(n->once), 1);
        row->max = n->min = n->once;
    } else {
        row->max = n->min = n->total = 0;
    }
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

/* Fields of different moments: none may contradict another. */
static void mend(gnomon__row *row)
{
    gnomon__node *n = &row->node;
    if (!row->count)
        n->min = row->max = n->total = 0;
    if (row->max > n->total)
        row->max = n->total;
    if (n->min > row->max)
        n->min = row->max;
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
                mend(row);
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
        size_t at = (size_t)(row->node.parent >> 7) * 2654435761u & (room - 1);
        while (map[at] && r->rows[map[at] - 1].offset != row->node.parent)
            at = (at + 1) & (room - 1);
        row->parent = map[at] ? map[at] - 1 : (uint32_t)i;
        at = (size_t)(row->offset >> 7) * 2654435761u & (room - 1);
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

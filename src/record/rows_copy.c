/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies the rows of one bank: the nodes that were touched, those on the chain of
 * open scopes, and all above them. The owner may be writing meanwhile, so each copied
 * offset is checked before it is followed. */
#include <stdlib.h>
#include <string.h>

#include "record/rows_copy.h"

#define NODE_TRIES 10
#define GROUP 16u /* so many nodes are asked for at once whether they changed */

static uint32_t visits; /* number of this copy, noted in the nodes it has met */

/* ---- Vectors ------------------------------------------------------------------ */

/* Room for `more` items behind the first `n`; 0: no memory. */
#define ROOM_FOR(r, items, n, room, more) \
    (likely((r)->n + (more) <= (r)->room) || \
     gnomon__grow(&(r)->items, &(r)->room, (r)->n + (more), \
                  sizeof *(r)->items))

/* Relaxed word by word: the owner may be writing. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    const uint64_t *in = from;
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word = load_relaxed(&in[i]);
        memcpy((char *)to + 8 * i, &word, sizeof word);
    }
}

/* Whether a copy that is to be of one moment is not: the thread has marked. Asked once for
 * many nodes, as the word's line is the thread's. */
static int is_lost(const gnomon__rows_copier *c)
{
    return c->is_live && !c->is_apart && !gnomon__is_still(c->t, c->word);
}

/* A torn copy may hold a bad offset. */
static int is_node(uint32_t at)
{
    return at && !(at & 63) &&
           (uint64_t)at + sizeof(gnomon__node) <=
               load_relaxed(&gnomon__marks_arena.used);
}

/* ---- Which nodes ------------------------------------------------------------------ */

/* The row of a node, which is added with the nodes above it where it is new.
 * GNOMON__NO_ROW: the root, the parent of ranges, or no memory, then *ok is 0. */
static uint32_t note_row(gnomon__rows_copier *c, uint32_t at, int *ok)
{
    uint32_t row = GNOMON__NO_ROW, above = at, last = GNOMON__NO_ROW;
    while (*ok && is_node(above) && above != c->tree->root &&
           above != c->tree->ranges) {
        gnomon__node *n = gnomon__copied_node(c, above);
        int is_known = load_relaxed(&n->visit) == visits;
        if (!is_known) {
            if (!ROOM_FOR(c->out, rows, count, room, 1) || !c->out->rows) {
                *ok = 0;
                return GNOMON__NO_ROW;
            }
            store_relaxed(&n->visit, visits);
            store_relaxed(&n->row, (uint32_t)c->out->count);
            c->out->rows[c->out->count++] =
                (gnomon__row){.node = above,
                              .number = load_relaxed(&n->number),
                              .parent = GNOMON__NO_ROW,
                              .key = load_relaxed(&n->front[0].key),
                              .node_flags = load_relaxed(&n->flags)};
        }
        uint32_t its = load_relaxed(&n->row);
        if (last != GNOMON__NO_ROW)
            c->out->rows[last].parent = its;
        row = row == GNOMON__NO_ROW ? its : row;
        if (is_known)
            return row;
        last = its;
        above = load_relaxed(&n->front[0].parent);
    }
    if (last != GNOMON__NO_ROW && above == c->tree->ranges)
        c->out->rows[last].node_flags |= GNOMON__NODE_RANGES;
    return row;
}

static gnomon__row *row_at(gnomon__rows_copier *c, uint32_t node, int *ok)
{
    uint32_t row = note_row(c, node, ok);
    return row == GNOMON__NO_ROW ? NULL : &c->out->rows[row];
}

static int add_touched(gnomon__rows_copier *c)
{
    int ok = 1;
    uint32_t at = load_acquire(&c->tree->touched[c->bank]);
    while (ok && is_node(at) && (c->out->count % GROUP || !is_lost(c))) {
        note_row(c, at, &ok);
        at = load_relaxed(&gnomon__copied_node(c, at)->part[c->bank].touched);
    }
    return ok;
}

/* The scopes that were open at the cut, or are open now. */
static int add_chain(gnomon__rows_copier *c)
{
    int ok = 1;
    gnomon__row *row;
    if (!c->is_live) {
        const gnomon__open_at_cut *open =
            gnomon__at(c->t, c->tree->open_at_cut[c->bank]);
        for (uint32_t i = 0; ok && i < c->tree->open_count[c->bank]; i++) {
            if (!(row = row_at(c, open[i].node, &ok)))
                continue;
            row->is_on_chain = 1;
            row->segment = open[i].segment;
            row->token = open[i].token;
            row->begin = open[i].begin;
        }
        return ok;
    }
    uint32_t hot = load_relaxed(&c->t->hot_bit);
    uint32_t at = hot == c->bit ? load_acquire(&c->t->hot.current)
                                : load_acquire(&c->tree->cursor.current);
    for (int hops = 0; ok && is_node(at) && hops <= GNOMON__MAX_DEPTH; hops++) {
        const gnomon__node *n = gnomon__copied_node(c, at);
        const gnomon__front *line = &n->front[c->bank];
        uint32_t carry = load_acquire(&n->carry);
        if ((row = row_at(c, at, &ok)) != NULL) {
            row->is_on_chain = 1;
            row->token = load_relaxed(&line->token);
            row->begin = load_relaxed(&line->begin);
            row->segment =
                carry && is_node(carry & ~255u)
                    ? load_relaxed(
                          &((gnomon__carry *)gnomon__at(c->t, carry))->segment)
                    : load_relaxed(&c->tree->segment[c->bank]);
        }
        at = load_relaxed(&line->parent);
    }
    return ok;
}

static int add_ended(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    int ok = 1;
    uint32_t at = load_acquire(&c->tree->ended[c->bank]);
    while (ok && at) {
        const gnomon__carry *e = gnomon__at(c->t, at);
        uint32_t row = note_row(c, load_relaxed(&e->node), &ok);
        ok = ok && ROOM_FOR(r, late, late_count, late_room, 1);
        if (ok && row != GNOMON__NO_ROW) {
            uint64_t self = load_relaxed(&e->self);
            r->late[r->late_count++] = (gnomon__late){
                row, load_relaxed(&e->segment), load_relaxed(&e->ticks), self,
                load_relaxed(&e->is_left) != 0};
            if (!load_relaxed(&e->is_range)) {
                r->rows[row].carried += load_relaxed(&e->inside);
                r->rows[row].carried_self += self;
            }
        }
        at = load_relaxed(&e->next);
    }
    return ok;
}

/* ---- What they hold ---------------------------------------------------------------- */

/* Room for `more` cells of a row. From the second group on the rest is taken to need as
 * many as those before: a vector of megabytes that doubles is moved to new pages each time,
 * which costs more than what is put there. */
static int hold_cells(gnomon__rows *r, const gnomon__row *row, size_t more)
{
    size_t at = (size_t)(row - r->rows), need = r->cell_count + more;
    if (likely(need <= r->cell_room))
        return 1;
    if (at >= GROUP)
        need += r->cell_count / at * (r->count - at);
    return gnomon__grow(&r->cells, &r->cell_room, need, sizeof *r->cells);
}

static void add_cell(gnomon__rows *r, gnomon__row *row, uint32_t cell,
                     uint64_t count)
{
    r->cells[r->cell_count++] = (gnomon__row_cell){cell, 0, count};
    row->cell_count++;
    row->count += count;
}

/* Executions without a cell of their own count in the cell of the mean duration. */
static void add_without_cell(gnomon__rows *r, gnomon__row *row, uint64_t bare)
{
    if (!bare)
        return;
    uint64_t mean = row->total / (row->count + bare);
    mean = mean < row->part.least  ? row->part.least
           : mean > row->part.most ? row->part.most
                                   : mean;
    uint32_t cell = gnomon__cell_of_ticks(mean);
    for (uint32_t i = 0; i < row->cell_count; i++) {
        gnomon__row_cell *at = &r->cells[row->cells + i];
        if (at->cell == cell) {
            at->count += bare;
            row->count += bare;
            return;
        }
    }
    add_cell(r, row, cell, bare);
}

/* Most octaves between the shortest and the longest duration are empty. */
static void copy_octave(gnomon__rows_copier *c, gnomon__row *row,
                        uint32_t octave)
{
    uint32_t at =
        row->part.histogram + (octave - row->part.low) * GNOMON__OCTAVE_BYTES;
    const uint64_t *from = gnomon__at(c->t, at);
    uint64_t count[GNOMON__CELLS], any = 0;
    for (uint32_t i = 0; i < GNOMON__CELLS; i++)
        any |= count[i] = load_relaxed(&from[i]);
    if (c->pending - at < GNOMON__OCTAVE_BYTES) /* 0: below each histogram */
        any |= ++count[(c->pending - at) / sizeof *count];
    for (uint32_t i = 0; any && i < GNOMON__CELLS; i++)
        if (count[i])
            add_cell(c->out, row, octave * GNOMON__CELLS + i, count[i]);
}

/* Copies a node's bank. The copy may be torn, except for the window, which is one
 * word. 0: no memory. */
static int copy_node(gnomon__rows_copier *c, gnomon__row *row)
{
    gnomon__rows *r = c->out;
    const gnomon__node *n = gnomon__copied_node(c, row->node);
    gnomon__front line;
    gnomon__part *p = &row->part;
    copy_words(&line, &n->front[c->bank], sizeof line);
    copy_words(p, &n->part[c->bank], sizeof *p);
    p->histogram_word = load_acquire(&n->part[c->bank].histogram_word);
    if (!p->first)
        p->least = p->most = 0;
    r->cell_count = row->cells;
    row->cell_count = 0;
    row->count = 0;
    row->total = p->first ? line.total : 0;
    if (row->is_on_chain && c->is_live) {
        row->token = line.token;
        row->begin = line.begin;
    }
    uint32_t low = gnomon__cell_of_ticks(p->least) >> 4;
    uint32_t high = gnomon__cell_of_ticks(p->most) >> 4;
    uint32_t octaves = p->first && p->histogram ? p->room : 0;
    if (!hold_cells(r, row, (size_t)octaves * GNOMON__CELLS + 1))
        return 0;
    if (octaves) {
        /* Where memory was spent, durations may be in cells that are not theirs: then
         * the whole window is read, which may be an earlier segment's. */
        uint32_t last = (uint32_t)p->low + p->room - 1;
        if (low < p->low || high > last || p->no_cell) {
            low = p->low;
            high = last;
        }
        for (uint32_t octave = low; octave <= high; octave++)
            copy_octave(c, row, octave);
    }
    add_without_cell(
        r, row, p->first ? p->no_cell + !!(p->flags & GNOMON__PART_ONCE) : 0);
    return 1;
}

/* Makes fields of different moments consistent. */
static void make_consistent(gnomon__row *row)
{
    gnomon__part *p = &row->part;
    if (!row->count)
        p->least = p->most = row->total = 0;
    if (p->most > row->total)
        p->most = row->total;
    if (p->least > p->most)
        p->least = p->most;
}

static int copy_some(gnomon__rows_copier *c, size_t from, size_t until)
{
    gnomon__rows *r = c->out;
    if (c->is_live)
        c->pending = load_relaxed(&c->t->pending) + c->bank * 64;
    for (size_t i = from; i < until; i++) {
        r->rows[i].cells = (uint32_t)r->cell_count;
        if (!copy_node(c, &r->rows[i]))
            return 0;
    }
    return 1;
}

/* Rows whose copies are of several moments: each by itself. Where one cannot be had the
 * tree is not exact, and nothing more is tried. */
static int copy_each(gnomon__rows_copier *c, size_t from, size_t until)
{
    gnomon__rows *r = c->out;
    r->cell_count = r->rows[from].cells;
    for (size_t i = from; i < until; i++) {
        size_t cells = r->cell_count;
        int is_still = 0;
        for (int left = r->is_exact ? NODE_TRIES : 1; left && !is_still;
             left--) {
            uint64_t word = gnomon__quiet_word(c->t);
            r->cell_count = cells;
            if (!copy_some(c, i, i + 1))
                return 0;
            is_still = gnomon__is_still(c->t, word);
        }
        r->is_exact &= is_still;
    }
    return 1;
}

static int copy_nodes(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    int is_torn = load_relaxed(&c->t->is_torn) != 0;
    r->is_exact = !is_torn;
    r->cell_count = 0;
    for (size_t i = 0, until; i < r->count && !is_lost(c); i = until) {
        uint64_t word = gnomon__quiet_word(c->t);
        until = i + GROUP < r->count ? i + GROUP : r->count;
        if (!copy_some(c, i, until))
            return 0;
        if (c->is_apart && r->is_exact && !gnomon__is_still(c->t, word) &&
            !copy_each(c, i, until))
            return 0;
    }
    for (size_t i = 0; i < r->count && !r->is_exact; i++)
        make_consistent(&r->rows[i]);
    return 1;
}

static int copy_counters(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    uint32_t at = load_acquire(&c->tree->counters);
    while (at) {
        const gnomon__counter *from = gnomon__at(c->t, at);
        if (!ROOM_FOR(r, counters, counter_count, counter_room, 1))
            return 0;
        gnomon__row_counter *to = &r->counters[r->counter_count];
        to->key = load_relaxed(&from->key);
        copy_words(&to->samples, &from->bank[c->bank], sizeof to->samples);
        r->counter_count += to->samples.count || to->samples.nans;
        at = load_relaxed(&from->next);
    }
    return 1;
}

int gnomon__copy_links(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    /* The room is read first: a table read later is never smaller. */
    uint32_t room = load_acquire(&c->tree->link_room);
    const gnomon__edge *edges = gnomon__at(c->t, load_acquire(&c->tree->links));
    int ok = 1;
    for (uint32_t i = 0; ok && i < room; i++) {
        uint32_t from = load_acquire(&edges[i].from);
        uint64_t count = load_relaxed(&edges[i].count[c->bank]);
        if (!is_node(from) || !count)
            continue;
        ok = ROOM_FOR(r, edges, edge_count, edge_room, 1);
        if (ok)
            r->edges[r->edge_count++] = (gnomon__row_edge){
                load_relaxed(&gnomon__copied_node(c, from)->thread),
                load_relaxed(&gnomon__copied_node(c, from)->number),
                load_relaxed(&gnomon__copied_node(c, load_relaxed(&edges[i].to))
                                  ->number),
                load_relaxed(&edges[i].kind), count};
    }
    return ok;
}

/* ---- The whole ------------------------------------------------------------------ */

static int row_order(const void *a, const void *b)
{
    uint32_t x = ((const gnomon__row *)a)->number,
             y = ((const gnomon__row *)b)->number;
    return (x > y) - (x < y);
}

/* Sorts the rows by number, so that parents come before children, and renumbers what
 * refers to rows. */
static int order_rows(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    size_t bytes = (r->count + 1) * sizeof(uint32_t);
    uint32_t *moved = gnomon__alloc(bytes);
    if (!moved)
        return 0;
    if (r->count > 1)
        qsort(r->rows, r->count, sizeof *r->rows, row_order);
    for (size_t i = 0; i < r->count; i++) {
        gnomon__node *n = gnomon__copied_node(c, r->rows[i].node);
        moved[load_relaxed(&n->row)] = (uint32_t)i;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].parent != GNOMON__NO_ROW) {
            r->rows[i].parent = moved[r->rows[i].parent];
            r->rows[i].node_flags |=
                r->rows[r->rows[i].parent].node_flags & GNOMON__NODE_RANGES;
        }
    for (size_t i = 0; i < r->late_count; i++)
        r->late[i].row = moved[r->late[i].row];
    gnomon__free(moved);
    return 1;
}

int gnomon__copy_rows(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    r->count = r->late_count = r->edge_count = r->counter_count = 0;
    visits++;
    if (!add_touched(c) || !add_chain(c) || !add_ended(c) || !copy_nodes(c))
        return 0;
    return is_lost(c) || (copy_counters(c) && order_rows(c));
}

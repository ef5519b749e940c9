/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies the rows of one bank: the nodes that were touched, those on the chain of
 * open scopes, and all above them. The owner may be writing meanwhile, so each copied
 * offset is checked before it is followed. */
#include <string.h>

#include "platform/order.h"
#include "record/rows_copy.h"

#define NODE_TRIES 10
#define GROUP 16u /* so many nodes are asked for at once whether they changed */

static uint32_t visits; /* number of this copy, noted in the nodes it has met */

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

/* Not the root, nor the parent of ranges: these two have no rows. */
static int has_row(const gnomon__rows_copier *c, uint32_t at)
{
    return is_node(at) && at != c->tree->root && at != c->tree->ranges;
}

/* Notes a node, and those above it, each once. 0: no memory. */
static int note_copied(gnomon__rows_copier *c, uint32_t at)
{
    while (has_row(c, at)) {
        gnomon__node *n = gnomon__copied_node(c, at);
        if (load_relaxed(&n->visit) == visits)
            return 1;
        if (!GNOMON__ADD(c->noted, c->noted_room, c->noted_count,
                         (uint64_t)load_relaxed(&n->number) << 32 | at))
            return 0;
        store_relaxed(&n->visit, visits);
        at = load_relaxed(&n->front[0].parent);
    }
    return 1;
}

static int note_touched(gnomon__rows_copier *c)
{
    int ok = 1;
    uint32_t at = load_acquire(&c->tree->touched[c->bank]);
    while (ok && is_node(at) && (c->noted_count % GROUP || !is_lost(c))) {
        ok = note_copied(c, at);
        at = load_relaxed(&gnomon__copied_node(c, at)->part[c->bank].touched);
    }
    return ok;
}

/* In which segment the execution began that is open on a node. */
static uint32_t segment_of_open(const gnomon__rows_copier *c,
                                const gnomon__node *n)
{
    if (!c->is_live)
        return load_relaxed(&n->front[c->bank].seen);
    uint32_t carry = load_acquire(&n->carry);
    const gnomon__carry *e = gnomon__at(c->t, carry);
    return carry && is_node(carry & ~255u)
               ? load_relaxed(&e->segment)
               : load_relaxed(&c->tree->segment[c->bank]);
}

static const gnomon__cursor *cursor_of(const gnomon__rows_copier *c)
{
    return load_relaxed(&c->t->hot_bit) == c->bit ? &c->t->hot
                                                  : &c->tree->cursor;
}

/* The scopes that were open at the cut, or are open now. */
static int note_chain(gnomon__rows_copier *c)
{
    int ok = 1;
    uint32_t at = c->is_live ? load_acquire(&cursor_of(c)->current)
                             : c->tree->open_at_cut[c->bank];
    for (int hops = 0; ok && is_node(at) && hops <= GNOMON__MAX_DEPTH; hops++) {
        const gnomon__node *n = gnomon__copied_node(c, at);
        const gnomon__front *line = &n->front[c->bank];
        ok = note_copied(c, at) &&
             GNOMON__ADD(c->open, c->open_room, c->open_count,
                         (gnomon__rows_open){at, segment_of_open(c, n),
                                             load_relaxed(&line->begin),
                                             load_relaxed(&line->token)});
        at = load_relaxed(&line->parent);
    }
    return ok;
}

static int note_ended(gnomon__rows_copier *c)
{
    int ok = 1;
    c->ended = load_acquire(&c->tree->ended[c->bank]);
    for (uint32_t at = c->ended; ok && at;) {
        const gnomon__carry *e = gnomon__at(c->t, at);
        ok = note_copied(c, load_relaxed(&e->node));
        at = load_relaxed(&e->next);
    }
    return ok;
}

GNOMON__ORDER(noted_order, uint64_t, ITSELF)

/* The row of a noted node, or GNOMON__NO_ROW. Of a tree that is dropped meanwhile the
 * words may be anything. */
static uint32_t row_at(const gnomon__rows_copier *c, uint32_t at)
{
    if (!has_row(c, at))
        return GNOMON__NO_ROW;
    const gnomon__node *n = gnomon__copied_node(c, at);
    uint32_t row = load_relaxed(&n->row);
    return load_relaxed(&n->visit) == visits && row < c->out->count
               ? row
               : GNOMON__NO_ROW;
}

/* A row for each noted node, by their numbers, so that parents come before children. 0: no
 * memory. */
static int make_rows(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    if (!gnomon__grow(&r->rows, &r->room, c->noted_count, sizeof *r->rows))
        return 0;
    GNOMON__SORT(c->noted, c->noted_count, noted_order);
    for (size_t i = 0; i < c->noted_count; i++) {
        gnomon__node *n = gnomon__copied_node(c, (uint32_t)c->noted[i]);
        uint32_t above = load_relaxed(&n->front[0].parent);
        uint32_t parent = row_at(c, above);
        uint32_t inherited = parent != GNOMON__NO_ROW
                                 ? r->rows[parent].node_flags
                             : above == c->tree->ranges ? GNOMON__NODE_RANGES
                                                        : 0;
        store_relaxed(&n->row, (uint32_t)i);
        r->rows[i] =
            (gnomon__row){.node = (uint32_t)c->noted[i],
                          .number = (uint32_t)(c->noted[i] >> 32),
                          .parent = parent,
                          .key = load_relaxed(&n->front[0].key),
                          .node_flags = load_relaxed(&n->flags) |
                                        (inherited & GNOMON__NODE_RANGES)};
        r->count = i + 1;
    }
    return 1;
}

static void add_chain(gnomon__rows_copier *c)
{
    for (size_t i = 0; i < c->open_count; i++) {
        const gnomon__rows_open *open = &c->open[i];
        uint32_t number = row_at(c, open->node);
        if (number == GNOMON__NO_ROW)
            continue;
        gnomon__row *row = &c->out->rows[number];
        row->is_on_chain = 1;
        row->segment = open->segment;
        row->token = open->token;
        row->begin = open->begin;
    }
}

static int add_ended(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    for (uint32_t at = c->ended; at;) {
        const gnomon__carry *e = gnomon__at(c->t, at);
        uint32_t row = row_at(c, load_relaxed(&e->node));
        at = load_relaxed(&e->next);
        if (row == GNOMON__NO_ROW)
            continue;
        uint64_t self = load_relaxed(&e->self);
        if (!GNOMON__ADD(r->late, r->late_room, r->late_count,
                         (gnomon__late){row, load_relaxed(&e->segment),
                                        load_relaxed(&e->ticks), self,
                                        load_relaxed(&e->is_left) != 0}))
            return 0;
        if (!load_relaxed(&e->is_range)) {
            r->rows[row].carried += load_relaxed(&e->inside);
            r->rows[row].carried_self += self;
        }
    }
    return 1;
}

/* Those that were touched, those that are open, and those on which something ended that
 * had begun earlier. 0: no memory. */
static int choose_rows(gnomon__rows_copier *c)
{
    int ok = note_touched(c) && note_chain(c) && note_ended(c) &&
             make_rows(c) && add_ended(c);
    if (ok)
        add_chain(c);
    gnomon__free(c->noted);
    gnomon__free(c->open);
    c->noted = NULL;
    c->open = NULL;
    c->noted_count = c->noted_room = c->open_count = c->open_room = 0;
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

/* Most cells between the shortest and the longest duration are empty. */
static void copy_octave(gnomon__rows_copier *c, gnomon__row *row,
                        uint32_t octave)
{
    uint32_t at =
        row->part.histogram + (octave - row->part.low) * GNOMON__OCTAVE_BYTES;
    const uint64_t *from = gnomon__at(c->t, at);
    uint32_t pending = (c->pending - at) / sizeof *from; /* 0: below it */
    for (uint32_t i = 0; i < GNOMON__CELLS; i++) {
        uint64_t count = load_relaxed(&from[i]) + (i == pending);
        if (count)
            add_cell(c->out, row, octave * GNOMON__CELLS + i, count);
    }
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
        c->pending = load_relaxed(&cursor_of(c)->pending) + c->bank * 64;
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

/* A thread that never stands still while its bins are copied has none in this copy. */
static int copy_bins(const gnomon__rows_copier *c, const gnomon__counter *from,
                     gnomon__row_counter *to)
{
    gnomon__strip *s = &to->strip;
    const gnomon_bin first = {.struct_size = sizeof first,
                              .count = (uint32_t)to->samples.count,
                              .min = to->samples.min,
                              .max = to->samples.max,
                              .sum = to->samples.sum};
    const uint64_t word = c->is_apart ? gnomon__quiet_word(c->t) : 0;
    size_t count =
        load_acquire(&from->room[c->bank]); /* never of a later chunk */
    const uint32_t at = load_acquire(&from->bins[c->bank]);
    const uint32_t shift = load_relaxed(&from->shift[c->bank]);
    s->count = 0;
    if (shift >= GNOMON__NO_BINS ||
        at + count * sizeof first > load_relaxed(&gnomon__marks_arena.used))
        return 1;
    if (!at)
        return gnomon__strip_add(s, 1, &first, to->samples.count != 0);
    if (!gnomon__grow_zeroed(&s->bins, &s->room, count, sizeof *s->bins))
        return 0;
    copy_words(s->bins, gnomon__at(c->t, at), count * sizeof first);
    while (count && !s->bins[count - 1].count)
        count--;
    for (size_t i = 0; i < count; i++)
        s->bins[i].struct_size = sizeof first;
    s->width = 1ull << shift;
    s->count = c->is_apart && !gnomon__is_still(c->t, word) ? 0 : count;
    return 1;
}

static int copy_counters(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    uint32_t at = load_acquire(&c->tree->counters);
    while (at) {
        const gnomon__counter *from = gnomon__at(c->t, at);
        if (!gnomon__grow_zeroed(&r->counters, &r->counter_room,
                                 r->counter_count + 1, sizeof *r->counters))
            return 0;
        gnomon__row_counter *to = &r->counters[r->counter_count];
        to->key = load_relaxed(&from->key);
        copy_words(&to->samples, &from->bank[c->bank], sizeof to->samples);
        if (!copy_bins(c, from, to))
            return 0;
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
        const gnomon__node *to =
            gnomon__copied_node(c, load_relaxed(&edges[i].to));
        ok =
            GNOMON__ADD(r->edges, r->edge_room, r->edge_count,
                        (gnomon__row_edge){
                            load_relaxed(&gnomon__copied_node(c, from)->thread),
                            load_relaxed(&gnomon__copied_node(c, from)->number),
                            load_relaxed(&to->number),
                            load_relaxed(&edges[i].kind), count});
    }
    return ok;
}

/* ---- The whole ------------------------------------------------------------------ */

int gnomon__copy_rows(gnomon__rows_copier *c)
{
    gnomon__rows *r = c->out;
    r->count = r->late_count = r->edge_count = r->counter_count = 0;
    visits++;
    if (!choose_rows(c) || !copy_nodes(c))
        return 0;
    return is_lost(c) || copy_counters(c);
}

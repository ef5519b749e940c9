/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Counting an execution off the hot path: the first and second of a node in a
 * segment, a new minimum or maximum, a wider histogram. On the owning thread,
 * its word odd.
 *
 * Invariant: count, total, min and max are always exact. Without memory only
 * the histogram is coarser. */
#include "mark/tree.h"

/* Order of first ends among all nodes of the process. */
static uint64_t first_order;

/* Whether the histogram has octaves low .. high. It stays when a bank is
 * cleared, so from the second segment on it may exist at the first
 * execution. */
static int holds(const gnomon__part *p, uint32_t low, uint32_t high)
{
    return p->histogram && p->low <= low && high < (uint32_t)p->low + p->room;
}

/* The offset from the base of the bank at which cell 0 of the histogram would
 * be. */
static uint32_t cells_of(const gnomon__thread *t, uint32_t histogram,
                         uint32_t low)
{
    return histogram - low * GNOMON__OCTAVE_BYTES -
           t->bank * (uint32_t)sizeof(gnomon__front);
}

static void count_cell(gnomon__thread *t, gnomon__cursor *c)
{
    gnomon__word_sum(gnomon__pending_cell(c, t->base), 1);
    store_relaxed(&c->pending, GNOMON__NO_CELL);
}

void gnomon__count_pending(gnomon__thread *t)
{
    count_cell(t, &t->hot);
    gnomon__each_bit(bit, t->tree_bits)
        if (t->states[bit])
            count_cell(t, &gnomon__tree_of(t, bit)->cursor);
}

/* Makes the histogram hold octaves low .. high besides those it has. 0: no
 * memory. Sizes double, so that all the outgrown ones together are no larger
 * than the last. */
static int widen(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                 uint32_t low, uint32_t high)
{
    gnomon__part *p = gnomon__part_at(t, node);
    gnomon__front *n = gnomon__front_at(t, node);
    if (holds(p, low, high)) {
        store_relaxed(&n->cells, cells_of(t, p->histogram, p->low));
        return 1;
    }
    if (p->histogram) {
        low = p->low < low ? p->low : low;
        uint32_t last = (uint32_t)p->low + p->room - 1;
        high = last > high ? last : high;
    }
    uint32_t need = high - low + 1, room = 1;
    while (room < need)
        room *= 2;
    if (room > GNOMON__OCTAVES - low)
        room = GNOMON__OCTAVES - low;
    uint32_t histogram = gnomon__tree_take(t, tree, room * GNOMON__OCTAVE_BYTES,
                                           GNOMON__FOR_SUMS);
    if (!histogram)
        return 0;
    gnomon__count_pending(t); /* the pending cell may be in the old histogram */
    if (p->histogram) {
        const uint64_t *from = gnomon__at(t, p->histogram);
        uint64_t *to = gnomon__at(t, histogram);
        to += (size_t)(p->low - low) * GNOMON__CELLS;
        for (uint32_t i = 0; i < p->room * GNOMON__CELLS; i++)
            store_relaxed(&to[i], from[i]);
    }
    gnomon__part wider = {.histogram = histogram,
                          .low = (uint8_t)low,
                          .room = (uint8_t)room,
                          .flags = p->flags};
    store_release(&p->histogram_word, wider.histogram_word);
    store_relaxed(&n->cells, cells_of(t, histogram, low));
    return 1;
}

/* Adds to the cell of `ticks`, or to the nearest one that the histogram has. */
static void add_to_cell(gnomon__thread *t, gnomon__part *p, uint64_t ticks)
{
    uint32_t cell = gnomon__cell_of_ticks(ticks);
    uint32_t first = (uint32_t)p->low * GNOMON__CELLS;
    uint32_t last = first + (uint32_t)p->room * GNOMON__CELLS - 1;
    if (!p->histogram) {
        bump_relaxed(&p->no_cell, 1);
        return;
    }
    cell = cell < first ? first : cell > last ? last : cell;
    uint64_t *count = gnomon__at(t, p->histogram);
    bump_relaxed(&count[cell - first], 1);
}

static void list_touched(gnomon__thread *t, gnomon__tree *tree, uint32_t node)
{
    store_relaxed(&gnomon__part_at(t, node)->touched, tree->touched[t->bank]);
    store_release(&tree->touched[t->bank], node);
}

void gnomon__tree_touch(gnomon__thread *t, gnomon__tree *tree, uint32_t node)
{
    gnomon__part *p = gnomon__part_at(t, node);
    if (p->first || (p->flags & GNOMON__PART_TOUCHED))
        return;
    store_relaxed(&p->flags, (uint16_t)(p->flags | GNOMON__PART_TOUCHED));
    list_touched(t, tree, node);
}

/* A node's first execution of a segment. Without a histogram it is only in
 * the total, as many paths run once and need no cells. */
static void count_first(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                        uint64_t ticks)
{
    gnomon__part *p = gnomon__part_at(t, node);
    store_relaxed(&p->least, ticks);
    store_relaxed(&p->most, ticks);
    if (!p->histogram)
        store_relaxed(&p->flags, p->flags | GNOMON__PART_ONCE);
    store_relaxed(&p->first, add_relaxed(&first_order, 1) + 1);
    if (!(p->flags & GNOMON__PART_TOUCHED))
        list_touched(t, tree, node);
}

/* Counts in a cell, and the first execution too if it has none yet. */
static void count_in_cell(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                          uint64_t ticks)
{
    gnomon__front *n = gnomon__front_at(t, node);
    gnomon__part *p = gnomon__part_at(t, node);
    int fits = widen(t, tree, node, gnomon__cell_of_ticks(p->least) >> 4,
                     gnomon__cell_of_ticks(p->most) >> 4);
    if (p->flags & GNOMON__PART_ONCE) {
        store_relaxed(&p->flags, (uint16_t)(p->flags & ~GNOMON__PART_ONCE));
        add_to_cell(t, p, n->total - ticks);
    }
    add_to_cell(t, p, ticks);
    if (fits) { /* else the hot path would count into a cell that is not there */
        uint64_t min = p->least, max = p->most;
        min = min < GNOMON__USUAL_MIN ? GNOMON__USUAL_MIN : min;
        max = max > GNOMON__USUAL_MAX ? GNOMON__USUAL_MAX : max;
        if (min > max)
            return;
        store_relaxed(&n->min, min);
        store_relaxed(&n->spread, max - min);
    }
}

void gnomon__tree_count(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                        uint64_t ticks)
{
    gnomon__front *n = gnomon__front_at(t, node);
    gnomon__part *p = gnomon__part_at(t, node);
    if ((int64_t)ticks < 0) {
        /* The counters of two processors may differ a little; one that began
         * again differs much. */
        ticks = 0;
        store_relaxed(&p->flags, (uint16_t)(p->flags | GNOMON__PART_CLOCK));
        gnomon__trouble(t, clock_back);
    }
    store_relaxed(&n->total, n->total + ticks);
    if (!p->first) {
        count_first(t, tree, node, ticks);
        if (!p->histogram)
            return;
    }
    if (ticks < p->least)
        store_relaxed(&p->least, ticks);
    if (ticks > p->most)
        store_relaxed(&p->most, ticks);
    count_in_cell(t, tree, node, ticks);
}

/* ---- Whose time it is ---------------------------------------------------------- */

/* When a closed node of the chain ended, as far as this segment goes. */
uint64_t gnomon__tree_ended_at(const gnomon__thread *t, const gnomon__front *n)
{
    return n->begin > t->segment_begin ? n->begin : t->segment_begin;
}

void gnomon__tree_cross(gnomon__thread *t, uint32_t node, int64_t ticks)
{
    gnomon__part *p = gnomon__part_at(t, node);
    store_relaxed(&p->flags, (uint16_t)(p->flags | GNOMON__PART_CROSSED));
    store_relaxed(&p->adjust, p->adjust + ticks);
}

/* `node` ends at `now`, after parents that are closed already, so their
 * children had more time than they. The time after a parent's end belongs to
 * the next one up that was still open. */
void gnomon__tree_outlive(gnomon__thread *t, uint32_t node, uint64_t now)
{
    uint32_t at = gnomon__front_at(t, node)->parent;
    const gnomon__front *p = gnomon__front_at(t, at);
    if (p->token || !gnomon__front_at(t, at)->parent)
        return;
    uint64_t covered = gnomon__tree_ended_at(t, p);
    gnomon__tree_cross(t, at, (int64_t)(now - covered));
    for (;;) {
        at = p->parent;
        p = gnomon__front_at(t, at);
        if (!gnomon__front_at(t, at)->parent)
            return;
        if (p->token) {
            gnomon__tree_cross(t, at, -(int64_t)(now - covered));
            return;
        }
        uint64_t end = gnomon__tree_ended_at(t, p);
        gnomon__tree_cross(t, at,
                           end > covered ? -(int64_t)(end - covered) : 0);
        covered = end > covered ? end : covered;
    }
}

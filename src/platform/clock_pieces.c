/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pieces of a line: appends one, and merges two when the array is full.
 * Called by clock_line.c alone, on a copy that no other thread sees. */
#include "platform/clock_line.h"

__extension__ typedef unsigned __int128 piece_wide;

static uint64_t piece_ns(const gnomon__line_piece *p, uint64_t ticks)
{
    return p->ns + gnomon__line_scale(ticks - p->ticks, p->mult);
}

#define PIECE_STAYS UINT32_MAX
/* Rounding may make a merged piece end so much lower. */
#define PIECE_ROUNDED_NS 1u

/* ns by which values change if one piece goes from the beginning of i - 1 to
 * the end of i; PIECE_STAYS: one of the two is flat. */
static uint32_t piece_cost(const gnomon__line *l, uint64_t i, uint64_t *mult)
{
    const gnomon__line_piece *a = &l->pieces[i - 1], *b = a + 1, *c = a + 2;
    if (!a->mult || !b->mult) /* the first and last of an epoch are flat */
        return PIECE_STAYS;
    uint64_t rise = piece_ns(b, c->ticks) - a->ns;
    *mult = (uint64_t)(((piece_wide)rise << GNOMON__CLOCK_SHIFT) /
                       (c->ticks - a->ticks));
    uint64_t now = a->ns + gnomon__line_scale(b->ticks - a->ticks, *mult);
    uint64_t cost = (a->error > b->error ? a->error : b->error) +
                    (now > b->ns ? now - b->ns : b->ns - now);
    cost += PIECE_ROUNDED_NS;
    return cost < PIECE_STAYS ? (uint32_t)cost : PIECE_STAYS - 1;
}

/* Not for the last piece, which has no end, nor the first, which has no
 * piece before it. */
static void piece_find_cost(gnomon__line *l, uint64_t i)
{
    uint64_t mult;
    if (i && i < l->count - 1)
        l->pieces[i].cost = piece_cost(l, i, &mult);
}

static void piece_take_out(gnomon__line *l, uint64_t i)
{
    l->count--;
    if (i <= l->epoch && l->epoch)
        l->epoch--;
    for (; i < l->count; i++)
        l->pieces[i] = l->pieces[i + 1];
}

/* Merges two pieces where that changes values least. If none can be merged
 * the machine slept dozens of times: the oldest piece goes, and its ticks
 * get the ns of its end from then on. */
static void piece_make_room(gnomon__line *l)
{
    uint64_t best = 1, mult;
    for (uint64_t i = 2; i < l->count - GNOMON__LINE_RECENT; i++)
        if (l->pieces[i].cost < l->pieces[best].cost)
            best = i;
    uint32_t cost = piece_cost(l, best, &mult);
    if (cost == PIECE_STAYS) {
        piece_take_out(l, 0);
        return;
    }
    l->pieces[best - 1].mult = mult;
    l->pieces[best - 1].error = cost;
    piece_take_out(l, best);
    piece_find_cost(l, best - 1);
    piece_find_cost(l, best);
}

void gnomon__line_append(gnomon__line *l, uint64_t ticks, uint64_t ns,
                         uint64_t mult)
{
    gnomon__line_piece *last = &l->pieces[l->count - 1];
    if (last->ticks == ticks) {
        last->ns = ns;
        last->mult = mult;
    } else {
        if (l->count == GNOMON__LINE_PIECES)
            piece_make_room(l);
        l->pieces[l->count++] = (gnomon__line_piece){ticks, ns, mult, 0, 0};
    }
    piece_find_cost(l, l->count - 2);
}

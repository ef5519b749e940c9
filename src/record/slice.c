/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each row's share of a segment.
 *
 * Ticks are added up before they are converted to ns, and the conversion rounds down,
 * so a node is never shorter than its children. Self time is what remains. */
#include "record/slice.h"

/* ---- Time on the chain ----------------------------------------------------------- */

static uint64_t since_begin(const gnomon__rows *r, uint64_t begin)
{
    uint64_t from = begin > r->from ? begin : r->from;
    return r->until > from ? r->until - from : 0;
}

static void cross_row(gnomon__row *row, int64_t ticks)
{
    row->part.adjust += ticks;
    row->part.flags |= GNOMON__PART_CROSSED;
}

static gnomon__row *row_above(gnomon__rows *r, const gnomon__row *row)
{
    return row->parent == GNOMON__NO_ROW ? NULL : &r->rows[row->parent];
}

/* For a scope that is open while its parent is closed: applies to the copy what
 * gnomon__tree_close does when the scope ends. */
static void settle_open(gnomon__rows *r)
{
    for (size_t i = r->count; i-- > 0;) {
        gnomon__row *row = &r->rows[i], *p = row_above(r, row);
        if (!row->is_on_chain || !row->token || !p || p->token ||
            !p->is_on_chain)
            continue;
        uint64_t covered = since_begin(r, p->begin);
        cross_row(p, (int64_t)covered);
        for (p = row_above(r, p); p; p = row_above(r, p)) {
            if (p->token) {
                cross_row(p, -(int64_t)covered);
                break;
            }
            uint64_t its = since_begin(r, p->begin);
            cross_row(p, its < covered ? -(int64_t)(covered - its) : 0);
            covered = its < covered ? its : covered;
        }
    }
}

/* ---- Shares ------------------------------------------------------------------------ */

static uint64_t open_ticks(const gnomon__rows *r, const gnomon__row *row)
{
    return row->is_on_chain && row->token ? since_begin(r, row->begin) : 0;
}

static int began_earlier(const gnomon__rows *r, const gnomon__row *row)
{
    return row->is_on_chain && row->token && row->segment != r->segment;
}

/* How long the path was open in this segment. */
static uint64_t whole_ns(const gnomon__rows *r, const gnomon__row *row)
{
    return gnomon__slice_ns(r, row->total + row->carried + open_ticks(r, row));
}

static uint64_t not_below_zero(uint64_t ns)
{
    return (int64_t)ns < 0 ? 0
                           : ns; /* rounding, or a copy of several moments */
}

/* Children took longer than the row: one ended after it, though it was closed before. An
 * end from another thread reads the clock there, and the owner may end what is inside
 * before it hears of that end; or the clocks of processors differ. As with all that
 * outlives its parent, the rest is time of the next row up, whose self time has it too. */
static uint64_t give_excess_up(gnomon__rows *r, gnomon__row *row, uint64_t self)
{
    int64_t rounding = row->part.adjust ? -1 : 0;
    if ((int64_t)self >= rounding || !r->is_exact)
        return not_below_zero(self);
    gnomon__row *above = row_above(r, row);
    cross_row(row, 0);
    if (above) {
        cross_row(above, 0);
        above->self_ns += self;
    }
    return 0;
}

static void share_self(gnomon__rows *r, gnomon__row *row)
{
    int64_t adjust = row->part.adjust;
    uint64_t adjust_ns = gnomon__slice_ns(r, adjust < 0 ? 0 - (uint64_t)adjust
                                                        : (uint64_t)adjust);
    uint64_t self =
        adjust < 0 ? row->self_ns - adjust_ns : row->self_ns + adjust_ns;
    if (row->node_flags & GNOMON__NODE_RANGES)
        self = 0;
    if (began_earlier(r, row)) {
        row->earlier_self_ns = not_below_zero(self);
        row->self_ns = 0;
    } else {
        uint64_t carried = gnomon__slice_ns(r, row->carried_self);
        row->self_ns = give_excess_up(r, row, self - carried);
    }
    if (!row->carried && !began_earlier(r, row))
        return;
    row->is_partial = 1;
    /* The parent is open over the cut too, but may have no carry: no memory. */
    gnomon__row *above = row_above(r, row);
    if (above)
        above->is_partial = 1;
}

static void share_out(gnomon__rows *r)
{
    settle_open(r);
    /* Each child's whole time is subtracted from its parent's. This may go below 0,
     * modulo 2^64; share_self corrects it. */
    for (size_t i = 0; i < r->count; i++) {
        gnomon__row *row = &r->rows[i], *above = row_above(r, row);
        uint64_t whole = whole_ns(r, row);
        row->self_ns += whole;
        if (above)
            above->self_ns -= whole;
    }
    for (size_t i = r->count; i-- > 0;)
        share_self(r, &r->rows[i]);
}

/* ---- A thread's ------------------------------------------------------------------ */

int gnomon__slice_read(gnomon__rows *out, gnomon__thread *t, uint32_t bit,
                       uint32_t generation, int is_live)
{
    int code = is_live ? gnomon__rows_copy(out, t, bit, generation)
                       : gnomon__rows_take(out, t, bit, generation);
    if (out->has_tree) {
        out->rate = gnomon__clock_rate(out->from, out->until);
        share_out(out);
    }
    return code;
}

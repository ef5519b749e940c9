/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading a line that another thread may overwrite meanwhile. Each word is
 * loaded by itself, every loop ends, and no index leaves the array, whatever
 * the words hold. The caller checks afterwards that the line is the same
 * (clock.c). */
#include "platform/atomic.h"
#include "platform/clock_line.h"

__extension__ typedef unsigned __int128 read_wide;

static gnomon__line_piece read_piece(const gnomon__line *l, uint64_t i)
{
    const gnomon__line_piece *p = &l->pieces[i % GNOMON__LINE_PIECES];
    return (gnomon__line_piece){load_relaxed(&p->ticks), load_relaxed(&p->ns),
                                load_relaxed(&p->mult), 0, 0};
}

/* The first piece of the epoch that ends before piece `end`. */
static uint64_t read_epoch_before(const gnomon__line *l, uint64_t end)
{
    uint64_t first = end - 1;
    while (first &&
           read_piece(l, first).ticks >= read_piece(l, first - 1).ticks)
        first--;
    return first;
}

/* The piece that `ticks` are in. Ticks above the limit belong to the last
 * epoch that reached them, if one is over. */
static uint64_t read_piece_of(const gnomon__line *l, uint64_t ticks)
{
    uint64_t first = load_relaxed(&l->epoch), end = load_relaxed(&l->count);
    if (ticks >= load_relaxed(&l->limit) && first) {
        uint64_t old_end = first, old = read_epoch_before(l, old_end);
        end = old_end;
        first = old;
        while (old && ticks > read_piece(l, old_end - 1).ticks) {
            old_end = old;
            old = read_epoch_before(l, old_end);
        }
        if (ticks <= read_piece(l, old_end - 1).ticks) {
            end = old_end;
            first = old;
        }
    }
    while (first + 1 < end) {
        uint64_t middle = first + (end - first) / 2;
        if (read_piece(l, middle).ticks <= ticks)
            first = middle;
        else
            end = middle;
    }
    return first;
}

static uint64_t read_rise(const gnomon__line_piece *p, uint64_t ticks)
{
    return ticks > p->ticks ? gnomon__line_scale(ticks - p->ticks, p->mult) : 0;
}

uint64_t gnomon__line_ns(const gnomon__line *l, uint64_t ticks)
{
    uint64_t limit = load_relaxed(&l->limit), i = read_piece_of(l, ticks);
    gnomon__line_piece p = read_piece(l, i);
    if (ticks > limit && i + 1 == load_relaxed(&l->count))
        ticks = limit;
    return p.ns + read_rise(&p, ticks);
}

gnomon__line_part gnomon__line_part_of(const gnomon__line *l, uint64_t ticks)
{
    uint64_t end = load_relaxed(&l->limit), i = read_piece_of(l, ticks);
    gnomon__line_piece p = read_piece(l, i);
    int is_fixed =
        ticks >= p.ticks && ticks < end && i >= load_relaxed(&l->epoch);
    if (i + 1 < load_relaxed(&l->count))
        end = read_piece(l, i + 1).ticks;
    return (gnomon__line_part){p.ticks, is_fixed ? end - p.ticks : 0, p.ns,
                               p.mult};
}

uint64_t gnomon__line_rate(const gnomon__line *l, uint64_t from, uint64_t to)
{
    uint64_t i = read_piece_of(l, from), last = read_piece_of(l, to), ticks = 0,
             ns = 0;
    read_wide sum = 0, most;
    for (uint64_t begin = from; i <= last; i++, begin = 0) {
        gnomon__line_piece p = read_piece(l, i);
        uint64_t end = i == last ? to : read_piece(l, i + 1).ticks;
        if (begin < p.ticks)
            begin = p.ticks;
        if (!p.mult || end <= begin)
            continue;
        ticks += end - begin;
        ns += read_rise(&p, end) - read_rise(&p, begin);
        sum += (read_wide)(end - begin) * p.mult;
    }
    if (!ticks)
        return load_relaxed(&l->rate);
    /* Each piece's end is rounded down. */
    most = (((read_wide)ns + 1) << GNOMON__CLOCK_SHIFT) - 1;
    return (uint64_t)((sum < most ? sum : most) / ticks);
}

int gnomon__line_began_again(const gnomon__line *l, uint64_t now)
{
    uint64_t last = load_relaxed(&l->last.ticks), rate = load_relaxed(&l->rate);
    return now < last && rate &&
           gnomon__line_scale(last - now, rate) > GNOMON__LINE_BACK_NS;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Samples of a counter by steps, in bins of the arena. When they are to be more, they move
 * to a larger chunk; as a reader may be copying the smaller one, a bank gives all of them
 * back when it is at rest. Together they have less than 32 KiB. On the owning thread, its
 * word odd. */
#include "mark/tree.h"
#include "profile/strip.h"

#define FIRST_BINS 32u
#define MOST_BINS (GNOMON__BINS / 2)
/* What a chunk was before lies where a bin would say its size. */
#define CHUNK_BEFORE(bins) ((bins)[0].struct_size)
#define ROOM_BEFORE(bins) ((bins)[1].struct_size)

void gnomon__bins_give(const gnomon__thread *t, gnomon__counter *c,
                       uint32_t bank)
{
    uint32_t at = c->bins[bank], room = c->room[bank];
    while (at) {
        const gnomon_bin *bins = gnomon__at(t, at);
        const uint32_t before = CHUNK_BEFORE(bins),
                       room_before = ROOM_BEFORE(bins);
        gnomon__chunk_give(at, room * (uint32_t)sizeof *bins);
        at = before;
        room = room_before;
    }
    store_relaxed(&c->bins[bank], 0);
    store_relaxed(&c->room[bank], 0);
    store_relaxed(&c->shift[bank], 0);
}

/* A chunk of `room` bins with those that there are, or with the first, which has all
 * samples up to now. NULL: no memory, and the counter has no bins from now on. */
static gnomon_bin *take_bins(gnomon__thread *t, gnomon__counter *c,
                             uint32_t room)
{
    const uint32_t bank = t->bank, had = c->room[bank];
    const gnomon__sums_of_samples *s = &c->bank[bank];
    const gnomon_bin first = {.count = (uint32_t)s->count,
                              .min = s->min,
                              .max = s->max,
                              .sum = s->sum};
    const gnomon_bin *from = had ? gnomon__at(t, c->bins[bank]) : &first;
    const uint32_t at =
        gnomon__chunk_take(room * (uint32_t)sizeof *from, GNOMON__FOR_LATER);
    gnomon_bin *bins = gnomon__at(t, at);
    if (!at) { /* those that there are stay until the bank is at rest, unread */
        store_relaxed(&c->shift[bank], GNOMON__NO_BINS);
        return NULL;
    }
    for (uint32_t i = 0; !i || i < had; i++)
        gnomon__bin_add(&bins[i], &from[i]);
    CHUNK_BEFORE(bins) = c->bins[bank];
    ROOM_BEFORE(bins) = had;
    /* The chunk before its room: readers load the room first. */
    store_release(&c->bins[bank], at);
    store_release(&c->room[bank], (uint16_t)room);
    return bins;
}

/* Once there are the most bins they become wider. */
void gnomon__bins_count(gnomon__thread *t, gnomon__counter *c, uint64_t step,
                        double value)
{
    const gnomon_bin one = {
        .count = 1, .min = value, .max = value, .sum = value};
    const uint32_t bank = t->bank, was = c->shift[bank], had = c->room[bank];
    uint32_t shift = was, room = had ? had : FIRST_BINS;
    gnomon_bin *bins = gnomon__at(t, c->bins[bank]);
    if (step >> was < had) { /* mostly */
        gnomon__bin_add(&bins[step >> was], &one);
        return;
    }
    if (was == GNOMON__NO_BINS)
        return;
    while (step >> shift >= MOST_BINS)
        shift++;
    while (step >> shift >= room)
        room *= 2;
    if (room > had && !(bins = take_bins(t, c, room)))
        return;
    if (shift > was) {
        (void)gnomon__bins_widen(bins, room, 1ull << (shift - was));
        store_relaxed(&c->shift[bank], (uint16_t)shift);
    }
    gnomon__bin_add(&bins[step >> shift], &one);
}

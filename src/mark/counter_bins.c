/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Samples of a counter by steps, in bins of the arena. A bank at rest gives them back, so a
 * counter has one chunk of at most 32 KiB. On the owning thread, its word odd. */
#include "mark/tree.h"
#include "profile/strip.h"

#define FIRST_BINS 32u

void gnomon__bins_give(gnomon__counter *c, uint32_t bank)
{
    if (c->bins[bank])
        gnomon__chunk_give(c->bins[bank],
                           c->room[bank] * (uint32_t)sizeof(gnomon_bin));
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
    const uint16_t shift = c->shift[bank];
    const gnomon__sums_of_samples *s = &c->bank[bank];
    const gnomon_bin first = {.count = (uint32_t)s->count,
                              .min = s->min,
                              .max = s->max,
                              .sum = s->sum};
    const gnomon_bin *from = had ? gnomon__at(t, c->bins[bank]) : &first;
    const uint32_t at =
        gnomon__chunk_take(room * (uint32_t)sizeof *from, GNOMON__FOR_LATER);
    gnomon_bin *bins = gnomon__at(t, at);
    for (uint32_t i = 0; at && (!i || i < had); i++)
        gnomon__bin_add(&bins[i], &from[i]);
    gnomon__bins_give(c, bank);
    store_relaxed(&c->shift[bank], at ? shift : GNOMON__NO_BINS);
    store_relaxed(&c->room[bank], (uint16_t)(at ? room : 0));
    store_release(&c->bins[bank], at);
    return at ? bins : NULL;
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
    while (step >> shift >= GNOMON__BINS)
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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds steps of stages, and converts those of the open one. */
#include "record/whole_steps.h"

#include "platform/clock.h"

int gnomon__whole_steps_add(gnomon__whole_steps *to,
                            const gnomon__whole_steps *from)
{
    for (size_t i = 0; i < from->slow_count; i++)
        to->slow_count =
            gnomon__slow_add(to->slow, to->slow_count, &from->slow[i]);
    return gnomon__total_add(&to->time, &from->time) &&
           gnomon__strip_add(&to->strip, from->strip.width, from->strip.bins,
                             from->strip.count);
}

void gnomon__whole_steps_empty(gnomon__whole_steps *s)
{
    gnomon__total_empty(&s->time);
    gnomon__strip_free(&s->strip);
    s->slow_count = 0;
}

/* ---- In ticks ------------------------------------------------------------------------ */

void gnomon__open_strip_widen(gnomon__open_strip *s)
{
    for (size_t i = 0; i < GNOMON__BINS; i++) {
        const struct gnomon__open_bin one = s->bins[i];
        struct gnomon__open_bin *to = &s->bins[i / 2];
        s->bins[i] = (struct gnomon__open_bin){0};
        to->total += one.total;
        to->above = one.above > to->above ? one.above : to->above;
        to->most = one.most > to->most ? one.most : to->most;
    }
    s->shift++;
}

/* In the place of the least slow one. */
void gnomon__open_strip_slow(gnomon__open_strip *s, uint64_t at,
                             uint64_t number, uint64_t ticks)
{
    uint32_t i = s->slow_count;
    if (i == GNOMON__SLOW_STEPS)
        for (i = 0; s->slow[i].ticks != s->slow_from;)
            i++;
    else
        s->slow_count++;
    s->slow[i].at = at;
    s->slow[i].number = number;
    s->slow[i].ticks = ticks;
    if (s->slow_count < GNOMON__SLOW_STEPS)
        return;
    s->slow_from = ticks;
    for (i = 0; i < s->slow_count; i++)
        if (s->slow[i].ticks < s->slow_from)
            s->slow_from = s->slow[i].ticks;
}

int gnomon__open_strip_add(gnomon__whole_steps *to, const gnomon__open_strip *s,
                           uint64_t count, uint64_t rate)
{
    const uint64_t width = 1ull << s->shift;
    const size_t bins = (size_t)((count + width - 1) >> s->shift);
    gnomon__strip strip = {.width = width};
    if (!gnomon__grow_zeroed(&strip.bins, &strip.room, bins,
                             sizeof *strip.bins))
        return 0;
    for (; strip.count < bins; strip.count++) {
        const struct gnomon__open_bin *from = &s->bins[strip.count];
        const uint64_t left = count - strip.count * width;
        strip.bins[strip.count] =
            (gnomon_bin){.struct_size = sizeof *strip.bins,
                         .count = (uint32_t)(left < width ? left : width),
                         .min = (double)gnomon__line_scale(~from->above, rate),
                         .max = (double)gnomon__line_scale(from->most, rate),
                         .sum = (double)gnomon__line_scale(from->total, rate)};
    }
    const int ok =
        gnomon__strip_add(&to->strip, width, strip.bins, strip.count);
    gnomon__strip_free(&strip);
    for (uint32_t i = 0; i < s->slow_count; i++) {
        const gnomon_slow_step slow = {
            .at = s->slow[i].at,
            .number = s->slow[i].number,
            .ns = gnomon__line_scale(s->slow[i].ticks, rate)};
        to->slow_count = gnomon__slow_add(to->slow, to->slow_count, &slow);
    }
    return ok;
}

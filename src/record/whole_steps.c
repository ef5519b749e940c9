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

void gnomon__whole_steps_clear(gnomon__whole_steps *s)
{
    gnomon__total_clear(&s->time);
    s->strip.count = 0;
    s->slow_count = 0;
}

/* ---- In ticks ------------------------------------------------------------------------ */

static void add_bin(struct gnomon__open_bin *to,
                    const struct gnomon__open_bin *one)
{
    to->total += one->total;
    to->above = one->above > to->above ? one->above : to->above;
    to->most = one->most > to->most ? one->most : to->most;
}

void gnomon__open_steps_turn(gnomon__open_steps *s)
{
    const uint64_t count = s->sum.count;
    if (count)
        s->bins[(count - 1) >> s->shift] = s->last;
    if (count >> s->shift == GNOMON__BINS) {
        for (size_t i = 0; i < GNOMON__BINS; i += 2) {
            s->bins[i / 2] = s->bins[i];
            add_bin(&s->bins[i / 2], &s->bins[i + 1]);
        }
        s->shift++;
    }
    s->last = (struct gnomon__open_bin){0};
    s->until = count + (1ull << s->shift);
}

/* In the place of the least slow one. */
void gnomon__open_steps_slow(gnomon__open_steps *s, uint64_t number,
                             uint64_t ticks)
{
    uint32_t i = s->slow_count;
    if (i == GNOMON__SLOW_STEPS)
        for (i = 0; s->slow[i].ticks != s->slow_from;)
            i++;
    else
        s->slow_count++;
    s->slow[i].at = s->sum.count;
    s->slow[i].number = number;
    s->slow[i].ticks = ticks;
    if (s->slow_count < GNOMON__SLOW_STEPS)
        return;
    s->slow_from = ticks;
    for (i = 0; i < s->slow_count; i++)
        if (s->slow[i].ticks < s->slow_from)
            s->slow_from = s->slow[i].ticks;
}

static double in_ns(uint64_t ticks, uint64_t rate)
{
    return (double)(int64_t)gnomon__line_scale(ticks, rate);
}

/* `sum` has the sums of all bins then, also without memory. */
static int read_bins(gnomon__strip *to, gnomon__open_steps *s, uint64_t rate)
{
    const uint64_t width = 1ull << s->shift;
    const size_t bins = (size_t)((s->sum.count - 1) >> s->shift) + 1;
    struct gnomon__open_bin all = {0};
    s->bins[bins - 1] = s->last;
    for (size_t i = 0; i < bins; i++)
        add_bin(&all, &s->bins[i]);
    s->sum.total = all.total;
    s->sum.min = ~all.above;
    s->sum.max = all.most;
    if (!gnomon__grow(&to->bins, &to->room, bins, sizeof *to->bins))
        return 0;
    to->width = width;
    for (to->count = 0; to->count < bins; to->count++) {
        const struct gnomon__open_bin *from = &s->bins[to->count];
        const uint64_t left = s->sum.count - to->count * width;
        to->bins[to->count] =
            (gnomon_bin){.struct_size = sizeof *to->bins,
                         .count = (uint32_t)(left < width ? left : width),
                         .min = in_ns(~from->above, rate),
                         .max = in_ns(from->most, rate),
                         .sum = in_ns(from->total, rate)};
    }
    return 1;
}

int gnomon__open_steps_read(gnomon__whole_steps *to, gnomon__open_steps *s,
                            uint64_t rate)
{
    if (!s->sum.count)
        return 1;
    for (uint32_t i = 0; i < s->slow_count; i++) {
        const gnomon_slow_step slow = {
            .at = s->slow[i].at,
            .number = s->slow[i].number,
            .ns = gnomon__line_scale(s->slow[i].ticks, rate)};
        to->slow_count = gnomon__slow_add(to->slow, to->slow_count, &slow);
    }
    return read_bins(&to->strip, s, rate) &&
           gnomon__tick_sum_add(&to->time, &s->sum, rate);
}

void gnomon__open_steps_clear(gnomon__open_steps *s)
{
    if (s->sum.count) {
        const uint32_t from = gnomon__cell_of_ticks(s->sum.min),
                       to = gnomon__cell_of_ticks(s->sum.max);
        memset(&s->sum.cells[from], 0, (to + 1 - from) * sizeof *s->sum.cells);
    }
    s->sum.count = s->until = s->slow_from = 0;
    s->shift = s->slow_count = 0;
}

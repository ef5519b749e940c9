/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds strips and lists of slow steps. */
#include "profile/strip.h"

#include "platform/memory.h"
#include "profile/fields.h"

size_t gnomon__bins_widen(gnomon_bin *bins, size_t count, uint64_t times)
{
    for (size_t i = 0; times > 1 && i < count; i++) {
        const gnomon_bin one = bins[i];
        gnomon__store_double(&bins[i].min, 0);
        gnomon__store_double(&bins[i].max, 0);
        gnomon__store_double(&bins[i].sum, 0);
        store_relaxed(&bins[i].count, 0);
        gnomon__bin_add(&bins[i / times], &one);
    }
    return count ? (count - 1) / times + 1 : 0;
}

size_t gnomon__strip_need(const gnomon__strip *to, uint64_t width, size_t count)
{
    const uint64_t all = !to->count || width > to->width ? width : to->width;
    const size_t own = to->count ? (to->count - 1) / (all / to->width) + 1 : 0;
    const size_t its = count ? (count - 1) / (all / width) + 1 : 0;
    return own > its ? own : its;
}

int gnomon__strip_add(gnomon__strip *to, uint64_t width, const gnomon_bin *bins,
                      size_t count)
{
    const size_t need = count ? gnomon__strip_need(to, width, count) : 0;
    if (!count)
        return 1;
    if (!gnomon__grow_zeroed(&to->bins, &to->room, need, sizeof *to->bins))
        return 0;
    if (!to->count) { /* what is there may be of another time */
        to->width = width;
        memset(to->bins, 0, need * sizeof *to->bins);
    }
    if (to->width < width) {
        to->count = gnomon__bins_widen(to->bins, to->count, width / to->width);
        to->width = width;
    }
    for (size_t i = 0; i < need; i++)
        to->bins[i].struct_size = sizeof *to->bins;
    for (size_t i = 0; i < count; i++)
        gnomon__bin_add(&to->bins[i / (to->width / width)],
                        (const void *)gnomon__struct_at(bins, i));
    to->count = need;
    return 1;
}

void gnomon__strip_free(gnomon__strip *s)
{
    gnomon__free(s->bins);
    *s = (gnomon__strip){0};
}

/* ---- Slow steps --------------------------------------------------------------------- */

/* Whether `a` stands before `b`. */
static int is_slower(const gnomon_slow_step *a, const gnomon_slow_step *b)
{
    return a->ns != b->ns   ? a->ns > b->ns
           : a->at != b->at ? a->at < b->at
                            : a->number < b->number;
}

size_t gnomon__slow_add(gnomon_slow_step *list, size_t count,
                        const gnomon_slow_step *step)
{
    const int is_full = count == GNOMON__SLOW_STEPS;
    if (is_full && !is_slower(step, &list[count - 1]))
        return count;
    count += !is_full;
    size_t at = count - 1;
    for (; at && is_slower(step, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = (gnomon_slow_step){.struct_size = sizeof *list,
                                  .at = step->at,
                                  .number = step->number,
                                  .ns = step->ns};
    return count;
}

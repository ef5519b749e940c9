/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that were open when the profile was taken: they have no event yet, and are
 * written among those of their track, to which they are parents. */
#include "export/timeline.h"

#include <stdlib.h>

static int compare_opens(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    if (a->track != b->track)
        return a->track > b->track ? 1 : -1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns > b->begin_ns ? 1 : -1;
    return (a->reserved > b->reserved) - (a->reserved < b->reserved);
}

int gnomon__opens_begin(gnomon__opens *o, const gnomon_profile *p)
{
    size_t tracks = gnomon_profile_count(p, GNOMON_TRACKS);
    size_t count = gnomon_profile_count(p, GNOMON_OPENS);
    o->of = calloc(count + 1, sizeof *o->of);
    o->next = calloc(tracks + 2, sizeof *o->next);
    o->count = 0;
    if (!o->of || !o->next)
        return 0;
    for (size_t i = 0; i < count; i++) {
        (void)gnomon_profile_open(p, i + 1, &o->of[i]);
        o->of[i].reserved = (uint32_t)i; /* the outer one first, for the sort */
    }
    qsort(o->of, count, sizeof *o->of, compare_opens);
    o->count = count;
    for (size_t i = count; i > 0; i--)
        o->next[o->of[i - 1].track] = i - 1;
    return 1;
}

void gnomon__opens_end(gnomon__opens *o)
{
    free(o->of);
    free(o->next);
    *o = (gnomon__opens){0};
}

const gnomon_open_info *gnomon__opens_next(gnomon__opens *o, size_t track,
                                           uint64_t ns)
{
    size_t i = o->next[track];
    if (i >= o->count || o->of[i].track != track || o->of[i].begin_ns > ns)
        return NULL;
    o->next[track] = i + 1;
    return &o->of[i];
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of ranks as one line of text, of bounded length. */
#include "merge/rank_list.h"

#include <inttypes.h>
#include <stdio.h>

#define LISTED 20 /* ranges of ranks in one line */

void gnomon__rank_list_add(gnomon__rank_list *l, int32_t from, int32_t to)
{
    const char *comma = l->used ? ", " : "";
    l->count += (uint64_t)(to - from) + 1;
    if (l->ranges++ > LISTED || l->used > sizeof l->text - 40)
        return;
    char *at = l->text + l->used;
    size_t room = sizeof l->text - l->used;
    int n;
    if (l->ranges > LISTED)
        n = snprintf(at, room, "%s...", comma);
    else if (from == to)
        n = snprintf(at, room, "%s%" PRId32, comma, from);
    else
        n = snprintf(at, room, "%s%" PRId32 "-%" PRId32, comma, from, to);
    l->used += (size_t)n;
}

void gnomon__rank_list_met(gnomon__rank_list *l, int32_t rank, int32_t world)
{
    if (rank > l->next && rank <= world)
        gnomon__rank_list_add(l, l->next, rank - 1);
    if (rank >= l->next)
        l->next = rank < INT32_MAX ? rank + 1 : rank;
}

void gnomon__rank_list_end(gnomon__rank_list *l, int32_t world)
{
    if (l->next < world)
        gnomon__rank_list_add(l, l->next, world - 1);
}

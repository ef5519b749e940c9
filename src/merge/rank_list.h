/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranks as text: "3, 5-7". */
#ifndef GNOMON_MERGE_RANK_LIST_H
#define GNOMON_MERGE_RANK_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Zeroes are an empty one. */
typedef struct gnomon__rank_list {
    char text
        [512]; /* the first of them; it ends in "..." where there are more */
    size_t used;
    unsigned ranges;
    uint64_t count; /* of ranks in it */
    int32_t
        next; /* for lists of missing ranks: the first that may be missing */
} gnomon__rank_list;

/* Adds `from` to `to`. */
void gnomon__rank_list_add(gnomon__rank_list *list, int32_t from, int32_t to);

/* For a list of missing ranks: call _met with the present ranks, ascending, of a world of
 * that size (-1: not known), then _end. */
void gnomon__rank_list_met(gnomon__rank_list *list, int32_t rank,
                           int32_t world);
void gnomon__rank_list_end(gnomon__rank_list *list, int32_t world);

#endif

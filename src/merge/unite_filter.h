/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the filter of a unite takes of a part. A node that is left out has the number of
 * the scope around it. */
#ifndef GNOMON_MERGE_UNITE_FILTER_H
#define GNOMON_MERGE_UNITE_FILTER_H

#include "merge/united.h"

/* Of a node of the part: in part->state. */
#define GNOMON__LEFT_OUT 1u
#define GNOMON__LEFT_OUT_RANGE 2u
/* Its times, or those of the kept node around it, are in. */
#define GNOMON__INSIDE_TIMES 4u

/* Before nodes: asks the filter for each region. GNOMON_OK or
 * GNOMON_ENOMEM. Free in any case. */
int gnomon__filter_begin(gnomon__united_part *part);
void gnomon__filter_free(gnomon__united_part *part);

/* Whether the part's region is taken. */
static inline int gnomon__filter_has(const gnomon__united_part *part,
                                     uint32_t region)
{
    return !part->is_taken || part->is_taken[region];
}

/* Whether a node that was chosen is taken, its parent being added or left out; `blocks`:
 * it has its own times. 1, 0, or -1: no memory. */
int gnomon__filter_node(gnomon__united_part *part, size_t number,
                        const gnomon_node_info *n, int blocks);

/* Likewise, of a counter's, which is counted if it is not. */
static inline int gnomon__filter_counter(const gnomon__united_part *part,
                                         uint32_t region)
{
    if (gnomon__filter_has(part, region))
        return 1;
    part->u->left_out |= 1u << GNOMON_COUNTERS;
    return 0;
}

static inline int gnomon__filter_left_out(const gnomon__united_part *part,
                                          uint32_t node)
{
    return part->state && part->state[node] & GNOMON__LEFT_OUT;
}

/* After nodes: finds who submitted what. Likewise. */
int gnomon__filter_links(gnomon__united_part *part);

/* A link of nodes that are left out becomes one of the nodes around them. 0: it is left
 * out. */
int gnomon__filter_link(const gnomon__united_part *part, gnomon_link_info *l);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parents of nodes, where work that was submitted to another thread is a child of
 * the node that submitted it. */
#ifndef GNOMON_PRINT_LINKS_H
#define GNOMON_PRINT_LINKS_H

#include <stdbool.h>

#include "gnomon/profile.h"

/* How often one node submitted another. */
typedef struct gnomon__submission {
    uint32_t to, from;
    uint64_t count;
} gnomon__submission;

/* Those of the profile, by `to`, then `from`. NULL: no memory. The caller frees them. */
gnomon__submission *gnomon__submissions(size_t *count,
                                        const gnomon_profile *profile);

typedef struct gnomon__linked {
    uint32_t parent; /* 0: none */
    bool is_linked;
    uint64_t in_part;
} gnomon__linked;

/* The parent of each node, by its number: where all its executions were submitted, the
 * node that submitted most of them (of equal ones the first), which is_linked says; else
 * its own parent. Links that would make a circle, and links of other kinds, are ignored.
 * `in_part` is how many executions that parent submitted, or of a node that stays where it
 * is anybody. `has`, by node, is 0 for those whose links do not count, and 1 for those that
 * are there without their times; NULL: the profile is whole. The caller frees them. O(nodes
 * + links) memory. NULL: no memory. */
gnomon__linked *gnomon__linked_parents(const unsigned char *has,
                                       const gnomon_profile *profile);

#endif

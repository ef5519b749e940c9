/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work that was handed to another thread stands below who submitted it. */
#ifndef GNOMON_PRINT_LINKS_H
#define GNOMON_PRINT_LINKS_H

#include <stdbool.h>

#include "gnomon/profile.h"

/* The parent of each node, by its number: the node that submitted most of its
 * executions (of equal ones the first), else its own parent, 0 where it has none.
 * Links that would make a circle, and those of other kinds, are passed over.
 * `is_linked`, by number too, may be NULL. The caller frees *parents. O(nodes +
 * links) memory. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__linked_parents(uint32_t **parents, bool **is_linked,
                           const gnomon_profile *profile);

#endif

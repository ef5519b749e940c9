/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dangling references in a file: how many there are, and the first few by name. */
#ifndef GNOMON_PROFILE_DANGLING_H
#define GNOMON_PROFILE_DANGLING_H

#include "profile/entity.h"
#include "profile/model.h"

#define GNOMON__DANGLING_NAMED 4

/* Zeroes are none. */
typedef struct gnomon__dangling {
    uint64_t count;
    uint64_t
        left_out[GNOMON__ENTITIES]; /* entities that described lost ones only */
    char named[GNOMON__DANGLING_NAMED][56];
} gnomon__dangling;

/* Adds a field of an entity, by the entity's number in the file, as dangling; `target` is
 * its value, or 0. */
void gnomon__dangling_add(gnomon__dangling *n, int entity, uint64_t number,
                          const gnomon__field *f, uint32_t target);

#endif

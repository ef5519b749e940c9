/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_REPAIR_H
#define GNOMON_PROFILE_REPAIR_H

#include "profile/model.h"

#define GNOMON__DANGLING_NAMED 4

/* Dangling references in a file: how many there are, and the first few by name.
 * Zeroes are none. */
typedef struct gnomon__dangling {
    uint64_t count;
    uint64_t left_out[GNOMON__ENTITIES]; /* that described lost ones only */
    char named[GNOMON__DANGLING_NAMED][56];
} gnomon__dangling;

/* Adds a field of an entity, by the entity's number in the file, as dangling; `target` is
 * its value, or 0. */
void gnomon__dangling_add(gnomon__dangling *n, int entity, uint64_t number,
                          const gnomon__field *f, uint32_t target);

/* Makes a profile of what was read of a damaged one: entities of all zeroes are
 * those that were lost. What named none that is there is added to `dangling`, by its
 * number in the file: `before` of each kind are not in the model. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__repair_model(gnomon__model *m, const uint32_t *before,
                         gnomon__dangling *dangling);

#endif

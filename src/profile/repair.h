/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_REPAIR_H
#define GNOMON_PROFILE_REPAIR_H

#include "profile/dangling.h"

/* Makes a profile of what was read of a damaged one: entities of all zeroes are
 * those that were lost. What named none that is there is added to `dangling`, by its
 * number in the file: `before` of each kind are not in the model. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__repair_model(gnomon__model *m, const uint32_t *before,
                         gnomon__dangling *dangling);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_MEND_H
#define GNOMON_PROFILE_MEND_H

#include "profile/model.h"

/* Makes a profile of what was read of a damaged one: entities of all zeroes are
 * those that were lost. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__mend(gnomon__model *m);

#endif

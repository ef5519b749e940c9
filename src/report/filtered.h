/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as if it had been recorded with filter=. Regions that the filter does not
 * take are left out; their self time and their children go to the scope around them.
 * Unlike there, work that was submitted by what is left out, or in what is left out,
 * stays below the nearest scope that is kept. */
#ifndef GNOMON_REPORT_FILTERED_H
#define GNOMON_REPORT_FILTERED_H

#include "gnomon/profile.h"
#include "spec/filter.h"

typedef struct gnomon__filtered gnomon__filtered;

/* NULL: no memory. `base` must outlive it. */
gnomon__filtered *gnomon__filtered_create(const gnomon_profile *base,
                                          const gnomon__filter *filter);
const gnomon_profile *gnomon__filtered_profile(const gnomon__filtered *f);
void gnomon__filtered_free(gnomon__filtered *f);

#endif

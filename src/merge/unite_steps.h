/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_MERGE_UNITE_STEPS_H
#define GNOMON_MERGE_UNITE_STEPS_H

#include "merge/united.h"

/* Of a stage and view so many steps keep what they were made of. */
#define GNOMON__SLOWEST_UNITED 10

/* Adds a part's steps and what they were made of, its stages being united. GNOMON_OK
 * or GNOMON_ENOMEM. */
int gnomon__unite_steps(gnomon__united_part *part);

/* Puts them in order, by the numbers that stages have now. Likewise. */
int gnomon__order_steps(gnomon__unite *u, gnomon__numbers *n);
void gnomon__unite_steps_free(gnomon__unite *u);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_MERGE_UNITE_STEPS_H
#define GNOMON_MERGE_UNITE_STEPS_H

#include "merge/united.h"

/* Of a stage and view so many steps keep what they were made of. */
#define GNOMON__SLOWEST_UNITED 10

/* Of a part's steps and what they were made of, its stages being united: which are wanted
 * (unite.c). */
int gnomon__unite_steps_begin(gnomon__united_part *part);
int gnomon__unite_steps_take(gnomon__united_part *part, size_t number,
                             gnomon__any *item);
int gnomon__unite_times_take(gnomon__united_part *part, size_t number,
                             gnomon__any *item);
int gnomon__unite_times_end(gnomon__united_part *part);

/* `reserved`, in the fold: the step is kept even if no time refers to it. */
void gnomon__unite_step_stays(gnomon__unite *u, uint32_t number);

/* Keeps the slowest of all so far; in the end the model gets the sums. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__unite_keep_slowest(gnomon__unite *u);
int gnomon__unite_steps_end(gnomon__unite *u);
void gnomon__unite_steps_free(gnomon__unite *u);

#endif

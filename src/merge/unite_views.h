/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long each view recorded the stages of a part. */
#ifndef GNOMON_MERGE_UNITE_VIEWS_H
#define GNOMON_MERGE_UNITE_VIEWS_H

#include "merge/united.h"

/* Before stages: finds the times of the view that part->only chooses. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__unite_views_begin(gnomon__united_part *part);

/* Sets the recorded time of stage `number` of the part to that in the chosen view.
 * Returns 0 if the stage is of other views alone. */
int gnomon__unite_view_stage(const gnomon__united_part *part, size_t number,
                             gnomon_stage_info *s);

/* After stages and tracks: adds times of views. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__unite_views(gnomon__united_part *part);

#endif

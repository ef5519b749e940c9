/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What makes entities of two profiles the same, and their order in a merged one:
 * by content alone, so that it does not matter what was merged first. Each
 * returns below 0, 0 or above. */
#ifndef GNOMON_OFFLINE_KEYS_H
#define GNOMON_OFFLINE_KEYS_H

#include "gnomon/profile.h"

/* NULL comes before "". */
int gnomon__compare_texts(const char *a, const char *b);
int gnomon__compare_regions(const gnomon_region_info *a,
                            const gnomon_region_info *b);
int gnomon__compare_ops(const gnomon_op_info *a, const gnomon_op_info *b);
int gnomon__compare_views(const gnomon_view_info *a, const gnomon_view_info *b);

/* What is known of a run of which nothing is known. */
extern const gnomon_run_info gnomon__no_run;

/* By job, rank, attempt and uuid: lives of one rank follow one another. */
int gnomon__compare_run_keys(const gnomon_run_info *a,
                             const gnomon_run_info *b);
/* Which of two records of one run says more: by when it was taken, then by all
 * that it says. */
int gnomon__compare_runs(const gnomon_run_info *a, const gnomon_run_info *b);

/* By ordinal and name; by kind, device, index and name, without an index where
 * runs are forgotten. */
int gnomon__compare_stage_keys(const gnomon_stage_info *a,
                               const gnomon_stage_info *b);
int gnomon__compare_track_keys(const gnomon_track_info *a,
                               const gnomon_track_info *b, int has_index);

uint64_t gnomon__hash_region(const gnomon_region_info *r);
uint64_t gnomon__hash_op(const gnomon_op_info *o);

#endif

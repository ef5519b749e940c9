/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What marks off the hot path do to a call tree: see gnomon__recorder. */
#ifndef GNOMON_MARK_TREE_MARKS_H
#define GNOMON_MARK_TREE_MARKS_H

#include "mark/recorder.h"

int gnomon__tree_begin(gnomon__thread *t, uint32_t bit, uint32_t key,
                       uint64_t token);
void gnomon__tree_begun(gnomon__thread *t, uint32_t bit, uint64_t ticks);
void gnomon__tree_end(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f);
void gnomon__tree_count_range(gnomon__thread *t, uint32_t bit,
                              const gnomon__finished *f, uint32_t segment);
void gnomon__tree_mark(gnomon__thread *t, uint32_t bit,
                       const gnomon__finished *f);
void gnomon__tree_sample(gnomon__thread *t, uint32_t bit, uint32_t key,
                         double value);

#endif

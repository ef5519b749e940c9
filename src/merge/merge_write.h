/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_MERGE_MERGE_WRITE_H
#define GNOMON_MERGE_MERGE_WRITE_H

#include "merge/align.h"

/* All of the merge as a .gnomon file. `aligned`, for each run: how its moments are moved;
 * NULL: they stay. `run` is called before each run with its number from 1, and with the
 * number of all; or NULL. GNOMON_OK or the first error. */
int gnomon__merge_write(gnomon__merge *m, const gnomon_writer *out,
                        const gnomon__aligned *aligned,
                        void (*run)(size_t number, size_t count));

#endif

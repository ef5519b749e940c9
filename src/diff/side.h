/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_DIFF_SIDE_H
#define GNOMON_DIFF_SIDE_H

#include "diff/diff.h"

/* Adds all runs of a file, folder or pattern to a side. A gnomon__exit; lines have
 * said what could not be read, what was lost, what is there twice, and which ranks are
 * missing: then *are_missing becomes 1. */
int gnomon__diff_read_side(gnomon__diff *diff, enum gnomon__side side,
                           char *word, int *are_missing);

#endif

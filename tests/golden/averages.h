/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_GOLDEN_AVERAGES_H
#define GNOMON_GOLDEN_AVERAGES_H

#include <jansson.h>
#include <stdio.h>

/* Prints the table of a case of tests/data/golden/torch/averages. Not 0: it failed. */
int golden_averages(const char *path, const json_t *root, FILE *out);

#endif

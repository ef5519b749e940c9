/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kinds of golden cases that print tables of functions. */
#ifndef GNOMON_TESTS_GOLDEN_TABLES_H
#define GNOMON_TESTS_GOLDEN_TABLES_H

#include <jansson.h>
#include <stdio.h>

#include "gnomon.h"

/* Says what is wrong with a case; 1. */
int golden_fail(const char *path, const char *format, ...) GNOMON_PRINTF(2, 3);

/* Ends the run without its reports. */
int golden_quiet_teardown(void);

/* Each writes the case's text to `out`; golden_pstats also the .prof of its
 * table to `prof`. 0, or 1 after golden_fail. */
int golden_pstats(const char *path, const json_t *root, FILE *out, FILE *prof);
int golden_advanced(const char *path, const json_t *root, FILE *out);
int golden_cprofile(const char *path, const json_t *root, FILE *out);

#endif

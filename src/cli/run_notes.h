/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program that was run has told of its reports. */
#ifndef GNOMON_CLI_RUN_NOTES_H
#define GNOMON_CLI_RUN_NOTES_H

#include <limits.h>

/* The file that processes of the program append to; "": there is none. */
typedef struct gnomon__run_notes {
    char path[PATH_MAX];
} gnomon__run_notes;

/* Names it in the environment, where no `gnomon run` around this one has. */
void gnomon__run_notes_begin(gnomon__run_notes *notes);

/* Reads it, and it is gone. A line on standard error for each file that is there.
 * Where the program `name` has ended well under `spec` and nothing was marked, a
 * line that says so; NULL: it has not. */
void gnomon__run_notes_print(const gnomon__run_notes *notes, const char *name,
                             const char *spec, int has_nvtx);

#endif

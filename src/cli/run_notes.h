/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The notes that processes of `gnomon run` leave of their reports. */
#ifndef GNOMON_CLI_RUN_NOTES_H
#define GNOMON_CLI_RUN_NOTES_H

#include <limits.h>

/* The file that processes of the program append to; "": there is none. */
typedef struct gnomon__run_notes {
    char path[PATH_MAX];
} gnomon__run_notes;

/* Makes the file and names it in the environment, unless an outer `gnomon run` has. */
void gnomon__run_notes_begin(gnomon__run_notes *notes);

/* Reads and removes the file, and logs a line for each report that exists. If the program
 * `name` (NULL: it failed) ended well under `spec` without a report, logs why. */
void gnomon__run_notes_print(const gnomon__run_notes *notes, const char *name,
                             const char *spec, int has_nvtx);

#endif

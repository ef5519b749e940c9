/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which files a program that ran under a spec left as its reports. */
#ifndef GNOMON_CLI_FOUND_H
#define GNOMON_CLI_FOUND_H

#include <time.h>

/* When the program began, by the clock that file systems write down. */
typedef struct gnomon__cli_found {
    struct timespec since;
} gnomon__cli_found;

void gnomon__cli_found_begin(gnomon__cli_found *found);

/* A line on standard error for each file that is as the spec names its reports,
 * and was written since; a line, too, where it names files and there are none.
 * Nothing where it names none: then they came on standard error. */
void gnomon__cli_found_tell(const gnomon__cli_found *found, const char *spec);

#endif

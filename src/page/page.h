/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles as a page (docs/reports.md): one HTML file that needs nothing else. */
#ifndef GNOMON_PAGE_PAGE_H
#define GNOMON_PAGE_PAGE_H

#include "command/inputs.h"
#include "gnomon/profile.h"

/* Writes the page of profiles, each of one run or of many; their files are named in it.
 * GNOMON_OK, GNOMON_ENOMEM, GNOMON_EIO where an event cannot be read, or the writer's
 * code. O(entities) memory. */
int gnomon__page_write(const gnomon_profile *const *profiles,
                       const char *const *paths, size_t count,
                       const gnomon_writer *out);

/* The page of all these files at `path`, "-" being standard output. A gnomon__exit; lines
 * have said what could not be read or written. */
int gnomon__page_make(const gnomon__cli_inputs *in, const char *path);

/* Opens a page in the browser, by xdg-open where there is a display; else, and where that
 * fails, prints its path to standard output. */
void gnomon__page_open(const char *path);

#endif

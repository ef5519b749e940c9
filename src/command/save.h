/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles as files that commands write (-o). */
#ifndef GNOMON_COMMAND_SAVE_H
#define GNOMON_COMMAND_SAVE_H

#include "gnomon/profile.h"

/* What a file is made by: writes all of it. GNOMON_OK or an error code, whose
 * text is told unless it is the writer's. */
typedef int gnomon__cli_maker(void *context, int form,
                              const gnomon_writer *out);

/* Makes a file at `path`, as JSON where that ends in .json, else as
 * .gnomon; "-" is standard output, as .gnomon. Whole or not at all: a file of
 * that name is replaced at the end, by one for its owner only, never through a
 * link. What is no regular file (/dev/stdout, a pipe) is written to as it is. A
 * gnomon__exit; one line has said what went wrong. */
int gnomon__cli_make(const char *path, gnomon__cli_maker *maker, void *context);

/* The same of a profile. */
int gnomon__cli_save(const gnomon_profile *profile, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles as files that commands write (-o). */
#ifndef GNOMON_COMMAND_SAVE_H
#define GNOMON_COMMAND_SAVE_H

#include "gnomon/profile.h"

struct gnomon_profile;

/* Writes the whole content of a file. GNOMON_OK, or an error code and a text; the
 * writer's own errors have no text. */
typedef int gnomon__cli_maker(void *context, int form,
                              const gnomon_writer *out);

/* Makes a file at `path`, as JSON if that ends in .json, else as .gnomon; "-" is standard
 * output, as .gnomon. The file is made under another name and then renamed, so it is
 * whole or not there; only its owner may read it, and a link of that name is replaced,
 * not followed. What is no regular file (/dev/stdout, a pipe) is written to as it is. A
 * gnomon__exit; one line has said what went wrong. */
int gnomon__cli_make(const char *path, gnomon__cli_maker *maker, void *context);

/* The same of a profile. */
int gnomon__cli_save(const struct gnomon_profile *profile, const char *path);

/* Bytes that grow, and a writer to them: for what must be in memory as a whole before it
 * is read again. Zeroes are an empty one. */
typedef struct gnomon__cli_memory {
    char *bytes;
    size_t size, room;
} gnomon__cli_memory;

/* Its write returns GNOMON_ENOMEM and a text; it has no print. */
gnomon_writer gnomon__cli_memory_writer(gnomon__cli_memory *to);
void gnomon__cli_memory_free(gnomon__cli_memory *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bytes that grow, and a writer to them. */
#ifndef GNOMON_COMMAND_MEMORY_H
#define GNOMON_COMMAND_MEMORY_H

#include "gnomon/writer.h"

/* Zeroes are an empty one. */
typedef struct gnomon__cli_memory {
    char *bytes;
    size_t size, room;
} gnomon__cli_memory;

/* Its write returns GNOMON_ENOMEM and a text; it has no print. */
gnomon_writer gnomon__cli_memory_writer(gnomon__cli_memory *to);
void gnomon__cli_memory_free(gnomon__cli_memory *m);

#endif

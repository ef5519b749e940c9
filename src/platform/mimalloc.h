/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the heap's functions come from; memory.c alone includes this. */
#ifndef GNOMON_PLATFORM_MIMALLOC_H
#define GNOMON_PLATFORM_MIMALLOC_H

#include <stddef.h>

typedef struct gnomon__heap {
    char name[32];
    void *(*zalloc)(size_t count, size_t bytes);
    void *(*resize)(void *memory, size_t bytes);
    void (*release)(void *memory);
} gnomon__heap;

/* mimalloc's functions, in memory of its own; NULL where it is absent, switched
 * off, or called from inside itself. Any thread; holds no lock of ours. */
gnomon__heap *gnomon__mimalloc(void);

#endif

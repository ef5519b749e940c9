/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hook: a profiler whose callbacks marks call, as a thread keeps it. */
#ifndef GNOMON_MARK_HOOK_H
#define GNOMON_MARK_HOOK_H

#include <stdint.h>

struct gnomon_frame;

/* A hook as a thread calls it. A callback that the profiler lacks is
 * replaced by a function that does nothing. Valid while its bit is in
 * `attached`. */
typedef struct gnomon__hook {
    uint32_t bit;   /* as a mask */
    uint16_t rank;  /* how many hooks have lower bits */
    uint16_t index; /* of the bit */
    void (*start)(void *, const struct gnomon_frame *, uint64_t *);
    void (*stop)(void *, const struct gnomon_frame *, uint64_t *);
    void *self;
} gnomon__hook;

#endif

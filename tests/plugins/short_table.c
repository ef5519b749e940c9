/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profiler of a release with fewer callbacks: its table ends before
 * `stop`, and the bytes after it are no table. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <gnomon/tool.h>

static void short_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    if (*slot)
        abort();
    fprintf(stderr, "short > %s\n", frame->name);
}

static void not_mine(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    abort();
}

static const gnomon_profiler short_table = {
    .struct_size = offsetof(gnomon_profiler, stop),
    .abi = GNOMON_ABI,
    .name = "short",
    .help = "from an older release",
    .start = short_start,
    .stop = not_mine,
};

GNOMON_PLUGIN(short_table);

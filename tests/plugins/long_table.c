/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profiler of a later release, whose table has callbacks that we lack. */
#include <stdio.h>
#include <stdlib.h>

#include <gnomon/tool.h>

static void long_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)slot;
    fprintf(stderr, "long < %s\n", frame->name);
}

static void long_later(void *self)
{
    (void)self;
    abort();
}

static const struct {
    gnomon_profiler known;
    void (*later[8])(void *self);
} long_table = {
    .known =
        {
            .struct_size = sizeof long_table,
            .abi = GNOMON_ABI,
            .name = "long",
            .help = "from a later release",
            .stop = long_stop,
        },
    .later = {long_later, long_later},
};

#define long_profiler long_table.known
GNOMON_PLUGIN(long_profiler);

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that ends inside its scopes, with a profiler of its own that
 * allocates at each start; its last output is the number of starts and
 * stops. */
#include <stdio.h>
#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/tool.h"

static int starts, stops, unfinished;

static void hold(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame;
    starts++;
    *slot = (uint64_t)(uintptr_t)malloc(16);
}

static void give_back(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    stops++;
    unfinished += (frame->flags & GNOMON_FRAME_UNFINISHED) != 0;
    free((void *)(uintptr_t)*slot);
}

static const gnomon_profiler holds = {.struct_size = sizeof holds,
                                      .abi = GNOMON_ABI,
                                      .name = "holds",
                                      .start = hold,
                                      .stop = give_back};

static void say(void)
{
    printf("%d starts, %d stops, %d unfinished\n", starts, stops, unfinished);
}

int main(void)
{
    atexit(say); /* runs after gnomon's */
    gnomon_attach(&holds, NULL, NULL);
    GNOMON_SCOPE("outer");
    gnomon_start("action");
    {
        GNOMON_SCOPE("done");
    }
    GNOMON_SCOPE("inner");
    exit(0);
}

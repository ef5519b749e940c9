/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A second recorder besides the tree. Static program only: it uses internal symbols,
 * which the shared library hides. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#ifdef BENCH_RING

#include "ring_recorder.h"

static int is_there;

void bench_ring_attach(int is_open)
{
    /* Schedules go by the steps of the stage, and rows before this made any number. */
    if (ring_attach(is_open ? "" : "schedule=wait:1000000000/active:1")) {
        fprintf(stderr, "bench: ring: %s\n", gnomon_error_text());
        exit(2);
    }
    is_there = 1;
}

void bench_ring_detach(void)
{
    if (is_there && ring_detach())
        exit(2);
    is_there = 0;
}

#endif

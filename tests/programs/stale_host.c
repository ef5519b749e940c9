/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host, and a profiler in it, compiled against the headers of release 0.1:
 * their regions, inline marks and tables work with today's library. */
#include "../abi/0.1/gnomon/profiler.h"

#include <stdio.h>

static void stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)slot;
    *(int *)self += frame->struct_size >= sizeof *frame;
}

static const gnomon_profiler counter = {
    .struct_size = sizeof counter,
    .abi = GNOMON_ABI,
    .name = "counter",
    .stop = stop,
};

int main(void)
{
    int stops = 0;
    gnomon_health health = {.struct_size = sizeof health};
    gnomon_setup_options options = {.struct_size = sizeof options};
    int code = gnomon_setup(&options);
    code |= gnomon_attach(&counter, &stops, NULL);
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("one");
        GNOMON_MARK("mark");
        GNOMON_COUNTER("counter", i);
        gnomon_start("other");
        gnomon_stop("other");
        gnomon_step();
    }
    GNOMON_REGION(range, "over", "io");
    gnomon_range_end(gnomon_range_begin(&range));
    gnomon_health_get(&health);
    code |= gnomon_detach(&counter, &stops);
    code |= gnomon_teardown();
    printf("%d stops, %d unmatched, code %d\n", stops, (int)health.unmatched,
           code);
    return 0;
}

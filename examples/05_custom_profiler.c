/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with its own profiler.
 * env: GNOMON=action_count */
#include "action_count.h"

int main(void)
{
    const gnomon_profiler *own[] = {&action_count, NULL};
    gnomon_setup_options options = {.struct_size = sizeof options,
                                    .profilers = own};
    gnomon_setup(&options); /* now $GNOMON knows the name */
    gnomon_stage_begin("fit");
    for (int i = 0; i < 3; i++) {
        gnomon_start("training_step");
        if (i % 2 == 0) {
            gnomon_start("optimizer_step");
            gnomon_stop("optimizer_step");
        }
        gnomon_stop("training_step");
        gnomon_step();
    }
    gnomon_stage_end(); /* summary, then teardown; the next stage starts anew */

    gnomon_stage_begin("test");
    gnomon_start("test_step");
    gnomon_stop("test_step");
    gnomon_stage_end();
    return gnomon_teardown() == GNOMON_OK ? 0 : 1;
}

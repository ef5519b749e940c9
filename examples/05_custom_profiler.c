/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with its own profiler.
 * env: GNOMON=action_count */
#include "action_count.h"

int main(void)
{
    gnomon_register(&action_count); /* now $GNOMON knows the name */
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
    return gnomon_stage_end() == GNOMON_OK ? 0 : 1;
}

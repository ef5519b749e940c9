/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that is marked, and run with a plugin that it does not know.
 * env: GNOMON=./lib06_action_count_plugin.so,simple
 *
 * Several profilers may run at once. */
#include <gnomon.h>
#include <unistd.h>

int main(void)
{
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("training_step");
        usleep(1000);
        gnomon_start("optimizer_step");
        usleep(1000);
        gnomon_stop("optimizer_step");
    }
    return 0;
}

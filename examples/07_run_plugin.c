/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A marked program, run with a plugin that it was not built with.
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

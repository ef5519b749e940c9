/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Actions by name, as in Lightning's profilers, in stages.
 * env: GNOMON=simple
 *
 * Names may be made at run time. Actions need not nest: here the transfer of the
 * next batch begins inside a hook and ends after it. Each stage gets its own
 * report.
 */
#include <gnomon.h>
#include <stdio.h>
#include <unistd.h>

static void hook(const char *who, const char *what, unsigned milliseconds)
{
    char name[64];
    snprintf(name, sizeof name, "[%s]%s", who, what);
    gnomon_start(name);
    usleep(1000 * milliseconds);
    gnomon_stop(name);
}

static void batch(void)
{
    gnomon_start("run_training_batch");
    hook("Strategy", "training_step", 2);
    gnomon_start("batch_to_device");
    hook("Strategy", "backward", 5);
    gnomon_stop("run_training_batch");
    usleep(5000);
    gnomon_stop("batch_to_device");
}

int main(void)
{
    gnomon_setup(NULL); /* optional: the run has an outermost frame */
    gnomon_stage_begin("fit");
    for (int i = 0; i < 3; i++) {
        batch();
        gnomon_step();
    }
    gnomon_stage_end();

    gnomon_stage_begin("validate");
    hook("Strategy", "validation_step", 2);
    gnomon_stage_end();
    return gnomon_teardown() == GNOMON_OK ? 0 : 1;
}

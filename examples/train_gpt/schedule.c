/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The learning rate's schedule. Called by the module. */
#include "adamw.h"

#include <math.h>

double schedule_of_epoch(int epoch, int epochs)
{
    return 0.1 + 0.45 * (1 + cos(3.141592653589793 * epoch / epochs));
}

double schedule_of_warmup(uint64_t step, uint64_t steps)
{
    return step < steps ? (double)(step + 1) / (double)steps : 1;
}

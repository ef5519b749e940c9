/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * passthrough: wants nothing and is told nothing, so attaching it sets no bit
 * in any mask. It is the measure of what a profiler costs by being there.
 */
#include "gnomon/profiler.h"

static const gnomon_profiler passthrough = {
    .struct_size = sizeof passthrough,
    .abi = GNOMON_ABI,
    .name = "passthrough",
    .help = "nothing, measurable as nothing",
};

GNOMON_PLUGIN(passthrough);

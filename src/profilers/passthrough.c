/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * passthrough: has no callbacks and wants no tree, so attaching it sets no bit in any
 * mask. Use it to measure what an attached profiler costs.
 */
#include "gnomon/tool.h"

static const gnomon_profiler passthrough = {
    .struct_size = sizeof passthrough,
    .abi = GNOMON_ABI,
    .name = "passthrough",
    .help = "records nothing",
};

GNOMON_PLUGIN(passthrough);

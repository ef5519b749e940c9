/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profiler whose library takes 300 ms to load, as one that loads CUPTI may. */
#include <unistd.h>

#include "gnomon/tool.h"

__attribute__((constructor)) static void load_slowly(void)
{
    usleep(300000);
}

static const gnomon_profiler slow = {
    .struct_size = sizeof slow, .abi = GNOMON_ABI, .name = "slow"};

GNOMON_PLUGIN(slow);

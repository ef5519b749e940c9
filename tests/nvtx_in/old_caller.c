/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that is linked to a library of NVTX 1 (old.c). */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

int main(void)
{
    for (int i = 0; i < 5; i++) {
        nvtxRangePushA("old outer");
        nvtxRangePushA("old inner");
        nvtxMarkA("old mark");
        if (nvtxRangePop() != 1 || nvtxRangePop() != 0)
            return 1;
    }
    return 0;
}

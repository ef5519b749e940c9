/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When a test may be skipped: there is no device, or no driver at all. Any other
 * answer, a driver that is too old for the runtime, say, is a fault of the
 * machine that has to be mended: else it would pass with nothing run. */
#ifndef GNOMON_TESTS_GPU_HERE_H
#define GNOMON_TESTS_GPU_HERE_H

#include <cuda_runtime_api.h>

/* What cudaGetDeviceCount returned. */
static inline int gpu_is_none(cudaError_t code)
{
    int driver = 0;
    if (code == cudaErrorNoDevice)
        return 1;
    /* The runtime says so, too, where no driver is installed; only then is the
     * driver's version 0. */
    return code == cudaErrorInsufficientDriver &&
           cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
}

#endif

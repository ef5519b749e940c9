/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When a test may be skipped: there is no device, or no driver. Any other
 * error, for instance a driver that is too old for the runtime, fails the
 * test: the machine needs repair, and a skip would hide it. */
#ifndef GNOMON_TESTS_GPU_MISSING_H
#define GNOMON_TESTS_GPU_MISSING_H

#include <cuda_runtime_api.h>

/* What cudaGetDeviceCount returned. */
static inline int gpu_is_none(cudaError_t code)
{
    int driver = 0;
    if (code == cudaErrorNoDevice)
        return 1;
    /* Without a driver the runtime reports an old driver, too; only then is
     * the driver's version 0. */
    return code == cudaErrorInsufficientDriver &&
           cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
}

#endif

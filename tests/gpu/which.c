/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Says which GPU the tests and the benchmark run on. Exit status 77: there is
 * none; 1: there is one, or a driver, that cannot be used. */
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "gpu_missing.h"

int main(void)
{
    struct cudaDeviceProp properties;
    int count = 0, driver = 0, runtime = 0;
    const char *call = "cudaGetDeviceCount";
    cudaError_t code = cudaGetDeviceCount(&count);
    if (gpu_is_none(code) || (code == cudaSuccess && !count)) {
        printf("%s\n", cudaGetErrorString(cudaErrorNoDevice));
        return 77;
    }
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (code == cudaSuccess) {
        call = "cudaGetDeviceProperties";
        code = cudaGetDeviceProperties(&properties, 0);
    }
    if (code == cudaSuccess) {
        call = "cudaFree, which makes the context";
        code = cudaFree(NULL);
    }
    if (code != cudaSuccess) {
        printf("%s: %s (%s, %d); driver for CUDA %d.%d, runtime %d.%d\n", call,
               cudaGetErrorString(code), cudaGetErrorName(code), (int)code,
               driver / 1000, driver % 1000 / 10, runtime / 1000,
               runtime % 1000 / 10);
        return 1;
    }
    printf("%s, compute capability %d.%d, driver for CUDA %d.%d, runtime "
           "%d.%d\n",
           properties.name, properties.major, properties.minor, driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return 0;
}

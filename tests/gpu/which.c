/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Says which GPU the tests and the benchmark run on. Exit status 77: none. */
#include <stdio.h>

#include <cuda_runtime_api.h>

int main(void)
{
    struct cudaDeviceProp properties;
    int count = 0, driver = 0, runtime = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess)
        code = cudaGetDeviceProperties(&properties, 0);
    if (code != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(code));
        return 77;
    }
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("%s, compute capability %d.%d, driver for CUDA %d.%d, runtime "
           "%d.%d\n",
           properties.name, properties.major, properties.minor, driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return 0;
}

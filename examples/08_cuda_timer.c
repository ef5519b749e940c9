/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long a stream's work takes on the device, without any profiler.
 * needs: cuda */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include <gnomon/cuda.h>

int main(void)
{
    gnomon_cuda_timer *timer;
    double ms = 0;
    void *memory = NULL;
    if (gnomon_cuda_timer_create(&timer))
        return puts(gnomon_error_text()), 1;
    cudaMalloc(&memory, 1 << 30);
    gnomon_cuda_timer_start(timer, 0);
    cudaMemsetAsync(memory, 1, 1 << 30, 0);
    gnomon_cuda_timer_stop(timer, 0);
    gnomon_cuda_timer_elapsed(timer, &ms); /* waits for the stream */
    gnomon_cuda_timer_destroy(timer);
    return printf("1 GiB was set in %.3f ms\n", ms) < 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work for streams: each call launches one kernel of one thread. */
#ifndef GNOMON_TESTS_GPU_KERNELS_H
#define GNOMON_TESTS_GPU_KERNELS_H

#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs for `ns` by the device's own clock. */
void put_spin(uint64_t ns, cudaStream_t stream);

/* Runs until `*flag`, in mapped memory of the host's, is not 0; `ns` at most, so
 * that nothing hangs for ever. */
void put_wait(volatile int *flag, uint64_t ns, cudaStream_t stream);

void put_nothing(cudaStream_t stream);

/* Breaks the context: all that comes after it there fails. */
void put_trap(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

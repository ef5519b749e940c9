/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What gnomon asks of CUDA's runtime, where a process has it as a shared
 * library: which device the thread chose, and the profiler's switch. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

static __thread int device;

EXPORT int cudaSetDevice(int to)
{
    device = to;
    return 0;
}

EXPORT int cudaGetDevice(int *out)
{
    *out = device;
    return 0;
}

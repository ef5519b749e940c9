/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels of the tests and of the benchmark. */
#include "kernels.h"

static __device__ uint64_t now(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void spin(uint64_t ns)
{
    uint64_t begin = now();
    while (now() - begin < ns)
        ;
}

static __global__ void wait_for(volatile int *flag, uint64_t ns)
{
    uint64_t begin = now();
    while (!*flag && now() - begin < ns)
        ;
}

static __global__ void nothing(void)
{
}

static __global__ void trap(void)
{
    asm volatile("trap;");
}

void put_spin(uint64_t ns, cudaStream_t stream)
{
    spin<<<1, 1, 0, stream>>>(ns);
}

void put_wait(volatile int *flag, uint64_t ns, cudaStream_t stream)
{
    wait_for<<<1, 1, 0, stream>>>(flag, ns);
}

void put_nothing(cudaStream_t stream)
{
    nothing<<<1, 1, 0, stream>>>();
}

void put_trap(cudaStream_t stream)
{
    trap<<<1, 1, 0, stream>>>();
}

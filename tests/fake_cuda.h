/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fake driver for programs with the test clock: call fake_cuda_use first. */
#ifndef GNOMON_TESTS_FAKE_CUDA_H
#define GNOMON_TESTS_FAKE_CUDA_H

#include <dlfcn.h>
#include <stdlib.h>

#include "fake_cuda/fake_cuda.h"
#include "gnomon/cuda.h"
#include "marks.h"

static const fake_cuda *cuda;

static inline int fake_cuda_use(void)
{
    const char *path = TEST_BINARY_DIR "/fake_cuda/driver.so";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    setenv("GNOMON_CUDA_LIBRARY", path, 1);
    cuda = library ? dlsym(library, "fake_cuda_table") : NULL;
    if (!CHECK(cuda != NULL))
        exit(1);
    cuda->clock(&gnomon__test_ticks);
    gnomon__test_set(1000);
    return 1;
}

/* The driver saw no misuse. */
static inline void fake_cuda_is_well(void)
{
    const char *last;
    if (!CHECK_EQ(cuda->misuse(&last), 0))
        fprintf(stderr, "    %s\n", last);
}

static const gnomon_profiler timed = {.struct_size = sizeof timed,
                                      .abi = GNOMON_ABI,
                                      .wants =
                                          GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
                                      .name = "timed"};

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A shared library that takes memory and gives it back. It is no plugin. */
#include <malloc.h>
#include <stdlib.h>

__attribute__((visibility("default"))) void taking(size_t bytes);
void taking(size_t bytes)
{
    void *volatile block = memalign(16, bytes);
    free(block);
}

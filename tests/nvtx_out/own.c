/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The symbol by which gnomon recognizes its own NVTX tool; this tool must
 * not get a call. */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const int gnomon_nvtx_in;
EXPORT const int gnomon_nvtx_in = 1;

EXPORT int InitializeInjectionNvtx2(void *get);

EXPORT int InitializeInjectionNvtx2(void *get)
{
    (void)get;
    abort();
}

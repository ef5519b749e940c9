/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Useless libraries with CUPTI's name: one that is too old, the stub for linking, one
 * that lacks most calls, one that has no driver to work with, and another library. */
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

#ifndef NO_VERSION
EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetVersion(uint32_t *version)
{
    *version = VERSION;
    if (RESULT < 0) /* as that of 13.2 without a driver */
        abort();
    return RESULT;
}
#else
EXPORT extern const int
    cudaGetDeviceCount; /* found as an address, not called */
const int cudaGetDeviceCount = 1;
#endif

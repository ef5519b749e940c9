/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Useless libraries with the driver's name: the stub for linking, a driver
 * that is too old, one that lacks most calls, and another library. */
#define EXPORT __attribute__((visibility("default")))

#ifndef NO_VERSION
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return RESULT;
}
#else
EXPORT extern const int something_else;
const int something_else = 1;
#endif

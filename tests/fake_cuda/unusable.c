/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Libraries that go by the driver's name and are of no use: the stub that
 * programs are linked with, a driver that is too old, one that lacks most calls,
 * and one that is something else. */
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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A marked extension module. */
#include <gnomon.h>

__attribute__((visibility("default"))) void marked(int rounds)
{
    int i;
    for (i = 0; i < rounds; i++) {
        GNOMON_SCOPE("outer");
        gnomon_start("action");
        gnomon_stop("action");
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An extension module that marks. */
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

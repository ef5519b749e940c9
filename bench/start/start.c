/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The smallest program, with or without one mark: the difference is what gnomon adds
 * to a start. */
#ifdef START_MARKS
#include "gnomon.h"
#endif

int main(void)
{
#ifdef START_MARKS
    GNOMON_SCOPE("main");
#endif
    return 0;
}

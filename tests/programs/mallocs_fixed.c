/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program at a fixed address that has the addresses of malloc and free, as Debian's Python:
 * its jumps to them stand for the calls in all of the process. */
#include <stdlib.h>

#include "gnomon.h"

static void *(*const take)(size_t) = malloc;
static void (*const give)(void *) = free;

int main(void)
{
    void *(*volatile taker)(size_t) = take;
    void (*volatile giver)(void *) = give;
    gnomon_start("fixed");
    giver(taker(1234));
    gnomon_stop("fixed");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* C code with a scope that calls back. */
#include <gnomon.h>

void through(void (*call)(void *), void *argument);

void through(void (*call)(void *), void *argument)
{
    GNOMON_SCOPE("through");
    call(argument);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

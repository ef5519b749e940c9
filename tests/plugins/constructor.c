/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module whose constructor calls the function at the address in
 * $IN_CONSTRUCTOR. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void construct(void)
{
    const char *text = getenv("IN_CONSTRUCTOR");
    uintptr_t address = text ? (uintptr_t)strtoull(text, NULL, 16) : 0;
    void (*call)(void);
    memcpy(&call, &address, sizeof call);
    if (call)
        call();
}

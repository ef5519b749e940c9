/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module with false notes of a copy: one is too short to have a pointer,
 * the other points to a table of no size. */
#include "user.h"

extern const unsigned no_copy[8];
__attribute__((used, visibility("hidden"))) const unsigned no_copy[8] = {0};

__asm__(".pushsection .note.gnomon,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 4, 1\n"
        ".asciz \"gnomon\"\n"
        ".balign 4\n"
        ".long 0\n"
        ".long 7, 8, 1\n"
        ".asciz \"gnomon\"\n"
        ".balign 4\n"
        "0: .quad no_copy - 0b\n"
        ".popsection\n");

void use(int times)
{
    (void)times;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module as other threads see it while the loader still relocates it: its note
 * leads to a copy whose pointers are those of the file, and whose constructor has
 * not run. */
#include "platform/owner.h"
#include "user.h"

extern gnomon__copy loading_copy;
__attribute__((used, visibility("hidden"))) gnomon__copy loading_copy = {
    .struct_size = sizeof(gnomon__copy), .abi = GNOMON_ABI};

__asm__(".pushsection .note.gnomon,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 8, 1\n"
        ".asciz \"gnomon\"\n"
        ".balign 4\n"
        "0: .quad loading_copy - 0b\n"
        ".popsection\n");

void use(int times)
{
    (void)times;
}

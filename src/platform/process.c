/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a forked child begins anew: the section of the variables that are marked
 * GNOMON__OF_PROCESS. */
#include "platform/process.h"

#include <stddef.h>
#include <string.h>

#include "platform/os.h"

/* The section's bounds, which the linker makes. */
GNOMON__DATA char __start_gnomon_process[], __stop_gnomon_process[];

void gnomon__process_keep(const void *block)
{
    __attribute__((unused)) static const void *volatile kept[256];
    static uint32_t count;
    kept[count++ % 256] = block;
}

/* Heaps align blocks. */
static void keep_what_it_points_to(const char *section, size_t size)
{
    for (size_t at = 0; at + sizeof(void *) <= size; at += sizeof(void *)) {
        const void *word;
        memcpy(&word, section + at, sizeof word);
        if ((uintptr_t)word > UINT16_MAX && (uintptr_t)word % 16 == 0)
            gnomon__process_keep(word);
    }
}

void gnomon__process_forget(void)
{
    size_t size =
        (uintptr_t)__stop_gnomon_process - (uintptr_t)__start_gnomon_process;
    keep_what_it_points_to(__start_gnomon_process, size);
    memset(__start_gnomon_process, 0, size);
}

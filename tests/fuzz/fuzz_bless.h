/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Corrects the checksums of files, so that the code behind the checks runs. */
#ifndef GNOMON_TESTS_FUZZ_BLESS_H
#define GNOMON_TESTS_FUZZ_BLESS_H

#include "profile_bytes.h"
#include "platform/crc32.h"
#include "profile/layout.h"

/* Corrects the checksums. */
static inline void fuzz_bless(char *at, size_t size)
{
    if (size < GNOMON__FILE_HEADER)
        return;
    memcpy(at, GNOMON__FILE_MAGIC, 8);
    gnomon__put_32(at + 12, gnomon__crc32(0, at, 12));
    size_t i = GNOMON__FILE_HEADER;
    while (size - i >= GNOMON__SECTION_HEADER) {
        uint64_t length = gnomon__get_64(at + i + 8);
        uint64_t left = size - i - GNOMON__SECTION_HEADER;
        if (length > left)
            gnomon__put_64(at + i + 8, length = left);
        gnomon__put_32(
            at + i + 28,
            gnomon__crc32(0, at + i + GNOMON__SECTION_HEADER, (size_t)length));
        gnomon__put_32(at + i + 36, gnomon__crc32(0, at + i, 36));
        length = (length + 7) & ~7ull;
        i += GNOMON__SECTION_HEADER + (size_t)(length < left ? length : left);
    }
}

#endif

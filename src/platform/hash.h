/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PLATFORM_HASH_H
#define GNOMON_PLATFORM_HASH_H

#include <stdint.h>

/* FNV-1a of a text, its upper bits mixed in, for tables of 2^n slots. */
static inline uint64_t gnomon__hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ^ h >> 29;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PLATFORM_HASH_H
#define GNOMON_PLATFORM_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GNOMON__HASH_SEED 0xcbf29ce484222325u

/* FNV-1a: goes on from `hash`, which is GNOMON__HASH_SEED at first. */
static inline uint64_t gnomon__hash_bytes(uint64_t hash, const char *at,
                                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)at[i]) * 0x100000001b3u;
    return hash;
}

/* The hash of a text, with its upper bits mixed in, for tables of 2^n slots. */
static inline uint64_t gnomon__hash_text(const char *text)
{
    uint64_t h = GNOMON__HASH_SEED;
    for (; *text; text++)
        h = gnomon__hash_bytes(h, text, 1);
    return h ^ h >> 29;
}

#endif

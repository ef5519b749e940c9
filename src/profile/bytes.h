/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Little-endian numbers at any address. */
#ifndef GNOMON_PROFILE_BYTES_H
#define GNOMON_PROFILE_BYTES_H

#include <stdint.h>

static inline void gnomon__put_32(char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(value >> 8 * i);
}

static inline void gnomon__put_64(char *at, uint64_t value)
{
    gnomon__put_32(at, (uint32_t)value);
    gnomon__put_32(at + 4, (uint32_t)(value >> 32));
}

static inline uint32_t gnomon__get_32(const char *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)(unsigned char)at[i] << 8 * i;
    return value;
}

static inline uint64_t gnomon__get_64(const char *at)
{
    return gnomon__get_32(at) | (uint64_t)gnomon__get_32(at + 4) << 32;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Little-endian numbers at any address. */
#ifndef GNOMON_PROFILE_BYTES_H
#define GNOMON_PROFILE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GNOMON__LITTLE_32(value) __builtin_bswap32(value)
#define GNOMON__LITTLE_64(value) __builtin_bswap64(value)
#else
#define GNOMON__LITTLE_32(value) (value)
#define GNOMON__LITTLE_64(value) (value)
#endif

static inline void gnomon__put_32(char *at, uint32_t value)
{
    value = GNOMON__LITTLE_32(value);
    memcpy(at, &value, sizeof value);
}

static inline void gnomon__put_64(char *at, uint64_t value)
{
    value = GNOMON__LITTLE_64(value);
    memcpy(at, &value, sizeof value);
}

static inline uint32_t gnomon__get_32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return GNOMON__LITTLE_32(value);
}

static inline uint64_t gnomon__get_64(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return GNOMON__LITTLE_64(value);
}

#endif

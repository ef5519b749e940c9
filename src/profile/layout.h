/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a .gnomon file is laid out (docs/file-format.md).
 *
 * A record is its fields one after the other, in the order of their rows
 * (entity.h), little-endian, unpadded. What they point to lies behind all records
 * of a section, in its tail; a struct there is a record that begins with its own
 * size. Fields are only ever appended: a shorter record's missing fields are
 * zero, a longer one's are passed over. */
#ifndef GNOMON_PROFILE_LAYOUT_H
#define GNOMON_PROFILE_LAYOUT_H

#include "profile/entity.h"

/* ---- Numbers at any address ------------------------------------------------- */

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

/* ---- Files and records -------------------------------------------------------- */

/* The header of a file, then of each section: magic or kind, and at the end a
 * CRC-32 of what is before it. */
#define GNOMON__FILE_MAGIC "\x89GNOMON\n"
#define GNOMON__FILE_VERSION 2u /* 1 had events as records */
#define GNOMON__FILE_HEADER 16u /* magic, version, crc */
#define GNOMON__SECTION_HEADER \
    40u                        /* kind, item size, bytes, first, count,
                                      payload's crc, 0, crc */
#define GNOMON__PART_HEADER 4u /* its size */

/* The most bytes of a section, but for a single longer record or text, which has its own
 * section. So one wrong bit loses no more than this. */
#define GNOMON__SECTION_FULL (16u << 10)

/* The bytes of a field in a record: 64 bits of a number, or where a list begins
 * and its count; else 32. */
static inline uint32_t gnomon__field_bytes(const gnomon__field *f)
{
    const uint32_t has_64_bits =
        1u << GNOMON__TYPE_U64 | 1u << GNOMON__TYPE_I64 |
        1u << GNOMON__TYPE_DOUBLE | 1u << GNOMON__TYPE_STRUCTS |
        1u << GNOMON__TYPE_CELLS | 1u << GNOMON__TYPE_DIMS;
    return has_64_bits >> f->type & 1 ? 8 : 4;
}

/* A number of 32 or 64 bits, as the struct `of` has it and as its record does. */
static inline void gnomon__field_put(const gnomon__field *f, char *at,
                                     const void *of)
{
    if (f->type < GNOMON__TYPE_U64)
        gnomon__put_32(at, gnomon__field_32(f, of));
    else
        gnomon__put_64(at, gnomon__field_64(f, of));
}

static inline void gnomon__field_get(const gnomon__field *f, const char *at,
                                     void *of)
{
    const uint32_t small = gnomon__get_32(at);
    if (f->type < GNOMON__TYPE_U64) {
        gnomon__field_set(f, of, &small, sizeof small);
    } else {
        const uint64_t bits = gnomon__get_64(at);
        gnomon__field_set(f, of, &bits, sizeof bits);
    }
}

/* The bytes of a record's first `count` fields. */
static inline uint32_t gnomon__record_bytes(const gnomon__struct *s,
                                            unsigned count)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += gnomon__field_bytes(&s->fields[i]);
    return sum;
}

#endif

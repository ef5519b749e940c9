/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A buffer before a writer, for texts. After an error nothing more is written; `code` has
 * the first one. Of libc and public headers alone, so that exports, which plugins can bring
 * along, have it too (export/text.h).
 *
 * Numbers are written by hand, as a large text is made of them: printf would take most of
 * the time. */
#ifndef GNOMON_PLATFORM_OUT_H
#define GNOMON_PLATFORM_OUT_H

#include <string.h>

#include "gnomon/profile.h"

#define GNOMON__OUT_ROOM 65536u

/* Zeroes, and a writer, are an empty one. */
typedef struct gnomon__out {
    const gnomon_writer *to;
    int code;
    size_t used;
    char room[GNOMON__OUT_ROOM];
} gnomon__out;

static inline void gnomon__out_flush(gnomon__out *o)
{
    if (!o->code && o->used)
        o->code = o->to->write(o->to, o->room, o->used);
    o->used = 0;
}

__attribute__((noinline, unused)) static void
gnomon__out_many(gnomon__out *o, const char *bytes, size_t size)
{
    while (size) {
        size_t part = GNOMON__OUT_ROOM - o->used;
        part = part < size ? part : size;
        memcpy(o->room + o->used, bytes, part);
        o->used += part;
        bytes += part;
        size -= part;
        if (o->used == GNOMON__OUT_ROOM)
            gnomon__out_flush(o);
    }
}

static inline void gnomon__out_put(gnomon__out *o, const char *bytes,
                                   size_t size)
{
    if (size > GNOMON__OUT_ROOM - o->used) {
        gnomon__out_many(o, bytes, size);
        return;
    }
    memcpy(o->room + o->used, bytes, size);
    o->used += size;
}

#define gnomon__out_literal(o, text) \
    gnomon__out_put(o, "" text, sizeof text - 1)

static inline void gnomon__out_text(gnomon__out *o, const char *text)
{
    gnomon__out_put(o, text, strlen(text));
}

/* ---- Numbers ----------------------------------------------------------------- */

static inline size_t gnomon__out_digits(uint64_t value)
{
    size_t n = 1;
    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Two digits at a time: half the divisions. */
static inline void gnomon__out_pair(char *at, uint32_t value)
{
    static const char *const pairs =
        "0001020304050607080910111213141516171819202122232425262728293031323334"
        "3536373839404142434445464748495051525354555657585960616263646566676869"
        "707172737475767778798081828384858687888990919293949596979899";
    memcpy(at, pairs + 2 * (size_t)value, 2);
}

/* Writes a number so that it ends at `end`. */
static inline void gnomon__out_decimals(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        gnomon__out_pair(end -= 2, (uint32_t)(value % 100));
    if (value >= 10)
        gnomon__out_pair(end - 2, (uint32_t)value);
    else
        end[-1] = (char)('0' + value);
}

#define GNOMON__OUT_DIGITS 24u /* of 64 bits: 20, and 21 with a point */

/* Digits are written where they stay: a copy of bytes that were just stored one by one
 * waits for each of them. The caller adds to `used`. */
static inline char *gnomon__out_space(gnomon__out *o, size_t size)
{
    if (GNOMON__OUT_ROOM - o->used < size)
        gnomon__out_flush(o);
    return o->room + o->used;
}

__attribute__((noinline, unused)) static void gnomon__out_number(gnomon__out *o,
                                                                 uint64_t value)
{
    const size_t size = gnomon__out_digits(value);
    char *at = gnomon__out_space(o, GNOMON__OUT_DIGITS);
    gnomon__out_decimals(at + size, value);
    o->used += size;
}

static inline void gnomon__out_signed(gnomon__out *o, int64_t value)
{
    if (value < 0)
        gnomon__out_literal(o, "-");
    gnomon__out_number(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

#endif

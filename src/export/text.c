/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Owns the buffer of an export. Numbers are written by hand, as a large trace is made
 * of them: printf would take most of the time. */
#include "export/text.h"

#include <stdlib.h>

gnomon__export_text *gnomon__export_text_begin(const gnomon_writer *out)
{
    gnomon__export_text *t = calloc(1, sizeof *t);
    if (t)
        t->out = out;
    return t;
}

void gnomon__export_text_flush(gnomon__export_text *t)
{
    if (!t->code && t->used)
        t->code = t->out->write(t->out, t->room, t->used);
    t->used = 0;
}

int gnomon__export_text_end(gnomon__export_text *t)
{
    if (!t)
        return GNOMON_ENOMEM;
    gnomon__export_text_flush(t);
    int code = t->code;
    free(t);
    return code;
}

void gnomon__export_put_slow(gnomon__export_text *t, const char *bytes,
                             size_t size)
{
    while (size) {
        size_t part = GNOMON__TEXT_ROOM - t->used;
        part = part < size ? part : size;
        memcpy(t->room + t->used, bytes, part);
        t->used += part;
        bytes += part;
        size -= part;
        if (t->used == GNOMON__TEXT_ROOM)
            gnomon__export_text_flush(t);
    }
}

void gnomon__export_string(gnomon__export_text *t, const char *text)
{
    gnomon__export_put(t, text, strlen(text));
}

/* Two digits at a time: half the divisions. */
static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

#define DIGITS_MOST 24 /* of 64 bits: 20, and 21 with a point */

static void put_pair(char *at, uint32_t value)
{
    memcpy(at, digit_pairs + 2 * (size_t)value, 2);
}

static size_t count_digits(uint64_t value)
{
    static const uint64_t least[] = {0,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000,
                                     10000000000000000000u};
    /* A bit is 0.30103 of a digit: there are so many digits, or one more. */
    const size_t guess = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (value >= least[guess]);
}

/* Writes a number so that it ends at `end`. */
static void put_decimals(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        put_pair(end -= 2, (uint32_t)(value % 100));
    if (value >= 10)
        put_pair(end - 2, (uint32_t)value);
    else
        end[-1] = (char)('0' + value);
}

/* Digits are written where they stay: a copy of bytes that were just stored one by one
 * waits for each of them. `spare` where the buffer is nearly full. */
static char *digits_room(gnomon__export_text *t, char *spare)
{
    return GNOMON__TEXT_ROOM - t->used < DIGITS_MOST ? spare
                                                     : t->room + t->used;
}

static void digits_done(gnomon__export_text *t, const char *at,
                        const char *spare, size_t size)
{
    if (at == spare)
        gnomon__export_put_slow(t, spare, size);
    else
        t->used += size;
}

void gnomon__export_number(gnomon__export_text *t, uint64_t value)
{
    char spare[DIGITS_MOST], *at = digits_room(t, spare);
    if (value < 10 && at != spare) {
        t->room[t->used++] = (char)('0' + value);
        return;
    }
    const size_t size = count_digits(value);
    put_decimals(at + size, value);
    digits_done(t, at, spare, size);
}

void gnomon__export_signed(gnomon__export_text *t, int64_t value)
{
    if (value < 0)
        gnomon__export_literal(t, "-");
    gnomon__export_number(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void gnomon__export_us(gnomon__export_text *t, uint64_t ns)
{
    char spare[DIGITS_MOST], *at = digits_room(t, spare);
    const uint64_t us = ns / 1000;
    const uint32_t rest = (uint32_t)(ns - us * 1000);
    const size_t size = count_digits(us);
    put_decimals(at + size, us);
    at[size] = '.';
    at[size + 1] = (char)('0' + rest / 100);
    put_pair(at + size + 2, rest % 100);
    digits_done(t, at, spare, size + 4);
}

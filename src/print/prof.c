/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a table of functions as Python's marshal does, version 2: one dict
 * { (file, line, name): (cc, nc, tt, ct, { (file, line, name): (nc, cc, tt, ct)
 * }) }. In the callers nc comes before cc. Every Python 3 reads it, and writes the
 * same bytes. A pure function of the table.
 *
 * Numbers are little-endian on every machine. A text that is not UTF-8 would make the
 * file unreadable, so bad bytes become U+FFFD.
 */
#include "print/functions.h"

#include <string.h>

#include "print/letters.h"

/* The output buffer; `at` NULL: bytes are only counted. */
typedef struct prof_output {
    unsigned char *at;
    size_t size;
} prof_output;

static void prof_bytes(prof_output *s, const void *bytes, size_t size)
{
    if (s->at)
        memcpy(s->at + s->size, bytes, size);
    s->size += size;
}

static void prof_code(prof_output *s, char code)
{
    prof_bytes(s, &code, 1);
}

static void prof_little(prof_output *s, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    prof_bytes(s, bytes, size);
}

static void prof_tuple(prof_output *s, uint32_t count)
{
    prof_code(s, '(');
    prof_little(s, count, 4);
}

/* From 2^31 on a long: digits of 15 bits. */
static void prof_integer(prof_output *s, uint64_t value)
{
    uint32_t digits = 0;
    if (value <= INT32_MAX) {
        prof_code(s, 'i');
        prof_little(s, value, 4);
        return;
    }
    for (uint64_t rest = value; rest; rest >>= 15)
        digits++;
    prof_code(s, 'l');
    prof_little(s, digits, 4);
    for (; value; value >>= 15)
        prof_little(s, value & 0x7FFF, 2);
}

static void prof_seconds(prof_output *s, uint64_t ns)
{
    double value = (double)ns / 1e9;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    prof_code(s, 'g');
    prof_little(s, bits, 8);
}

static void prof_characters(prof_output *s, const char *text)
{
    while (*text) {
        size_t size = gnomon__print_character(text);
        prof_bytes(s, size ? text : "\xef\xbf\xbd", size ? size : 3);
        text += size ? size : 1;
    }
}

static void prof_text(prof_output *s, const char *text)
{
    prof_output length = {NULL, 0};
    prof_characters(&length, text);
    prof_code(s, 'u');
    prof_little(s, length.size, 4);
    prof_characters(s, text);
}

static void prof_key(prof_output *s, const gnomon__function *row)
{
    prof_tuple(s, 3);
    prof_text(s, row->file);
    prof_integer(s, row->line);
    prof_text(s, row->name);
}

static void prof_row(prof_output *s, const gnomon__functions *table,
                     const gnomon__function *row)
{
    prof_key(s, row);
    prof_tuple(s, 5);
    prof_integer(s, row->cc);
    prof_integer(s, row->nc);
    prof_seconds(s, row->tt_ns);
    prof_seconds(s, row->ct_ns);
    prof_code(s, '{');
    for (uint32_t i = 0; i < row->caller_count; i++) {
        const gnomon__caller *c = &table->callers[row->first_caller + i];
        prof_key(s, &table->rows[c->caller]);
        prof_tuple(s, 4);
        prof_integer(s, c->nc);
        prof_integer(s, c->cc);
        prof_seconds(s, c->tt_ns);
        prof_seconds(s, c->ct_ns);
    }
    prof_code(s, '0');
}

static size_t prof_put(const gnomon__functions *table, unsigned char *bytes)
{
    prof_output s = {bytes, 0};
    prof_code(&s, '{');
    for (size_t i = 0; i < table->row_count; i++)
        prof_row(&s, table, &table->rows[i]);
    prof_code(&s, '0');
    return s.size;
}

size_t gnomon__prof_size(const gnomon__functions *table)
{
    return prof_put(table, NULL);
}

void gnomon__prof_write(const gnomon__functions *table, unsigned char *bytes)
{
    (void)prof_put(table, bytes);
}

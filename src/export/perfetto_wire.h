/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The wire format of Protocol Buffers, as far as traces need it. A message is made in
 * memory, field by field, because its length comes before it. */
#ifndef GNOMON_EXPORT_PERFETTO_WIRE_H
#define GNOMON_EXPORT_PERFETTO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zeroes are an empty one. */
typedef struct gnomon__wire {
    char *bytes;
    size_t size, room;
    int has_failed; /* there was no memory: bytes are missing */
} gnomon__wire;

/* How a field's value is written. */
enum {
    GNOMON__WIRE_VARINT = 0,
    GNOMON__WIRE_FIXED = 1,
    GNOMON__WIRE_BYTES = 2
};

/* What the largest number takes as a varint. */
#define GNOMON__VARINT_ROOM 10u

/* Room for `more` bytes at the end; NULL: no memory, now or before. */
char *gnomon__wire_grow(gnomon__wire *w, size_t more);
static inline char *gnomon__wire_room(gnomon__wire *w, size_t more)
{
    return more <= w->room - w->size ? w->bytes + w->size
                                     : gnomon__wire_grow(w, more);
}

static inline void gnomon__wire_put(gnomon__wire *w, const void *bytes,
                                    size_t size)
{
    char *to = gnomon__wire_room(w, size);
    if (!to)
        return;
    memcpy(to, bytes, size);
    w->size += size;
}

/* Writes a number as a varint; returns its size. */
static inline size_t gnomon__wire_varint(char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (char)(value | 0x80);
    to[n++] = (char)value;
    return n;
}

/* uint, bool and enum; int where it is cast from int64_t. Inline, as most of a trace is
 * made of these, and the field is a constant. */
static inline void gnomon__wire_number(gnomon__wire *w, uint32_t field,
                                       uint64_t value)
{
    char *to = gnomon__wire_room(w, 2 * (size_t)GNOMON__VARINT_ROOM);
    if (!to)
        return;
    size_t n =
        gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_VARINT);
    w->size += n + gnomon__wire_varint(to + n, value);
}

void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value);
void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value);
/* What is no UTF-8 becomes U+FFFD. */
void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text);

/* A field that holds a message, or a text in pieces: all that is written until
 * gnomon__wire_close, which takes what gnomon__wire_open returned. */
static inline size_t gnomon__wire_open(gnomon__wire *w, uint32_t field)
{
    char *to = gnomon__wire_room(w, GNOMON__VARINT_ROOM + 1);
    if (to) {
        size_t n =
            gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_BYTES);
        to[n] = 0; /* one byte for the length: nearly all are that short */
        w->size += n + 1;
    }
    return w->size;
}

void gnomon__wire_close(gnomon__wire *w, size_t from);
void gnomon__wire_piece(gnomon__wire *w, const char *text);
void gnomon__wire_decimal(gnomon__wire *w, int64_t value);
void gnomon__wire_natural(gnomon__wire *w, uint64_t value);

void gnomon__wire_free(gnomon__wire *w);

#endif

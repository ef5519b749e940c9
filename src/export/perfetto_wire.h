/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The wire format of Protocol Buffers, as far as traces need it. A message is made in
 * memory, field by field, because its length comes before it. */
#ifndef GNOMON_EXPORT_PERFETTO_WIRE_H
#define GNOMON_EXPORT_PERFETTO_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroes are an empty one. */
typedef struct gnomon__wire {
    char *bytes;
    size_t size, room;
    int has_failed; /* there was no memory: bytes are missing */
} gnomon__wire;

/* uint, bool and enum; int where it is cast from int64_t. */
void gnomon__wire_number(gnomon__wire *w, uint32_t field, uint64_t value);
void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value);
void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value);
/* What is no UTF-8 becomes U+FFFD. */
void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text);

/* A field that holds a message, or a text in pieces: all that is written until
 * gnomon__wire_close, which takes what gnomon__wire_open returned. */
size_t gnomon__wire_open(gnomon__wire *w, uint32_t field);
void gnomon__wire_close(gnomon__wire *w, size_t from);
void gnomon__wire_piece(gnomon__wire *w, const char *text);
void gnomon__wire_decimal(gnomon__wire *w, int64_t value);
void gnomon__wire_natural(gnomon__wire *w, uint64_t value);

/* Writes a number as a varint; returns its size, at most 10. */
size_t gnomon__wire_varint(char *to, uint64_t value);
void gnomon__wire_free(gnomon__wire *w);

#endif

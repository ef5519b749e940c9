/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON as text: whether it is valid, and how strings and numbers are written.
 * Nothing here allocates. */
#ifndef GNOMON_PLATFORM_JSON_H
#define GNOMON_PLATFORM_JSON_H

#include <stddef.h>

/* Arrays and objects inside one another, at most. */
#define GNOMON__JSON_DEPTH 64

/* Whether the n bytes are one JSON value (RFC 8259): valid UTF-8, no half of a
 * surrogate pair (it has no UTF-8), not nested deeper than GNOMON__JSON_DEPTH.
 * Linear time. */
int gnomon__json_valid(const char *text, size_t n);

/* The length of the value at the begin of the n bytes, with the blanks before and
 * behind it. 0: there is none. Linear time. */
size_t gnomon__json_length(const char *text, size_t n);

/* Writes the n bytes as a JSON string, in its quotes; what is not UTF-8 becomes
 * U+FFFD. Returns the length that all of it has; it was cut, at a whole
 * character or escape, and has no closing quote, if that is not below `size`.
 * A final NUL is written where `size` is not 0. */
size_t gnomon__json_quote(const char *text, size_t n, char *buffer,
                          size_t size);

/* Room for gnomon__json_real. */
#define GNOMON__JSON_REAL 32

/* Writes a number that reads back to the same bits: with 15 digits where they
 * do, else with 16 or 17; with a point whatever the locale. JSON has no words for
 * what is not finite, so that becomes a string: "Infinity", "-Infinity", "NaN",
 * and a NaN of other bits than the usual one "NaN(0x7ff8000000000001)". Returns
 * the length; a final NUL follows. */
size_t gnomon__json_real(double value, char *buffer);

#endif

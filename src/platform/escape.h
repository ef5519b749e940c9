/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text for a person's eyes. A name may hold bytes that a terminal obeys, that
 * turn the text around them, or that begin a line of their own: they are shown as
 * escapes, as \x1b, \n and \u202e. What is no UTF-8 is U+FFFD, as in names. All
 * text that goes to stderr or a terminal comes through here. */
#ifndef GNOMON_PLATFORM_ESCAPE_H
#define GNOMON_PLATFORM_ESCAPE_H

#include "platform/utf8.h"

/* Takes the next piece off *rest, which is not empty: bytes that are shown as they
 * are, or the escape of one code point, which lies in `escape`. What is in `kept`
 * ("\n\t", for a whole report) stays as it is. */
gnomon__text gnomon__escape_next(gnomon__text *rest, const char *kept,
                                 char escape[8]);

/* Copies as many pieces as fit, the last one cut at a code point, and a final NUL;
 * `capacity` is at least 1. Returns the length without it. */
size_t gnomon__escape_copy(const char *text, char *out, size_t capacity);

/* Names that were shown, kept until they are freed. Begins as NULL. */
typedef struct gnomon__escaped_names gnomon__escaped_names;

/* The name itself where nothing in it needs an escape, else a copy that lives as
 * long as *all. NULL: no memory. */
const char *gnomon__escaped_name(gnomon__escaped_names **all, const char *name);
void gnomon__escaped_names_free(gnomon__escaped_names **all);

#endif

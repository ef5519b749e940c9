/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Escaping text for a person. A name may hold bytes that control a terminal,
 * that change the direction of the text around them, or that begin a new
 * line: they become escapes, as \x1b, \n and \u202e. Bytes that are no UTF-8
 * become U+FFFD, as in names. All text for stderr or a terminal passes
 * through here. */
#ifndef GNOMON_PLATFORM_ESCAPE_H
#define GNOMON_PLATFORM_ESCAPE_H

#include "platform/utf8.h"

/* Takes the next piece off *rest, which is not empty: bytes that need no
 * escape, or the escape of one code point, which is in `escape`. Code points
 * in `kept` ("\n\t", for a whole report) are not escaped. */
gnomon__text gnomon__escape_next(gnomon__text *rest, const char *kept,
                                 char escape[8]);

/* Copies as many pieces as fit, the last one cut at a code point, and a final NUL;
 * `capacity` is at least 1. Returns the length without it. */
size_t gnomon__escape_copy(const char *text, char *out, size_t capacity);

/* A list of names that were escaped. Begins as NULL. */
typedef struct gnomon__escaped_names gnomon__escaped_names;

/* The name itself if nothing in it needs an escape, else a copy that is
 * freed with *all. NULL: no memory. */
const char *gnomon__escaped_name(gnomon__escaped_names **all, const char *name);
void gnomon__escaped_names_free(gnomon__escaped_names **all);

#endif

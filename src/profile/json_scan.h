/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where values lie in a text that is known to be JSON, so that a long list is read
 * item by item and never whole. */
#ifndef GNOMON_PROFILE_JSON_SCAN_H
#define GNOMON_PROFILE_JSON_SCAN_H

#include <stddef.h>

typedef struct gnomon__json_span {
    const char *at; /* NULL: there is none */
    size_t size;
} gnomon__json_span;

/* Of a list or an object: before its first item. Begin with it as zeroes but for
 * `at`. */
typedef struct gnomon__json_scan {
    const char *at, *end; /* what is left of the text */
} gnomon__json_scan;

/* Into the list or object that the span is. */
gnomon__json_scan gnomon__json_scan_into(gnomon__json_span of);

/* Its next item, with the key of an object's (NULL: of a list). 0: it ends. */
int gnomon__json_scan_next(gnomon__json_scan *scan, gnomon__json_span *key,
                           gnomon__json_span *value);

/* The value that a whole text is, without blanks before it. */
gnomon__json_span gnomon__json_scan_text(const char *text, size_t size);

#endif

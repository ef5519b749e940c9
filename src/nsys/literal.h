/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values as Python and JSON write them: None, True, False, null, true, false, numbers, texts
 * in either quotes, lists, tuples, dicts. Nothing is evaluated. What PyProf's markers and
 * the lines of its `parse` are made of. */
#ifndef GNOMON_NSYS_LITERAL_H
#define GNOMON_NSYS_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GNOMON__LITERAL_DEPTH 64
#define GNOMON__LITERAL_BYTES \
    ((size_t)1 << 20) /* the longest text that is read */

enum gnomon__literal_kind {
    GNOMON__LITERAL_NONE,
    GNOMON__LITERAL_BOOL,
    GNOMON__LITERAL_INTEGER,
    GNOMON__LITERAL_REAL, /* also integers that are none of 64 bits */
    GNOMON__LITERAL_TEXT,
    GNOMON__LITERAL_LIST,
    GNOMON__LITERAL_TUPLE,
    GNOMON__LITERAL_DICT /* its parts: a key, its value, a key, ... */
};

/* The parts of a list follow it; `next` leads over a value's own parts. */
typedef struct gnomon__literal {
    uint8_t kind;
    uint32_t count; /* of its parts */
    uint32_t next;  /* how many places ahead the value after this one is */
    union {
        int64_t integer; /* of a bool, too */
        double real;
        const char
            *text; /* UTF-8 where the source was; ends with its first NUL */
    } of;
} gnomon__literal;

/* Room that each reading uses again. Begins as zeroes. */
typedef struct gnomon__literals {
    gnomon__literal *at;
    char *texts;
    size_t room; /* bytes of a source that there is room for */
} gnomon__literals;

/* The one value that the `length` bytes are, with blanks around it; valid until the next
 * reading. NULL: they are none, or are longer or deeper than the above, or there is no
 * memory. */
const gnomon__literal *gnomon__literal_read(gnomon__literals *l,
                                            const char *source, size_t length);
void gnomon__literals_free(gnomon__literals *l);

/* Part `i` of a list, a tuple or a dict; NULL: there is none. O(i). */
const gnomon__literal *gnomon__literal_part(const gnomon__literal *of,
                                            size_t i);
/* The value of a dict's key, the last one of equal keys; NULL: there is none, or `of` is
 * no dict, or NULL. */
const gnomon__literal *gnomon__literal_get(const gnomon__literal *of,
                                           const char *key);
/* Its text; NULL: it is none. */
const char *gnomon__literal_text(const gnomon__literal *of);
static inline const gnomon__literal *
gnomon__literal_next(const gnomon__literal *of)
{
    return of + of->next;
}
/* A dict's text of this key; NULL: there is none. */
static inline const char *gnomon__literal_text_of(const gnomon__literal *of,
                                                  const char *key)
{
    return gnomon__literal_text(gnomon__literal_get(of, key));
}
/* Its integer of this key; 0: there is none. */
static inline uint64_t gnomon__literal_count_of(const gnomon__literal *of,
                                                const char *key)
{
    of = gnomon__literal_get(of, key);
    return of && of->kind == GNOMON__LITERAL_INTEGER ? (uint64_t)of->of.integer
                                                     : 0;
}
/* Whether it has parts. */
static inline bool gnomon__literal_is_list(const gnomon__literal *of)
{
    return of && (of->kind == GNOMON__LITERAL_LIST ||
                  of->kind == GNOMON__LITERAL_TUPLE);
}

#endif

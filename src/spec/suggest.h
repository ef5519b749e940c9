/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* "did you mean" for an unknown word, and the list of complaints that parsers fill
 * while they go on with the rest. */
#ifndef GNOMON_SPEC_SUGGEST_H
#define GNOMON_SPEC_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

#include "gnomon.h"
#include "platform/utf8.h"

/* Whether two words are equal but for the case of ASCII letters. */
int gnomon__same_word(const char *a, const char *b);
/* The same of a text that need not end with NUL. */
int gnomon__is_word(gnomon__text text, const char *word);

/* The number whose digits begin at *at, which moves past them. -1: more than fit. No
 * digits are 0. */
int64_t gnomon__digits(const char **at);

/* The known word that is nearest to a wrong one, or that means what another tool calls
 * so. Offer all that are known, then
 * read `best`: of equally near ones the first offered. No allocation; O(length
 * of both) for an offer. */
typedef struct gnomon__suggestion {
    const char *word;
    const char *best; /* NULL: none is near enough to be meant */
    size_t distance;  /* its distance; what a better one must stay below */
    char
        known[600]; /* "a, b": the words that were listed, as far as they fit */
} gnomon__suggestion;

gnomon__suggestion gnomon__suggest(const char *word);
void gnomon__suggest_offer(gnomon__suggestion *s, const char *known);
/* The same of a word that messages list where none is near. */
void gnomon__suggest_list(gnomon__suggestion *s, const char *known);

/* Lines for a person, without "gnomon: " and newline: valid UTF-8, one line
 * each. Begins as zeroes. */
#define GNOMON__COMPLAINTS 16
typedef struct gnomon__complaints {
    char *line[GNOMON__COMPLAINTS];
    unsigned count;
    unsigned dropped; /* more than there is room or memory for */
} gnomon__complaints;

/* Adds a line, unless it is there already; once they are full, only counts. */
void gnomon__complain(gnomon__complaints *c, const char *format, ...)
    GNOMON_PRINTF(2, 3);
void gnomon__complaints_free(gnomon__complaints *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Texts for people: words in any letters, characters, widths, titles in capitals, where letters
 * are those of ASCII, and durations, the same in every locale. */
#ifndef GNOMON_PRINT_LETTERS_H
#define GNOMON_PRINT_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gnomon/profile.h"

/* Whether `size` bytes of `word` are `key`, whose letters are small. */
bool gnomon__print_same_word(const char *word, size_t size, const char *key);

/* How many bytes the character at `text` has; 0: it is no UTF-8. */
size_t gnomon__print_character(const char *text);

/* How wide a text is where columns are aligned: code points of valid UTF-8, as names
 * are. */
size_t gnomon__print_width(const char *text, size_t size);

/* Writes the character so often. */
void gnomon__print_many(const gnomon_writer *out, char what, size_t count);

/* "FIT Device Report", without a line's end; a stage "" is none. The writer's code. */
int gnomon__print_title(const gnomon_writer *out, const char *stage,
                        const char *title);

/* Whether a spreadsheet would run the text of a csv cell as a formula, by its first
 * character (OWASP, CSV injection): such a text gets an apostrophe before it. */
static inline bool gnomon__print_is_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text) != NULL;
}

#define GNOMON__DURATION 32 /* bytes that any of them fits in */

/* For columns: "12.35 us", four digits and the unit that fits. Returns `text`. */
const char *gnomon__print_duration(char text[GNOMON__DURATION], uint64_t ns);

/* For sentences: "114 ms", "3.1 ms", "0": three digits at most. Returns `text`, or a
 * constant. */
const char *gnomon__short_duration(char text[GNOMON__DURATION], uint64_t ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words in any letters, and titles in capitals; letters are those of ASCII. */
#ifndef GNOMON_PRINT_LETTERS_H
#define GNOMON_PRINT_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "gnomon/writer.h"

/* Whether `size` bytes of `word` are `key`, whose letters are small. */
bool gnomon__print_same_word(const char *word, size_t size, const char *key);

/* "FIT Device Report", without a line's end; a stage "" is none. The writer's code. */
int gnomon__print_title(const gnomon_writer *out, const char *stage,
                        const char *title);

#endif

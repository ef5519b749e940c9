/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How wide a text is where columns are aligned. */
#ifndef GNOMON_PRINT_WIDTH_H
#define GNOMON_PRINT_WIDTH_H

#include <stddef.h>

#include "gnomon/profile.h"

/* Code points of valid UTF-8, as names are. */
size_t gnomon__print_width(const char *text, size_t size);

/* Writes the character so often. */
void gnomon__print_many(const gnomon_writer *out, char what, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of text that several commands print. */
#ifndef GNOMON_COMMAND_TEXT_H
#define GNOMON_COMMAND_TEXT_H

#include <stddef.h>

#include "gnomon/writer.h"

/* "2026-11-21 17:26:45 UTC"; "-" of 0. Returns text. */
const char *gnomon__cli_when(char text[32], uint64_t unix_ns);

/* Code points of a text as it is put. */
size_t gnomon__cli_width(const char *text);

/* Writes a text of a file, as platform/escape.h has it, and blanks up to `width`
 * code points. */
void gnomon__cli_put(const gnomon_writer *out, const char *text, size_t width);

/* Writes a text as a JSON string. */
void gnomon__cli_put_json(const gnomon_writer *out, const char *text);

#endif

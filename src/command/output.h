/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the program's text goes: standard output, with colour on terminals, and files. */
#ifndef GNOMON_COMMAND_OUTPUT_H
#define GNOMON_COMMAND_OUTPUT_H

#include <stdio.h>

#include "gnomon/profile.h"

struct gnomon_profile;

/* A writer to a stream; `context` is the FILE. Its write returns GNOMON_EIO
 * after an error and notes nothing else: the stream does. */
gnomon_writer gnomon__cli_writer(FILE *to);

/* Ends a line that was begun on standard output by its writer. */
void gnomon__cli_end_line(void);

/* Flushes standard output. A gnomon__exit: _UNREADABLE and one line where not
 * all of it could be written; a reader that went away is no line, and ends the
 * program as SIGPIPE does. */
int gnomon__cli_flush(void);

/* Escapes for a terminal; "" where it is none, or $NO_COLOR or TERM=dumb says
 * that none are wanted. */
const char *gnomon__cli_bold(FILE *to);
const char *gnomon__cli_plain(FILE *to);

/* ---- Pieces of text that several commands print ------------------------------ */

/* "2026-11-21 17:26:45 UTC"; "-" of 0. Returns text. */
const char *gnomon__cli_when(char text[32], uint64_t unix_ns);

/* Code points of a text as it is put. */
size_t gnomon__cli_width(const char *text);

/* Writes a text of a file, as platform/escape.h has it, and blanks up to `width`
 * code points. */
void gnomon__cli_put(const gnomon_writer *out, const char *text, size_t width);

/* Writes a text as a JSON string. */
void gnomon__cli_put_json(const gnomon_writer *out, const char *text);

/* ---- Files of -o -------------------------------------------------------------- */

/* Writes the whole content of a file. GNOMON_OK, or an error code and a text; the
 * writer's own errors have no text. */
typedef int gnomon__cli_maker(void *context, int form,
                              const gnomon_writer *out);

/* Makes a file at `path`, as JSON if that ends in .json, else as .gnomon; "-" is standard
 * output, as .gnomon. The file is made under another name and then renamed, so it is
 * whole or not there; only its owner may read it, and a link of that name is replaced,
 * not followed. What is no regular file (/dev/stdout, a pipe) is written to as it is. A
 * gnomon__exit; one line has said what went wrong. */
int gnomon__cli_make(const char *path, gnomon__cli_maker *maker, void *context);

/* The same of a profile. */
int gnomon__cli_save(const struct gnomon_profile *profile, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of report files: Lightning's, for dir=, and patterns with %, for
 * file=. Both keep each part of a path within 255 bytes: a longer one is cut,
 * with a hash of all of it, so that different ones stay different. */
#ifndef GNOMON_SPEC_NAMES_H
#define GNOMON_SPEC_NAMES_H

#include <stdint.h>

#include "spec/suggest.h"

/* Lightning's name for a report: "stage-filename-rank-action" and `extension`,
 * made fit for a file system. Parts that are NULL, or a rank below 0, are left
 * out, so is an empty stage or filename. Its rank is the local one there; give
 * the global one where nodes share a disk. From gnomon__alloc; NULL: no
 * memory. */
char *gnomon__file_name(const char *stage, const char *filename, int32_t rank,
                        const char *action, const char *extension);

/* What the % of a pattern stand for. */
typedef struct gnomon__file_values {
    int32_t rank; /* below 0: not known, which is 0 */
    int32_t local_rank;
    int32_t world_size;
    int64_t pid;
    const char *host;
    const char *stage; /* NULL or "": "run" */
    uint64_t start_unix_s;
    int add_pid; /* a forked child: adds the pid, to differ from its parent's file */
    uint32_t view; /* its number is added; 0: not added */
} gnomon__file_values;

/* Expands %r %l %h %p %s %t %%: rank, local rank, host, pid, stage, seconds of
 * the run's start in Unix time. With several ranks, a pattern that does not
 * tell them apart on a shared disk gets "-%r" before its extension; %r does,
 * and %h together with %p or %l (pids alone repeat from node to node). With
 * add_pid, one without %p gets "-%p" there too, and with `view` "-viewN".
 * Streams below /dev and /proc are left as they are. An unknown % stays and is
 * complained of for `who`. From gnomon__alloc; NULL: no memory. */
char *gnomon__file_expand(const char *pattern, const gnomon__file_values *v,
                          const char *who, gnomon__complaints *complaints);

/* Whether a path, or a pattern, is a stream's, which has no folder for other
 * files; whether a pattern tells stages apart. */
int gnomon__file_is_stream(const char *path);
int gnomon__file_has_stage(const char *pattern);

/* The forms of a file, each with its name in gnomon_write. The first two hold all of a
 * profile (docs/file-format.md). */
enum gnomon__form {
    GNOMON__FORM_FILE = 0, /* "gnomon" */
    GNOMON__FORM_JSON = 1,
    GNOMON__FORM_CHROME = 2
};
/* The form of this name; -1: there is none. */
int gnomon__form_named(const char *name);

/* What a file of that name, or pattern, holds by its suffix: GNOMON__FORM_FILE or
 * GNOMON__FORM_JSON, a profile; -1: a report. */
int gnomon__file_form(const char *pattern);

/* Whether the name is that of a file which no report is (.json, .prof, ...), or
 * `is_trace`, no trace; then `line` says what writes such a file. */
int gnomon__file_misnamed(char *line, size_t size, const char *pattern,
                          int is_trace);

/* Where the extension of the n bytes of a name begins; n: it has none. */
size_t gnomon__file_extension(const char *name, size_t n);

#endif

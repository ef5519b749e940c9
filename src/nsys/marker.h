/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the text of a range says: PyProf's dicts and layers, the texts of torch's emit_nvtx,
 * JSON, or a name. */
#ifndef GNOMON_NSYS_MARKER_H
#define GNOMON_NSYS_MARKER_H

#include <stdio.h>
#include <string.h>

#include "nsys/literal.h"

enum gnomon__marker_kind {
    GNOMON__MARKER_OTHER,
    GNOMON__MARKER_IGNORED, /* torch's checkpointing, which is not what it wraps */
    GNOMON__MARKER_SEQ,     /* "aten::mm, seq = 7, op_id = 9" */
    GNOMON__MARKER_ARGS,    /* a dict of mod, op and args */
    GNOMON__MARKER_LAYER, /* "layer:conv1" */
    GNOMON__MARKER_TRACE, /* a dict of traceMarker */
    GNOMON__MARKER_REPR   /* a dict of strRepr */
};

typedef struct gnomon__marker {
    enum gnomon__marker_kind kind;
    char *text;
    size_t length, room;
    /* ARGS, TRACE and JSON; NULL: it cannot be read. */
    const gnomon__literal *value;
    gnomon__literals literals;
    bool is_backward;
    /* SEQ: behind `text` and its NUL stands the name of the operation, that of a backward
     * pass as PyProf has the forward one's: torch::autograd::MmBackward0 is Mm. */
    size_t name_length; /* of `text`, without its number, ids and sizes */
    const char *sizes;  /* "[[2, 3], []]" in `text`, NULL: none */
    /* What a tree of ranges calls it: a layer or an operation without its numbers, so
     * that all executions are one; NULL: it is in none. */
    const char *name;
} gnomon__marker;

/* Reads a text, of which it keeps a copy. False: no memory. Begins as zeroes. */
bool gnomon__marker_set(gnomon__marker *m, const char *text, size_t length);
void gnomon__marker_free(gnomon__marker *m);

/* Where the text of a marker is written. Begins as zeroes. */
typedef struct gnomon__marker_text {
    FILE *to;
    char *text;
    size_t size;
} gnomon__marker_text;

/* An empty one to write to; NULL: no memory. */
FILE *gnomon__marker_begin(gnomon__marker_text *t);
/* Sets the marker to what was written. False: no memory. */
bool gnomon__marker_end(gnomon__marker_text *t, gnomon__marker *m);
void gnomon__marker_text_free(gnomon__marker_text *t);

/* Of the text of a marker that is a SEQ. */
static inline const char *gnomon__marker_op(const char *text)
{
    return text + strlen(text) + 1;
}

#endif

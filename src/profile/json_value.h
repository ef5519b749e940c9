/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single values of JSON as values of C, checked for their field; an error has the path
 * of the value. For json_read.c and json_struct.c. */
#ifndef GNOMON_PROFILE_JSON_VALUE_H
#define GNOMON_PROFILE_JSON_VALUE_H

#include <jansson.h>

#include "profile/entity.h"

/* The deepest path is that of a cell's half. */
#define GNOMON__JSON_STEPS 8

typedef struct gnomon__json_piece gnomon__json_piece;

/* One reading. The first error stays, and ends it. */
typedef struct gnomon__json_reading {
    int code;
    char why[256];
    size_t depth; /* of the path, as "nodes[3].host.cells[1][2]" */
    struct {
        const char *name;
        size_t index;
    } path[GNOMON__JSON_STEPS];
    size_t ignored_count, named_count;
    char ignored[160]; /* the first few, whole names */
    gnomon__json_piece *pieces;
} gnomon__json_reading;

/* A step into the path, by a name of ours or by an index from 1 (0: none), and
 * back. */
void gnomon__json_enter(gnomon__json_reading *r, const char *name,
                        size_t index);
void gnomon__json_leave(gnomon__json_reading *r);

/* Keeps the error, with the path before it, and returns 0: who gets that goes
 * no further. */
int gnomon__json_wrong(gnomon__json_reading *r, const char *format, ...)
    GNOMON_PRINTF(2, 3);
int gnomon__json_no_memory(gnomon__json_reading *r);

/* As much of a text of the file's as fits, on one line; gives back `out`. */
const char *gnomon__json_shown(const char *text, char *out, size_t size);

/* Counts an unknown key of the current path; the first few are named. */
void gnomon__json_ignore(gnomon__json_reading *r, const char *name);

/* Zeroed memory until gnomon__json_drop; NULL: none, and it is the error. */
void *gnomon__json_room(gnomon__json_reading *r, size_t count, size_t size);
void gnomon__json_drop(gnomon__json_reading *r);

/* All return whether it went well. */
int gnomon__json_to_u64(gnomon__json_reading *r, json_t *value, uint64_t most,
                        uint64_t *out);
int gnomon__json_to_i64(gnomon__json_reading *r, json_t *value, int64_t least,
                        int64_t most, int64_t *out);
int gnomon__json_to_double(gnomon__json_reading *r, json_t *value, double *out);
int gnomon__json_to_word(gnomon__json_reading *r, json_t *value,
                         const char *const *words, uint32_t *out);
int gnomon__json_to_flags(gnomon__json_reading *r, json_t *value,
                          const char *const *words, uint32_t *out);

/* Any value as the text that it has; lives until gnomon__json_drop. */
int gnomon__json_to_json(gnomon__json_reading *r, json_t *value,
                         const char **out);

/* An object as the struct, into zeroes; what it points to lives
 * until gnomon__json_drop, or as long as the object. */
int gnomon__json_to_struct(gnomon__json_reading *r, const gnomon__struct *s,
                           json_t *object, char *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files of Python's cProfile: a table of functions, and which calls which, as marshal
 * writes it, of every version up to 4. */
#ifndef GNOMON_COMMAND_PROF_READ_H
#define GNOMON_COMMAND_PROF_READ_H

#include <stdint.h>

#include "gnomon/profile.h"

/* Times are ns. */
typedef struct gnomon__prof_times {
    uint64_t calls, primitive;
    double self, total;
} gnomon__prof_times;

typedef struct gnomon__prof_function {
    const char *file, *name; /* of the table */
    uint32_t line;
    gnomon__prof_times times;
} gnomon__prof_function;

/* Of the calls of `callee` by `caller`, numbers of functions from 0. */
typedef struct gnomon__prof_edge {
    uint32_t caller, callee;
    gnomon__prof_times times;
} gnomon__prof_edge;

/* Zeroes are an empty one. */
typedef struct gnomon__prof_table {
    gnomon__prof_function *functions;
    size_t count, room;
    gnomon__prof_edge *edges;
    size_t edge_count, edge_room;
    char *texts;
} gnomon__prof_table;

/* Whether a file begins as one of them: as no JSON, and no .gnomon file, does. */
int gnomon__prof_is(const void *head, size_t size);

/* GNOMON_OK, GNOMON_ENOMEM, or GNOMON_EINVAL and a text. O(size) time and memory, whatever
 * the bytes are. Free the table in any case. */
int gnomon__prof_table_read(gnomon__prof_table *table, const void *bytes,
                            size_t size);
void gnomon__prof_table_free(gnomon__prof_table *table);

/* The table as a profile: a tree of calls on one thread. Which part of a function's time
 * belongs to which path is not in such a file: it is split among those who called it, as
 * their own calls took. Likewise. */
int gnomon__prof_read(gnomon_profile **out, const void *bytes, size_t size);

#endif

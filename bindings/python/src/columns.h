/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entities of a kind as columns: buffers, laid out as Arrow's, made without Python and
 * without its lock. */
#ifndef GNOMON_BINDING_COLUMNS_H
#define GNOMON_BINDING_COLUMNS_H

#include "fields.h"

#define BINDING_COLUMNS 48 /* of a kind, at most */

typedef struct binding_column {
    char name[48];
    /* As Arrow writes it: "l", "L" and "g" are numbers of 8 bytes, "U" is text. */
    const char *format;
    /* How the value of an entity is found (columns.c). */
    int source;
    gnomon_field_info field, part;
    /* The rows so far. */
    size_t rows, nulls;
    size_t size, room; /* of data */
    char *data;        /* the numbers, or all the texts */
    int64_t
        *ends; /* of texts: where each begins, and where the last one ends */
    uint8_t *valid; /* a bit for each row */
} binding_column;

/* Fills `columns` with those of a kind, without rows: its id, its fields without lists, and
 * what it refers to: name, category, path, thread, stage_name, rank. Returns how many. */
size_t binding_columns_of(const binding_entity *entity,
                          binding_column *columns);
/* Reads `rows` entities that follow number `after` into columns without rows. GNOMON_OK,
 * GNOMON_ENOMEM, or what the profile answers. Free in any case. */
int binding_columns_read(const gnomon_profile *profile,
                         const binding_entity *entity, size_t after,
                         size_t rows, binding_column *columns, size_t count);
void binding_column_free(binding_column *column);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile in memory: an array for each kind of entity, filled in once and then
 * immutable. Numbers are 1 .. count, so entity i lies at index i - 1. */
#ifndef GNOMON_PROFILE_MODEL_H
#define GNOMON_PROFILE_MODEL_H

#include "gnomon/profile.h"

#define GNOMON__ENTITIES 11

typedef struct gnomon__table {
    char *items;
    size_t count, room, size; /* `size`: of one item */
} gnomon__table;

typedef struct gnomon__text_block gnomon__text_block;

typedef struct gnomon__model {
    gnomon_profile base;                    /* first: what the public sees */
    gnomon__table tables[GNOMON__ENTITIES]; /* by gnomon_entity */
    gnomon_host_stats *stats; /* of nodes that have a host block */
    gnomon_cell *cells;
    size_t cell_count;
    gnomon__text_block *texts;
    size_t texts_used, texts_room;
} gnomon__model;

/* An empty profile; NULL: no memory. Free with gnomon_profile_free(&m->base). */
gnomon__model *gnomon__model_create(void);

/* A zeroed item at the end of the table, its struct_size set; NULL: no memory.
 * Items move when one is added. */
void *gnomon__model_add(gnomon__model *m, int entity);
size_t gnomon__model_count(const gnomon__model *m, int entity);

/* Item 1 .. count. */
void *gnomon__model_at(const gnomon__model *m, int entity, size_t number);

/* A copy that lives as long as the profile; NULL: no memory. */
const char *gnomon__model_text(gnomon__model *m, const char *text);

#endif

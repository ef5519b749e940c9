/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_RECORD_READ_H
#define GNOMON_PROFILE_RECORD_READ_H

#include "profile/file_read.h"
#include "profile/model.h"
#include "profile/repair.h"

typedef struct gnomon__read_texts {
    uint64_t first, bytes;
    const char *text; /* UTF-8, the model's; ends with a NUL */
} gnomon__read_texts;

typedef struct gnomon__record_reader {
    gnomon__model *m;
    gnomon__read_texts *texts; /* ascending */
    size_t text_count, text_room;
    const gnomon__section *s;          /* the current one */
    uint32_t before[GNOMON__ENTITIES]; /* numbers of a kind begin above it */
    uint64_t
        tail_left; /* bytes of its tail that are not used up: record_room */
    int no_memory; /* for what a record pointed to */
    gnomon__dangling *dangling;
    int entity;      /* of the current record, */
    uint64_t number; /* and its number in the file */
} gnomon__record_reader;

/* Keeps the texts of the current section. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__texts_keep(gnomon__record_reader *r);
void gnomon__texts_free(gnomon__record_reader *r);

/* Fills `to`, zeroes but for its struct_size, from record i of the section at hand,
 * from 0. What is not there is left out, and counted as dangling: a text is
 * then "(lost)", a block absent. */
void gnomon__record_read(gnomon__record_reader *r, int entity, uint32_t i,
                         void *to);

#endif

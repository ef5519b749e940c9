/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How entities lie in a .gnomon file: one table for writing and reading, the
 * source of docs/file-format.md.
 *
 * A record is its fields one after the other, little-endian, unpadded. Fields
 * are only ever appended: a shorter record's missing fields are zero, a longer
 * one's are passed over. */
#ifndef GNOMON_PROFILE_LAYOUT_H
#define GNOMON_PROFILE_LAYOUT_H

#include "gnomon/profile.h"
#include "profile/model.h"

/* The header of a file, then of each section: magic or kind, and at the end a
 * CRC-32 of what is before it. */
#define GNOMON__FILE_MAGIC "\x89GNOMON\n"
#define GNOMON__FILE_VERSION 1u
#define GNOMON__FILE_HEADER 16u /* magic, version, crc */
#define GNOMON__SECTION_HEADER \
    40u /* kind, item size, bytes, first, count,
                                      payload's crc, 0, crc */

enum gnomon__field_type {
    GNOMON__FIELD_32,    /* uint32_t or int32_t */
    GNOMON__FIELD_64,    /* uint64_t, int64_t or double */
    GNOMON__FIELD_TEXT,  /* 32: 1 + its offset among all texts */
    GNOMON__FIELD_MAYBE, /* likewise; 0: NULL */
    GNOMON__FIELD_STATS, /* 32: 1 + where its statistics lie behind the records */
    GNOMON__FIELD_MEMORY, /* 32: where the first of its pools lies, 32: count */
    GNOMON__FIELD_WORK,   /* 32: where its work lies */
    GNOMON__FIELD_INPUTS, /* 32: where the first tensor lies, 32: count */
    GNOMON__FIELD_ATTRIBUTES, /* 32: where the first one lies, 32: count */
    /* 32: the number of an entity, 0: none */
    GNOMON__FIELD_NUMBER = 32 /* + its kind */
};

typedef struct gnomon__field {
    uint16_t type;
    uint16_t at; /* in the struct */
} gnomon__field;

typedef struct gnomon__layout {
    char kind[5]; /* as the section's header has it */
    uint8_t entity;
    uint8_t field_count;
    const gnomon__field *fields;
} gnomon__layout;

/* By entity; GNOMON__ENTITIES of them. */
extern const gnomon__layout gnomon__layouts[];

/* In the order in which a file has them: what others name comes first, and first
 * of all what runs share. */
#define GNOMON__SHARED_LAYOUTS 3
extern const uint8_t gnomon__layout_order[];

/* The bytes of a field in a record. */
unsigned gnomon__field_size(unsigned type);
unsigned gnomon__record_size(const gnomon__layout *l);

#endif

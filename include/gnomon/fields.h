/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The fields of a profile's structs, as data: for bindings, tables and formats that
 * treat all kinds of entities alike. Included by gnomon/profile.h.
 *
 *     gnomon_field_info f[32];
 *     f[0].struct_size = sizeof f[0];
 *     n = gnomon_entity_fields(GNOMON_NODES, f, 32);
 *     for (i = 0; i < n; i++) puts(f[i].name);
 */
#ifndef GNOMON_FIELDS_H
#define GNOMON_FIELDS_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* The structs that entities point to: beside the kinds of gnomon_entity. */
enum gnomon_part {
    GNOMON_PART_STATS = 100,
    /* gnomon_memory_stats. */
    GNOMON_PART_MEMORY = 101,
    /* gnomon_work_stats. */
    GNOMON_PART_WORK = 102,
    /* gnomon_tensor. */
    GNOMON_PART_INPUT = 103,
    GNOMON_PART_ATTRIBUTE = 104,
    /* gnomon_clock_anchor. */
    GNOMON_PART_ANCHOR = 105
};

enum gnomon_field_type {
    GNOMON_FIELD_U32 = 0,
    GNOMON_FIELD_I32 = 1,
    GNOMON_FIELD_U64 = 2,
    GNOMON_FIELD_I64 = 3,
    GNOMON_FIELD_DOUBLE = 4,
    /* const char *. */
    GNOMON_FIELD_TEXT = 5,
    /* A pointer to one struct of `of`; NULL: none. */
    GNOMON_FIELD_STRUCT = 6,
    /* A pointer to several, each as long as its struct_size says; their number is the
     * size_t at count_offset. */
    GNOMON_FIELD_STRUCTS = 7,
    /* To gnomon_cell, likewise. */
    GNOMON_FIELD_CELLS = 8,
    /* To int64_t; their number is the uint32_t at count_offset. NULL: none. */
    GNOMON_FIELD_SIZES = 9
};

/* A field of a struct. */
typedef struct gnomon_field_info {
    uint32_t struct_size;
    /* A gnomon_field_type. */
    uint32_t type;
    /* As in C and in JSON. */
    const char *name;
    /* "ns" or "bytes"; "": neither. */
    const char *unit;
    /* The words of its values, up to a NULL: word i is value i, or bit i of flags. NULL:
     * it is no such number. */
    const char *const *words;
    uint32_t is_flags;
    /* Where it lies in the struct. */
    uint32_t offset;
    /* Its bytes: 4 or 8, also of a pointer. */
    uint32_t size;
    /* Where the number of what it points to lies; 0: it is no list. */
    uint32_t count_offset;
    /* The gnomon_entity whose number it is, or the gnomon_part that it points to; -1:
     * neither. An event's region is a pool, a track, if the event is of memory. */
    int32_t of;
    uint32_t reserved;
} gnomon_field_info;

/* Describes the fields of a kind (gnomon_entity, gnomon_part): fills at most `room` of
 * `fields`, as far apart as the struct_size says that the caller has set in the first.
 * Returns how many fields the struct has; 0: there is no such kind. Any thread. */
GNOMON__CALL size_t gnomon_entity_fields(int entity, gnomon_field_info *fields,
                                         size_t room);
/* The name of a kind, as "nodes"; NULL: there is no such kind. */
GNOMON__CALL const char *gnomon_entity_name(int entity);

GNOMON_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one description of a profile's structs (gnomon/profile.h): a row for each
 * of their fields. Copying, checking, repairing, writing,
 * reading, comparing and merging all use these rows. test_entity.c fails for a field
 * without a row. docs/file-format.md is
 * the same in words. */
#ifndef GNOMON_PROFILE_ENTITY_H
#define GNOMON_PROFILE_ENTITY_H

#include <string.h>

#include "gnomon/profile.h"

/* Kinds of them: gnomon_entity. */
#define GNOMON__ENTITIES 17

/* The structs: entities by their gnomon_entity, then the structs they point to. */
enum gnomon__struct_number {
    GNOMON__STATS = GNOMON__ENTITIES,
    GNOMON__MEMORY,
    GNOMON__WORK,
    GNOMON__INPUT,
    GNOMON__ATTRIBUTE,
    GNOMON__ANCHOR,
    GNOMON__BIN,
    GNOMON__SLOW,
    GNOMON__STRUCTS
};

typedef enum gnomon__type {
    GNOMON__TYPE_U32,
    GNOMON__TYPE_I32,
    GNOMON__TYPE_TRUTH,  /* int32_t: 0, 1, or another number */
    GNOMON__TYPE_WORD,   /* uint32_t or int32_t: one of some words */
    GNOMON__TYPE_FLAGS,  /* uint32_t: words by bit */
    GNOMON__TYPE_NUMBER, /* uint32_t: of an entity; 0: none */
    /* Up to here a field has 32 bits, from here on 64. */
    GNOMON__TYPE_U64,
    GNOMON__TYPE_I64,
    GNOMON__TYPE_DOUBLE,
    /* From here on the field is a pointer. */
    GNOMON__TYPE_TEXT,
    GNOMON__TYPE_MAYBE, /* a text; NULL is not "" */
    GNOMON__TYPE_JSON,  /* a text that is JSON */
    /* From here on it points to structs or numbers, and may have a count. */
    GNOMON__TYPE_STRUCT,
    GNOMON__TYPE_STRUCTS, /* a list; its count is a size_t */
    GNOMON__TYPE_CELLS,   /* of gnomon_cell; likewise */
    GNOMON__TYPE_DIMS,    /* of int64_t; its count is a uint32_t */
    GNOMON__TYPE_STRIDES  /* as many as dims; NULL: none */
} gnomon__type;

enum gnomon__field_rules {
    GNOMON__NEEDED = 1, /* JSON must have it; a number is not 0 */
    GNOMON__OWNED = 2, /* the number of a run: 0 only where there are no runs */
    GNOMON__KEY = 4,   /* entities with equal keys are merged into one */
    /* How the field of two merged entities is made. Without a rule both are equal, or
     * the kind's code decides. */
    GNOMON__ADD = 8,
    GNOMON__LEAST = 16,
    GNOMON__MOST = 32,
    GNOMON__MOMENT = 64, /* ns since the run's zero */
    /* Of flags `range` is of the key: a range's path is not that of a scope. */
    GNOMON__KEY_RANGE = 128,
    GNOMON__MERGED = GNOMON__ADD | GNOMON__LEAST | GNOMON__MOST
};

typedef struct gnomon__field {
    const char *name;   /* in C and in JSON */
    uint16_t at;        /* in its struct */
    uint16_t count_at;  /* of a list's count */
    uint8_t type;       /* gnomon__type */
    uint8_t of;         /* by type: a gnomon_entity, a struct, some words */
    uint8_t rules;      /* bits: gnomon__field_rules */
    uint16_t name_size; /* without its NUL */
    int16_t standard;   /* the default of a number that JSON leaves out */
} gnomon__field;

/* The first reference of an entity that is not shared leads to its run, directly or
 * through other first references. */
typedef struct gnomon__struct {
    const char *one, *many; /* in messages; `many` in JSON too */
    char kind[5];           /* in a file; "": no entity */
    uint8_t field_count;
    uint8_t first_count; /* how many the first release had; they come first */
    uint16_t size;       /* of the struct */
    uint16_t first_size; /* likewise */
    const gnomon__field *fields; /* in the order in which they are written */
} gnomon__struct;

extern const gnomon__struct gnomon__structs[GNOMON__STRUCTS];

/* The words of a field, up to a NULL. */
const char *const *gnomon__words(const gnomon__field *f);

/* The order of entities in a file: an entity comes after all that it refers to, and the
 * GNOMON__SHARED kinds are first. And the order in JSON. */
#define GNOMON__SHARED 3
extern const uint8_t gnomon__file_order[GNOMON__ENTITIES];
extern const uint8_t gnomon__json_order[GNOMON__ENTITIES];

static inline int gnomon__is_shared(int entity)
{
    return entity == GNOMON_REGIONS || entity == GNOMON_OPS ||
           entity == GNOMON_VIEWS;
}

/* Room for any of the structs. */
typedef union gnomon__any {
    uint32_t struct_size;
    gnomon_run_info run;
    gnomon_stage_info stage;
    gnomon_step_info step;
    gnomon_track_info track;
    gnomon_region_info region;
    gnomon_node_info node;
    gnomon_open_info open;
    gnomon_link_info link;
    gnomon_counter_info counter;
    gnomon_metadata_info metadata;
    gnomon_loss_info loss;
    gnomon_view_info view;
    gnomon_op_info op;
    gnomon_event_info event;
    gnomon_step_time_info step_time;
    gnomon_view_time_info view_time;
    gnomon_strip_info strip;
    gnomon_stats stats;
    gnomon_memory_stats memory;
    gnomon_work_stats work;
    gnomon_tensor input;
    gnomon_attribute attribute;
    gnomon_clock_anchor anchor;
    gnomon_bin bin;
    gnomon_slow_step slow;
} gnomon__any;

/* ---- Fields ----------------------------------------------------------------- */

/* A field of the struct `of`, for types of 32 or 64 bits and for pointers. */
static inline uint32_t gnomon__field_32(const gnomon__field *f, const void *of)
{
    uint32_t value;
    memcpy(&value, (const char *)of + f->at, sizeof value);
    return value;
}

static inline uint64_t gnomon__field_64(const gnomon__field *f, const void *of)
{
    uint64_t value;
    memcpy(&value, (const char *)of + f->at, sizeof value);
    return value;
}

static inline const void *gnomon__field_pointer(const gnomon__field *f,
                                                const void *of)
{
    const void *value;
    memcpy(&value, (const char *)of + f->at, sizeof value);
    return value;
}

static inline void gnomon__field_set(const gnomon__field *f, void *of,
                                     const void *value, size_t size)
{
    memcpy((char *)of + f->at, value, size);
}

/* The bits of a number of 32 or 64 bits. */
static inline uint64_t gnomon__field_bits(const gnomon__field *f,
                                          const void *of)
{
    return f->type < GNOMON__TYPE_U64 ? gnomon__field_32(f, of)
                                      : gnomon__field_64(f, of);
}

static inline void gnomon__field_set_bits(const gnomon__field *f, void *of,
                                          uint64_t bits)
{
    const uint32_t small = (uint32_t)bits;
    if (f->type < GNOMON__TYPE_U64)
        gnomon__field_set(f, of, &small, sizeof small);
    else
        gnomon__field_set(f, of, &bits, sizeof bits);
}

/* The kind of entity that a reference field refers to. */
static inline int gnomon__number_of(const gnomon__field *f, const void *of)
{
    const gnomon_event_info *e = of;
    if (f->of < GNOMON__ENTITIES)
        return f->of;
    return e->kind == GNOMON_EVENT_MEMORY ? GNOMON_TRACKS : GNOMON_REGIONS;
}

/* The next reference of an entity after a field, the first after NULL; NULL: none. */
static inline const gnomon__field *gnomon__next_number(const gnomon__struct *s,
                                                       const gnomon__field *f)
{
    const gnomon__field *end = s->fields + s->field_count;
    for (f = f ? f + 1 : s->fields; f < end; f++)
        if (f->type == GNOMON__TYPE_NUMBER)
            return f;
    return NULL;
}

/* Item i of a list of structs, from 0. */
static inline const char *gnomon__struct_at(const void *list, size_t i)
{
    uint32_t size;
    memcpy(&size, list, sizeof size);
    return (const char *)list + i * size;
}

/* host->entity_fields and host->entity_name. */
size_t gnomon__entity_fields(int entity, gnomon_field_info *fields,
                             size_t room);
const char *gnomon__entity_name(int entity);

#endif

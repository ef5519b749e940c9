/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the structs of a profile look as JSON: one description, by which
 * json_write.c writes and cli/json_read.c reads. docs/file-format.md is the same
 * in words. */
#ifndef GNOMON_PROFILE_JSON_FORM_H
#define GNOMON_PROFILE_JSON_FORM_H

#include "gnomon/profile.h"

/* The version of the form. It changes when an older reader would get a file
 * wrong; a key that it may ignore is no change. */
#define GNOMON__JSON_FORM 1

typedef enum gnomon__json_type {
    GNOMON__JSON_U32,
    GNOMON__JSON_I32,
    GNOMON__JSON_U64,
    GNOMON__JSON_I64,
    GNOMON__JSON_DOUBLE,
    GNOMON__JSON_TRUTH,    /* int32: false, true, or another number */
    GNOMON__JSON_WORD,     /* uint32: one of `words`, or a number */
    GNOMON__JSON_FLAGS,    /* uint32: a list of `words` by bit, and a number */
    GNOMON__JSON_TEXT,     /* absent: "" */
    GNOMON__JSON_ANY_TEXT, /* absent: NULL */
    GNOMON__JSON_VALUE,    /* a text that is JSON */
    GNOMON__JSON_OBJECT,   /* a pointer to one of `of`; absent: NULL */
    GNOMON__JSON_OBJECTS,  /* a pointer to some of `of`; their count, size_t */
    GNOMON__JSON_CELLS,    /* gnomon_cell; their count, size_t */
    GNOMON__JSON_DIMS,     /* int64_t; their count, uint32_t */
    GNOMON__JSON_STRIDES   /* the same, as many as dims; absent: NULL */
} gnomon__json_type;

typedef struct gnomon__json_struct gnomon__json_struct;

typedef struct gnomon__json_field {
    const char *name;
    uint16_t offset;
    uint16_t count_offset;
    uint8_t type;             /* gnomon__json_type */
    uint8_t needed;           /* must be there */
    int16_t standard;         /* what a number is that is not there */
    const char *const *words; /* up to a NULL */
    const gnomon__json_struct *of;
} gnomon__json_field;

struct gnomon__json_struct {
    const char *name; /* of an entity: the key of their list */
    const gnomon__json_field *fields;
    uint16_t field_count;
    uint16_t size;
    int entity; /* gnomon_entity; -1: a part of one */
};

/* Entities, in the order in which they are written. */
#define GNOMON__JSON_KINDS 14
extern const gnomon__json_struct gnomon__json_kinds[GNOMON__JSON_KINDS];

extern const gnomon__json_struct gnomon__json_stats;

/* Room for any entity. */
typedef union gnomon__json_any {
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
} gnomon__json_any;

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of a profile's entities, as Python sees them. */
#ifndef GNOMON_BINDING_FIELDS_H
#define GNOMON_BINDING_FIELDS_H

#include "binding.h"

#include <gnomon/profile.h>

enum binding_field_type {
    FIELD_U32,
    FIELD_I32,
    FIELD_U64,
    FIELD_I64,
    FIELD_F64,
    FIELD_TEXT,
    FIELD_STATS,      /* const gnomon_stats *, or NULL */
    FIELD_WORK,       /* const gnomon_work_stats *, or NULL */
    FIELD_MEMORY,     /* the memory of a node */
    FIELD_ANCHORS,    /* the anchors of a run */
    FIELD_INPUTS,     /* of an operation */
    FIELD_ATTRIBUTES, /* of an operation */
    FIELD_END
};

typedef struct binding_field {
    const char *name;
    enum binding_field_type type;
    size_t offset;
} binding_field;

typedef struct binding_entity {
    const char *name; /* as in Profile.nodes */
    int entity;       /* gnomon_entity */
    const binding_field *fields;
} binding_entity;

extern const binding_entity binding_entities[];
extern const size_t binding_entity_count;

/* Room for the struct of any entity. */
typedef union binding_info {
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
} binding_info;

/* The value of one field. A new reference; NULL: an exception is set. */
PyObject *binding_field_value(const binding_info *info,
                              const binding_field *field);

#endif

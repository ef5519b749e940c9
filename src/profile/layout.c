/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of layout.h. */
#include "profile/layout.h"

#include <stddef.h>

#define F32(type, field) \
    { \
        GNOMON__FIELD_32, offsetof(type, field) \
    }
#define F64(type, field) \
    { \
        GNOMON__FIELD_64, offsetof(type, field) \
    }
#define TEXT(type, field) \
    { \
        GNOMON__FIELD_TEXT, offsetof(type, field) \
    }
#define MAYBE(type, field) \
    { \
        GNOMON__FIELD_MAYBE, offsetof(type, field) \
    }
#define PART(what, type, field) \
    { \
        GNOMON__FIELD_##what, offsetof(type, field) \
    }
#define OF(entity, type, field) \
    { \
        GNOMON__FIELD_NUMBER + GNOMON_##entity, offsetof(type, field) \
    }

static const gnomon__field run_fields[] = {
    F32(gnomon_run_info, rank),
    F32(gnomon_run_info, local_rank),
    F32(gnomon_run_info, world_size),
    TEXT(gnomon_run_info, host),
    F64(gnomon_run_info, pid),
    MAYBE(gnomon_run_info, dir),
    TEXT(gnomon_run_info, spec),
    TEXT(gnomon_run_info, clock),
    MAYBE(gnomon_run_info, attempt),
    F64(gnomon_run_info, zero_unix_ns),
    F64(gnomon_run_info, clock_error_ns),
    F64(gnomon_run_info, now_ns),
    MAYBE(gnomon_run_info, job),
    MAYBE(gnomon_run_info, uuid),
};

static const gnomon__field stage_fields[] = {
    OF(RUNS, gnomon_stage_info, run),      F32(gnomon_stage_info, ordinal),
    TEXT(gnomon_stage_info, name),         F32(gnomon_stage_info, ended),
    F64(gnomon_stage_info, begin_ns),      F64(gnomon_stage_info, end_ns),
    PART(STATS, gnomon_stage_info, steps),
};

static const gnomon__field step_fields[] = {
    OF(STAGES, gnomon_step_info, stage), F32(gnomon_step_info, phase),
    F64(gnomon_step_info, number),       F64(gnomon_step_info, begin_ns),
    F64(gnomon_step_info, end_ns),
};

static const gnomon__field track_fields[] = {
    OF(RUNS, gnomon_track_info, run), F32(gnomon_track_info, kind),
    F32(gnomon_track_info, device),   F32(gnomon_track_info, index),
    TEXT(gnomon_track_info, name),    F32(gnomon_track_info, lives),
    F64(gnomon_track_info, os_id),    F32(gnomon_track_info, alive),
    F32(gnomon_track_info, inexact),
};

static const gnomon__field region_fields[] = {
    F32(gnomon_region_info, kind),      TEXT(gnomon_region_info, name),
    TEXT(gnomon_region_info, category), TEXT(gnomon_region_info, file),
    TEXT(gnomon_region_info, function), F32(gnomon_region_info, line),
};

static const gnomon__field node_fields[] = {
    OF(TRACKS, gnomon_node_info, track),
    OF(STAGES, gnomon_node_info, stage),
    OF(NODES, gnomon_node_info, parent),
    OF(REGIONS, gnomon_node_info, region),
    OF(OPS, gnomon_node_info, op),
    OF(VIEWS, gnomon_node_info, view),
    F32(gnomon_node_info, open),
    F32(gnomon_node_info, flags),
    F64(gnomon_node_info, first),
    PART(STATS, gnomon_node_info, host),
    PART(STATS, gnomon_node_info, device),
    PART(MEMORY, gnomon_node_info, memory),
    PART(WORK, gnomon_node_info, work),
};

static const gnomon__field open_fields[] = {
    OF(TRACKS, gnomon_open_info, track),
    OF(NODES, gnomon_open_info, node),
    F64(gnomon_open_info, begin_ns),
};

static const gnomon__field link_fields[] = {
    OF(NODES, gnomon_link_info, from),    OF(NODES, gnomon_link_info, to),
    F32(gnomon_link_info, kind),          F64(gnomon_link_info, count),
    F64(gnomon_link_info, from_instance), F64(gnomon_link_info, to_instance),
};

static const gnomon__field counter_fields[] = {
    OF(TRACKS, gnomon_counter_info, track),
    OF(REGIONS, gnomon_counter_info, region),
    OF(STAGES, gnomon_counter_info, stage),
    F64(gnomon_counter_info, count),
    F64(gnomon_counter_info, last),
    F64(gnomon_counter_info, min),
    F64(gnomon_counter_info, max),
    F64(gnomon_counter_info, sum),
};

static const gnomon__field metadata_fields[] = {
    OF(RUNS, gnomon_metadata_info, run),
    TEXT(gnomon_metadata_info, key),
    TEXT(gnomon_metadata_info, json),
};

static const gnomon__field loss_fields[] = {
    OF(RUNS, gnomon_loss_info, run), OF(TRACKS, gnomon_loss_info, track),
    TEXT(gnomon_loss_info, kind),    F64(gnomon_loss_info, count),
    F64(gnomon_loss_info, begin_ns), F64(gnomon_loss_info, end_ns),
};

static const gnomon__field view_fields[] = {
    TEXT(gnomon_view_info, words),
};

static const gnomon__field op_fields[] = {
    F32(gnomon_op_info, flags),
    TEXT(gnomon_op_info, operation),
    PART(INPUTS, gnomon_op_info, inputs),
    PART(ATTRIBUTES, gnomon_op_info, attributes),
    F64(gnomon_op_info, flops),
    F64(gnomon_op_info, bytes),
};

/* `region` may be a track's number: it is looked after by hand. */
static const gnomon__field event_fields[] = {
    F32(gnomon_event_info, kind),       OF(TRACKS, gnomon_event_info, track),
    OF(NODES, gnomon_event_info, node), F32(gnomon_event_info, region),
    F64(gnomon_event_info, begin_ns),   F64(gnomon_event_info, duration_ns),
    F64(gnomon_event_info, instance),   F64(gnomon_event_info, value),
};

#define LAYOUT(entity, kind, fields) \
    [GNOMON_##entity] = {kind, GNOMON_##entity, \
                         sizeof fields / sizeof *fields, fields}

const gnomon__layout gnomon__layouts[GNOMON__ENTITIES] = {
    LAYOUT(RUNS, "RUN ", run_fields),
    LAYOUT(STAGES, "STAG", stage_fields),
    LAYOUT(STEPS, "STEP", step_fields),
    LAYOUT(TRACKS, "TRCK", track_fields),
    LAYOUT(REGIONS, "REGN", region_fields),
    LAYOUT(NODES, "NODE", node_fields),
    LAYOUT(OPENS, "OPEN", open_fields),
    LAYOUT(LINKS, "LINK", link_fields),
    LAYOUT(COUNTERS, "CNTR", counter_fields),
    LAYOUT(METADATA, "META", metadata_fields),
    LAYOUT(LOSSES, "LOSS", loss_fields),
    LAYOUT(VIEWS, "VIEW", view_fields),
    LAYOUT(OPS, "OP  ", op_fields),
    LAYOUT(EVENTS, "EVNT", event_fields),
};

const uint8_t gnomon__layout_order[GNOMON__ENTITIES] = {
    GNOMON_REGIONS,  GNOMON_OPS,    GNOMON_VIEWS, GNOMON_RUNS,
    GNOMON_METADATA, GNOMON_STAGES, GNOMON_STEPS, GNOMON_TRACKS,
    GNOMON_NODES,    GNOMON_OPENS,  GNOMON_LINKS, GNOMON_COUNTERS,
    GNOMON_LOSSES,   GNOMON_EVENTS};

unsigned gnomon__field_size(unsigned type)
{
    switch (type) {
    case GNOMON__FIELD_64:
    case GNOMON__FIELD_MEMORY:
    case GNOMON__FIELD_INPUTS:
    case GNOMON__FIELD_ATTRIBUTES:
        return 8;
    default:
        return 4;
    }
}

unsigned gnomon__record_size(const gnomon__layout *l)
{
    unsigned size = 0;
    for (unsigned i = 0; i < l->field_count; i++)
        size += gnomon__field_size(l->fields[i].type);
    return size;
}

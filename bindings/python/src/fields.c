/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of each kind of entity, in the order of its struct (gnomon/entities.h). */
#include "fields.h"

#define FIELD(info, field, type) \
    { \
#field, FIELD_##type, offsetof(info, field) \
    }

static const binding_field run_fields[] = {
    FIELD(gnomon_run_info, rank, I32),
    FIELD(gnomon_run_info, local_rank, I32),
    FIELD(gnomon_run_info, world_size, I32),
    FIELD(gnomon_run_info, pid, I64),
    FIELD(gnomon_run_info, host, TEXT),
    FIELD(gnomon_run_info, dir, TEXT),
    FIELD(gnomon_run_info, spec, TEXT),
    FIELD(gnomon_run_info, clock, TEXT),
    FIELD(gnomon_run_info, zero_unix_ns, U64),
    FIELD(gnomon_run_info, clock_error_ns, U64),
    FIELD(gnomon_run_info, now_ns, U64),
    FIELD(gnomon_run_info, attempt, TEXT),
    FIELD(gnomon_run_info, job, TEXT),
    FIELD(gnomon_run_info, uuid, TEXT),
    FIELD(gnomon_run_info, anchors, ANCHORS),
    {NULL, FIELD_END, 0}};

static const binding_field stage_fields[] = {
    FIELD(gnomon_stage_info, ordinal, U32),
    FIELD(gnomon_stage_info, name, TEXT),
    FIELD(gnomon_stage_info, begin_ns, U64),
    FIELD(gnomon_stage_info, end_ns, U64),
    FIELD(gnomon_stage_info, ended, I32),
    FIELD(gnomon_stage_info, run, U32),
    FIELD(gnomon_stage_info, steps, STATS),
    FIELD(gnomon_stage_info, count, U32),
    FIELD(gnomon_stage_info, recorded_ns, U64),
    FIELD(gnomon_stage_info, late, U64),
    {NULL, FIELD_END, 0}};

static const binding_field step_fields[] = {
    FIELD(gnomon_step_info, stage, U32),
    FIELD(gnomon_step_info, number, U64),
    FIELD(gnomon_step_info, begin_ns, U64),
    FIELD(gnomon_step_info, end_ns, U64),
    FIELD(gnomon_step_info, phase, I32),
    FIELD(gnomon_step_info, rank, I32),
    FIELD(gnomon_step_info, ordinal, U32),
    {NULL, FIELD_END, 0}};

static const binding_field track_fields[] = {
    FIELD(gnomon_track_info, kind, U32),
    FIELD(gnomon_track_info, name, TEXT),
    FIELD(gnomon_track_info, os_id, I64),
    FIELD(gnomon_track_info, index, U32),
    FIELD(gnomon_track_info, thread_count, U32),
    FIELD(gnomon_track_info, alive, I32),
    FIELD(gnomon_track_info, inexact, I32),
    FIELD(gnomon_track_info, run, U32),
    FIELD(gnomon_track_info, device, I32),
    {NULL, FIELD_END, 0}};

static const binding_field region_fields[] = {
    FIELD(gnomon_region_info, kind, U32),
    FIELD(gnomon_region_info, name, TEXT),
    FIELD(gnomon_region_info, category, TEXT),
    FIELD(gnomon_region_info, file, TEXT),
    FIELD(gnomon_region_info, function, TEXT),
    FIELD(gnomon_region_info, line, U32),
    {NULL, FIELD_END, 0}};

static const binding_field node_fields[] = {
    FIELD(gnomon_node_info, track, U32),
    FIELD(gnomon_node_info, stage, U32),
    FIELD(gnomon_node_info, parent, U32),
    FIELD(gnomon_node_info, region, U32),
    FIELD(gnomon_node_info, op, U32),
    FIELD(gnomon_node_info, open, U32),
    FIELD(gnomon_node_info, flags, U32),
    FIELD(gnomon_node_info, first, U64),
    FIELD(gnomon_node_info, host, STATS),
    FIELD(gnomon_node_info, device, STATS),
    FIELD(gnomon_node_info, memory, MEMORY),
    FIELD(gnomon_node_info, work, WORK),
    FIELD(gnomon_node_info, view, U32),
    {NULL, FIELD_END, 0}};

static const binding_field open_fields[] = {
    FIELD(gnomon_open_info, track, U32),
    FIELD(gnomon_open_info, node, U32),
    FIELD(gnomon_open_info, begin_ns, U64),
    {NULL, FIELD_END, 0}};

static const binding_field link_fields[] = {
    FIELD(gnomon_link_info, from, U32),
    FIELD(gnomon_link_info, to, U32),
    FIELD(gnomon_link_info, kind, U32),
    FIELD(gnomon_link_info, count, U64),
    FIELD(gnomon_link_info, from_instance, U64),
    FIELD(gnomon_link_info, to_instance, U64),
    FIELD(gnomon_link_info, from_ns, U64),
    FIELD(gnomon_link_info, to_ns, U64),
    {NULL, FIELD_END, 0}};

static const binding_field counter_fields[] = {
    FIELD(gnomon_counter_info, track, U32),
    FIELD(gnomon_counter_info, region, U32),
    FIELD(gnomon_counter_info, stage, U32),
    FIELD(gnomon_counter_info, count, U64),
    FIELD(gnomon_counter_info, last, F64),
    FIELD(gnomon_counter_info, min, F64),
    FIELD(gnomon_counter_info, max, F64),
    FIELD(gnomon_counter_info, sum, F64),
    FIELD(gnomon_counter_info, nans, U64),
    {NULL, FIELD_END, 0}};

static const binding_field metadata_fields[] = {
    FIELD(gnomon_metadata_info, run, U32),
    FIELD(gnomon_metadata_info, key, TEXT),
    FIELD(gnomon_metadata_info, json, TEXT),
    {NULL, FIELD_END, 0}};

static const binding_field loss_fields[] = {
    FIELD(gnomon_loss_info, track, U32),
    FIELD(gnomon_loss_info, kind, TEXT),
    FIELD(gnomon_loss_info, count, U64),
    FIELD(gnomon_loss_info, begin_ns, U64),
    FIELD(gnomon_loss_info, end_ns, U64),
    FIELD(gnomon_loss_info, run, U32),
    {NULL, FIELD_END, 0}};

static const binding_field view_fields[] = {
    FIELD(gnomon_view_info, words, TEXT), {NULL, FIELD_END, 0}};

static const binding_field op_fields[] = {
    FIELD(gnomon_op_info, flags, U32),
    FIELD(gnomon_op_info, operation, TEXT),
    FIELD(gnomon_op_info, inputs, INPUTS),
    FIELD(gnomon_op_info, attributes, ATTRIBUTES),
    FIELD(gnomon_op_info, flops, U64),
    FIELD(gnomon_op_info, bytes, U64),
    {NULL, FIELD_END, 0}};

static const binding_field event_fields[] = {
    FIELD(gnomon_event_info, kind, U32),
    FIELD(gnomon_event_info, track, U32),
    FIELD(gnomon_event_info, node, U32),
    FIELD(gnomon_event_info, region, U32),
    FIELD(gnomon_event_info, begin_ns, U64),
    FIELD(gnomon_event_info, duration_ns, U64),
    FIELD(gnomon_event_info, instance, U64),
    FIELD(gnomon_event_info, value, F64),
    {NULL, FIELD_END, 0}};

static const binding_field step_time_fields[] = {
    FIELD(gnomon_step_time_info, stage, U32),
    FIELD(gnomon_step_time_info, view, U32),
    FIELD(gnomon_step_time_info, step, U32),
    FIELD(gnomon_step_time_info, region, U32),
    FIELD(gnomon_step_time_info, time, STATS),
    FIELD(gnomon_step_time_info, own_ns, U64),
    FIELD(gnomon_step_time_info, calls, U64),
    {NULL, FIELD_END, 0}};

static const binding_field view_time_fields[] = {
    FIELD(gnomon_view_time_info, stage, U32),
    FIELD(gnomon_view_time_info, view, U32),
    FIELD(gnomon_view_time_info, recorded_ns, U64),
    {NULL, FIELD_END, 0}};

const binding_entity binding_entities[] = {
    {"runs", GNOMON_RUNS, run_fields},
    {"stages", GNOMON_STAGES, stage_fields},
    {"steps", GNOMON_STEPS, step_fields},
    {"tracks", GNOMON_TRACKS, track_fields},
    {"regions", GNOMON_REGIONS, region_fields},
    {"nodes", GNOMON_NODES, node_fields},
    {"opens", GNOMON_OPENS, open_fields},
    {"links", GNOMON_LINKS, link_fields},
    {"counters", GNOMON_COUNTERS, counter_fields},
    {"metadata", GNOMON_METADATA, metadata_fields},
    {"losses", GNOMON_LOSSES, loss_fields},
    {"views", GNOMON_VIEWS, view_fields},
    {"ops", GNOMON_OPS, op_fields},
    {"events", GNOMON_EVENTS, event_fields},
    {"step_times", GNOMON_STEP_TIMES, step_time_fields},
    {"view_times", GNOMON_VIEW_TIMES, view_time_fields}};
const size_t binding_entity_count =
    sizeof binding_entities / sizeof *binding_entities;

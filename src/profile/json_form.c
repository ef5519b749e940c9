/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of all structs of a profile, in the order in which they are
 * written. A field that is missing here is lost: test_json_form.c counts them. */
#include "profile/json_form.h"

#include <stddef.h>

static const char *const region_words[] = {
    "scope", "function", "action", "range", "mark",       "counter", "python",
    "api",   "kernel",   "copy",   "set",   "collective", "line",    NULL};
static const char *const track_words[] = {"thread", "stream", "lane", "pool",
                                          NULL};
static const char *const phase_words[] = {"none", "warmup", "record",
                                          "record_and_save", NULL};
static const char *const link_words[] = {"submit", "backward", "launch", NULL};
static const char *const event_words[] = {"execution", "mark", "counter",
                                          "memory", NULL};
static const char *const node_words[] = {"crossed", "range", "other", "partial",
                                         NULL};
static const char *const op_words[] = {"backward", "flops_given", "bytes_given",
                                       NULL};

/* clang-format off: a field a line */
#define FORM(type, s, field, needed, standard, words, of, count) \
    { \
#field, offsetof(s, field), count, GNOMON__JSON_##type, needed, \
            standard, words, of \
    }
#define OWN(type, s, field) FORM(type, s, field, 0, 0, NULL, NULL, 0)
#define NEEDED(type, s, field) FORM(type, s, field, 1, 0, NULL, NULL, 0)
#define ELSE(type, s, field, standard) \
    FORM(type, s, field, 0, standard, NULL, NULL, 0)
#define WORDS(type, s, field, words, standard) \
    FORM(type, s, field, 0, standard, words, NULL, 0)
#define PART(type, s, field, of) FORM(type, s, field, 0, 0, NULL, of, 0)
#define PARTS(s, field, of, count) \
    FORM(OBJECTS, s, field, 0, 0, NULL, of, offsetof(s, count))
#define NUMBERS(type, s, field, count) \
    FORM(type, s, field, 0, 0, NULL, NULL, offsetof(s, count))
#define STRUCT(name, s, fields, entity) \
    { \
        name, fields, sizeof fields / sizeof *fields, sizeof(s), entity \
    }

static const gnomon__json_field stats_keys[] = {
    OWN(U64, gnomon_stats, count),
    OWN(U64, gnomon_stats, total_ns),
    OWN(U64, gnomon_stats, self_ns),
    OWN(U64, gnomon_stats, min_ns),
    OWN(U64, gnomon_stats, max_ns),
    NUMBERS(CELLS, gnomon_stats, cells, cell_count),
};
const gnomon__json_struct gnomon__json_stats =
    STRUCT("statistics", gnomon_stats, stats_keys, -1);

static const gnomon__json_field memory_keys[] = {
    NEEDED(U32, gnomon_memory_stats, pool),
    OWN(U64, gnomon_memory_stats, allocations),
    OWN(U64, gnomon_memory_stats, frees),
    OWN(U64, gnomon_memory_stats, allocated_bytes),
    OWN(U64, gnomon_memory_stats, freed_bytes),
    OWN(I64, gnomon_memory_stats, live_bytes),
    OWN(U64, gnomon_memory_stats, peak_bytes),
};
static const gnomon__json_struct memory_form =
    STRUCT("memory", gnomon_memory_stats, memory_keys, -1);

static const gnomon__json_field work_keys[] = {
    OWN(U64, gnomon_work_stats, flops),
    OWN(U64, gnomon_work_stats, bytes),
};
static const gnomon__json_struct work_form =
    STRUCT("work", gnomon_work_stats, work_keys, -1);

static const gnomon__json_field tensor_keys[] = {
    OWN(TEXT, gnomon_tensor, dtype),
    NUMBERS(DIMS, gnomon_tensor, dims, rank),
    NUMBERS(STRIDES, gnomon_tensor, strides, rank),
};
static const gnomon__json_struct tensor_form =
    STRUCT("inputs", gnomon_tensor, tensor_keys, -1);

static const gnomon__json_field attribute_keys[] = {
    NEEDED(TEXT, gnomon_attribute, key),
    NEEDED(VALUE, gnomon_attribute, json),
};
static const gnomon__json_struct attribute_form =
    STRUCT("attributes", gnomon_attribute, attribute_keys, -1);

static const gnomon__json_field run_keys[] = {
    ELSE(I32, gnomon_run_info, rank, -1),
    ELSE(I32, gnomon_run_info, local_rank, -1),
    ELSE(I32, gnomon_run_info, world_size, -1),
    OWN(ANY_TEXT, gnomon_run_info, job),
    OWN(ANY_TEXT, gnomon_run_info, attempt),
    OWN(ANY_TEXT, gnomon_run_info, uuid),
    OWN(TEXT, gnomon_run_info, host),
    OWN(I64, gnomon_run_info, pid),
    OWN(ANY_TEXT, gnomon_run_info, dir),
    OWN(TEXT, gnomon_run_info, spec),
    OWN(TEXT, gnomon_run_info, clock),
    OWN(U64, gnomon_run_info, zero_unix_ns),
    OWN(U64, gnomon_run_info, clock_error_ns),
    OWN(U64, gnomon_run_info, now_ns),
};
static const gnomon__json_field metadata_keys[] = {
    ELSE(U32, gnomon_metadata_info, run, 1),
    NEEDED(TEXT, gnomon_metadata_info, key),
    NEEDED(VALUE, gnomon_metadata_info, json),
};
static const gnomon__json_field stage_keys[] = {
    ELSE(U32, gnomon_stage_info, run, 1),
    OWN(TEXT, gnomon_stage_info, name),
    OWN(U32, gnomon_stage_info, ordinal),
    OWN(U64, gnomon_stage_info, begin_ns),
    OWN(U64, gnomon_stage_info, end_ns),
    OWN(TRUTH, gnomon_stage_info, ended),
    PART(OBJECT, gnomon_stage_info, steps, &gnomon__json_stats),
};
static const gnomon__json_field step_keys[] = {
    NEEDED(U32, gnomon_step_info, stage),
    OWN(U64, gnomon_step_info, number),
    OWN(U64, gnomon_step_info, begin_ns),
    OWN(U64, gnomon_step_info, end_ns),
    WORDS(WORD, gnomon_step_info, phase, phase_words, GNOMON_PHASE_RECORD),
};
static const gnomon__json_field track_keys[] = {
    ELSE(U32, gnomon_track_info, run, 1),
    WORDS(WORD, gnomon_track_info, kind, track_words, 0),
    OWN(TEXT, gnomon_track_info, name),
    ELSE(I32, gnomon_track_info, device, -1),
    OWN(U32, gnomon_track_info, index),
    OWN(I64, gnomon_track_info, os_id),
    OWN(U32, gnomon_track_info, lives),
    OWN(TRUTH, gnomon_track_info, alive),
    OWN(TRUTH, gnomon_track_info, inexact),
};
static const gnomon__json_field view_keys[] = {
    OWN(TEXT, gnomon_view_info, words),
};
static const gnomon__json_field region_keys[] = {
    WORDS(WORD, gnomon_region_info, kind, region_words, 0),
    NEEDED(TEXT, gnomon_region_info, name),
    OWN(TEXT, gnomon_region_info, category),
    OWN(TEXT, gnomon_region_info, file),
    OWN(U32, gnomon_region_info, line),
    OWN(TEXT, gnomon_region_info, function),
};
static const gnomon__json_field op_keys[] = {
    NEEDED(TEXT, gnomon_op_info, operation),
    WORDS(FLAGS, gnomon_op_info, flags, op_words, 0),
    PARTS(gnomon_op_info, inputs, &tensor_form, input_count),
    PARTS(gnomon_op_info, attributes, &attribute_form, attribute_count),
    OWN(U64, gnomon_op_info, flops),
    OWN(U64, gnomon_op_info, bytes),
};
static const gnomon__json_field node_keys[] = {
    NEEDED(U32, gnomon_node_info, track),
    OWN(U32, gnomon_node_info, stage),
    OWN(U32, gnomon_node_info, view),
    OWN(U32, gnomon_node_info, parent),
    NEEDED(U32, gnomon_node_info, region),
    OWN(U32, gnomon_node_info, op),
    OWN(U32, gnomon_node_info, open),
    WORDS(FLAGS, gnomon_node_info, flags, node_words, 0),
    OWN(U64, gnomon_node_info, first),
    PART(OBJECT, gnomon_node_info, host, &gnomon__json_stats),
    PART(OBJECT, gnomon_node_info, device, &gnomon__json_stats),
    PARTS(gnomon_node_info, memory, &memory_form, memory_count),
    PART(OBJECT, gnomon_node_info, work, &work_form),
};
static const gnomon__json_field open_keys[] = {
    NEEDED(U32, gnomon_open_info, track),
    NEEDED(U32, gnomon_open_info, node),
    OWN(U64, gnomon_open_info, begin_ns),
};
static const gnomon__json_field link_keys[] = {
    WORDS(WORD, gnomon_link_info, kind, link_words, 0),
    NEEDED(U32, gnomon_link_info, from),
    NEEDED(U32, gnomon_link_info, to),
    ELSE(U64, gnomon_link_info, count, 1),
    OWN(U64, gnomon_link_info, from_instance),
    OWN(U64, gnomon_link_info, to_instance),
};
static const gnomon__json_field counter_keys[] = {
    NEEDED(U32, gnomon_counter_info, track),
    OWN(U32, gnomon_counter_info, stage),
    NEEDED(U32, gnomon_counter_info, region),
    NEEDED(U64, gnomon_counter_info, count),
    OWN(DOUBLE, gnomon_counter_info, last),
    OWN(DOUBLE, gnomon_counter_info, min),
    OWN(DOUBLE, gnomon_counter_info, max),
    OWN(DOUBLE, gnomon_counter_info, sum),
};
static const gnomon__json_field event_keys[] = {
    WORDS(WORD, gnomon_event_info, kind, event_words, 0),
    NEEDED(U32, gnomon_event_info, track),
    OWN(U32, gnomon_event_info, node),
    OWN(U32, gnomon_event_info, region),
    OWN(U64, gnomon_event_info, begin_ns),
    OWN(U64, gnomon_event_info, duration_ns),
    OWN(U64, gnomon_event_info, instance),
    OWN(DOUBLE, gnomon_event_info, value),
};
static const gnomon__json_field loss_keys[] = {
    ELSE(U32, gnomon_loss_info, run, 1),  OWN(U32, gnomon_loss_info, track),
    NEEDED(TEXT, gnomon_loss_info, kind), NEEDED(U64, gnomon_loss_info, count),
    OWN(U64, gnomon_loss_info, begin_ns), OWN(U64, gnomon_loss_info, end_ns),
};

const gnomon__json_struct gnomon__json_kinds[GNOMON__JSON_KINDS] = {
    STRUCT("runs", gnomon_run_info, run_keys, GNOMON_RUNS),
    STRUCT("metadata", gnomon_metadata_info, metadata_keys, GNOMON_METADATA),
    STRUCT("stages", gnomon_stage_info, stage_keys, GNOMON_STAGES),
    STRUCT("steps", gnomon_step_info, step_keys, GNOMON_STEPS),
    STRUCT("tracks", gnomon_track_info, track_keys, GNOMON_TRACKS),
    STRUCT("views", gnomon_view_info, view_keys, GNOMON_VIEWS),
    STRUCT("regions", gnomon_region_info, region_keys, GNOMON_REGIONS),
    STRUCT("ops", gnomon_op_info, op_keys, GNOMON_OPS),
    STRUCT("nodes", gnomon_node_info, node_keys, GNOMON_NODES),
    STRUCT("opens", gnomon_open_info, open_keys, GNOMON_OPENS),
    STRUCT("links", gnomon_link_info, link_keys, GNOMON_LINKS),
    STRUCT("counters", gnomon_counter_info, counter_keys, GNOMON_COUNTERS),
    STRUCT("events", gnomon_event_info, event_keys, GNOMON_EVENTS),
    STRUCT("losses", gnomon_loss_info, loss_keys, GNOMON_LOSSES),
};
/* clang-format on */
#undef FORM
#undef OWN
#undef NEEDED
#undef ELSE
#undef WORDS
#undef PART
#undef PARTS
#undef NUMBERS
#undef STRUCT

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of entity.h. Rows of a later release are appended to their table. */
#include "profile/entity.h"

#include <stddef.h>

/* ---- Words ------------------------------------------------------------------ */

enum word_list {
    REGION_WORDS,
    TRACK_WORDS,
    PHASE_WORDS,
    LINK_WORDS,
    EVENT_WORDS,
    NODE_WORDS,
    OP_WORDS
};

static const char *const field_words[][14] = {
    [REGION_WORDS] = {"scope", "function", "action", "range", "mark", "counter",
                      "python", "api", "kernel", "copy", "set", "collective",
                      "line"},
    [TRACK_WORDS] = {"thread", "stream", "lane", "pool"},
    [PHASE_WORDS] = {"none", "warmup", "record", "record_and_save"},
    [LINK_WORDS] = {"submit", "backward", "launch"},
    [EVENT_WORDS] = {"execution", "mark", "counter", "memory"},
    [NODE_WORDS] = {"crossed", "range", "other", "partial", "clock", "part"},
    [OP_WORDS] = {"backward", "flops_given", "bytes_given", "by_definition"},
};

const char *const *gnomon__words(const gnomon__field *f)
{
    return field_words[f->of];
}

/* ---- Rows ------------------------------------------------------------------- */

/* clang-format off */
#define ROW(type, name, of, count_at, rules, standard) \
    {#name, offsetof(S, name), count_at, GNOMON__TYPE_##type, of, rules, \
     sizeof #name - 1, standard}
#define FIELD(type, name, rules) ROW(type, name, 0, 0, rules, 0)
#define ELSE(type, name, rules, standard) ROW(type, name, 0, 0, rules, standard)
#define OF(type, name, of, rules, standard) \
    ROW(type, name, of, 0, rules, standard)
#define PART(name, of) ROW(STRUCT, name, of, 0, 0, 0)
#define PARTS(name, of, count, rules) \
    ROW(STRUCTS, name, of, offsetof(S, count), rules, 0)
#define LIST(type, name, count, rules) \
    ROW(type, name, 0, offsetof(S, count), rules, 0)

#define NEEDED GNOMON__NEEDED
#define OWNED GNOMON__OWNED
#define KEY GNOMON__KEY
#define ADD GNOMON__ADD
#define LEAST GNOMON__LEAST
#define MOST GNOMON__MOST
#define MOMENT GNOMON__MOMENT
#define REGION_OR_POOL 0xff /* gnomon__number_of */

#define S gnomon_stats /* gnomon_stats_add merges them, not rules of fields */
static const gnomon__field stats_fields[] = {
    FIELD(U64, count, 0),
    FIELD(U64, total_ns, 0),
    FIELD(U64, self_ns, 0),
    FIELD(U64, min_ns, 0),
    FIELD(U64, max_ns, 0),
    LIST(CELLS, cells, cell_count, 0),
};
#undef S
#define S gnomon_memory_stats
static const gnomon__field memory_fields[] = {
    OF(NUMBER, pool, GNOMON_TRACKS, NEEDED | KEY, 0),
    FIELD(U64, allocations, ADD),
    FIELD(U64, frees, ADD),
    FIELD(U64, allocated_bytes, ADD),
    FIELD(U64, freed_bytes, ADD),
    FIELD(I64, live_bytes, ADD),
    FIELD(U64, peak_bytes, MOST),
    FIELD(I64, held_bytes, ADD),
    FIELD(U64, at_peak_bytes, MOST),
    FIELD(U64, reserved_bytes, MOST),
    FIELD(U64, failures, ADD),
    FIELD(U64, unknown, ADD),
};
#undef S
#define S gnomon_work_stats
static const gnomon__field work_fields[] = {
    FIELD(U64, flops, ADD),
    FIELD(U64, bytes, ADD),
};
#undef S
#define S gnomon_tensor
static const gnomon__field input_fields[] = {
    FIELD(TEXT, dtype, KEY),
    LIST(DIMS, dims, rank, KEY),
    LIST(STRIDES, strides, rank, KEY),
};
#undef S
#define S gnomon_attribute
static const gnomon__field attribute_fields[] = {
    FIELD(TEXT, key, NEEDED | KEY),
    FIELD(JSON, json, NEEDED | KEY),
};
#undef S
#define S gnomon_clock_anchor
static const gnomon__field anchor_fields[] = {
    FIELD(U64, ns, 0),
    FIELD(U64, unix_ns, 0),
    FIELD(U64, error_ns, 0),
};
#undef S
#define S gnomon_bin
static const gnomon__field bin_fields[] = {
    FIELD(U32, count, 0),
    FIELD(DOUBLE, min, 0),
    FIELD(DOUBLE, max, 0),
    FIELD(DOUBLE, sum, 0),
};
#undef S
#define S gnomon_slow_step
static const gnomon__field slow_fields[] = {
    FIELD(U64, at, 0),
    FIELD(U64, number, 0),
    FIELD(U64, ns, 0),
};
#undef S
#define S gnomon_run_info
static const gnomon__field run_fields[] = {
    FIELD(MAYBE, job, KEY),
    ELSE(I32, rank, KEY, -1),
    FIELD(MAYBE, attempt, KEY),
    FIELD(MAYBE, uuid, KEY),
    ELSE(I32, local_rank, 0, -1),
    ELSE(I32, world_size, 0, -1),
    FIELD(TEXT, host, 0),
    FIELD(I64, pid, 0),
    FIELD(MAYBE, dir, 0),
    FIELD(TEXT, spec, 0),
    FIELD(TEXT, clock, 0),
    FIELD(U64, zero_unix_ns, 0),
    FIELD(U64, clock_error_ns, 0),
    FIELD(U64, now_ns, MOMENT),
    PARTS(anchors, GNOMON__ANCHOR, anchor_count, 0),
    FIELD(DOUBLE, scope_cost_ns, 0),
};
#undef S
#define S gnomon_metadata_info
static const gnomon__field metadata_fields[] = {
    OF(NUMBER, run, GNOMON_RUNS, OWNED | KEY, 1),
    FIELD(TEXT, key, NEEDED | KEY),
    FIELD(JSON, json, NEEDED | MOST),
};
#undef S
#define S gnomon_stage_info
static const gnomon__field stage_fields[] = {
    OF(NUMBER, run, GNOMON_RUNS, OWNED | KEY, 1),
    FIELD(U32, ordinal, KEY),
    FIELD(TEXT, name, KEY),
    FIELD(U64, begin_ns, MOMENT),
    FIELD(U64, end_ns, MOMENT),
    FIELD(TRUTH, ended, 0),
    PART(steps, GNOMON__STATS),
    FIELD(U32, count, MOST),
    FIELD(U64, recorded_ns, MOST),
    FIELD(U64, late, ADD),
};
#undef S
#define S gnomon_step_info
static const gnomon__field step_fields[] = {
    OF(NUMBER, stage, GNOMON_STAGES, NEEDED | KEY, 0),
    FIELD(U64, number, KEY),
    FIELD(U64, begin_ns, KEY | MOMENT), /* numbers restart in each stage and process */
    FIELD(U64, end_ns, MOST | MOMENT),
    OF(WORD, phase, PHASE_WORDS, MOST, GNOMON_PHASE_RECORD),
    ELSE(I32, rank, KEY, -1),
    FIELD(U32, ordinal, KEY),
};
#undef S
#define S gnomon_step_time_info
static const gnomon__field step_time_fields[] = {
    OF(NUMBER, stage, GNOMON_STAGES, NEEDED | KEY, 0),
    OF(NUMBER, view, GNOMON_VIEWS, KEY, 0),
    OF(NUMBER, step, GNOMON_STEPS, KEY, 0),
    OF(NUMBER, region, GNOMON_REGIONS, KEY, 0),
    PART(time, GNOMON__STATS),
    FIELD(U64, own_ns, ADD),
    FIELD(U64, calls, ADD),
};
#undef S
#define S gnomon_view_time_info
static const gnomon__field view_time_fields[] = {
    OF(NUMBER, stage, GNOMON_STAGES, NEEDED | KEY, 0),
    OF(NUMBER, view, GNOMON_VIEWS, NEEDED | KEY, 0),
    FIELD(U64, recorded_ns, ADD),
};
#undef S
#define S gnomon_track_info
static const gnomon__field track_fields[] = {
    OF(NUMBER, run, GNOMON_RUNS, OWNED | KEY, 1),
    OF(WORD, kind, TRACK_WORDS, KEY, 0),
    ELSE(I32, device, KEY, -1),
    FIELD(U32, index, KEY),
    FIELD(TEXT, name, KEY),
    FIELD(I64, os_id, 0),
    FIELD(U32, thread_count, 0),
    FIELD(TRUTH, alive, 0),
    FIELD(TRUTH, inexact, 0),
};
#undef S
#define S gnomon_view_info
static const gnomon__field view_fields[] = {
    FIELD(TEXT, words, KEY),
};
#undef S
#define S gnomon_region_info
static const gnomon__field region_fields[] = {
    OF(WORD, kind, REGION_WORDS, KEY, 0),
    FIELD(TEXT, name, NEEDED | KEY),
    FIELD(TEXT, category, KEY),
    FIELD(TEXT, file, KEY),
    FIELD(U32, line, KEY),
    FIELD(TEXT, function, KEY),
};
#undef S
#define S gnomon_op_info
static const gnomon__field op_fields[] = {
    FIELD(TEXT, operation, NEEDED | KEY),
    OF(FLAGS, flags, OP_WORDS, KEY, 0),
    PARTS(inputs, GNOMON__INPUT, input_count, KEY),
    PARTS(attributes, GNOMON__ATTRIBUTE, attribute_count, KEY),
    FIELD(U64, flops, KEY),
    FIELD(U64, bytes, KEY),
};
#undef S
#define S gnomon_node_info
static const gnomon__field node_fields[] = {
    OF(NUMBER, track, GNOMON_TRACKS, NEEDED | KEY, 0),
    OF(NUMBER, stage, GNOMON_STAGES, KEY, 0),
    OF(NUMBER, view, GNOMON_VIEWS, KEY, 0),
    OF(NUMBER, parent, GNOMON_NODES, KEY, 0),
    OF(NUMBER, region, GNOMON_REGIONS, NEEDED | KEY, 0),
    OF(NUMBER, op, GNOMON_OPS, KEY, 0),
    FIELD(U32, open, 0),
    OF(FLAGS, flags, NODE_WORDS, GNOMON__KEY_RANGE, 0),
    FIELD(U64, first, 0),
    PART(host, GNOMON__STATS),
    PART(device, GNOMON__STATS),
    PARTS(memory, GNOMON__MEMORY, memory_count, 0),
    PART(work, GNOMON__WORK),
};
#undef S
#define S gnomon_open_info
static const gnomon__field open_fields[] = {
    OF(NUMBER, track, GNOMON_TRACKS, NEEDED | KEY, 0),
    OF(NUMBER, node, GNOMON_NODES, NEEDED | KEY, 0),
    FIELD(U64, begin_ns, KEY | MOMENT),
};
#undef S
#define S gnomon_link_info
static const gnomon__field link_fields[] = {
    OF(NUMBER, from, GNOMON_NODES, NEEDED | KEY, 0),
    OF(NUMBER, to, GNOMON_NODES, NEEDED | KEY, 0),
    OF(WORD, kind, LINK_WORDS, KEY, 0),
    ELSE(U64, count, ADD, 1),
    FIELD(U64, from_instance, KEY),
    FIELD(U64, to_instance, KEY),
    FIELD(U64, from_ns, MOST | MOMENT),
    FIELD(U64, to_ns, MOST | MOMENT),
};
#undef S
#define S gnomon_counter_info
static const gnomon__field counter_fields[] = {
    OF(NUMBER, track, GNOMON_TRACKS, NEEDED | KEY, 0),
    OF(NUMBER, region, GNOMON_REGIONS, NEEDED | KEY, 0),
    OF(NUMBER, stage, GNOMON_STAGES, KEY, 0),
    FIELD(U64, count, NEEDED | ADD),
    FIELD(DOUBLE, last, MOST),
    FIELD(DOUBLE, min, LEAST),
    FIELD(DOUBLE, max, MOST),
    FIELD(DOUBLE, sum, ADD),
    FIELD(U64, nans, ADD),
};
#undef S
#define S gnomon_event_info
static const gnomon__field event_fields[] = {
    OF(WORD, kind, EVENT_WORDS, KEY, 0),
    OF(NUMBER, track, GNOMON_TRACKS, NEEDED | KEY, 0),
    OF(NUMBER, node, GNOMON_NODES, KEY, 0),
    OF(NUMBER, region, REGION_OR_POOL, KEY, 0),
    FIELD(U64, begin_ns, KEY | MOMENT),
    FIELD(U64, duration_ns, KEY),
    FIELD(U64, instance, KEY),
    FIELD(DOUBLE, value, KEY),
};
#undef S
#define S gnomon_strip_info
static const gnomon__field strip_fields[] = {
    OF(NUMBER, stage, GNOMON_STAGES, NEEDED | KEY, 0),
    OF(NUMBER, track, GNOMON_TRACKS, KEY, 0),
    OF(NUMBER, region, GNOMON_REGIONS, KEY, 0),
    ELSE(U64, width, 0, 1),
    PARTS(bins, GNOMON__BIN, bin_count, 0),
    PARTS(slow, GNOMON__SLOW, slow_count, 0),
};
#undef S
#define S gnomon_loss_info
static const gnomon__field loss_fields[] = {
    OF(NUMBER, run, GNOMON_RUNS, KEY, 1),
    OF(NUMBER, track, GNOMON_TRACKS, KEY, 0),
    FIELD(TEXT, kind, NEEDED | KEY),
    FIELD(U64, count, NEEDED | ADD),
    FIELD(U64, begin_ns, MOMENT),
    FIELD(U64, end_ns, MOMENT),
};
#undef S
#undef ROW
#undef FIELD
#undef ELSE
#undef OF
#undef PART
#undef PARTS
#undef LIST
#undef NEEDED
#undef OWNED
#undef KEY
#undef ADD
#undef LEAST
#undef MOST
#undef MOMENT
#undef REGION_OR_POOL

/* ---- Structs ---------------------------------------------------------------- */

/* `last`: of the first release's fields in C, and `count` of them in the rows. */
#define FIRST_SIZE(type, last) \
    ((offsetof(type, last) + sizeof(((type *)0)->last) + 7) / 8 * 8)
#define STRUCT(number, name, type, one, many, kind, count, last) \
    [number] = {one, many, kind, sizeof name##_fields / sizeof *name##_fields, \
                count, sizeof(type), FIRST_SIZE(type, last), name##_fields}
#define ENTITY(number, name, one, many, kind, count, last) \
    STRUCT(GNOMON_##number, name, gnomon_##name##_info, one, many, kind, \
           count, last)
#define PART(number, name, type, many, count, last) \
    STRUCT(GNOMON__##number, name, type, #name, many, "", count, last)

const gnomon__struct gnomon__structs[GNOMON__STRUCTS] = {
    ENTITY(RUNS, run, "run", "runs", "RUN ", 15, anchor_count),
    ENTITY(STAGES, stage, "stage", "stages", "STAG", 10, late),
    ENTITY(STEPS, step, "step", "steps", "STEP", 7, reserved),
    ENTITY(TRACKS, track, "track", "tracks", "TRCK", 9, device),
    ENTITY(REGIONS, region, "region", "regions", "REGN", 6, reserved),
    ENTITY(NODES, node, "node", "nodes", "NODE", 13, reserved),
    ENTITY(OPENS, open, "open scope", "opens", "OPEN", 3, begin_ns),
    ENTITY(LINKS, link, "link", "links", "LINK", 6, to_instance),
    ENTITY(COUNTERS, counter, "counter", "counters", "CNTR", 9, nans),
    ENTITY(METADATA, metadata, "metadata", "metadata", "META", 3, json),
    ENTITY(LOSSES, loss, "loss", "losses", "LOSS", 6, reserved),
    ENTITY(VIEWS, view, "view", "views", "VIEW", 1, words),
    ENTITY(OPS, op, "op", "ops", "OP  ", 6, bytes),
    ENTITY(EVENTS, event, "event", "events", "EVNT", 8, value),
    ENTITY(STEP_TIMES, step_time, "time in steps", "step_times", "STIM", 5, time),
    ENTITY(VIEW_TIMES, view_time, "time of a view", "view_times", "VTIM", 3, recorded_ns),
    ENTITY(STRIPS, strip, "strip", "strips", "STRP", 6, slow_count),
    PART(STATS, stats, gnomon_stats, "statistics", 6, cell_count),
    PART(MEMORY, memory, gnomon_memory_stats, "memory", 7, peak_bytes),
    PART(WORK, work, gnomon_work_stats, "work", 2, bytes),
    PART(INPUT, input, gnomon_tensor, "inputs", 3, strides),
    PART(ATTRIBUTE, attribute, gnomon_attribute, "attributes", 2, json),
    PART(ANCHOR, anchor, gnomon_clock_anchor, "anchors", 3, error_ns),
    PART(BIN, bin, gnomon_bin, "bins", 4, sum),
    PART(SLOW, slow, gnomon_slow_step, "slow", 3, ns),
};
#undef FIRST_SIZE
#undef STRUCT
#undef ENTITY
#undef PART
/* clang-format on */

const uint8_t gnomon__file_order[GNOMON__ENTITIES] = {
    GNOMON_REGIONS,  GNOMON_OPS,        GNOMON_VIEWS,      GNOMON_RUNS,
    GNOMON_METADATA, GNOMON_STAGES,     GNOMON_STEPS,      GNOMON_TRACKS,
    GNOMON_NODES,    GNOMON_OPENS,      GNOMON_LINKS,      GNOMON_COUNTERS,
    GNOMON_LOSSES,   GNOMON_STEP_TIMES, GNOMON_VIEW_TIMES, GNOMON_STRIPS,
    GNOMON_EVENTS};

const uint8_t gnomon__json_order[GNOMON__ENTITIES] = {
    GNOMON_RUNS,   GNOMON_METADATA, GNOMON_STAGES,     GNOMON_STEPS,
    GNOMON_TRACKS, GNOMON_VIEWS,    GNOMON_REGIONS,    GNOMON_OPS,
    GNOMON_NODES,  GNOMON_OPENS,    GNOMON_LINKS,      GNOMON_COUNTERS,
    GNOMON_EVENTS, GNOMON_LOSSES,   GNOMON_STEP_TIMES, GNOMON_VIEW_TIMES,
    GNOMON_STRIPS};

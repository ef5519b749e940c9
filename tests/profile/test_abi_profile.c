/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As test_abi.c, for gnomon/profile.h: a line here is
 * added and a SIZE rises, and no other line ever changes.
 * threads: none */
#include "gnomon/profile.h"

#include "abi.h"
#include "test.h"

#if defined(__LP64__)

/* ---- gnomon/profile.h ---------------------------------------------------- */

AT(gnomon_cell, cell, 0);
AT(gnomon_cell, reserved, 4);
AT(gnomon_cell, count, 8);
SIZE(gnomon_cell, 16);

AT(gnomon_stats, struct_size, 0);
AT(gnomon_stats, reserved, 4);
AT(gnomon_stats, count, 8);
AT(gnomon_stats, total_ns, 16);
AT(gnomon_stats, self_ns, 24);
AT(gnomon_stats, min_ns, 32);
AT(gnomon_stats, max_ns, 40);
AT(gnomon_stats, cells, 48);
AT(gnomon_stats, cell_count, 56);
SIZE(gnomon_stats, 64);

AT(gnomon_memory_stats, struct_size, 0);
AT(gnomon_memory_stats, pool, 4);
AT(gnomon_memory_stats, allocations, 8);
AT(gnomon_memory_stats, frees, 16);
AT(gnomon_memory_stats, allocated_bytes, 24);
AT(gnomon_memory_stats, freed_bytes, 32);
AT(gnomon_memory_stats, live_bytes, 40);
AT(gnomon_memory_stats, peak_bytes, 48);
AT(gnomon_memory_stats, held_bytes, 56);
AT(gnomon_memory_stats, at_peak_bytes, 64);
AT(gnomon_memory_stats, reserved_bytes, 72);
AT(gnomon_memory_stats, failures, 80);
AT(gnomon_memory_stats, unknown, 88);
SIZE(gnomon_memory_stats, 96);

AT(gnomon_work_stats, struct_size, 0);
AT(gnomon_work_stats, reserved, 4);
AT(gnomon_work_stats, flops, 8);
AT(gnomon_work_stats, bytes, 16);
SIZE(gnomon_work_stats, 24);

AT(gnomon_clock_anchor, struct_size, 0);
AT(gnomon_clock_anchor, reserved, 4);
AT(gnomon_clock_anchor, ns, 8);
AT(gnomon_clock_anchor, unix_ns, 16);
AT(gnomon_clock_anchor, error_ns, 24);
SIZE(gnomon_clock_anchor, 32);

AT(gnomon_run_info, struct_size, 0);
AT(gnomon_run_info, rank, 4);
AT(gnomon_run_info, local_rank, 8);
AT(gnomon_run_info, world_size, 12);
AT(gnomon_run_info, pid, 16);
AT(gnomon_run_info, host, 24);
AT(gnomon_run_info, dir, 32);
AT(gnomon_run_info, spec, 40);
AT(gnomon_run_info, clock, 48);
AT(gnomon_run_info, zero_unix_ns, 56);
AT(gnomon_run_info, clock_error_ns, 64);
AT(gnomon_run_info, now_ns, 72);
AT(gnomon_run_info, attempt, 80);
AT(gnomon_run_info, job, 88);
AT(gnomon_run_info, uuid, 96);
AT(gnomon_run_info, anchors, 104);
AT(gnomon_run_info, anchor_count, 112);
AT(gnomon_run_info, scope_cost_ns, 120);
SIZE(gnomon_run_info, 128);

AT(gnomon_stage_info, struct_size, 0);
AT(gnomon_stage_info, ordinal, 4);
AT(gnomon_stage_info, name, 8);
AT(gnomon_stage_info, begin_ns, 16);
AT(gnomon_stage_info, end_ns, 24);
AT(gnomon_stage_info, ended, 32);
AT(gnomon_stage_info, run, 36);
AT(gnomon_stage_info, steps, 40);
AT(gnomon_stage_info, count, 48);
AT(gnomon_stage_info, reserved, 52);
AT(gnomon_stage_info, recorded_ns, 56);
AT(gnomon_stage_info, late, 64);
SIZE(gnomon_stage_info, 72);

AT(gnomon_step_info, struct_size, 0);
AT(gnomon_step_info, stage, 4);
AT(gnomon_step_info, number, 8);
AT(gnomon_step_info, begin_ns, 16);
AT(gnomon_step_info, end_ns, 24);
AT(gnomon_step_info, phase, 32);
AT(gnomon_step_info, rank, 36);
AT(gnomon_step_info, ordinal, 40);
AT(gnomon_step_info, reserved, 44);
SIZE(gnomon_step_info, 48);

AT(gnomon_step_time_info, struct_size, 0);
AT(gnomon_step_time_info, stage, 4);
AT(gnomon_step_time_info, view, 8);
AT(gnomon_step_time_info, step, 12);
AT(gnomon_step_time_info, region, 16);
AT(gnomon_step_time_info, reserved, 20);
AT(gnomon_step_time_info, time, 24);
AT(gnomon_step_time_info, own_ns, 32);
AT(gnomon_step_time_info, calls, 40);
SIZE(gnomon_step_time_info, 48);
AT(gnomon_view_time_info, struct_size, 0);
AT(gnomon_view_time_info, stage, 4);
AT(gnomon_view_time_info, view, 8);
AT(gnomon_view_time_info, reserved, 12);
AT(gnomon_view_time_info, recorded_ns, 16);
SIZE(gnomon_view_time_info, 24);

AT(gnomon_bin, struct_size, 0);
AT(gnomon_bin, count, 4);
AT(gnomon_bin, min, 8);
AT(gnomon_bin, max, 16);
AT(gnomon_bin, sum, 24);
SIZE(gnomon_bin, 32);

AT(gnomon_slow_step, struct_size, 0);
AT(gnomon_slow_step, reserved, 4);
AT(gnomon_slow_step, at, 8);
AT(gnomon_slow_step, number, 16);
AT(gnomon_slow_step, ns, 24);
SIZE(gnomon_slow_step, 32);

AT(gnomon_strip_info, struct_size, 0);
AT(gnomon_strip_info, stage, 4);
AT(gnomon_strip_info, track, 8);
AT(gnomon_strip_info, region, 12);
AT(gnomon_strip_info, width, 16);
AT(gnomon_strip_info, bins, 24);
AT(gnomon_strip_info, bin_count, 32);
AT(gnomon_strip_info, slow, 40);
AT(gnomon_strip_info, slow_count, 48);
SIZE(gnomon_strip_info, 56);

AT(gnomon_track_info, struct_size, 0);
AT(gnomon_track_info, kind, 4);
AT(gnomon_track_info, name, 8);
AT(gnomon_track_info, os_id, 16);
AT(gnomon_track_info, index, 24);
AT(gnomon_track_info, thread_count, 28);
AT(gnomon_track_info, alive, 32);
AT(gnomon_track_info, inexact, 36);
AT(gnomon_track_info, run, 40);
AT(gnomon_track_info, device, 44);
SIZE(gnomon_track_info, 48);

AT(gnomon_view_info, struct_size, 0);
AT(gnomon_view_info, reserved, 4);
AT(gnomon_view_info, words, 8);
SIZE(gnomon_view_info, 16);

AT(gnomon_region_info, struct_size, 0);
AT(gnomon_region_info, kind, 4);
AT(gnomon_region_info, name, 8);
AT(gnomon_region_info, category, 16);
AT(gnomon_region_info, file, 24);
AT(gnomon_region_info, function, 32);
AT(gnomon_region_info, line, 40);
AT(gnomon_region_info, reserved, 44);
SIZE(gnomon_region_info, 48);

AT(gnomon_tensor, struct_size, 0);
AT(gnomon_tensor, rank, 4);
AT(gnomon_tensor, dtype, 8);
AT(gnomon_tensor, dims, 16);
AT(gnomon_tensor, strides, 24);
SIZE(gnomon_tensor, 32);

AT(gnomon_attribute, struct_size, 0);
AT(gnomon_attribute, reserved, 4);
AT(gnomon_attribute, key, 8);
AT(gnomon_attribute, json, 16);
SIZE(gnomon_attribute, 24);

AT(gnomon_op_info, struct_size, 0);
AT(gnomon_op_info, flags, 4);
AT(gnomon_op_info, operation, 8);
AT(gnomon_op_info, inputs, 16);
AT(gnomon_op_info, input_count, 24);
AT(gnomon_op_info, attributes, 32);
AT(gnomon_op_info, attribute_count, 40);
AT(gnomon_op_info, flops, 48);
AT(gnomon_op_info, bytes, 56);
SIZE(gnomon_op_info, 64);

AT(gnomon_node_info, struct_size, 0);
AT(gnomon_node_info, track, 4);
AT(gnomon_node_info, stage, 8);
AT(gnomon_node_info, parent, 12);
AT(gnomon_node_info, region, 16);
AT(gnomon_node_info, op, 20);
AT(gnomon_node_info, open, 24);
AT(gnomon_node_info, flags, 28);
AT(gnomon_node_info, first, 32);
AT(gnomon_node_info, host, 40);
AT(gnomon_node_info, device, 48);
AT(gnomon_node_info, memory, 56);
AT(gnomon_node_info, memory_count, 64);
AT(gnomon_node_info, work, 72);
AT(gnomon_node_info, view, 80);
AT(gnomon_node_info, reserved, 84);
SIZE(gnomon_node_info, 88);

AT(gnomon_event_info, struct_size, 0);
AT(gnomon_event_info, kind, 4);
AT(gnomon_event_info, track, 8);
AT(gnomon_event_info, node, 12);
AT(gnomon_event_info, region, 16);
AT(gnomon_event_info, reserved, 20);
AT(gnomon_event_info, begin_ns, 24);
AT(gnomon_event_info, duration_ns, 32);
AT(gnomon_event_info, instance, 40);
AT(gnomon_event_info, value, 48);
SIZE(gnomon_event_info, 56);

AT(gnomon_open_info, struct_size, 0);
AT(gnomon_open_info, track, 4);
AT(gnomon_open_info, node, 8);
AT(gnomon_open_info, reserved, 12);
AT(gnomon_open_info, begin_ns, 16);
SIZE(gnomon_open_info, 24);

AT(gnomon_link_info, struct_size, 0);
AT(gnomon_link_info, from, 4);
AT(gnomon_link_info, to, 8);
AT(gnomon_link_info, kind, 12);
AT(gnomon_link_info, count, 16);
AT(gnomon_link_info, from_instance, 24);
AT(gnomon_link_info, to_instance, 32);
AT(gnomon_link_info, from_ns, 40);
AT(gnomon_link_info, to_ns, 48);
SIZE(gnomon_link_info, 56);

AT(gnomon_counter_info, struct_size, 0);
AT(gnomon_counter_info, track, 4);
AT(gnomon_counter_info, region, 8);
AT(gnomon_counter_info, stage, 12);
AT(gnomon_counter_info, count, 16);
AT(gnomon_counter_info, last, 24);
AT(gnomon_counter_info, min, 32);
AT(gnomon_counter_info, max, 40);
AT(gnomon_counter_info, sum, 48);
AT(gnomon_counter_info, nans, 56);
SIZE(gnomon_counter_info, 64);

AT(gnomon_metadata_info, struct_size, 0);
AT(gnomon_metadata_info, run, 4);
AT(gnomon_metadata_info, key, 8);
AT(gnomon_metadata_info, json, 16);
SIZE(gnomon_metadata_info, 24);

AT(gnomon_loss_info, struct_size, 0);
AT(gnomon_loss_info, track, 4);
AT(gnomon_loss_info, kind, 8);
AT(gnomon_loss_info, count, 16);
AT(gnomon_loss_info, begin_ns, 24);
AT(gnomon_loss_info, end_ns, 32);
AT(gnomon_loss_info, run, 40);
AT(gnomon_loss_info, reserved, 44);
SIZE(gnomon_loss_info, 48);

AT(gnomon_profile_api, struct_size, 0);
AT(gnomon_profile_api, abi, 4);
AT(gnomon_profile_api, count, 8);
AT(gnomon_profile_api, get, 16);
AT(gnomon_profile_api, release, 24);
AT(gnomon_profile_api, get_many, 32);
SIZE(gnomon_profile_api, 40);

AT(gnomon_field_info, struct_size, 0);
AT(gnomon_field_info, type, 4);
AT(gnomon_field_info, name, 8);
AT(gnomon_field_info, unit, 16);
AT(gnomon_field_info, words, 24);
AT(gnomon_field_info, is_flags, 32);
AT(gnomon_field_info, offset, 36);
AT(gnomon_field_info, size, 40);
AT(gnomon_field_info, count_offset, 44);
AT(gnomon_field_info, of, 48);
AT(gnomon_field_info, reserved, 52);
SIZE(gnomon_field_info, 56);

AT(gnomon_profile, api, 0);
SIZE(gnomon_profile, 8);

/* ---- Values -------------------------------------------------------------- */

VALUE(GNOMON_PART_STATS, 100);
VALUE(GNOMON_PART_MEMORY, 101);
VALUE(GNOMON_PART_WORK, 102);
VALUE(GNOMON_PART_INPUT, 103);
VALUE(GNOMON_PART_ATTRIBUTE, 104);
VALUE(GNOMON_PART_ANCHOR, 105);
VALUE(GNOMON_PART_BIN, 106);
VALUE(GNOMON_PART_SLOW, 107);

VALUE(GNOMON_FIELD_U32, 0);
VALUE(GNOMON_FIELD_I32, 1);
VALUE(GNOMON_FIELD_U64, 2);
VALUE(GNOMON_FIELD_I64, 3);
VALUE(GNOMON_FIELD_DOUBLE, 4);
VALUE(GNOMON_FIELD_TEXT, 5);
VALUE(GNOMON_FIELD_STRUCT, 6);
VALUE(GNOMON_FIELD_STRUCTS, 7);
VALUE(GNOMON_FIELD_CELLS, 8);
VALUE(GNOMON_FIELD_SIZES, 9);

VALUE(GNOMON_RUNS, 0);
VALUE(GNOMON_STAGES, 1);
VALUE(GNOMON_STEPS, 2);
VALUE(GNOMON_TRACKS, 3);
VALUE(GNOMON_REGIONS, 4);
VALUE(GNOMON_NODES, 5);
VALUE(GNOMON_OPENS, 6);
VALUE(GNOMON_LINKS, 7);
VALUE(GNOMON_COUNTERS, 8);
VALUE(GNOMON_METADATA, 9);
VALUE(GNOMON_LOSSES, 10);
VALUE(GNOMON_TRACK_THREAD, 0);
VALUE(GNOMON_TRACK_STREAM, 1);
VALUE(GNOMON_TRACK_LANE, 2);
VALUE(GNOMON_TRACK_POOL, 3);
VALUE(GNOMON_PHASE_NONE, 0);
VALUE(GNOMON_PHASE_WARMUP, 1);
VALUE(GNOMON_PHASE_RECORD, 2);
VALUE(GNOMON_PHASE_RECORD_AND_SAVE, 3);
VALUE(GNOMON_VIEWS, 11);
VALUE(GNOMON_OPS, 12);
VALUE(GNOMON_EVENTS, 13);
VALUE(GNOMON_STEP_TIMES, 14);
VALUE(GNOMON_VIEW_TIMES, 15);
VALUE(GNOMON_STRIPS, 16);
VALUE(GNOMON_KIND_PYTHON, 6);
VALUE(GNOMON_KIND_LINE, 12);
VALUE(GNOMON_EVENT_EXECUTION, 0);
VALUE(GNOMON_EVENT_MEMORY, 3);
VALUE(GNOMON_OP_BACKWARD, 1);
VALUE(GNOMON_OP_BYTES_GIVEN, 4);
VALUE(GNOMON_NODE_CROSSED, 1);
VALUE(GNOMON_NODE_RANGE, 2);
VALUE(GNOMON_NODE_OTHER, 4);
VALUE(GNOMON_NODE_PARTIAL, 8);
VALUE(GNOMON_NODE_CLOCK, 16);

#endif

/* An entity that is added is read back equal, whichever side is older;
 * test_next.c tests all of it. */
TEST(entities_of_any_size)
{
    gnomon_builder *b;
    gnomon_profile *p;
    struct {
        gnomon_region_info r;
        uint64_t later;
    } l = {.r = {.name = "r", .line = 7}, .later = 5};
    gnomon_region_info *r = &l.r;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    r->struct_size = sizeof l;
    CHECK_EQ(gnomon_builder_add(b, GNOMON_REGIONS, r), 1);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    r->struct_size = sizeof l;
    CHECK_EQ(p->api->get(p, GNOMON_REGIONS, 1, r), GNOMON_OK);
    CHECK_EQ(r->line, 7);
    CHECK_EQ(l.later, 0);
    r->line = 9;
    r->struct_size = offsetof(gnomon_region_info, line);
    CHECK_EQ(p->api->get(p, GNOMON_REGIONS, 1, r), GNOMON_OK);
    CHECK_STR(r->name, "r");
    CHECK_EQ(r->line, 9);
    gnomon_profile_free(p);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pins the layout of every public struct on LP64, and the values that cross a
 * module's border. Other people's modules have these numbers compiled in: in one
 * generation (GNOMON_ABI) a struct only grows at its end, so a line here is
 * added and a SIZE rises, and no other line ever changes. A line that fails to
 * compile is a break of the ABI, not a test to be adjusted.
 */
#include "gnomon.h"
#include "gnomon/tool.h"

#include "abi.h"
#include "test.h"

#if defined(__LP64__)

/* ---- gnomon.h ------------------------------------------------------------ */

/* Frozen: read by every module that has marks, and by Python in place. */
AT(gnomon_region, mask, 0);
AT(gnomon_region, struct_size, 4);
AT(gnomon_region, abi, 6);
AT(gnomon_region, kind, 7);
AT(gnomon_region, id, 8);
AT(gnomon_region, line, 12);
AT(gnomon_region, name, 16);
AT(gnomon_region, category, 24);
AT(gnomon_region, file, 32);
AT(gnomon_region, function, 40);
AT(gnomon_region, link, 48);
SIZE(gnomon_region, 56);

AT(gnomon_link, word, 0);
SIZE(gnomon_link, 32);

AT(gnomon_setup_options, struct_size, 0);
AT(gnomon_setup_options, has_rank, 4);
AT(gnomon_setup_options, rank, 8);
AT(gnomon_setup_options, local_rank, 12);
AT(gnomon_setup_options, world_size, 16);
AT(gnomon_setup_options, spec, 24);
AT(gnomon_setup_options, dir, 32);
AT(gnomon_setup_options, profilers, 40);
SIZE(gnomon_setup_options, 48);

AT(gnomon_health, struct_size, 0);
AT(gnomon_health, threads, 4);
AT(gnomon_health, mapped_bytes, 8);
AT(gnomon_health, heap_bytes, 16);
AT(gnomon_health, unmatched, 24);
AT(gnomon_health, crossed, 32);
AT(gnomon_health, foreign, 40);
AT(gnomon_health, twice, 48);
AT(gnomon_health, never_started, 56);
AT(gnomon_health, left_open, 64);
AT(gnomon_health, too_deep, 72);
AT(gnomon_health, reentered, 80);
AT(gnomon_health, other_nodes, 88);
AT(gnomon_health, other_names, 96);
AT(gnomon_health, bad_names, 104);
AT(gnomon_health, bad_regions, 112);
AT(gnomon_health, lost_scopes, 120);
AT(gnomon_health, lost_ranges, 128);
AT(gnomon_health, lost_links, 136);
AT(gnomon_health, lost_counters, 144);
AT(gnomon_health, lost_frames, 152);
AT(gnomon_health, bad_stages, 160);
AT(gnomon_health, timers_full, 168);
AT(gnomon_health, timers_captured, 176);
AT(gnomon_health, timers_failed, 184);
AT(gnomon_health, timers_late, 192);
AT(gnomon_health, timers_unended, 200);
AT(gnomon_health, clock_back, 208);
AT(gnomon_health, late_lost, 216);
AT(gnomon_health, activities_lost, 224);
AT(gnomon_health, activities_unlinked, 232);
AT(gnomon_health, activities_late, 240);
AT(gnomon_health, activities_odd, 248);
AT(gnomon_health, bad_ops, 256);
AT(gnomon_health, lost_ops, 264);
AT(gnomon_health, lost_blocks, 272);
SIZE(gnomon_health, 280);

AT(gnomon_open_scope, struct_size, 0);
AT(gnomon_open_scope, name, 8);
AT(gnomon_open_scope, begin_ns, 16);
AT(gnomon_open_scope, token, 24);
SIZE(gnomon_open_scope, 32);

/* ---- gnomon/tool.h: profilers ------------------------------------------ */

AT(gnomon_frame, struct_size, 0);
AT(gnomon_frame, flags, 4);
AT(gnomon_frame, region, 8);
AT(gnomon_frame, name, 16);
AT(gnomon_frame, token, 24);
AT(gnomon_frame, begin_ns, 32);
AT(gnomon_frame, end_ns, 40);
AT(gnomon_frame, thread, 48);
AT(gnomon_frame, reserved, 52);
SIZE(gnomon_frame, 56);

AT(gnomon_options, struct_size, 0);
AT(gnomon_options, reserved, 4);
AT(gnomon_options, text, 8);
AT(gnomon_options, number, 16);
AT(gnomon_options, log, 24);
AT(gnomon_options, region_op, 32);
SIZE(gnomon_options, 40);

AT(gnomon_counter_event, struct_size, 0);
AT(gnomon_counter_event, thread, 4);
AT(gnomon_counter_event, region, 8);
AT(gnomon_counter_event, name, 16);
AT(gnomon_counter_event, value, 24);
AT(gnomon_counter_event, ns, 32);
AT(gnomon_counter_event, step, 40);
SIZE(gnomon_counter_event, 48);

AT(gnomon_mark_event, struct_size, 0);
AT(gnomon_mark_event, thread, 4);
AT(gnomon_mark_event, region, 8);
AT(gnomon_mark_event, name, 16);
AT(gnomon_mark_event, ns, 24);
AT(gnomon_mark_event, step, 32);
SIZE(gnomon_mark_event, 40);

AT(gnomon_step_event, struct_size, 0);
AT(gnomon_step_event, thread, 4);
AT(gnomon_step_event, step, 8);
AT(gnomon_step_event, begin_ns, 16);
AT(gnomon_step_event, end_ns, 24);
SIZE(gnomon_step_event, 32);

AT(gnomon_thread_event, struct_size, 0);
AT(gnomon_thread_event, thread, 4);
AT(gnomon_thread_event, name, 8);
AT(gnomon_thread_event, os_id, 16);
SIZE(gnomon_thread_event, 24);

AT(gnomon_link_event, struct_size, 0);
AT(gnomon_link_event, thread, 4);
AT(gnomon_link_event, kind, 8);
AT(gnomon_link_event, from_thread, 12);
AT(gnomon_link_event, from, 16);
AT(gnomon_link_event, to, 24);
AT(gnomon_link_event, ns, 32);
AT(gnomon_link_event, step, 40);
SIZE(gnomon_link_event, 48);

AT(gnomon_window_event, struct_size, 0);
AT(gnomon_window_event, phase, 4);
AT(gnomon_window_event, step, 8);
SIZE(gnomon_window_event, 16);

AT(gnomon_stream_event, struct_size, 0);
AT(gnomon_stream_event, thread, 4);
AT(gnomon_stream_event, device, 8);
AT(gnomon_stream_event, stream, 16);
AT(gnomon_stream_event, name, 24);
SIZE(gnomon_stream_event, 32);

AT(gnomon_option_info, struct_size, 0);
AT(gnomon_option_info, type, 4);
AT(gnomon_option_info, key, 8);
AT(gnomon_option_info, preset, 16);
AT(gnomon_option_info, help, 24);
SIZE(gnomon_option_info, 32);

AT(gnomon_writer, struct_size, 0);
AT(gnomon_writer, reserved, 4);
AT(gnomon_writer, write, 8);
AT(gnomon_writer, print, 16);
AT(gnomon_writer, context, 24);
AT(gnomon_writer, file, 32);
AT(gnomon_writer, shown, 40);
AT(gnomon_writer, columns, 48);
AT(gnomon_writer, stream, 56);
AT(gnomon_writer, path, 64);
SIZE(gnomon_writer, 72);

/* What profilers fill in. */
AT(gnomon_profiler, struct_size, 0);
AT(gnomon_profiler, abi, 4);
AT(gnomon_profiler, wants, 8);
AT(gnomon_profiler, reserved, 12);
AT(gnomon_profiler, name, 16);
AT(gnomon_profiler, help, 24);
AT(gnomon_profiler, options, 32);
AT(gnomon_profiler, create, 40);
AT(gnomon_profiler, setup, 48);
AT(gnomon_profiler, start, 56);
AT(gnomon_profiler, stop, 64);
AT(gnomon_profiler, step, 72);
AT(gnomon_profiler, counter, 80);
AT(gnomon_profiler, mark, 88);
AT(gnomon_profiler, thread, 96);
AT(gnomon_profiler, summary, 104);
AT(gnomon_profiler, teardown, 112);
AT(gnomon_profiler, destroy, 120);
AT(gnomon_profiler, window, 128);
AT(gnomon_profiler, stream, 136);
AT(gnomon_profiler, link, 144);
AT(gnomon_profiler, events, 152);
SIZE(gnomon_profiler, 160);

/* What plugins and other copies of the library call. */
AT(gnomon_host, struct_size, 0);
AT(gnomon_host, abi, 4);
AT(gnomon_host, version, 8);
AT(gnomon_host, now_ns, 16);
AT(gnomon_host, log, 24);
AT(gnomon_host, allocate, 32);
AT(gnomon_host, release, 40);
AT(gnomon_host, region_get, 48);
AT(gnomon_host, begin, 56);
AT(gnomon_host, end, 64);
AT(gnomon_host, start, 72);
AT(gnomon_host, stop, 80);
AT(gnomon_host, range_begin, 88);
AT(gnomon_host, range_end, 96);
AT(gnomon_host, link_out, 104);
AT(gnomon_host, link_in, 112);
AT(gnomon_host, counter, 120);
AT(gnomon_host, mark, 128);
AT(gnomon_host, step, 136);
AT(gnomon_host, thread_name, 144);
AT(gnomon_host, stage_begin, 152);
AT(gnomon_host, stage_end, 160);
AT(gnomon_host, metadata, 168);
AT(gnomon_host, attach, 176);
AT(gnomon_host, detach, 184);
AT(gnomon_host, snapshot, 192);
AT(gnomon_host, profile_free, 200);
AT(gnomon_host, health, 208);
AT(gnomon_host, error_text, 216);
AT(gnomon_host, touch, 224);
AT(gnomon_host, setup, 232);
AT(gnomon_host, teardown, 240);
AT(gnomon_host, configure, 248);
AT(gnomon_host, spec, 256);
AT(gnomon_host, add_profiler, 264);
AT(gnomon_host, summary, 272);
AT(gnomon_host, profile_check, 280);
AT(gnomon_host, thread_count, 288);
AT(gnomon_host, thread_stack, 296);
AT(gnomon_host, join, 304);
AT(gnomon_host, begin_on, 312);
AT(gnomon_host, end_on, 320);
AT(gnomon_host, stream_name, 328);
AT(gnomon_host, end_alone, 336);
AT(gnomon_host, rows, 344);
AT(gnomon_host, rows_free, 352);
AT(gnomon_host, file_name, 360);
AT(gnomon_host, source_add, 368);
AT(gnomon_host, source_remove, 376);
AT(gnomon_host, device_launched, 384);
AT(gnomon_host, device_put, 392);
AT(gnomon_host, device_lost, 400);
AT(gnomon_host, fail, 408);
AT(gnomon_host, device_wait, 416);
AT(gnomon_host, op_region, 424);
AT(gnomon_host, region_op, 432);
AT(gnomon_host, range_begin_in, 440);
AT(gnomon_host, report, 448);
AT(gnomon_host, entity_fields, 456);
AT(gnomon_host, entity_name, 464);
AT(gnomon_host, memory, 472);
AT(gnomon_host, memory_record, 480);
AT(gnomon_host, is_inside, 488);
SIZE(gnomon_host, 496);

AT(gnomon_memory_recorder, struct_size, 0);
AT(gnomon_memory_recorder, abi, 4);
AT(gnomon_memory_recorder, mark, 8);
AT(gnomon_memory_recorder, begin, 16);
AT(gnomon_memory_recorder, read, 24);
AT(gnomon_memory_recorder, next, 32);
AT(gnomon_memory_recorder, step, 40);
AT(gnomon_memory_recorder, levels, 48);
AT(gnomon_memory_recorder, lost, 56);
SIZE(gnomon_memory_recorder, 64);

/* ---- gnomon/tool.h: devices -------------------------------------------- */

AT(gnomon_device_context, struct_size, 0);
AT(gnomon_device_context, context, 8);
AT(gnomon_device_context, id, 16);
SIZE(gnomon_device_context, 24);

AT(gnomon_device_scope, struct_size, 0);
AT(gnomon_device_scope, timer, 4);
AT(gnomon_device_scope, token, 8);
SIZE(gnomon_device_scope, 16);

AT(gnomon_device, struct_size, 0);
AT(gnomon_device, abi, 4);
AT(gnomon_device, name, 8);
AT(gnomon_device, context_of, 16);
AT(gnomon_device, check, 24);
AT(gnomon_device, event_create, 32);
AT(gnomon_device, event_record, 40);
AT(gnomon_device, enter, 48);
AT(gnomon_device, leave, 56);
AT(gnomon_device, event_done, 64);
AT(gnomon_device, event_elapsed, 72);
AT(gnomon_device, event_destroy, 80);
AT(gnomon_device, stream_create, 88);
AT(gnomon_device, stream_destroy, 96);
AT(gnomon_device, describe, 104);
AT(gnomon_device, identify, 112);
AT(gnomon_device, stream_number, 120);
SIZE(gnomon_device, 128);
AT(gnomon_device_identity, processors, 4);
AT(gnomon_device_identity, memory, 8);
AT(gnomon_device_identity, uuid, 16);
AT(gnomon_device_identity, pci, 64);
SIZE(gnomon_device_identity, 88);

/* ---- gnomon/tool.h: activities ----------------------------------------- */

AT(gnomon_device_work, struct_size, 0);
AT(gnomon_device_work, kind, 4);
AT(gnomon_device_work, flags, 8);
AT(gnomon_device_work, device, 12);
AT(gnomon_device_work, context, 16);
AT(gnomon_device_work, stream, 20);
AT(gnomon_device_work, begin_ns, 24);
AT(gnomon_device_work, end_ns, 32);
AT(gnomon_device_work, correlation, 40);
AT(gnomon_device_work, thread, 48);
AT(gnomon_device_work, graph, 56);
AT(gnomon_device_work, graph_node, 64);
AT(gnomon_device_work, bytes, 72);
AT(gnomon_device_work, name, 80);
AT(gnomon_device_work, grid, 88);
AT(gnomon_device_work, block, 100);
AT(gnomon_device_work, registers, 112);
AT(gnomon_device_work, shared_static, 116);
AT(gnomon_device_work, shared_dynamic, 120);
AT(gnomon_device_work, call, 124);
AT(gnomon_device_work, result, 128);
AT(gnomon_device_work, reserved, 132);
AT(gnomon_device_work, communicator, 136);
AT(gnomon_device_work, entry, 144);
SIZE(gnomon_device_work, 152);

AT(gnomon_device_source, struct_size, 0);
AT(gnomon_device_source, abi, 4);
AT(gnomon_device_source, name, 8);
AT(gnomon_device_source, self, 16);
AT(gnomon_device_source, open, 24);
AT(gnomon_device_source, close, 32);
AT(gnomon_device_source, flush, 40);
SIZE(gnomon_device_source, 48);

/* ---- Values -------------------------------------------------------------- */

SIZE(gnomon_token, 8);
SIZE(gnomon_range, 8);
VALUE(GNOMON_ABI, 2);
VALUE(GNOMON_MASK_UNSEEN, 0x80000000u);

VALUE(GNOMON_OK, 0);
VALUE(GNOMON_EINVAL, -1);
VALUE(GNOMON_ENOMEM, -2);
VALUE(GNOMON_ENOENT, -3);
VALUE(GNOMON_EBUSY, -4);
VALUE(GNOMON_EABI, -5);
VALUE(GNOMON_EIO, -6);
VALUE(GNOMON_EFULL, -7);
VALUE(GNOMON_ESTATE, -8);
VALUE(GNOMON_EPLUGIN, -9);

VALUE(GNOMON_KIND_SCOPE, 0);
VALUE(GNOMON_KIND_FUNCTION, 1);
VALUE(GNOMON_KIND_ACTION, 2);
VALUE(GNOMON_KIND_RANGE, 3);
VALUE(GNOMON_KIND_MARK, 4);
VALUE(GNOMON_KIND_COUNTER, 5);

VALUE(GNOMON_LINK_SUBMIT, 0);
VALUE(GNOMON_LINK_BACKWARD, 1);
VALUE(GNOMON_LINK_LAUNCH, 2);

VALUE(GNOMON_FRAME_ACTION, 1);
VALUE(GNOMON_FRAME_RANGE, 2);
VALUE(GNOMON_FRAME_UNFINISHED, 4);

VALUE(GNOMON_OPTION_BOOL, 0);
VALUE(GNOMON_OPTION_INTEGER, 1);
VALUE(GNOMON_OPTION_BYTES, 2);
VALUE(GNOMON_OPTION_DURATION, 3);
VALUE(GNOMON_OPTION_TEXT, 4);

VALUE(GNOMON_WANT_TREE, 1);
VALUE(GNOMON_WANT_TIMES, 2);
VALUE(GNOMON_WANT_DEVICE, 4);
VALUE(GNOMON_WANT_RUN, 8);
VALUE(GNOMON_WANT_STEPS, 16);

/* What a module holds for a region before anybody saw it, byte by byte. */
TEST(static_region)
{
    const uint32_t line = __LINE__ + 1;
    GNOMON_REGION(region, "name", "category");
    const unsigned char *bytes = (const unsigned char *)&region;
    uint32_t mask;
    uint16_t size;
    const char *name, *category, *function;
    memcpy(&mask, bytes, sizeof mask);
    memcpy(&size, bytes + 4, sizeof size);
    memcpy(&name, bytes + 16, sizeof name);
    memcpy(&category, bytes + 24, sizeof category);
    memcpy(&function, bytes + 40, sizeof function);
    CHECK_EQ(mask, 0x80000000u);
    CHECK_EQ(size, 56);
    CHECK_EQ(bytes[6], 2);
    CHECK_EQ(bytes[7], GNOMON_KIND_SCOPE);
    CHECK_STR(name, "name");
    CHECK_STR(category, "category");
    CHECK_STR(function, __func__);
    CHECK_EQ(region.line, line);
    CHECK_EQ(region.id, 0);
    CHECK(region.link == NULL);
}

/* What plugins export, and the histogram's cells: both are compiled in. */
TEST(entry_and_cells)
{
    CHECK_STR(GNOMON_PLUGIN_ENTRY, "gnomon_plugin_v1");
    CHECK_EQ(gnomon_cell_of(31), 31);
    CHECK_EQ(gnomon_cell_of(32), 32);
    CHECK_EQ(gnomon_cell_of(34), 33);
    CHECK_EQ(gnomon_cell_low(33), 34);
    CHECK_EQ(gnomon_cell_of(UINT64_MAX), 975);
}

#else

TEST(layout)
{
    SKIP("the layout is pinned on LP64");
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports of single executions: the critical path of a step through a worker and a
 * device, and the gaps of tracks; of a profile whose answers are known.
 *
 * links: static
 * threads: none
 * needs: cli */
#include "program.h"

#include "gnomon.h"

#define US 1000u

enum { MAIN = 1, WORKER, STREAM };
enum { LOAD = 1, DECODE, FORWARD, GEMM, SYNC, NODES = SYNC };

static void put(gnomon_builder *b, uint32_t node, uint32_t track,
                uint64_t begin_us, uint64_t end_us)
{
    gnomon_add_event(
        b, &(gnomon_event_info){.track = track,
                                .node = node,
                                .begin_ns = begin_us * US,
                                .duration_ns = (end_us - begin_us) * US,
                                .instance = node});
}

static void put_cause(gnomon_builder *b, uint32_t from, uint32_t to,
                      uint32_t kind)
{
    gnomon_add_link(b, &(gnomon_link_info){.from = from,
                                           .to = to,
                                           .kind = kind,
                                           .count = 1,
                                           .from_instance = from,
                                           .to_instance = to});
}

/* The scope that launched the kernel, as events timed it on the stream. */
static void put_timed(gnomon_builder *b)
{
    const gnomon_cell cell = {gnomon_cell_of(60 * US), 0, 1};
    const gnomon_stats once = {.struct_size = sizeof once,
                               .count = 1,
                               .total_ns = 60 * US,
                               .self_ns = 60 * US,
                               .min_ns = 60 * US,
                               .max_ns = 60 * US,
                               .cells = &cell,
                               .cell_count = 1};
    uint32_t timed =
        gnomon_add_node(b, &(gnomon_node_info){.track = STREAM,
                                               .stage = 1,
                                               .region = FORWARD,
                                               .device = &once,
                                               .flags = GNOMON_NODE_PART});
    put(b, timed, STREAM, 32, 92);
}

/* In a step of 100 us the thread waits for a batch that a worker decodes, then launches
 * a kernel and waits for that. */
static void save_step_with(int has_events, int is_timed)
{
    static const char *const names[] = {"load", "decode", "forward", "gemm",
                                        "sync"};
    static const uint32_t tracks[] = {MAIN, WORKER, MAIN, STREAM, MAIN};
    static const uint64_t at[][2] = {
        {0, 20}, {2, 18}, {30, 50}, {45, 90}, {50, 95}};
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = -1, .now_ns = 200 * US});
    gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = 1, .ordinal = 1, .end_ns = 200 * US, .ended = 1});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .name = "main", .device = -1});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .name = "worker", .device = -1});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1,
                                             .kind = GNOMON_TRACK_STREAM,
                                             .name = "stream 7",
                                             .device = 0});
    gnomon_add_step(b, &(gnomon_step_info){.stage = 1,
                                           .number = 4,
                                           .end_ns = 100 * US,
                                           .phase = GNOMON_PHASE_RECORD,
                                           .rank = -1});
    for (uint32_t i = 0; i < NODES; i++) {
        uint64_t ns = (at[i][1] - at[i][0]) * US;
        const gnomon_cell cell = {gnomon_cell_of(ns), 0, 1};
        const gnomon_stats once = {.struct_size = sizeof once,
                                   .count = 1,
                                   .total_ns = ns,
                                   .self_ns = ns,
                                   .min_ns = ns,
                                   .max_ns = ns,
                                   .cells = &cell,
                                   .cell_count = 1};
        gnomon_add_region(b, &(gnomon_region_info){.name = names[i]});
        gnomon_add_node(
            b, &(gnomon_node_info){.track = tracks[i],
                                   .stage = 1,
                                   .region = i + 1,
                                   .host = i + 1 == GEMM ? NULL : &once,
                                   .device = i + 1 == GEMM ? &once : NULL});
    }
    if (is_timed)
        put_timed(b);
    for (uint32_t i = 0; has_events && i < NODES; i++)
        put(b, i + 1, tracks[i], at[i][0], at[i][1]);
    put_cause(b, DECODE, LOAD, GNOMON_LINK_SUBMIT);
    if (!is_timed)
        put_cause(b, FORWARD, GEMM, GNOMON_LINK_LAUNCH);
    put_cause(b, GEMM, SYNC, GNOMON_LINK_SUBMIT);
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    program_save(p, GNOMON_FORM_FILE, "a.gnomon");
    gnomon_profile_free(p);
}

static void save_step(int has_events)
{
    save_step_with(has_events, 0);
}

TEST(the_critical_path_goes_through_worker_and_device)
{
    NEEDS_PROGRAM;
    NEEDS_PROGRAM;
    save_step(1);
    child_result r = shell("$G report --as critical a.gnomon");
    CHECK_STR(r.err, "");
    CHECK_STR(
        r.out,
        "Critical Path by step\n"
        "\n"
        "Step 4, 100 us\n"
        "  What                  Time      %        At  Thread    State  Link\n"
        "  (nothing marked)  2.000 us   2.00      0 ns  worker    idle\n"
        "  decode            16.00 us  16.00  2.000 us  worker    runs\n"
        "  load              2.000 us   2.00  18.00 us  main      runs   "
        "submit\n"
        "  (nothing marked)  10.00 us  10.00  20.00 us  main      idle\n"
        "  forward           15.00 us  15.00  30.00 us  main      runs\n"
        "  gemm              45.00 us  45.00  45.00 us  stream 7  runs   "
        "launch\n"
        "  sync              5.000 us   5.00  90.00 us  main      runs   "
        "submit\n"
        "  (nothing marked)  5.000 us   5.00  95.00 us  main      idle\n");
}

/* A stream works in its kernels: in the rest of a scope that was timed there it waits. */
TEST(the_critical_path_leaves_out_timed_scopes)
{
    NEEDS_PROGRAM;
    save_step_with(1, 1);
    child_result r = shell("$G report --as critical a.gnomon");
    CHECK_STR(r.err, "");
    CHECK_STR(
        r.out,
        "Critical Path by step\n"
        "\n"
        "Step 4, 100 us\n"
        "  What                  Time      %        At  Thread    State  Link\n"
        "  (nothing marked)  45.00 us  45.00      0 ns  stream 7  idle\n"
        "  gemm              45.00 us  45.00  45.00 us  stream 7  runs\n"
        "  sync              5.000 us   5.00  90.00 us  main      runs   "
        "submit\n"
        "  (nothing marked)  5.000 us   5.00  95.00 us  main      idle\n");
}

TEST(gaps_are_what_no_outermost_scope_fills)
{
    NEEDS_PROGRAM;
    NEEDS_PROGRAM;
    save_step(1);
    child_result r = shell("$G report --as gaps a.gnomon");
    CHECK_STR(r.err, "");
    CHECK_STR(
        r.out,
        "Gaps\n"
        "\n"
        "Thread    Executions      Busy      Idle      %  Gaps   Longest\n"
        "main               3  85.00 us  10.00 us  10.53     1  10.00 us\n"
        "worker             1  16.00 us      0 ns   0.00     0\n"
        "stream 7           1  45.00 us      0 ns   0.00     0\n"
        "\n"
        "The longest\n"
        "\n"
        "Thread        At       Gap  After  Before   Step\n"
        "main    20.00 us  10.00 us  load   forward     4\n");
}

TEST(without_events_they_say_how_to_get_some)
{
    NEEDS_PROGRAM;
    NEEDS_PROGRAM;
    save_step(0);
    for (int i = 0; i < 2; i++) {
        child_result r =
            shell("$G report --as %s a.gnomon 2>&1", i ? "gaps" : "critical");
        CHECK_EQ(times_in(r.out, "GNOMON=trace,file=run.gnomon"), 1);
    }
}

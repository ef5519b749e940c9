/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pages KIND FILE: writes a profile for the tests of the page. KIND is
 *   job    three ranks with steps, events, counters, memory, links and losses; rank 2 is
 *          slower, step 7 slow, and names are what must never be HTML
 *   bare   a tree of one path, and nothing else
 *   large  10^5 paths of as many names, and 10^6 events
 *   long   10^5 steps, a counter and a pool in them, in bins alone
 *   other  as job, but forward takes twice as long, and other's paths are not there */
#include <gnomon/profile.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000u

static gnomon_builder *b;

static uint32_t region(const char *name)
{
    return gnomon_add_region(b, &(gnomon_region_info){.name = name});
}

/* A path with `count` executions of `ns` each. */
static uint32_t path(uint32_t track, uint32_t stage, uint32_t parent,
                     uint32_t of, uint64_t count, uint64_t ns, uint64_t self)
{
    const gnomon_cell cell = {gnomon_cell_of(ns), 0, count};
    const gnomon_stats s = {.struct_size = sizeof s,
                            .count = count,
                            .total_ns = count * ns,
                            .self_ns = self,
                            .min_ns = ns,
                            .max_ns = ns,
                            .cells = &cell,
                            .cell_count = 1};
    return gnomon_add_node(b, &(gnomon_node_info){.track = track,
                                                  .stage = stage,
                                                  .parent = parent,
                                                  .region = of,
                                                  .host = &s});
}

static void event(uint32_t track, uint32_t node, uint64_t begin, uint64_t took)
{
    gnomon_add_event(b, &(gnomon_event_info){.track = track,
                                             .node = node,
                                             .begin_ns = begin,
                                             .duration_ns = took});
}

/* ---- A job ---------------------------------------------------------------------- */

enum { STEPS = 20, SLOW = 7 };

typedef struct job_names {
    uint32_t step, forward, hostile, loss;
} job_names;

static uint64_t step_ns(uint32_t step, int rank)
{
    return (step == SLOW ? 40u : 10u) * MS + (rank == 2 ? 5u * MS : 0);
}

static void steps_of(uint32_t stage, const job_names *n, int rank)
{
    uint64_t begin = 0;
    uint32_t slow = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint32_t number = gnomon_add_step(
            b, &(gnomon_step_info){.stage = stage,
                                   .number = i,
                                   .begin_ns = begin,
                                   .end_ns = begin + step_ns(i, rank),
                                   .phase = GNOMON_PHASE_RECORD,
                                   .rank = -1,
                                   .ordinal = 1});
        slow = i == SLOW ? number : slow;
        begin += step_ns(i, rank);
    }
    static const uint64_t times[] = {10u * MS, 40u * MS, 8u * MS, 36u * MS};
    for (uint32_t k = 0; k < 4; k++) {
        const int is_slow = k & 1;
        const gnomon_cell cell = {gnomon_cell_of(times[k]), 0,
                                  is_slow ? 1 : STEPS};
        const gnomon_stats s = {.struct_size = sizeof s,
                                .count = cell.count,
                                .total_ns = cell.count * times[k],
                                .min_ns = times[k],
                                .max_ns = times[k],
                                .cells = &cell,
                                .cell_count = 1};
        gnomon_add_step_time(
            b, &(gnomon_step_time_info){.stage = stage,
                                        .step = is_slow ? slow : 0,
                                        .region = k < 2 ? n->step : n->forward,
                                        .time = &s,
                                        .own_ns = s.total_ns,
                                        .calls = s.count});
    }
}

static void events_of(uint32_t track, const uint32_t node[3],
                      const job_names *n, int rank)
{
    uint64_t begin = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint64_t took = step_ns(i, rank);
        event(track, node[0], begin, took);
        gnomon_add_event(b, &(gnomon_event_info){.kind = GNOMON_EVENT_COUNTER,
                                                 .track = track,
                                                 .region = n->loss,
                                                 .begin_ns = begin,
                                                 .value = 3.0 / (i + 1)});
        event(track, node[1], begin + MS, took - 2u * MS);
        for (uint32_t k = 0; k < 50; k++)
            event(track, node[2], begin + 2u * MS + k * 1000, 400);
        begin += took;
    }
}

static void rank_of(const job_names *n, int rank, uint64_t forward)
{
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank,
                              .world_size = 3,
                              .pid = 100 + rank,
                              .host = "node",
                              .job = "a <job> & more",
                              .uuid = (const char *[]){"a", "b", "c"}[rank],
                              .zero_unix_ns = 1700000000000000000u,
                              .now_ns = 500u * MS});
    const uint64_t usual = step_ns(0, rank), slow = step_ns(SLOW, rank);
    const gnomon_cell cells[] = {{gnomon_cell_of(usual), 0, STEPS - 1},
                                 {gnomon_cell_of(slow), 0, 1}};
    const gnomon_stats steps = {.struct_size = sizeof steps,
                                .count = STEPS,
                                .total_ns = (STEPS - 1) * usual + slow,
                                .min_ns = usual,
                                .max_ns = slow,
                                .cells = cells,
                                .cell_count = 2};
    const uint32_t stage =
        gnomon_add_stage(b, &(gnomon_stage_info){.ordinal = 1,
                                                 .name = "fit",
                                                 .run = run,
                                                 .end_ns = 500u * MS,
                                                 .steps = &steps,
                                                 .ended = 1});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    const uint64_t inner = 50 * STEPS * 400;
    const uint64_t self = STEPS * 10u * MS - STEPS * forward;
    uint32_t node[3];
    node[0] = path(track, stage, 0, n->step, STEPS, 10u * MS, self);
    node[1] = path(track, stage, node[0], n->forward, STEPS, forward,
                   STEPS * forward - inner);
    node[2] = path(track, stage, node[1], n->hostile, 50 * STEPS, 400, inner);
    gnomon_add_link(
        b, &(gnomon_link_info){.from = node[0], .to = node[2], .count = 5});
    gnomon_add_counter(b, &(gnomon_counter_info){.track = track,
                                                 .region = n->loss,
                                                 .stage = stage,
                                                 .count = STEPS,
                                                 .last = 0.15,
                                                 .min = 0.15,
                                                 .max = 3,
                                                 .sum = 10.8});
    gnomon_add_loss(
        b, &(gnomon_loss_info){
               .run = run, .kind = "events_lost", .track = track, .count = 12});
    steps_of(stage, n, rank);
    events_of(track, node, n, rank);
}

static void job(uint64_t forward)
{
    const job_names n = {
        region("train_step"), region("forward"),
        region("</script><img src=x onerror=\"document.title='bad'\">"),
        gnomon_add_region(b, &(gnomon_region_info){
                                 .name = "loss", .kind = GNOMON_KIND_COUNTER})};
    for (int rank = 0; rank < 3; rank++)
        rank_of(&n, rank, forward);
}

/* ---- A long one ----------------------------------------------------------------- */

enum { LONG = 100000, WIDTH = 128, BINS = (LONG + WIDTH - 1) / WIDTH };

/* Steps take 10 ms, but step 77777, which takes a second. Of all else the values rise. */
static void strip(gnomon_strip_info of, int is_steps)
{
    static gnomon_bin bins[BINS];
    const gnomon_slow_step slow = {.struct_size = sizeof slow,
                                   .at = 77777,
                                   .number = 77777,
                                   .ns = 1000u * MS};
    for (uint32_t i = 0; i < BINS; i++) {
        const uint32_t count = i < BINS - 1 ? WIDTH : LONG - i * WIDTH;
        const double least = is_steps ? 10 * MS : (double)i;
        const double most = is_steps && i == 77777 / WIDTH ? 1000 * MS : least;
        bins[i] = (gnomon_bin){sizeof *bins, count, least, most,
                               least * count + (most - least)};
    }
    of.width = WIDTH;
    of.bins = bins;
    of.bin_count = BINS;
    of.slow = &slow;
    of.slow_count = is_steps ? 1 : 0;
    gnomon_add_strip(b, &of);
}

static void long_run(void)
{
    const gnomon_cell cells[] = {{gnomon_cell_of(10u * MS), 0, LONG - 1},
                                 {gnomon_cell_of(1000u * MS), 0, 1}};
    const gnomon_stats steps = {.struct_size = sizeof steps,
                                .count = LONG,
                                .total_ns =
                                    (LONG - 1) * 10ull * MS + 1000u * MS,
                                .min_ns = 10u * MS,
                                .max_ns = 1000u * MS,
                                .cells = cells,
                                .cell_count = 2};
    const uint32_t run =
        gnomon_add_run(b, &(gnomon_run_info){.rank = -1, .scope_cost_ns = 50});
    const uint32_t stage = gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = run, .end_ns = steps.total_ns, .steps = &steps});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    const uint32_t pool =
        gnomon_add_track(b, &(gnomon_track_info){.run = run,
                                                 .kind = GNOMON_TRACK_POOL,
                                                 .name = "arena",
                                                 .device = -1});
    const uint32_t loss = gnomon_add_region(
        b, &(gnomon_region_info){.name = "loss", .kind = GNOMON_KIND_COUNTER});
    path(track, stage, 0, region("train_step"), LONG, 10u * MS,
         LONG * 10ull * MS);
    gnomon_add_counter(b, &(gnomon_counter_info){.track = track,
                                                 .region = loss,
                                                 .stage = stage,
                                                 .count = LONG,
                                                 .max = BINS - 1,
                                                 .sum = 1});
    strip((gnomon_strip_info){.stage = stage}, 1);
    strip((gnomon_strip_info){.stage = stage, .track = track, .region = loss},
          0);
    strip((gnomon_strip_info){.stage = stage, .track = pool}, 0);
}

/* ---- A large one ---------------------------------------------------------------- */

enum { PATHS = 100000, EVENTS = 1000000 };

static void large(void)
{
    char name[32];
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    for (uint32_t i = 0; i < PATHS; i++) {
        (void)snprintf(name, sizeof name, "layer%u.attention", i);
        path(track, 0, 0, region(name), 1, 1000 + i, 1000 + i);
    }
    uint64_t begin = 0, random = 1;
    for (uint32_t i = 0; i < EVENTS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        event(track, 1 + (uint32_t)(random >> 33) % PATHS, begin,
              1000 + (random >> 40) % 100000);
        begin += 2000 + (random >> 50);
    }
}

int main(int argc, char **argv)
{
    gnomon_profile *p;
    if (argc != 3 || gnomon_builder_create(&b))
        return 2;
    if (strcmp(argv[1], "large") == 0) {
        large();
    } else if (strcmp(argv[1], "long") == 0) {
        long_run();
    } else if (strcmp(argv[1], "bare") == 0) {
        const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = -1});
        path(
            gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1}),
            0, 0, region("alone"), 1, 5000, 5000);
    } else {
        job(strcmp(argv[1], "other") == 0 ? 9u * MS : 8u * MS);
    }
    if (gnomon_builder_finish(b, &p) ||
        gnomon_write_file(p, "gnomon", argv[2])) {
        fprintf(stderr, "%s\n", gnomon_error_text());
        return 1;
    }
    gnomon_profile_free(p);
    return 0;
}

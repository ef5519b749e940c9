/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report steps of a profile that has single executions: what ran when in the slow
 * steps, beside the step of median length.
 *
 * links: static
 * needs: cli */
#include "program.h"
#include "saved_profile.h"

#include "print/step_events.h"

#define MS 1000000u

typedef struct steps_world {
    gnomon_builder *b;
    uint32_t stage, step, loader, compute, kernel, lengths[3], kind;
    uint64_t at;
} steps_world;

static gnomon_stats times_of(gnomon_cell cells[8], const uint64_t *ns, size_t n)
{
    gnomon_stats s = {.struct_size = sizeof s, .count = n, .cells = cells};
    for (size_t i = 0; i < n; i++) { /* ascending, each with a cell */
        cells[i] = (gnomon_cell){gnomon_cell_of(ns[i]), 0, 1};
        s.total_ns += ns[i];
        s.min_ns = i ? s.min_ns : ns[i];
        s.max_ns = ns[i];
    }
    s.self_ns = s.total_ns;
    s.cell_count = n;
    return s;
}

enum { NO_EVENTS, EXECUTIONS, MARKS };

static void put(steps_world *w, uint32_t track, uint32_t node, uint64_t begin,
                uint64_t duration)
{
    gnomon_add_event(w->b, &(gnomon_event_info){.track = track,
                                                .kind = w->kind,
                                                .region = w->kind ? 1 : 0,
                                                .node = node,
                                                .begin_ns = begin,
                                                .duration_ns = duration});
}

static void put_step(steps_world *w, uint64_t number, uint64_t begin,
                     uint64_t ns)
{
    gnomon_add_step(w->b, &(gnomon_step_info){.stage = w->stage,
                                              .number = number,
                                              .begin_ns = begin,
                                              .end_ns = begin + ns,
                                              .phase = GNOMON_PHASE_RECORD,
                                              .rank = -1});
}

/* A stage before, whose steps take 1 ms each. */
static void put_short_steps(steps_world *w, int has_events)
{
    const uint32_t stage = w->stage;
    w->stage = gnomon_add_stage(w->b, &(gnomon_stage_info){.run = 1,
                                                           .ordinal = 1,
                                                           .name = "sanity",
                                                           .end_ns = 5 * MS,
                                                           .ended = 1});
    const uint32_t node = gnomon_add_node(
        w->b, &(gnomon_node_info){.track = 1, .stage = w->stage, .region = 1});
    for (uint32_t i = 0; i < 5; i++) {
        put_step(w, 100 + i, i * MS, MS);
        if (has_events)
            put(w, 1, node, i * MS, MS / 2);
    }
    w->stage = stage;
}

/* Steps of 10, 11 and 40 ms; in the last one the loader takes 30 ms longer. */
static gnomon_profile *three_steps(int has_events)
{
    const uint64_t zero = 5 * MS;
    static const char *const names[] = {"train_step", "loader", "compute",
                                        "copy\n"};
    const uint64_t ns[] = {10 * MS, 11 * MS, 40 * MS};
    gnomon_cell cells[8];
    steps_world w;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&w.b), GNOMON_OK);
    w.kind = has_events == MARKS ? GNOMON_EVENT_MARK : GNOMON_EVENT_EXECUTION;
    gnomon_add_run(w.b, &(gnomon_run_info){.rank = -1});
    const gnomon_stats steps = times_of(cells, ns, 3);
    w.stage = gnomon_add_stage(w.b, &(gnomon_stage_info){.run = 1,
                                                         .ordinal = 2,
                                                         .name = "fit",
                                                         .begin_ns = zero,
                                                         .end_ns = 66 * MS,
                                                         .ended = 1,
                                                         .steps = &steps});
    gnomon_add_track(
        w.b, &(gnomon_track_info){.run = 1, .name = "main", .device = -1});
    gnomon_add_track(
        w.b, &(gnomon_track_info){.run = 1, .name = "worker", .device = -1});
    for (uint32_t i = 0; i < 4; i++) {
        gnomon_add_region(w.b, &(gnomon_region_info){.name = names[i]});
        gnomon_add_node(w.b, &(gnomon_node_info){.track = i == 3 ? 2 : 1,
                                                 .stage = w.stage,
                                                 .parent = i % 3 ? 1 : 0,
                                                 .region = i + 1});
    }
    put_short_steps(&w, has_events);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t at = zero + (i == 0 ? 0 : i == 1 ? 10 * MS : 21 * MS);
        put_step(&w, i, at, ns[i]);
        if (!has_events)
            continue;
        put(&w, 1, 1, at + 1, ns[i] - 2);
        put(&w, 1, 2, at + 2 * MS, i == 2 ? 31 * MS : MS);
        put(&w, 1, 3, at + (i == 2 ? 34 : 4) * MS, 2 * MS);
    }
    if (has_events) /* begins in the slow step, and outlives it */
        put(&w, 2, 4, zero + 51 * MS, 5 * MS);
    if (!CHECK_EQ(gnomon_builder_finish(w.b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

TEST(the_slowest_beside_the_median_step)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = three_steps(EXECUTIONS);
    program_save(p, "gnomon", "a.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G report --as 'steps(limit=1)' a.gnomon");
    CHECK_STR(r.err, "");
    const char *text = strstr(r.out, "Step 2,");
    if (CHECK(text != NULL))
        CHECK_STR(
            text,
            "Step 2, beside step 1 of median length\n"
            "        At        Took     Usually  Path\n"
            "      1 ns       40 ms       11 ms  train_step on main\n"
            "      2 ms       31 ms        1 ms  train_step/loader on main\n"
            "     30 ms        5 ms           0  copy\\n on worker\n");
}

/* A live report's profile has all stages. */
TEST(steps_of_other_stages_are_of_no_interest)
{
    gnomon_profile *p = three_steps(EXECUTIONS);
    gnomon__step_events s;
    CHECK_EQ(gnomon__step_events_make(&s, p, 1), GNOMON_OK);
    CHECK_EQ(s.steps.count, 3);
    CHECK(s.has_median && s.median.number == 1);
    gnomon__step_events_free(&s);
    CHECK_EQ(gnomon__step_events_make(&s, p, 2), GNOMON_OK);
    CHECK_EQ(s.steps.count, 5);
    CHECK(s.has_median && s.median.number == 102);
    gnomon__step_events_free(&s);
    gnomon_profile_free(p);
}

TEST(marks_are_no_executions)
{
    gnomon_profile *p = three_steps(MARKS);
    gnomon__step_events s;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 15);
    CHECK_EQ(gnomon__step_events_make(&s, p, 1), GNOMON_OK);
    CHECK_EQ(s.steps.count, 0);
    CHECK(!s.has_median);
    gnomon__step_events_free(&s);
    gnomon_profile_free(p);
}

TEST(what_a_filter_leaves_out_is_not_listed)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = three_steps(EXECUTIONS);
    program_save(p, "gnomon", "a.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G report --as steps --filter loader a.gnomon");
    CHECK_EQ(r.status, 0);
    const char *text = strstr(r.out, "Step 2,");
    if (CHECK(text != NULL))
        CHECK_STR(text, "Step 2, beside step 1 of median length\n"
                        "        At        Took     Usually  Path\n"
                        "      2 ms       31 ms        1 ms  loader on main\n");
}

TEST(without_events_nothing_is_added)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = three_steps(NO_EVENTS);
    program_save(p, "gnomon", "a.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G report --as steps a.gnomon");
    CHECK(strstr(r.out, "step 2") != NULL);
    CHECK(strstr(r.out, "beside") == NULL);
}

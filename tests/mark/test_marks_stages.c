/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages, steps, metadata, setup and teardown, used well and badly: to
 * which stage marks belong, and what the profile says.
 * links: testing
 * timeout: 300 */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"

#define MOST_NAMES 1023 /* and those without one */

static void scope(const char *name, uint64_t ns)
{
    gnomon_token t =
        gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
    pass(ns);
    gnomon_end(t);
}

static gnomon_stage_info stage_at(const gnomon_profile *p, size_t number)
{
    gnomon_stage_info s;
    CHECK_EQ(gnomon_profile_stage(p, number, &s), GNOMON_OK);
    return s;
}

/* ---- Stages ------------------------------------------------------------------------ */

TEST(a_stage_owns_what_came_before_it)
{
    pass(100);
    attach_probe();
    pass(10);
    scope("early", 5);
    pass(10);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    scope("in", 7);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    pass(50);
    scope("between", 3);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    scope("in", 9);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 1);
    gnomon_stage_info s = stage_at(p, 1);
    CHECK_STR(s.name, "test");
    CHECK_EQ(s.ordinal, 2);
    CHECK_EQ(s.begin_ns, 182);
    CHECK_EQ(s.end_ns, 194);
    CHECK_EQ(s.ended, 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    CHECK_NODE(p, "between", 1, 3, 3);
    CHECK_NODE(p, "in", 1, 9, 9);
    gnomon_profile_free(p);
    p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 2);
    s = stage_at(p, 1);
    CHECK_STR(s.name, "fit");
    CHECK_EQ(s.begin_ns, 110);
    CHECK_EQ(s.end_ns, 132);
    CHECK_EQ(s.ended, 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 4);
    CHECK(node_at(p, 0, 1, "in") != node_at(p, 0, 2, "in"));
    gnomon_profile_free(p);
}

/* Scopes belong to the stage that they began in, their children to theirs. */
TEST(scopes_across_stages)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_token outer =
        gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
    pass(10);
    gnomon_stage_begin("validate"); /* ends fit */
    scope("inner", 4);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    gnomon_node_info n;
    gnomon_profile_node(p, node_at(p, 0, 0, "outer"), &n);
    CHECK_EQ(n.stage, 0);
    CHECK(n.host == NULL);
    CHECK_EQ(n.open, 1);
    gnomon_profile_node(p, node_at(p, 0, 0, "outer>inner"), &n);
    CHECK_EQ(n.stage, 1);
    CHECK_EQ(n.host->total_ns, 4);
    gnomon_profile_free(p);
    gnomon_end(outer);
    gnomon_stage_begin("fit");
    scope("outer", 1);
    p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 2);
    CHECK_EQ(stage_at(p, 1).count, 2); /* one that is over, one that is open */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 3);
    gnomon_profile_node(p, node_at(p, 0, 1, "outer"), &n);
    CHECK_EQ(n.host->count, 2);
    CHECK_EQ(n.host->total_ns, 14 + 1);
    CHECK_EQ(n.host->self_ns, 10 + 1);
    CHECK_EQ(n.host->max_ns, 14);
    gnomon_profile_free(p);
}

TEST(stages_used_badly)
{
    attach_probe();
    CHECK_EQ(gnomon_stage_end(), GNOMON_ESTATE);
    CHECK(*gnomon_error_text());
    CHECK_EQ(gnomon_stage_begin(""), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("one"), GNOMON_OK); /* ends the one before */
    CHECK_EQ(gnomon_stage_begin("two"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_ESTATE);
    scope("after", 1);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 3);
    CHECK_STR(stage_at(p, 1).name, "");
    CHECK_EQ(stage_at(p, 1).count, 2);
    CHECK_EQ(stage_at(p, 1).ordinal, 4);
    CHECK_STR(stage_at(p, 2).name, "one");
    CHECK_STR(stage_at(p, 3).name, "two");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 1);
    gnomon_profile_free(p);
}

/* Ranges and counters begin a stage too: they are marks. */
TEST(any_mark_begins_a_stage)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_stage_end();
    pass(100);
    gnomon_range r =
        gnomon_range_begin(gnomon_region_get("r", NULL, GNOMON_KIND_RANGE));
    pass(10);
    gnomon_range_end(r);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "r", 1, 10, 0);
    CHECK_EQ(stage_at(p, 1).begin_ns, 100);
    CHECK_EQ(stage_at(p, 1).end_ns, 110);
    gnomon_profile_free(p);
    gnomon_stage_begin("test");
    gnomon_stage_end();
    pass(100);
    gnomon_counter(gnomon_region_get("c", NULL, GNOMON_KIND_COUNTER), 1);
    pass(10);
    p = profile_of("probe", 0);
    CHECK_EQ(stage_at(p, 1).begin_ns, 210);
    gnomon_profile_free(p);
}

static void mark_stages(int count)
{
    char name[32];
    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "stage %d", i);
        CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
        scope("a", 2);
        gnomon_step();
        gnomon_step();
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(gnomon_stage_end(), GNOMON_ESTATE);
    }
}

/* Past the limit of names stages are added up under "(other)". */
TEST_ALONE(five_thousand_stages)
{
    uint64_t heap[2];
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        attach_probe();
        gnomon_health before = health_now();
        mark_stages(5000);
        CHECK_HEALTH(before, .bad_stages = 5000 - MOST_NAMES);
        gnomon_profile *p = profile_of("probe", 1);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), MOST_NAMES + 1);
        CHECK_EQ(calls_of(p, "a"), 5000);
        CHECK_STR(stage_at(p, 17).name, "stage 17");
        CHECK_EQ(stage_at(p, 17).steps->count, 2);
        gnomon_stage_info last = stage_at(p, MOST_NAMES + 1);
        CHECK_STR(last.name, "(other)");
        CHECK_EQ(last.count, 5000 - MOST_NAMES);
        CHECK_EQ(last.steps->count, 2 * (5000 - MOST_NAMES));
        CHECK_EQ(last.steps->max_ns, 2);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        heap[round] = health_now().heap_bytes;
    }
    CHECK_EQ(heap[1], heap[0]); /* memory of stages is freed with the run */
}

/* ---- Steps ------------------------------------------------------------------------- */

TEST(steps)
{
    pass(1000);
    attach_probe();
    scope("before", 10);
    gnomon_stage_begin("fit");
    pass(10);
    gnomon_step(); /* the first step began with the stage, not with its first mark */
    pass(5);
    gnomon_step();
    pass(40);
    gnomon_step();
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_stage_info s = stage_at(p, 1);
    CHECK_EQ(s.steps->count, 3);
    CHECK_EQ(s.steps->total_ns, 55);
    CHECK_EQ(s.steps->min_ns, 5);
    CHECK_EQ(s.steps->max_ns, 40);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 3);
    gnomon_step_info step;
    for (size_t i = 1; i <= 3; i++) {
        CHECK_EQ(gnomon_profile_step(p, i, &step), GNOMON_OK);
        CHECK_EQ(step.number, i - 1);
        CHECK_EQ(step.phase, GNOMON_PHASE_RECORD);
        CHECK_EQ(step.begin_ns, i == 1 ? 1010 : i == 2 ? 1020 : 1025);
    }
    CHECK_EQ(step.end_ns, 1065);
    gnomon_profile_free(p);
    gnomon_stage_begin("test");
    p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 0);
    gnomon_profile_free(p);
    p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 3);
    gnomon_profile_free(p);
}

/* A resumed job counts from the framework's number on; statistics and schedules
 * count steps made. */
TEST(steps_with_numbers_of_their_own)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_step_at(5000);
    gnomon_step();
    gnomon_step_at(UINT64_MAX);
    gnomon_step_at(3);
    gnomon_step_at(3);
    static const uint64_t numbers[] = {0, 5000, 5001, UINT64_MAX, 3};
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(stage_at(p, 1).steps->count, 5);
    for (size_t i = 1; i <= 5; i++) {
        gnomon_step_info s;
        CHECK_EQ(gnomon_profile_step(p, i, &s), GNOMON_OK);
        CHECK_EQ(s.number, numbers[i - 1]);
    }
    gnomon_profile_free(p);
}

/* What comes between two steps is of none. */
TEST(a_step_may_begin_anew)
{
    attach_probe();
    pass(7);
    gnomon_stage_begin("fit");
    pass(10);
    {
        GNOMON_SCOPE("sanity check");
    }
    pass(20);
    gnomon_step_begin(4); /* also the first one, after marks */
    pass(100);
    gnomon_step();
    pass(1000);
    gnomon_step_begin(9);
    pass(200);
    gnomon_step();
    pass(300);
    gnomon_step();
    static const uint64_t numbers[] = {4, 9, 10}, took[] = {100, 200, 300};
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(stage_at(p, 1).steps->count, 3);
    CHECK_EQ(stage_at(p, 1).steps->total_ns, 600);
    for (size_t i = 1; i <= 3; i++) {
        gnomon_step_info s;
        CHECK_EQ(gnomon_profile_step(p, i, &s), GNOMON_OK);
        CHECK_EQ(s.number, numbers[i - 1]);
        CHECK_EQ(s.end_ns - s.begin_ns, took[i - 1]);
    }
    gnomon_profile_free(p);
}

/* That of one stage says nothing of the next one's first step. */
TEST(a_step_that_began_anew_ends_with_its_stage)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_step_begin(4);
    pass(100);
    gnomon_stage_begin("test");
    pass(10);
    gnomon_step();
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_step_info s;
    CHECK_EQ(gnomon_profile_step(p, 1, &s), GNOMON_OK);
    CHECK_EQ(s.number, 0);
    CHECK_EQ(s.end_ns - s.begin_ns, 10);
    gnomon_profile_free(p);
}

/* A profile lists the last steps only; their statistics are of all. */
TEST(many_steps)
{
    attach_probe();
    pass(1);
    gnomon_stage_begin("fit");
    for (int i = 0; i < 1000; i++) {
        pass(7);
        gnomon_step();
    }
    gnomon_profile *p = profile_of("probe", 0);
    size_t listed = gnomon_profile_count(p, GNOMON_STEPS);
    CHECK(listed >= 10 && listed < 1000);
    gnomon_step_info s;
    gnomon_profile_step(p, listed, &s);
    CHECK_EQ(s.number, 999);
    gnomon_stage_info stage = stage_at(p, 1);
    CHECK_EQ(stage.steps->count, 1000);
    CHECK_EQ(stage.steps->total_ns, 7000);
    CHECK_EQ(gnomon_quantile_ns(stage.steps, 0.5), 7);
    gnomon_profile_free(p);
}

/* ---- Metadata ------------------------------------------------------------------------ */

static const char *metadata_of(const gnomon_profile *p, const char *key)
{
    static gnomon_metadata_info d;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_METADATA); i++)
        if (!gnomon_profile_metadata(p, i, &d) && strcmp(d.key, key) == 0)
            return d.json;
    return NULL;
}

TEST(metadata)
{
    static const char *const bad[] = {"",    "bare",    "{",     "[1,]",
                                      "\"a", "1 2",     "{a:1}", "nul",
                                      "01",  "\"\xff\""};
    char key[32];
    attach_probe();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(gnomon_metadata("bad", bad[i]), GNOMON_EINVAL);
        CHECK(strstr(gnomon_error_text(), "bad") != NULL);
    }
    CHECK_EQ(gnomon_metadata("model", "{\"layers\": [1, 2.5e3, null]}"), 0);
    CHECK_EQ(gnomon_metadata("lr", "0.1"), GNOMON_OK);
    CHECK_EQ(gnomon_metadata("lr", "0.01"), GNOMON_OK);
    CHECK_EQ(gnomon_metadata("", "true"), GNOMON_OK);
    CHECK_EQ(gnomon_metadata("k\xff", "1"), GNOMON_OK);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "key %d", i);
        CHECK_EQ(gnomon_metadata(key, "12345678901234567890"), GNOMON_OK);
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_METADATA), 104);
    CHECK_STR(metadata_of(p, "lr"), "0.01");
    CHECK_STR(metadata_of(p, "model"), "{\"layers\": [1, 2.5e3, null]}");
    CHECK_STR(metadata_of(p, "key 99"), "12345678901234567890");
    CHECK_STR(metadata_of(p, ""), "true");
    CHECK(metadata_of(p, "bad") == NULL);
    CHECK_EQ(gnomon_metadata("lr", "3"), GNOMON_OK);
    CHECK_STR(metadata_of(p, "lr"), "0.01"); /* a profile does not change */
    gnomon_profile_free(p);
}

/* ---- Setup and teardown ---------------------------------------------------------------- */

TEST(setup_and_teardown_nest_and_repeat)
{
    uint64_t heap = 0, mapped = 0;
    CHECK_EQ(gnomon_teardown(), GNOMON_ESTATE);
    for (int i = 0; i < 1000; i++) {
        gnomon_setup_options o = {.struct_size = sizeof o,
                                  .has_rank = 1,
                                  .rank = 1, /* which prints nothing */
                                  .world_size = 2,
                                  .dir = "/tmp",
                                  .spec = "simple"};
        CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        CHECK_EQ(gnomon_metadata("i", "1"), GNOMON_OK);
        gnomon_stage_begin("fit");
        scope("a", 1);
        gnomon_step();
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        scope("a", 1); /* the outer one goes on */
        gnomon_profile *p = profile_of("simple", 1);
        CHECK_EQ(calls_of(p, "a"), 2);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 1);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        CHECK_EQ(gnomon_begin(gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE)),
                 0);
        CHECK_EQ(gnomon_teardown(), GNOMON_ESTATE);
        if (i == 2) {
            heap = health_now().heap_bytes;
            mapped = health_now().mapped_bytes;
        }
    }
    CHECK_EQ(health_now().heap_bytes, heap);
    CHECK_EQ(health_now().mapped_bytes, mapped);
}

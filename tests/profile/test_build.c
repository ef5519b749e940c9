/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles that a program builds, and the error of each wrong one.
 * links: testing
 * threads: none */
#include "full_profile.h"

#include "platform/memory.h"
#include "profile/model.h"

TEST(everything_can_be_built)
{
    gnomon_profile *p = full_of("01");
    gnomon_node_info node;
    gnomon_op_info op;
    gnomon_event_info event;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 10);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 8);
    gnomon_profile_node(p, 2, &node);
    CHECK(node.host && node.device && node.work && !node.memory);
    CHECK_EQ(node.device->cells[0].count, 7);
    CHECK_EQ(node.work->flops, UINT64_MAX - 1);
    gnomon_profile_node(p, 1, &node);
    CHECK_EQ(node.memory_count, 1);
    CHECK_EQ(node.memory->live_bytes, -2000);
    gnomon_profile_op(p, 1, &op);
    CHECK_EQ(op.input_count, 3);
    CHECK_EQ(gnomon_input_at(&op, 0)->dims[2], INT64_MAX);
    CHECK(gnomon_input_at(&op, 1)->strides == NULL &&
          gnomon_input_at(&op, 2)->dims == NULL);
    CHECK_STR(gnomon_attribute_at(&op, 1)->json,
              "{\"a\": 18446744073709551615}");
    gnomon_profile_event(p, 8, &event);
    CHECK(event.value == -4096);
    gnomon_profile_free(p);
}

TEST(an_empty_profile_is_one)
{
    gnomon_profile *p = full_of("");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 0);
    gnomon_profile_free(p);
}

TEST(there_is_nothing_of_unknown_kinds)
{
    gnomon_profile *p = full_of("01");
    gnomon_node_info node = {.struct_size = sizeof node};
    CHECK_EQ(p->api->get(p, -1, 1, &node), GNOMON_EINVAL);
    CHECK_EQ(p->api->get(p, GNOMON__ENTITIES, 1, &node), GNOMON_EINVAL);
    CHECK_EQ(gnomon_profile_count(p, GNOMON__ENTITIES), 0);
    gnomon_profile_free(p);
}

/* Also where a model has no memory: of a file whose texts are lost, paths
 * without pools ask for none. */
TEST(reserving_nothing_succeeds)
{
    gnomon__model *m = gnomon__model_create();
    const void *room = gnomon__model_room(m, 0);
    CHECK(m->blocks && room);
    gnomon_profile_free(&m->base);
}

/* Equal texts share one copy, invalid UTF-8 is repaired, NULL is "". */
TEST(texts_are_shared_and_repaired)
{
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_region_info r = {.name = "same", .category = "same"}, out[2];
    char wrong[] = "a\xff";
    gnomon_builder_create(&b);
    for (int i = 0; i < 1000; i++)
        gnomon_add_region(b, &r);
    r.name = wrong;
    CHECK_EQ(gnomon_add_region(b, &r), 1001);
    wrong[0] = 'x'; /* ours by then */
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    gnomon_profile_region(p, 1, &out[0]);
    gnomon_profile_region(p, 1000, &out[1]);
    CHECK(out[0].name == out[1].name && out[0].name == out[1].category);
    CHECK_STR(out[0].file, "");
    gnomon_profile_region(p, 1001, &out[0]);
    CHECK_STR(out[0].name, "a\xef\xbf\xbd");
    gnomon_profile_free(p);
}

TEST(the_first_error_stays)
{
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_region_info r = {.name = "r"};
    gnomon_metadata_info data = {.key = "k", .json = "{"};
    gnomon_builder_create(&b);
    CHECK_EQ(gnomon_add_region(b, &r), 1);
    CHECK_EQ(gnomon_add_metadata(b, &data), 0);
    CHECK_EQ(gnomon_add_region(b, &r), 0);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_EINVAL);
    CHECK(p == NULL);
    CHECK_STR(gnomon_error_text(), "entity 1 of kind 9: its value is no JSON");
    gnomon_builder_create(&b);
    CHECK_EQ(gnomon_builder_add(b, 99, &r), 0);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "there is no kind 99 of entities");
    gnomon_builder_create(&b);
    r.struct_size = 0;
    CHECK_EQ(gnomon_builder_add(b, GNOMON_REGIONS, &r), 0);
    CHECK_EQ(gnomon_builder_add(b, GNOMON_REGIONS, NULL), 0);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_EINVAL);
    CHECK_EQ(gnomon_builder_finish(NULL, &p), GNOMON_EINVAL);
    CHECK_EQ(gnomon_builder_add(NULL, GNOMON_REGIONS, &r), 0);
    gnomon_builder_free(NULL);
    gnomon_builder_create(&b);
    gnomon_builder_free(b);
}

/* ---- Lies ------------------------------------------------------------------ */

static struct lie {
    gnomon_run_info run;
    gnomon_track_info track;
    gnomon_track_info pool;
    gnomon_stage_info stage;
    gnomon_step_info step;
    gnomon_region_info region;
    gnomon_memory_stats memory;
    gnomon_stats device;
    gnomon_cell cell;
    gnomon_node_info node;
    gnomon_open_info open;
    gnomon_counter_info counter;
    gnomon_loss_info loss;
    gnomon_metadata_info metadata;
    gnomon_event_info event[2];
} truth = {
    .run = {.rank = -1},
    .track = {.run = 1, .device = -1},
    .pool = {.run = 1, .kind = GNOMON_TRACK_POOL},
    .stage = {.run = 1, .end_ns = 9},
    .step = {.stage = 1, .begin_ns = 3, .end_ns = 4},
    .region = {.name = "r"},
    .memory = {.struct_size = sizeof(gnomon_memory_stats),
               .pool = 2,
               .allocated_bytes = 8,
               .live_bytes = 8},
    .device = {sizeof(gnomon_stats), 0, 1, 5, 5, 5, 5, NULL, 1},
    .cell = {5, 0, 1},
    .node = {.track = 1, .stage = 1, .region = 1, .open = 1},
    .open = {.track = 1, .node = 1},
    .counter = {.track = 1, .region = 1, .stage = 1, .count = 1},
    .loss = {.run = 1, .kind = "k", .count = 1},
    .metadata = {.run = 1, .key = "k", .json = "1"},
    .event =
        {{.track = 1, .node = 1, .begin_ns = 5},
         {.kind = GNOMON_EVENT_MARK, .track = 1, .region = 1, .begin_ns = 6}},
};

static void check_lie(struct lie l, const char *where)
{
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_builder_create(&b);
    l.device.cells = &l.cell;
    l.node.device = &l.device;
    l.node.memory = &l.memory;
    l.node.memory_count = 1;
    gnomon_add_run(b, &l.run);
    gnomon_add_track(b, &l.track);
    gnomon_add_track(b, &l.pool);
    gnomon_add_stage(b, &l.stage);
    gnomon_add_step(b, &l.step);
    gnomon_add_region(b, &l.region);
    gnomon_add_node(b, &l.node);
    gnomon_add_open(b, &l.open);
    gnomon_add_counter(b, &l.counter);
    gnomon_add_loss(b, &l.loss);
    gnomon_add_metadata(b, &l.metadata);
    gnomon_add_event(b, &l.event[0]);
    gnomon_add_event(b, &l.event[1]);
    int code = gnomon_builder_finish(b, &p);
    CHECK_EQ(code, where ? GNOMON_EINVAL : GNOMON_OK);
    if (where &&
        !CHECK(strncmp(gnomon_error_text(), where, strlen(where)) == 0))
        fprintf(stderr, "    %s, not at %s\n", gnomon_error_text(), where);
    gnomon_profile_free(p);
}

#define LIE(member, value, where) \
    do { \
        struct lie l = truth; \
        l.member = value; \
        check_lie(l, where); \
    } while (0)

TEST(each_error_is_named)
{
    check_lie(truth, NULL);
    LIE(pool.run, 0, "track 2: run 0 is not there");
    LIE(cell.cell, gnomon_cell_of(UINT64_MAX), NULL);
    LIE(cell.cell, gnomon_cell_of(UINT64_MAX) + 1,
        "the device's part of node 1: histogram cells");
    LIE(track.run, 2, "track 1: run 2 is not there");
    LIE(stage.run, 0, "stage 1: run 0 is not there");
    LIE(stage.end_ns, 0, NULL);
    LIE(stage.begin_ns, 10, "stage 1: ends");
    LIE(step.stage, 2, "step 1: stage 2 is not there");
    LIE(step.begin_ns, 5, "step 1:");
    LIE(node.track, 3, "node 1: track 3 is not there");
    LIE(node.region, 2, "node 1: region 2 is not there");
    LIE(node.stage, 2, "node 1: stage 2 is not there");
    LIE(node.op, 1, "node 1: op 1 is not there");
    LIE(node.view, 1, "node 1: view 1 is not there");
    LIE(node.parent, 1, "node 1: parent");
    LIE(device.count, 2, "the device's part of node 1:");
    LIE(memory.pool, 1, "node 1: its memory");
    LIE(memory.live_bytes, 7, "node 1: live");
    LIE(memory.peak_bytes, 9, "node 1: live");
    LIE(open.node, 2, "open scope 1: node 2 is not there");
    LIE(open.track, 2, "open scope 1: its node is not open");
    LIE(counter.track, 0, "counter 1: track 0 is not there");
    LIE(counter.region, 2, "counter 1: region 2 is not there");
    LIE(counter.max, -1, "counter 1: min");
    LIE(counter.count, 0, "counter 1: counts nothing");
    LIE(counter.nans, 1, NULL);
    LIE(loss.track, 3, "loss 1: track 3 is not there");
    LIE(loss.run, 2, "loss 1: run 2 is not there");
    LIE(metadata.run, 0, "metadata 1: run 0 is not there");
    LIE(event[0].node, 0, "event 1: names no node");
    LIE(event[0].track, 2, "event 1: its node");
    LIE(event[1].region, 0, "event 2: names no region or pool");
    LIE(event[1].region, 2, "event 2: region 2 is not there");
    LIE(event[1].begin_ns, 4, "event 2: begins");
}

/* NaN samples count, but have no minimum or sum. */
TEST(a_counter_of_no_numbers)
{
    struct lie l = truth;
    l.counter.count = 0;
    l.counter.nans = 3;
    check_lie(l, NULL);
    l.counter.sum = 1;
    check_lie(l, "counter 1: no samples, but values");
    l.counter.sum = 0;
    l.counter.max = 1;
    check_lie(l, "counter 1: no samples, but values");
}

/* The pools of a path are sorted by number. */
TEST(pools_ascend)
{
    for (uint32_t first = 2; first <= 3; first++) {
        const gnomon_memory_stats memory[] = {
            {.struct_size = sizeof *memory, .pool = first},
            {.struct_size = sizeof *memory, .pool = 5 - first}};
        gnomon_builder *b;
        gnomon_profile *p = NULL;
        gnomon_builder_create(&b);
        gnomon_add_run(b, &truth.run);
        gnomon_add_track(b, &truth.track);
        gnomon_add_track(b, &truth.pool);
        gnomon_add_track(b, &truth.pool);
        gnomon_add_region(b, &truth.region);
        gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                               .region = 1,
                                               .memory = memory,
                                               .memory_count = 2});
        CHECK_EQ(gnomon_builder_finish(b, &p),
                 first == 2 ? GNOMON_OK : GNOMON_EINVAL);
        CHECK_STR(gnomon_error_text(),
                  first == 2 ? ""
                             : "node 1: its memory is of no pool of its run, "
                               "or pools do not ascend");
        gnomon_profile_free(p);
    }
}

/* References from run 1 to run 2. */
enum across { NOWHERE, LINK, COUNTER, LOSS, EVENT, MEMORY_EVENT };

static void check_across(enum across what, const char *where)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    uint32_t stage[3], track[3], pool[3], node[3], region;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    region = gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    for (uint32_t i = 1; i <= 2; i++) {
        uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = 1});
        stage[i] = gnomon_add_stage(b, &(gnomon_stage_info){.run = run});
        track[i] = gnomon_add_track(b, &(gnomon_track_info){.run = run});
        pool[i] = gnomon_add_track(
            b, &(gnomon_track_info){.run = run, .kind = GNOMON_TRACK_POOL});
        node[i] = gnomon_add_node(b, &(gnomon_node_info){.track = track[i],
                                                         .stage = stage[i],
                                                         .region = region});
    }
    gnomon_add_link(b, &(gnomon_link_info){.from = node[1],
                                           .to = node[1 + (what == LINK)],
                                           .count = 1});
    gnomon_add_counter(
        b, &(gnomon_counter_info){.track = track[1],
                                  .region = region,
                                  .stage = stage[1 + (what == COUNTER)],
                                  .count = 1});
    gnomon_add_loss(b, &(gnomon_loss_info){.run = 1 + (what == LOSS),
                                           .track = track[1],
                                           .kind = "k",
                                           .count = 1});
    gnomon_add_event(b,
                     &(gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                                          .track = track[1],
                                          .region = region,
                                          .node = node[1 + (what == EVENT)]});
    gnomon_add_event(
        b, &(gnomon_event_info){.kind = GNOMON_EVENT_MEMORY,
                                .track = track[1],
                                .region = pool[1 + (what == MEMORY_EVENT)]});
    CHECK_EQ(gnomon_builder_finish(b, &p), where ? GNOMON_EINVAL : GNOMON_OK);
    if (where &&
        !CHECK(strncmp(gnomon_error_text(), where, strlen(where)) == 0))
        fprintf(stderr, "    %s, not at %s\n", gnomon_error_text(), where);
    gnomon_profile_free(p);
}

TEST(references_to_another_run_are_refused)
{
    check_across(NOWHERE, NULL);
    check_across(LINK, "link 1: to 2 is of another run");
    check_across(COUNTER, "counter 1: stage 2 is of another run");
    check_across(LOSS, "loss 1: track 1 is of another run");
    check_across(EVENT, "event 1: node 2 is of another run");
    check_across(MEMORY_EVENT, "event 2: region 4 is of another run");
}

TEST(an_op_refers_to_existing_entities)
{
    const gnomon_tensor shape = {
        .struct_size = sizeof shape, .dtype = "f32", .rank = 2};
    const gnomon_op_info op = {
        .operation = "mm", .inputs = &shape, .input_count = 1};
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_builder_create(&b);
    CHECK_EQ(gnomon_add_op(b, &op), 0);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "entity 1 of kind 12: a shape without dims");
}

/* A struct behind a pointer has a size too: at least that of the first
 * release. */
TEST(pointed_structs_state_their_size)
{
    gnomon_work_stats work = {.flops = 3};
    gnomon_builder *b;
    gnomon_profile *p;
    for (uint32_t size = 0; size <= sizeof work; size++) {
        work.struct_size = size;
        gnomon_builder_create(&b);
        gnomon_add_run(b, &truth.run);
        gnomon_add_track(b, &truth.track);
        gnomon_add_region(b, &truth.region);
        gnomon_add_node(
            b, &(gnomon_node_info){.track = 1, .region = 1, .work = &work});
        CHECK_EQ(gnomon_builder_finish(b, &p),
                 size < sizeof work ? GNOMON_EINVAL : GNOMON_OK);
        CHECK_STR(gnomon_error_text(), size < sizeof work
                                           ? "entity 1 of kind 5: a part's "
                                             "struct_size is not set"
                                           : "");
        gnomon_profile_free(p);
    }
}

/* ---- Without memory ------------------------------------------------------------ */

TEST(each_allocation_may_fail)
{
    uint64_t before = gnomon__heap_bytes();
    int failed = 1;
    for (uint32_t n = 1; failed && n < 1000; n++) {
        gnomon_builder *b;
        gnomon_profile *p = NULL;
        gnomon__test_fail_allocation(n);
        int code = gnomon_builder_create(&b);
        for (int i = 0; !code && i < 300; i++) {
            char name[16];
            snprintf(name, sizeof name, "%d", i);
            const gnomon_region_info r = {.name = name};
            gnomon_add_region(b, &r);
        }
        if (!code) {
            full_op(b);
            code = gnomon_builder_finish(b, &p);
        }
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
        CHECK(!code == (p != NULL));
        gnomon_profile_free(p);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    CHECK(!failed);
}

/* Missing memory is an error, never an absent entity. */
TEST(each_piece_may_lack_memory)
{
    uint64_t before = gnomon__heap_bytes();
    for (size_t pad = FULL_PAD_FROM; pad < FULL_PAD_TO; pad += FULL_PAD_STEP) {
        int failed = 1;
        for (uint32_t n = 1; failed && n < 100; n++) {
            gnomon_builder *b;
            gnomon_profile *p = NULL;
            gnomon__test_fail_allocation(n);
            int code = gnomon_builder_create(&b);
            if (!code) {
                full_add(b, "1", full_pad(pad));
                code = gnomon_builder_finish(b, &p);
            }
            failed = gnomon__test_allocations() >= n;
            gnomon__test_fail_allocation(0);
            CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
            gnomon_profile_free(p);
        }
        CHECK(!failed);
    }
    CHECK_EQ(gnomon__heap_bytes(), before);
}

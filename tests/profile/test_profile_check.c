/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checker of profiles finds each error: a valid profile is read through
 * readers that change one field of one entity, and the checker must name
 * that entity.
 *
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"

/* ---- Readers with one wrong field ---------------------------------------- */

typedef struct liar {
    gnomon_profile base; /* first */
    const gnomon_profile *truth;
    int entity;
    size_t number;
    void (*lie)(void *info);
} liar;

static gnomon_stats false_stats;
static gnomon_cell false_cells[64];

static size_t lying_count(const gnomon_profile *profile, int entity)
{
    const liar *l = (const liar *)(const void *)profile;
    return gnomon_profile_count(l->truth, entity);
}

static int lying_get(const gnomon_profile *profile, int entity, size_t number,
                     void *info)
{
    const liar *l = (const liar *)(const void *)profile;
    int code = l->truth->api->get(l->truth, entity, number, info);
    if (entity == l->entity && number == l->number && l->lie)
        l->lie(info);
    return code;
}

static const gnomon_profile_api lying_api = {
    .struct_size = sizeof lying_api,
    .abi = GNOMON_ABI,
    .count = lying_count,
    .get = lying_get,
};

/* Statistics may be changed only as a copy. */
static gnomon_stats *false_copy(const gnomon_stats **of)
{
    false_stats = **of;
    memcpy(false_cells, (*of)->cells, (*of)->cell_count * sizeof *false_cells);
    false_stats.cells = false_cells;
    *of = &false_stats;
    return &false_stats;
}

/* ---- The wrong fields ---------------------------------------------------- */

#define NODE_LIE(name, change) \
    static void lie_##name(void *info) \
    { \
        gnomon_node_info *n = info; \
        change; \
    }
#define STATS_LIE(name, change) \
    static void lie_##name(void *info) \
    { \
        gnomon_stats *s = false_copy(&((gnomon_node_info *)info)->host); \
        (void)s; \
        change; \
    }

NODE_LIE(track_0, n->track = 0)
NODE_LIE(track_99, n->track = 99)
NODE_LIE(region_0, n->region = 0)
NODE_LIE(region_99, n->region = 99)
NODE_LIE(stage_99, n->stage = 99)
NODE_LIE(own_parent, n->parent = 2)
NODE_LIE(later_parent, n->parent = 3)
NODE_LIE(parent_elsewhere, n->parent = 1)
NODE_LIE(part_on_a_thread, n->flags |= GNOMON_NODE_PART)
NODE_LIE(closed, n->open = 0)
STATS_LIE(no_size, s->struct_size = 0)
STATS_LIE(more_calls, s->count++)
STATS_LIE(fewer_calls, s->count--)
STATS_LIE(more_total, s->total_ns++)
STATS_LIE(less_total, s->total_ns--)
STATS_LIE(more_self, s->self_ns++)
STATS_LIE(less_self, s->self_ns--)
STATS_LIE(high_min, s->min_ns = s->max_ns + 1)
STATS_LIE(low_max, s->max_ns = s->min_ns - 1)
STATS_LIE(max_over_total, s->max_ns = s->total_ns + 1)
STATS_LIE(more_in_a_cell, false_cells[0].count++)
STATS_LIE(an_empty_cell, false_cells[0].count = 0)
STATS_LIE(a_cell_is_missing, s->cell_count--)
STATS_LIE(cells_descend, false_cells[1].cell = false_cells[0].cell)

/* One that never ended: it has no cell. */
STATS_LIE(time_of_no_calls, s->total_ns = 1)

static void lie_open_node_0(void *info)
{
    ((gnomon_open_info *)info)->node = 0;
}
static void lie_open_node_1(void *info)
{
    ((gnomon_open_info *)info)->node = 1;
}
static void lie_open_node_99(void *info)
{
    ((gnomon_open_info *)info)->node = 99;
}
static void lie_link_from(void *info)
{
    ((gnomon_link_info *)info)->from = 0;
}
static void lie_link_to(void *info)
{
    ((gnomon_link_info *)info)->to = 99;
}
static void lie_link_count(void *info)
{
    ((gnomon_link_info *)info)->count = 0;
}
static void lie_counter_count(void *info)
{
    ((gnomon_counter_info *)info)->count = 0;
}
static void lie_counter_min(void *info)
{
    gnomon_counter_info *c = info;
    c->min = c->max + 1;
}
static void lie_stage_end(void *info)
{
    gnomon_stage_info *s = info;
    s->end_ns = s->begin_ns - 1;
}
static void lie_stage_steps(void *info)
{
    false_copy(&((gnomon_stage_info *)info)->steps)->count++;
}
static void lie_stage_step_max(void *info)
{
    gnomon_stats *s = false_copy(&((gnomon_stage_info *)info)->steps);
    s->max_ns = s->total_ns + 1;
}

#define WRONG(entity, number, name, expected) \
    { \
        GNOMON_##entity, number, lie_##name, #name, expected \
    }

/* Nodes of the profile below: 1 is outer, 2 outer>inner, 3 outer>inner>leaf,
 * 4 the other thread's. Entities with an open scope use 4. */
static const struct {
    int entity;
    size_t number;
    void (*lie)(void *info);
    const char *name, *expected; /* a part of the message */
} lies[] = {
    WRONG(NODES, 2, track_0, "node 2"),
    WRONG(NODES, 2, track_99, "node 2"),
    WRONG(NODES, 2, region_0, "node 2"),
    WRONG(NODES, 2, region_99, "node 2"),
    WRONG(NODES, 2, stage_99, "node 2"),
    WRONG(NODES, 2, own_parent, "node 2"),
    WRONG(NODES, 2, later_parent, "node 2"),
    WRONG(NODES, 4, parent_elsewhere, "node 4"),
    WRONG(NODES, 2, part_on_a_thread, "node 2: a part of a scope"),
    WRONG(NODES, 2, no_size, "node 2: the struct_size of its host is not set"),
    WRONG(NODES, 2, more_calls, "node 2"),
    WRONG(NODES, 2, fewer_calls, "node 2"),
    WRONG(NODES, 1, more_total, "node 1 (outer)"),
    WRONG(NODES, 1, less_total, "node 1 (outer)"),
    WRONG(NODES, 3, more_total, "node 3 (leaf)"),
    WRONG(NODES, 2, more_self, "node 2 (inner)"),
    WRONG(NODES, 2, less_self, "node 2 (inner)"),
    WRONG(NODES, 4, more_self, "node 4 (open)"),
    WRONG(NODES, 2, high_min, "node 2"),
    WRONG(NODES, 2, low_max, "node 2"),
    WRONG(NODES, 2, max_over_total, "node 2"),
    WRONG(NODES, 2, more_in_a_cell, "node 2"),
    WRONG(NODES, 2, an_empty_cell, "node 2"),
    WRONG(NODES, 2, a_cell_is_missing, "node 2"),
    WRONG(NODES, 2, cells_descend, "node 2"),
    WRONG(NODES, 4, closed, "open scope 1"),
    WRONG(NODES, 4, time_of_no_calls, "node 4: no executions, but times"),
    WRONG(OPENS, 1, open_node_0, "open scope 1"),
    WRONG(OPENS, 1, open_node_1, "open scope 1"),
    WRONG(OPENS, 1, open_node_99, "open scope 1"),
    WRONG(LINKS, 1, link_from, "link 1"),
    WRONG(LINKS, 1, link_to, "link 1"),
    WRONG(LINKS, 1, link_count, "link 1"),
    WRONG(COUNTERS, 1, counter_count, "counter 1"),
    WRONG(COUNTERS, 1, counter_min, "counter 1"),
    WRONG(STAGES, 1, stage_end, "stage 1"),
    WRONG(STAGES, 1, stage_steps, "stage 1"),
    WRONG(STAGES, 1, stage_step_max, "stage 1"),
};

/* ---- The tests ----------------------------------------------------------- */

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

static void *other_thread(void *link)
{
    gnomon_token t = gnomon_begin(region("open"));
    gnomon_link_in(link, GNOMON_LINK_SUBMIT);
    pass(5);
    gnomon_end(t);
    return NULL;
}

static void record_the_truth(void)
{
    gnomon_link link = {{0}};
    pass(100);
    attach_probe();
    gnomon_stage_begin("fit");
    for (uint64_t i = 1; i <= 4; i++) {
        gnomon_token a = gnomon_begin(region("outer"));
        pass(10 * i);
        gnomon_token b = gnomon_begin(region("inner"));
        link = gnomon_link_out();
        pass(100 * i);
        gnomon_token c = gnomon_begin(region("leaf"));
        pass(1000 * i);
        gnomon_end(c);
        gnomon_end(b);
        gnomon_end(a);
        gnomon_step();
    }
    gnomon_counter(region("counter"), 1);
    on_thread(other_thread, &link);
}

TEST(each_error_is_named)
{
    record_the_truth();
    gnomon_profile *clean = profile_of("probe", 1); /* nothing is open */
    gnomon_begin(region("still open"));
    gnomon_profile *p = profile_of("probe", 1);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        int wants_open = lies[i].entity == GNOMON_OPENS ||
                         lies[i].lie == lie_closed ||
                         lies[i].lie == lie_time_of_no_calls;
        liar l = {{&lying_api},
                  wants_open ? p : clean,
                  lies[i].entity,
                  lies[i].number,
                  lies[i].lie};
        int code = gnomon_profile_check(&l.base);
        if (!CHECK_EQ(code, GNOMON_EINVAL) ||
            !CHECK(strstr(gnomon_error_text(), lies[i].expected) != NULL))
            fprintf(stderr, "    %s: %s\n", lies[i].name, gnomon_error_text());
        l.lie = NULL;
        CHECK_EQ(gnomon_profile_check(&l.base), GNOMON_OK);
        CHECK_STR(gnomon_error_text(), "");
    }
    gnomon_profile_free(p);
    gnomon_profile_free(clean);
}

/* Where the clock stepped back, a time is not the sum of its parts. */
static void lie_clock(void *info)
{
    gnomon_node_info *n = info;
    false_copy(&n->host)->total_ns += 5;
    n->flags |= GNOMON_NODE_CLOCK;
}

TEST(a_clock_that_stepped_back_is_no_error)
{
    record_the_truth();
    gnomon_profile *p = profile_of("probe", 1);
    liar l = {{&lying_api}, p, GNOMON_NODES, 1, lie_clock};
    CHECK_EQ(gnomon_profile_check(&l.base), GNOMON_OK);
    gnomon_profile_free(p);
}

/* The self times of a track are the time in which one of its scopes was
 * open: two errors that cancel in each node still show. */
static void lie_hide_a_root(void *info)
{
    ((gnomon_node_info *)info)->flags |= GNOMON_NODE_RANGE;
}

TEST(the_sum_of_a_track_is_checked)
{
    record_the_truth();
    gnomon_profile *p = profile_of("probe", 1);
    liar l = {{&lying_api}, p, GNOMON_NODES, 1, lie_hide_a_root};
    CHECK_EQ(gnomon_profile_check(&l.base), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "track 1") != NULL);
    gnomon_profile_free(p);
}

/* A path without times may lead to nodes with some, as on a lane of calls: the outermost
 * of these are the track's sum. */
static int build_calls(uint32_t flags)
{
    const gnomon_cell cells[] = {{gnomon_cell_of(100), 0, 1},
                                 {gnomon_cell_of(40), 0, 1}};
    const gnomon_stats outer = {sizeof outer, 0,   1,     100, 60,
                                100,          100, cells, 1};
    const gnomon_stats inner = {sizeof inner, 0,  1,         40, 40,
                                40,           40, cells + 1, 1};
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    gnomon_builder_create(&b);
    gnomon_add_run(b, &(gnomon_run_info){.rank = -1});
    gnomon_add_track(b, &(gnomon_track_info){
                            .run = 1, .kind = GNOMON_TRACK_LANE, .device = -1});
    gnomon_add_region(b, &(gnomon_region_info){.name = "call"});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1, .region = 1});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                           .region = 1,
                                           .parent = 1,
                                           .flags = flags,
                                           .host = &outer});
    gnomon_add_node(b,
                    &(gnomon_node_info){
                        .track = 1, .region = 1, .parent = 2, .host = &inner});
    int code = gnomon_builder_finish(b, &p);
    gnomon_profile_free(p);
    return code;
}

TEST(paths_without_times_lead_to_calls)
{
    CHECK_EQ(build_calls(0), GNOMON_OK);
    CHECK_EQ(build_calls(GNOMON_NODE_RANGE), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "track 1") != NULL);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile contains: readers of structs of any size, open scopes, one
 * stage by itself, and views that show only their own scopes.
 *
 * links: testing
 * threads: none */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "run/run.h"

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

static void scope(const char *name, uint64_t ns)
{
    gnomon_token t = gnomon_begin(region(name));
    pass(ns);
    gnomon_end(t);
}

/* ---- Readers ------------------------------------------------------------------------ */

/* A profile with one of everything. */
static gnomon_profile *rich_profile(void)
{
    static int done;
    if (!done++) {
        attach_probe();
        pass(5);
        gnomon_stage_begin("fit");
        gnomon_metadata("key", "[1]");
        gnomon_token a = gnomon_begin(region("a"));
        gnomon_link link = gnomon_link_out();
        pass(10);
        gnomon_token b =
            gnomon_begin(gnomon_region_get("b", "c", GNOMON_KIND_SCOPE));
        gnomon_link_in(&link, GNOMON_LINK_LAUNCH);
        pass(20);
        gnomon_end(b);
        gnomon_counter(region("counter"), 1.5);
        gnomon_end(a);
        gnomon_end(a); /* a loss */
        gnomon_step();
        gnomon_begin(region("open"));
    }
    return profile_of("probe", 0);
}

static const struct {
    int entity;
    uint32_t size;
} kinds[] = {
    {GNOMON_RUNS, sizeof(gnomon_run_info)},
    {GNOMON_STAGES, sizeof(gnomon_stage_info)},
    {GNOMON_STEPS, sizeof(gnomon_step_info)},
    {GNOMON_TRACKS, sizeof(gnomon_track_info)},
    {GNOMON_REGIONS, sizeof(gnomon_region_info)},
    {GNOMON_NODES, sizeof(gnomon_node_info)},
    {GNOMON_OPENS, sizeof(gnomon_open_info)},
    {GNOMON_LINKS, sizeof(gnomon_link_info)},
    {GNOMON_COUNTERS, sizeof(gnomon_counter_info)},
    {GNOMON_METADATA, sizeof(gnomon_metadata_info)},
    {GNOMON_LOSSES, sizeof(gnomon_loss_info)},
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef union any_info {
    uint32_t struct_size;
    uint64_t aligned;
    char bytes[512];
} any_info;

TEST(readers_of_structs_of_any_size)
{
    gnomon_profile *p = rich_profile();
    for (size_t k = 0; k < KINDS; k++) {
        any_info whole, other;
        CHECK(gnomon_profile_count(p, kinds[k].entity) > 0);
        whole.struct_size = kinds[k].size;
        CHECK_EQ(p->api->get(p, kinds[k].entity, 1, &whole), GNOMON_OK);
        for (uint32_t size = 4; size <= 512; size += 4) {
            memset(&other, 0x5a, sizeof other);
            other.struct_size = size;
            CHECK_EQ(p->api->get(p, kinds[k].entity, 1, &other), GNOMON_OK);
            CHECK_EQ(other.struct_size, size);
            uint32_t both = size < kinds[k].size ? size : kinds[k].size;
            CHECK(memcmp(other.bytes + 4, whole.bytes + 4, both - 4) == 0);
            for (uint32_t i = both; i < sizeof other; i++)
                CHECK_EQ(other.bytes[i], i < size ? 0 : 0x5a);
        }
    }
    gnomon_profile_free(p);
}

TEST(readers_of_many_structs_of_any_size)
{
    gnomon_profile *p = rich_profile();
    for (size_t k = 0; k < KINDS; k++)
        for (uint32_t size = 4; size <= 128; size += 4) {
            char many[4 * 128 + 4];
            const size_t have = gnomon_profile_count(p, kinds[k].entity);
            const size_t want = have < 4 ? have : 4;
            memset(many, 0x5a, sizeof many);
            memcpy(many, &size, sizeof size);
            CHECK_EQ(p->api->get_many(p, kinds[k].entity, 1, many, want), want);
            for (size_t i = 0; i < want; i++) {
                any_info one = {.struct_size = size};
                CHECK_EQ(p->api->get(p, kinds[k].entity, i + 1, &one),
                         GNOMON_OK);
                CHECK(memcmp(many + i * size, &one, size) == 0);
            }
            CHECK_EQ(many[want * size], 0x5a);
        }
    gnomon_profile_free(p);
}

TEST(readers_out_of_range)
{
    gnomon_profile *p = rich_profile();
    static const int wrong[] = {-1, 99, 4711, INT32_MIN, INT32_MAX};
    any_info info;
    for (size_t k = 0; k < KINDS; k++) {
        size_t count = gnomon_profile_count(p, kinds[k].entity);
        size_t numbers[] = {0, count + 1, SIZE_MAX};
        for (size_t i = 0; i < 3; i++) {
            memset(&info, 0x5a, sizeof info);
            info.struct_size = kinds[k].size;
            CHECK_EQ(p->api->get(p, kinds[k].entity, numbers[i], &info),
                     GNOMON_EINVAL);
            CHECK_EQ(info.struct_size, kinds[k].size);
            for (uint32_t b = 4; b < kinds[k].size; b++)
                CHECK_EQ(info.bytes[b], 0);
            CHECK_EQ(p->api->get_many(p, kinds[k].entity, numbers[i], &info, 1),
                     0);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        info.struct_size = sizeof info;
        CHECK_EQ(gnomon_profile_count(p, wrong[i]), 0);
        CHECK_EQ(p->api->get(p, wrong[i], 1, &info), GNOMON_EINVAL);
        CHECK_EQ(p->api->get_many(p, wrong[i], 1, &info, 1), 0);
    }
    gnomon_profile_free(p);
}

TEST(readers_return_every_field)
{
    gnomon_profile *p = rich_profile();
    gnomon_run_info run;
    gnomon_region_info r;
    gnomon_loss_info loss;
    gnomon_node_info n;
    CHECK_EQ(p->api->abi, GNOMON_ABI);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
    gnomon_profile_run(p, 1, &run);
    CHECK_EQ(run.rank, -1);
    CHECK_EQ(run.pid, getpid());
    CHECK_STR(run.clock, "test");
    CHECK(run.spec && run.host && *run.host);
    CHECK_EQ(run.now_ns, 35);
    CHECK_EQ(run.zero_unix_ns, GNOMON__TEST_UNIX_NS);
    gnomon_profile_node(p, node_at(p, 0, 0, "a>b"), &n);
    CHECK_EQ(n.op, 0);
    CHECK_EQ(n.first, 1);
    gnomon_profile_region(p, n.region, &r);
    CHECK_STR(r.category, "c");
    CHECK_STR(r.file, "");
    CHECK_STR(r.function, "");
    CHECK_EQ(r.kind, GNOMON_KIND_SCOPE);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 1);
    gnomon_profile_loss(p, 1, &loss);
    CHECK_STR(loss.kind, "unmatched");
    CHECK_EQ(loss.count, 1);
    gnomon_profile_free(p);
}

static void with_static_region(void)
{
    GNOMON_SCOPE_IN("category", "static");
    pass(1);
}

TEST(where_a_static_region_is)
{
    gnomon_region_info r = {0};
    attach_probe();
    with_static_region();
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_region(p, 1, &r), GNOMON_OK);
    CHECK_STR(r.name, "static");
    CHECK_STR(r.category, "category");
    CHECK_STR(r.function, "with_static_region");
    CHECK_STR(r.file, __FILE__);
    CHECK(r.line > 100 && r.line < __LINE__);
    gnomon_profile_free(p);
}

/* ---- Open scopes ----------------------------------------------------------------------- */

TEST(open_scopes_are_apart)
{
    attach_probe();
    gnomon_token a = gnomon_begin(region("a"));
    pass(10);
    scope("done", 5);
    gnomon_start("b");
    pass(20);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 0, 0, 10);
    CHECK_NODE(p, "a>done", 1, 5, 5);
    CHECK_NODE(p, "a>b", 0, 0, 20);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 2);
    gnomon_open_info o;
    gnomon_profile_open(p, 1, &o);
    CHECK(path_is(p, o.node, "a"));
    CHECK_EQ(o.begin_ns, 0);
    gnomon_profile_open(p, 2, &o);
    CHECK(path_is(p, o.node, "a>b"));
    CHECK_EQ(o.begin_ns, 15);
    gnomon_end(a); /* the action outlives it */
    pass(100);
    gnomon_profile *later = profile_of("probe", 0);
    CHECK_NODE(later, "a", 1, 35, 10);
    CHECK_NODE(later, "a>b", 0, 0, 120);
    CHECK_NODE(p, "a", 0, 0, 10); /* the first is as it was */
    gnomon_profile_free(p);
    gnomon_profile_free(later);
}

/* ---- Stages and views --------------------------------------------------------- */

/* A scope that ends after its stage counts in that stage, at once for
 * readers. Time in child scopes of the next stage is missing, and the node
 * is marked so. */
TEST(a_scope_that_ends_after_its_stage)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_token outer = gnomon_begin(region("outer"));
    pass(10);
    gnomon_stage_begin("test");
    scope("inner", 4);
    gnomon_end(outer);
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_node_info n;
    gnomon_stage_info s;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 3);
    gnomon_profile_node(p, node_at(p, 0, 1, "outer"), &n);
    CHECK_EQ(n.flags, GNOMON_NODE_PARTIAL);
    CHECK_EQ(n.host->count, 1);
    CHECK_EQ(n.host->total_ns, 14);
    CHECK_EQ(n.host->self_ns, 10);
    gnomon_profile_node(p, node_at(p, 0, 2, "outer>inner"), &n);
    CHECK_EQ(n.host->total_ns, 4);
    CHECK_EQ(gnomon_profile_stage(p, 1, &s), GNOMON_OK);
    CHECK_EQ(s.late, 1);
    CHECK_EQ(s.end_ns, 10);
    gnomon_profile_free(p);
}

static uint64_t total_of(const gnomon_profile *p, const char *name)
{
    uint64_t sum = 0;
    gnomon_node_info n;
    gnomon_region_info r;
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++) {
        gnomon_profile_region(p, n.region, &r);
        if (strcmp(r.name, name) == 0 && n.host)
            sum += n.host->total_ns;
    }
    return sum;
}

/* A finished stage keeps its numbers when the clock's rate is known better
 * later. Sums over several stages use one rate. */
TEST(a_finished_stage_keeps_its_tick_rate)
{
    const uint64_t one = gnomon__test_mult;
    gnomon_profile *p;
    gnomon_stage_info s;
    attach_probe();
    pass(5);
    gnomon_stage_begin("fit");
    scope("first", 1000);
    gnomon_token outer = gnomon_begin(region("outer"));
    scope("below", 1000);
    gnomon_step();
    gnomon_stage_end();
    gnomon__test_mult = 2 * one;
    gnomon_stage_begin("validate");
    scope("below", 1000);
    gnomon_end(outer);
    scope("second", 1000);
    gnomon_stage_end();
    gnomon__test_mult = 3 * one;
    scope("third", 1000);
    CHECK_EQ(gnomon_snapshot(&p, "probe", 1), GNOMON_OK);
    gnomon__test_mult = one;
    CHECK_EQ(total_of(p, "first"), 1000);
    CHECK_EQ(total_of(p, "second"), 2000);
    CHECK_EQ(total_of(p, "third"), 3000);
    CHECK_EQ(total_of(p, "outer"), 2 * 2000); /* by the stage it ended in */
    CHECK_EQ(total_of(p, "below"), 1000 + 2000);
    gnomon_profile_stage(p, 1, &s);
    CHECK_STR(s.name, "fit");
    CHECK_EQ(s.end_ns - s.begin_ns, 2000);
    CHECK_EQ(s.steps->total_ns, 2000);
    gnomon_profile_free(p);
}

TEST(a_view_shows_nothing_that_its_filter_left_out)
{
    attach_probe();
    gnomon_profiler only = other_probe, but = other_probe, cat = other_probe;
    only.name = "only";
    but.name = "but";
    cat.name = "cat";
    CHECK_EQ(gnomon_attach(&only, NULL, "filter=in*"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&but, NULL, "exclude=in*|[x]"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&cat, NULL, "filter=@net"), GNOMON_OK);
    gnomon_token a = gnomon_begin(region("a"));
    pass(1);
    gnomon_token b = gnomon_begin(region("inner"));
    pass(2);
    gnomon_token c =
        gnomon_begin(gnomon_region_get("send", "net", GNOMON_KIND_SCOPE));
    pass(4);
    scope("[x]", 8);
    scope("input", 16);
    gnomon_end(c);
    gnomon_end(b);
    gnomon_end(a);
    gnomon_counter(region("in"), 1);
    gnomon_counter(gnomon_region_get("out", "net", GNOMON_KIND_COUNTER), 2);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a>inner>send>input", 1, 16, 16);
    CHECK_NODE(p, "a>inner>send>[x]", 1, 8, 8);
    CHECK_NODE(p, "a", 1, 31, 1);
    gnomon_profile_free(p);
    p = profile_of("only", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 3);
    CHECK_NODE(p, "inner", 1, 30, 14);
    CHECK_NODE(p, "inner>input", 1, 16, 16);
    gnomon_profile_free(p);
    p = profile_of("but", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 3);
    CHECK_NODE(p, "a", 1, 31, 3);
    CHECK_NODE(p, "a>send", 1, 28, 28);
    gnomon_profile_free(p);
    p = profile_of("cat", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 1);
    CHECK_NODE(p, "send", 1, 28, 28);
    gnomon_profile_free(p);
}

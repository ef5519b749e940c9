/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The limits of tables that marks fill, each reached and exceeded: what does not fit
 * is counted, the rest is exact, and nothing else changes.
 * links: testing
 * timeout: 300 */
#include "marks.h"
#include "mark/tree.h"
#include "platform/memory.h"
#include "probe_profile.h"

static gnomon_region *region_of(const char *what, int i)
{
    char name[32];
    snprintf(name, sizeof name, "%s %d", what, i);
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

/* ---- Paths --------------------------------------------------------------- */

/* Scopes and actions below the deepest "(other)" are part of it: only their
 * depth is known. */
TEST(marks_past_the_deepest)
{
    static gnomon_token open[1025], over[4];
    attach_probe();
    for (int i = 0; i < 1025; i++)
        open[i] = gnomon_begin(region_of("deep", 0));
    gnomon_health before = health_now();
    for (int i = 0; i < 4; i++)
        over[i] = gnomon_begin(region_of("deep", 0));
    gnomon_start("by name");
    CHECK_HEALTH(before, .too_deep = 5);
    gnomon_stop("by name");
    gnomon_end(over[1]); /* and those in it */
    gnomon_end(over[3]);
    gnomon_end(over[0]);
    CHECK_HEALTH(before, .too_deep = 5, .crossed = 2, .unmatched = 1);
    for (int i = 1025; i-- > 0;)
        gnomon_end(open[i]);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "deep 0"), 1024);
    CHECK_EQ(calls_of(p, "(other)"), 6);
    CHECK_EQ(calls_of(p, "by name"), 0);
    gnomon_profile_free(p);
}

/* Also where its tree is not the hot one any more, or is gone. */
TEST(ends_below_other_after_profilers_came_and_went)
{
    gnomon_profiler other = probe;
    other.name = "other";
    attach_probe();
    gnomon__test_depth = 1;
    gnomon_end(gnomon_begin(region_of("deep", 0)));
    gnomon_token outer = gnomon_begin(region_of("deep", 0));
    gnomon_token deep = gnomon_begin(region_of("deep", 1));
    gnomon_token inside = gnomon_begin(region_of("deep", 2));
    gnomon_token left = gnomon_begin(region_of("deep", 2));
    gnomon_health before = health_now();
    CHECK_EQ(gnomon_attach(&other, NULL, NULL), GNOMON_OK);
    gnomon_end(left);
    gnomon_end(inside);
    gnomon_end(deep);
    gnomon_end(outer);
    outer = gnomon_begin(region_of("deep", 0));
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    gnomon_end(inside);
    gnomon_end(outer);
    CHECK_HEALTH(before, .unmatched = 0);
    CHECK_EQ(gnomon_detach(&other, NULL), GNOMON_OK);
}

/* Each chunk's allocation fails once: its path is "(other)" that time only. */
TEST(paths_whose_first_chunk_fails)
{
    enum { N = 1000 };
    attach_probe();
    for (int i = 0; i < N; i++)
        region_of("path", i);
    gnomon_end(gnomon_begin(region_of("path", 0)));
    gnomon_health before = health_now();
    for (int i = 1; i < N; i++) {
        gnomon_region *r = region_of("path", i);
        gnomon__test_fail_allocation(1);
        gnomon_end(gnomon_begin(r));
        gnomon__test_fail_allocation(0);
        gnomon_end(gnomon_begin(r));
    }
    gnomon_profile *p = profile_of("probe", 0);
    uint64_t others = calls_of(p, "(other)");
    CHECK(others > 3);
    CHECK_HEALTH(before, .other_nodes = others);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), N + 1);
    CHECK_EQ(calls_of(p, "path 0"), 1);
    CHECK_EQ(calls_of(p, "path 500"), 2);
    gnomon_profile_free(p);
}

/* ---- Links --------------------------------------------------------------- */

#define ENDS 260 /* 67 600 edges; a table has 65 536 places */

/* From each of many scopes to each of others. */
TEST(links_past_the_largest_table_are_lost)
{
    static gnomon_link from[ENDS];
    attach_probe();
    for (int i = 0; i < ENDS; i++) {
        gnomon_token t = gnomon_begin(region_of("from", i));
        from[i] = gnomon_link_out();
        gnomon_end(t);
    }
    gnomon_health before = health_now();
    for (int i = 0; i < ENDS; i++) {
        gnomon_token t = gnomon_begin(region_of("to", i));
        for (int k = 0; k < ENDS; k++)
            gnomon_link_in(&from[k], GNOMON_LINK_SUBMIT);
        gnomon_end(t);
    }
    gnomon_health after = health_now();
    uint64_t lost = after.lost_links - before.lost_links;
    CHECK_EQ(lost, ENDS * ENDS - 65535);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS) + lost, ENDS * ENDS);
    gnomon_profile_free(p);
    /* Outgrown tables are freed. */
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    attach_probe();
    gnomon_token outer = gnomon_begin(region_of("outer", 0));
    gnomon_link out = gnomon_link_out();
    for (int i = 0; i < ENDS; i++) {
        gnomon_token t = gnomon_begin(region_of("to", i));
        gnomon_link_in(&out, GNOMON_LINK_SUBMIT);
        gnomon_end(t);
    }
    gnomon_end(outer);
    p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), ENDS);
    gnomon_profile_free(p);
    CHECK(health_now().mapped_bytes - after.mapped_bytes < 8192);
}

static void *link_first(void *link)
{
    gnomon_link_in(link, GNOMON_LINK_SUBMIT);
    return NULL;
}

TEST(a_link_into_a_thread_that_never_marked_is_nowhere)
{
    attach_probe();
    gnomon_token t = gnomon_begin(region_of("scope", 0));
    gnomon_link link = gnomon_link_out();
    gnomon_health before = health_now();
    on_thread(link_first, &link);
    CHECK_EQ(health_now().threads, before.threads);
    CHECK_HEALTH(before, .lost_links = 0);
    gnomon_end(t);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 0);
    gnomon_profile_free(p);
}

/* ---- Hooks of ranges ----------------------------------------------------- */

#define HOOKS 12 /* a range has slots for 10 */

static struct hook_calls {
    int starts, stops;
} hook_calls[HOOKS];

static void hook_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)frame;
    *slot = (uintptr_t)self;
    ((struct hook_calls *)self)->starts++;
}

static void hook_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)frame;
    CHECK(*slot == (uintptr_t)self);
    ((struct hook_calls *)self)->stops++;
}

static const gnomon_profiler hooked = {.struct_size = sizeof hooked,
                                       .abi = GNOMON_ABI,
                                       .name = "hooked",
                                       .start = hook_start,
                                       .stop = hook_stop};

TEST(a_range_has_room_for_ten_hooks)
{
    for (int i = 0; i < HOOKS; i++)
        CHECK_EQ(gnomon_attach(&hooked, &hook_calls[i], NULL), GNOMON_OK);
    gnomon_region *r = region_of("range", 0);
    gnomon_health before = health_now();
    for (int i = 0; i < 3; i++)
        gnomon_range_end(gnomon_range_begin(r));
    CHECK_HEALTH(before, .lost_frames = 3 * (HOOKS - 10));
    gnomon_end(gnomon_begin(r)); /* a scope has room for all */
    for (int i = 0; i < HOOKS; i++) {
        CHECK_EQ(hook_calls[i].starts, i < 10 ? 4 : 1);
        CHECK_EQ(hook_calls[i].stops, i < 10 ? 4 : 1);
    }
}

/* ---- Ranges without memory ----------------------------------------------- */

/* More names than a megabyte holds; the last nodes are "(other)". */
TEST(a_megabyte_of_ranges)
{
    enum { N = 20000 };
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < N; i++) {
        gnomon_token range = gnomon_range_begin(region_of("range", i));
        pass(1);
        gnomon_range_end(range);
    }
    gnomon_health h = health_now();
    CHECK(h.other_nodes > before.other_nodes);
    CHECK(h.mapped_bytes <= 1u << 20);
    gnomon_profile *p = profile_of("probe", 0);
    uint64_t calls = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        calls += n.host->count;
    }
    CHECK_EQ(calls + h.lost_scopes, N);
    CHECK(calls_of(p, "(other)") > 0);
    gnomon_profile_free(p);
}

/* Each stage has an "(other)" of its own, whichever limit is reached. */
TEST(a_megabyte_of_stages_of_ranges)
{
    enum { NAMES = 20000, STAGES = 2000 };
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_probe();
    for (int i = 0; i < NAMES; i++)
        gnomon_range_end(gnomon_range_begin(region_of("range", i)));
    CHECK_EQ(health_now().lost_scopes, 0);
    for (int i = 0; i < STAGES; i++) {
        gnomon_stage_begin("stage");
        gnomon_range_end(gnomon_range_begin(region_of("new", i)));
    }
    CHECK_EQ(health_now().lost_scopes, 0);
    CHECK(health_now().mapped_bytes <= 1u << 20);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK(calls_of(p, "(other)") > STAGES);
    gnomon_profile_free(p);
}

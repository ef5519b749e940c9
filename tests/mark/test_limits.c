/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Limits: scopes that are too deep and paths past the memory limit go to
 * "(other)" of their parent; memory stays bounded and the sums true.
 * links: testing
 * timeout: 300 */
#include <stdlib.h>

#include "marks.h"
#include "platform/atomic.h"
#include "probe_profile.h"
#include "sanitizer.h"

/* ThreadSanitizer keeps a stack of its own, and is slow at it. */
#if IS_TSAN
#define DEEP 10000
#else
#define DEEP 1000000
#endif

/* ---- Deep -------------------------------------------------------------------------- */

static void recurse(gnomon_region *region, int depth)
{
    gnomon_token t = gnomon_begin(region);
    pass(1);
    if (depth > 1)
        recurse(region, depth - 1);
    gnomon_end(t);
}

struct deep_arguments {
    gnomon_region *region;
    int depth;
};

static void *recurse_on_thread(void *argument)
{
    const struct deep_arguments *a = argument;
    recurse(a->region, a->depth);
    return NULL;
}

/* On a thread with a large stack. */
static void go_deep(gnomon_region *region, int depth)
{
    struct deep_arguments arguments = {region, depth};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)depth * 400 + (1 << 20));
    if (CHECK(!pthread_create(&thread, &attributes, recurse_on_thread,
                              &arguments)))
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void check_deep(int depth)
{
    gnomon_region *r = gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE);
    gnomon_health before = health_now();
    go_deep(r, depth);
    CHECK_HEALTH(before, .too_deep = (uint64_t)depth - 1024);
    go_deep(r, depth); /* paths that come again get a histogram */
    gnomon_health after = health_now();
    CHECK(after.mapped_bytes - before.mapped_bytes < 4u << 20);
    go_deep(r, depth); /* the same paths: no new memory */
    CHECK_EQ(health_now().mapped_bytes, after.mapped_bytes);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 1025);
    CHECK_EQ(calls_of(p, "deep"), 3072);
    CHECK_EQ(calls_of(p, "(other)"), 3 * ((uint64_t)depth - 1024));
    CHECK_NODE(p, "deep", 3, 3 * (uint64_t)depth, 3);
    gnomon_profile_free(p);
}

TEST(a_million_deep)
{
    attach_probe();
    check_deep(DEEP);
}

/* cProfile's table would name a line of gnomon's own. */
TEST(other_has_no_place_in_the_source)
{
    gnomon_region_info region;
    int found = 0;
    attach_probe();
    go_deep(gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE), 1030);
    gnomon_profile *p = profile_of("probe", 1);
    for (size_t i = 1; !gnomon_profile_region(p, i, &region); i++) {
        if (strcmp(region.name, "(other)") != 0)
            continue;
        found++;
        CHECK_STR(region.file ? region.file : "", "");
        CHECK_EQ(region.line, 0);
    }
    CHECK_EQ(found, 1);
    gnomon_profile_free(p);
}

/* Each view has a tree of its own, and its own limit. */
TEST(two_views_and_a_million_deep)
{
    attach_probe();
    CHECK_EQ(gnomon_attach(&other_probe, NULL, NULL), GNOMON_OK);
    gnomon_region *r = gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE);
    go_deep(r, DEEP);
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_profile *q = profile_of("other_probe", 1);
    CHECK_NODE(p, "deep", 1, DEEP, 1);
    CHECK_NODE(q, "deep", 1, DEEP, 1);
    CHECK_EQ(calls_of(p, "(other)"), DEEP - 1024);
    gnomon_health h = health_now();
    CHECK_EQ(calls_of(q, "(other)"), DEEP - 1024);
    CHECK_EQ(calls_of(p, "deep"), 1024);
    CHECK_EQ(calls_of(q, "deep"), 1024);
    CHECK_EQ(h.too_deep, 2 * (DEEP - 1024));
    CHECK_EQ(h.unmatched + h.foreign + h.crossed, 0);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* "(other)" belongs to its stage like any path, though its parent is of an
 * older one. */
TEST(too_deep_in_two_stages)
{
    static gnomon_token open[1024];
    gnomon_region *r = gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE);
    attach_probe();
    for (int i = 0; i < 1024; i++)
        open[i] = gnomon_begin(r);
    for (int stage = 1; stage <= 3; stage++) {
        gnomon_stage_begin("stage");
        for (int i = 0; i < stage; i++)
            gnomon_end(gnomon_begin(r));
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "(other)"), 3);
    gnomon_profile_free(p);
    for (int i = 1024; i-- > 0;)
        gnomon_end(open[i]);
    p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "(other)"), 6);
    CHECK_EQ(calls_of(p, "deep"), 1024);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 1025); /* of one name */
    gnomon_profile_free(p);
    CHECK_EQ(health_now().unmatched, 0);
}

/* ---- No memory for more paths ------------------------------------------------------ */

static uint64_t sum_of_selfs(const gnomon_profile *p)
{
    uint64_t self = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        self += n.host->self_ns;
    }
    return self;
}

static uint64_t sum_of_calls(const gnomon_profile *p)
{
    uint64_t calls = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        calls += n.host->count;
    }
    return calls;
}

/* 200 x 200 paths, which do not fit into a megabyte. */
static void fill(void)
{
    char name[32];
    gnomon_token all =
        gnomon_begin(gnomon_region_get("all", NULL, GNOMON_KIND_SCOPE));
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "outer %d", i);
        gnomon_token outer =
            gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
        for (int k = 0; k < 200; k++) {
            snprintf(name, sizeof name, "inner %d", k);
            gnomon_token inner =
                gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
            pass(1);
            gnomon_end(inner);
        }
        gnomon_end(outer);
    }
    gnomon_end(all);
}

static void check_full(uint64_t calls)
{
    gnomon_health h = health_now();
    CHECK(h.other_nodes > 0);
    CHECK(h.mapped_bytes <= 1u << 20);
    CHECK_EQ(h.unmatched + h.crossed + h.foreign, 0);
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_stats all = stats_at(p, "all");
    CHECK_EQ(all.total_ns, gnomon__test_ticks);
    CHECK_EQ(sum_of_selfs(p), gnomon__test_ticks);
    CHECK_EQ(sum_of_calls(p), calls);
    CHECK_EQ(h.too_deep + h.lost_scopes, 0);
    CHECK(calls_of(p, "(other)") > 0);
    gnomon_profile_free(p);
}

static uint64_t started, stopped;

static void on_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    started++;
    *slot = frame->token;
}

static void on_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    stopped += *slot == frame->token;
}

/* Scopes whose parents and grandparents are past the memory limit. */
TEST(paths_of_three_levels_that_do_not_fit)
{
    char name[32];
    gnomon_region *level[3][100];
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=512KiB"), GNOMON_OK);
    attach_probe();
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "level %d, %d", d, i);
            level[d][i] = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
        }
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 100; k++) {
            gnomon_token a = gnomon_begin(level[0][i]);
            gnomon_token b = gnomon_begin(level[1][k]);
            gnomon_end(gnomon_begin(level[2][(i + k) % 100]));
            GNOMON_MARK("a mark");
            gnomon_start("an action");
            gnomon_stop("an action");
            gnomon_end(b);
            gnomon_end(a);
        }
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(sum_of_calls(p), 5 * 10000);
    CHECK_EQ(health_now().too_deep + health_now().lost_scopes, 0);
    CHECK(health_now().other_nodes > 0);
    gnomon_profile_free(p);
}

/* Nested actions, whose names share one region. */
TEST(actions_of_names_past_the_limit)
{
    char name[32];
    attach_probe();
    for (int i = 0; i < 131072; i++) {
        snprintf(name, sizeof name, "name %d", i);
        gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    for (int i = 0; i < 10; i++) {
        gnomon_start("outer");
        gnomon_start("inner");
        gnomon_start("innermost");
        pass(5);
        gnomon_stop("innermost");
        gnomon_stop("inner");
        gnomon_stop("outer");
    }
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "(other)"), 30);
    CHECK_EQ(sum_of_calls(p), 30);
    CHECK_EQ(health_now().twice + health_now().never_started, 0);
    gnomon_profile_free(p);
}

/* The tree goes on where hooks have no more room. */
TEST(a_tree_with_a_hook_knows_all_depths)
{
    gnomon_profiler hooked = other_probe;
    gnomon_token t[1000];
    hooked.wants = 0;
    hooked.start = on_start;
    hooked.stop = on_stop;
    attach_probe();
    CHECK_EQ(gnomon_attach(&hooked, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 1000; i++)
        t[i] = gnomon_begin(gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE));
    gnomon_start("action");
    gnomon_stop("action");
    for (int i = 1000; i-- > 0;)
        gnomon_end(t[i]);
    gnomon_health h = health_now();
    CHECK_EQ(started, stopped);
    CHECK_EQ(h.lost_frames, 1001 - started);
    CHECK(h.lost_frames > 0);
    CHECK_EQ(h.unmatched + h.crossed + h.too_deep, 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "deep"), 1000);
    CHECK_EQ(calls_of(p, "action"), 1);
    gnomon_profile_free(p);
}

static pthread_barrier_t all_marked;

static void *mark_a_hundred(void *region)
{
    for (int i = 0; i < 100; i++)
        gnomon_end(gnomon_begin(region));
    pthread_barrier_wait(&all_marked);
    return NULL;
}

static void *do_a_hundred_actions(void *unused)
{
    gnomon_thread_name("worker");
    for (int i = 0; i < 100; i++) {
        gnomon_start("a");
        gnomon_stop("a");
    }
    pthread_barrier_wait(&all_marked);
    return unused;
}

/* Threads for which there is no memory: each mark is counted, or reported as
 * lost. */
static void mark_on_too_many_threads(void *(*mark)(void *),
                                     gnomon_region *region)
{
    enum { THREADS = 400 };
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=512KiB"), GNOMON_OK);
    attach_probe();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&all_marked, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (!CHECK(!pthread_create(&threads[i], &small, mark, region)))
            _exit(1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK(health_now().lost_scopes > 0);
    CHECK_EQ(calls_of(p, "a") + health_now().lost_scopes, THREADS * 100);
    CHECK_EQ(health_now().never_started, 0);
    gnomon_profile_free(p);
}

TEST(marks_of_threads_that_do_not_fit)
{
    mark_on_too_many_threads(mark_a_hundred,
                             gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE));
}

TEST(actions_of_threads_that_do_not_fit)
{
    mark_on_too_many_threads(do_a_hundred_actions, NULL);
}

TEST(a_megabyte_of_paths)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_probe();
    fill();
    check_full(40201);
    fill();
    check_full(80402);
}

/* Hooks see all of it. */
TEST(a_megabyte_of_paths_and_a_hook)
{
    gnomon_profiler hooked = probe;
    hooked.start = on_start;
    hooked.stop = on_stop;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hooked, NULL, NULL), GNOMON_OK);
    fill();
    check_full(40201);
    CHECK_EQ(started, 40201);
    CHECK_EQ(stopped, 40201);
}

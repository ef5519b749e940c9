/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges: ended anywhere, once; links from path to path; counters, marks, names
 * of threads.
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

/* ---- Ranges --------------------------------------------------------------------- */

TEST(a_range_that_ends_on_another_thread)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token scope = gnomon_begin(region("around"));
    gnomon_range r = gnomon_range_begin(region("range"));
    pass(10);
    pass(5);
    end_range_there(r);
    gnomon_end(scope);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "around", 1, 15, 15); /* a range takes no scope's self time */
    CHECK_NODE(p, "range", 1, 15, 0);
    gnomon_node_info around, range;
    gnomon_profile_node(p, node_at(p, 0, 0, "around"), &around);
    gnomon_profile_node(p, node_at(p, 0, 0, "range"), &range);
    CHECK_EQ(range.flags, GNOMON_NODE_RANGE);
    CHECK_EQ(around.flags, 0);
    CHECK(range.track != around.track); /* that of the thread that ended it */
    gnomon_profile_free(p);
}

TEST(ranges_that_end_twice)
{
    attach_probe();
    gnomon_range r = gnomon_range_begin(region("range"));
    gnomon_health before = health_now();
    gnomon_range_end(r);
    gnomon_range_end(r);
    pass(5);
    end_range_there(r);
    CHECK_HEALTH(before, .unmatched = 2);
    for (int i = 0; i < 1000; i++) { /* the place is used again in time */
        gnomon_range again = gnomon_range_begin(region("range"));
        CHECK(again != r);
        gnomon_range_end(r);
        pass(3);
        gnomon_range_end(again);
    }
    CHECK_HEALTH(before, .unmatched = 1002);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "range", 1001, 3000, 0);
    gnomon_profile_free(p);
}

/* The first end takes effect; all others are counted. */
static gnomon_range contested[2000];

static void *end_all(void *start)
{
    pthread_barrier_wait(start);
    for (int i = 0; i < 2000; i++)
        gnomon_range_end(contested[i]);
    return NULL;
}

TEST(ranges_that_four_threads_end_at_once)
{
    pthread_barrier_t start;
    pthread_t threads[4];
    attach_probe();
    gnomon_health before = health_now();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 2000; i++)
            contested[i] = gnomon_range_begin(region("range"));
        pthread_barrier_init(&start, NULL, 4);
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, end_all, &start);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&start);
    }
    CHECK_HEALTH(before, .unmatched = 3 * 20 * 2000);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "range"), 20 * 2000);
    gnomon_profile_free(p);
}

TEST(random_ranges)
{
    uint64_t state = 88172645463325252ull;
    attach_probe();
    gnomon_range open = gnomon_range_begin(region("range"));
    gnomon_health before = health_now();
    for (int i = 0; i < 1000000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t bad = i & 1 ? open ^ 1ull << (state & 63) : state;
        gnomon_range_end(bad && bad != open ? bad : 1);
    }
    CHECK_HEALTH(before, .unmatched = 1000000);
    pass(2);
    gnomon_range_end(open);
    CHECK_HEALTH(before, .unmatched = 1000000);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "range", 1, 2, 0);
    gnomon_profile_free(p);
}

TEST(a_wrong_range_before_anything_is_attached)
{
    gnomon_health before = health_now();
    gnomon_range_end(4711);
    CHECK_HEALTH(before, .unmatched = 1);
}

TEST(ten_thousand_open_ranges)
{
    enum { N = 10000, ROOM = 8192 };
    static gnomon_range ranges[N];
    attach_probe();
    gnomon_health before = health_now();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            ranges[i] = gnomon_range_begin(region("range"));
            CHECK_EQ(ranges[i] != 0, i < ROOM);
            pass(1);
        }
        CHECK_HEALTH(before, .lost_ranges = (uint64_t)(round + 1) * (N - ROOM));
        for (int i = 0; i < N; i += 2)
            gnomon_range_end(ranges[i]);
        for (int i = 1; i < N; i += 2)
            gnomon_range_end(ranges[i]);
    }
    CHECK_HEALTH(before, .lost_ranges = 2 * (N - ROOM));
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_stats s = stats_at(p, "range");
    CHECK_EQ(s.count, 2 * ROOM);
    CHECK_EQ(s.max_ns, N);
    CHECK_EQ(s.min_ns, N - ROOM + 1);
    gnomon_profile_free(p);
}

TEST(a_range_that_ends_after_detach)
{
    attach_probe();
    CHECK_EQ(gnomon_attach(&other_probe, NULL, NULL), GNOMON_OK);
    gnomon_range r = gnomon_range_begin(region("range"));
    gnomon_health before = health_now();
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    attach_probe(); /* attached again: it did not see the begin */
    pass(9);
    gnomon_range_end(r);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_profile *q = profile_of("other_probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 0);
    CHECK_NODE(q, "range", 1, 9, 0);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    gnomon_range_end(gnomon_range_begin(region("range")));
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&other_probe, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_range_begin(region("range")), 0);
}

/* ---- Links ---------------------------------------------------------------------- */

typedef struct job {
    gnomon_link link;
    const char *name;
    int times;
} job;

static void *work(void *argument)
{
    const job *j = argument;
    gnomon_thread_name("worker");
    for (int i = 0; i < j->times; i++) {
        gnomon_token t = gnomon_begin(region(j->name));
        gnomon_link_in(&j->link, GNOMON_LINK_SUBMIT);
        gnomon_end(t);
    }
    return NULL;
}

static uint64_t link_count(const gnomon_profile *p, const char *from,
                           const char *to, uint32_t kind)
{
    gnomon_link_info l;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++)
        if (!gnomon_profile_link(p, i, &l) && l.kind == kind &&
            path_is(p, l.from, from) && path_is(p, l.to, to))
            return l.count;
    return 0;
}

TEST(links_between_threads)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token outer = gnomon_begin(region("train"));
    gnomon_token t = gnomon_begin(region("submit"));
    job j = {gnomon_link_out(), "run", 3};
    gnomon_end(t);
    on_thread(work, &j);
    j.link = gnomon_link_out();
    j.times = 2;
    on_thread(work, &j);
    gnomon_token back = gnomon_begin(region("backward"));
    gnomon_link_in(&j.link, GNOMON_LINK_BACKWARD);
    gnomon_end(back);
    gnomon_end(outer);
    CHECK_HEALTH(before, .lost_links = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 3);
    CHECK_EQ(link_count(p, "train>submit", "run", GNOMON_LINK_SUBMIT), 3);
    CHECK_EQ(link_count(p, "train", "run", GNOMON_LINK_SUBMIT), 2);
    CHECK_EQ(link_count(p, "train", "train>backward", GNOMON_LINK_BACKWARD), 1);
    gnomon_profile_free(p);
}

/* Links of 0, from outside scopes, of an older configuration, and random
 * words. */
TEST(links_to_nowhere)
{
    attach_probe();
    gnomon_token t = gnomon_begin(region("a"));
    gnomon_link stale = gnomon_link_out(), nowhere = {{0}};
    gnomon_end(t);
    gnomon_link outside = gnomon_link_out();
    gnomon_health before = health_now();
    t = gnomon_begin(region("b"));
    gnomon_link_in(&nowhere, 0);
    gnomon_link_in(&outside, 0);
    CHECK_HEALTH(before, .lost_links = 0);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, NULL), GNOMON_OK);
    gnomon_link_in(&stale, 0);
    CHECK_HEALTH(before, .lost_links = 1);
    uint32_t state = 1;
    for (int i = 0; i < 100000; i++) {
        gnomon_link bad = gnomon_link_out();
        for (int w = i & 1; w < 8; w++)
            bad.word[w] = state = state * 1664525u + 1013904223u;
        gnomon_link_in(&bad, (int)(state >> 8));
    }
    gnomon_end(t);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 0);
    gnomon_profile_free(p);
    CHECK(health_now().mapped_bytes < 64u << 20);
}

TEST(links_across_growing_tables)
{
    enum { N = 300 };
    static gnomon_link links[N];
    char name[32];
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "from %d", i);
        gnomon_token t = gnomon_begin(region(name));
        links[i] = gnomon_link_out();
        gnomon_end(t);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++) {
            snprintf(name, sizeof name, "to %d", i % 7);
            gnomon_token t = gnomon_begin(region(name));
            gnomon_link_in(&links[i], GNOMON_LINK_BACKWARD);
            gnomon_link_in(&links[i], GNOMON_LINK_LAUNCH);
            gnomon_end(t);
        }
    CHECK_HEALTH(before, .lost_links = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 2 * N);
    for (size_t i = 1; i <= 2 * N; i++) {
        gnomon_link_info l;
        CHECK_EQ(gnomon_profile_link(p, i, &l), GNOMON_OK);
        CHECK_EQ(l.count, 3);
    }
    CHECK_EQ(link_count(p, "from 299", "to 5", GNOMON_LINK_LAUNCH), 3);
    gnomon_profile_free(p);
}

/* ---- Counters, marks, names -------------------------------------------------------- */

static int evaluated;
static double costly(void)
{
    evaluated++;
    return 2.5;
}

static void sample_and_mark(void)
{
    GNOMON_COUNTER("loss", costly());
    GNOMON_MARK("epoch");
}

TEST(counters_and_marks)
{
    sample_and_mark();
    CHECK_EQ(evaluated, 0); /* off: not evaluated */
    attach_probe();
    gnomon_token t = gnomon_begin(region("a"));
    pass(3);
    sample_and_mark();
    pass(4);
    gnomon_end(t);
    CHECK_EQ(evaluated, 1);
    for (int i = -3; i < 5; i++)
        gnomon_counter(region("c"), i);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "a", 1, 7, 7);
    CHECK_NODE(p, "a>epoch", 1, 0, 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 2);
    int found = 0;
    for (size_t i = 1; i <= 2; i++) {
        gnomon_counter_info c;
        gnomon_region_info r;
        gnomon_profile_counter(p, i, &c);
        gnomon_profile_region(p, c.region, &r);
        if (strcmp(r.name, "c") != 0)
            continue;
        found++;
        CHECK_EQ(c.count, 8);
        CHECK(c.last == 4 && c.min == -3 && c.max == 4 && c.sum == 4);
    }
    CHECK_EQ(found, 1);
    gnomon_profile_free(p);
}

TEST(more_counters_than_there_is_room_for)
{
    char name[32];
    attach_probe();
    gnomon_health before = health_now();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            snprintf(name, sizeof name, "c%d", i);
            gnomon_counter(region(name), i);
        }
    CHECK_HEALTH(before, .lost_counters = 2 * (300 - 256));
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 256);
    gnomon_profile_free(p);
}

static void *be_named(void *name)
{
    if (name)
        gnomon_thread_name(name);
    gnomon_end(gnomon_begin(region("a")));
    return NULL;
}

/* Threads of one name that follow one another are one track. */
TEST(names_of_threads)
{
    static char loader[] = "loader", saver[] = "saver";
    attach_probe();
    for (int i = 0; i < 5; i++)
        on_thread(be_named, loader);
    on_thread(be_named, saver);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), 2);
    gnomon_track_info t;
    gnomon_profile_track(p, 1, &t);
    CHECK_STR(t.name, "loader");
    CHECK_EQ(t.thread_count, 5);
    CHECK_EQ(t.alive, 0);
    CHECK_EQ(t.kind, GNOMON_TRACK_THREAD);
    gnomon_profile_track(p, 2, &t);
    CHECK_STR(t.name, "saver");
    CHECK_NODE(p, "a", 5, 0, 0);
    gnomon_profile_free(p);
}

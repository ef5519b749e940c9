// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions, pthread_cancel and pthread_exit through scopes of C++ and of C.
// Where the compiler makes cleanups for unwinding, each scope ends exactly; where
// it does not, the scope stays open until the next one around it ends, or its
// thread does, and is counted.
#include <pthread.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "test.h"

extern "C" {
void through_unwinding(void (*call)(void *), void *argument);
void through_plain(void (*call)(void *), void *argument);
}

typedef void through_c(void (*call)(void *), void *argument);

static gnomon_profiler keeper;

static void attach()
{
    keeper.struct_size = sizeof keeper;
    keeper.abi = GNOMON_ABI;
    keeper.wants = GNOMON_WANT_TREE;
    keeper.name = "keeper";
    CHECK_EQ(gnomon_attach(&keeper, nullptr, nullptr), GNOMON_OK);
}

static gnomon_health health()
{
    gnomon_health h = {};
    h.struct_size = sizeof h;
    gnomon_health_get(&h);
    return h;
}

static long long count(const char *region)
{
    gnomon_profile *p = nullptr;
    long long sum = 0;
    CHECK_EQ(gnomon_snapshot(&p, "keeper", 1), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_region(p, n.region, &r);
        if (n.host && strcmp(r.name, region) == 0)
            sum += (long long)n.host->count;
    }
    gnomon_profile_free(p);
    return sum;
}

static long long left()
{
    gnomon_health h = health();
    return (long long)(h.unmatched + h.foreign + h.twice + h.never_started +
                       h.reentered + h.lost_scopes);
}

// ---- Exceptions

static void throw_one(void *)
{
    GNOMON_SCOPE("thrower");
    throw 1;
}

static int catch_one(through_c *c)
{
    GNOMON_SCOPE("catcher");
    try {
        c(throw_one, nullptr);
    } catch (int i) {
        return i;
    }
    return 0;
}

static void exceptions(through_c *c, int crossed)
{
    attach();
    for (int i = 0; i < 100; i++)
        CHECK_EQ(catch_one(c), 1);
    CHECK_EQ(count("catcher"), 100);
    CHECK_EQ(count("through"), 100);
    CHECK_EQ(count("thrower"), 100);
    CHECK_EQ(health().crossed, crossed);
    CHECK_EQ(health().left_open, 0);
    CHECK_EQ(left(), 0);
}

TEST(exceptions_through_c_that_unwinds)
{
    exceptions(through_unwinding, 0);
}

TEST(exceptions_through_c_that_does_not)
{
    exceptions(through_plain, 100);
}

static void throw_through(through_c *c)
{
    try {
        c(throw_one, nullptr);
    } catch (int) {
    }
}

TEST(nothing_around_but_steps)
{
    attach();
    for (int i = 0; i < 5000; i++) {
        throw_through(through_plain);
        gnomon_step();
    }
    CHECK(count("through") >= 4984);
    CHECK_EQ(health().too_deep, 0);
    CHECK_EQ(left(), 0);
}

// ---- The end of a thread in the middle of scopes

static pthread_barrier_t is_inside;

static void wait_inside(void *)
{
    GNOMON_SCOPE("inside");
    pthread_barrier_wait(&is_inside);
    for (;;)
        sleep(10); // where pthread_cancel comes in
}

static void exit_inside(void *)
{
    GNOMON_SCOPE("inside");
    pthread_exit(nullptr);
}

static void *cancel_me(void *c)
{
    GNOMON_SCOPE("thread");
    reinterpret_cast<through_c *>(c)(wait_inside, nullptr);
    return nullptr;
}

static void *end_me(void *c)
{
    GNOMON_SCOPE("thread");
    reinterpret_cast<through_c *>(c)(exit_inside, nullptr);
    return nullptr;
}

static void ended_threads(through_c *c, int cancel)
{
    attach();
    pthread_barrier_init(&is_inside, nullptr, 2);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, nullptr, cancel ? cancel_me : end_me,
                                reinterpret_cast<void *>(c)),
                 0);
        if (cancel) {
            pthread_barrier_wait(&is_inside);
            pthread_cancel(thread);
        }
        pthread_join(thread, nullptr);
    }
    CHECK_EQ(count("thread"), 50);
    CHECK_EQ(count("through"), 50);
    CHECK_EQ(count("inside"), 50);
    CHECK_EQ(health().left_open, 0);
    CHECK_EQ(health().crossed, c == through_plain ? 50 : 0);
    CHECK_EQ(health().threads, 0);
    CHECK_EQ(left(), 0);
}

TEST(pthread_cancel_through_c_that_unwinds)
{
    ended_threads(through_unwinding, 1);
}

TEST(pthread_cancel_through_c_that_does_not)
{
    ended_threads(through_plain, 1);
}

TEST(pthread_exit_through_c_that_unwinds)
{
    ended_threads(through_unwinding, 0);
}

TEST(pthread_exit_through_c_that_does_not)
{
    ended_threads(through_plain, 0);
}

// Only C around: its scopes stay open, and the thread's end says so.
static void *cancel_in_c(void *c)
{
    reinterpret_cast<through_c *>(c)(exit_inside, nullptr);
    return nullptr;
}

TEST(what_nobody_ends_is_counted_at_the_thread_s_end)
{
    attach();
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, nullptr, cancel_in_c,
                                reinterpret_cast<void *>(through_plain)),
                 0);
        pthread_join(thread, nullptr);
    }
    CHECK_EQ(count("inside"), 50);
    CHECK_EQ(count("through"), 0);
    CHECK_EQ(health().left_open, 50);
    CHECK_EQ(left(), 0);
}

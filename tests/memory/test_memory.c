/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorder of memory, by marks and profiles: what paths took and gave back, what they
 * hold, the peak and who held it, frees of other threads and of what is not known.
 *
 * links: testing */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "child.h"
#include "each_allocation.h"
#include "live_profile.h"
#include "mark/memory.h"
#include "memory_sums.h"
#include "platform/memory.h"
#include "platform/ticks.h"
#include "recording_threads.h"
#include "sanitizer.h"
#include "turns.h"

static gnomon_region cuda =
    GNOMON_REGION_INIT(GNOMON_KIND_POOL, "weights/cuda:3", NULL, NULL);

#define CHECK_SUMS(m, took, gave, bytes, freed, holds, peak) \
    do { \
        const gnomon_memory_stats gnomon_m = m; \
        CHECK_EQ(gnomon_m.allocations, took); \
        CHECK_EQ(gnomon_m.frees, gave); \
        CHECK_EQ(gnomon_m.allocated_bytes, bytes); \
        CHECK_EQ(gnomon_m.freed_bytes, freed); \
        CHECK_EQ(gnomon_m.held_bytes, holds); \
        CHECK_EQ(gnomon_m.at_peak_bytes, peak); \
    } while (0)

TEST(a_path_has_what_it_took_gave_back_and_holds)
{
    ATTACH("(as=m)");
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("step");
        {
            GNOMON_SCOPE("forward");
            take(1, 1000);
            take(2, 24);
            take(10 + (size_t)i, 8); /* leaks */
        }
        GNOMON_SCOPE("backward");
        take(3, 500);
        give(1);
        give(3);
        give(2);
    }
    take(4, 70);
    give(4);
    gnomon_profile *p = live_snapshot("m");
    CHECK_SUMS(sums(p, "forward", "host"), 9, 0, 3096, 0, 24, 1048);
    CHECK_SUMS(sums(p, "backward", "host"), 3, 9, 1500, 4572, 0, 500);
    CHECK_SUMS(sums(p, "(outside)", "host"), 1, 1, 70, 70, 0, 0);
    CHECK_EQ(sums(p, "forward", "host").peak_bytes, 3096);
    CHECK_EQ(sums(p, "backward", "host").peak_bytes, 500);
    CHECK_EQ(sums(p, "forward", "host").live_bytes, 3096);
    CHECK_EQ(sums(p, "backward", "host").live_bytes, -3072);
    gnomon_profile_free(p);
}

TEST(pools_are_apart_and_tell_their_device)
{
    ATTACH("(as=m)");
    GNOMON_SCOPE("step");
    take(1, 100);
    gnomon_pool_allocated(&cuda, block(2), 7);
    gnomon_pool_freed(&host, block(2)); /* it counts in the block's pool */
    gnomon_pool_reserved(&cuda, 4096);
    gnomon_pool_reserved(&cuda, 1024);
    gnomon_pool_exhausted(&cuda, 1);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "step", "weights/cuda:3").allocated_bytes, 7);
    CHECK_EQ(sums(p, "step", "weights/cuda:3").held_bytes, 0);
    CHECK_EQ(sums(p, "step", "weights/cuda:3").reserved_bytes, 4096);
    CHECK_EQ(sums(p, "step", "weights/cuda:3").failures, 1);
    CHECK_EQ(sums(p, "step", "host").held_bytes, 100);
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_track(p, i, &k); i++)
        if (k.kind == GNOMON_TRACK_POOL)
            CHECK_EQ(k.device, strcmp(k.name, "host") ? 3 : -1);
    gnomon_profile_free(p);
}

/* More than the parts of a thread's table at first. */
TEST(a_thread_may_have_many_pools)
{
    enum { POOLS = 150 };
    static gnomon_region many[POOLS];
    static char names[POOLS][8];
    for (int i = 0; i < POOLS; i++) {
        snprintf(names[i], sizeof names[i], "pool%d", i);
        many[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_POOL, names[i],
                                                    NULL, NULL);
    }
    for (int k = 0; k < 2; k++) { /* the second recording begins anew */
        ATTACH("(as=m)");
        for (size_t i = 0; i < 3 * POOLS; i++) {
            gnomon_region *pool = &many[i % POOLS];
            gnomon_pool_allocated(pool, block(i), 100);
            if (i < POOLS)
                gnomon_pool_freed(pool, block(i));
        }
        gnomon_profile *p = live_snapshot("m");
        for (size_t i = 0; i < POOLS; i++) {
            const gnomon_memory_stats all = sums(p, "", names[i]);
            CHECK_EQ(all.allocations, 3);
            CHECK_EQ(all.frees, 1);
            CHECK_EQ(all.held_bytes, 200);
            CHECK_EQ(all.at_peak_bytes, 200);
        }
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_attach(NULL, NULL, "-m"), GNOMON_OK);
    }
}

TEST(what_is_not_known_is_counted)
{
    ATTACH("(as=m)");
    GNOMON_SCOPE("step");
    give(1);                                               /* never allocated */
    gnomon_pool_freed(&host, NULL);                        /* nothing */
    gnomon_pool_allocated(&host, NULL, 5);                 /* nothing */
    gnomon_pool_allocated(&host, (void *)(1ull << 60), 5); /* no such address */
    gnomon_pool_allocated(&host, block(9), 1ull << 40);    /* too large */
    take(2, 10);
    take(2, 30); /* used again: its free was not seen */
    give(2);
    give(2); /* twice */
    gnomon_profile *p = live_snapshot("m");
    CHECK_SUMS(sums(p, "step", "host"), 2, 1, 40, 30, 0, 30);
    CHECK_EQ(sums(p, "step", "host").unknown, 5);
    gnomon_profile_free(p);
}

TEST(stages_have_their_own_sums_and_peak)
{
    ATTACH("(as=m)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("load");
        gnomon_pool_reserved(&host, 8192);
        take(1, 1000);
        take(2, 5000);
        give(2);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    {
        GNOMON_SCOPE("load");
        take(3, 200);
        give(1);
    }
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "m", 0), GNOMON_OK); /* the open stage */
    CHECK_SUMS(sums(p, "load", "host"), 1, 1, 200, 1000, -800, 1200);
    CHECK_EQ(sums(p, "load", "host").peak_bytes, 200);
    CHECK_EQ(sums(p, "load", "host").reserved_bytes, 0);
    gnomon_profile_free(p);
    p = live_snapshot("m");
    CHECK_SUMS(sums(p, "load", "host"), 3, 2, 6200, 6000, 200, 7200);
    gnomon_profile_free(p);
}

/* The bins of a pool in a stage; none: bin_count 0. */
static gnomon_strip_info level(const gnomon_profile *p, uint32_t stage,
                               const char *pool)
{
    gnomon_strip_info s, found = {.bin_count = 0};
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_strip(p, i, &s); i++)
        if (s.stage == stage && s.track && !s.region &&
            !gnomon_profile_track(p, s.track, &k) &&
            k.kind == GNOMON_TRACK_POOL && strcmp(k.name, pool) == 0)
            found = s;
    return found;
}

#define CHECK_BIN(strip, i, n, least, most, all) \
    do { \
        const gnomon_bin *gnomon_b = gnomon_bin_at(&(strip), i); \
        CHECK_EQ(gnomon_b->count, n); \
        CHECK_EQ((uint64_t)gnomon_b->min, least); \
        CHECK_EQ((uint64_t)gnomon_b->max, most); \
        CHECK_EQ((uint64_t)gnomon_b->sum, all); \
    } while (0)

/* As a step ends, from the step on in which the pool is met. */
TEST(each_step_has_the_bytes_in_use)
{
    ATTACH("(as=m)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    for (size_t i = 0; i < 3; i++) {
        take(i, 100);
        take(9, 5000);
        give(9);
        if (i == 1)
            gnomon_pool_allocated(&cuda, block(20), 7);
        gnomon_step();
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    give(0);
    gnomon_step();
    for (int is_over = 0; is_over < 2; is_over++) { /* as it goes on too */
        gnomon_profile *p = live_snapshot("m");
        gnomon_strip_info s = level(p, 1, "host");
        if (CHECK_EQ(s.bin_count, 3))
            for (size_t i = 0; i < 3; i++)
                CHECK_BIN(s, i, 1, 100 * i + 100, 100 * i + 100, 100 * i + 100);
        s = level(p, 1, "weights/cuda:3");
        if (CHECK_EQ(s.bin_count, 3)) {
            CHECK_BIN(s, 0, 0, 0, 0, 0);
            CHECK_BIN(s, 2, 1, 7, 7, 7);
        }
        s = level(p, 2, "host");
        if (CHECK_EQ(s.bin_count, 1))
            CHECK_BIN(s, 0, 1, 200, 200, 200);
        gnomon_profile_free(p);
        if (!is_over)
            CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
}

TEST(many_steps_are_few_bins_of_memory)
{
    ATTACH("(as=m)");
    for (size_t i = 0; i < 3000; i++) {
        take(i, 10);
        gnomon_step();
    }
    gnomon_profile *p = live_snapshot("m");
    const gnomon_strip_info s = level(p, 1, "host");
    CHECK_EQ(s.width, 4);
    if (CHECK_EQ(s.bin_count, 750))
        for (size_t i = 0; i < 750; i++)
            CHECK_BIN(s, i, 4, 40 * i + 10, 40 * i + 40, 160 * i + 100);
    gnomon_profile_free(p);
}

/* What could not be read is in no bin, or all of it is. */
static int two_stages_without(uint64_t failing)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    ATTACH("(as=m)");
    gnomon_stage_begin("fit");
    take(1, 10);
    gnomon__test_fail_allocation(failing);
    gnomon_step();
    gnomon_stage_end();
    gnomon__test_pass(1); /* the next one is second, whatever its name */
    gnomon_stage_begin("validate");
    take(2, 20);
    gnomon_step();
    gnomon_profile *p = NULL;
    gnomon_snapshot(&p, "m", 1);
    const int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    for (uint32_t i = 1; p && i <= 2; i++) {
        const gnomon_strip_info s = level(p, i, "host");
        if (CHECK(s.bin_count || came) && s.bin_count)
            CHECK_BIN(s, 0, 1, 20 * i - 10, 20 * i - 10, 20 * i - 10);
    }
    gnomon_profile_free(p);
    return test_failures ? ALLOCATION_HARMED
           : came        ? ALLOCATION_CAME
                         : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_may_fail)
{
    CHECK(fail_each_allocation(two_stages_without) > 10);
}

/* Memory in a scope that was open before the stage is of the stage all the same. */
TEST(an_open_scope_takes_memory_in_each_stage)
{
    ATTACH("(as=m)");
    GNOMON_SCOPE("outer");
    take(1, 10);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    take(2, 20);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "outer", "host").allocated_bytes, 30);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

TEST(nothing_is_asked_where_nobody_records_memory)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(as=s)"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
    }
    take(1, 10);
    CHECK_EQ(host.mask, 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+" TEST_MEMORY "(as=m)"), GNOMON_OK);
    take(1, 10);
    CHECK(host.mask != 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, "-m"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+" TEST_MEMORY "(as=m)"), GNOMON_OK);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "", "host").allocations, 0); /* all was forgotten */
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(host.mask, 0);
}

/* A filter chooses scopes, and not pools: memory is of the innermost that it lets by. */
TEST(a_filter_leaves_pools_alone)
{
    ATTACH("(as=m,filter=outer)");
    GNOMON_SCOPE("outer");
    {
        GNOMON_SCOPE("inner");
        take(1, 10);
    }
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "outer", "host").allocated_bytes, 10);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+" TEST_MEMORY "(as=n)"),
             GNOMON_EFULL); /* one view at a time */
}

/* ---- Files and events ---------------------------------------------------------------- */

/* A file keeps all of it. JSON and merges: text/cli_merge/memory_of_ranks.txt. */
TEST(a_file_has_it_too)
{
    child_folder();
    ATTACH("(as=m)");
    {
        GNOMON_SCOPE("step");
        take(1, 100);
        give(1);
        take(2, 60);
        give(3);
        gnomon_pool_exhausted(&host, 1);
        gnomon_pool_reserved(&host, 512);
    }
    gnomon_profile *p = live_snapshot("m"), *read = NULL;
    CHECK_EQ(gnomon_write_file(p, "gnomon", "m.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&read, "m.gnomon"), GNOMON_OK);
    const gnomon_memory_stats a = sums(p, "step", "host");
    const gnomon_memory_stats b = sums(read, "step", "host");
    CHECK_SUMS(b, 2, 1, 160, 100, 60, 100);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_EQ(b.reserved_bytes, 512);
    CHECK_EQ(b.unknown, 1);
    gnomon_profile_free(p);
    gnomon_profile_free(read);
}

TEST(a_trace_has_each_allocation_and_free)
{
    child_folder();
    ATTACH("(as=m),trace(as=t,on_trace_ready=none)");
    {
        GNOMON_SCOPE("step");
        take(1, 100);
        gnomon_pool_allocated(&cuda, block(2), 7);
        give(1);
        give(3); /* not known: no bytes, and no event */
    }
    gnomon_profile *p = live_snapshot("t");
    static const double bytes[] = {100, 7, -100};
    static const size_t blocks[] = {1, 2, 1};
    size_t count = 0;
    gnomon_event_info e;
    gnomon_node_info n;
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        if (e.kind != GNOMON_EVENT_MEMORY || !CHECK(count < 3))
            continue;
        CHECK_EQ(e.value, bytes[count]);
        CHECK_EQ(e.instance, (uintptr_t)block(blocks[count]));
        CHECK_EQ(gnomon_profile_track(p, e.region, &k), GNOMON_OK);
        CHECK_STR(k.name, blocks[count] == 1 ? "host" : "weights/cuda:3");
        CHECK_EQ(gnomon_profile_node(p, e.node, &n), GNOMON_OK);
        count++;
    }
    CHECK_EQ(count, 3);
    CHECK_EQ(gnomon_write_file(p, "chrome", "t.json"), GNOMON_OK);
    gnomon_profile_free(p);
    char *text = child_load("t.json");
    CHECK_EQ(times_in(text, "\"[memory]\""), 3);
    CHECK_EQ(times_in(text, "\"Device Type\":1,\"Device Id\":3,\"Bytes\":7,"
                            "\"Addr\":65568,\"Total Allocated\":7"),
             1);
    free(text);
}

/* ---- Many -------------------------------------------------------------------------- */

#define MOST (IS_SLOW ? 20000u : 200000u)

TEST(many_blocks_in_any_order)
{
    ATTACH("(as=m)");
    uint32_t *order = malloc(MOST * sizeof *order);
    uint64_t all = 0, random = 1;
    GNOMON_SCOPE("step");
    for (uint32_t i = 0; i < MOST; i++) {
        order[i] = i;
        take(i, i % 1000 + 1);
        all += i % 1000 + 1;
    }
    for (uint32_t i = MOST; i-- > 1;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t other = (uint32_t)(random >> 33) % (i + 1);
        const uint32_t its = order[other];
        order[other] = order[i];
        order[i] = its;
    }
    for (uint32_t i = 0; i < MOST; i++)
        give(order[i]);
    gnomon_profile *p = live_snapshot("m");
    CHECK_SUMS(sums(p, "step", "host"), MOST, MOST, all, all, 0, all);
    CHECK_EQ(sums(p, "", "host").unknown, 0);
    gnomon_profile_free(p);
    free(order);
}

/* A free that nobody marked, of a block from before the table grew. */
TEST(a_pointer_comes_again_after_many_others)
{
    ATTACH("(as=m)");
    GNOMON_SCOPE("step");
    for (uint32_t i = 0; i < 20000; i++)
        take(i, 10);
    take(0, 3);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "", "host");
    CHECK_EQ(all.unknown, 1);
    CHECK_EQ(all.held_bytes, 19999 * 10 + 3);
    gnomon_profile_free(p);
}

/* The system gives no more memory: blocks without a place are counted. */
TEST(blocks_that_find_no_room_are_lost)
{
    struct rlimit was, none;
    if (IS_SANITIZED)
        SKIP("a sanitizer needs memory too");
    ATTACH("(as=m)");
    take(0, 1);
    CHECK_EQ(getrlimit(RLIMIT_AS, &was), 0);
    none = was;
    none.rlim_cur = 1;
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    for (uint32_t i = 1; i < 10000; i++)
        take(i, 1);
    CHECK_EQ(setrlimit(RLIMIT_AS, &was), 0);
    for (uint32_t i = 0; i < 10000; i++)
        give(i);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "", "host");
    CHECK(all.unknown > 5000 && all.unknown < 10000);
    CHECK_EQ(live_health().lost_blocks, all.unknown);
    CHECK_EQ(all.held_bytes, 0);
    gnomon_profile_free(p);
}

/* Each thread frees what the one before it allocated, some at a time, while others read. */
#define THREADS 4u
#define ROUNDS (IS_SLOW ? 300u : 20000u)
#define OF_TURN 50u
static uint32_t handed[THREADS];

static void *hand_on(void *context)
{
    const size_t own = (size_t)(uintptr_t)context;
    const size_t from = (own + THREADS - 1) % THREADS;
    uint32_t tries = 0;
    GNOMON_SCOPE("worker");
    for (uint32_t i = 0; i < ROUNDS; i += OF_TURN) {
        for (uint32_t k = i; k < i + OF_TURN; k++)
            take(own * ROUNDS + k, 3);
        __atomic_store_n(&handed[own], i + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&handed[from], __ATOMIC_ACQUIRE) <= i)
            give_turn(&tries);
        GNOMON_SCOPE("give");
        for (uint32_t k = i; k < i + OF_TURN; k++)
            give(from * ROUNDS + k);
    }
    return NULL;
}

TEST(threads_free_what_others_allocated)
{
    ATTACH("(as=m)");
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hand_on, (void *)(uintptr_t)i);
    for (int i = 0; i < 10; i++) {
        gnomon_step();
        gnomon_profile_free(live_snapshot("m"));
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gnomon_step();
    const unsigned all = THREADS * ROUNDS;
    gnomon_profile *p = live_snapshot("m");
    const gnomon_strip_info s = level(p, 1, "host");
    if (CHECK_EQ(s.bin_count, 11)) {
        for (size_t i = 0; i < 10; i++)
            CHECK(gnomon_bin_at(&s, i)->max <= 3 * all);
        CHECK_BIN(s, 10, 1, 0, 0, 0);
    }
    CHECK_EQ(sums(p, "worker", "host").allocations, all);
    CHECK_EQ(sums(p, "worker", "host").held_bytes, 0);
    CHECK_EQ(sums(p, "worker", "host").frees, 0);
    CHECK_EQ(sums(p, "give", "host").frees, all);
    CHECK_EQ(sums(p, "give", "host").freed_bytes, 3 * all);
    CHECK_EQ(sums(p, "", "host").unknown, 0);
    gnomon_profile_free(p);
}

TEST(a_child_records_nothing_of_its_parent)
{
    NEEDS_THREADS_AFTER_FORK();
    ATTACH("(as=m)");
    GNOMON_SCOPE("step");
    take(1, 10);
    gnomon_step();
    gnomon_step();
    const pid_t child = fork();
    if (!child) {
        give(1); /* off, and silent */
        take(2, 10);
        const int first = gnomon_setup(NULL);
        ATTACH("(as=m)");
        GNOMON_SCOPE("child");
        take(3, 5);
        gnomon_step();
        gnomon_profile *p = live_snapshot("m");
        const gnomon_strip_info s = level(p, 1, "host");
        if (CHECK_EQ(s.bin_count, 1))
            CHECK_BIN(s, 0, 1, 5, 5, 5);
        const gnomon_memory_stats all = sums(p, "", "host");
        CHECK_EQ(all.allocated_bytes, 5);
        CHECK_EQ(all.held_bytes, 5);
        gnomon_profile_free(p);
        _exit(first != GNOMON_OK || test_failures);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "step", "host").held_bytes, 10);
    gnomon_profile_free(p);
}

#ifdef MCL_ONFAULT
/* The system does not empty locked memory. Says nothing where none can be locked. */
TEST(blocks_of_the_recording_before_are_forgotten_if_memory_is_locked)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    ATTACH("(as=m)");
    take(1, 10);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    if (mlockall(MCL_CURRENT | MCL_ONFAULT))
        return;
    ATTACH("(as=m)");
    munlockall();
    GNOMON_SCOPE("step");
    give(1);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "step", "host").unknown, 1);
    CHECK_EQ(sums(p, "step", "host").frees, 0);
    gnomon_profile_free(p);
}
#endif

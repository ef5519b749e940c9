/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory while something else happens: stages end, profilers come and go, windows open and
 * close and processes fork, as threads allocate and free each other's blocks.
 *
 * links: static */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "mark/memory.h"
#include "mark/thread.h"
#include "memory_sums.h"
#include "recording_threads.h"
#include "turns.h"

/* ---- Threads that mark ----------------------------------------------------------------- */

#define THREADS 3
#define SLOTS 64u
#define BYTES 16u

/* A slot has a block or none; whoever takes it from there frees it. */
static uint32_t slots[SLOTS];
static int is_over;
static uint64_t marked; /* allocations and frees that are told */

static void change_slot(uint32_t number)
{
    uint32_t *slot = &slots[number % SLOTS], was = load_relaxed(slot);
    if (was == UINT32_MAX || !cas_acq_rel(slot, &was, UINT32_MAX))
        return;
    if (was)
        give(number % SLOTS);
    else
        take(number % SLOTS, BYTES);
    add_relaxed(&marked, 1);
    store_release(slot, !was);
}

static void *change_slots(void *context)
{
    uint32_t random = *(const uint32_t *)context;
    while (!load_acquire(&is_over)) {
        GNOMON_SCOPE("worker");
        for (int i = 0; i < 20; i++)
            change_slot((random = random * 1664525u + 1013904223u) >> 8);
        sched_yield();
    }
    return NULL;
}

/* Bytes that the threads left in use. */
static uint64_t bytes_left(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        bytes += slots[i] ? BYTES : 0;
    return bytes;
}

static void while_threads_mark(void (*what)(void))
{
    static uint32_t seeds[THREADS] = {1, 2, 3};
    pthread_t threads[THREADS];
    live_start(threads, THREADS, change_slots, seeds, sizeof *seeds);
    for (uint32_t tries = 0; load_relaxed(&marked) < 1000;)
        give_turn(&tries);
    what();
    store_release(&is_over, 1);
    live_join(threads, THREADS);
}

/* ---- The peak -------------------------------------------------------------------------- */

/* Threads take turns, each for some marks. */
#define TURNS (IS_SLOW ? 200u : 600u)
static uint32_t turn, used[SLOTS];
static uint64_t in_use, most;

static void take_turn(uint32_t *random)
{
    for (uint32_t i = 0; i < 12; i++) {
        *random = *random * 1664525u + 1013904223u;
        const uint32_t slot = (*random >> 8) % SLOTS, bytes = *random >> 22;
        if (used[slot])
            give(slot);
        else
            take(slot, bytes + 1);
        in_use += used[slot] ? 0 - (uint64_t)used[slot] : bytes + 1;
        used[slot] = used[slot] ? 0 : bytes + 1;
        most = in_use > most ? in_use : most;
    }
}

static void *take_turns(void *context)
{
    const uint32_t own = *(const uint32_t *)context;
    uint32_t random = own, tries = 0;
    GNOMON_SCOPE("worker");
    for (uint32_t now; (now = load_acquire(&turn)) < TURNS;) {
        if (now % THREADS + 1 != own) {
            give_turn(&tries);
            continue;
        }
        take_turn(&random);
        store_release(&turn, now + 1);
    }
    return NULL;
}

/* Threads that free keep credit, and the peak is exact all the same. */
TEST(a_peak_is_exact_whichever_thread_frees)
{
    static uint32_t numbers[THREADS] = {1, 2, 3};
    pthread_t threads[THREADS];
    ATTACH("(as=m)");
    CHECK_EQ(gnomon_stage_begin("first"), GNOMON_OK);
    live_start(threads, THREADS, take_turns, numbers, sizeof *numbers);
    live_join(threads, THREADS);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "worker", "host").at_peak_bytes, most);
    CHECK_EQ(sums(p, "worker", "host").held_bytes, in_use);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("next"), GNOMON_OK);
    take(SLOTS, 1); /* now most is in use in this stage */
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_snapshot(&p, "m", 0), GNOMON_OK);
    CHECK_EQ(sums(p, "", "host").at_peak_bytes, in_use + 1);
    gnomon_profile_free(p);
}

/* ---- Stages ---------------------------------------------------------------------------- */

static void end_stages(void)
{
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(gnomon_stage_begin(i % 2 ? "fit" : "validate"), GNOMON_OK);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
}

/* Also where a stage has nothing else, as the scope around it began earlier. */
TEST(memory_alone_is_of_a_stage_too)
{
    ATTACH("(as=m,file=/dev/null)");
    GNOMON_SCOPE("worker");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    take(1, BYTES);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "worker", "host").allocations, 1);
    gnomon_profile_free(p);
}

/* NULL is ignored. */
TEST(no_block_makes_no_stage)
{
    gnomon_stage_info stage;
    ATTACH("(as=m,file=/dev/null)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon_pool_freed(&host, NULL);
    gnomon_pool_allocated(&host, NULL, BYTES);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 1);
    gnomon_profile_free(p);
    gnomon_pool_reserved(&host, BYTES);
    CHECK_EQ(gnomon_snapshot(&p, "m", 0), GNOMON_OK);
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    CHECK_EQ(stage.ordinal, 2);
    CHECK_EQ(sums(p, "(outside)", "host").reserved_bytes, BYTES);
    gnomon_profile_free(p);
}

/* Each mark is in one stage. */
TEST(a_stage_ends_while_threads_mark)
{
    ATTACH("(as=m,file=/dev/null)");
    while_threads_mark(end_stages);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "worker", "host");
    CHECK_EQ(all.allocations + all.frees, marked);
    CHECK_EQ(all.live_bytes, bytes_left());
    CHECK_EQ(all.held_bytes, bytes_left());
    CHECK_EQ(all.unknown, 0);
    gnomon_profile_free(p);
}

static int is_inside; /* of a mark, until is_over */

static void *stay_inside_a_mark(void *unused)
{
    {
        GNOMON_SCOPE("worker");
        take(1, BYTES);
    }
    take(2, BYTES);
    gnomon__thread *t = gnomon__enter();
    store_release(&is_inside, 1);
    while (!load_acquire(&is_over))
        sched_yield();
    gnomon__leave(t);
    return unused;
}

/* The stage ends without waiting for the thread, which had made new paths in it. */
TEST(a_thread_stays_inside_one_mark_over_a_stages_end)
{
    pthread_t thread;
    gnomon_profile *p = NULL;
    child_folder();
    ATTACH("(as=m,file=run.gnomon)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    pthread_create(&thread, NULL, stay_inside_a_mark, NULL);
    while (!load_acquire(&is_inside))
        sched_yield();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    store_release(&is_over, 1);
    pthread_join(thread, NULL);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(sums(p, "worker", "host").allocations, 1);
    CHECK_EQ(sums(p, "(outside)", "host").allocations, 1);
    gnomon_profile_free(p);
}

/* ---- Attaching ------------------------------------------------------------------------- */

static void attach_and_detach(void)
{
    for (int i = 0; i < 50; i++) {
        ATTACH("(as=m,file=/dev/null)");
        sched_yield();
        gnomon_profile *p = live_snapshot("m");
        const gnomon_memory_stats all = sums(p, "", "host");
        /* Of blocks that it saw begin. What is being marked may be half in it. */
        CHECK(all.allocations + THREADS >= all.frees);
        CHECK(all.held_bytes >= -(int64_t)(THREADS * BYTES));
        CHECK(all.held_bytes <= (int64_t)((SLOTS + THREADS) * BYTES));
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_attach(NULL, NULL, i % 2 ? "" : "simple(as=s)"),
                 GNOMON_OK);
    }
    ATTACH("(as=m,file=/dev/null)");
}

/* Each attachment begins with no block, and its end leaves none. */
TEST(profilers_come_and_go_while_threads_mark)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    while_threads_mark(attach_and_detach);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots[i])
            give(i);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "", "host");
    CHECK_EQ(all.allocations, all.frees);
    CHECK_EQ(all.live_bytes, 0);
    CHECK_EQ(all.held_bytes, 0);
    gnomon_profile_free(p);
}

/* A recorder whose marks last until they are let go. */
static int64_t mark_long(uint32_t thread, uint32_t node, uint32_t pool,
                         int kind, const void *pointer, uint64_t bytes)
{
    (void)(thread + node + pool + bytes + (uint64_t)kind + (uintptr_t)pointer);
    store_release(&is_inside, 1);
    while (!load_acquire(&is_over))
        sched_yield();
    usleep(20000);
    store_release(&is_inside, 0);
    return 0;
}

static void begin_anew(void)
{
    CHECK_EQ(load_acquire(&is_inside), 0);
}

static int read_nothing(void *to, int (*put)(void *, uint32_t, uint32_t,
                                             const gnomon_memory_stats *))
{
    return !to || put != NULL;
}

static void nothing(void)
{
}

static void no_step(uint64_t at)
{
    (void)at;
}

static int no_levels(void *to, int (*put)(void *, uint32_t, uint64_t,
                                          const gnomon_bin *, size_t))
{
    return !to || put != NULL;
}

static uint64_t none_lost(void)
{
    return 0;
}

static void *take_one(void *unused)
{
    take(1, 10);
    return unused;
}

/* A recording begins when the marks of the one before are over. */
TEST(a_mark_is_over_before_the_next_recording_begins)
{
    static const gnomon_memory_recorder slow = {.struct_size = sizeof slow,
                                                .abi = GNOMON_ABI,
                                                .mark = mark_long,
                                                .begin = begin_anew,
                                                .read = read_nothing,
                                                .next = nothing,
                                                .step = no_step,
                                                .levels = no_levels,
                                                .lost = none_lost};
    static const gnomon_profiler keeper = {.struct_size = sizeof keeper,
                                           .abi = GNOMON_ABI,
                                           .wants = GNOMON_WANT_TREE |
                                                    GNOMON_WANT_MEMORY,
                                           .name = "keeper",
                                           .help = "keeps memory"};
    pthread_t thread;
    CHECK_EQ(gnomon__memory_record(&slow), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_create(&thread, NULL, take_one, NULL);
    while (!load_acquire(&is_inside))
        sched_yield();
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
    store_release(&is_over, 1);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_join(thread, NULL);
}

/* ---- Windows --------------------------------------------------------------------------- */

#define STEPS 40u

/* In each step a block lives to the next step's end, and another for a moment. */
static void take_steps(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        GNOMON_SCOPE("step");
        take(2 * i, 100);
        take(2 * i + 1, 7);
        give(2 * i + 1);
        if (i)
            give(2 * i - 2);
        gnomon_step();
    }
}

/* What a window saw begin and a wait saw end is no leak, and not in use any more. */
TEST(a_block_may_end_between_windows)
{
    ATTACH("(as=m,schedule=wait:7/active:1)"); /* steps 7, 15, 23, 31, 39 */
    take_steps();
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "step", "host");
    CHECK_EQ(all.allocations, 10);
    CHECK_EQ(all.allocated_bytes, 535);
    CHECK_EQ(all.frees, 5);
    CHECK_EQ(all.unknown, 5); /* of the step before the window */
    CHECK_EQ(all.held_bytes, 100);
    CHECK_EQ(all.at_peak_bytes, 107);
    gnomon_profile_free(p);
}

/* Also where the stage of that window is over, and nothing else is marked. */
TEST(a_block_may_end_after_the_last_stage)
{
    ATTACH("(as=m,file=/dev/null,schedule=skip_first:1/active:1)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_step();
    take(1, BYTES);
    gnomon_step();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "(outside)", "host").held_bytes, BYTES);
    gnomon_profile_free(p);
    give(1);
    p = live_snapshot("m");
    CHECK_EQ(sums(p, "(outside)", "host").held_bytes, 0);
    gnomon_profile_free(p);
}

/* Of each 16 steps one is long enough for some marks; a third of these is in a window. */
static void step_often(void)
{
    uint32_t tries = 0;
    for (int i = 0; i < 2000; i++) {
        gnomon_step();
        const uint64_t until = load_relaxed(&marked) + 16;
        while (i % 16 == 0 && load_relaxed(&marked) < until)
            give_turn(&tries);
    }
}

TEST(windows_open_and_close_while_threads_mark)
{
    ATTACH("(as=m,file=/dev/null,schedule=wait:2/active:1)");
    while_threads_mark(step_often);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots[i])
            give(i);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "", "host");
    CHECK(all.allocations > 0);
    CHECK_EQ(all.held_bytes, 0);
    CHECK(all.at_peak_bytes <= SLOTS * BYTES);
    gnomon_profile_free(p);
}

/* A rank that is left out marks nothing. */
TEST(ranks_leave_pools_out_too)
{
    const gnomon_setup_options second = {.struct_size = sizeof second,
                                         .has_rank = 1,
                                         .rank = 1,
                                         .world_size = 2};
    CHECK_EQ(gnomon_setup(&second), GNOMON_OK);
    ATTACH("(as=m,ranks=0)");
    take(1, 10);
    CHECK_EQ(host.mask, 0);
}

/* ---- Forks ----------------------------------------------------------------------------- */

static void live_in_child(void)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    ATTACH("(as=m,file=/dev/null)");
    memset(slots, 0, sizeof slots);
    marked = 0;
    while_threads_mark(end_stages);
    gnomon_profile *p = live_snapshot("m");
    const gnomon_memory_stats all = sums(p, "worker", "host");
    CHECK_EQ(all.allocations + all.frees, marked);
    CHECK_EQ(all.held_bytes, bytes_left());
    CHECK_EQ(all.unknown, 0);
    gnomon_profile_free(p);
}

static void fork_often(void)
{
    for (int i = 0; i < 10; i++) {
        const pid_t child = fork();
        int status = -1;
        if (!child) {
            live_in_child();
            _exit(test_failures != 0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* What other threads left half done in the child's copy harms nothing there. */
TEST(a_process_forks_while_threads_mark)
{
    NEEDS_THREADS_AFTER_FORK();
    ATTACH("(as=m,file=/dev/null)");
    while_threads_mark(fork_often);
    gnomon_profile *p = live_snapshot("m");
    CHECK_EQ(sums(p, "worker", "host").held_bytes, bytes_left());
    gnomon_profile_free(p);
}

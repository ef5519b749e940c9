/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory while something else happens: stages end, profilers come and go, windows open and
 * close and processes fork, as threads allocate and free each other's blocks.
 *
 * links: static */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_sums.h"
#include "recording_threads.h"

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
    while (load_relaxed(&marked) < 1000)
        sched_yield();
    what();
    store_release(&is_over, 1);
    live_join(threads, THREADS);
}

/* ---- Stages ---------------------------------------------------------------------------- */

static void end_stages(void)
{
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(gnomon_stage_begin(i % 2 ? "fit" : "validate"), GNOMON_OK);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
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

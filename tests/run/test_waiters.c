/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that wait for a control call, and whom it wakes: they sleep on one word, and
 * only a call of the kernel's wakes them before their time is over.
 *
 * links: testing */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "marks.h"
#include "platform/atomic.h"
#include "os_calls.h"
#include "turns.h"

static uint32_t waiter_calls, is_over; /* its calls of the kernel */
static long waiter;                    /* its thread id */
static uint64_t calls_before, calls_after;
static int is_watched;

static __thread int is_waiter;

static void note_call(void)
{
    if (is_waiter)
        add_relaxed(&waiter_calls, 1);
}

static int is_asleep(long thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int f = open(path, O_RDONLY);
    ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
    if (f >= 0)
        close(f);
    const char *state = n > 0 ? strrchr(text, ')') : NULL;
    return state && state[1] && state[2] == 'S';
}

static void *begin_a_stage(void *unused)
{
    is_waiter = 1;
    store_release(&waiter, (syscall)(SYS_gettid)); /* not as the library does */
    CHECK_EQ(gnomon_stage_begin("other"), GNOMON_OK);
    store_release(&is_over, 1);
    return unused;
}

/* The end of a stage: this thread has the lock of control calls, and loads nothing. The
 * next thing that it does is setup. */
static void let_another_wait(void *self, const char *stage)
{
    (void)self, (void)stage;
    pthread_t thread;
    if (is_watched++)
        return;
    gnomon__test_fail_calls("syscall", UINT64_MAX, 1, 0);
    gnomon__test_at_calls(note_call);
    CHECK_EQ(pthread_create(&thread, NULL, begin_a_stage, NULL), 0);
    pthread_detach(thread);
    for (uint32_t tries = 0;
         load_relaxed(&waiter_calls) < 2 || !is_asleep(load_acquire(&waiter));)
        give_turn(&tries);
    calls_before = gnomon__test_calls();
}

static int see_who_is_awake(void *self, const gnomon_run_info *run,
                            const char *stage)
{
    (void)self, (void)run, (void)stage;
    if (is_watched == 1)
        calls_after = gnomon__test_calls();
    return 0;
}

static const gnomon_profiler watcher = {.struct_size = sizeof watcher,
                                        .abi = GNOMON_ABI,
                                        .wants = GNOMON_WANT_TREE,
                                        .name = "watcher",
                                        .setup = see_who_is_awake,
                                        .teardown = let_another_wait};

/* Setup may load a library whose constructor waits for this very call. A thread that
 * waits begins to count its second then, and not when it wakes by itself. */
TEST(they_are_told_when_loading_begins)
{
    alarm(100);
    CHECK_EQ(gnomon_attach(&watcher, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("one"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("two"), GNOMON_OK);
    for (uint32_t tries = 0; !load_acquire(&is_over);)
        give_turn(&tries);
    gnomon__test_at_calls(NULL);
    CHECK(calls_after > calls_before);
}

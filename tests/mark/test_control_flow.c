/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control flow that breaks the nesting of calls: longjmp out of scopes,
 * recursion a million deep, contexts that move between threads. Scopes left
 * open are ended by the end of an outer scope, or by steps. For exceptions,
 * pthread_cancel and pthread_exit: tests/unwind.
 *
 * links: static
 * labels: guest */
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);

static uint64_t starts, stops, wrong;

static void see_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    starts++;
    *slot = frame->token;
}

static void see_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    stops++;
    wrong += *slot != frame->token;
}

static const gnomon_profiler seeing = {
    .struct_size = sizeof seeing,
    .abi = GNOMON_ABI,
    .name = "seeing",
    .start = see_start,
    .stop = see_stop,
};

static size_t open_now(void)
{
    return (size_t)gnomon_thread_stack(0, NULL, 0);
}

/* ---- longjmp ------------------------------------------------------------- */

static jmp_buf back;

static void leave(int how)
{
    GNOMON_SCOPE("inner");
    if (how)
        longjmp(back, 1);
}

static void one_round(int how)
{
    GNOMON_SCOPE("round");
    leave(how);
}

/* Each round is left from two scopes deep. */
static void rounds_that_jump(int n, int step)
{
    for (volatile int i = 0; i < n; i++) {
        if (!setjmp(back))
            one_round(1);
        if (step)
            gnomon_step();
    }
}

TEST(the_end_around_ends_what_was_left)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seeing, NULL, NULL), GNOMON_OK);
    gnomon_token t = gnomon_begin(&outer_region);
    rounds_that_jump(10, 0);
    CHECK_EQ(open_now(), 21);
    gnomon_end(t);
    CHECK_EQ(open_now(), 0);
    one_round(0);
    CHECK_EQ(live_health().crossed, 20);
    CHECK_EQ(live_count_of("keeper", "round"), 11);
    CHECK_EQ(live_count_of("keeper", "inner"), 11);
    CHECK_EQ(starts, 23);
    CHECK_EQ(stops, 23);
    CHECK_EQ(wrong, 0);
}

/* Without an outer scope and without steps they would nest up to the limit. */
static void steps_end_what_was_left(int hooks)
{
    if (hooks != 1)
        CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    if (hooks)
        CHECK_EQ(gnomon_attach(&seeing, NULL, NULL), GNOMON_OK);
    rounds_that_jump(10000, 1);
    gnomon_health h = live_health();
    if (hooks != 1) {
        CHECK(open_now() <= 32);
        CHECK(live_count_of("keeper", "round") >= 9984);
        CHECK(live_count_of("keeper", "inner") >= 9984);
    }
    if (hooks) {
        CHECK(starts - stops <= 32);
        CHECK_EQ(starts, 20000);
        CHECK_EQ(wrong, 0);
    }
    CHECK(h.crossed >= 19968 && h.crossed <= 20000);
    CHECK_EQ(h.too_deep + h.other_nodes + h.lost_frames + h.unmatched, 0);
}

TEST(steps_end_what_was_left_in_a_tree)
{
    steps_end_what_was_left(0);
}

TEST(steps_end_what_was_left_before_hooks)
{
    steps_end_what_was_left(1);
}

TEST(steps_end_what_was_left_in_both)
{
    steps_end_what_was_left(2);
}

/* One of many rounds is left; the step is inside the scope. It could be a
 * training inside a training: only the end of the outer scope decides. */
static void step_inside(int how)
{
    GNOMON_SCOPE("round");
    leave(how);
    gnomon_step();
}

TEST(a_single_jump_waits_for_the_end_around_it)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    gnomon_token fit = gnomon_begin(&outer_region);
    for (volatile int i = 0; i < 100; i++)
        if (!setjmp(back))
            step_inside(i == 50);
    CHECK_EQ(open_now(), 3);
    gnomon_end(fit);
    CHECK_EQ(open_now(), 0);
    CHECK_EQ(live_count_of("keeper", "round"), 100);
    CHECK_EQ(live_count_of("keeper", "inner"), 100);
    gnomon_health h = live_health();
    CHECK_EQ(h.crossed, 2);
    CHECK_EQ(h.unmatched, 0);
}

/* ---- Scopes that steps must not end -------------------------------------- */

static void recurse_with_steps(int depth)
{
    GNOMON_SCOPE("level");
    gnomon_step();
    if (depth)
        recurse_with_steps(depth - 1);
    gnomon_step();
}

/* Both loops use one name for their rounds, and step in the same function. */
static void step_once(void)
{
    GNOMON_SCOPE("round");
    gnomon_step();
}

static void training_in_training(int depth)
{
    if (!depth) {
        step_once();
        return;
    }
    GNOMON_SCOPE("round");
    for (int i = 0; i < 3; i++)
        training_in_training(depth - 1);
    gnomon_step();
}

static void loop_in_loop(void)
{
    GNOMON_SCOPE("epoch");
    gnomon_step();
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE("train");
        gnomon_step();
        GNOMON_SCOPE("inner");
        gnomon_step();
    }
    gnomon_step();
}

TEST(steps_anywhere_end_nothing_else)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seeing, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 10; i++) {
        loop_in_loop();
        recurse_with_steps(200);
        training_in_training(4);
        gnomon_start("loop");
        loop_in_loop();
    }
    gnomon_stop("loop");
    CHECK_EQ(live_count_of("keeper", "epoch"), 20);
    CHECK_EQ(live_count_of("keeper", "train"), 200);
    CHECK_EQ(live_count_of("keeper", "level"), 2010);
    CHECK_EQ(live_count_of("keeper", "round"), 10 * (1 + 3 + 9 + 27 + 81));
    CHECK_EQ(starts, stops);
    gnomon_health h = live_health();
    CHECK_EQ(h.twice, 9);
    CHECK_EQ(h.crossed + h.unmatched + h.too_deep + h.lost_frames, 0);
}

/* ---- Recursion ----------------------------------------------------------- */

#define DEPTH (IS_SLOW ? 20000 : 1000000)

static __attribute__((noinline)) void recurse(int depth)
{
    GNOMON_SCOPE("level");
    if (depth > 1)
        recurse(depth - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *recurse_once(void *unused)
{
    recurse(DEPTH);
    recurse(3);
    return unused;
}

TEST(a_million_deep_on_the_stack)
{
    pthread_t thread;
    pthread_attr_t large;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_attr_init(&large);
    if (pthread_attr_setstacksize(&large, 1ul << 30) ||
        pthread_create(&thread, &large, recurse_once, NULL))
        SKIP("no address space for such a stack");
    pthread_join(thread, NULL);
    gnomon_health h = live_health();
    CHECK(h.too_deep > 0);
    CHECK(h.mapped_bytes < 2 << 20);
    CHECK_EQ(h.left_open + h.crossed + h.unmatched, 0);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    long long all = live_count(p, "level") + (long long)h.too_deep;
    CHECK_EQ(all, DEPTH + 3);
    gnomon_profile_free(p);
}

/* ---- Contexts that move between threads ---------------------------------- */

#if !IS_SANITIZED
#define CONTEXTS 8
#define STACK_BYTES 65536

typedef struct wanderer {
    ucontext_t context, caller;
    char *stack;
    long rounds;
    int is_over;
} wanderer;

static wanderer wanderers[CONTEXTS];
static uint32_t next_turn;

/* Switches back to its thread's context in the middle of its scopes. */
static void wander(int number)
{
    wanderer *w = &wanderers[number];
    for (long i = 0; i < w->rounds; i++) {
        GNOMON_SCOPE("first");
        swapcontext(&w->context, &w->caller);
        GNOMON_SCOPE("second");
        gnomon_start("by name");
        swapcontext(&w->context, &w->caller);
        gnomon_stop("by name");
    }
    w->is_over = 1;
    swapcontext(&w->context, &w->caller);
}

/* Each context runs on any free thread, one at a time. */
static pthread_mutex_t turns[CONTEXTS];

static void *carry(void *rounds)
{
    for (long i = 0; i < *(long *)rounds; i++) {
        uint32_t n = add_relaxed(&next_turn, 1) * 5 % CONTEXTS;
        pthread_mutex_lock(&turns[n]);
        if (!wanderers[n].is_over)
            swapcontext(&wanderers[n].caller, &wanderers[n].context);
        pthread_mutex_unlock(&turns[n]);
    }
    return NULL;
}

static void start_contexts(long rounds)
{
    for (int i = 0; i < CONTEXTS; i++) {
        wanderer *w = &wanderers[i];
        getcontext(&w->context);
        w->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        w->context.uc_stack.ss_sp = w->stack;
        w->context.uc_stack.ss_size = STACK_BYTES;
        w->rounds = rounds;
        pthread_mutex_init(&turns[i], NULL);
        makecontext(&w->context, (void (*)(void))(size_t)wander, 1, i);
    }
}

static pthread_barrier_t begun, over;

/* Begins each context and does not end, so that another thread must continue
 * it. */
static void *carry_first(void *contexts)
{
    carry(contexts);
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&over);
    return NULL;
}

static void wandering(int threads)
{
    pthread_t all[8], first;
    long turns_each[8], rounds = live_times(2000, 200000), each = CONTEXTS;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seeing, NULL, "filter=nothing"), GNOMON_OK);
    start_contexts(rounds);
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    if (threads > 1) {
        live_start(&first, 1, carry_first, &each, sizeof each);
        pthread_barrier_wait(&begun);
    }
    for (int i = 0; i < threads; i++)
        turns_each[i] = rounds * 4;
    live_start(all, threads, carry, turns_each, sizeof *turns_each);
    live_join(all, threads);
    if (threads > 1) {
        pthread_barrier_wait(&over);
        live_join(&first, 1);
    }
    /* Ended threads left scopes open, which disturbs nothing. An end on another thread
     * ends the scope, or is counted: which, depends on who ran when. */
    gnomon_health h = live_health();
    CHECK(h.crossed + h.unmatched + h.foreign + h.left_open > 0);
    CHECK_EQ(h.lost_scopes + h.bad_regions + h.reentered, 0);
    gnomon_profile_free(live_snapshot("keeper")); /* and its invariants */
    gnomon_token t = gnomon_begin(&outer_region);
    gnomon_end(t);
    CHECK_EQ(live_count_of("keeper", "outer"), 1);
}

TEST(soak_contexts_that_move_between_threads)
{
    wandering(4);
}

TEST(soak_contexts_that_take_turns_on_one_thread)
{
    wandering(1);
}

/* The process's first mark fits into a context's stack. */
static void first_in_context(int unused)
{
    (void)unused;
    GNOMON_SCOPE("first");
}

TEST(the_first_mark_in_a_context)
{
    static ucontext_t context, caller;
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    getcontext(&context);
    context.uc_stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = &caller;
    makecontext(&context, (void (*)(void))(size_t)first_in_context, 1, 0);
    CHECK_EQ(swapcontext(&caller, &context), 0);
    CHECK_EQ(live_count_of("simple", "first"), 1);
}
#endif

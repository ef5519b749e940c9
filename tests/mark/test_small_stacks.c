/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls that may be made in a handler or on a thread with a small stack take little of
 * it: each runs on a stack filled with a pattern, and what it overwrites is measured.
 * links: testing
 * labels: guest */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include "marks.h"
#include "sanitizer.h"

#define STACK (256u << 10)
#define MOST 8192u /* bytes; docs/inside/promises.md says so */
#define PAINT 0xa5

static unsigned char stack[STACK] __attribute__((aligned(64)));
static ucontext_t main_context, small_stack;
static void (*what)(void);

static void run_there(void)
{
    what();
}

/* Stack bytes that `f` used, with those of any call on a new stack. */
static size_t taken_by(void (*f)(void))
{
    size_t free_bytes = 0;
    memset(stack, PAINT, sizeof stack);
    what = f;
    getcontext(&small_stack);
    small_stack.uc_stack.ss_sp = stack;
    small_stack.uc_stack.ss_size = sizeof stack;
    small_stack.uc_link = &main_context;
    makecontext(&small_stack, run_there, 0);
    swapcontext(&main_context, &small_stack);
    while (free_bytes < sizeof stack && stack[free_bytes] == PAINT)
        free_bytes++;
    return sizeof stack - free_bytes;
}

static void check(const char *name, void (*f)(void))
{
    size_t bytes = taken_by(f);
    fprintf(stderr, "    %-24s %zu bytes\n", name, bytes);
    CHECK(bytes <= MOST);
}
#define CHECK_STACK(f) check(#f, f)

/* ---- The calls --------------------------------------------------------------- */

static void one_scope(void)
{
    GNOMON_SCOPE("a scope");
    pass(1);
}

static void one_action(void)
{
    gnomon_start("an action");
    gnomon_stop("an action");
}

static void a_new_name(void)
{
    static char name[600];
    memset(name, 'n', sizeof name - 1);
    gnomon_start(name);
    gnomon_stop(name);
    gnomon_end(gnomon_begin(gnomon_region_get(name, name, GNOMON_KIND_SCOPE)));
}

static void one_range(void)
{
    GNOMON_REGION(r, "a range", NULL);
    gnomon_range_end(gnomon_range_begin(&r));
}

static void samples(void)
{
    GNOMON_COUNTER("a counter", 1);
    GNOMON_MARK("a mark");
}

static void a_step(void)
{
    gnomon_step();
}

static void a_link(void)
{
    GNOMON_SCOPE("linked");
    gnomon_link l = gnomon_link_out();
    gnomon_link_in(&l, GNOMON_LINK_SUBMIT);
}

static void deep(void)
{
    static gnomon_token t[1100];
    for (int i = 0; i < 1100; i++)
        t[i] = gnomon_begin(gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE));
    for (int i = 1100; i-- > 0;)
        gnomon_end(t[i]);
}

static void out_of_order(void)
{
    gnomon_token a = gnomon_begin(
                     gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE)),
                 b = gnomon_begin(
                     gnomon_region_get("b", NULL, GNOMON_KIND_SCOPE));
    gnomon_end(a);
    gnomon_end(b);
    a = gnomon_begin(gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE));
    gnomon_begin(gnomon_region_get("b", NULL, GNOMON_KIND_SCOPE));
    gnomon_end_alone(a);
}

/* More than 16 scopes around an open one have ended, so it moves. */
#define OVERLAPPING 60
static gnomon_token overlapping[OVERLAPPING];

static void begin_overlapping(void)
{
    for (int i = 0; i < OVERLAPPING; i++)
        overlapping[i] = gnomon_begin(
            gnomon_region_get("overlapping", NULL, GNOMON_KIND_SCOPE));
}

static void overlap(void)
{
    begin_overlapping();
    for (int i = 0; i < OVERLAPPING; i++)
        gnomon_end_alone(overlapping[i]);
}

static void *end_overlapping(void *all)
{
    (void)all;
    for (int i = 0; i < OVERLAPPING - 1; i++)
        gnomon_end(overlapping[i]);
    return NULL;
}

/* Ends of other threads, except the innermost, are applied in this call. */
static void take_told_ends(void)
{
    gnomon_end(overlapping[OVERLAPPING - 1]);
}

static void the_stack(void)
{
    static gnomon_open_scope scopes[4];
    scopes[0].struct_size = sizeof *scopes;
    for (size_t i = 0; i < gnomon_thread_count(); i++)
        gnomon_thread_stack(i, scopes, 4);
}

static void names(void)
{
    gnomon_thread_name("a thread");
}

static void health(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
}

static void all_calls(void)
{
    CHECK_STACK(one_scope);
    CHECK_STACK(one_action);
    CHECK_STACK(a_new_name);
    CHECK_STACK(one_range);
    CHECK_STACK(samples);
    CHECK_STACK(a_step);
    CHECK_STACK(a_link);
    CHECK_STACK(out_of_order);
    CHECK_STACK(overlap);
    pthread_t other;
    begin_overlapping();
    CHECK_EQ(pthread_create(&other, NULL, end_overlapping, NULL), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_STACK(take_told_ends);
    CHECK_STACK(the_stack);
    CHECK_STACK(names);
    CHECK_STACK(health);
}

static void nothing(void)
{
}

/* ---- Observers ----------------------------------------------------------- */

static void seen(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .wants = GNOMON_WANT_TIMES,
                                     .name = "hook",
                                     .start = seen,
                                     .stop = seen};

static void *on_a_new_thread(void *unused)
{
    (void)unused;
    CHECK_STACK(one_scope); /* its first mark */
    all_calls();
    return NULL;
}

static void on_both(void)
{
    pthread_t thread;
    all_calls();
    if (CHECK_EQ(pthread_create(&thread, NULL, on_a_new_thread, NULL), 0))
        pthread_join(thread, NULL);
}

static int is_measured(void)
{
    size_t none = taken_by(nothing);
    return none < 1024;
}

/* ---- Tests -------------------------------------------------------------------- */

TEST(off)
{
    if (IS_SANITIZED || !is_measured())
        SKIP("stacks are not what they are without a sanitizer");
    CHECK_STACK(one_scope); /* the process's first */
    on_both();
}

/* It looks for a library of that name. */
TEST(a_word_of_no_profiler)
{
    if (IS_SANITIZED || !is_measured())
        SKIP("stacks are not what they are without a sanitizer");
    setenv("GNOMON", "off", 1);
    CHECK_STACK(one_scope);
}

TEST(a_tree)
{
    if (IS_SANITIZED || !is_measured())
        SKIP("stacks are not what they are without a sanitizer");
    setenv("GNOMON", "simple", 1);
    CHECK_STACK(one_scope);
    on_both();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

TEST(trees_and_hooks)
{
    if (IS_SANITIZED || !is_measured())
        SKIP("stacks are not what they are without a sanitizer");
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple,advanced(exclude=x)"),
             GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    on_both();
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

TEST(many_are_open)
{
    if (IS_SANITIZED || !is_measured())
        SKIP("stacks are not what they are without a sanitizer");
    attach_probe();
    CHECK_STACK(deep);
    for (int i = 0; i < 1000; i++)
        gnomon_begin(gnomon_region_get("open", NULL, GNOMON_KIND_SCOPE));
    CHECK_STACK(the_stack);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    CHECK_STACK(deep);
    CHECK_STACK(out_of_order);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile is read at each instruction of a mark: the processor steps
 * through the mark, and at each step (EACH) another thread takes a profile. A
 * half written node must not mislead the reader, nor count anything twice. The
 * handler of the steps reads the stack itself, as that takes no lock.
 *
 * links: testing
 * labels: once
 * timeout: 300 */
#include <semaphore.h>

#include "mark/tls.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "mark/segment.h"
#include "mark/thread.h"
#include "platform/ticks.h"
#include "stepping.h"

LIVE_KEEPER(keeper, "keeper");

static gnomon_region a = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL);
static gnomon_region b = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "b", NULL, NULL);
static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region counter =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "counter", NULL, NULL);

static uint32_t steps, reads, is_over;
static sem_t stepped, has_read;     /* one of the two threads runs at a time */
static uint64_t begun[4], ended[4]; /* of a, b, range, act */
static const char *const names[4] = {"a", "b", "range", "act"};

/* While the thread holds a lock of gnomon's no thread could read. */
static void at_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    if (gnomon__tls_now()->busy || steps++ % EACH != 0)
        return;
    sem_post(&stepped);
    while (sem_wait(&has_read) != 0)
        continue;
}

static void one(gnomon_region *r, int number, uint64_t ticks)
{
    store_release(&begun[number], begun[number] + 1);
    gnomon_token t = gnomon_begin(r);
    gnomon__test_pass(ticks);
    gnomon_end(t);
    store_release(&ended[number], ended[number] + 1);
}

/* Each needs a wider window than the last, and b's lies behind a's. */
static void widen(void)
{
    for (int octave = 0; octave < 40; octave += 3) {
        one(&a, 0, 1ull << octave);
        one(&b, 1, 1ull << octave);
    }
}

/* New paths, in one another. */
static void nest(void)
{
    gnomon_token t[8];
    for (int i = 0; i < 8; i++) {
        store_release(&begun[i & 1], begun[i & 1] + 1);
        t[i] = gnomon_begin(i & 1 ? &b : &a);
        gnomon__test_pass(10);
    }
    for (int i = 8; i-- > 0;) {
        gnomon_end(t[i]);
        store_release(&ended[i & 1], ended[i & 1] + 1);
    }
}

/* Scopes that overlap: open scopes move to other paths, again and again. */
static void overlap(void)
{
    gnomon_token last = 0;
    for (int i = 0; i < 40; i++) {
        store_release(&begun[i & 1], begun[i & 1] + 1);
        gnomon_token next = gnomon_begin(i & 1 ? &b : &a);
        gnomon__test_pass(10);
        gnomon_end_alone(last);
        if (last)
            store_release(&ended[~i & 1], ended[~i & 1] + 1);
        last = next;
    }
    gnomon_end_alone(last);
    store_release(&ended[1], ended[1] + 1);
}

static void other_kinds(void)
{
    for (int i = 0; i < 3; i++) {
        store_release(&begun[2], begun[2] + 1);
        uint64_t token = gnomon_range_begin(&range);
        gnomon__test_pass(100);
        gnomon_range_end(token);
        store_release(&ended[2], ended[2] + 1);
        store_release(&begun[3], begun[3] + 1);
        gnomon_start("act");
        gnomon__test_pass(100);
        gnomon_stop("act");
        store_release(&ended[3], ended[3] + 1);
        gnomon_counter(&counter, i);
        gnomon_step();
    }
}

static void *mark_on(void *mark)
{
    void (*call)(void);
    memcpy(&call, mark, sizeof call);
    step_through(call, at_step);
    is_over = 1;
    sem_post(&stepped);
    return NULL;
}

/* One more than begun: the last execution may be both pending and in its
 * cell. */
static int check_profile(void)
{
    int good = 1;
    gnomon_profile *p = live_snapshot("keeper");
    for (int i = 0; p && i < 4; i++) {
        uint64_t count = (uint64_t)live_count(p, names[i]);
        good &= CHECK(count + 1 >= ended[i] && count <= begun[i] + 1);
    }
    gnomon_profile_free(p);
    return good;
}

static void read_while(void (*mark)(void))
{
    pthread_t t;
    if (!CAN_STEP)
        SKIP("no single steps here");
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    gnomon_region_get("act", NULL, GNOMON_KIND_SCOPE);
    sem_init(&stepped, 0, 0);
    sem_init(&has_read, 0, 0);
    CHECK_EQ(pthread_create(&t, NULL, mark_on, &mark), 0);
    for (int good = 1; sem_wait(&stepped) != 0 || !is_over;) {
        good = good && check_profile();
        reads++;
        sem_post(&has_read);
    }
    pthread_join(t, NULL);
    if (!reads)
        SKIP("no single steps here");
    CHECK(reads > 1000 / EACH);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(live_count_of("keeper", names[i]), begun[i]);
    live_check_no_trouble();
}

TEST(each_step_of_a_widening_histogram)
{
    read_while(widen);
}

TEST(each_step_of_new_paths)
{
    read_while(nest);
}

TEST(each_step_of_open_scopes_that_move)
{
    read_while(overlap);
}

TEST(each_step_of_ranges_actions_and_counters)
{
    read_while(other_kinds);
}

/* ---- Stacks ------------------------------------------------------------------ */

static uint32_t looks, exact, wrong, least; /* of scopes that are open */

/* A stack has all open scopes, or there is none. */
static void look_at_stack(int number, siginfo_t *info, void *context)
{
    gnomon_open_scope open[8] = {{.struct_size = sizeof *open}};
    (void)number;
    (void)info;
    if (!stepping_is_in_program(context))
        return;
    int n = gnomon_thread_stack(0, open, 8);
    looks++;
    exact += n != GNOMON_EBUSY;
    wrong += n != GNOMON_EBUSY &&
             (n < (int)least || strcmp(open[0].name, "a") != 0 ||
              strcmp(open[1].name, "b") != 0);
}

static void check_stacks(void (*code)(void))
{
    if (!CAN_STEP)
        SKIP("no single steps here");
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    least = 2;
    step_through(code, look_at_stack);
    if (!looks)
        SKIP("no single steps here");
    CHECK(looks > 100);
    CHECK(exact > looks / 2);
    CHECK_EQ(wrong, 0);
    gnomon_end(inner);
    gnomon_end(outer);
}

static void cut_twice(void)
{
    gnomon__cut(gnomon__ticks());
    gnomon__cut(gnomon__ticks());
}

/* Open scopes go on in the other bank, and are open in both until the thread
 * uses that one. */
TEST(each_step_of_a_cut_has_the_stack)
{
    check_stacks(cut_twice);
}

/* A mark that found the segment open, and reports it after the segment was
 * closed. */
TEST(a_mark_during_a_cut_is_not_before_it)
{
    uint64_t before, first;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    gnomon__test_pass(100);
    before = gnomon__ticks();
    gnomon__test_pass(100);
    uint64_t now = gnomon__ticks();
    CHECK_EQ(gnomon__cut(now), 0);
    CHECK(!gnomon__segment_first(&first));
    gnomon__segment_mark(gnomon__segment, before);
    CHECK(gnomon__segment_first(&first));
    CHECK_EQ(first, now);
}

static void settle(void)
{
    gnomon_token t = gnomon_begin(&a);
    gnomon_end(t);
}

static void count_step(void *self, const gnomon_step_event *event)
{
    (void)self;
    (void)event;
}

/* The next mark takes the new configuration: its cursor goes from the thread to its
 * tree and back. */
static void attach_and_settle(void)
{
    static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                         .abi = GNOMON_ABI,
                                         .name = "hook",
                                         .step = count_step};
    STEPPING_OFF();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    STEPPING_ON();
    settle();
}

TEST(each_step_of_a_new_configuration_has_the_stack)
{
    check_stacks(attach_and_settle);
}

/* ---- Callbacks ---------------------------------------------------------------- */

static uint32_t flags[16], flag_count;

static void keep_flag(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    (void)f;
    (void)slot;
    flags[flag_count++ % 16] = gnomon__tls_now()->thread->in_hook;
}

/* One end closes three scopes, and writes to the tree between their
 * callbacks: a reader during two callbacks must see that they differ. */
TEST(each_callback_of_a_mark_has_a_flag_of_its_own)
{
    static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                         .abi = GNOMON_ABI,
                                         .name = "hook",
                                         .stop = keep_flag};
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    gnomon_token outer = gnomon_begin(&a);
    (void)gnomon_begin(&b);
    (void)gnomon_begin(&b);
    gnomon_end(outer);
    CHECK_EQ(flag_count, 3);
    for (int i = 0; i < 3; i++) {
        CHECK(flags[i] & 1);
        CHECK(flags[i] != flags[(i + 1) % 3]);
    }
    CHECK(!(gnomon__tls_now()->thread->in_hook & 1));
}

static void end_thread(void *self, const gnomon_step_event *event)
{
    (void)event;
    if (!(*(int *)self)--)
        pthread_exit(NULL);
}

static void *mark_once(void *unused)
{
    gnomon_step();
    return unused;
}

/* The next thread of its name inherits the state: none of its marks may be
 * taken for a callback. */
TEST(a_thread_that_ends_in_a_callback_leaves_no_flag)
{
    static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                         .abi = GNOMON_ABI,
                                         .name = "hook",
                                         .step = end_thread};
    int left = 0; /* calls before the one that ends its thread */
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, &left, NULL), GNOMON_OK);
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        CHECK_EQ(pthread_create(&t, NULL, mark_once, NULL), 0);
        pthread_join(t, NULL);
        CHECK(!(gnomon__threads[0]->in_hook & 1));
    }
    CHECK_EQ(gnomon_detach(&hook, &left), GNOMON_OK);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that are cancelled while they mark: in a hook's callback that waits, and
 * at any moment of a loop of marks (tests/mark/test_cancel_stepped.c: at each
 * instruction). Only that thread ends: others go on marking, nothing waits for
 * it, and at most the one scope that it was marking is missing.
 * links: static
 * optimized: yes
 * labels: guest */
#include <semaphore.h>

#include "child.h"
#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

/* ---- In a callback --------------------------------------------------------------- */

enum where { IN_START, IN_STOP, IN_STEP, IN_COUNTER, IN_MARK, NOWHERE };
static const char *const where_names[] = {"start", "stop", "step", "counter",
                                          "mark"};

/* A slot is the scope's token from its start to its stop. */
typedef struct mortal {
    enum where where; /* the thread ends */
    long starts, stops, faults;
} mortal;

static void come_to(const mortal *m, enum where where)
{
    if (m->where != where)
        return;
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void mortal_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    mortal *m = self;
    m->faults += *slot != 0;
    *slot = f->token;
    m->starts++;
    if (strcmp(f->name, "last") == 0)
        come_to(m, IN_START);
}

static void mortal_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    mortal *m = self;
    m->faults += *slot != f->token;
    *slot = 0;
    m->stops++;
    if (strcmp(f->name, "last") == 0 && !(f->flags & GNOMON_FRAME_UNFINISHED))
        come_to(m, IN_STOP);
}

static void mortal_step(void *self, const gnomon_step_event *event)
{
    (void)event;
    come_to(self, IN_STEP);
}

static void mortal_counter(void *self, const gnomon_counter_event *event)
{
    (void)event;
    come_to(self, IN_COUNTER);
}

static void mortal_mark(void *self, const gnomon_mark_event *event)
{
    (void)event;
    come_to(self, IN_MARK);
}

static const gnomon_profiler hook = {
    .struct_size = sizeof hook,
    .abi = GNOMON_ABI,
    .name = "hook",
    .start = mortal_start,
    .stop = mortal_stop,
    .step = mortal_step,
    .counter = mortal_counter,
    .mark = mortal_mark,
};

static void *mark_to_the_end(void *unused)
{
    GNOMON_REGION(outer, "outer", NULL);
    GNOMON_REGION(last, "last", NULL);
    gnomon_token t = gnomon_begin(&outer), inner = gnomon_begin(&last);
    gnomon_end(inner);
    gnomon_counter(gnomon_region_get("a loss", NULL, GNOMON_KIND_COUNTER), 1);
    gnomon_mark(gnomon_region_get("a moment", NULL, GNOMON_KIND_MARK));
    gnomon_step();
    gnomon_end(t);
    return unused;
}

static void attach_mortals(mortal *m, int count, const char *options)
{
    for (int i = 0; i < count; i++) {
        m[i] = (mortal){.where = NOWHERE};
        CHECK_EQ(gnomon_attach(&hook, &m[i], options), GNOMON_OK);
    }
}

static void end_in(enum where where, mortal *m, int count, int which)
{
    pthread_t thread;
    void *result = NULL;
    gnomon_health before = live_health();
    long open[3] = {0};
    for (int i = 0; i < count; i++)
        open[i] = m[i].starts - m[i].stops;
    m[which].where = where;
    CHECK_EQ(pthread_create(&thread, NULL, mark_to_the_end, NULL), 0);
    pthread_join(thread, &result);
    m[which].where = NOWHERE;
    CHECK(result == PTHREAD_CANCELED);
    for (int i = 0; i < count; i++) { /* the last one may have no stop */
        CHECK_EQ(m[i].faults, 0);
        CHECK(m[i].starts - m[i].stops - open[i] <= 1);
        CHECK(m[i].starts >= m[i].stops);
    }
    gnomon_health now = live_health();
    CHECK_EQ(now.threads, before.threads);
    CHECK(now.left_open - before.left_open >= 1); /* outer */
    CHECK(now.left_open - before.left_open <= 2);
    if (test_failures)
        fprintf(stderr, "    in the %s of %d of %d\n", where_names[where],
                which + 1, count);
}

static void in_each_callback(int count, int has_tree, const char *options)
{
    mortal m[3];
    alarm(200);
    if (has_tree)
        CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    attach_mortals(m, count, options);
    for (int where = IN_START; where < NOWHERE; where++)
        for (int which = 0; which < count; which++) {
            end_in((enum where)where, m, count, which);
            CHECK_EQ(gnomon_stage_begin("next"), GNOMON_OK);
        }
    mark_to_the_end(NULL);
    for (int i = 0; i < count;
         i++) /* no thread stays marked as inside a callback */
        CHECK_EQ(gnomon_detach(&hook, &m[i]), GNOMON_OK);
    if (has_tree)
        CHECK(live_count_of("keeper", "last") >= 1);
}

TEST(in_a_callback_of_the_only_hook)
{
    in_each_callback(1, 0, NULL);
}

TEST(in_a_callback_of_several_hooks)
{
    in_each_callback(3, 0, NULL);
}

TEST(in_a_callback_with_a_tree)
{
    in_each_callback(1, 1, NULL);
}

TEST(in_a_callback_of_several_with_a_tree)
{
    in_each_callback(3, 1, NULL);
}

/* ---- With other destructors ------------------------------------------------------ */

static sem_t is_destroying, is_detached;

static void wait_for_detach(void *unused)
{
    (void)unused;
    sem_post(&is_destroying);
    sem_wait(&is_detached);
}

static void *mark_with_a_key(void *key)
{
    pthread_setspecific(*(pthread_key_t *)key, key);
    return mark_to_the_end(NULL);
}

/* The key is made after gnomon's, so that its destructor is called after gnomon's. */
TEST(a_detach_does_not_wait_for_later_destructors)
{
    mortal m = {.where = NOWHERE};
    pthread_key_t key;
    pthread_t thread;
    alarm(200);
    attach_mortals(&m, 1, NULL);
    mark_to_the_end(NULL);
    CHECK_EQ(pthread_key_create(&key, wait_for_detach), 0);
    sem_init(&is_destroying, 0, 0);
    sem_init(&is_detached, 0, 0);
    m.where = IN_START;
    CHECK_EQ(pthread_create(&thread, NULL, mark_with_a_key, &key), 0);
    sem_wait(&is_destroying);
    CHECK_EQ(gnomon_detach(&hook, &m), GNOMON_OK);
    sem_post(&is_detached);
    pthread_join(thread, NULL);
    pthread_key_delete(key);
}

/* With a second view scopes have frames, by the slow path. */
TEST(in_a_callback_by_the_slow_way)
{
    in_each_callback(2, 1, "filter=*a*,schedule=wait:0/active:1/repeat:0");
}

/* ---- At any moment --------------------------------------------------------------- */

typedef struct looper {
    volatile long done;
    volatile int is_on;
} looper;

static void *loop(void *self)
{
    looper *l = self;
    GNOMON_REGION(outer, "outer", NULL);
    GNOMON_REGION(inner, "inner", NULL);
    for (int i = 0; i < 4; i++) { /* everything that allocates */
        gnomon_end(gnomon_begin(&outer));
        gnomon_start("act");
        gnomon_stop("act");
    }
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    l->is_on = 1;
    for (;;) {
        gnomon_token t = gnomon_begin(&outer);
        gnomon_end(gnomon_begin(&inner));
        gnomon_start("act");
        gnomon_stop("act");
        gnomon_end(t);
        l->done++;
    }
    return NULL;
}

static long cancel_loopers(int rounds)
{
    long done = 0;
    unsigned random = 1;
    for (int i = 0; i < rounds; i++) {
        looper l = {0, 0};
        pthread_t thread;
        if (!CHECK_EQ(pthread_create(&thread, NULL, loop, &l), 0))
            break;
        while (!l.is_on)
            usleep(50);
        random = random * 1664525u + 1013904223u;
        usleep(random >> 24);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        done += l.done + 4;
        if (i % 8 == 0) {
            CHECK_EQ(gnomon_stage_begin("next"), GNOMON_OK);
            gnomon_profile_free(live_snapshot("keeper"));
        }
    }
    return done;
}

/* The sanitizers' code does not support it. */
TEST(a_loop_of_marks_at_any_moment)
{
    int rounds = (int)live_times(300, 5000);
    if (IS_SANITIZED)
        SKIP("a sanitizer");
    alarm(200);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    long done = cancel_loopers(rounds);
    long long outer = live_count_of("keeper", "outer");
    fprintf(stderr, "    %lld of %ld executions, %d threads, %d left open\n",
            outer, done, rounds, (int)live_health().left_open);
    CHECK(outer >= done - rounds && outer <= done + rounds);
    CHECK(live_health().left_open > 0);
    CHECK_EQ(live_health().threads, 0);
}

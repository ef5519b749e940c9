/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * optimized: yes
 * labels: guest once
 * timeout: 600
 * A thread of the asynchronous type is cancelled at an instruction of a mark, one
 * thread for each of many: a first one runs by single steps and says which there are, the
 * others run into a breakpoint. Whatever it was doing, others go on marking, control calls do
 * not wait, hooks get one stop at most for a start, and the profile holds together:
 * at most the one scope is missing or one too many, and counted as left open. */
#include <unistd.h>

#include "breakpoint.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "mark/thread.h"
#include "stepping.h"

LIVE_KEEPER(keeper, "keeper");
LIVE_KEEPER(other_keeper, "other_keeper");

static gnomon_region a = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL);
static gnomon_region b = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "b", NULL, NULL);
static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region counter =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "counter", NULL, NULL);
static gnomon_region moment =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "moment", NULL, NULL);

/* Instructions at which threads are cancelled, of all those of a run; and how often one is
 * reached at most before. In a soak a thread for each, each time that it is reached. */
#define DEATHS (EACH > 1 ? 40 : 200)
#define MOST_TIMES 8u
/* Steps of a run that is also stepped through after a thread's death: 10 us each. */
#define FEW_STEPS 5000

/* How a thread runs: by steps that are noted; without; into a breakpoint. */
enum way { STEPPED, FREE, CANCELLED };

static enum way way;
static volatile sig_atomic_t
    marking; /* outside the code that enters and leaves the mark */
static volatile long steps; /* of the thread that is stepped */

/* The instructions of stepped runs, in the order of their first time. */
enum { MOST_PLACES = 1 << 16 };
static uintptr_t places[MOST_PLACES];
static long place_count;

static int
    after_a_death; /* the last run ended so: what it left open is counted now */
static uintptr_t cancel_at;
static unsigned cancel_time; /* when it is reached so often */

/* ---- Marks ----------------------------------------------------------------------- */

/* Only the library's code is cancelled: clang 14 emits wrong unwind tables
 * for some optimized instructions (tests/unwind_tables). */
#ifdef __clang__
#pragma clang optimize off
#endif

static void nothing(void)
{
}

/* Scopes of the thread that dies take long, as they do by steps: their histograms grow. */
static void linger(void)
{
    if (marking && way != STEPPED)
        usleep(50);
}

static void scopes(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    linger();
    gnomon_end(inner);
    gnomon_end(outer);
}

static void known_scopes_before(void)
{
    for (int i = 0; i < 3; i++)
        scopes();
}

static void crossed_scopes(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    linger();
    gnomon_end_alone(outer);
    gnomon_end_alone(inner);
    outer = gnomon_begin(&a);
    gnomon_begin(&b);
    gnomon_end(outer);
}

static void actions(void)
{
    gnomon_start("act");
    gnomon_start("inner");
    linger();
    gnomon_stop("act");
    gnomon_stop("inner");
}

static void known_actions_before(void)
{
    actions();
    actions();
}

static void other_kinds(void)
{
    gnomon_range r = gnomon_range_begin(&range);
    linger();
    gnomon_range_end(r);
    gnomon_counter(&counter, 1);
    gnomon_mark(&moment);
    gnomon_token t = gnomon_begin(&a);
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_end(t);
    gnomon_step();
}

static void known_kinds_before(void)
{
    other_kinds();
    other_kinds();
}

/* Many paths, so that every buffer of the thread grows. */
static void new_paths(void)
{
    static gnomon_region many[18];
    static char names[18][8];
    gnomon_token open[18];
    for (int i = 0; i < 18; i++) {
        if (!*names[i]) {
            snprintf(names[i], sizeof names[i], "n%d", i);
            gnomon_region r =
                GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, names[i], NULL, NULL);
            memcpy(&many[i], &r, sizeof r);
        }
        open[i] = gnomon_begin(&many[i]);
    }
    linger();
    for (int i = 18; i-- > 0;)
        gnomon_end(open[i]);
}

#ifdef __clang__
#pragma clang optimize on
#endif

/* ---- A hook ---------------------------------------------------------------------- */

/* Its slot is the scope's token, until its stop; a second one would free again what
 * the first freed. */
static long starts, stops, faults;

static void hook_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    faults += *slot != 0;
    *slot = f->token;
    starts++;
}

static void hook_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    faults += *slot != f->token;
    *slot = 0;
    stops++;
}

static const gnomon_profiler hook = {
    .struct_size = sizeof hook,
    .abi = GNOMON_ABI,
    .name = "hook",
    .start = hook_start,
    .stop = hook_stop,
};
static const gnomon_profiler other_hook = {
    .struct_size = sizeof other_hook,
    .abi = GNOMON_ABI,
    .name = "other_hook",
    .start = hook_start,
    .stop = hook_stop,
};

/* ---- A thread for each instruction ------------------------------------------------ */

typedef struct stepped {
    void (*before)(void), (*marks)(void);
} stepped;

static const stepped *current;
static void at_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (way == STEPPED && marking && stepping_is_in_program(context)) {
        uintptr_t at = stepping_address(context);
        steps++;
        if (after_a_death && *stepping_count_of(at))
            return; /* counted by the run before */
        if (stepping_count(context) == 1 && place_count < MOST_PLACES)
            places[place_count++] = at;
    }
    if (way == CANCELLED && breakpoint_is_hit(context))
        pthread_cancel(pthread_self());
}

static void mark(void)
{
    marking = 1;
    current->marks();
    marking = 0;
}

/* Not by its result: glibc 2.36 sets none where a thread dies as it allows cancelling
 * again, and pthread_join gives that of an earlier thread. */
static volatile int was_cancelled;

static void *run_marks(void *of)
{
    struct sigaction act = {.sa_sigaction = at_trap, .sa_flags = SA_SIGINFO};
    current = of;
    current->before();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (way == STEPPED) {
        step_through(mark, at_trap);
    } else {
        sigaction(SIGTRAP, &act, NULL);
        if (way == CANCELLED)
            CHECK(breakpoint_set(cancel_at, cancel_time));
        mark();
    }
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
    was_cancelled = 0;
    return NULL;
}

/* Whether it was cancelled. */
static int run_one(const stepped *s, enum way how)
{
    pthread_t thread;
    gnomon_health before = live_health();
    long open = starts - stops;
    steps = 0;
    marking = 0;
    was_cancelled = 1;
    way = how;
    if (!CHECK_EQ(pthread_create(&thread, NULL, run_marks, (void *)(size_t)s),
                  0))
        return 0;
    pthread_join(thread, NULL);
    breakpoint_clear();
    gnomon_health now = live_health();
    CHECK_EQ(now.threads, before.threads);
    if (!was_cancelled && !after_a_death)
        CHECK_EQ(now.left_open, before.left_open);
    /* All that was open on the thread, and the one scope in progress in each
     * hook. */
    CHECK(starts - stops - open <= 2);
    CHECK(stops <= starts);
    CHECK_EQ(faults, 0);
    after_a_death = was_cancelled;
    return was_cancelled;
}

static long long count_of_a(void)
{
    long long n = live_count_of("keeper", "a");
    known_scopes_before();
    CHECK_EQ(live_count_of("keeper", "a"), n + 3);
    return n;
}

/* A thread dies at the instruction, reached so often. Another run may not reach it. */
static int die_at(const stepped *s, uintptr_t at, unsigned times)
{
    static long tries;
    cancel_at = at;
    cancel_time = times;
    int died = run_one(s, CANCELLED);
    if (tries % 4 == 0)
        count_of_a();
    if (tries++ % 16 == 0)
        CHECK_EQ(gnomon_stage_begin("another"), GNOMON_OK);
    return died;
}

/* Notes which instructions a run has; one after a thread's death has more: it clears up. */
static void note_places(const stepped *s)
{
    run_one(s, STEPPED);
    if (steps > FEW_STEPS || !place_count)
        return;
    die_at(s, places[place_count / 2], 1);
    run_one(s, STEPPED);
}

static void in_each_step(const stepped *s, const gnomon_profiler *const *all)
{
    if (!CAN_STEP)
        SKIP("no single steps here");
    alarm(500);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    for (int i = 0; all[i]; i++)
        CHECK_EQ(gnomon_attach(all[i], NULL, NULL), GNOMON_OK);
    known_scopes_before();
    run_one(s, FREE);
    note_places(s);
    if (!place_count)
        SKIP("no single steps here");
    int is_soak = getenv("GNOMON_SOAK") != NULL;
    long died = 0, tried = 0;
    long stride = is_soak ? 1 : place_count / DEATHS + 1;
    for (long i = 0; i < place_count && !test_failures; i += stride) {
        unsigned most = *stepping_count_of(places[i]);
        most = most < MOST_TIMES ? most : MOST_TIMES;
        unsigned n = is_soak ? 1 : 1 + (unsigned)(i / stride) % most;
        for (unsigned last = is_soak ? most : n; n <= last; n++, tried++)
            died += die_at(s, places[i], n);
    }
    fprintf(stderr, "    %ld of %ld, %ld instructions\n", died, tried,
            place_count);
    CHECK(died >= DEATHS / 10); /* steps take longer, and other ways */
    run_one(s, FREE);           /* a new thread works */
    for (int i = 0; all[i]; i++)
        CHECK_EQ(gnomon_detach(all[i], NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    count_of_a();
}

/* A new thread's first marks: every buffer is new. */
#define EACH_STEP(name, before, marks, ...) \
    TEST(name) \
    { \
        static const stepped s = {before, marks}; \
        static const gnomon_profiler *const all[] = {__VA_ARGS__, NULL}; \
        in_each_step(&s, all); \
    }

EACH_STEP(first_scopes, nothing, scopes, NULL)
EACH_STEP(scopes, known_scopes_before, scopes, NULL)
EACH_STEP(scopes_of_a_hook, known_scopes_before, scopes, &hook)
EACH_STEP(first_scopes_of_a_hook, nothing, scopes, &hook)
EACH_STEP(scopes_of_two_hooks, known_scopes_before, scopes, &hook, &other_hook)
EACH_STEP(scopes_of_two_trees, known_scopes_before, scopes, &other_keeper)
EACH_STEP(scopes_of_all, known_scopes_before, scopes, &hook, &other_keeper,
          &other_hook)
EACH_STEP(crossed_scopes, known_scopes_before, crossed_scopes, NULL)
EACH_STEP(crossed_scopes_of_all, known_scopes_before, crossed_scopes, &hook,
          &other_keeper)
EACH_STEP(first_actions, nothing, actions, NULL)
EACH_STEP(actions, known_actions_before, actions, NULL)
EACH_STEP(actions_of_all, known_actions_before, actions, &hook, &other_keeper)
EACH_STEP(first_other_kinds, nothing, other_kinds, NULL)
EACH_STEP(other_kinds, known_kinds_before, other_kinds, NULL)
EACH_STEP(other_kinds_of_a_hook, known_kinds_before, other_kinds, &hook)
EACH_STEP(new_paths, nothing, new_paths, NULL)
EACH_STEP(new_paths_of_all, nothing, new_paths, &hook, &other_keeper)

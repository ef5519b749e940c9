/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * timeout: 300
 * Signal handlers that mark, at any instruction of what they interrupt: a mark, a
 * thread's first or last one, a control call. What was interrupted is recorded
 * exactly; a mark that hits a mark is refused, counted, and shown by
 * a token of 0. */
#include <errno.h>
#include <signal.h>

#include "live_profile.h"
#include "recording_threads.h"
#include "stepping.h"
#include "turns.h"

#define THREADS 2

static gnomon_region plain_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "plain", NULL, NULL);
static gnomon_region nested_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "nested", NULL, NULL);
static gnomon_region range_region =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region signal_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "signal", NULL, NULL);
static gnomon_region samples_region =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "samples", NULL, NULL);

LIVE_KEEPER(keeper, "keeper");

static uint64_t runs, refused, repeated;
static uint32_t stopping;
static _Thread_local volatile gnomon_token last_in_handler;

static void handler(int number)
{
    int kept = errno;
    (void)number;
#ifdef GNOMON__TSAN
    /* ThreadSanitizer calls handlers later, in ordinary code: the process's
     * first mark cannot be recognized as a handler's. */
    if (load_relaxed(&gnomon_enabled) & GNOMON_MASK_UNSEEN)
        return;
#endif
    add_relaxed(&runs, 1);
    gnomon_token t = gnomon_begin(&signal_region);
    if (t)
        last_in_handler = t;
    else
        add_relaxed(&refused, 1);
    gnomon_counter(&samples_region, 1);
    gnomon_start("signal action");
    gnomon_stop("signal action");
    gnomon_end(t);
    errno = kept;
}

static void install(void)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
}

/* All marks of handlers, and `plain` others. */
static void check_all(long long plain)
{
    gnomon_profile *p = live_snapshot("keeper");
    long long taken = (long long)(runs - refused), samples = 0;
    long long actions = live_count(p, "signal action");
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        gnomon_counter_info c;
        gnomon_profile_counter(p, i, &c);
        samples += (long long)c.count;
    }
    CHECK_EQ(live_count(p, "plain"), plain);
    CHECK_EQ(live_count(p, "nested"), plain);
    CHECK_EQ(live_count(p, "action"), plain);
    CHECK_EQ(live_count(p, "range"), plain);
    CHECK_EQ(live_count(p, "signal"), taken);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
    gnomon_health h = live_health();
    /* A begin, a sample, a start and a stop each time. */
    CHECK_EQ(h.reentered, 4 * (long long)runs - taken - samples - 2 * actions);
    h.reentered = 0;
#define NONE(field, text) \
    if (!CHECK_EQ(h.field, 0)) \
        fprintf(stderr, "    " #field "\n");
    GNOMON_HEALTH(NONE)
#undef NONE
    CHECK_EQ(repeated, 0);
}

/* A token is never another execution's, also not of one that began in
 * between. */
static void mark_once(void)
{
    gnomon_token a = gnomon_begin(&plain_region);
    if (a == last_in_handler)
        add_relaxed(&repeated, 1);
    gnomon_start("action");
    gnomon_token b = gnomon_begin(&nested_region);
    if (b == last_in_handler || a == b)
        add_relaxed(&repeated, 1);
    gnomon_range r = gnomon_range_begin(&range_region);
    gnomon_range_end(r);
    gnomon_end(b);
    gnomon_stop("action");
    gnomon_end(a);
}

static void *mark_on(void *item)
{
    long long *made = item;
    while (!load_acquire(&stopping)) {
        mark_once();
        ++*made;
    }
    return NULL;
}

/* ---- Each instruction ----------------------------------------------------------- */

static void at_instruction(int number, siginfo_t *info, void *context)
{
    (void)info;
    if (stepping_is_in_program(context))
        handler(number);
}

/* The first marks of their paths, and others. */
static void mark_thrice(void)
{
    for (int i = 0; i < 3; i++)
        mark_once();
}

TEST(at_each_instruction_of_marks)
{
    if (!CAN_STEP)
        SKIP("no single steps here");
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    step_through(mark_thrice, at_instruction);
    if (!runs)
        SKIP("no single steps here");
    CHECK(runs > 1000);
    CHECK(refused > 0 && refused < runs);
    check_all(3);
}

/* ---- Threads that mark without pause ----------------------------------------- */

static void storm(uint64_t signals)
{
    pthread_t threads[THREADS];
    long long made[THREADS] = {0}, all = 0;
    install();
    live_start(threads, THREADS, mark_on, made, sizeof *made);
    for (uint32_t tries = 0; load_relaxed(&runs) < signals;) {
        uint64_t before = load_relaxed(&runs);
        for (int i = 0; i < THREADS; i++)
            pthread_kill(threads[i], SIGUSR1);
        while (load_relaxed(&runs) == before)
            give_turn(&tries);
    }
    store_release(&stopping, 1);
    live_join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        all += made[i];
    check_all(all);
}

TEST(soak_marks_are_exact_under_signals)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    storm((uint64_t)live_times(2000, 10000000));
    CHECK(IS_SLOW || refused > 0); /* some must have hit a mark */
}

/* The same through frames, where a hook sees every token once. */
typedef struct seen {
    uint64_t starts, stops, wrong;
} seen;

static _Thread_local gnomon_token open_tokens[8];
static _Thread_local int open_count;

static void see_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    seen *s = self;
    for (int i = 0; i < open_count; i++)
        if (open_tokens[i] == f->token)
            add_relaxed(&s->wrong, 1);
    if (open_count < 8)
        open_tokens[open_count++] = f->token;
    *slot = ~f->token;
    add_relaxed(&s->starts, 1);
}

static void see_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    seen *s = self;
    if (*slot != ~f->token || open_count < 1 ||
        open_tokens[--open_count] != f->token)
        add_relaxed(&s->wrong, 1);
    add_relaxed(&s->stops, 1);
}

static const gnomon_profiler seeing = {
    .struct_size = sizeof seeing,
    .abi = GNOMON_ABI,
    .name = "seeing",
    .start = see_start,
    .stop = see_stop,
};

TEST(soak_hooks_see_pairs_under_signals)
{
    seen s = {0, 0, 0};
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seeing, &s, "exclude=range"), GNOMON_OK);
    storm((uint64_t)live_times(2000, 5000000));
    CHECK(s.starts > 0);
    CHECK_EQ(s.starts, s.stops);
    CHECK_EQ(s.wrong, 0);
}

/* ---- A thread's first mark and its last ----------------------------------------- */

static void *live_shortly(void *item)
{
    for (int i = 0; i < 3; i++)
        mark_once();
    *(long long *)item += 3;
    return NULL;
}

TEST(soak_a_thread_s_first_mark_and_last)
{
    long long made = 0;
    long lives = live_times(1000, 100000);
    uint32_t tries = 0;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    install();
    for (long i = 0; i < lives; i++) {
        pthread_t t;
        CHECK_EQ(pthread_create(&t, NULL, live_shortly, &made), 0);
        for (; pthread_tryjoin_np(t, NULL) == EBUSY; give_turn(&tries))
            pthread_kill(t, SIGUSR1);
    }
    check_all(made);
    CHECK_EQ(gnomon_thread_count(), 1); /* they followed one another */
    CHECK_EQ(live_health().threads, 0);
}

/* ---- Control calls ----------------------------------------------------------------- */

static void *pester(void *target)
{
    for (uint32_t tries = 0; !load_acquire(&stopping); give_turn(&tries))
        pthread_kill(*(pthread_t *)target, SIGUSR1);
    return NULL;
}

TEST(soak_control_calls_may_be_interrupted)
{
    static const char *const specs[] = {
        "simple,file=/dev/null", "",
        "simple(schedule=wait:1/warmup:1/active:1),file=/dev/null",
        "simple(filter=n*),passthrough,file=/dev/null"};
    pthread_t self = pthread_self(), other;
    seen s = {0, 0, 0};
    long rounds = live_times(300, 30000);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    install();
    CHECK_EQ(pthread_create(&other, NULL, pester, &self), 0);
    for (long i = 0; i < rounds; i++) {
        CHECK_EQ(gnomon_attach(NULL, NULL, specs[i % 4]), GNOMON_OK);
        mark_once();
        CHECK_EQ(gnomon_attach(&seeing, &s, NULL), GNOMON_OK);
        mark_once();
        gnomon_step();
        CHECK_EQ(gnomon_detach(&seeing, &s), GNOMON_OK);
        if (i % 16 == 0 && i < 320) /* each profile has all stages */
            CHECK_EQ(i & 16 ? gnomon_stage_end() : gnomon_stage_begin("fit"),
                     GNOMON_OK);
        gnomon_profile_free(live_snapshot("keeper"));
    }
    store_release(&stopping, 1);
    pthread_join(other, NULL);
    check_all(2 * rounds);
    CHECK_EQ(s.starts, s.stops);
    CHECK_EQ(s.wrong, 0);
}

/* Steps are marks too. */
static void step_handler(int number)
{
    (void)number;
    add_relaxed(&runs, 1);
    gnomon_step();
    gnomon_thread_name("renamed");
}

TEST(soak_steps_and_names_in_a_handler)
{
    struct sigaction act = {.sa_handler = step_handler, .sa_flags = SA_RESTART};
    pthread_t self = pthread_self(), other;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    CHECK_EQ(pthread_create(&other, NULL, pester, &self), 0);
    for (long i = 0; i < live_times(300, 30000) || load_relaxed(&runs) < 100;
         i++) {
        CHECK_EQ(gnomon_attach(NULL, NULL,
                               i & 1 ? "simple(schedule=wait:1/active:1)"
                                       ",file=/dev/null"
                                     : ""),
                 GNOMON_OK);
        mark_once();
        gnomon_step();
    }
    store_release(&stopping, 1);
    pthread_join(other, NULL);
    gnomon_profile_free(live_snapshot("keeper"));
}

/* The process's first mark, in children that have not marked. Marks of
 * handlers while it reads $GNOMON may be recorded or not: it must only
 * continue. */
TEST(the_process_s_first_mark)
{
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    install();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t self = pthread_self(), other;
            alarm(200);
            pthread_create(&other, NULL, pester, &self);
            while (!load_relaxed(&runs))
                mark_once();
            for (int k = 0; k < 100; k++)
                mark_once();
            store_release(&stopping, 1);
            pthread_join(other, NULL);
            _exit(0);
        }
        int status = -1;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules on running threads: exactly the scopes that began in the
 * scheduled steps are recorded, however short steps and however many regions
 * are.
 *
 * links: static */
#include <dirent.h>
#include <time.h>

#include "live_profile.h"
#include "recording_threads.h"
#include "spec/schedule.h"

LIVE_KEEPER(keeper, "keeper");
LIVE_KEEPER(other, "other");

static gnomon_region work_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "work", NULL, NULL);
static gnomon_region across_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "across", NULL, NULL);

static gnomon__schedule parsed(const char *text)
{
    gnomon__schedule s;
    char why[128] = "";
    CHECK_EQ(gnomon__schedule_parse(&s, text, why, sizeof why), GNOMON_OK);
    return s;
}

static int records(const gnomon__schedule *s, long step)
{
    return gnomon__schedule_phase(s, (uint64_t)step) >= GNOMON_PHASE_RECORD;
}

static void attach_on(const gnomon_profiler *profiler, const char *schedule)
{
    char options[128];
    snprintf(options, sizeof options, "schedule=%s", schedule);
    if (!CHECK_EQ(gnomon_attach(profiler, NULL, options), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
}

static const char *const schedules[] = {
    "active:1",
    "wait:1/warmup:1/active:3",
    "wait:2/active:1/repeat:3",
    "wait:9/warmup:1/active:2/skip_first:3",
    "wait:5/active:1/skip_first_wait:1",
    "wait:100/active:2/repeat:4",
    "skip_first:50/active:7/repeat:1",
};
#define SCHEDULES (sizeof schedules / sizeof *schedules)

/* ---- One thread: exact ------------------------------------------------------ */

/* `each` scopes in every step, and one that is open over its end. */
static long long run_steps(const gnomon__schedule *s, long steps, long each)
{
    long long want = 0;
    for (long i = 0; i < steps; i++) {
        for (long k = 1; k < each; k++)
            gnomon_end(gnomon_begin(&work_region));
        gnomon_start("work");
        want += records(s, i) ? each : 0;
        gnomon_token t = gnomon_begin(&across_region);
        gnomon_step();
        gnomon_end(t);
        gnomon_stop("work");
    }
    return want;
}

static void check_schedule(const char *text, long steps, long each)
{
    gnomon__schedule s = parsed(text);
    attach_on(&keeper, text);
    long long want = run_steps(&s, steps, each);
    gnomon_profile *p = live_snapshot("keeper");
    if (!CHECK_EQ(live_count(p, "work"), want) ||
        !CHECK_EQ(live_count(p, "across"), want / each))
        fprintf(stderr, "    %s\n", text);
    gnomon_step_info last;
    gnomon_profile_step(p, gnomon_profile_count(p, GNOMON_STEPS), &last);
    CHECK_EQ(last.number, steps - 1);
    CHECK_EQ(last.phase, gnomon__schedule_phase(&s, (uint64_t)steps - 1));
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
}

TEST(steps_of_the_schedule_and_no_others)
{
    for (size_t i = 0; i < SCHEDULES; i++) {
        CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
        check_schedule(schedules[i], 1000, 3);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    live_check_no_trouble();
}

/* Masks of 10^5 regions take longer to write than these steps last. */
TEST(soak_short_steps_with_a_hundred_thousand_regions)
{
    static gnomon_region *regions[100000];
    long n = IS_SLOW ? 20000 : 100000, steps = live_times(3000, 100000);
    char name[32];
    for (long i = 0; i < n; i++) {
        snprintf(name, sizeof name, "region %ld", i);
        regions[i] = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    const char *text = "wait:9/warmup:1/active:1";
    gnomon__schedule s = parsed(text);
    attach_on(&keeper, text);
    long long want = 0;
    for (long i = 0; i < steps; i++) {
        gnomon_end(gnomon_begin(regions[i * 7919 % n]));
        want += records(&s, i);
        gnomon_step();
    }
    gnomon_profile *p = live_snapshot("keeper");
    long long got = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        gnomon_profile_node(p, i, &node);
        got += node.host ? (long long)node.host->count : 0;
    }
    gnomon_profile_free(p);
    CHECK_EQ(got, want);
    CHECK(want > 0);
    live_check_no_trouble();
}

/* Several views, each its own windows, from one stream of steps. */
TEST(two_schedules_at_once)
{
    gnomon__schedule a = parsed(schedules[1]), b = parsed(schedules[3]);
    long long want_a = 0, want_b = 0;
    attach_on(&keeper, schedules[1]);
    attach_on(&other, schedules[3]);
    for (long i = 0; i < 2000; i++) {
        gnomon_end(gnomon_begin(&work_region));
        want_a += records(&a, i);
        want_b += records(&b, i);
        gnomon_step();
    }
    CHECK_EQ(live_count_of("keeper", "work"), want_a);
    CHECK_EQ(live_count_of("other", "work"), want_b);
    live_check_no_trouble();
}

/* ---- Many threads -------------------------------------------------------------- */

#define THREADS 6

typedef struct worker {
    const gnomon__schedule *schedule;
    long long want;
} worker;

#define STEPS 300
static pthread_barrier_t step_begins, step_ends;

/* The step is made while no thread marks: then each must be exact. */
static void *work_in_steps(void *item)
{
    worker *w = item;
    for (long i = 0; i < STEPS; i++) {
        pthread_barrier_wait(&step_begins);
        for (int k = 0; k < 5; k++)
            gnomon_end(gnomon_begin(&work_region));
        w->want += records(w->schedule, i) ? 5 : 0;
        pthread_barrier_wait(&step_ends);
    }
    return NULL;
}

TEST(every_thread_is_in_the_window_at_once)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    gnomon__schedule s = parsed(schedules[1]);
    long long want = 0;
    attach_on(&keeper, schedules[1]);
    pthread_barrier_init(&step_begins, NULL, THREADS + 1);
    pthread_barrier_init(&step_ends, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        workers[i] = (worker){&s, 0};
    live_start(threads, THREADS, work_in_steps, workers, sizeof *workers);
    for (long i = 0; i < STEPS; i++) {
        pthread_barrier_wait(&step_begins);
        pthread_barrier_wait(&step_ends);
        gnomon_step();
    }
    live_join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        want += workers[i].want;
    CHECK_EQ(live_count_of("keeper", "work"), want);
    live_check_no_trouble();
}

/* ---- Masks and our thread ---------------------------------------------------------- */

/* How many threads are called "gnomon", and the signals that one of them
 * blocks. */
static int our_threads(unsigned long long *blocked)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], line[128], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (f && fgets(line, sizeof line, f))
            if (sscanf(line, "Name: %31s", name) != 1 &&
                strcmp(name, "gnomon") == 0)
                n += sscanf(line, "SigBlk: %llx", blocked) == 1;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return n;
}

/* A new thread gets its name a little later; a joined one is listed a little
 * longer. */
static int wait_for_threads(int want, unsigned long long *blocked)
{
    for (int i = 0; i < 50000; i++) {
        if (our_threads(blocked) == want)
            return 1;
        usleep(1000);
    }
    return 0;
}

static int wait_for_mask(uint32_t want)
{
    for (int i = 0; i < 50000; i++) {
        if ((load_relaxed(&work_region.mask) != 0) == want)
            return 1;
        usleep(1000);
    }
    return 0;
}

/* Free in long waits: no profiler wants the region, so a mark is a load and
 * a test. Armed again before the window, by our thread or by the step
 * itself. */
TEST(marks_are_free_in_a_long_wait)
{
    gnomon__schedule s = parsed("wait:100/active:1");
    attach_on(&keeper, "wait:100/active:1");
    long long want = 0;
    for (long i = 0; i < 303; i++) {
        gnomon_end(gnomon_begin(&work_region));
        want += records(&s, i);
        if (i % 101 == 50)
            CHECK(wait_for_mask(0));
        if (i == 99)
            CHECK(wait_for_mask(1)); /* ahead of time */
        gnomon_step();
        if (records(&s, i + 1))
            CHECK(work_region.mask != 0);
    }
    CHECK_EQ(want, 3);
    CHECK_EQ(live_count_of("keeper", "work"), want);
    live_check_no_trouble();
}

TEST(our_threads_run_while_a_view_has_a_schedule)
{
    unsigned long long blocked = 0;
    CHECK_EQ(gnomon_attach(&other, NULL, NULL), GNOMON_OK);
    gnomon_end(gnomon_begin(&work_region));
    CHECK_EQ(our_threads(&blocked), 0);
    for (int i = 0; i < 20; i++) {
        attach_on(&keeper, "wait:1/active:1");
        /* One thread arms masks, one watches for the end of the process. */
        CHECK(wait_for_threads(2, &blocked));
        gnomon_step();
        CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
        CHECK(wait_for_threads(0, &blocked));
    }
    /* All blockable signals: KILL and STOP cannot be blocked, libc keeps 32
     * and 33. */
    CHECK_EQ(~blocked & 0xfffffffe7ffbfeffull & ~(1ull << 31 | 1ull << 32), 0);
}

/* Steps from several threads at once: a schedule without an end loses none. */
static void *step_often(void *count)
{
    for (long i = 0; i < *(long *)count; i++)
        gnomon_step();
    return NULL;
}

TEST(soak_steps_from_many_threads_are_all_counted)
{
    pthread_t threads[THREADS];
    long counts[THREADS], n = live_times(20000, 1000000);
    attach_on(&keeper, "wait:3/active:1");
    for (int i = 0; i < THREADS; i++)
        counts[i] = n;
    live_start(threads, THREADS, step_often, counts, sizeof *counts);
    live_join(threads, THREADS);
    gnomon_profile *p = live_snapshot("keeper");
    gnomon_stage_info stage;
    gnomon_profile_stage(p, 1, &stage);
    CHECK_EQ(stage.steps->count, THREADS * n);
    gnomon_profile_free(p);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * Threads that come and go: by the thousand, at once and one after another,
 * with scopes open, with destructors that mark, under names; and ranges that
 * two of them end. */
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "gnomon/cuda.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "turns.h"
#include "mark/thread.h"
#include "run/run.h"

LIVE_KEEPER(keeper, "keeper");

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);
static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);

static void mark_once(void)
{
    gnomon_token a = gnomon_begin(&outer_region);
    gnomon_start("action");
    gnomon_end(gnomon_begin(&inner_region));
    gnomon_stop("action");
    gnomon_end(a);
}

static void check_counts(long long n)
{
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "outer"), n);
    CHECK_EQ(live_count(p, "inner"), n);
    CHECK_EQ(live_count(p, "action"), n);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
}

static gnomon_track_info track_named(const gnomon_profile *p, const char *name)
{
    gnomon_track_info t, none = {.name = ""};
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_profile_track(p, i, &t);
        if (strcmp(t.name, name) == 0)
            return t;
    }
    return none;
}

static long long executions_of_all(const gnomon_profile *p)
{
    long long sum = 0;
    gnomon_track_info t;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_profile_track(p, i, &t);
        sum += t.thread_count;
    }
    return sum;
}

/* ---- While another thread's first mark reads $GNOMON ------------------------------ */

enum { EARLY = 100 };
static pthread_t early_thread;
static int early_is_over;

static void *mark_early(void *unused)
{
    for (int i = 0; i < EARLY; i++) {
        gnomon_start("early");
        gnomon_stop("early");
    }
    gnomon_step();
    store_release(&early_is_over, 1);
    return unused;
}

/* The thread has time to make its marks, if none of them waits. */
static int create_slowly(const gnomon_options *options, void **self)
{
    (void)options;
    *self = NULL;
    CHECK_EQ(pthread_create(&early_thread, NULL, mark_early, NULL), 0);
    for (int i = 0; i < 50 && !load_acquire(&early_is_over); i++)
        usleep(1000);
    return GNOMON_OK;
}

TEST(marks_by_name_wait_until_the_first_one_has_read_the_environment)
{
    static const gnomon_profiler slow = {.struct_size = sizeof slow,
                                         .abi = GNOMON_ABI,
                                         .wants = GNOMON_WANT_TREE,
                                         .name = "slow",
                                         .create = create_slowly};
    setenv("GNOMON", "slow", 1);
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    gnomon_end(gnomon_begin(&outer_region));
    pthread_join(early_thread, NULL);
    CHECK_EQ(live_count_of("slow", "early"), EARLY);
    live_check_no_trouble();
}

/* ---- Many ------------------------------------------------------------------- */

static pthread_barrier_t all_there;

static void *live_together(void *unused)
{
    gnomon_token a = gnomon_begin(&outer_region);
    gnomon_start("action");
    pthread_barrier_wait(&all_there);
    gnomon_end(gnomon_begin(&inner_region));
    gnomon_stop("action");
    gnomon_end(a);
    pthread_barrier_wait(&all_there);
    return unused;
}

TEST(a_thousand_threads_at_once)
{
    int n = IS_SLOW ? 200 : 1000;
    static pthread_t threads[1000];
    pthread_attr_t small;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&all_there, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        if (!CHECK_EQ(pthread_create(&threads[i], &small, live_together, NULL),
                      0))
            _exit(1);
    pthread_barrier_wait(&all_there);
    CHECK_EQ(gnomon_thread_count(), n);
    CHECK_EQ(live_health().threads, n);
    pthread_barrier_wait(&all_there);
    live_join(threads, n);
    CHECK_EQ(live_health().threads, 0);
    check_counts(n);
    live_check_no_trouble();
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), n);
    gnomon_profile_free(p);
}

static void *live_once(void *unused)
{
    mark_once();
    return unused;
}

static void one_after_another(long n, void *(*life)(void *))
{
    for (long i = 0; i < n; i++) {
        pthread_t t;
        CHECK_EQ(pthread_create(&t, NULL, life, &i), 0);
        pthread_join(t, NULL);
    }
}

TEST(soak_twenty_thousand_threads_become_one_track)
{
    long n = live_times(20000, 1000000);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(10, live_once);
    uint64_t before = live_health().mapped_bytes;
    one_after_another(n - 10, live_once);
    CHECK(live_health().mapped_bytes <= before + 65536); /* histograms */
    CHECK_EQ(gnomon_thread_count(), 1);
    CHECK_EQ(live_health().threads, 0);
    check_counts(n);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), 1);
    CHECK_EQ(executions_of_all(p), n);
    gnomon_profile_free(p);
    live_check_no_trouble();
}

/* ---- Under a hook -------------------------------------------------------------- */

static uint64_t hook_starts, hook_stops;

static void hook_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    add_relaxed(&hook_starts, 1);
}

static void hook_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    add_relaxed(&hook_stops, 1);
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = hook_start,
                                     .stop = hook_stop};

static void mark_as(const void *number)
{
    char name[32];
    snprintf(name, sizeof name, "thread %d", *(const int *)number);
    gnomon_thread_name(name);
    gnomon_token a = gnomon_begin(&outer_region);
    gnomon_end(gnomon_begin(&inner_region));
    gnomon_end(a);
}

static void *mark_and_end(void *number)
{
    mark_as(number);
    return NULL;
}

static void *mark_and_stay(void *number)
{
    mark_as(number);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static void check_hooked(int n, uint64_t most_bytes)
{
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "outer"), n);
    CHECK_EQ(live_count(p, "inner"), n);
    CHECK_EQ(executions_of_all(p), n);
    gnomon_profile_free(p);
    CHECK_EQ(hook_starts, 2 * (uint64_t)n);
    CHECK_EQ(hook_stops, 2 * (uint64_t)n);
    CHECK(live_health().mapped_bytes <= most_bytes);
    live_check_no_trouble();
}

static void attach_both(void)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
}

/* Each has a name of its own: states of 1024 that ended keep theirs. */
TEST(twenty_thousand_names_under_a_hook)
{
    int n = IS_SLOW ? 2000 : 20000;
    attach_both();
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (CHECK_EQ(pthread_create(&thread, NULL, mark_and_end, &i), 0))
            pthread_join(thread, NULL);
    }
    check_hooked(n, 8 << 20);
}

/* In the default mem=. */
TEST(ten_thousand_threads_at_once_under_a_hook)
{
    enum { MOST = 10000 };
    static pthread_t threads[MOST];
    static int numbers[MOST];
    pthread_attr_t small;
    int n = 0, most = IS_SLOW ? 500 : MOST, wanted = most;
    attach_both();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&all_there, NULL, (unsigned)most + 1);
    for (; n < most; n++) {
        numbers[n] = n;
        if (pthread_create(&threads[n], &small, mark_and_stay, &numbers[n]))
            break;
    }
    if (n < wanted)
        SKIP("the system allows no 10 000 threads");
    pthread_barrier_wait(&all_there);
    live_join(threads, n);
    check_hooked(n, 64 << 20);
}

/* ---- Names ------------------------------------------------------------------- */

static void *named_first(void *unused)
{
    gnomon_thread_name("worker");
    mark_once();
    return unused;
}

static void *named_later(void *unused)
{
    mark_once();
    gnomon_thread_name("late");
    mark_once();
    return unused;
}

static void *named_by_number(void *number)
{
    char name[32];
    snprintf(name, sizeof name, "number %ld", *(long *)number);
    gnomon_thread_name(name);
    mark_once();
    return NULL;
}

TEST(ended_threads_of_one_name_are_one_track)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(100, named_first);
    one_after_another(100, live_once);
    one_after_another(100, named_first);
    CHECK_EQ(gnomon_thread_count(), 2);
    check_counts(300);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(track_named(p, "worker").thread_count, 200);
    CHECK_EQ(track_named(p, "worker").alive, 0);
    gnomon_profile_free(p);
    live_check_no_trouble();
}

static void *system_named_later(void *name)
{
    mark_once();
    prctl(PR_SET_NAME, name);
    pthread_barrier_wait(
        &all_there); /* it is seen while the thread lives ... */
    pthread_barrier_wait(&all_there);
    if (*(char *)name == 'a')
        prctl(PR_SET_NAME, "at its end"); /* ... and by its last one */
    return NULL;
}

/* By pthread_setname_np, as hosts do that know nothing of gnomon. */
TEST(a_thread_may_be_named_after_its_first_mark)
{
    static char names[2][16] = {"a loader", "stepper"};
    pthread_t threads[2];
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_barrier_init(&all_there, NULL, 3);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(
            pthread_create(&threads[i], NULL, system_named_later, names[i]), 0);
    pthread_barrier_wait(&all_there);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(track_named(p, "a loader").thread_count, 1);
    CHECK_EQ(track_named(p, "stepper").thread_count, 1);
    gnomon_profile_free(p);
    pthread_barrier_wait(&all_there);
    live_join(threads, 2);
    p = live_snapshot("keeper");
    CHECK_EQ(track_named(p, "at its end").alive, 0);
    CHECK_EQ(track_named(p, "at its end").thread_count, 1);
    CHECK_EQ(track_named(p, "stepper").thread_count, 1);
    gnomon_profile_free(p);
    live_check_no_trouble();
}

/* Whatever the names of threads, the ended ones keep a bounded number of
 * states. */
TEST(names_without_end_stay_bounded)
{
    long n = IS_SLOW ? 1200 : 3000;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(n, named_by_number);
    one_after_another(n, named_later);
    CHECK(gnomon_thread_count() <= 1100);
    check_counts(3 * n);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(executions_of_all(p), 2 * n);
    gnomon_profile_free(p);
    live_check_no_trouble();
}

/* ---- Ends ---------------------------------------------------------------------- */

static void *end_with_open_scopes(void *unused)
{
    mark_once();
    gnomon_begin(&outer_region);
    gnomon_start("action");
    gnomon_begin(&inner_region);
    return unused;
}

TEST(threads_that_end_with_open_scopes)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(50, end_with_open_scopes);
    one_after_another(50, live_once); /* it disturbs nothing */
    CHECK_EQ(live_health().left_open, 150);
    check_counts(100);
    gnomon_open_scope open[4] = {{.struct_size = sizeof *open}};
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 0);
    gnomon_health h = live_health();
    CHECK_EQ(h.unmatched + h.crossed + h.twice + h.never_started, 0);
}

/* Keys made before and after ours: their destructors run before and after it,
 * and may set themselves again, four rounds long. */
static pthread_key_t early_key, late_key;
static uint64_t destroyed;

static void destroy(void *value)
{
    pthread_key_t *key = value;
    add_relaxed(&destroyed, 1);
    mark_once();
    gnomon_counter(&inner_region, 1);
    gnomon_thread_name("from a destructor");
    gnomon_stream_name(gnomon_cuda_device(), value, "from a destructor");
    pthread_setspecific(*key, key);
}

static void *end_with_destructors(void *unused)
{
    pthread_setspecific(early_key, &early_key);
    mark_once();
    pthread_setspecific(late_key, &late_key);
    return unused;
}

TEST(destructors_that_mark)
{
#ifdef GNOMON__TSAN
    SKIP("the thread sanitizer is gone before the last destructors are");
#endif
    pthread_key_create(&early_key, destroy);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(1, live_once); /* makes our key */
    pthread_key_create(&late_key, destroy);
    one_after_another(100, end_with_destructors);
    long long marked = (long long)load_relaxed(&destroyed);
    CHECK(marked >= 800);
    CHECK(gnomon_thread_count() <= 102);
    CHECK_EQ(live_health().threads, 0);
    gnomon_profile *p = live_snapshot("keeper");
    long long taken = live_count(p, "outer");
    gnomon_profile_free(p);
    CHECK(taken >= 101 && taken < 101 + marked);
    CHECK(live_health().reentered > 0); /* too late to be recorded: counted */
    CHECK_EQ(live_health().left_open, 0);
}

/* A thread that is refused for good costs nothing and breaks nothing. */
static void *past_every_limit(void *unused)
{
    for (int i = 0; i < 2000; i++)
        gnomon_begin(&outer_region);
    return unused;
}

TEST(a_thread_that_only_begins)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    one_after_another(3, past_every_limit);
    gnomon_health h = live_health();
    CHECK(h.too_deep > 0 && h.left_open > 0);
    CHECK(h.left_open + h.too_deep >= 3 * 2000);
    check_counts(0);
    one_after_another(3, live_once);
    check_counts(3);
}

/* ---- Ranges ------------------------------------------------------------------ */

/* Two threads end every range: one succeeds, the other is counted. */
typedef struct ender {
    const gnomon_range *range; /* which one is to be ended */
    uint64_t last;
    long count;
} ender;

static void *end_ranges(void *item)
{
    ender *e = item;
    uint32_t tries = 0;
    while (e->count) {
        gnomon_range r = load_acquire(e->range);
        if (r == e->last) {
            give_turn(&tries);
            continue;
        }
        gnomon_range_end(r);
        store_release(&e->last, r);
        e->count--;
    }
    return NULL;
}

TEST(soak_a_range_ends_once)
{
    static gnomon_region region =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    pthread_t threads[2];
    gnomon_range range = 0;
    uint32_t tries = 0;
    long n = live_times(20000, 2000000);
    ender enders[2] = {{&range, 0, n}, {&range, 0, n}};
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    live_start(threads, 2, end_ranges, enders, sizeof *enders);
    for (long i = 0; i < n; i++) {
        gnomon_range r = gnomon_range_begin(&region);
        store_release(&range, r);
        /* The next range may take the slot while the slower thread still
         * reads it. */
        while (load_acquire(&enders[0].last) != r &&
               load_acquire(&enders[1].last) != r)
            give_turn(&tries);
        if (i % 16 == 0)
            gnomon_range_end(gnomon_range_begin(&region));
        while (load_acquire(&enders[0].last) != r ||
               load_acquire(&enders[1].last) != r)
            give_turn(&tries);
    }
    live_join(threads, 2);
    CHECK_EQ(live_count_of("keeper", "range"), n + (n + 15) / 16);
    CHECK_EQ(live_health().unmatched, n);
}

TEST(mem_is_for_attached_profilers_too)
{
    setenv("GNOMON", "mem=1MiB", 1);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon__marks_arena.size, 1 << 20);
    mark_once();
    check_counts(1);
    /* For other options of a run there is no profiler. */
    CHECK_EQ(gnomon_attach(NULL, NULL, "mem=1MiB,fork=follow"), GNOMON_EINVAL);
    CHECK(gnomon__follows() == NULL);
}

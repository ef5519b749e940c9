/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static The real clock: it starts fast, its scale is right from the
 * first moment on, it follows CLOCK_MONOTONIC, and sums of what it converts
 * never exceed the whole. */
#include "platform/ticks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "test.h"

static uint64_t zero_unix_ns(void)
{
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    (void)gnomon__clock_moments(moments);
    return moments[0].unix_ns;
}

TEST(starts_once_and_reports_its_kind)
{
    CHECK_EQ(gnomon__clock_kind(), GNOMON__CLOCK_UNKNOWN);
    gnomon__clock_start();
    uint64_t zero = zero_unix_ns();
    gnomon__clock_start();
    CHECK_EQ(zero_unix_ns(), zero);
    if (gnomon__clock_kind() == GNOMON__CLOCK_COUNTER) {
        CHECK(strcmp(gnomon__clock_name(), "tsc") == 0 ||
              strcmp(gnomon__clock_name(), "cntvct") == 0);
    } else {
        CHECK_EQ(gnomon__clock_kind(), GNOMON__CLOCK_SYSTEM);
        CHECK_STR(gnomon__clock_name(), "monotonic");
    }
}

static uint64_t own_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The limit is generous because emulators are slow: it takes 10 to 50 us.
 * CPU time of this thread, as a busy machine may suspend it. */
TEST(starts_in_microseconds)
{
    uint64_t before = own_time_ns();
    gnomon__clock_start();
    CHECK(own_time_ns() - before < 2000000);
}

/* One moment by both clocks: of many tries the one with the least between its two
 * reads of the counter, as a busy machine may suspend the thread in any of them. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t before = gnomon__ticks();
        uint64_t now = gnomon__os_monotonic_ns();
        uint64_t width = gnomon__ticks() - before;
        if (width >= least)
            continue;
        least = width;
        *ticks = before + width / 2;
        *ns = now;
    }
}

/* ns per tick, from a distance of 200 ms. */
static double true_scale(void)
{
    uint64_t ticks = 0, ns = 0, later_ticks = 0, later_ns = 0;
    read_both(&ticks, &ns);
    gnomon__os_sleep_ns(200000000);
    read_both(&later_ticks, &later_ns);
    return (double)(later_ns - ns) / (double)(later_ticks - ticks);
}

static double scale_since(uint64_t ticks)
{
    return (double)gnomon__clock_rate(ticks, gnomon__ticks()) /
           (double)(1ull << GNOMON__CLOCK_SHIFT);
}

/* The promise is 1 part in 5000; a suspended guest is allowed twice that. */
TEST(scale_is_right_at_once_and_later)
{
    gnomon__clock_start();
    uint64_t zero = gnomon__ticks();
    double now = scale_since(zero);
    gnomon__os_sleep_ns(3000000);
    double soon = scale_since(zero), scale = true_scale();
    CHECK(fabs(now / scale - 1) < 2.0 / 5000);
    CHECK(fabs(soon / scale - 1) < 2.0 / 5000);
    CHECK(fabs(scale_since(zero) / scale - 1) < 1e-4);
}

TEST(zero_is_a_moment_of_this_process)
{
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    uint64_t before = gnomon__os_unix_ns(), earlier = gnomon__ticks();
    gnomon__clock_start();
    uint64_t ticks = gnomon__ticks();
    CHECK(gnomon__clock_moments(moments) >= 2);
    CHECK(moments[0].unix_ns + moments[0].error_ns + 1000 >= before);
    CHECK(moments[0].unix_ns <= gnomon__os_unix_ns());
    CHECK(moments[0].error_ns > 0 && moments[0].error_ns < 100000);
    CHECK_EQ(moments[0].ns, 0);
    CHECK(gnomon__clock_ns(ticks) < 1000000000);
    CHECK_EQ(gnomon__clock_ns(earlier), 0);
}

/* Any rate, any split: floor(a) + floor(b) <= floor(a + b), and monotone. */
TEST(parts_never_exceed_the_whole)
{
    uint64_t mult = 1ull << GNOMON__CLOCK_SHIFT;
    uint64_t state = 88172645463325252u;
    int i, wrong = 0;
    for (i = 0; i < 2000000; i++) {
        uint64_t a, b, whole;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        a = state >> (i & 31) >> 8;
        b = (state * 2654435761u) >> (i % 29) >> 8;
        if (i % 1000 == 0)
            mult = (1ull << 46) + (state >> 16);
        whole = gnomon__line_scale(a + b, mult);
        wrong +=
            gnomon__line_scale(a, mult) + gnomon__line_scale(b, mult) > whole;
        wrong += gnomon__line_scale(a + b + 1, mult) < whole;
    }
    CHECK_EQ(wrong, 0);
}

TEST(a_century_of_ticks_converts)
{
    uint64_t mult = 1ull << (GNOMON__CLOCK_SHIFT - 2);
    uint64_t century = 3155760000ull * 4000000000u; /* of a 4 GHz counter */
    CHECK_EQ(gnomon__line_scale(century, mult), century / 4);
    mult = 1ull << GNOMON__CLOCK_SHIFT;
    CHECK_EQ(gnomon__line_scale(century, mult), century);
}

TEST(errno_is_left_alone)
{
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    errno = 77;
    gnomon__clock_start();
    (void)gnomon__ticks();
    (void)gnomon__clock_ns(gnomon__ticks());
    (void)gnomon__clock_rate(0, gnomon__ticks());
    gnomon__clock_anchor();
    (void)gnomon__clock_moments(moments);
    CHECK_EQ(errno, 77);
}

/* ---- The line ------------------------------------------------------------ */

/* A moment, and the system's clock before and after it. */
typedef struct bracketed {
    uint64_t before, ticks, ns, after;
} bracketed;

static bracketed bracketed_moment(void)
{
    bracketed b;
    b.before = gnomon__os_monotonic_ns();
    b.ticks = gnomon__ticks();
    b.after = gnomon__os_monotonic_ns();
    b.ns = gnomon__clock_ns(b.ticks);
    return b;
}

/* Converted all the time, or not for half a second; with anchors or without. */
TEST(moments_follow_the_systems_clock)
{
    gnomon__clock_start();
    bracketed first = bracketed_moment(), seen[60];
    for (int i = 0; i < 60; i++) {
        gnomon__os_sleep_ns(i % 20 == 19 ? 500000000 : 5000000);
        if (i % 3 == 0)
            gnomon__clock_anchor();
        seen[i] = bracketed_moment();
        int64_t passed = (int64_t)(seen[i].ns - first.ns);
        CHECK(passed <= (int64_t)(seen[i].after - first.before) + 2000);
        CHECK(passed >= (int64_t)(seen[i].before - first.after) - 2000);
    }
    for (int i = 0; i < 60; i++) /* asked again */
        CHECK_EQ(gnomon__clock_ns(seen[i].ticks), seen[i].ns);
    CHECK(gnomon__clock_ns(seen[0].ticks + 1) >= seen[0].ns);
}

TEST(before_the_run_is_0)
{
    uint64_t before = gnomon__ticks();
    gnomon__os_sleep_ns(1000);
    uint64_t ns = gnomon__clock_ns(gnomon__ticks());
    CHECK(ns < 1000000000);
    CHECK_EQ(gnomon__clock_ns(before), 0);
    CHECK_EQ(gnomon__clock_ns(0), 0);
    /* Invalid ticks convert to a time near now. */
    CHECK(gnomon__clock_ns(UINT64_MAX) <
          gnomon__clock_ns(gnomon__ticks()) + 1000000000);
}

TEST(durations_of_steps_back_are_0)
{
    gnomon__clock_start();
    uint64_t a = gnomon__ticks(), b;
    gnomon__os_sleep_ns(2000000);
    b = gnomon__ticks();
    CHECK(gnomon__clock_between(a, b) >= 1900000);
    CHECK_EQ(gnomon__clock_between(b, a), 0);
    CHECK_EQ(gnomon__clock_between(b, b), 0);
}

TEST(sums_of_ticks_convert_as_the_span)
{
    gnomon__clock_start();
    uint64_t from = gnomon__ticks();
    gnomon__os_sleep_ns(30000000);
    uint64_t to = gnomon__ticks(), rate = gnomon__clock_rate(from, to);
    uint64_t whole = gnomon__clock_between(from, to);
    uint64_t parts = gnomon__line_scale(to - from, rate);
    CHECK(parts <= whole && parts + 10 >= whole);
    CHECK(gnomon__clock_rate(to, from) > 0);
}

TEST(moments_follow_unix_time)
{
    gnomon__clock_moment m[GNOMON__CLOCK_MOMENTS];
    gnomon__clock_start();
    for (int i = 0; i < 25; i++) {
        gnomon__os_sleep_ns(100000000);
        gnomon__clock_anchor();
        (void)gnomon__clock_ns(gnomon__ticks());
    }
    uint64_t before = gnomon__os_unix_ns();
    size_t n = gnomon__clock_moments(m);
    CHECK(n >= 3 && n <= GNOMON__CLOCK_MOMENTS);
    CHECK_EQ(m[0].ns, 0);
    CHECK(m[n - 1].unix_ns >= before);
    for (size_t i = 1; i < n; i++) {
        CHECK(m[i].ns > m[i - 1].ns);
        CHECK(m[i].error_ns > 0);
        int64_t off = (int64_t)(m[i].unix_ns - m[0].unix_ns - m[i].ns);
        CHECK(off > -100000000 && off < 100000000); /* unless it is set now */
    }
}

TEST(a_forked_child_has_the_same_line)
{
    uint64_t ticks = gnomon__ticks(), ns = gnomon__clock_ns(ticks);
    pid_t child = fork();
    if (child == 0) {
        gnomon__clock_moment m[GNOMON__CLOCK_MOMENTS];
        gnomon__os_sleep_ns(300000000);
        int same = gnomon__clock_ns(ticks) == ns &&
                   gnomon__clock_ns(gnomon__ticks()) >= ns + 300000000 &&
                   gnomon__clock_moments(m) >= 2;
        _exit(same ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void *start_and_read(void *out)
{
    *(uint64_t *)out = zero_unix_ns();
    return NULL;
}

TEST(threads_agree_on_the_zero)
{
    uint64_t zeros[8];
    pthread_t threads[8];
    int i;
    for (i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, start_and_read, &zeros[i]);
    for (i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < 8; i++)
        CHECK_EQ(zeros[i], zeros[0]);
}

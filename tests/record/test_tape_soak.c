/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * A hundred threads mark for long: memory stays within mem= and a constant, and each
 * execution is an event or counted as missing. Ten million scopes, with $GNOMON_SOAK a
 * thousand million; $GNOMON_SOAK_SCOPES says another number. */
#include <stdlib.h>
#include <sys/resource.h>

#include "recording_threads.h"
#include "taping.h"

#define THREADS 100
#define BUDGET_KIB (64 << 10)
/* What a part of a stream is made of, the hundred stacks, and the program. */
#define CONSTANT_KIB (48 << 10)

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);
static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);

static uint64_t soak_events, soak_missing, soak_parts;

static int take_part(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    (void)self;
    (void)out;
    soak_parts++;
    soak_events += events(p);
    soak_missing += missing(p, NULL);
    return GNOMON_OK;
}

static const gnomon_profiler soaker = {TAPES("soaker"), KEEPS("last"),
                                       .events = take_part};

/* Pairs of two scopes. */
static void *mark_pairs(void *count)
{
    for (size_t left = (size_t)count; left--;) {
        gnomon_token t = gnomon_begin(&outer_region);
        gnomon_end(gnomon_begin(&inner_region));
        gnomon_end(t);
    }
    return NULL;
}

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static size_t scopes_of_each(void)
{
    const char *given = getenv("GNOMON_SOAK_SCOPES");
    long all = live_times(10000000, 1000000000);
    return (size_t)(given ? atol(given) : all) / THREADS / 2;
}

static uint64_t run_all(const char *keep)
{
    pthread_t threads[THREADS];
    size_t each = scopes_of_each();
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=64MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&soaker, NULL, keep), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        if (!CHECK_EQ(
                pthread_create(&threads[i], NULL, mark_pairs, (void *)each), 0))
            exit(1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 2 * (uint64_t)each * THREADS;
}

static void check_all(uint64_t made, long before_kib, long peak)
{
    printf("%llu scopes: %llu events in %llu parts, %llu missing; %ld KiB "
           "before, %ld KiB at most\n",
           (unsigned long long)made, (unsigned long long)soak_events,
           (unsigned long long)soak_parts, (unsigned long long)soak_missing,
           before_kib, peak);
    CHECK_EQ(soak_events + soak_missing, made);
    CHECK(IS_SLOW || peak <= BUDGET_KIB + CONSTANT_KIB);
}

/* The peak is that before the last profile, which is a copy of all events. */
TEST(soak_the_last_of_a_hundred_threads)
{
    long before = peak_kib();
    uint64_t made = run_all("keep=last");
    long peak = peak_kib();
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    check_all(made, before, peak);
}

TEST(soak_a_stream_of_a_hundred_threads)
{
    long before = peak_kib();
    uint64_t made = run_all("keep=stream");
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    check_all(made, before, peak_kib());
    CHECK(soak_parts > 1);
}

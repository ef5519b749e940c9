/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * alone: yes
 * The conversion of ticks to ns while many threads extend it at once: the clock
 * is compiled again so that it extends it by 20 us instead of 250 ms, which makes
 * that frequent. */
#include <pthread.h>

#include "platform/clock_line.h"
#undef GNOMON__LINE_AHEAD_NS
#define GNOMON__LINE_AHEAD_NS 20000u
#include "platform/clock_line.c"

#include "platform/clock.c"
#include "platform/clock_counter.c"
#include "test.h"

#define THREADS 4
#define ASKS 200000
#define PUBLISHED 1000

typedef struct moment {
    uint64_t ticks, ns;
} moment;

static moment published[THREADS][PUBLISHED];
static moment last_told; /* of any thread, by a sequence word */
static uint64_t told_seq, draws;
static int go, is_over;

static void publish(uint64_t ticks, uint64_t ns)
{
    uint64_t seq = load_relaxed(&told_seq);
    if (seq % 2 || !cas_acq_rel(&told_seq, &seq, seq + 1))
        return;
    store_relaxed(&last_told.ticks, ticks);
    store_relaxed(&last_told.ns, ns);
    store_release(&told_seq, seq + 2);
}

/* What another thread converted, if complete; 0: it is being written. */
static int hear(moment *m)
{
    uint64_t seq = load_acquire(&told_seq);
    m->ticks = load_relaxed(&last_told.ticks);
    m->ns = load_relaxed(&last_told.ns);
    fence_acquire();
    return seq % 2 == 0 && load_relaxed(&told_seq) == seq;
}

static uint64_t apart_by(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t changed_by(void)
{
    uint64_t head, most;
    do {
        head = load_acquire(&clock_head);
        const gnomon__line *l = line_at_head(head);
        most = 0;
        for (uint64_t i = 0; i < load_relaxed(&l->count); i++) {
            uint64_t error = load_relaxed(&l->pieces[i].error);
            most = error > most ? error : most;
        }
    } while (!is_still_head(head));
    return most;
}

/* Buffers were used again and again; without a counter there are none. */
static int has_many_lines(void)
{
    return gnomon__clock_kind() != GNOMON__CLOCK_COUNTER ||
           load_relaxed(&clock_head) > 100 * LINE_BUFFERS;
}

static void *ask(void *mine)
{
    uint64_t before = 0;
    moment m;
    while (!load_acquire(&go))
        continue;
    for (int i = 0; i < ASKS || !has_many_lines(); i++) {
        int heard = hear(&m);
        uint64_t ticks = gnomon__ticks(), ns = gnomon__clock_ns(ticks);
        /* Later ticks give later ns, except for a thread that was stopped
         * between the two for so long that the piece was merged. */
        CHECK(ns + changed_by() >= before);
        before = ns;
        if (heard && m.ticks <= ticks)
            CHECK(m.ns <= ns + changed_by());
        if (heard && i % 16 == 0) /* and the same for all */
            CHECK(apart_by(gnomon__clock_ns(m.ticks), m.ns) <= changed_by());
        if (i % 8 == 0)
            publish(ticks, ns);
        if (i < ASKS && i % (ASKS / PUBLISHED) == 0)
            ((moment *)mine)[i / (ASKS / PUBLISHED)] = (moment){ticks, ns};
    }
    return NULL;
}

static void *take_anchors(void *unused)
{
    do {
        (void)draw_line_now(0);
        gnomon__clock_anchor();
        draws++;
    } while (!load_acquire(&is_over));
    return unused;
}

TEST(threads_agree_on_every_moment)
{
    pthread_t threads[THREADS], anchors;
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    gnomon__clock_start();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, published[i]);
    pthread_create(&anchors, NULL, take_anchors, NULL);
    store_release(&go, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    store_release(&is_over, 1);
    pthread_join(anchors, NULL);
    if (gnomon__clock_kind() != GNOMON__CLOCK_COUNTER)
        SKIP("no counter: its line is exact");
    CHECK_EQ(__builtin_popcount(clock_claims), 1); /* none was lost */
    CHECK(draws > 0);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < PUBLISHED; k++) {
            const moment *m = &published[i][k];
            CHECK(apart_by(gnomon__clock_ns(m->ticks), m->ns) <= changed_by());
        }
    CHECK(gnomon__clock_moments(moments) >= 2);
    CHECK_EQ(moments[0].ns, 0);
}

/* All buffers but one belong to threads that were stopped halfway: ticks in
 * the published range are converted, later ones give the time of its limit. */
TEST(without_a_buffer_nothing_hangs)
{
    gnomon__clock_start();
    if (gnomon__clock_kind() != GNOMON__CLOCK_COUNTER)
        SKIP("no counter: its line is exact");
    (void)gnomon__clock_ns(gnomon__ticks());
    uint32_t claims = clock_claims;
    clock_claims = (1u << LINE_BUFFERS) - 1;
    const gnomon__line *l = line_at_head(clock_head);
    while (gnomon__ticks() <= l->limit)
        gnomon__os_sleep_ns(1000000);
    uint64_t promised = gnomon__line_ns(l, l->limit);
    CHECK_EQ(gnomon__clock_ns(gnomon__ticks()), promised);
    clock_claims = claims;
    CHECK(gnomon__clock_ns(gnomon__ticks()) > promised);
}

static void *start_and_ask(void *out)
{
    uint64_t ticks = gnomon__ticks();
    *(uint64_t *)out = gnomon__clock_ns(ticks);
    return NULL;
}

/* The rate is not known, and no thread has begun. */
TEST(the_first_moment_of_many_threads)
{
    pthread_t threads[8];
    uint64_t ns[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, start_and_ask, &ns[i]);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++)
        CHECK(ns[i] < 5000000000);
}

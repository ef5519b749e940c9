/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A detached hook gets one stop for each start that it saw, whatever threads
 * do meanwhile: each start allocates, each stop frees.
 *
 * links: static */
#include <stdlib.h>

#include "child.h"
#include "recording_threads.h"

#define THREADS 4

static gnomon_region outer =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);
static gnomon_region inner =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);
static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);

typedef struct holder {
    uint64_t starts, stops, unfinished, wrong;
} holder;

static void hold(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    holder *h = self;
    uint64_t *kept = malloc(sizeof *kept);
    *kept = frame->token;
    *slot = (uint64_t)(uintptr_t)kept;
    add_relaxed(&h->starts, 1);
}

static void give_back(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    holder *h = self;
    uint64_t *kept = (uint64_t *)(uintptr_t)*slot;
    if (!kept || *kept != frame->token || !*frame->name ||
        frame->end_ns < frame->begin_ns || !frame->begin_ns)
        add_relaxed(&h->wrong, 1);
    free(kept);
    *slot = 0;
    add_relaxed(&h->stops, 1);
    if (frame->flags & GNOMON_FRAME_UNFINISHED)
        add_relaxed(&h->unfinished, 1);
}

static const gnomon_profiler holds = {.struct_size = sizeof holds,
                                      .abi = GNOMON_ABI,
                                      .name = "holds",
                                      .wants = GNOMON_WANT_TIMES,
                                      .start = hold,
                                      .stop = give_back};

static void check_even(const holder *h)
{
    CHECK_EQ(h->stops, h->starts);
    CHECK_EQ(h->wrong, 0);
}

TEST(on_the_thread_that_detaches)
{
    holder h = {0}, stays = {0};
    CHECK_EQ(gnomon_attach(&holds, &h, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&holds, &stays, NULL), GNOMON_OK);
    gnomon_token a = gnomon_begin(&outer);
    gnomon_start("action");
    gnomon_token b = gnomon_begin(&inner);
    gnomon_range r = gnomon_range_begin(&range);
    CHECK_EQ(gnomon_detach(&holds, &h), GNOMON_OK);
    CHECK_EQ(h.unfinished, 4);
    check_even(&h);
    gnomon_range_end(r);
    gnomon_end(b);
    gnomon_stop("action");
    gnomon_end(a);
    CHECK_EQ(h.stops, 4);
    CHECK_EQ(stays.stops, 4);
    CHECK_EQ(stays.unfinished, 0);
    CHECK_EQ(gnomon_detach(&holds, &stays), GNOMON_OK);
    check_even(&stays);
    live_check_no_trouble();
}

/* More than one batch of copies. */
TEST(a_deep_stack_and_many_ranges)
{
    enum { N = 500 };
    static gnomon_token token[N];
    static gnomon_range open[N];
    holder h = {0};
    CHECK_EQ(gnomon_attach(&holds, &h, NULL), GNOMON_OK);
    for (int i = 0; i < N; i++) {
        token[i] = gnomon_begin(&inner);
        open[i] = gnomon_range_begin(&range);
    }
    CHECK_EQ(gnomon_detach(&holds, &h), GNOMON_OK);
    CHECK_EQ(h.unfinished, 2 * N);
    check_even(&h);
    for (int i = N; i-- > 0;) {
        gnomon_range_end(open[i]);
        gnomon_end(token[i]);
    }
    CHECK_EQ(h.stops, 2 * N);
    live_check_no_trouble();
}

/* ---- Threads -------------------------------------------------------------------- */

static uint32_t stopping, waiting, released;
static uint64_t box[8]; /* ranges that another thread ends */

static void *mark_on(void *unused)
{
    for (uint32_t i = 0; !load_acquire(&stopping); i++) {
        gnomon_token a = gnomon_begin(&outer);
        gnomon_range r = gnomon_range_begin(&range);
        gnomon_token b = gnomon_begin(&inner);
        r = swap_acq_rel(&box[i % 8], r);
        if (r)
            gnomon_range_end(r);
        gnomon_end(b);
        gnomon_end(a);
    }
    return unused;
}

/* Makes no mark while the hook goes. */
static void *stay_inside(void *unused)
{
    gnomon_token a = gnomon_begin(&outer);
    gnomon_range_begin(&range);
    gnomon_token b = gnomon_begin(&inner);
    add_relaxed(&waiting, 1);
    while (!load_acquire(&released))
        usleep(50);
    gnomon_end(b);
    gnomon_end(a);
    return unused;
}

static void *die_inside(void *unused)
{
    gnomon_begin(&outer);
    gnomon_range_begin(&range);
    return unused;
}

TEST(on_threads_that_wait)
{
    holder h = {0};
    pthread_t thread[THREADS];
    CHECK_EQ(gnomon_attach(&holds, &h, NULL), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, stay_inside, NULL);
    while (load_acquire(&waiting) < THREADS)
        usleep(50);
    CHECK_EQ(gnomon_detach(&holds, &h), GNOMON_OK);
    CHECK_EQ(h.unfinished, 3 * THREADS);
    check_even(&h);
    store_release(&released, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(h.stops, 3 * THREADS);
    live_check_no_trouble();
}

TEST(on_a_thread_that_has_ended)
{
    holder h = {0};
    pthread_t thread;
    CHECK_EQ(gnomon_attach(&holds, &h, NULL), GNOMON_OK);
    pthread_create(&thread, NULL, die_inside, NULL);
    pthread_join(thread, NULL);
    CHECK_EQ(h.unfinished, 1); /* its range may be ended elsewhere */
    CHECK_EQ(gnomon_detach(&holds, &h), GNOMON_OK);
    CHECK_EQ(h.unfinished, 2);
    check_even(&h);
}

TEST(while_threads_mark)
{
    pthread_t thread[THREADS];
    holder stays = {0};
    uint64_t unfinished = 0;
    CHECK_EQ(gnomon_attach(&holds, &stays, "filter=inner"), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, mark_on, NULL);
    for (int round = 0; round < 40; round++) {
        holder h = {0};
        CHECK_EQ(gnomon_attach(&holds, &h, NULL), GNOMON_OK);
        while (load_relaxed(&h.starts) < 20)
            usleep(50);
        CHECK_EQ(gnomon_detach(&holds, &h), GNOMON_OK);
        check_even(&h);
        unfinished += h.unfinished;
    }
    store_release(&stopping, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(unfinished > 0);
    CHECK_EQ(gnomon_detach(&holds, &stays), GNOMON_OK);
    check_even(&stays);
    CHECK_EQ(stays.unfinished, 0);
    live_check_no_trouble();
}

/* ---- The end of the process -------------------------------------------------------- */

TEST(at_a_plain_exit)
{
    for (int i = 0; i < 2; i++) {
        child_result r =
            child_run(CHILD_PROGRAM("leaves"), i ? "GNOMON=simple" : NULL,
                      (const char *[]){NULL});
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.out, "4 starts, 4 stops, 3 unfinished\n");
        CHECK_EQ(times_in(r.err, "3 scopes are open"), i);
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * timeout: 600
 * keep=stream: events are given away while threads mark. Each is in one part or counted
 * as missing, also where memory fails, and in each process of a fork. */
#include <fcntl.h>
#include <stdlib.h>

#include "child.h"
#include "each_allocation.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "mark/tape.h"
#include "marks.h"
#include "platform/memory.h"
#include "sanitizer.h"
#include "taping.h"

static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);

static void mark_many(int many)
{
    for (int i = 0; i < many; i++) {
        gnomon_token token = gnomon_begin(&inner_region);
        pass(1);
        gnomon_end(token);
    }
}

/* ---- Parts ------------------------------------------------------------------------- */

static int streamed_parts;
static uint64_t streamed_events, streamed_losses, streamed_last;

static uint64_t begin_of(const gnomon_profile *p, size_t number)
{
    gnomon_event_info e;
    CHECK_EQ(gnomon_profile_event(p, number, &e), GNOMON_OK);
    return e.begin_ns;
}

/* Parts follow one another in time, as one thread marks. */
static int note_part(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    size_t n = events(p);
    (void)self;
    (void)out;
    int code = gnomon_profile_check(p);
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM);
    if (n) {
        CHECK(begin_of(p, 1) > streamed_last);
        streamed_last = begin_of(p, n);
    }
    streamed_events += n;
    streamed_losses += missing(p, NULL);
    __atomic_fetch_add(&streamed_parts, 1, __ATOMIC_RELEASE);
    return GNOMON_OK;
}

static const gnomon_profiler streamer = {TAPES("streamer"), KEEPS("stream"),
                                         .events = note_part};

static void start_stream(void)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    gnomon__test_set(1000);
    streamed_last = 0;
    CHECK_EQ(gnomon_attach(&streamer, NULL, NULL), GNOMON_OK);
}

/* Through a megabyte goes any number of events, or it is counted. */
TEST(a_stream)
{
    enum { ROUNDS = 40, OF_ROUND = 25000 };
    start_stream();
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 10 == 0)
            CHECK_EQ(gnomon_stage_begin(i % 20 ? "fit" : "validate"),
                     GNOMON_OK);
        mark_many(OF_ROUND);
        while (gnomon__tapes_are_full()) /* the writer takes a part */
            usleep(100);
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK(streamed_parts > 2);
    CHECK(streamed_events > 100000);
    CHECK_EQ(streamed_events + streamed_losses, ROUNDS * OF_ROUND);
}

/* The thread that takes parts does not look for any in vain. */
TEST(a_stream_that_is_over_is_not_full)
{
    for (int i = 0; i < 3; i++) {
        start_stream();
        mark_many(100000);
        CHECK_EQ(gnomon_detach(&streamer, NULL), GNOMON_OK);
        CHECK(!gnomon__tapes_are_full());
    }
}

TEST(a_stream_needs_a_reader)
{
    CHECK_EQ(gnomon_attach(&first_taper, NULL, "keep=stream"), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "nothing takes events") != NULL);
    CHECK_EQ(gnomon_attach(&streamer, NULL, "keep=2steps"), GNOMON_OK);
}

/* ---- Memory that fails ---------------------------------------------------------------- */

/* Three times as many events as memory has room for, each third once the parts of the
 * last one were taken. */
enum { THIRD = 60000 };

/* A run takes seconds where it is slow. */
#define EACH_STREAM (EACH_RUN * (IS_SLOW ? 3 : 1))

static void mark_thirds(void)
{
    for (int i = 0; i < 3; i++) {
        mark_many(THIRD);
        while (gnomon__tapes_are_full())
            usleep(100);
    }
}

/* Events that are told: those of parts, those that these count as missing, and those of a
 * thread that had no memory at all. */
static uint64_t told_events(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return streamed_events + streamed_losses + h.lost_scopes;
}

/* What a part lacks that could not be made is counted in the next one; after the last
 * there is a line. */
static int stream_without(uint64_t n)
{
    const uint64_t failing = (n - 1) * EACH_STREAM + 1;
    int err = dup(2), to = open("err", O_RDWR | O_CREAT | O_TRUNC, 0644);
    alarm(120);
    dup2(to, 2);
    start_stream();
    gnomon__test_fail_allocation(failing);
    mark_thirds();
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    const int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    dup2(err, 2);
    close(err);
    close(to);
    const uint64_t told = told_events(), made = 3 * THIRD;
    if (!CHECK(told == made || (told < made && came &&
                                times_in(child_read("err"), "no memory"))))
        fprintf(stderr, "    %llu events\n%s", (unsigned long long)told,
                child_read("err"));
    return test_failures ? ALLOCATION_HARMED
           : came        ? ALLOCATION_CAME
                         : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_may_fail)
{
    child_folder();
    CHECK(fail_each_allocation(stream_without) > 200 / (int)EACH_STREAM);
}

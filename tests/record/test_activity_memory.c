/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What events and launches of devices' work take is of mem=, and what does not fit is
 * counted.
 *
 * links: testing
 * timeout: 300 */
#include "toy_source.h"

#include <fcntl.h>
#include <unistd.h>

#include "child.h"
#include "each_allocation.h"
#include "mark/tape.h"
#include "platform/memory.h"
#include "sanitizer.h"
#include "taping.h"

#define MIB (UINT64_C(1) << 20)
#define CONSTANT (128u << 10) /* of the heap: tables of one kernel, counts */
#define DEVICE_EVENT 48u      /* bytes */

static gnomon_region step_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "step", NULL, NULL);

#define TRACES \
    .struct_size = sizeof(gnomon_profiler), .abi = GNOMON_ABI, \
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE_WORK | GNOMON_WANT_EVENTS

static const gnomon_profiler tracer = {TRACES, .name = "tracer", KEEPS("last")};

static void trace(const char *spec, const char *options)
{
    gnomon__test_set(1000);
    setenv("GNOMON_CUPTI_LIBRARY", "/none", 1); /* the toy is the only source */
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&tracer, NULL, options), GNOMON_OK);
}

static void scopes(int many)
{
    for (int i = 0; i < many; i++) {
        gnomon_token t = gnomon_begin(&step_region);
        pass(1);
        gnomon_end(t);
    }
}

static void kernels(int many)
{
    for (int i = 0; i < many; i++) {
        toy_kernel("k", gnomon__test_ticks, 5);
        toy_tell(&toy);
        pass(1);
    }
}

/* Events of devices, or else of threads. */
static uint64_t events_of(const gnomon_profile *p, int of_device)
{
    uint64_t count = 0;
    gnomon_event_info e;
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        count += !gnomon_profile_track(p, e.track, &k) &&
                 (k.kind == GNOMON_TRACK_STREAM) == of_device;
    return count;
}

static uint64_t missing_work(const gnomon_profile *p)
{
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(p, i, &l); i++)
        if (strcmp(l.kind, "activities_overwritten") == 0)
            return l.count;
    return 0;
}

/* Both kinds have a part of the memory, whichever filled it first. */
static void check_both(uint64_t of_thread, uint64_t of_device,
                       uint64_t least_of_thread)
{
    gnomon_profile *p = profile_of("tracer", 0);
    const uint64_t kept = events_of(p, 1);
    CHECK_EQ(events_of(p, 0) + missing(p, NULL), of_thread);
    CHECK_EQ(kept + missing_work(p), of_device);
    CHECK(kept <= MIB / 4 / DEVICE_EVENT);
    CHECK(kept >= MIB / 8 / DEVICE_EVENT);
    CHECK(events_of(p, 0) >= least_of_thread);
    CHECK_EQ(toy_health().activities_lost, 0);
    gnomon_profile_free(p);
}

TEST(events_are_within_mem)
{
    enum { MANY = 60000 };
    trace("passthrough,mem=1MiB", NULL);
    const uint64_t heap = toy_health().heap_bytes;
    scopes(MANY); /* they fill all that events may have */
    kernels(MANY);
    CHECK(toy_health().mapped_bytes <= MIB);
    CHECK(toy_health().heap_bytes - heap <= CONSTANT);
    check_both(MANY, MANY, MIB / 4 / 16);
    scopes(MANY);
    kernels(MANY);
    CHECK(toy_health().mapped_bytes <= MIB);
    CHECK(toy_health().heap_bytes - heap <= CONSTANT);
    check_both(2 * MANY, 2 * MANY, MIB / 4 / 16);
}

/* Where nothing is wanted any more, others have the memory. */
TEST_ALONE(memory_of_events_is_used_again)
{
    enum { MANY = 30000 };
    uint64_t mapped = 0;
    for (int i = 0; i < 10; i++) {
        trace("passthrough,mem=1MiB", NULL);
        kernels(MANY);
        CHECK_EQ(gnomon_detach(&tracer, NULL), GNOMON_OK);
        CHECK_EQ(gnomon_host_get()->source_remove(&toy.api), GNOMON_OK);
        mapped = mapped ? mapped : toy_health().mapped_bytes;
        CHECK(toy_health().mapped_bytes <= mapped + (8u << 10));
    }
}

/* With keep=first what came first stays: nothing has a place for work that comes later. */
TEST(work_without_room_is_counted)
{
    enum { MANY = 60000, FEW = 1000 };
    trace("passthrough,mem=1MiB", "keep=first");
    kernels(FEW);
    scopes(MANY);
    kernels(MANY);
    gnomon_profile *p = profile_of("tracer", 0);
    const uint64_t kept = events_of(p, 1);
    CHECK(kept >= FEW && kept < 2 * FEW);
    CHECK_EQ(kept + missing_work(p), MANY + FEW);
    CHECK_EQ(events_of(p, 0) + missing(p, "events_lost"), MANY);
    CHECK_EQ(missing(p, "events_overwritten"), 0);
    gnomon_profile_free(p);
    CHECK(toy_health().mapped_bytes <= MIB);
}

/* The least memory has notes of few launches; of the others the scope is not known. */
TEST(launches_are_within_mem)
{
    enum { NOTES = 32768 / 8 / 64, MANY = 200 };
    trace("passthrough,mem=32KiB", NULL);
    CHECK(toy_health().mapped_bytes <= 32768);
    {
        GNOMON_SCOPE("step");
        for (int i = 0; i < MANY; i++)
            toy_kernel("k", gnomon__test_ticks, 5);
    }
    toy_tell(&toy);
    CHECK_EQ(toy_health().activities_unlinked, MANY - NOTES);
    CHECK(toy_health().mapped_bytes <= 32768);
}

/* ---- Streams ---------------------------------------------------------------------------- */

static struct {
    uint64_t of_device, of_thread, missing, launches;
    int parts;
} streamed;

static uint64_t count_links(const gnomon_profile *p)
{
    uint64_t count = 0;
    gnomon_link_info l;
    for (size_t i = 1; !gnomon_profile_link(p, i, &l); i++)
        count += l.kind == GNOMON_LINK_LAUNCH;
    return count;
}

static int note_part(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    (void)self;
    (void)out;
    int code = gnomon_profile_check(p);
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM);
    streamed.of_device += events_of(p, 1);
    streamed.of_thread += events_of(p, 0);
    streamed.missing += missing_work(p);
    streamed.launches += count_links(p);
    __atomic_fetch_add(&streamed.parts, 1, __ATOMIC_RELEASE);
    return GNOMON_OK;
}

static const gnomon_profiler streamer = {TRACES, .name = "streamer",
                                         KEEPS("stream"), .events = note_part};

static void start_stream(void)
{
    memset(&streamed, 0, sizeof streamed);
    gnomon__test_set(1000);
    setenv("GNOMON_CUPTI_LIBRARY", "/none", 1);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&streamer, NULL, NULL), GNOMON_OK);
}

/* The thread that writes parts took what there was. */
static void wait_for_parts(void)
{
    while (gnomon__tapes_are_full())
        usleep(100);
}

/* A scope a thousand kernels: what is full is the devices' part of the memory. Whoever
 * leaves the writer its time loses nothing. */
TEST(a_stream_of_work_loses_nothing)
{
    enum { ROUNDS = 60, OF_ROUND = 1000 };
    start_stream();
    for (int i = 0; i < ROUNDS; i++) {
        gnomon_token t = gnomon_begin(&step_region);
        kernels(OF_ROUND);
        gnomon_end(t);
        wait_for_parts();
    }
    CHECK(toy_health().mapped_bytes <= MIB);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK(streamed.parts > 10); /* 2700 events are half of a quarter of 1 MiB */
    CHECK_EQ(streamed.of_device, ROUNDS * OF_ROUND);
    CHECK_EQ(streamed.of_thread, ROUNDS);
    CHECK_EQ(streamed.missing, 0);
}

/* A launch and its work that are told together are in one part, with their link. */
TEST(parts_have_launches)
{
    enum { ROUNDS = 20000 };
    start_stream();
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t now = gnomon__test_ticks;
        toy_work(&toy, GNOMON_DEVICE_CALL, "launch", now, 1);
        uint64_t correlation = toy.records[0].correlation;
        toy_record(&toy, GNOMON_DEVICE_KERNEL, "k", now + 2, 3)->correlation =
            correlation;
        toy_tell(&toy);
        pass(10);
        if (i % 100 == 0)
            wait_for_parts();
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK(streamed.parts > 5);
    CHECK_EQ(streamed.of_device, ROUNDS);
    CHECK_EQ(streamed.of_thread, ROUNDS); /* calls */
    CHECK(streamed.launches + 2 * (uint64_t)streamed.parts >= ROUNDS);
}

/* Whoever does not: what is too much is counted, once. */
TEST(a_flood_of_work)
{
    enum { MANY = 300000, MORE = 1000 };
    uint64_t made = MANY;
    start_stream();
    kernels(MANY);
    for (; !__atomic_load_n(&streamed.parts, __ATOMIC_ACQUIRE); made += MORE)
        kernels(MORE); /* the writer did not run yet */
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(streamed.of_device + streamed.missing, made);
    CHECK(streamed.parts > 1);
}

/* What a part lacks that could not be made is counted in the next one; after the last
 * there is a line. */
static int stream_without(uint64_t n)
{
    enum { ROUNDS = 4, OF_ROUND = 3500, MADE = ROUNDS * OF_ROUND };
    const uint64_t failing = (n - 1) * EACH_RUN + 1;
    int err = dup(2), to = open("err", O_RDWR | O_CREAT | O_TRUNC, 0644);
    alarm(120);
    dup2(to, 2);
    start_stream();
    gnomon__test_fail_allocation(failing);
    for (int i = 0; i < ROUNDS; i++) {
        kernels(OF_ROUND);
        wait_for_parts();
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    const int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    dup2(err, 2);
    close(err);
    close(to);
    /* A record for which there was no memory is lost, and so may be its sum alone. */
    const uint64_t told = streamed.of_device + streamed.missing;
    const uint64_t lost = toy_health().activities_lost;
    if (!CHECK(told <= MADE) ||
        !CHECK(told + lost >= MADE ||
               (came && times_in(child_read("err"), "no memory"))))
        fprintf(stderr, "    %llu events\n", (unsigned long long)told);
    return test_failures ? ALLOCATION_HARMED
           : came        ? ALLOCATION_CAME
                         : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_may_fail)
{
    child_folder();
    CHECK(fail_each_allocation(stream_without) > 100 / (int)EACH_RUN);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * What a real driver does to those who call it: its queue of launches ends, its contexts
 * have a lock, streams wait for one another. One thread then waits, and nobody else; and
 * the thread that reads events sleeps while there is nothing to read. */
#include "child.h"
#include "device/clocks.h"
#include "device/timers.h"
#include "fake_cuda.h"
#include "probe_profile.h"

#define US 1000u
#define MS 1000000u

static void *context, *stream;
static int is_marked;

static void begin(void)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
}

static void end(void)
{
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    fake_cuda_is_well();
}

static void scope_on(const char *name, void *on, uint64_t ns)
{
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), on);
    cuda->launch(on, ns);
    gnomon_end_on(s);
}

static int some_time(int (*is_true)(void))
{
    for (int i = 0; i < 20000 && !is_true(); i++)
        usleep(1000);
    return is_true();
}

/* ---- A thread that waits ------------------------------------------------------- */

static void *mark_and_wait(void *unused)
{
    cuda->current(context);
    scope_on("waits", stream, 1 * MS);
    __atomic_store_n(&is_marked, 1, __ATOMIC_RELEASE);
    return unused;
}

static int has_waited(void)
{
    return cuda->queue_waits() != 0;
}

static int holds_one(void)
{
    return cuda->calls("cuStreamIsCapturing") != 0;
}

/* While a thread waits for the driver, others mark, step and take profiles. */
static void others_go_on(pthread_t waiting)
{
    {
        GNOMON_SCOPE("goes on");
        gnomon_step();
    }
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_EQ(calls_of(p, "goes on"), 1);
    CHECK_EQ(device_of(p, "waits").count, 0);
    gnomon_profile_free(p);
    CHECK_EQ(__atomic_load_n(&is_marked, __ATOMIC_ACQUIRE), 0);
    cuda->hold(context, 0);
    cuda->queue(0);
    cuda->finish(stream);
    pthread_join(waiting, NULL);
    CHECK_EQ(__atomic_load_n(&is_marked, __ATOMIC_ACQUIRE), 1);
    pass(10 * MS);
    p = profile_of("timed", 0);
    CHECK_EQ(device_of(p, "waits").count, 1);
    gnomon_profile_free(p);
}

TEST(a_full_queue_stops_its_thread_alone)
{
    pthread_t waiting;
    begin();
    cuda->queue(2);
    cuda->launch(stream, UINT64_MAX);
    cuda->launch(stream, UINT64_MAX);
    pthread_create(&waiting, NULL, mark_and_wait, NULL);
    CHECK(some_time(has_waited));
    others_go_on(waiting);
    end();
}

TEST(a_context_that_another_thread_holds_stops_its_callers_alone)
{
    pthread_t waiting;
    begin();
    cuda->hold(context, 1);
    pthread_create(&waiting, NULL, mark_and_wait, NULL);
    CHECK(some_time(holds_one));
    others_go_on(waiting);
    end();
}

/* ---- Streams ----------------------------------------------------------------------- */

/* Time on a stream has in it what the stream waited for: here the legacy stream's work,
 * and what the host did between two launches. */
TEST(time_on_a_stream_has_waits_in_it)
{
    begin();
    void *blocking = cuda->stream(context);
    cuda->blocking(blocking);
    cuda->launch(NULL, 5 * MS);
    scope_on("behind stream 0", blocking, 1 * MS);
    scope_on("beside it", stream, 1 * MS);
    pass(10 * MS);
    gnomon_region *r = gnomon_region_get("idle", NULL, GNOMON_KIND_SCOPE);
    gnomon_device_scope s = gnomon_begin_on(r, gnomon_cuda_device(), stream);
    cuda->launch(stream, 1 * MS);
    pass(3 * MS);
    cuda->launch(stream, 1 * MS);
    gnomon_end_on(s);
    pass(10 * MS);
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_EQ(device_of(p, "behind stream 0").total_ns, 1 * MS);
    CHECK_EQ(device_of(p, "beside it").total_ns, 1 * MS);
    CHECK_EQ(device_of(p, "idle").total_ns, 4 * MS);
    gnomon_profile_free(p);
    end();
}

/* The scope around it has ended it, so its end does not touch the stream, which the host
 * has destroyed meanwhile: the driver would crash. */
TEST(no_call_with_a_stream_that_may_be_gone)
{
    begin();
    GNOMON_REGION(outer, "outer", NULL);
    GNOMON_REGION(inner, "inner", NULL);
    gnomon_token around = gnomon_begin(&outer);
    gnomon_device_scope s =
        gnomon_begin_on(&inner, gnomon_cuda_device(), stream);
    gnomon_end(around);
    cuda->stream_destroy(stream);
    gnomon_end_on(s);
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_EQ(calls_of(p, "inner"), 1);
    gnomon_profile_free(p);
    stream = cuda->stream(context);
    scope_on("before", stream, 1 * MS);
    cuda->stream_destroy(stream); /* its work goes on */
    pass(10 * MS);
    p = profile_of("timed", 0);
    CHECK_EQ(device_of(p, "before").count, 1);
    gnomon_profile_free(p);
    end();
}

/* ---- The thread that reads --------------------------------------------------------- */

static int is_asleep(void)
{
    return load_relaxed(&gnomon__reader_sleeps) != 0;
}

static uint64_t elapsed_calls;

static int has_read_more(void)
{
    return cuda->calls("cuEventElapsedTime") > elapsed_calls;
}

/* It asks less often the longer it waits. The reader's thread looks every 2 ms too. */
TEST(a_device_that_takes_long_is_asked_seldom)
{
    begin();
    scope_on("long", stream, UINT64_MAX);
    uint64_t calls = cuda->calls("cuEventQuery");
    gnomon__timers_read(50 * MS, 0);
    CHECK(cuda->calls("cuEventQuery") - calls < 100);
    cuda->finish(stream);
    end();
}

TEST(the_reader_sleeps_until_there_is_something_to_read)
{
    begin();
    CHECK(some_time(is_asleep)); /* nothing was timed yet */
    for (int i = 0; i < 3; i++) {
        elapsed_calls = cuda->calls("cuEventElapsedTime");
        scope_on("a", stream, 1 * MS);
        pass(10 * MS);
        CHECK(some_time(has_read_more)); /* nobody asked it to */
        CHECK(some_time(is_asleep));
        uint64_t calls = load_relaxed(&gnomon__reader_calls);
        gnomon_step();
        CHECK(is_asleep());
        CHECK_EQ(load_relaxed(&gnomon__reader_calls), calls);
    }
    end();
}

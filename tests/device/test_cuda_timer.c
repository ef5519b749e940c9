/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * gnomon_cuda_timer on a fake driver: what each call returns, in any order and
 * when any driver call fails; that it leaves nothing behind, and needs no profiler. */
#include <dirent.h>

#include "fake_cuda.h"
#include "platform/memory.h"
#include "probe_profile.h"

#define MS 1000000u

static void *context;
static gnomon_cuda_stream stream;
static gnomon_cuda_timer *timer;
static double ms;

static void *driver_symbol(const char *name)
{
    void *library = dlopen(TEST_BINARY_DIR "/fake_cuda/driver.so", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static void *current(void)
{
    int (*get)(void **);
    void *symbol = driver_symbol("cuCtxGetCurrent"), *now = NULL;
    memcpy(&get, &symbol, sizeof get);
    CHECK_EQ(get(&now), 0);
    return now;
}

static void begin(void)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
}

/* The timer is destroyed with all that it made; the thread's context is
 * unchanged. */
static void end(void)
{
    gnomon_cuda_timer_destroy(timer);
    CHECK_EQ(cuda->leaks(), 0);
    fake_cuda_is_well();
}

/* Start, `ns` of work, stop; returns the first error. */
static int time_work(gnomon_cuda_stream on, uint64_t ns)
{
    int code = gnomon_cuda_timer_start(timer, on);
    cuda->launch(on, ns);
    return code ? code : gnomon_cuda_timer_stop(timer, on);
}

static void says(int code, int expected, const char *text)
{
    CHECK_EQ(code, expected);
    if (!CHECK(strstr(gnomon_error_text(), text)))
        fprintf(stderr, "    %s\n", gnomon_error_text());
}

/* ---- Without CUDA --------------------------------------------------------------- */

TEST(no_driver)
{
    setenv("GNOMON_CUDA_LIBRARY", "/nonexistent", 1);
    timer = (gnomon_cuda_timer *)&ms;
    says(gnomon_cuda_timer_create(&timer), GNOMON_ENOENT,
         "no CUDA driver: /nonexistent");
    CHECK(timer == NULL);
    CHECK_EQ(gnomon_cuda_timer_start(NULL, NULL), GNOMON_EINVAL);
    gnomon_cuda_timer_destroy(timer);
}

TEST(no_device)
{
    fake_cuda_use();
    cuda->fail("cuInit", 1, 1, 100);
    says(gnomon_cuda_timer_create(&timer), GNOMON_ENOENT,
         "cuInit: CUDA_ERROR_NO_DEVICE (100)");
    CHECK(timer == NULL);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
    end();
}

TEST(a_result_that_the_driver_cannot_name)
{
    begin();
    cuda->fail("cuEventRecord", 1, 1, 12345);
    says(gnomon_cuda_timer_start(timer, stream), GNOMON_ESTATE,
         "cuEventRecord: an unknown error (12345)");
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    end();
}

TEST(no_memory)
{
    fake_cuda_use();
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_ENOMEM);
    CHECK(timer == NULL);
    gnomon__test_fail_allocation(0);
    CHECK_EQ(gnomon_cuda_timer_create(NULL), GNOMON_EINVAL);
    CHECK_EQ(cuda->calls("cuEventCreate"), 0);
}

/* ---- Times ------------------------------------------------------------------------ */

TEST(start_and_stop)
{
    begin();
    CHECK_EQ(cuda->calls("cuEventCreate"), 0);
    CHECK_EQ(time_work(stream, 3 * MS), GNOMON_OK);
    says(gnomon_cuda_timer_query(timer, &ms), GNOMON_EBUSY,
         "the stream has not reached the event");
    CHECK(!(ms > 0 || ms < 0));
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_OK);
    CHECK(ms > 2.999 && ms < 3.001);
    CHECK_EQ(cuda->calls("cuEventSynchronize"), 0);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 2.999 && ms < 3.001);
    CHECK_EQ(cuda->calls("cuEventCreate"), 2);
    end();
}

static void *elapsed(void *unused)
{
    (void)unused; /* no context is current here */
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(current() == NULL);
    return NULL;
}

TEST(elapsed_waits_on_any_thread)
{
    pthread_t thread;
    begin();
    CHECK_EQ(time_work(stream, 3 * MS), GNOMON_OK);
    pthread_create(&thread, NULL, elapsed, NULL);
    while (cuda->calls("cuEventSynchronize") == 0)
        usleep(1000);
    pass(5 * MS);
    pthread_join(thread, NULL);
    CHECK(ms > 2.999 && ms < 3.001);
    end();
}

TEST(starts_anew)
{
    begin();
    for (unsigned i = 1; i <= 3; i++) {
        CHECK_EQ(time_work(stream, i * MS), GNOMON_OK);
        pass(5 * MS);
        CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_OK);
        CHECK(ms > i - 0.001 && ms < i + 0.001);
    }
    cuda->launch(stream, 4 * MS); /* a later stop replaces the end */
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_OK);
    CHECK(ms > 8.999 && ms < 9.001);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_ESTATE);
    CHECK_EQ(cuda->calls("cuEventCreate"), 2);
    end();
}

static void *finish_soon(void *unused)
{
    usleep(2000); /* it waits, mostly */
    cuda->finish(stream);
    return unused;
}

/* From one stream to another: complete when both are. */
TEST(two_streams)
{
    begin();
    gnomon_cuda_stream other = cuda->stream(context);
    cuda->launch(stream, 5 * MS);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    cuda->launch(other, 2 * MS);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, other), GNOMON_OK);
    pass(3 * MS); /* the stop is over, the start is not */
    says(gnomon_cuda_timer_query(timer, &ms), GNOMON_EBUSY, "cuEventQuery");
    pass(3 * MS);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_OK);
    CHECK(ms > -3.001 && ms < -2.999);
    cuda->launch(stream, UINT64_MAX);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, other), GNOMON_OK);
    pthread_t thread;
    pthread_create(&thread, NULL, finish_soon, NULL);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    pthread_join(thread, NULL);
    end();
}

TEST(wrong_order)
{
    begin();
    says(gnomon_cuda_timer_stop(timer, stream), GNOMON_ESTATE, "not started");
    says(gnomon_cuda_timer_query(timer, &ms), GNOMON_ESTATE, "not stopped");
    says(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_ESTATE, "not stopped");
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    says(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_ESTATE, "not stopped");
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_cuda_timer_query(NULL, &ms), GNOMON_EINVAL);
    CHECK_EQ(gnomon_cuda_timer_start(NULL, stream), GNOMON_EINVAL);
    CHECK_EQ(gnomon_cuda_timer_stop(NULL, stream), GNOMON_EINVAL);
    gnomon_cuda_timer_destroy(NULL);
    end();
}

/* ---- Devices ---------------------------------------------------------------------- */

TEST(another_device)
{
    begin();
    gnomon_cuda_stream other = cuda->stream(cuda->context(1));
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    says(gnomon_cuda_timer_stop(timer, other), GNOMON_ESTATE,
         "started on another device");
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    CHECK_EQ(time_work(other, 2 * MS), GNOMON_OK);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
    CHECK_EQ(cuda->leaks(), 2); /* the first device's events went */
    end();
}

/* The device of cudaSetDevice becomes the thread's, as with a launch. */
TEST(before_any_context)
{
    const char *path = TEST_BINARY_DIR "/fake_cuda/runtime.so";
    int (*choose)(int) = NULL;
    begin();
    void *runtime = dlopen(path, RTLD_NOW);
    void *symbol = runtime ? dlsym(runtime, "cudaSetDevice") : NULL;
    setenv("GNOMON_CUDART_LIBRARY", path, 1);
    memcpy(&choose, &symbol, sizeof choose);
    if (!CHECK(choose != NULL))
        return;
    choose(2);
    cuda->current(NULL);
    CHECK_EQ(time_work(NULL, 2 * MS), GNOMON_OK);
    void *now = current();
    CHECK(now && now != context && now == cuda->context(2));
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
    end();
}

/* A stream has a context of its own: the thread needs none, and gets none. */
TEST(no_context_and_a_stream)
{
    begin();
    cuda->current(NULL);
    CHECK_EQ(time_work(stream, 2 * MS), GNOMON_OK);
    CHECK(current() == NULL);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
    CHECK_EQ(cuda->retained(), 0);
    end();
}

TEST(a_device_that_is_reset)
{
    begin();
    CHECK_EQ(time_work(stream, 1 * MS), GNOMON_OK);
    pass(5 * MS);
    cuda->reset(0);
    says(gnomon_cuda_timer_query(timer, &ms), GNOMON_ESTATE, "was reset");
    says(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_ESTATE, "was reset");
    context = cuda->context(0);
    stream = cuda->stream(context);
    says(gnomon_cuda_timer_stop(timer, stream), GNOMON_ESTATE, "was reset");
    CHECK_EQ(time_work(stream, 2 * MS), GNOMON_OK);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
    end();
}

TEST(destroyed_after_its_device)
{
    begin();
    CHECK_EQ(time_work(stream, 1 * MS), GNOMON_OK);
    cuda->reset(0);
    end();
}

/* ---- Graphs ----------------------------------------------------------------------- */

TEST(a_captured_stream)
{
    begin();
    gnomon_cuda_stream other = cuda->stream(context);
    cuda->capture(stream, 1);
    says(gnomon_cuda_timer_start(timer, stream), GNOMON_EBUSY,
         "captured into a graph");
    CHECK_EQ(gnomon_cuda_timer_start(timer, NULL), GNOMON_EBUSY);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_ESTATE);
    /* Another stream is timed meanwhile, and the capture stays valid. */
    CHECK_EQ(time_work(other, 2 * MS), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_EBUSY);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_EBUSY);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
    cuda->capture(stream, 0);
    end();
}

/* ---- Trouble ---------------------------------------------------------------------- */

/* One call fails, once or from then on: an error with a text, the thread's
 * context stays what it was, and afterwards all is well. */
static void fail_call(const char *call, uint64_t n, uint64_t many, int result)
{
    void *before = current();
    cuda->fail(call, n, many, result);
    int code = time_work(stream, 1 * MS);
    pass(5 * MS);
    if (!code)
        code = gnomon_cuda_timer_query(timer, &ms);
    if (!code)
        code = gnomon_cuda_timer_elapsed(timer, &ms);
    CHECK(!code || *gnomon_error_text());
    CHECK_EQ(code <= 0, 1);
    CHECK(code || (ms > 0.999 && ms < 1.001));
    cuda->fail(NULL, 0, 0, 0);
    CHECK(current() == before);
    CHECK_EQ(time_work(stream, 2 * MS), GNOMON_OK);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 1.999 && ms < 2.001);
}

TEST(every_call_fails)
{
    static const char *const calls[] = {
        "cuCtxGetCurrent",   "cuStreamIsCapturing", "cuStreamGetCtx",
        "cuCtxGetId",        "cuCtxPushCurrent",    "cuEventCreate",
        "cuEventRecord",     "cuEventQuery",        "cuEventSynchronize",
        "cuEventElapsedTime"};
    static const int results[] = {2, 700, 600, 906};
    begin();
    cuda->current(context);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t r = 0; r < 4; r++)
            for (uint64_t n = 1; n < 4; n++) {
                gnomon_cuda_timer_destroy(timer);
                CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
                fail_call(calls[c], n, r % 2 ? 1 : 100, results[r]);
            }
    end();
}

/* A device that cannot be used. */
TEST(no_context_can_be_had)
{
    static const char *const calls[] = {
        "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"};
    begin();
    for (size_t c = 0; c < 3; c++) {
        cuda->current(NULL);
        cuda->fail(calls[c], 1, 1, 101);
        CHECK_EQ(gnomon_cuda_timer_start(timer, NULL), GNOMON_ESTATE);
        CHECK(strstr(gnomon_error_text(), "CUDA_ERROR_101 (101)"));
        CHECK(current() == NULL);
    }
    CHECK_EQ(gnomon_cuda_timer_start(timer, NULL), GNOMON_OK);
    end();
}

/* ---- Alone ------------------------------------------------------------------------ */

static int process_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int n = -2;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* No thread, and nothing of gnomon's recorders. */
TEST(without_any_profiler)
{
    unsetenv("GNOMON");
    begin();
    int threads = process_threads();
    CHECK_EQ(time_work(stream, 2 * MS), GNOMON_OK);
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK_EQ(process_threads(), threads);
    CHECK_EQ(health_now().threads, 0);
    CHECK_EQ(health_now().mapped_bytes, 0);
    end();
}

/* Together with scopes on the same stream. */
TEST(with_a_profiler)
{
    begin();
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    {
        GNOMON_SCOPE_ON("a", stream);
        CHECK_EQ(time_work(stream, 2 * MS), GNOMON_OK);
    }
    pass(5 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_DEVICE(p, "a", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    gnomon_cuda_timer_destroy(timer);
    CHECK_EQ(cuda->leaks(), 2); /* those of the scope's timer */
    fake_cuda_is_well();
}

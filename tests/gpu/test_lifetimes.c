/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 120
 * What happens to devices, streams, threads and processes under scopes on
 * streams; and whose errors are whose. */
#include "gpu.h"

#include "../child.h"

#define NO_GPU "no GPU here"
#define OLD_DRIVER "a driver before 12.0 does not tell that a device was reset"

static cudaStream_t stream;

static int begin(void)
{
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    return timed_attach();
}

/* ---- Streams and devices that go ----------------------------------------------- */

TEST(streams_are_destroyed)
{
    if (!begin())
        SKIP(NO_GPU);
    for (int i = 0; i < 100; i++) {
        cudaStream_t own = gpu_stream();
        scope_on("destroyed", own, 100 * US);
        CUDA(cudaStreamDestroy(own)); /* its work and its events go on */
    }
    gnomon_stats s = device_when("destroyed", 100);
    CHECK_AT_LEAST(s.min_ns, 100 * US);
    gpu_is_well();
}

static gnomon_device_context place_of(cudaStream_t on)
{
    gnomon_device_context context = {.struct_size = sizeof context};
    CHECK_EQ(gnomon_cuda_device()->context_of(on, &context), GNOMON_OK);
    return context;
}

/* 0: the new context cannot be distinguished from the old one, so destroyed
 * events would be used. */
static int reset_device(void)
{
    gnomon_device_context old = place_of(stream);
    CUDA(cudaDeviceReset());
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    gnomon_device_context now = place_of(stream);
    printf("context %p, id %llu; before the reset %p, id %llu\n", now.context,
           (unsigned long long)now.id, old.context, (unsigned long long)old.id);
    return CHECK(now.id != old.id);
}

/* Resets that are allowed: nobody of ours calls into the device meanwhile. In
 * each other round the device has work and events left. */
static void reset_rounds(void (*watch)(void), void (*leave)(void))
{
    uint64_t flying = 0;
    if (!place_of(stream).id)
        SKIP(OLD_DRIVER);
    for (int round = 0; round < 6; round++) {
        watch();
        for (int i = 0; i < 20; i++)
            scope_on("reset", stream, 1 * MS);
        if (round % 2)
            device_when("reset", 20);
        else
            flying += 20;
        leave();
        if (!reset_device())
            return;
        watch();
        for (int i = 0; i < 20; i++)
            scope_on("after", stream, 10 * US);
        gnomon_stats s = device_when("after", 20);
        CHECK_AT_LEAST(s.min_ns, 10 * US);
        leave();
    }
    printf("%d of %d that were on their way are lost\n",
           (int)health().timers_failed, (int)flying);
    CHECK(health().timers_failed <= flying);
    CUDA(cudaGetLastError());
}

static void watch_attached(void)
{
    timed_attach();
}

static void leave_attached(void)
{
    timed_detach();
}

TEST(devices_are_reset)
{
    if (!gpu_begin())
        SKIP(NO_GPU);
    stream = gpu_stream();
    reset_rounds(watch_attached, leave_attached);
}

/* As docs/cuda.md has it. */
static void watch_configured(void)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "cuda(wait=1ms),file=/dev/null"),
             GNOMON_OK);
    timed_by = "cuda";
}

static void leave_configured(void)
{
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

TEST(devices_are_reset_after_teardown)
{
    if (!gpu_begin())
        SKIP(NO_GPU);
    stream = gpu_stream();
    reset_rounds(watch_configured, leave_configured);
}

TEST(timers_outlive_a_reset)
{
    gnomon_cuda_timer *timer = NULL;
    double ms = 0;
    if (!gpu_begin())
        SKIP(NO_GPU);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
    if (!place_of(NULL).id)
        SKIP(OLD_DRIVER);
    for (int round = 0; round < 3; round++) {
        stream = gpu_stream();
        CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
        put_spin(1000000, stream);
        CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
        CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
        CHECK(ms > 0.998);
        CUDA(cudaDeviceReset());
        if (!gpu_begin())
            return;
    }
    gnomon_cuda_timer_destroy(timer);
    CUDA(cudaGetLastError());
}

/* ---- Errors --------------------------------------------------------------------- */

/* The host's own error is kept for the host, before and after gnomon's. */
TEST(an_error_of_the_host_stays)
{
    if (!begin())
        SKIP(NO_GPU);
    cudaError_t code = cudaSetDevice(1 << 20);
    CHECK(code != cudaSuccess);
    for (int i = 0; i < 100; i++) {
        GNOMON_SCOPE_ON("with an error", stream);
    }
    device_when("with an error", 100);
    CHECK_EQ(cudaPeekAtLastError(), code);
    CHECK_EQ(cudaGetLastError(), code);
    gpu_is_well();
}

/* The context is broken for good: scopes are counted as lost, and the host meets
 * its own error, as it would without us. */
TEST(a_sticky_error_of_the_host_stays)
{
    if (!begin())
        SKIP(NO_GPU);
    scope_on("before", stream, 10 * US);
    device_when("before", 1);
    put_trap(stream);
    cudaError_t code = cudaStreamSynchronize(stream);
    CHECK(code != cudaSuccess);
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("broken", stream);
    }
    usleep(20000); /* the reader looks */
    CHECK_EQ(device_of("broken").count + health().timers_failed, 10);
    CHECK_EQ(device_of("before").count, 1);
    CHECK_EQ(cudaGetLastError(), code);
    CHECK_EQ(cudaStreamSynchronize(stream), code);
}

/* A thread without a chosen device has no context for the default stream. */
static void *first_of_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("fresh, default", NULL);
    }
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("fresh, a stream", stream);
    }
    CHECK_EQ(cudaPeekAtLastError(), cudaSuccess);
    put_spin(0, NULL);
    CUDA(cudaGetLastError());
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("used", NULL);
    }
    return NULL;
}

TEST(threads_that_did_not_use_cuda)
{
    pthread_t thread;
    if (!begin())
        SKIP(NO_GPU);
    CHECK_EQ(pthread_create(&thread, NULL, first_of_thread, NULL), 0);
    pthread_join(thread, NULL);
    device_when("used", 10);
    usleep(20000);
    uint64_t on_default = device_of("fresh, default").count;
    uint64_t on_stream = device_of("fresh, a stream").count;
    printf("%d and %d of 10 each are timed\n", (int)on_default, (int)on_stream);
    CHECK_EQ(on_default + on_stream + health().timers_failed, 20);
    CUDA(cudaGetLastError());
}

/* ---- Processes ------------------------------------------------------------------- */

/* A profiler was attached, and CUDA not used yet: both go on alone. */
TEST(fork_before_cuda)
{
    int status = 0;
    timed_attach();
    pid_t child = fork();
    if (child == 0) {
        if (!gpu_begin())
            _exit(test_failures ? 1 : 77);
        stream = gpu_stream();
        scope_on("silent", stream, 100 * US);
        CUDA(cudaStreamSynchronize(stream));
        gnomon_setup(NULL);
        timed_attach();
        scope_on("child's", stream, 100 * US);
        device_when("child's", 1);
        gpu_is_well();
        _exit(test_failures != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP(NO_GPU);
    CHECK_EQ(status, 0);
    if (!gpu_begin())
        return;
    stream = gpu_stream();
    scope_on("parent's", stream, 100 * US);
    device_when("parent's", 1);
    CHECK_EQ(device_of("child's").count, 0);
    gpu_is_well();
}

/* Run by the tests below under GNOMON=...; alone they print nothing. */
static int program_begin(void)
{
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    gnomon_setup(NULL);
    gnomon_stage_begin("fit");
    return 1;
}

TEST(a_program)
{
    if (!program_begin())
        SKIP(NO_GPU);
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("forward", stream);
        put_spin(1000000, stream);
        gnomon_step();
    }
    gnomon_stage_end();
    gnomon_teardown();
    CUDA(cudaGetLastError());
}

TEST(a_program_that_just_ends)
{
    if (!program_begin())
        SKIP(NO_GPU);
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("forward", stream);
        put_spin(1000000, stream);
    }
    CUDA(cudaStreamSynchronize(stream));
    usleep(100000); /* the reader looked */
}

TEST(a_program_in_flight)
{
    if (!program_begin())
        SKIP(NO_GPU);
    {
        GNOMON_SCOPE_ON("late", stream);
        gate_close(stream);
    }
    gnomon_teardown();
}

static child_result program(const char *environment, const char *name)
{
    child_result r = child_run("/proc/self/exe", environment,
                               (const char *const[]){name, NULL});
    CHECK_EQ(r.status, 0);
    printf("%s%s", r.out, r.err);
    return r;
}

static void check_report(child_result r)
{
    struct cudaDeviceProp properties;
    CHECK_EQ(times_in(r.err, "FIT Profiler Report"), 1);
    CHECK_EQ(times_in(r.err, "FIT Device Report"), 1);
    CHECK_EQ(times_in(r.err, "forward"), 2);
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CHECK_EQ(times_in(r.err, properties.name), 1);
    CHECK_EQ(times_in(r.err, "lost"), 0);
}

TEST(the_report)
{
    if (!gpu_count())
        SKIP(NO_GPU);
    check_report(program("GNOMON=simple,cuda", "a_program"));
}

/* The driver may be gone before the report is due: what was read is there. */
TEST(the_report_of_one_that_just_ends)
{
    if (!gpu_count())
        SKIP(NO_GPU);
    check_report(program("GNOMON=simple,cuda", "a_program_that_just_ends"));
}

/* A report waits as long as `wait` allows, and prints what is missing. */
TEST(the_report_of_one_in_flight)
{
    if (!gpu_count())
        SKIP(NO_GPU);
    child_result r = program("GNOMON=cuda(wait=100ms)", "a_program_in_flight");
    CHECK_EQ(times_in(r.err, "FIT Device Report"), 1);
    CHECK_EQ(times_in(r.err, "1 device time lost"), 1);
}

/* ---- What the timing itself takes ------------------------------------------------ */

#define PART 16 /* events: a single one is too short to measure */
#define EVENTS (4 * PART + 1)

/* ns that an event takes of a stream, in a row that the device meets whole. */
static double event_cost(void)
{
    cudaEvent_t event[EVENTS];
    double least = 0;
    for (int i = 0; i < EVENTS; i++)
        CUDA(cudaEventCreate(&event[i]));
    gate_close(stream);
    for (int i = 0; i < EVENTS; i++)
        CUDA(cudaEventRecord(event[i], stream));
    CHECK(gate_is_closed(stream));
    gate_open();
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i + PART < EVENTS; i += PART) {
        double ns = pair_ns((event_pair){event[i], event[i + PART]}) / PART;
        if (i == 0 || ns < least)
            least = ns;
    }
    for (int i = 0; i < EVENTS; i++)
        CUDA(cudaEventDestroy(event[i]));
    return least;
}

/* The number in front of `unit`, at its first place in `text`; below 0: none. */
static double number_before(const char *text, const char *unit)
{
    const char *at = text ? strstr(text, unit) : NULL;
    while (at && at > text && at[-1] == ' ')
        at--;
    while (at && at > text && strchr("0123456789.", at[-1]))
        at--;
    return at && strchr("0123456789", *at) ? strtod(at, NULL) : -1;
}

/* `cuda` measures events as fast as the reader puts them into an idle stream, so
 * what it prints is no less than what they take in a row; and is no nonsense. */
TEST(the_cost_of_events_is_reported)
{
    if (!gpu_count())
        SKIP(NO_GPU);
    child_result r = program("GNOMON=cuda", "a_program");
    double printed_us = number_before(r.err, "us of its stream") * US;
    gpu_begin();
    stream = gpu_stream();
    double measured = 2 * event_cost();
    printf("two events take %.2f us by `cuda`, %.2f us in a row\n",
           printed_us / US, measured / US);
    CHECK(printed_us > 0 && measured > 0);
    CHECK(printed_us + 0.1 * US >= 0.7 * measured); /* printed in tenths */
    CHECK(printed_us <= fmax(20 * US, 10 * measured));
}

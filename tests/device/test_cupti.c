/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * CUPTI as a source, on the fake one: what it turns on, what it notes at launches, and
 * what it tells of the work. */
#include "fake_cupti.h"
#include "device/cupti_driver.h"
#include "device/timers.h"

static const uint32_t versions[] = {18, 20, 23, 26, 28, 130000, 130001};

/* ---- What is on ------------------------------------------------------------------------ */

TEST(calls_by_their_names)
{
    static const struct {
        const char *name;
        enum gnomon__cupti_class is;
    } calls[] = {
        {"cudaLaunchKernel_v7000", GNOMON__CUPTI_KERNEL_LAUNCH},
        {"cudaLaunchKernelExC_ptsz_v11060", GNOMON__CUPTI_KERNEL_LAUNCH},
        {"cuLaunchCooperativeKernel", GNOMON__CUPTI_KERNEL_LAUNCH},
        {"cuLaunchCooperativeKernelMultiDevice", GNOMON__CUPTI_LAUNCH},
        {"cuLaunchHostFunc", GNOMON__CUPTI_LAUNCH},
        {"cuGraphLaunch_ptsz", GNOMON__CUPTI_LAUNCH},
        {"cu64MemcpyHtoDAsync", GNOMON__CUPTI_LAUNCH},
        {"cudaMemcpyPeerAsync_v4000", GNOMON__CUPTI_LAUNCH},
        {"cuMemsetD2D32_v2_ptds", GNOMON__CUPTI_LAUNCH},
        {"cudaMemPrefetchAsync_v2_v12020", GNOMON__CUPTI_LAUNCH},
        {"cuMemSetAccess", GNOMON__CUPTI_OTHER},
        {"cudaGraphAddMemcpyNode_v10000", GNOMON__CUPTI_OTHER},
        {"cudaGraphAddEventWaitNode_v11010", GNOMON__CUPTI_OTHER},
        {"cudaMalloc_v3020", GNOMON__CUPTI_OTHER},
        {"cuEventRecord", GNOMON__CUPTI_OTHER},
        {"cudaDeviceSynchronize_v3020", GNOMON__CUPTI_WAIT},
        {"cuCtxSynchronize", GNOMON__CUPTI_WAIT},
        {"cudaStreamWaitEvent_ptsz_v7000", GNOMON__CUPTI_WAIT},
        {"cudaGetDevice_v3020", GNOMON__CUPTI_NOISE},
        {"cudaGetLastError_v3020", GNOMON__CUPTI_NOISE},
        {"cudaPeekAtLastError_v3020", GNOMON__CUPTI_NOISE},
        {"cudaEventQuery_v3020", GNOMON__CUPTI_NOISE},
        {"cuCtxPushCurrent_v2", GNOMON__CUPTI_NOISE},
        {"cuThreadExchangeStreamCaptureMode", GNOMON__CUPTI_NOISE},
        {"cudaStreamBeginCapture_v10000", GNOMON__CUPTI_CAPTURE_BEGINS},
        {"cuStreamBeginCaptureToGraph", GNOMON__CUPTI_CAPTURE_BEGINS},
        {"cuStreamEndCapture_ptsz", GNOMON__CUPTI_CAPTURE_ENDS}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!CHECK_EQ(gnomon__cupti_class_of_name(calls[i].name), calls[i].is))
            fprintf(stderr, "    %s\n", calls[i].name);
}

TEST(kinds_go_on_and_off)
{
    static const uint8_t kinds[] = {FAKE_KERNEL, FAKE_MEMCPY,   FAKE_MEMCPY2,
                                    FAKE_MEMSET, FAKE_RUNTIME,  FAKE_DRIVER,
                                    FAKE_SYNC,   FAKE_OVERHEAD, FAKE_GRAPH};
    fake_cupti_use(130000);
    CHECK_EQ(cupti->subscribers(), 0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    CHECK_EQ(cupti->subscribers(), 1);
    for (size_t i = 0; i < sizeof kinds; i++)
        CHECK_EQ(cupti->records(kinds[i]), kinds[i] == FAKE_KERNEL);
    CHECK(cupti->calls_back(FAKE_RUNTIME_API, "cudaLaunchKernel"));
    CHECK(cupti->calls_back(FAKE_DRIVER_API, "cuMemcpyHtoDAsync_v2"));
    CHECK(cupti->calls_back(FAKE_DRIVER_API, "cuGraphLaunch"));
    CHECK(!cupti->calls_back(FAKE_RUNTIME_API, "cudaStreamSynchronize"));
    CHECK(!cupti->calls_back(FAKE_RUNTIME_API, "cudaMalloc"));

    CHECK_STR(open_cupti(KIND(KERNEL) | KIND(SYNC)), NULL); /* while open */
    CHECK(cupti->records(FAKE_SYNC));
    CHECK(cupti->calls_back(FAKE_RUNTIME_API, "cudaStreamSynchronize"));
    CHECK(!cupti->calls_back(FAKE_RUNTIME_API, "cudaMalloc"));

    CHECK_STR(open_cupti(ALL_KINDS), NULL);
    for (size_t i = 0; i < sizeof kinds; i++)
        CHECK(cupti->records(kinds[i]));
    CHECK(cupti->calls_back(FAKE_RUNTIME_API, "cudaMalloc"));
    CHECK(!cupti->calls_back(FAKE_RUNTIME_API, "cudaGetDevice"));
    CHECK(cupti->records_call(FAKE_RUNTIME_API, "cudaMalloc"));
    CHECK(!cupti->records_call(FAKE_RUNTIME_API, "cudaGetDevice"));
    CHECK(!cupti->records_call(FAKE_DRIVER_API, "cuEventQuery"));

    CHECK_STR(open_cupti(KIND(COPY)), NULL);
    for (size_t i = 0; i < sizeof kinds; i++)
        CHECK_EQ(cupti->records(kinds[i]),
                 kinds[i] == FAKE_MEMCPY || kinds[i] == FAKE_MEMCPY2);
    CHECK(!cupti->calls_back(FAKE_RUNTIME_API, "cudaMalloc"));
    CHECK(cupti->calls_back(FAKE_RUNTIME_API, "cudaLaunchKernel"));

    close_cupti();
    CHECK_EQ(cupti->subscribers(), 0);
    CHECK(!cupti->records(FAKE_MEMCPY));
    close_cupti(); /* does nothing */

    CHECK_STR(open_cupti(ALL_KINDS), NULL);
    CHECK_EQ(cupti->calls("cuptiActivityRegisterTimestampCallback"), 1);
    CHECK_EQ(cupti->calls("cuptiFinalize"), 0);
    close_cupti();
}

/* ---- Launches and work ------------------------------------------------------------------- */

static void launch_both_ways(enum fake_numbers how)
{
    fake_cupti_use(130000);
    cupti->numbers(how);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    uint32_t first = cupti->launch(&place, "first", 1000);
    CHECK(was_launched(first));
    uint32_t second = cupti->launch(&place, "second", 500);
    CHECK(was_launched(second));
    CHECK_EQ(told_count(), 0);
    uint64_t at = gnomon__test_ticks;
    pass(10000);
    flush_cupti(PATIENCE);
    CHECK_EQ(told.count, 2);
    const gnomon_device_work *a = told_of("first"), *b = told_of("second");
    if (!CHECK(a && b))
        return;
    CHECK_EQ(a->kind, GNOMON_DEVICE_KERNEL);
    CHECK_EQ(a->correlation, first);
    CHECK_EQ(a->begin_ns, at);
    CHECK_EQ(a->end_ns, at + 1000);
    CHECK_EQ(a->grid[0], 8);
    CHECK_EQ(a->stream, place.stream);
    CHECK_EQ(b->correlation, second);
    CHECK_EQ(b->begin_ns, at + 1000);
    close_cupti();
    CHECK_EQ(told.count, 2);
    CHECK_EQ(told.lost, 0);
}

TEST(work_carries_the_correlation_of_the_runtime)
{
    launch_both_ways(FAKE_RUNTIMES);
}

TEST(work_carries_the_correlation_of_the_driver)
{
    launch_both_ways(FAKE_DRIVERS);
}

/* Each kind of record within its call; each of these calls is noted. */
static void make_each_kind(uint64_t at)
{
    fake_record copy = {.copy = {.kind = FAKE_MEMCPY,
                                 .direction = 1,
                                 .from = 1,
                                 .to = 3,
                                 .bytes = 4096,
                                 .start = at,
                                 .end = at + 5,
                                 .context = 1,
                                 .stream = 7}};
    fake_record set = {.set = {.kind = FAKE_MEMSET,
                               .bytes = 64,
                               .start = at,
                               .end = at + 6,
                               .context = 1,
                               .stream = 7,
                               .memory = 3}};
    fake_record wait = {.wait = {.kind = FAKE_SYNC,
                                 .type = 3,
                                 .start = at,
                                 .end = at + 7,
                                 .context = 1,
                                 .stream = 7}};
    fake_record overhead = {.overhead = {.kind = FAKE_OVERHEAD,
                                         .what = 1 << 16,
                                         .start = at,
                                         .end = at + 8}};
    fake_record graph = {.graph = {.kind = FAKE_GRAPH,
                                   .start = at,
                                   .end = at + 9,
                                   .graph = 5,
                                   .context = 1,
                                   .stream = 7}};
    cupti->begin(FAKE_RUNTIME_API, "cudaMemcpyAsync", NULL);
    cupti->work(&copy);
    cupti->end(0);
    cupti->begin(FAKE_RUNTIME_API, "cudaMemsetAsync", NULL);
    cupti->work(&set);
    cupti->end(0);
    cupti->begin(FAKE_RUNTIME_API, "cudaStreamSynchronize", NULL);
    cupti->work(&wait);
    cupti->end(0);
    cupti->work(&overhead);
    cupti->begin(FAKE_RUNTIME_API, "cudaGraphLaunch", NULL);
    cupti->work(&graph);
    cupti->end(0);
    cupti->begin(FAKE_DRIVER_API, "cuMemAlloc_v2", NULL);
    cupti->end(2);
    cupti->begin(FAKE_RUNTIME_API, "cudaGetDevice", NULL);
    cupti->begin(FAKE_DRIVER_API, "cuCtxGetCurrent", NULL);
    cupti->end(0);
    cupti->end(0);
}

static void check_each_kind(void)
{
    const gnomon_device_work *copy =
        told_of("Memcpy HtoD (Pageable -> Device)");
    const gnomon_device_work *set = told_of("Memset (Device)");
    const gnomon_device_work *wait = told_of("Stream Sync");
    const gnomon_device_work *overhead = told_of("Buffer Flush");
    const gnomon_device_work *graph = told_of("Graph");
    const gnomon_device_work *call = told_of("cudaMemcpyAsync");
    const gnomon_device_work *low = told_of("cuMemAlloc_v2");
    if (!CHECK(copy && set && wait && overhead && graph && call && low))
        return;
    CHECK_EQ(copy->bytes, 4096);
    CHECK_EQ(copy->end_ns - copy->begin_ns, 5);
    CHECK_EQ(set->bytes, 64);
    CHECK_EQ(set->kind, GNOMON_DEVICE_SET);
    CHECK_EQ(wait->kind, GNOMON_DEVICE_SYNC);
    CHECK_EQ(overhead->kind, GNOMON_DEVICE_OVERHEAD);
    CHECK_EQ(graph->kind, GNOMON_DEVICE_GRAPH);
    CHECK_EQ(graph->graph, 5);
    CHECK_EQ(call->kind, GNOMON_DEVICE_CALL);
    CHECK_EQ(call->correlation, copy->correlation);
    CHECK_EQ(call->flags, 0);
    CHECK_EQ(low->flags, GNOMON_DEVICE_LOW_LEVEL);
    CHECK_EQ(low->result, 2);
    const gnomon_device_work *each[] = {copy, set, wait, graph, call, low};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        CHECK(was_launched(each[i]->correlation));
    CHECK(!told_of("cudaGetDevice"));
    CHECK(!told_of("cuCtxGetCurrent"));
    CHECK_EQ(told.count, 10);
}

static void each_kind(const char *library, uint32_t version, int64_t thread)
{
    fake_cupti_use_as(library, version);
    CHECK_STR(open_cupti(ALL_KINDS), NULL);
    make_each_kind(gnomon__test_ticks);
    pass(100);
    flush_cupti(PATIENCE);
    check_each_kind();
    const gnomon_device_work *call = told_of("cudaMemsetAsync");
    CHECK(call && call->thread == thread);
    CHECK_EQ(told_lost(), 0);
    close_cupti();
}

static void each_kind_in(uint32_t version)
{
    each_kind(FAKE_CUPTI("cupti"), version, gnomon__os_thread_id());
}

/* Each in a process of its own, as CUPTI's version is that of the process. */
static void in_each_version(void (*run)(uint32_t version))
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            run(versions[i]);
            _exit(test_failures != 0);
        }
        waitpid(child, &status, 0);
        if (!CHECK_EQ(status, 0))
            fprintf(stderr, "    version %u\n", versions[i]);
    }
}

TEST(each_kind_in_each_version)
{
    in_each_version(each_kind_in);
}

/* ---- One launch, two calls --------------------------------------------------------------- */

static enum fake_numbers how_numbered;

/* A launch is counted once. Each number that a record may carry is noted once, and each
 * kernel's is. */
static void launch_many(uint32_t version)
{
    enum { MANY = 100 };
    const uint64_t calls = how_numbered < FAKE_ONE ? 2 : 1;
    fake_cupti_use(version);
    cupti->numbers(how_numbered);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    for (uint64_t i = 1; i <= MANY; i++) {
        cupti->launch(&place, "kernel", 10);
        CHECK_EQ(gnomon__cupti_launched(), i);
        pass(20);
    }
    CHECK_EQ(told.notes, calls * MANY);
    for (uint64_t i = 1; i < told.notes; i++)
        CHECK(told.launched[i] == told.launched[i - 1] + 1);
    flush_cupti(PATIENCE);
    close_cupti();
    CHECK_EQ(told.count, MANY);
    CHECK_EQ(told.lost, 0);
    for (uint64_t i = 0; i < told.count; i++)
        CHECK(was_launched(told.records[i].correlation));
}

static void launch_numbered(enum fake_numbers how)
{
    how_numbered = how;
    in_each_version(launch_many);
}

TEST(two_calls_with_a_number_each)
{
    launch_numbered(FAKE_RUNTIMES);
}

TEST(two_calls_and_work_has_the_driver_s_number)
{
    launch_numbered(FAKE_DRIVERS);
}

TEST(two_calls_with_one_number)
{
    launch_numbered(FAKE_ONE);
}

TEST(a_call_of_the_runtime_alone)
{
    launch_numbered(FAKE_NO_DRIVER);
}

/* A program that launches by the driver alone, and one whose runtime's call is not a launch:
 * each of their launches is one. */
TEST(calls_of_the_driver_that_are_launches)
{
    fake_cupti_use(130000);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->begin(FAKE_DRIVER_API, "cuLaunchKernel", NULL);
    cupti->end(0);
    CHECK_EQ(gnomon__cupti_launched(), 1);
    cupti->begin(FAKE_RUNTIME_API, "cudaMemcpyAsync", NULL);
    cupti->begin(FAKE_DRIVER_API, "cuLaunchKernel", NULL);
    cupti->end(0);
    cupti->end(0);
    CHECK_EQ(gnomon__cupti_launched(), 2);
    cupti->begin(FAKE_RUNTIME_API, "cudaLaunchKernel", NULL);
    cupti->end(1); /* it was refused */
    CHECK_EQ(gnomon__cupti_launched(), 2);
    close_cupti();
}

/* One without the calls that are optional: noise is left out when records are read, and
 * threads are not known. */
TEST(a_cupti_with_the_oldest_calls_only)
{
    each_kind(FAKE_CUPTI("plain"), 18, 0);
}

/* ---- Gnomon's own calls -------------------------------------------------------------------- */

TEST(own_calls_are_not_told)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(CALL) | KIND(KERNEL)), NULL);
    cupti->launch(&place, "kernel", 100);
    cuda->current(place.context);
    pass(1000);
    flush_cupti(PATIENCE);
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 1);
    flush_cupti(PATIENCE); /* nothing was launched since: no reason to wait */
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 1);
    CHECK(told_of("cudaLaunchKernel"));
    CHECK(told_of("cuLaunchKernel"));
    CHECK(!told_of("cuCtxSynchronize"));
    CHECK_EQ(told_count(), 3);
    cupti->begin(FAKE_DRIVER_API, "cuCtxSynchronize", place.context);
    cupti->end(0); /* the host's */
    flush_cupti(0);
    CHECK(told_of("cuCtxSynchronize"));
    close_cupti();
    fake_cuda_is_well();
}

/* Those on the host's threads neither, where scopes on streams are timed too. */
TEST(own_events_are_not_told)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    cuda->current(place.context);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    CHECK_STR(open_cupti(KIND(CALL)), NULL);
    /* As many as have a timer though none is read meanwhile. */
    for (uint32_t i = 0; i < GNOMON__TIMERS; i++) {
        GNOMON_SCOPE_ON("scope", place.handle);
        pass(100);
    }
    CHECK(cuda->calls("cuEventRecord") >= 2 * GNOMON__TIMERS);
    cupti->begin(FAKE_DRIVER_API, "cuEventRecord", place.context);
    cupti->end(0); /* the host's */
    flush_cupti(0);
    CHECK(told_of("cuEventRecord"));
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    close_cupti();
    CHECK_EQ(told_count(), 1);
    fake_cuda_is_well();
}

/* From 12.8 on a query that finds all done is a record of a wait (cupti_activity.h,
 * cuptiActivityEnableAllSyncRecords): neither the host's nor gnomon's own is one. */
TEST(queries_are_no_waits)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    cuda->current(place.context);
    CHECK_STR(open_cupti(KIND(SYNC)), NULL);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 10; i++) {
        GNOMON_SCOPE_ON("scope", place.handle);
        pass(100);
    }
    for (int i = 0; i < 60000 && !cuda->calls("cuEventQuery"); i++)
        usleep(1000);
    CHECK(cuda->calls("cuEventQuery") > 0); /* gnomon's own */
    cupti->begin(FAKE_RUNTIME_API, "cudaEventQuery", place.context);
    cupti->end(0);
    fake_record wait = {.wait = {.kind = FAKE_SYNC,
                                 .type = 1,
                                 .start = gnomon__test_ticks,
                                 .end = gnomon__test_ticks,
                                 .context = 1,
                                 .stream = UINT32_MAX}};
    cupti->begin(FAKE_RUNTIME_API, "cudaDeviceSynchronize", place.context);
    cupti->work(&wait); /* one that waits */
    cupti->end(0);
    pass(100);
    flush_cupti(0);
    CHECK_EQ(told_count(), 1);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    close_cupti();
}

/* ---- Names of kernels ------------------------------------------------------------------------ */

static void kernel_is(const char *mangled, const char *name)
{
    static uint64_t at;
    const fake_record kernel = {
        .kernel = {.kind = FAKE_KERNEL, .start = 1, .end = 2, .name = mangled}};
    cupti->flood(&kernel, 1);
    flush_cupti(0);
    CHECK_EQ(told_count(), ++at);
    CHECK_STR(told.names[(at - 1) % TOLD], name);
}

/* By the C++ runtime that the process has; none is loaded for it. */
TEST(names_of_kernels)
{
    fake_cupti_use(130000);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    if (dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD))
        SKIP("a sanitizer has a C++ runtime");
    kernel_is("_Z4gemmIfEvPT_i", "_Z4gemmIfEvPT_i");
    if (!dlopen("libstdc++.so.6", RTLD_NOW))
        SKIP("no C++ runtime here");
    for (int i = 0; i < 2000; i++) { /* more than are kept */
        char mangled[64], name[64];
        snprintf(mangled, sizeof mangled, "_Z5k%04dIfEvPT_i", i);
        snprintf(name, sizeof name, "void k%04d<float>(float*, int)", i);
        kernel_is(mangled, name);
    }
    kernel_is("_Z4gemmIfEvPT_i", "void gemm<float>(float*, int)");
    kernel_is("_Z", "_Z");
    kernel_is("_Z!", "_Z!");
    close_cupti();
}

/* ---- Flushes --------------------------------------------------------------------------------- */

static void *finish_soon(void *place)
{
    usleep(20000);
    pass(5000);
    return place;
}

TEST(a_flush_waits_for_the_device)
{
    pthread_t thread;
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->launch(&place, "slow", 5000);
    flush_cupti(0); /* no patience */
    CHECK_EQ(told_count(), 0);
    pthread_create(&thread, NULL, finish_soon, &place);
    flush_cupti(PATIENCE);
    CHECK_EQ(told_count(), 1);
    CHECK_EQ(told_lost(), 0);
    pthread_join(thread, NULL);
    close_cupti();
    fake_cuda_is_well();
}

/* What is not over in this time is told later; what a close finds unfinished is lost. */
TEST(patience_ends)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->launch(&place, "endless", UINT64_MAX);
    flush_cupti(20000000);
    CHECK_EQ(told_count(), 0);
    flush_cupti(20000000); /* the thread still waits for the device */
    CHECK_EQ(told_count(), 0);
    cupti->finish();
    cuda->finish(place.handle);
    flush_cupti(PATIENCE);
    flush_cupti(PATIENCE);
    CHECK_EQ(told_count(), 1);
    cupti->launch(&place, "endless too", UINT64_MAX);
    close_cupti();
    CHECK_EQ(told_count(), 1);
    CHECK_EQ(told_lost(), 1);
    fake_cuda_is_well();
}

TEST(a_capture_is_not_spoiled)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->launch(&place, "kernel", 100);
    cupti->begin(FAKE_RUNTIME_API, "cudaStreamBeginCapture", place.context);
    cupti->begin(FAKE_DRIVER_API, "cuStreamBeginCapture_v2", place.context);
    cuda->capture(place.handle, 1);
    cupti->end(0);
    cupti->end(0);
    cupti->begin(FAKE_RUNTIME_API, "cudaStreamBeginCapture", place.context);
    cupti->end(900); /* refused: there is no second one */
    pass(1000);
    flush_cupti(PATIENCE);
    CHECK_EQ(told_count(), 1); /* it was over */
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 0);
    cupti->begin(FAKE_RUNTIME_API, "cudaStreamEndCapture", place.context);
    cupti->begin(FAKE_DRIVER_API, "cuStreamEndCapture", place.context);
    cuda->capture(place.handle, 0);
    cupti->end(0);
    cupti->end(0);
    cupti->launch(&place, "kernel", 100);
    pass(1000);
    flush_cupti(PATIENCE);
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 1);
    CHECK_EQ(told_count(), 2);
    close_cupti();
    fake_cuda_is_well();
}

/* One whose stream is gone, or whose thread has ended: no report waits for it, and what is
 * over is told. */
TEST(a_capture_that_never_ends)
{
    fake_cupti_use(130000);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->begin(FAKE_DRIVER_API, "cuStreamBeginCapture_v2", place.context);
    cupti->end(0);
    for (int i = 0; i < 3; i++) {
        cupti->launch(&place, "kernel", 1000);
        pass(10000);
        flush_cupti(PATIENCE);
        CHECK_EQ(told_count(), (unsigned)i + 1);
    }
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 0);
    CHECK_EQ(told_lost(), 0);
    close_cupti();
    CHECK_EQ(told_lost(), 0);
}

/* A context that is gone is not waited for: its address may be another one's. */
TEST(contexts_that_end)
{
    fake_cupti_use(130000);
    cupti->watch(cuda);
    fake_place first = place_on(0), second = place_on(1);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->launch(&first, "first", 100);
    cupti->launch(&second, "second", 100);
    cupti->context_ends(first.context);
    cuda->reset(0);
    pass(1000);
    flush_cupti(PATIENCE);
    CHECK_EQ(cuda->calls("cuCtxSynchronize"), 1);
    CHECK_EQ(cuda->calls("cuCtxPushCurrent"), 1);
    CHECK_EQ(told_count(), 2);
    close_cupti();
    fake_cuda_is_well();
}

/* ---- Times ------------------------------------------------------------------------------------- */

static uint64_t clock_error, cupti_version;

static int keep_fact(const char *key, const char *json)
{
    if (strcmp(key, "gnomon.cupti.clock_error_ns") == 0)
        clock_error = strtoull(json, NULL, 10);
    if (strcmp(key, "gnomon.cupti.version") == 0)
        cupti_version = strtoull(json, NULL, 10);
    return GNOMON_OK;
}

/* CUPTI's own clock is 1000 s later and gains 50 us in each second. */
TEST(a_clock_of_its_own)
{
    fake_cupti_use_as(FAKE_CUPTI("plain"), 18);
    cupti->own_clock(1000ll * A_SECOND, 50);
    gnomon__test_set(A_SECOND);
    fake_place place = {.stream = 7};
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    uint64_t expected[8];
    for (int i = 0; i < 8; i++) {
        expected[i] = gnomon__test_ticks;
        cupti->launch(&place, "kernel", 1000);
        pass(250u * 1000000u);
        if (i % 2)
            flush_cupti(0);
    }
    CHECK_EQ(told_count(), 8);
    for (int i = 0; i < 8; i++) {
        int64_t off = (int64_t)(told.records[i].begin_ns - expected[i]);
        if (!CHECK(off > -100 && off < 100))
            fprintf(stderr, "    number %d: %d ns\n", i, (int)off);
    }
    gnomon__cupti_describe(keep_fact);
    CHECK_EQ(cupti_version, 18);
    CHECK(clock_error < 100);
    uint64_t before = clock_error;
    cupti->own_clock(1000ll * A_SECOND, 90); /* it gains more from here on */
    pass(250u * 1000000u);
    flush_cupti(0);
    gnomon__cupti_describe(keep_fact);
    CHECK(clock_error > before + 1000);
    cupti->own_clock(2000ll * A_SECOND, 90); /* somebody set it */
    uint64_t at = gnomon__test_ticks;
    flush_cupti(0);
    pass(250u * 1000000u);
    flush_cupti(0);
    cupti->launch(&place, "kernel", 1000);
    uint64_t last = gnomon__test_ticks;
    pass(1000000);
    flush_cupti(0);
    CHECK_EQ(told_count(), 9);
    int64_t off = (int64_t)(told.records[8].begin_ns - last);
    CHECK(off > -100000 && off < 100000);
    CHECK(last > at);
    close_cupti();
}

static uint64_t ticks_of_another(void)
{
    return 100000000000000ull +
           __atomic_load_n(&gnomon__test_ticks, __ATOMIC_RELAXED) * 3;
}

static void other_gives_its_clock(void)
{
    int (*give)(uint64_t(*now)(void));
    void *symbol = dlsym(dlopen(FAKE_CUPTI("cupti"), RTLD_NOW),
                         gnomon__cupti_symbol.RegisterTimestamp);
    memcpy(&give, &symbol, sizeof give);
    cupti->anybody(1);
    CHECK_EQ(give(ticks_of_another), 0);
    pass(2000000);
}

/* Kineto gives CUPTI the processor's ticks at each session and leaves them there
 * (github.com/pytorch/kineto, libkineto/src/CuptiTimestamp.cpp): between two sessions of
 * ours, or in one. */
TEST(a_clock_that_another_profiler_left)
{
    fake_cupti_use(130000);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    cupti->launch(&place, "first", 1000);
    pass(5000);
    flush_cupti(0);
    close_cupti();
    other_gives_its_clock();
    for (int session = 0; session < 2; session++) {
        CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
        for (int i = 0; i < 4; i++) {
            uint64_t at = gnomon__test_ticks, before = told_count();
            cupti->launch(&place, "kernel", 3000); /* of its ticks */
            pass(2000000);
            flush_cupti(0);
            CHECK_EQ(told_count(), before + 1);
            const gnomon_device_work *a = &told.records[before];
            int64_t off = (int64_t)(a->begin_ns - at);
            CHECK(off > -100 && off < 100);
            CHECK(a->end_ns - a->begin_ns > 990 &&
                  a->end_ns - a->begin_ns < 1010);
        }
        close_cupti();
    }
}

TEST(a_clock_that_another_profiler_gives_meanwhile)
{
    fake_cupti_use(130000);
    fake_place place = place_on(0);
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    other_gives_its_clock();
    flush_cupti(0);
    pass(2000000);
    flush_cupti(0);
    uint64_t at = gnomon__test_ticks;
    cupti->launch(&place, "kernel", 3000);
    pass(2000000);
    flush_cupti(0);
    CHECK_EQ(told_count(), 1);
    int64_t off = (int64_t)(told.records[0].begin_ns - at);
    CHECK(off > -100 && off < 100);
    close_cupti();
}

/* The clock is gnomon's own: there is no error. */
TEST(gnomon_s_clock)
{
    fake_cupti_use(130000);
    gnomon__cupti_describe(keep_fact);
    CHECK_EQ(cupti_version, 0);
    clock_error = 7;
    CHECK_STR(open_cupti(KIND(KERNEL)), NULL);
    gnomon__cupti_describe(keep_fact);
    CHECK_EQ(cupti_version, 130000);
    CHECK_EQ(clock_error, 7);
    close_cupti();
}

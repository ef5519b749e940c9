/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who gets work of devices: views with filters and schedules, sources that come, go and
 * cannot be opened, threads, children; without memory; and in files.
 *
 * links: testing
 * timeout: 300 */
#include "toy_source.h"

#include <fcntl.h>

#include "child.h"
#include "device/timers.h"
#include "each_allocation.h"
#include "mark/thread.h"
#include "platform/memory.h"
#include "program.h"

static const gnomon_profiler other_worker = {.struct_size = sizeof other_worker,
                                             .abi = GNOMON_ABI,
                                             .wants = GNOMON_WANT_TREE |
                                                      GNOMON_WANT_DEVICE_WORK,
                                             .name = "other_worker"};

static void check_work_of(const char *profiler, const char *text)
{
    static toy_text shown;
    gnomon_profile *p = profile_of(profiler, 0);
    CHECK_STR(toy_shown(&shown, p), text);
    gnomon_profile_free(p);
}

/* ---- Views ---------------------------------------------------------------------------- */

/* The innermost scope is that of each view. */
TEST(each_view_has_its_own_scopes)
{
    toy_begin();
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "filter=outer*"), GNOMON_OK);
    {
        GNOMON_SCOPE("outer");
        GNOMON_SCOPE("inner");
        toy_kernel("gemm", 1, 100);
    }
    check_work_of("worker", "stream 7/ outer>inner>gemm 1 100\n");
    check_work_of("other_worker", "stream 7/ outer>gemm 1 100\n");
}

/* A snapshot alone waits for nothing. */
TEST(waiting_for_devices_lets_sources_take_their_time)
{
    toy_begin();
    check_work_of("worker", "");
    CHECK_EQ(toy.patience_ns, 0);
    {
        GNOMON_SCOPE("outer");
        toy_kernel("gemm", 1, 100);
    }
    CHECK_EQ(gnomon_device_wait(5000), GNOMON_OK);
    CHECK_EQ(toy.patience_ns, 5000);
    CHECK_EQ(toy.count, 0);
    check_work_of("worker", "stream 7/ outer>gemm 1 100\n");
}

TEST(a_profiler_that_wants_no_work_has_none_in_its_view)
{
    toy_begin();
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=o*"), GNOMON_OK);
    {
        GNOMON_SCOPE("outer");
        toy_kernel("gemm", 1, 100);
    }
    check_work_of("probe", "");
    check_work_of("worker", "stream 7/ outer>gemm 1 100\n");
}

/* Work counts where its launch was in a window. */
TEST(schedules_choose_launches)
{
    toy_begin();
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "schedule=wait:1/active:1"),
             GNOMON_OK);
    static const char *const names[] = {"first", "second", "third"};
    for (int i = 0; i < 3; i++) {
        {
            GNOMON_SCOPE("step");
            toy_kernel(names[i], 1, 100);
        }
        gnomon_step();
    }
    toy_tell(&toy);
    check_work_of("worker", "stream 7/ step>first 1 100\n"
                            "stream 7/ step>second 1 100\n"
                            "stream 7/ step>third 1 100\n");
    check_work_of("other_worker", "stream 7/ step>second 1 100\n");
}

/* A rank that records nothing opens no source. */
TEST(other_ranks_open_no_source)
{
    const gnomon_setup_options o = {
        .struct_size = sizeof o, .has_rank = 1, .rank = 1, .world_size = 2};
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&worker, NULL, "ranks=0"), GNOMON_OK);
    CHECK_EQ(toy.opens, 0);
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "ranks=1"), GNOMON_OK);
    CHECK_EQ(toy.opens, 1);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    check_work_of("worker", "");
    check_work_of("other_worker", "stream 7/ step>gemm 1 100\n");
}

/* Of a view that goes nothing is left for one that comes. */
TEST(views_come_and_go)
{
    toy_begin();
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(gnomon_attach(&other_worker, NULL, "filter=step"), GNOMON_OK);
        check_work_of("other_worker", "");
        {
            GNOMON_SCOPE("step");
            toy_kernel("gemm", 1, 100);
        }
        check_work_of("other_worker", "stream 7/ step>gemm 1 100\n");
        CHECK_EQ(gnomon_detach(&other_worker, NULL), GNOMON_OK);
    }
    check_work_of("worker", "stream 7/ step>gemm 10 1000\n");
    CHECK_EQ(gnomon_detach(&worker, NULL), GNOMON_OK);
    CHECK_EQ(toy.opens, 1);
    CHECK_EQ(toy.closes, 1);
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    CHECK_EQ(toy.opens, 2);
    check_work_of("worker", "");
}

/* What others of its view see of the work goes with the last one that wants it. */
TEST(a_view_that_stays_without_its_worker)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "regions,kernels(file=/dev/null)"),
             GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    check_work_of("regions", "stream 7/ step>gemm 1 100\n");
    CHECK_EQ(gnomon_attach(NULL, NULL, "regions"), GNOMON_OK);
    CHECK_EQ(toy.closes, 1);
    check_work_of("regions", "");
}

/* One that wants times of scopes on streams alone keeps no source open, and opens none. */
TEST(sources_are_open_for_work_alone)
{
    static const gnomon_profiler timer = {.struct_size = sizeof timer,
                                          .abi = GNOMON_ABI,
                                          .wants = GNOMON_WANT_TREE |
                                                   GNOMON_WANT_DEVICE,
                                          .name = "timer"};
    TOY_SOURCE(later, "later");
    setenv("GNOMON_CUDA_LIBRARY", "/none", 1);
    toy_begin();
    CHECK_EQ(gnomon_attach(&timer, NULL, "filter=outer*"), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&worker, NULL), GNOMON_OK);
    CHECK_EQ(toy.opens, 1);
    CHECK_EQ(toy.closes, 1);
    CHECK_EQ(gnomon_host_get()->source_add(&later.api), GNOMON_OK);
    CHECK_EQ(later.opens, 0);
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    CHECK_EQ(toy.opens, 2);
    CHECK_EQ(later.opens, 1);
    CHECK_EQ(gnomon_detach(&timer, NULL), GNOMON_OK);
    CHECK_EQ(toy.closes, 1);
    CHECK_EQ(gnomon_detach(&worker, NULL), GNOMON_OK);
    CHECK_EQ(toy.closes, 2);
    CHECK_EQ(later.closes, 1);
}

TEST(the_fifth_view_is_refused)
{
    static const char *const filters[] = {"filter=a", "filter=b", "filter=c"};
    static gnomon_profiler more[3];
    toy_begin();
    for (int i = 0; i < 3; i++) {
        more[i] = other_worker;
        CHECK_EQ(gnomon_attach(&more[i], NULL, filters[i]), GNOMON_OK);
    }
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "filter=d"), GNOMON_EFULL);
    CHECK(times_in(gnomon_error_text(), "4 views") == 1);
    CHECK_EQ(gnomon_detach(&more[0], NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "filter=d"), GNOMON_OK);
}

/* ---- Sources -------------------------------------------------------------------------- */

TOY_SOURCE(second, "second");

/* Each counts its own correlations. */
TEST(two_sources_have_correlations_of_their_own)
{
    toy_begin();
    CHECK_EQ(gnomon_host_get()->source_add(&second.api), GNOMON_OK);
    CHECK(toy.number && second.number && toy.number != second.number);
    CHECK_EQ(second.kinds, 255);
    uint64_t correlation;
    {
        GNOMON_SCOPE("mine");
        correlation = toy_kernel("gemm", 1, 100)->correlation;
    }
    {
        GNOMON_SCOPE("yours");
        toy_record(&second, GNOMON_DEVICE_KERNEL, "gemm", 1, 200)->correlation =
            correlation;
        gnomon_host_get()->device_launched(second.number, correlation);
    }
    check_work_of("worker", "stream 7/ mine>gemm 1 100\n"
                            "stream 7/ yours>gemm 1 200\n");
    CHECK_EQ(gnomon_host_get()->source_remove(&second.api), GNOMON_OK);
    CHECK_EQ(second.closes, 1);
    CHECK_EQ(toy.closes, 0);
    CHECK_EQ(gnomon_host_get()->source_remove(&second.api), GNOMON_ENOENT);
}

TEST(wrong_sources_are_refused)
{
    gnomon_device_source s = toy.api;
    CHECK_EQ(gnomon_host_get()->source_add(NULL), GNOMON_EINVAL);
    s.name = NULL;
    CHECK_EQ(gnomon_host_get()->source_add(&s), GNOMON_EINVAL);
    s = toy.api;
    s.abi++;
    CHECK_EQ(gnomon_host_get()->source_add(&s), GNOMON_EABI);
    s = toy.api;
    s.struct_size = 16;
    CHECK_EQ(gnomon_host_get()->source_add(&s), GNOMON_EABI);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_EINVAL);
    gnomon_device_source four[4];
    for (int i = 0; i < 4; i++) {
        four[i] = toy.api;
        CHECK_EQ(gnomon_host_get()->source_add(&four[i]),
                 i < 3 ? GNOMON_OK : GNOMON_ENOMEM);
    }
    CHECK_EQ(gnomon_host_get()->source_remove(NULL), GNOMON_ENOENT);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(gnomon_host_get()->source_remove(&four[i]), GNOMON_OK);
}

/* A source of three NULLs tells when it likes. */
TEST(sources_need_no_calls)
{
    const gnomon_device_source plain = {
        .struct_size = sizeof plain, .abi = GNOMON_ABI, .name = "plain"};
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&plain), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    toy.number = 1;
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    toy_tell(&toy);
    check_work_of("worker", "stream 7/ step>gemm 1 100\n");
    CHECK_EQ(gnomon_detach(&worker, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_remove(&plain), GNOMON_OK);
}

/* One line says why; event timers stand in for it. */
TEST(without_a_source_streams_are_timed)
{
    setenv("GNOMON_CUDA_LIBRARY", "/nonexistent", 1);
    setenv("GNOMON_CUPTI_LIBRARY", "/nonexistent", 1);
    child_folder();
    int err = open("err", O_CREAT | O_WRONLY, 0600), kept = dup(2);
    dup2(err, 2);
    toy.broken = "it needs a GPU";
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_worker, NULL, "filter=a"), GNOMON_OK);
    CHECK(gnomon__timer_bits != 0);
    CHECK_EQ(gnomon_detach(&other_worker, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&worker, NULL), GNOMON_OK);
    CHECK_EQ(gnomon__timer_bits, 0);
    dup2(kept, 2);
    const char *said = child_read("err");
    CHECK_EQ(times_in(said, "gnomon: worker: no kernels and copies: CUPTI: "),
             1);
    CHECK_EQ(
        times_in(said, "gnomon: other_worker: no kernels and copies: CUPTI: "),
        1);
    CHECK_EQ(times_in(said, "; falling back to CUDA events\n"), 2);
    CHECK_EQ(toy.closes, 0);
}

/* One that comes later is opened, as somebody waits for it. */
TEST(a_source_that_comes_later_is_opened)
{
    setenv("GNOMON_CUDA_LIBRARY", "/nonexistent", 1);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(toy.opens, 1);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    check_work_of("worker", "stream 7/ step>gemm 1 100\n");
}

/* ---- Threads and children -------------------------------------------------------------- */

static void *launch_on_thread(void *name)
{
    gnomon_thread_name(name);
    GNOMON_SCOPE("step");
    for (int i = 0; i < 100; i++) {
        toy_source mine = {.number = toy.number};
        toy_work(&mine, GNOMON_DEVICE_KERNEL, "gemm", 1, 10);
        toy_work(&mine, GNOMON_DEVICE_CALL, "launch", 1, 1);
        toy_tell(&mine);
    }
    return NULL;
}

/* Work of equal paths is one node of the stream; calls are of each thread. */
TEST(threads_launch_at_once)
{
    static char names[2][8] = {"one", "two"};
    pthread_t threads[2];
    toy_begin();
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, launch_on_thread, names[i]),
                 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    static toy_text shown;
    gnomon_profile *p = profile_of("worker", 0);
    const char *text = toy_shown(&shown, p);
    CHECK_EQ(times_in(text, "calls of one/ step>launch @100 100\n"), 1);
    CHECK_EQ(times_in(text, "calls of two/ step>launch @100 100\n"), 1);
    CHECK_EQ(times_in(text, "stream 7/ step>gemm 200 2000\n"), 1);
    gnomon_profile_free(p);
    CHECK_EQ(toy_health().activities_unlinked, 0);
}

/* A launch on a thread that never marked takes no state of a thread. */
static void *launch_unmarked(void *unused)
{
    (void)unused;
    toy_kernel("gemm", 1, 10);
    return NULL;
}

TEST(a_launch_alone_makes_no_thread)
{
    pthread_t thread;
    toy_begin();
    GNOMON_SCOPE("step");
    uint32_t threads = gnomon__thread_total;
    uint64_t allocations = gnomon__test_allocations();
    CHECK_EQ(pthread_create(&thread, NULL, launch_unmarked, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(gnomon__thread_total, threads);
    CHECK_EQ(gnomon__test_allocations(), allocations);
    check_work_of("worker", "stream 7/ gemm 1 10\n");
    CHECK_EQ(toy_health().activities_unlinked, 0);
}

/* A child has no source open, calls none, and begins anew. */
TEST(children_begin_anew)
{
    toy_begin();
    GNOMON_SCOPE("step");
    toy_kernel("gemm", 1, 10);
    pid_t child = fork();
    if (child == 0) {
        toy_tell(&toy);
        const gnomon_setup_options o = {.struct_size = sizeof o};
        CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
        CHECK_EQ(toy.closes + toy.flushes, 0);
        CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
        CHECK_EQ(toy.opens, 2);
        check_work_of("worker", "");
        {
            GNOMON_SCOPE("inside");
            toy_kernel("child", 1, 10);
        }
        check_work_of("worker", "stream 7/ inside>child 1 10\n");
        _exit(test_failures != 0);
    }
    int status = 1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    check_work_of("worker", "stream 7/ step>gemm 1 10\n");
}

/* ---- Without memory ---------------------------------------------------------------------- */

static uint64_t all_work(void)
{
    gnomon_profile *p = profile_of("worker", 1);
    uint64_t count = toy_health().activities_lost;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        count += n.device ? n.device->count : 0;
    }
    gnomon_profile_free(p);
    return count;
}

/* What is missing is counted, or no profile comes. */
static int work_without_memory(uint64_t failing)
{
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    { /* the tree has its memory */
        GNOMON_SCOPE("step");
    }
    gnomon__test_fail_allocation(failing);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 10)->grid[0] = 8;
        toy_work(&toy, GNOMON_DEVICE_COPY, "copy", 1, 10)->bytes = 64;
    }
    toy_tell(&toy);
    gnomon_profile *p = NULL;
    (void)gnomon_snapshot(&p, "worker", 0);
    uint64_t made = gnomon__test_allocations();
    gnomon__test_fail_allocation(0);
    CHECK(!p || gnomon_profile_check(p) == GNOMON_OK);
    gnomon_profile_free(p);
    CHECK_EQ(all_work(), 2);
    if (test_failures)
        return ALLOCATION_HARMED;
    return made >= failing ? ALLOCATION_CAME : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_fails)
{
    CHECK(fail_each_allocation(work_without_memory) > 20);
}

/* The same where the stage ends. */
static int end_without_memory(uint64_t failing)
{
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 10);
        toy_kernel("relu", 1, 10);
    }
    gnomon__test_fail_allocation(failing);
    (void)gnomon_stage_end();
    uint64_t made = gnomon__test_allocations();
    gnomon__test_fail_allocation(0);
    { /* where the stage is not known, work counts in the next one */
        GNOMON_SCOPE("step");
    }
    CHECK_EQ(all_work(), 2);
    if (test_failures)
        return ALLOCATION_HARMED;
    return made >= failing ? ALLOCATION_CAME : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_of_an_end_fails)
{
    CHECK(fail_each_allocation(end_without_memory) > 20);
}

/* ---- Files -------------------------------------------------------------------------------- */

static void train(void)
{
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_thread_name("main");
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t at = gnomon_host_get()->now_ns();
        {
            GNOMON_SCOPE("train_step");
            {
                GNOMON_SCOPE("forward");
                toy_work(&toy, GNOMON_DEVICE_CALL, "cudaLaunchKernel", at,
                         2000);
                gnomon_device_work *r = toy_kernel("gemm", at + 5000, 9000 + i);
                r->correlation--; /* the call's */
                pass(10000);
            }
            toy_work(&toy, GNOMON_DEVICE_COPY, "Memcpy DtoH", at + 20000, 5000)
                ->bytes = 4096;
            pass(20000);
        }
        gnomon_step();
    }
    toy_kernel("stray", gnomon_host_get()->now_ns(), 700);
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "unlinked",
               gnomon_host_get()->now_ns(), 800);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

/* The report of a spec that goes in an open stage asks the source, too. */
TEST(specs_that_go_have_the_work_so_far)
{
    child_folder();
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "kernels(file=run.gnomon)"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, "kernels(file=next.gnomon)"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("relu", 1, 200);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    static const struct {
        const char *file, *work;
    } want[] = {{"run.gnomon", "stream 7/fit step>gemm 1 100\n"},
                {"next.gnomon", "stream 7/fit step>relu 1 200\n"}};
    for (int i = 0; i < 2; i++) {
        gnomon_profile *p = NULL;
        static toy_text shown;
        CHECK_EQ(gnomon_profile_load(&p, want[i].file), GNOMON_OK);
        CHECK_STR(toy_shown(&shown, p), want[i].work);
        gnomon_profile_free(p);
    }
    CHECK_EQ(toy_health().activities_late, 0);
}

/* Work that comes late is added to its stage in the file. */
TEST(late_work_is_in_the_file)
{
    child_folder();
    gnomon_device_work late;
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "kernels(file=run.gnomon)"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
        late = *toy_kernel("gemm", 1, 200);
        toy.count--; /* it is not over */
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    toy.records[toy.count++] = late;
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    gnomon_profile *p = NULL;
    static toy_text shown;
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_STR(toy_shown(&shown, p), "stream 7/fit step>gemm 2 300\n");
    gnomon_profile_free(p);
}

/* The report of a run is that of its file, but for gnomon's own lines. */
static void check_same_report(const char *profiler)
{
    char spec[256];
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    snprintf(spec, sizeof spec,
             "%s(file=live.txt),%s(file=run.gnomon),%s(file=run.gnomon.json)",
             profiler, profiler, profiler);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    train();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    child_result r = shell("grep -v ^gnomon: live.txt > live; for f in "
                           "run.gnomon run.gnomon.json; do $G report --as %s "
                           "$f > filed 2>&2; diff live filed; done; "
                           "wc -l < live; $G info run.gnomon | grep -c .",
                           profiler);
    int lines = 0;
    CHECK_EQ(sscanf(r.out, "%d", &lines), 1);
    CHECK(lines > 8);
    if (test_failures)
        fprintf(stderr, "%s%s", r.out, r.err);
}

TEST(kernels_of_a_run_are_those_of_its_file)
{
    NEEDS_PROGRAM;
    check_same_report("kernels");
}

TEST(a_gpu_of_a_run_is_that_of_its_file)
{
    NEEDS_PROGRAM;
    check_same_report("gpu");
}

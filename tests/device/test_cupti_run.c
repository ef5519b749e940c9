/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* $GNOMON=cupti in real processes, on the fake driver and the fake CUPTI with the real
 * clock: kernels below the scopes that launched them, options, files, what stands in where
 * CUPTI cannot be used, threads, children and the ends of processes.
 *
 * labels: guest
 * timeout: 300 */
#include "gnomon/profile.h"
#include "program.h"
#include "sanitizer.h"

#define FAKE(name) TEST_BINARY_DIR "/fake_" name ".so"
#define DRIVER "GNOMON_CUDA_LIBRARY=" FAKE("cuda/driver") "\n"
#define CUDA DRIVER "GNOMON_CUPTI_LIBRARY=" FAKE("cupti/cupti") "\n"
#define FALLS_BACK "; falling back to CUDA events\n"

#define kernels(environment, ...) \
    child_run(CHILD_PROGRAM("kernels"), environment, \
              (const char *const[]){__VA_ARGS__, NULL})

/* The number after the name in the row of `name` after `title`; -1: there is none. */
static int count_of(const char *text, const char *title, const char *name)
{
    char head[64];
    int count = -1;
    snprintf(head, sizeof head, "\n%s ", name);
    const char *table = text ? strstr(text, title) : NULL;
    const char *row = table ? strstr(table, head) : NULL;
    if (row && sscanf(row + strlen(head), "%d", &count) != 1)
        count = -1;
    return count;
}

/* The second number of that row. */
static int work_of(const char *text, const char *name)
{
    char head[64];
    int calls, work = -1;
    snprintf(head, sizeof head, "\n%s ", name);
    const char *table = text ? strstr(text, "\nBy scope\n") : NULL;
    const char *row = table ? strstr(table, head) : NULL;
    if (row && sscanf(row + strlen(head), "%d %d", &calls, &work) != 2)
        work = -1;
    return work;
}

static int has(const char *text, const char *part)
{
    if (times_in(text, part) == 1)
        return 1;
    fprintf(stderr, "    not once: %s\n    in: %s\n", part,
            text ? text : "(nothing)");
    return 0;
}

/* What so many steps of the program give. */
static void check_steps(const char *err, int steps)
{
    char line[96];
    CHECK_EQ(work_of(err, "train_step"), 4 * steps);
    CHECK_EQ(work_of(err, "forward"), 2 * steps);
    CHECK_EQ(work_of(err, "next_batch"), steps);
    CHECK_EQ(count_of(err, "Kernels\n", "gemm"), steps);
    CHECK_EQ(count_of(err, "Kernels\n", "relu"), steps);
    CHECK_EQ(count_of(err, "Kernels\n", "adam"), steps);
    CHECK_EQ(
        count_of(err, "\nCopies and sets\n", "Memcpy HtoD (Pinned -> Device)"),
        steps);
    snprintf(line, sizeof line,
             "\nThe launch of %d of %d pieces of work was found\n", 4 * steps,
             4 * steps);
    CHECK(has(err, line));
}

/* ---- Reports ------------------------------------------------------------------------- */

TEST(work_below_the_scopes_that_launched_it)
{
    static const char *const versions[] = {"18", "23",     "26",
                                           "28", "130000", "130500"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment,
                 CUDA "FAKE_CUPTI_VERSION=%s\nGNOMON=cupti", versions[i]);
        child_result r = kernels(environment, "stage=fit", "work=5", "end",
                                 "misuse", "subscribers");
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.out, "misuse 0\nsubscribers 1\n");
        CHECK(has(r.err, "FIT GPU\n"));
        CHECK(has(r.err, "FIT Kernels\n"));
        check_steps(r.err, 5);
        CHECK_EQ(count_of(r.err, "\nCalls\n", "cudaLaunchKernel"), 15);
        CHECK_EQ(count_of(r.err, "\nCalls\n", "cuLaunchKernel"), 15);
        CHECK_EQ(count_of(r.err, "\nCalls\n", "cuCtxSynchronize"), -1);
    }
}

/* Its events between two reads are more than any small table holds. */
TEST(own_calls_of_a_long_stage)
{
    static const char *const versions[] = {"23", "130000"};
    for (size_t i = 0; i < 2; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment,
                 CUDA "FAKE_CUPTI_VERSION=%s\nGNOMON=cuda,cupti", versions[i]);
        child_result r = kernels(environment, "stage=fit", "work=1000", "end");
        CHECK_EQ(r.status, 0);
        check_steps(r.err, 1000);
        CHECK_EQ(count_of(r.err, "\nCalls\n", "cuEventRecord"), -1);
        CHECK_EQ(times_in(r.err, "Event Sync"), 0);
    }
}

/* Each kernel is below the operation that launched it, and its row is that of the
 * region. */
TEST(kernels_of_operations)
{
    gnomon_profile *p = NULL;
    gnomon_node_info n, above;
    gnomon_op_info op;
    gnomon_region_info region;
    uint64_t seen = 0;
    child_result r = kernels(CUDA "GNOMON=cupti,file=x.gnomon", "compute=6");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(work_of(r.err, "linear"), 6);
    CHECK_EQ(times_in(r.err, "\nlinear "), 1);
    if (!CHECK_EQ(gnomon_profile_load(&p, "x.gnomon"), GNOMON_OK))
        return;
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++) {
        gnomon_profile_region(p, n.region, &region);
        if (region.kind != GNOMON_KIND_KERNEL || !n.device)
            continue;
        CHECK_STR(region.name, "gemm");
        CHECK_EQ(n.device->count, 2);
        CHECK_EQ(gnomon_profile_node(p, n.parent, &above), GNOMON_OK);
        CHECK_EQ(gnomon_profile_op(p, above.op, &op), GNOMON_OK);
        CHECK_STR(op.operation, "matmul");
        CHECK_EQ(n.device->total_ns, 2 * op.flops);
        seen += op.flops;
    }
    CHECK_EQ(seen, 600);
    gnomon_profile_free(p);
}

/* Work counts in the stage of its launch. */
TEST(stages)
{
    child_result r = kernels(CUDA "GNOMON=cupti", "stage=fit", "work=3", "end",
                             "stage=test", "work=2", "end");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(count_of(r.err, "FIT Kernels\n", "gemm"), 3);
    CHECK_EQ(count_of(r.err, "TEST Kernels\n", "gemm"), 2);
}

TEST(threads)
{
    child_result r = kernels(CUDA "GNOMON=cupti", "work=2", "thread=3");
    CHECK_EQ(r.status, 0);
    check_steps(r.err, 5);
}

TEST(beside_other_profilers)
{
    child_result r = kernels(CUDA "GNOMON=simple,cuda,cupti,gpu", "stage=fit",
                             "work=4", "end", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\n");
    check_steps(r.err, 4);
    CHECK(has(r.err, "FIT Device Report\n"));
    CHECK_TABLE(r.err, "FIT Profiler Report", "train_step", "forward",
                "next_batch");
    CHECK_EQ(times_in(r.err, "FIT GPU\n"), 2);
}

/* Scopes that events timed and the kernels of their stream have one track, in reports of
 * the run and of its file. */
TEST(timed_scopes_in_files)
{
    NEEDS_PROGRAM;
    child_result r =
        kernels(CUDA "GNOMON=cupti,cuda,file=x.gnomon", "stage=fit", "work=4",
                "thread=2", "end", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\n");
    check_steps(r.err, 6);
    static const char *const reports[] = {"cupti", "gpu", "kernels", "cuda"};
    for (size_t i = 0; i < 4; i++) {
        child_result later = shell("$G report --as %s x.gnomon", reports[i]);
        CHECK_EQ(later.status, 0);
        CHECK_STR(later.err, "");
        if (!CHECK(strstr(r.err, later.out) != NULL))
            fprintf(stderr, "    %s\n", later.out);
    }
    child_result later = shell("$G cat x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(times_in(later.out, "\"stream 13\""), 1);
    CHECK_EQ(times_in(later.out, "timed stream"), 0);
    later = shell("$G report --as 'gpu(by=thread)' x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(times_in(later.out, "\nThread 13 stream 13\n"), 1);
}

/* Where one profiler's kernels are not those of another's scopes, which have a filter. */
TEST(timed_scopes_of_another_view)
{
    NEEDS_PROGRAM;
    child_result r =
        kernels(CUDA "GNOMON=kernels,cuda(filter=forward),file=x.gnomon",
                "stage=fit", "work=4", "end");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(count_of(r.err, "FIT Kernels\n", "gemm"), 4);
    CHECK_EQ(count_of(r.err, "FIT Device Report\n", "forward"), 4);
    child_result later = shell("$G cat x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(times_in(later.out, "\"stream 13\""), 1);
    CHECK_EQ(times_in(later.out, "timed stream"), 0);
}

TEST(kept_profiles)
{
    NEEDS_PROGRAM;
    child_result r = kernels(CUDA "GNOMON=cupti,file=x.gnomon", "stage=fit",
                             "work=5", "end");
    CHECK_EQ(r.status, 0);
    child_result later = shell("$G report --as cupti x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_STR(later.err, "");
    CHECK_EQ(strncmp(later.out, r.err, strlen(later.out)), 0);
    check_steps(later.out, 5);
    later = shell("$G report --as kernels --format csv --columns name,calls "
                  "--limit 1 x.gnomon");
    CHECK_EQ(later.status, 0);
    later = shell("$G info x.gnomon");
    CHECK(has(later.out, "gnomon.cupti.version"));
    CHECK_EQ(times_in(later.out, "gnomon.cupti.clock_error_ns"), 0);
}

/* CUPTI is loaded for those alone that want work of devices. */
TEST(what_others_do_not_load)
{
    child_result r =
        kernels(CUDA "GNOMON=simple,cuda", "work=2", "subscribers");
    CHECK_STR(r.out, "subscribers 0\n");
    r = kernels(CUDA, "work=2", "subscribers");
    CHECK_STR(r.out, "subscribers 0\n");
    CHECK_STR(r.err, "");
    r = kernels(CUDA, "work=1", "configure=cupti", "work=2", "subscribers",
                "configure=", "subscribers", "work=1", "configure=cupti",
                "work=1");
    CHECK_STR(r.out, "subscribers 1\nsubscribers 0\n");
    CHECK_EQ(times_in(r.err, "\nThe launch of 8 of 8 pieces"), 1);
    CHECK_EQ(times_in(r.err, "\nThe launch of 4 of 4 pieces"), 1);
}

/* ---- Options ---------------------------------------------------------------------------- */

TEST(kinds)
{
    child_result r =
        kernels(CUDA "GNOMON=cupti(kinds=kernel)", "stage=fit", "work=5");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(count_of(r.err, "Kernels\n", "gemm"), 5);
    CHECK_EQ(times_in(r.err, "\nCalls\n"), 0);
    CHECK_EQ(times_in(r.err, "\nCopies and sets\n"), 0);
    r = kernels(CUDA "GNOMON=cupti(kinds=memcpy|runtime)", "work=5");
    CHECK_EQ(count_of(r.err, "\nCalls\n", "cudaLaunchKernel"), 15);
    CHECK_EQ(count_of(r.err, "\nCalls\n", "cuLaunchKernel"), -1);
    CHECK_EQ(times_in(r.err, "gemm"), 0);
    r = kernels(CUDA "GNOMON=cupti(kinds=kernel|driver)", "work=5");
    CHECK_EQ(count_of(r.err, "\nCalls\n", "cudaLaunchKernel"), -1);
    CHECK_EQ(count_of(r.err, "\nCalls\n", "cuLaunchKernel"), 15);
}

static const char *numbered = "0"; /* enum fake_numbers */

/* How many arrows lead from executions of each kind to the work of a trace. */
static void check_arrows(const char *spec, size_t from_scopes,
                         size_t from_calls)
{
    char environment[1024];
    snprintf(environment, sizeof environment,
             CUDA "FAKE_CUPTI_NUMBERS=%s\nGNOMON=trace,%s,dir=.,file=t",
             numbered, spec);
    child_result r = kernels(environment, "work=5");
    CHECK_EQ(r.status, 0);
    const char *text = child_read("t.pt.trace.json");
    size_t scopes = 0, calls = 0;
    int is_call = 0;
    for (const char *row = text; row; row = strchr(row, '\n')) {
        row += *row == '\n';
        if (strncmp(row, "{\"ph\":\"X\"", 9) == 0)
            is_call = strncmp(row, "{\"ph\":\"X\",\"cat\":\"cuda_", 21) == 0;
        if (strncmp(row, "{\"ph\":\"s\"", 9) == 0)
            *(is_call ? &calls : &scopes) += 1;
    }
    CHECK_EQ(scopes, from_scopes);
    CHECK_EQ(calls, from_calls);
    CHECK_EQ(times_in(text, "{\"ph\":\"f\",\"bp\":\"e\","), 15);
    unlink("t.pt.trace.json");
}

/* Each step launches two kernels in forward, and one beside it. Where their records have the
 * number of the runtime's call, the driver's is not known to have launched them. */
TEST(arrows_to_work)
{
    child_folder();
    check_arrows("cupti(kinds=kernel)", 10, 0);
    check_arrows("cupti(kinds=kernel|runtime)", 0, 15);
    check_arrows("cupti(kinds=kernel|driver)", 10, 0);
}

static void arrows_numbered(const char *how, size_t scopes_of_driver)
{
    child_folder();
    numbered = how;
    check_arrows("cupti(kinds=kernel)", 10, 0);
    check_arrows("cupti(kinds=kernel|runtime|driver)", 0, 15);
    check_arrows("cupti(kinds=kernel|driver)", scopes_of_driver,
                 scopes_of_driver ? 0 : 15);
}

TEST(arrows_where_work_has_the_driver_s_number)
{
    arrows_numbered("1", 0);
}

/* One arrow for each launch, though two calls have its number. */
TEST(arrows_where_both_calls_have_one_number)
{
    arrows_numbered("2", 0);
}

TEST(arrows_where_the_runtime_calls_no_driver)
{
    arrows_numbered("3", 10);
}

/* What one profiler wants all get. */
TEST(kinds_of_two_profilers)
{
    child_result r =
        kernels(CUDA "GNOMON=cupti(kinds=kernel),kernels", "work=5");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(count_of(r.err, "\nCalls\n", "cuLaunchKernel"), 15);
}

TEST(wrong_words)
{
    child_result r = kernels(
        CUDA "GNOMON=cupti(kinds=kernel|kernle,graphs=nodes)", "work=5");
    CHECK_EQ(r.status, 0);
    CHECK(has(r.err, "gnomon: cupti: kinds: no 'kernle': there are "
                     "kernel|memcpy|memset|runtime|driver|sync|overhead\n"));
    CHECK(has(r.err, "gnomon: cupti: graphs: no 'nodes': there are launch, "
                     "node\n"));
    CHECK_EQ(count_of(r.err, "Kernels\n", "gemm"), 5);
}

/* As one piece of work, or by their nodes: never both. */
TEST(graphs)
{
    child_result r = kernels(CUDA "GNOMON=cupti", "graph=4");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(work_of(r.err, "train_step"), 4);
    CHECK_EQ(times_in(r.err, "node_kernel"), 0);
    r = kernels(CUDA "GNOMON=cupti(graphs=node)", "graph=4");
    CHECK_EQ(work_of(r.err, "train_step"), 12);
    CHECK_EQ(count_of(r.err, "Kernels\n", "node_kernel"), 12);
    r = kernels(CUDA "GNOMON=cupti(graphs=node),kernels", "graph=4");
    CHECK_EQ(work_of(r.err, "train_step"), 12);
}

/* ---- Without CUPTI ------------------------------------------------------------------------ */

/* One line says why, and scopes on streams are timed instead. */
static void stands_in(const char *environment, const char *why)
{
    child_result r =
        kernels(environment, "stage=fit", "work=5", "end", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\n");
    CHECK(has(r.err, "gnomon: cupti: no kernels and copies: CUPTI: "));
    CHECK(has(r.err, FALLS_BACK));
    CHECK(has(r.err, why));
    const char *table = r.err ? strstr(r.err, "\nFIT Device Report\n") : NULL;
    if (!CHECK(table != NULL))
        fprintf(stderr, "%s\n", r.err);
    CHECK_EQ(count_of(table, "Device Report", "forward"), 5);
    CHECK_EQ(count_of(table, "Device Report", "train_step"), 5);
    CHECK_EQ(times_in(r.err, "FIT GPU"), 0);
}

TEST(another_profiler_has_it)
{
    stands_in(CUDA "FAKE_CUPTI_OTHER=1\nGNOMON=cupti",
              ": another profiler owns CUPTI (cuptiSubscribe: ");
    stands_in(CUDA "FAKE_CUPTI_OTHER=1\nNSYS_PROFILING_SESSION_ID=7\n"
                   "GNOMON=cupti",
              ": another profiler owns CUPTI: nsys (cuptiSubscribe: "
              "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)" FALLS_BACK);
}

TEST(no_permission)
{
    stands_in(CUDA "FAKE_CUPTI_FAIL=cuptiActivityEnable:35\nGNOMON=cupti",
              "NVreg_RestrictProfilingToAdminUsers=0");
    stands_in(CUDA "FAKE_CUPTI_FAIL=cuptiSubscribe:33\nGNOMON=cupti",
              "it does not work on this virtual GPU");
}

TEST(no_library)
{
    stands_in(DRIVER "GNOMON_CUPTI_LIBRARY=/no/cupti.so\nGNOMON=cupti",
              "/no/cupti.so: cannot open shared object file");
    stands_in(DRIVER "GNOMON_CUPTI_LIBRARY=" FAKE("cupti/old") "\n"
                                                               "GNOMON=cupti",
              "is of version 17");
}

/* Neither CUPTI nor a GPU: the host goes on. */
TEST(nothing_at_all)
{
    child_result r = child_run(CHILD_PROGRAM("host"),
                               "GNOMON_CUDA_LIBRARY=/no/cuda.so\n"
                               "GNOMON_CUPTI_LIBRARY=/no/cupti.so\n"
                               "GNOMON=cupti",
                               (const char *const[]){"do=a", NULL});
    CHECK_EQ(r.status, 0);
    CHECK(has(r.err, FALLS_BACK));
    CHECK(has(r.err, "\ncupti: no device work in this profile\n"));
}

/* ---- Ends and children ---------------------------------------------------------------------- */

/* CUDA and CUPTI are gone before gnomon's own end; the fake aborts if it is called. */
TEST(the_end_of_cuda)
{
    child_result r = kernels(CUDA "GNOMON=cupti", "exits", "work=5");
    CHECK_EQ(r.status, 0);
    check_steps(r.err, 5);
    CHECK_EQ(times_in(r.err, "fake CUPTI"), 0);
}

/* A scope that begins when CUPTI is gone, and CUDA is not. */
TEST(a_scope_after_the_end_of_cupti)
{
    child_result r = kernels(CUDA "GNOMON=cupti,cuda", "late", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\nlate\n");
    CHECK_EQ(times_in(r.err, "fake CUPTI"), 0);
    CHECK_EQ(count_of(r.err, "Device Report\n", "late"), 1);
}

TEST(work_that_does_not_end)
{
    child_result r = kernels(CUDA "GNOMON=cupti(wait=50ms)", "stage=fit",
                             "work=5", "end", "endless");
    CHECK_EQ(r.status, 0);
    check_steps(r.err, 5);
    r = kernels(CUDA "GNOMON=cupti(wait=50ms)", "work=5", "endless",
                "configure=");
    CHECK_EQ(r.status, 0);
}

TEST(a_child_is_silent)
{
    child_result r = kernels(CUDA "GNOMON=cupti", "work=2", "fork=3", "work=1");
    CHECK_STR(r.out, "child 0\n");
    CHECK_EQ(times_in(r.err, "The launch of"), 1);
    check_steps(r.err, 3);
}

TEST(a_child_that_follows)
{
    if (IS_TSAN)
        SKIP("the sanitizer takes a child's threads for its parent's");
    child_result r =
        kernels(CUDA "GNOMON=cupti,fork=follow", "work=2", "fork=3", "work=1");
    CHECK_STR(r.out, "child 0\n");
    CHECK(has(r.err, "CUPTI: it does not work in a process that was forked "
                     "from one where it was in use" FALLS_BACK));
    CHECK_EQ(times_in(r.err, "The launch of 12 of 12"), 1);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiler nvtx where memory, or the loader, fails: each first allocation,
 * and each loading of a tool or of CUDA, in a process of its own. The tool gets
 * marks in full or not at all, and never a wrong one.
 * links: testing
 * labels: guest
 * timeout: 300 */
#include <stdlib.h>
#include <sys/wait.h>

#include "child.h"
#include "marks.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "os_calls.h"

#define TOOLS TEST_BINARY_DIR "/nvtx_out/"
#define NEEDS_TOOL() \
    if (access(TOOLS "tool.so", F_OK)) \
    SKIP("no headers of NVTX: its profiler is not built")

static void keep_silent(const char *line)
{
    (void)line;
}

static void mark_some(void)
{
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE_IN("compute", "outer");
        gnomon_start("action");
        {
            GNOMON_SCOPE_IN("io", "inner");
            GNOMON_MARK("mark");
            GNOMON_COUNTER("counter", i);
        }
        gnomon_stop("action");
        gnomon_range_end(gnomon_range_begin(
            gnomon_region_get("r", "net", GNOMON_KIND_RANGE)));
    }
    gnomon_thread_name("worker");
}

/* Returns what gnomon_attach answered. */
static int run_nvtx(void)
{
    int code = gnomon_attach(NULL, NULL,
                             "nvtx(capture=steps,schedule=wait:1/active:1/"
                             "skip_first_wait:1)");
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM || code == GNOMON_EPLUGIN);
    mark_some();
    gnomon_step();
    mark_some();
    gnomon_step();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    return code;
}

/* The tool's marks are in order, and those of the first half of a run since
 * `before` are complete: where a fault is set gnomon itself may lose a
 * scope, and counts it. */
static int check_heard(int before, int has_fault)
{
    const char *heard = child_read("heard");
    int pushes = heard ? times_in(heard, "push ") : 0;
    CHECK(has_fault ? pushes <= before + 4 : pushes == before + 4);
    if (!heard)
        return 0;
    CHECK_EQ(times_in(heard, "FAULT"), 0);
    CHECK_EQ(times_in(heard, "pop "), pushes);
    /* An action whose name had no memory is "(other)", and its stop another. */
    int open = times_in(heard, "start ") - times_in(heard, "end ");
    CHECK(open == 0 || open == 1);
    CHECK_EQ(times_in(heard, "cuda stop"), times_in(heard, "cuda start"));
    return pushes;
}

static void listen_to(const char *tool)
{
    child_folder();
    setenv("NVTX_TOOL_OUT", "heard", 1);
    setenv("NVTX_INJECTION64_PATH", tool, 1);
    setenv("GNOMON_CUDA_LIBRARY", TOOLS "cuda.so", 1);
}

/* In a child: exit 0: there was such a call and it failed; 2: there was none. */
static int each(int (*fails)(uint64_t n))
{
    int again = 1, n = 0;
    while (again && n < 4000 && !test_failures) {
        unlink("heard");
        n++;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            *child_path = 0; /* the parent cleans up */
            gnomon__test_log = keep_silent;
            int failed = fails((uint64_t)n);
            exit(test_failures ? 1 : failed ? 0 : 2);
        }
        int status = child_wait(child);
        if (!CHECK(status == 0 || status == 2))
            fprintf(stderr, "    call %d: status %d\n", n, status);
        again = status == 0;
    }
    return n;
}

static int allocation_fails(uint64_t n)
{
    gnomon__test_fail_allocation(n);
    run_nvtx();
    int failed = gnomon__test_allocations() >= n;
    gnomon__test_fail_allocation(0);
    int before = check_heard(0, failed);
    CHECK_EQ(run_nvtx(), GNOMON_OK); /* as if nothing had been */
    check_heard(before, 0);
    return failed;
}

TEST(each_allocation)
{
    NEEDS_TOOL();
    listen_to(TOOLS "tool.so");
    CHECK(each(allocation_fails) > 4);
}

static const char *call_name;

static int call_fails(uint64_t n)
{
    gnomon__test_fail_calls(call_name, n, 1, 0);
    run_nvtx();
    int failed = gnomon__test_calls() >= n;
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    int before = check_heard(0, failed);
    run_nvtx(); /* NVTX asks for a tool once */
    check_heard(before, failed);
    return failed;
}

TEST(each_call_of_the_loader)
{
    NEEDS_TOOL();
    listen_to(TOOLS "tool.so");
    call_name = "dlopen";
    CHECK(each(call_fails) > 3);
    call_name = "dlsym";
    CHECK(each(call_fails) > 4);
}

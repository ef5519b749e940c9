/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is kept of a run: ten ways to end, in programs of each kind, as text, in a
 * profile's file and as a trace. A stage is over, and a mark came after it.
 *
 * labels: guest */
#include <sys/resource.h>

#include "gnomon/profile.h"
#include "test.h"

#include "child.h"
#include "sanitizer.h"

#define SPEC "GNOMON=simple,profile(file=p.gnomon),trace(file=t.json)"

/* `keeps`: all, or else what was over: the stage's report and its part of the file. A
 * trace is written at the end. */
static const struct way {
    const char *name;
    int status, keeps;
} ways[] = {{"return", 0, 1},
            {"exit", 0, 1},
            {"quick_exit", 0, 0},
            {"_exit", 0, 0},
            {"SIGINT", 256 + SIGINT, 1},
            {"SIGTERM", 256 + SIGTERM, 1},
            {"abort", 256 + SIGABRT, 0},
            {"exec", 0, 0},
            {"fork", 0, 1},
            {"pthread_exit", 0, 1}};
#define WAYS (sizeof ways / sizeof *ways)

/* Executions of the region in the profile; -1: there is none. */
static int in_profile(const char *name)
{
    gnomon_profile *p = NULL;
    gnomon_node_info n;
    gnomon_region_info r;
    int count = 0;
    if (gnomon_profile_load(&p, "p.gnomon") != GNOMON_OK)
        return -1;
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++)
        if (!gnomon_profile_region(p, n.region, &r) && n.host &&
            strcmp(r.name, name) == 0)
            count += (int)n.host->count;
    gnomon_profile_free(p);
    return count;
}

static void check_way(const char *program, const struct way *w)
{
    int before = test_failures;
    remove("p.gnomon");
    remove("t.pt.trace.json");
    child_result r =
        child_run(program, SPEC, (const char *const[]){w->name, NULL});
    CHECK_EQ(r.status, w->status);
    CHECK_EQ(times_in(r.err, "|  work"), 1);
    CHECK_EQ(times_in(r.err, "|  late"), w->keeps);
    CHECK_EQ(times_in(r.err, "|  child"), 0);
    CHECK_EQ(in_profile("work"), 1);
    CHECK_EQ(in_profile("late"), w->keeps);
    const char *trace = child_read("t.pt.trace.json");
    CHECK_EQ(times_in(trace, "\"name\":\"work\""), w->keeps ? 1 : -1);
    CHECK_EQ(times_in(trace, "\"name\":\"late\""), w->keeps ? 1 : -1);
    if (test_failures != before)
        fprintf(stderr, "    %s %s: %s\n", program, w->name, r.err);
}

static void check_ways(const char *program)
{
    struct rlimit none = {0, 0};
    if (access(program, X_OK) != 0)
        SKIP("the program is not built here");
    setrlimit(RLIMIT_CORE, &none);
    child_folder();
    /* A sanitizer's own thread would be the last. */
    for (size_t i = 0; i < WAYS - (IS_TSAN ? 1 : 0); i++)
        check_way(program, &ways[i]);
}

TEST(of_c)
{
    check_ways(CHILD_PROGRAM("end_ways"));
}

TEST(of_cpp)
{
    check_ways(CHILD_PROGRAM("end_ways_cpp"));
}

TEST(of_a_static_library)
{
    check_ways(CHILD_PROGRAM("end_ways_static"));
}

TEST(of_one_file)
{
    check_ways(CHILD_PROGRAM("end_ways_onefile"));
}

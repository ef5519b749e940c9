/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocations that fail: each scenario runs with its first allocation failing,
 * then its second, and so on until none does. Nothing crashes, hangs or leaks;
 * control calls go on or say GNOMON_ENOMEM; what was recorded is a valid
 * profile; and afterwards everything works.
 * links: testing
 * timeout: 600 */
#include <stdlib.h>

#include "child.h"
#include "gnomon/profile.h"
#include "marks.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "sanitizer.h"

#define MOST 4000 /* allocations of a scenario */

static void keep_silent(const char *line)
{
    (void)line;
}

/* GNOMON_OK, or GNOMON_ENOMEM with a text. */
static int fair(int code)
{
    if (code == GNOMON_ENOMEM)
        CHECK(*gnomon_error_text());
    return CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM);
}

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

/* Marks of every kind. Losses must be counted; this test only asks that
 * nothing crashes. */
static void mark_some(const char *tag)
{
    char name[32];
    gnomon_token outer = gnomon_begin(region("outer"));
    gnomon_link link = gnomon_link_out();
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s %d", tag, i);
        gnomon_start(name);
        pass(5ull << (7 * i));
        gnomon_token t = gnomon_begin(region(name));
        gnomon_link_in(&link, 0);
        gnomon_mark(region("mark"));
        gnomon_counter(region("counter"), i);
        pass(3);
        gnomon_end(t);
        gnomon_stop(name);
        gnomon_range_end(gnomon_range_begin(region("range")));
    }
    gnomon_thread_name(tag);
    gnomon_end(outer);
    gnomon_step();
}

/* Named first, it goes on in the state of the last one of its name. States of threads
 * that are named later stay, up to a thousand, and each control call walks them. */
static void *mark_on_thread(void *tag)
{
    gnomon_thread_name(tag);
    mark_some(tag);
    return NULL;
}

static void check_snapshot(const char *profiler)
{
    gnomon_profile *p = NULL;
    int code = gnomon_snapshot(&p, profiler, 1);
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM || code == GNOMON_ENOENT);
    CHECK_EQ(p != NULL, code == GNOMON_OK);
    if (!p)
        return;
    if (!fair(gnomon_profile_check(p)))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    gnomon_profile_free(p);
}

/* ---- Scenarios ------------------------------------------------------------------------ */

/* A whole run. */
static void run_all(void)
{
    static char worker[] = "worker";
    static char large[20002]; /* of more than a block of a profile's texts */
    gnomon_setup_options o = {.struct_size = sizeof o,
                              .has_rank = 1,
                              .rank = 1, /* which prints nothing */
                              .world_size = 2,
                              .dir = "/tmp"};
    fair(gnomon_setup(&o));
    int code = gnomon_attach(
        NULL, NULL,
        "simple,passthrough,simple(filter=r*),advanced,advanced(ranks=0)");
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM || code == GNOMON_EPLUGIN);
    fair(gnomon_metadata("key", "{\"a\": [1, 2]}"));
    fair(gnomon_metadata("key", "2"));
    memset(large, '1', sizeof large - 1);
    fair(gnomon_metadata("large", large));
    fair(gnomon_stage_begin("fit"));
    mark_some("run");
    on_thread(mark_on_thread, worker);
    check_snapshot("simple");
    gnomon_stage_end(); /* GNOMON_ESTATE where begin failed */
    fair(gnomon_stage_begin("test"));
    mark_some("run");
    char spec[256];
    gnomon_spec(spec, sizeof spec);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static int twice_the_same(void *self, const gnomon_profile *p,
                          const gnomon_writer *out)
{
    (void)self;
    return p ? out->print(out, "%zu\n", gnomon_profile_count(p, GNOMON_NODES))
             : 0;
}

static int swallow(const gnomon_writer *writer, const void *bytes, size_t size)
{
    (void)writer;
    (void)bytes;
    (void)size;
    return GNOMON_OK;
}

static void attach_and_detach(void)
{
    gnomon_profiler a = probe, b = other_probe;
    gnomon_writer out = {.struct_size = sizeof out, .write = swallow};
    a.summary = twice_the_same;
    int first = gnomon_attach(&a, &a, "filter=o*|run*,exclude=x");
    fair(first);
    mark_some("attach");
    int second = gnomon_attach(&b, &b, "schedule=active:2/wait:1");
    fair(second);
    mark_some("attach");
    int code = gnomon_summary("probe", &out);
    CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM || first);
    check_snapshot("other_probe");
    CHECK_EQ(gnomon_detach(&a, &a), first ? GNOMON_ENOENT : GNOMON_OK);
    mark_some("attach");
    CHECK_EQ(gnomon_detach(&b, &b), second ? GNOMON_ENOENT : GNOMON_OK);
}

static void take_profiles(void)
{
    fair(gnomon_setup(NULL));
    if (fair(gnomon_attach(&probe, NULL, NULL))) {
        mark_some("take");
        gnomon_token t = gnomon_begin(region("open"));
        gnomon_stage_begin("fit");
        mark_some("fit");
        gnomon_stage_begin("test");
        check_snapshot("probe");
        gnomon_end(t);
        gnomon_detach(&probe, NULL);
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* Times of steps: of stages of one name, with slow steps, live and at their end. */
static void take_steps(void)
{
    static const gnomon_profiler stepper = {.struct_size = sizeof stepper,
                                            .abi = GNOMON_ABI,
                                            .wants = GNOMON_WANT_TREE |
                                                     GNOMON_WANT_STEPS,
                                            .name = "stepper"};
    fair(gnomon_setup(NULL));
    if (fair(gnomon_attach(&stepper, NULL, "file=/dev/null"))) {
        for (int i = 0; i < 2; i++) {
            fair(gnomon_stage_begin("fit"));
            for (int k = 0; k < 12; k++)
                mark_some("step");
            gnomon_stage_end();
        }
        mark_some("step");
        check_snapshot("stepper");
        gnomon_detach(&stepper, NULL);
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* Both forms, two views, a file of two stages, and one without a name. */
static void keep_profiles(void)
{
    fair(gnomon_setup(NULL));
    fair(gnomon_attach(NULL, NULL,
                       "profile(file=%s.gnomon),"
                       "profile(filter=o*,file=o.gnomon.json)"));
    for (int i = 0; i < 2; i++) {
        fair(gnomon_stage_begin("fit"));
        mark_some("keep");
        gnomon_stage_end(); /* GNOMON_ESTATE where it was not begun */
    }
    mark_some("keep");
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* A file that exists is complete. */
static void check_file(const char *path)
{
    gnomon_profile *p = NULL;
    int code = gnomon_profile_load(&p, path);
    if (!CHECK(code == GNOMON_OK || access(path, F_OK) != 0) ||
        !CHECK(!p || gnomon_profile_check(p) == GNOMON_OK))
        fprintf(stderr, "    %s: %s\n", path, gnomon_error_text());
    gnomon_profile_free(p);
}

/* To a file, and longer than any buffer begins with. */
static void write_report(void)
{
    char name[64];
    unlink("report");
    fair(gnomon_setup(NULL));
    gnomon_attach(NULL, NULL, "simple,file=report");
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "a name that takes some room %d", i);
        gnomon_end(gnomon_begin(region(name)));
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* ---- Failing each in turn ------------------------------------------------------------------ */

/* In a process that ran it before: the second run leaves what the first
 * left. */
static void fail_each(void (*scenario)(void))
{
    gnomon__test_log = keep_silent;
    for (int i = 0; i < 3; i++)
        scenario();
    uint64_t heap = health_now().heap_bytes;
    uint64_t n = 1;
    int failed = 1;
    for (; failed && n < MOST && !test_failures; n += EACH_RUN) {
        gnomon__test_fail_allocation(n);
        scenario();
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        scenario(); /* as if nothing had been */
        if (!CHECK_EQ(health_now().heap_bytes, heap))
            fprintf(stderr, "    allocation %llu\n", (unsigned long long)n);
    }
    CHECK(n > 5 && n < MOST);
}

/* In a fresh process each time: the first use of everything. */
static void fail_each_first(void (*scenario)(void))
{
    int failed = 1;
    for (uint64_t n = 1; failed && n < MOST && !test_failures; n += EACH_RUN) {
        pid_t child = fork();
        if (child == 0) {
            *child_path = 0; /* the parent cleans up */
            gnomon__test_log = keep_silent;
            gnomon__test_fail_allocation(n);
            scenario();
            failed = gnomon__test_allocations() >= n;
            gnomon__test_fail_allocation(0);
            check_file("fit.gnomon");
            check_file("run.gnomon");
            scenario();
            exit(test_failures ? 1 : failed ? 0 : 2);
        }
        int status = -1;
        if (!CHECK(child > 0 && waitpid(child, &status, 0) == child &&
                   WIFEXITED(status) && WEXITSTATUS(status) != 1))
            fprintf(stderr, "    allocation %llu\n", (unsigned long long)n);
        failed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
}

TEST(a_run)
{
    fail_each(run_all);
}
TEST(attaching)
{
    fail_each(attach_and_detach);
}
TEST(profiles)
{
    fail_each(take_profiles);
}

TEST(steps)
{
    fail_each(take_steps);
}

/* A profile stores what its entities point to in blocks of 4 KiB, each
 * allocated by itself: each piece is once the first in a new one. */
TEST(a_snapshot_wherever_a_block_ends)
{
    char json[4097];
    gnomon__test_log = keep_silent;
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    gnomon_stage_begin("fit");
    mark_some("block");
    for (size_t pad = 2048; pad < sizeof json; pad += 8 * EACH) {
        int failed = 1;
        memset(json, '1', pad);
        json[pad] = 0;
        CHECK_EQ(gnomon_metadata("pad", json), GNOMON_OK);
        for (uint64_t n = 1; failed && n < 200; n++) {
            gnomon_profile *p;
            gnomon__test_fail_allocation(n);
            int code = gnomon_snapshot(&p, "probe", 1);
            failed = gnomon__test_allocations() >= n;
            gnomon__test_fail_allocation(0);
            CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
            gnomon_profile_free(p);
        }
        CHECK(!failed);
    }
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
}

/* A path's sums and cells are made once, though stages count by their names: memory that
 * is new to the process is most of what a snapshot costs. */
TEST(a_snapshot_makes_the_sums_of_a_path_once)
{
    enum { PATHS = 500 };
    char name[16];
    gnomon_profile *p;
    attach_probe();
    for (int i = 0; i < 2 * PATHS; i++) {
        snprintf(name, sizeof name, "path %d", i % PATHS);
        gnomon_token t = gnomon_begin(region(name));
        pass(100);
        gnomon_end(t);
    }
    gnomon__test_fail_allocation(0); /* none; it counts from here */
    CHECK_EQ(gnomon_snapshot(&p, "probe", 1), GNOMON_OK);
    uint64_t made = gnomon__test_allocations();
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), PATHS);
    if (!CHECK(made < 2 * PATHS + PATHS / 2))
        fprintf(stderr, "    %llu allocations\n", (unsigned long long)made);
    gnomon_profile_free(p);
}

/* A partial table is worse than none. */
TEST(a_report_is_complete_or_absent)
{
    int failed = 1, without = 0;
    child_folder();
    gnomon__test_log = keep_silent;
    for (uint64_t n = 0; failed && n < MOST && !test_failures; n++) {
        gnomon__test_fail_allocation(n); /* 0: none */
        write_report();
        failed = !n || gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        char *text = child_load("report");
        int rows = times_in(text ? text : "", "\n|  a name");
        if (!CHECK(rows == 20 || (n && !strstr(text ? text : "", "Report"))))
            fprintf(stderr, "    allocation %llu: %s\n", (unsigned long long)n,
                    text);
        without += rows == 0;
        free(text);
    }
    CHECK(!failed && without);
}
TEST(a_first_run)
{
    fail_each_first(run_all);
}
TEST(files_of_profiles)
{
    child_folder();
    fail_each(keep_profiles);
}
TEST(first_files_of_profiles)
{
    child_folder();
    fail_each_first(keep_profiles);
    CHECK(access("fit.gnomon", F_OK) == 0);
    CHECK(access("run.gnomon", F_OK) == 0);
    CHECK(access("o.gnomon.json", F_OK) == 0);
}
TEST(a_first_attachment)
{
    fail_each_first(attach_and_detach);
}

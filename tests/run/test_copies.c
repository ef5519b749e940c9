/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several copies of gnomon in one process, loaded in any order, give one
 * table. Modules may be closed, and their regions stay.
 *
 * labels: guest */
#include "gnomon/profile.h"
#include "test.h"

#include "child.h"
#include "sanitizer.h"

#define AT(name) TEST_BINARY_DIR "/copies/" name
#define FIRST AT("first.so")
#define SECOND AT("second.so")
#define SHARING AT("sharing.so")
#define ELDER AT("elder.so")
#define STRANGER AT("stranger.so")
#define NOTES AT("notes.so")
#define LOADING AT("loading.so")

#define TITLE "FIT Profiler Report"

static child_result run_host(const char *host, const char *const *words)
{
    return child_run(host, "GNOMON=simple", words);
}
#define RUN(host, ...) \
    run_host(AT(host), (const char *const[]){__VA_ARGS__, NULL})

/* The calls of row `name`; -1: there is none, -2: there are several. */
static int calls_of(const char *report, const char *name)
{
    char row[128];
    int calls = -1;
    snprintf(row, sizeof row, "|  %s ", name);
    if (times_in(report, row) > 1)
        return -2;
    const char *at = strstr(report, row);
    /* Name, mean, calls. */
    for (int i = 0; at && i < 2; i++)
        at = strchr(at + 1, '|');
    if (at)
        calls = atoi(at + 1);
    return calls;
}

static void print_if(int wrong, child_result r)
{
    if (wrong)
        printf("%s\n%s\n", r.out, r.err);
}

/* One report, with the rows of `names` called three times each, and the common
 * one as often as all together. */
static void one_table(child_result r, const char *const *names)
{
    int all = 0, before = test_failures;
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    for (; *names; names++, all += 3)
        CHECK_EQ(calls_of(r.err, *names), 3);
    CHECK_EQ(calls_of(r.err, "common"), all);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1); /* the line of costs */
    print_if(test_failures != before, r);
}
#define ONE_TABLE(result, ...) \
    one_table(result, (const char *const[]){__VA_ARGS__, NULL})

/* ---- Copies ---------------------------------------------------------------- */

TEST(an_executable_with_a_copy_and_modules_of_each_kind_give_one_table)
{
    ONE_TABLE(RUN("with_copy", "self", FIRST, SECOND, SHARING, "again"), "host",
              "first", "second", "sharing");
    ONE_TABLE(RUN("with_copy", SHARING, SECOND, "self", FIRST, "again"), "host",
              "first", "second", "sharing");
    ONE_TABLE(RUN("with_copy", FIRST, SHARING, SECOND, "self", "again"), "host",
              "first", "second", "sharing");
}

TEST(a_host_without_gnomon_may_load_copies_in_any_order)
{
    ONE_TABLE(RUN("without", FIRST, SECOND, SHARING, "again"), "first",
              "second", "sharing");
    ONE_TABLE(RUN("without", SHARING, FIRST, SECOND, "again"), "first",
              "second", "sharing");
    ONE_TABLE(RUN("without", SECOND, FIRST, "again"), "first", "second");
}

TEST(a_host_of_the_shared_library_takes_copies_in)
{
    ONE_TABLE(RUN("with_shared", "self", FIRST, SHARING, "again"), "host",
              "first", "sharing");
    ONE_TABLE(RUN("with_shared", FIRST, SHARING, "self", "again"), "host",
              "first", "sharing");
}

TEST(versions_of_one_generation_join)
{
    ONE_TABLE(RUN("with_copy", ELDER, "self", FIRST, SHARING, "again"), "elder",
              "host", "first", "sharing");
    ONE_TABLE(RUN("without", FIRST, ELDER, "again"), "first", "elder");
    ONE_TABLE(RUN("without", SHARING, ELDER, FIRST, "again"), "sharing",
              "elder", "first");
}

/* Each copy's operations are in the owner's table, where its scopes are. */
TEST(operations_of_all_copies_are_in_one_profile)
{
    static const char *const modules[][4] = {{FIRST, SHARING, "self", "again"},
                                             {"self", SECOND, ELDER, "again"}};
    for (int i = 0; i < 2; i++) {
        gnomon_profile *p = NULL;
        gnomon_node_info n;
        gnomon_op_info op;
        gnomon_region_info region;
        int nodes = 0;
        child_folder();
        child_result r = child_run(
            AT("with_copy"), "GNOMON=profile(file=x.gnomon)",
            (const char *const[]){modules[i][0], modules[i][1], modules[i][2],
                                  modules[i][3], NULL});
        CHECK_EQ(r.status, 0);
        if (!CHECK_EQ(gnomon_profile_load(&p, "x.gnomon"), GNOMON_OK))
            continue;
        for (size_t k = 1; gnomon_profile_node(p, k, &n) == GNOMON_OK; k++) {
            gnomon_profile_region(p, n.region, &region);
            if (strncmp(region.name, "op of ", 6) != 0)
                continue;
            nodes++;
            CHECK_EQ(n.host->count, 6);
            CHECK_EQ(gnomon_profile_op(p, n.op, &op), GNOMON_OK);
            CHECK_STR(op.operation, region.name);
            CHECK(n.work && n.work->flops == 48);
        }
        CHECK_EQ(nodes, 2);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_OPS), 2);
        gnomon_profile_free(p);
    }
}

/* The calls of row `name` of cuda's table; -1: there is none. */
static int timed_calls_of(const char *report, const char *name)
{
    char row[64];
    int calls = -1;
    snprintf(row, sizeof row, "\nstream of %s ", name);
    const char *at = report ? strstr(report, row) : NULL;
    if (at && sscanf(at + strlen(row), "%d", &calls) != 1)
        calls = -1;
    return calls;
}

/* Whichever copy owns the process, all scopes on streams are in its table. */
static void one_device_table(const char *host, const char *const *words,
                             const char *const *names)
{
    child_result r =
        child_run(host,
                  "GNOMON=cuda\nGNOMON_CUDA_LIBRARY=" TEST_BINARY_DIR
                  "/fake_cuda/driver.so",
                  words);
    int before = test_failures;
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Device Report"), 1);
    for (; *names; names++)
        CHECK_EQ(timed_calls_of(r.err, *names), 3);
    CHECK_EQ(times_in(r.err, "device times"), 0);
    print_if(test_failures != before, r);
}

TEST(scopes_on_streams_of_all_copies_are_in_one_table)
{
    static const char *const orders[][5] = {
        {FIRST, SHARING, ELDER, "again", NULL},
        {SHARING, ELDER, FIRST, "again", NULL},
        {ELDER, FIRST, SHARING, "again", NULL}};
    for (int i = 0; i < 3; i++) {
        one_device_table(
            AT("without"), orders[i],
            (const char *const[]){"first", "sharing", "elder", NULL});
        one_device_table(
            AT("with_copy"), orders[i],
            (const char *const[]){"first", "sharing", "elder", NULL});
    }
}

TEST(a_module_with_scopes_on_streams_may_go)
{
    child_result r = child_run(
        AT("without"),
        "GNOMON=cuda\nGNOMON_CUDA_LIBRARY=" TEST_BINARY_DIR
        "/fake_cuda/driver.so",
        (const char *const[]){"cycle=50:" FIRST, "cycle=50:" SHARING, NULL});
    CHECK_EQ(r.status, 0);
    CHECK_EQ(timed_calls_of(r.err, "first"), 50);
    CHECK_EQ(timed_calls_of(r.err, "sharing"), 50);
}

TEST(a_joined_copy_may_ask_for_the_report)
{
    child_result r = RUN("without", FIRST, SECOND, "again", "say=" SECOND);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(strncmp(r.out, "0\n", 2), 0);
    CHECK_EQ(calls_of(r.out, "first"), 3);
    CHECK_EQ(calls_of(r.out, "second"), 3);
    CHECK_EQ(calls_of(r.out, "common"), 6);
}

/* Its marks are not recorded, its control calls return an error; all other
 * modules work. */
TEST(another_generation_stays_off_and_reports_it)
{
    child_result r = RUN("without", FIRST, STRANGER, SHARING, "again");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "first"), 3);
    CHECK_EQ(calls_of(r.err, "sharing"), 3);
    CHECK_EQ(calls_of(r.err, "stranger"), -1);
    CHECK_EQ(times_in(r.err, "version 9.0.0 (generation 9) stays off"), 1);
    CHECK_EQ(times_in(r.err, "stays off"), 1);
    r = RUN("without", FIRST, STRANGER, "say=" STRANGER);
    CHECK(strncmp(r.out, "0\n", 2) != 0);
    /* It may also be the first; then the others are off. */
    r = RUN("without", STRANGER, FIRST, SHARING, "again", "say=" FIRST);
    CHECK_EQ(r.status, 0);
    CHECK(strncmp(r.out, "0\n", 2) != 0);
    CHECK_EQ(calls_of(r.err, "stranger"), 3);
    CHECK_EQ(calls_of(r.err, "first"), -1);
    CHECK_EQ(calls_of(r.err, "sharing"), -1);
    CHECK_EQ(times_in(r.err, "version 9.0.0 (generation 9) came first"), 2);
}

/* Notes of the same name that point to no copy, or to one of before the
 * first release. */
TEST(notes_that_lead_to_no_copy_are_skipped)
{
    ONE_TABLE(RUN("without", NOTES, FIRST, SHARING, "again"), "first",
              "sharing");
}

/* Another thread may be in the middle of dlopen when the first profiler comes. */
TEST(a_copy_that_is_not_relocated_yet_is_not_called)
{
    ONE_TABLE(RUN("without", LOADING, FIRST, SHARING, "again"), "first",
              "sharing");
    ONE_TABLE(RUN("with_copy", LOADING, "self", FIRST, "again"), "host",
              "first");
}

/* Between the walk through the modules and the pin: the next copy is the first. */
TEST(a_copy_that_is_closed_amid_an_election_is_not_written_to)
{
    ONE_TABLE(RUN("closing", "closing=" FIRST, SECOND, "again"), "second");
}

/* The owner of the process is chosen while all of them start. */
TEST(copies_may_start_at_once)
{
    for (int i = 0; i < 20; i++) {
        child_result r =
            RUN("without", "race=" SHARING "," FIRST "," ELDER "," SECOND);
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
        CHECK_EQ(calls_of(r.err, "common"), 8);
        CHECK_EQ(calls_of(r.err, "first"), 2);
        CHECK_EQ(calls_of(r.err, "elder"), 2);
    }
}

TEST(copies_are_silent_when_off)
{
    child_result r = child_run(
        AT("with_copy"), NULL,
        (const char *const[]){FIRST, SHARING, ELDER, "self", "again", NULL});
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
}

/* The first attach activates the marks of all copies, whichever copy makes
 * it, and those of copies loaded later. */
static void one_is_turned_on(const char *host, const char *on)
{
    child_result r =
        child_run(host, NULL,
                  (const char *const[]){FIRST, SHARING, ELDER, "self", on,
                                        SECOND, "again", NULL});
    int before = test_failures;
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    CHECK_EQ(calls_of(r.err, "first"), 1);
    CHECK_EQ(calls_of(r.err, "sharing"), 1);
    CHECK_EQ(calls_of(r.err, "elder"), 1);
    CHECK_EQ(calls_of(r.err, "second"), 3);
    CHECK_EQ(calls_of(r.err, "stream of first"), 1);
    CHECK_EQ(calls_of(r.err, "range of first"), 1);
    if (strcmp(host, AT("with_copy")) == 0)
        CHECK_EQ(calls_of(r.err, "host"), 1);
    print_if(test_failures != before, r);
}

TEST(whoever_attaches_wakes_all_copies)
{
    one_is_turned_on(AT("with_copy"), "on=" FIRST);
    one_is_turned_on(AT("with_copy"), "on=" SHARING);
    one_is_turned_on(AT("with_copy"), "on=" ELDER);
    one_is_turned_on(AT("without"), "on=" FIRST);
    one_is_turned_on(AT("without"), "on=" ELDER);
}

/* Each namespace has a run of its own, also when its module is closed while
 * threads of gnomon run. */
TEST(namespaces_have_runs_of_their_own)
{
    if (IS_SANITIZED)
        SKIP("sanitizers know one namespace");
    for (int i = 0; i < 20; i++) {
        child_result r =
            RUN("without", FIRST, "new=" FIRST, "new=" SHARING, "new=" SECOND);
        if (r.status == 77)
            SKIP("no namespaces are to be had");
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "Profiler Report"), 4);
        CHECK_EQ(times_in(r.err, "|  first "), 2);
        CHECK_EQ(calls_of(r.err, "sharing"), 2);
        CHECK_EQ(calls_of(r.err, "second"), 2);
    }
}

/* Main, which writes the report, was started by another libc. */
TEST(a_namespace_that_a_thread_made_has_its_report)
{
    if (IS_SANITIZED)
        SKIP("sanitizers know one namespace");
    child_result r = RUN("without", "apart=" FIRST);
    if (r.status == 77)
        SKIP("no namespaces are to be had");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "first"), 2);
}

/* Neither waits for the other's thread. */
TEST(namespaces_end_after_main_has)
{
    if (IS_EMULATED)
        SKIP("under the emulator the process stays when its last thread has "
             "gone");
    if (IS_SANITIZED)
        SKIP("sanitizers know one namespace");
    child_result r = RUN("with_copy", "self", "new=" FIRST, "leave");
    if (r.status == 77)
        SKIP("no namespaces are to be had");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(times_in(r.err, "|  host "), 1);
    CHECK_EQ(times_in(r.err, "|  first "), 1);
}

/* While gnomon is off nothing of a module is kept: it is unmapped when
 * closed, and its address is not written to. */
TEST(a_module_that_was_off_is_unmapped)
{
    child_result r = child_run(AT("with_copy"), NULL,
                               (const char *const[]){"self", "cycle=20:" FIRST,
                                                     "cycle=20:" SHARING,
                                                     "toggle", "self", NULL});
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "host"), 2);
}

/* How many scopes called `name` the profile in the file has; 0: there is no file. */
static uint64_t profile_has(const char *path, const char *name)
{
    gnomon_profile *p = NULL;
    gnomon_node_info n;
    gnomon_region_info region;
    uint64_t count = 0;
    if (gnomon_profile_load(&p, path) != GNOMON_OK)
        return 0;
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++)
        if (!gnomon_profile_region(p, n.region, &region) && n.host &&
            strcmp(region.name, name) == 0)
            count += n.host->count;
    gnomon_profile_free(p);
    return count;
}

/* All written within a tick of the kernel's clock. */
TEST(runs_of_one_process_keep_their_files_apart)
{
    if (IS_SANITIZED)
        SKIP("sanitizers know one namespace");
    static const char *const words[] = {"self", "new=" FIRST, "new=" SECOND,
                                        NULL};
    uint64_t hosts = 0, firsts = 0, seconds = 0;
    child_folder();
    pid_t child = child_start(AT("with_copy"), "GNOMON=profile(file=p.gnomon)",
                              words, ".out", ".err");
    char paths[3][64] = {"p.gnomon"};
    snprintf(paths[1], sizeof *paths, "p-%lld.gnomon", (long long)child);
    snprintf(paths[2], sizeof *paths, "p-%lld-1.gnomon", (long long)child);
    int status = child_wait(child);
    if (status == 77)
        SKIP("no namespaces are to be had");
    CHECK_EQ(status, 0);
    for (int i = 0; i < 3; i++) {
        hosts += profile_has(paths[i], "host");
        firsts += profile_has(paths[i], "first");
        seconds += profile_has(paths[i], "second");
    }
    CHECK_EQ(hosts, 2);
    CHECK_EQ(firsts, 2);
    CHECK_EQ(seconds, 2);
    CHECK_EQ(times_in(child_read(".err"), "another run wrote p.gnomon"), 2);
}

/* Opened before the module came, which takes it for standard error. */
TEST(a_late_module_leaves_a_hosts_file_at_2_alone)
{
    static const char *const opens[] = {"own=data", "private=data"};
    for (int i = 0; i < (IS_SANITIZED ? 2 : 4); i++) {
        const char *open = opens[i & 1];
        child_result r = i < 2 ? RUN("without", open, FIRST)
                               : RUN("with_copy", "self", open, "new=" FIRST);
        if (r.status == 77)
            SKIP("no namespaces are to be had");
        CHECK_EQ(r.status, 0);
        CHECK_STR(child_read("data"), "precious");
    }
}

/* ---- Unloading ------------------------------------------------------------- */

/* A module with marks stays mapped, so a thousand times it is the same one, and
 * masks may be rewritten after it was closed. */
static void cycles(const char *module, const char *name)
{
    char word[256];
    snprintf(word, sizeof word, "cycle=1000:%s", module);
    child_result r = RUN("without", word);
    CHECK_EQ(r.status, 0);
    CHECK(*r.out);
#if !IS_ASAN && !IS_TSAN
    CHECK(atoi(r.out) < 64); /* those keep freed memory */
#endif
    CHECK_EQ(calls_of(r.err, name), 1000);
    r = RUN("with_copy", "self", word, "toggle", word);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 51); /* one each toggle */
}

TEST(a_module_may_be_loaded_and_closed)
{
    cycles(FIRST, "first");
    cycles(SHARING, "sharing");
}

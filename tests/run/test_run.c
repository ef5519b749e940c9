/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* $GNOMON as a user sets it, in processes of their own. */
#include "test.h"

#include "child.h"
#include "sanitizer.h"

#include <sys/auxv.h>

#define ONE "do=train_step"
#define COST "gnomon: about "

/* One line of `err` that begins with "gnomon: ", and then nothing but what a
 * report of simple holds. */
static void complains(const char *spec, const char *line)
{
    char environment[512], want[512];
    snprintf(environment, sizeof environment, "GNOMON=%s", spec);
    child_result r = host(environment, ONE, "say=went on");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "went on\n");
    snprintf(want, sizeof want, "gnomon: $GNOMON: %s\n", line);
    if (!CHECK(strncmp(r.err, want, strlen(want)) == 0))
        fprintf(stderr, "    %s    for %s, not\n    %s", r.err, spec, want);
    CHECK_EQ(times_in(r.err, "$GNOMON"), 1);
}

TEST(unset_leaves_no_trace)
{
    static const char *const values[] = {NULL,
                                         "GNOMON=", "GNOMON= ", "GNOMON=,"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        child_result r = host(values[i], "footprint", ONE, "scope=x", "step",
                              "do=train_step", "footprint");
        char *second = strstr(r.out + 1, "tasks ");
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.err, "");
        if (!CHECK(second != NULL))
            return;
        size_t line = strcspn(r.out, "\n");
        CHECK(strncmp(r.out, second, line) == 0); /* threads, files, signals */
        if (!CHECK(strncmp(r.out, "tasks 1 fds 3 ", 14) == 0))
            fprintf(stderr, "    %s", r.out);
    }
}

#if !IS_ASAN && !IS_TSAN
/* The number after the n-th `word`. */
static long number_after(const char *text, const char *word, int n)
{
    for (; text && n > 0; n--)
        if ((text = strstr(text, word)) != NULL)
            text += strlen(word);
    return text ? atol(text) : -1;
}

/* No heap, no arena: actions test one word, and the list of regions is
 * static. */
TEST(unset_maps_nothing)
{
    child_result r = host(NULL, "footprint", ONE, "step", "footprint",
                          "scope=x", "footprint");
    long first = number_after(r.out, "pages ", 1);
    long marked = number_after(r.out, "pages ", 2);
    long region = number_after(r.out, "pages ", 3);
    CHECK(first > 0);
    CHECK_EQ(marked - first, 0);
    CHECK_EQ(region - marked, 0);
}
#endif

TEST(simple_reports_at_exit)
{
    child_result r = host("GNOMON=simple", ONE, "do=opt", "say=out");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "out\n");
    CHECK_TABLE(r.err, "Profiler Report", "train_step", "opt");
    CHECK_EQ(times_in(r.err, "Percentage %"), 1);
    CHECK_EQ(times_in(r.err, COST), 1);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1);
    r = host("GNOMON=simple(extended=false)", ONE, "exit=3");
    CHECK_EQ(r.status, 3);
    CHECK_TABLE(r.err, "Profiler Report", "train_step");
    CHECK_EQ(times_in(r.err, "Num calls"), 0);
}

TEST(several_profilers_at_once)
{
    child_result r = host("GNOMON=Simple,LOG, passthrough ,simple(filter=opt*)",
                          ONE, "do=opt", "spec");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
    CHECK_EQ(times_in(r.err, "|  opt"), 2);
    CHECK_EQ(times_in(r.err, "log: 0 > train_step\n"), 1);
    CHECK_STR(
        r.out,
        "simple(extended=true,ranks=all,at=stage),log(ranks=all,at=stage),"
        "passthrough(ranks=all,at=stage),simple(extended=true,"
        "filter=opt*,ranks=all,at=stage),mem=64MiB\n");
}

TEST(wrong_words_are_one_line_and_the_rest_runs)
{
    complains("simpel", "unknown profiler 'simpel': did you mean 'simple'?");
    complains("nonsense", "unknown profiler 'nonsense'. There are: "
                          "passthrough, simple, advanced, tree, regions, "
                          "links, counters, steps, gaps, critical, cuda, "
                          "gpu, kernels, cupti, trace, profile, nvtx, "
                          "log");
    complains("simple,fliter=a",
              "unknown option 'fliter': did you mean 'filter'?");
    complains("simple(extnded=false)",
              "simple: unknown option 'extnded': did you mean 'extended'? It "
              "knows: extended, sort, limit, filter, exclude, schedule, ranks, "
              "at, file, dir, as");
    complains("simple(extended=maybe)",
              "simple: extended=maybe: say true or false (or yes, no, on, off, "
              "1, 0)");
    complains("simple,ranks=x", "ranks=x: say all, or ranks and spans as "
                                "0|3|8-15");
    complains("simple,mem=much", "mem=much: say a number and its unit");
    complains("@nowhere.spec",
              "at character 1, '@nowhere.spec': No such file or directory");
}

TEST(valid_profilers_run_despite_wrong_ones)
{
    child_result r = host(
        "GNOMON=simpel,simple(extnded=1,extended=false),log(x),fliter=1", ONE);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "gnomon: $GNOMON: "), 4);
    CHECK_EQ(times_in(r.err, "$GNOMON"), 4);
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
    CHECK_EQ(times_in(r.err, "Num calls"), 0);
    CHECK_EQ(times_in(r.err, "log: 0 > train_step\n"), 1);
}

TEST(help_prints_and_the_program_goes_on)
{
    child_result r = host("GNOMON=help", ONE, "say=went on");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "went on\n");
    CHECK(strncmp(r.err, "gnomon 0.1.0: GNOMON=", 21) == 0);
    CHECK_EQ(times_in(r.err, "  passthrough  records nothing"), 1);
    CHECK_EQ(times_in(r.err, "extended   yes/no"), 1);
    CHECK_EQ(times_in(r.err, "[64MiB]"), 1);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 0);
    r = host("GNOMON=HELP,simple", ONE);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    CHECK_EQ(times_in(r.err, "extended   yes/no"), 1);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (CHECK(f != NULL)) {
        fputs(text, f);
        fclose(f);
    }
}

TEST(a_file_holds_a_spec)
{
    child_folder();
    write_file("a.spec", "# what we look at\nsimple(\n  extended=false\n)\n"
                         "filter=\"[Callback]*\" # only these\n@b.spec\n");
    write_file("b.spec", "exclude=*.setup");
    child_result r = host("GNOMON=@a.spec", "do=[Callback]A.start",
                          "do=[Callback]A.setup", "do=other", "spec");
    CHECK_TABLE(r.err, "Profiler Report", "[Callback]A.start");
    CHECK_STR(r.out, "simple(extended=false,filter=[Callback]*,"
                     "exclude=*.setup,ranks=all,at=stage),mem=64MiB\n");
}

TEST(lightnings_names_in_filters)
{
    static const char name[] =
        "do=[Callback]ModelCheckpoint{'monitor': 'val=loss', 'mode': \"min\"}";
    child_result r =
        host("GNOMON=simple(filter=\"[Callback]ModelCheckpoint{'monitor': "
             "'val=loss', 'mode': \\\"min\\\"}\",extended=false)",
             name, "do=[Callback]Other", "respec", name);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "|  [Callback]ModelCheckpoint"), 2);
    CHECK_EQ(times_in(r.err, "Other"), 0);
    CHECK_EQ(times_in(r.out, "same\n"), 1);
}

/* The footer gives the reason for the empty table. */
TEST(no_rows_is_explained)
{
    static const struct {
        const char *environment, *line;
    } cases[] = {
        {"GNOMON=simple(filter=x*)",
         "gnomon: no rows: the filter excluded 1 of 1 region\n"},
        {"GNOMON=simple(ranks=3)",
         "gnomon: no rows: this rank is not in ranks=\n"},
        {"GNOMON=simple(schedule=wait:9/active:1)",
         "gnomon: no rows: the schedule was never active: 1 step was made, the "
         "first active one would be step 9\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[256] = "Profiler Report\n\n";
        child_result r = host(cases[i].environment, ONE, "step");
        CHECK_STR(r.err, strcat(want, cases[i].line));
    }
    child_result r = host("GNOMON=simple", "setup", "teardown");
    CHECK_STR(r.err,
              "Profiler Report\n\ngnomon: no rows: no marks were made\n");
    r = host("GNOMON=simple", "start=a");
    CHECK_EQ(times_in(r.err, "gnomon: no rows: 1 scope is open: a ("), 1);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1);
}

TEST(trouble_is_reported_after_the_report)
{
    static const char line[] =
        "\ngnomon: 2 stops of actions that were not open\n";
    child_result r = host("GNOMON=simple", ONE, "stop=a", "stop=b");
    CHECK_EQ(times_in(r.err, line), 1);
    r = host("GNOMON=simple", "do=a", "stop=a", "stage=fit", "do=b", "end");
    CHECK_EQ(times_in(r.err, "never"), 0);
    CHECK_EQ(times_in(r.err, "gnomon: 1 stop of an action that was not"), 1);
    r = host("GNOMON=log", ONE, "stop=a", "stop=b"); /* without a profile */
    CHECK_EQ(times_in(r.err, line), 1);
}

TEST(marks_leave_errno_alone)
{
    static const char *const specs[] = {
        "GNOMON=simple",
        "GNOMON=log,simple,schedule=wait:1/active:1",
        "GNOMON=simpel",
        "GNOMON=@nowhere",
        "GNOMON=/nowhere/at/all.so",
        NULL};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        child_result r = host(specs[i], "errno=x", "errno=x");
        CHECK_STR(r.out, "errno 77\nerrno 77\n");
    }
}

/* A copy with the set-user-ID bit, owned by another user. */
TEST(programs_with_more_rights_obey_nothing)
{
#if IS_ASAN
    SKIP("the leak sanitizer does not work in such programs");
#endif
    if (geteuid() != 0)
        SKIP("only root can make a program that runs as somebody else");
    child_folder();
    if (system("cp " CHILD_PROGRAM(
            "host_static") " . && chown 65534 "
                           "host_static && chmod 4755 host_static") != 0)
        SKIP("cannot copy the program");
    child_result r = child_run("./host_static", "GNOMON=help,simple,@/etc/x",
                               (const char *const[]){ONE, "spec", NULL});
    if (r.status == 127 || times_in(r.err, "Profiler") > 0) {
        /* Mounted nosuid, it runs with our rights. */
        if (system("test \"$(findmnt -no OPTIONS -T . | grep nosuid)\"") == 0)
            SKIP("/tmp is mounted nosuid");
    }
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "\n");
    CHECK_STR(r.err, "");
}

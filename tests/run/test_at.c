/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* at=: reports at each stage's end, or one for each name of stages at the run's.
 * In this process the clock is the test's; other processes have real ones. */
#include "test.h"

#include "child.h"

#define ROUNDS \
    "stage=fit", "do=a", "do=b", "end", "stage=validate", "do=c", "end", \
        "stage=fit", "do=a", "end", "stage=validate", "do=c", "do=c", "end"

/* The calls in this row of simple's table under this title; -1: it has none. */
static long calls(const char *text, const char *title, const char *action)
{
    char head[64], row[64];
    snprintf(head, sizeof head, "%s Profiler Report", title);
    snprintf(row, sizeof row, "\n|  %s", action);
    const char *at = text ? strstr(text, head) : NULL;
    if (!at)
        return -1;
    const char *end = strstr(at + strlen(head), "Profiler Report");
    do {
        at = strstr(at + 1, row);
        if (!at || (end && at > end))
            return -1;
        at += strlen(row);
    } while (*at != ' ' && *at != '\t');
    const char *cell = strstr(at, "|  ");
    cell = cell ? strstr(cell + 1, "|  ") : NULL;
    return cell ? strtol(cell + 3, NULL, 10) : -1;
}

static void two_tables(const char *text)
{
    CHECK_EQ(times_in(text, "Profiler Report"), 2);
    CHECK_EQ(calls(text, "FIT", "a"), 2);
    CHECK_EQ(calls(text, "FIT", "b"), 1);
    CHECK_EQ(calls(text, "FIT", "c"), -1);
    CHECK_EQ(calls(text, "VALIDATE", "c"), 3);
    CHECK_EQ(calls(text, "VALIDATE", "a"), -1);
    CHECK(text && strstr(text, "FIT Pro") < strstr(text, "VALIDATE Pro"));
    CHECK_EQ(times_in(text, "gnomon: about "), 2); /* each has a footer */
    CHECK_EQ(times_in(text, "gnomon: "), 2);
}

/* ---- When reports are written -------------------------------------------- */

TEST(each_stage_has_a_report_by_default)
{
    static const char *const specs[] = {
        "GNOMON=simple", "GNOMON=simple(at=stage)", "GNOMON=simple,at=Stage"};
    for (size_t i = 0; i < 3; i++) {
        child_result r = host(specs[i], "setup", ROUNDS, "teardown");
        CHECK_EQ(times_in(r.err, "Profiler Report"), 4);
        CHECK_EQ(times_in(r.err, "FIT Profiler Report"), 2);
        CHECK_EQ(calls(r.err, "FIT", "a"), 1);
        CHECK_EQ(calls(r.err, "VALIDATE", "c"), 1);
    }
}

TEST(one_for_each_name_at_teardown)
{
    child_result r =
        host("GNOMON=simple,at=END", "setup", ROUNDS, "teardown", "do=nobody");
    two_tables(r.err);
    CHECK_EQ(times_in(r.err, "nobody"), 0);
}

TEST(one_for_each_name_at_exit)
{
    child_result r = host("GNOMON=simple(at=end)", ROUNDS, "exit=7");
    CHECK_EQ(r.status, 7);
    two_tables(r.err);
    r = host("GNOMON=simple(at=end)", "setup", ROUNDS); /* no teardown */
    CHECK_EQ(r.status, 0);
    two_tables(r.err);
}

TEST(runs_do_not_share_their_stages)
{
    child_result r =
        host("GNOMON=simple(at=end)", "setup", "stage=fit", "do=a", "teardown",
             "setup", "stage=fit", "do=a", "do=b", "teardown");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    const char *second = strstr(r.err, "Profiler Report") + 1;
    CHECK_EQ(calls(r.err, "FIT", "a"), 1);
    CHECK_EQ(calls(r.err, "FIT", "b"), -1);
    CHECK_EQ(calls(second, "FIT", "a"), 1);
    CHECK_EQ(calls(second, "FIT", "b"), 1);
}

/* A detached profiler reports at once: at the run's end it is gone. */
TEST(a_replaced_spec_reports_at_once)
{
    child_result r = host("GNOMON=simple(at=end)", ROUNDS, "configure=");
    two_tables(r.err);
    r = host("GNOMON=simple(at=end)", "stage=fit", "do=a", "configure=log",
             "do=b", "end");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    CHECK_EQ(calls(r.err, "FIT", "a"), 1);
    r = host("GNOMON=simple(at=end)", "stage=fit", "do=a", "end", "stage=fit",
             "do=a", "do=b", "configure=");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    CHECK_EQ(calls(r.err, "FIT", "a"), 2);
    CHECK_EQ(calls(r.err, "FIT", "b"), 1);
}

/* ---- What reports contain ------------------------------------------------ */

TEST(an_open_stage_is_in_the_last_report)
{
    child_result r =
        host("GNOMON=simple(at=end)", "stage=fit", "do=a", "end",
             "stage=validate", "do=c", "end", "stage=fit", "do=a", "start=b");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(calls(r.err, "FIT", "a"), 2);
    CHECK_EQ(calls(r.err, "VALIDATE", "c"), 1);
    CHECK_EQ(times_in(r.err, "scope is open: b "), 1);
}

TEST(scopes_of_no_stage_have_their_own_report)
{
    child_result r = host("GNOMON=simple(at=end)", "stage=fit", "do=a", "end",
                          "do=x", "teardown");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(calls(r.err, "FIT", "a"), 1);
    CHECK_EQ(times_in(r.err, "\n|  x"), 1);
    CHECK(strstr(r.err, "\n|  x") >
          strstr(r.err, "\n|  a")); /* attached later */
    r = host("GNOMON=simple(at=end)", "do=x", "do=x");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    r = host("GNOMON=simple(at=end)", "setup", "teardown");
    CHECK_EQ(times_in(r.err, "no rows"), times_in(r.err, "Profiler Report"));
}

/* A scope counts in the stage in which it began and is in its report, so
 * nothing is late. */
TEST(late_ends_are_in_the_report)
{
    child_result r =
        host("GNOMON=simple(at=end)", "stage=fit", "start=late", "end",
             "stage=validate", "stop=late", "do=c", "end", "do=c");
    CHECK_EQ(calls(r.err, "FIT", "late"), 1);
    CHECK_EQ(calls(r.err, "VALIDATE", "late"), -1);
    CHECK_EQ(times_in(r.err, "ended after its report"), 0);
    r = host("GNOMON=simple(at=end)", "stage=fit", "start=late", "end",
             "stop=late"); /* no stage ends any more */
    CHECK_EQ(calls(r.err, "FIT", "late"), 1);
    CHECK_EQ(times_in(r.err, "ended after its report"), 0);
    r = host("GNOMON=simple", "stage=fit", "start=late", "end", "stop=late");
    CHECK_EQ(times_in(r.err, "ended after its report"), 1);
}

TEST(trouble_is_reported_once)
{
    child_result r =
        host("GNOMON=simple(at=end)", "stage=fit", "do=a", "stop=never", "end",
             "stage=validate", "do=c", "stop=never", "end");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(times_in(r.err, "gnomon: 2 stop"), 1);
    const char *message = strstr(r.err, "gnomon: 2 stop");
    CHECK(message && message > strstr(r.err, "VALIDATE"));
}

TEST(advanced_knows_it_too)
{
    child_result r = host("GNOMON=advanced(at=end)", ROUNDS);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(times_in(r.err, "        2    "), 1); /* a */
    CHECK_EQ(times_in(r.err, "        3    "), 1); /* c */
    r = host("GNOMON=advanced", ROUNDS);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 4);
}

/* ---- Files --------------------------------------------------------------- */

TEST(file_receives_the_reports)
{
    child_result r = host("GNOMON=simple(at=end,file=all.txt)", ROUNDS);
    CHECK_STR(r.err, "");
    two_tables(child_read("all.txt"));
    r = host("GNOMON=simple(at=end,file=of-%s.txt)", ROUNDS);
    CHECK_STR(r.err, "");
    CHECK_EQ(calls(child_read("of-fit.txt"), "FIT", "a"), 2);
    CHECK_EQ(calls(child_read("of-validate.txt"), "VALIDATE", "c"), 3);
    r = host("GNOMON=simple(at=end,dir=out)", "mkdir=out", ROUNDS);
    CHECK_EQ(calls(child_read("out/fit-simple.txt"), "FIT", "a"), 2);
}

/* The profile's file is written at each stage's end, whatever at= says. */
TEST(profile_files_are_written_at_each_stage)
{
    child_result r = host("GNOMON=simple(at=end,file=x.gnomon)", "stage=fit",
                          "do=a", "end", "stage=fit", "do=a");
    CHECK_EQ(calls(r.err, "FIT", "a"), 2);
}

TEST(each_profiler_has_its_own)
{
    child_result r =
        host("GNOMON=simple(at=end),simple(file=each.txt)", ROUNDS);
    two_tables(r.err);
    CHECK_EQ(times_in(child_read("each.txt"), "Profiler Report"), 4);
}

/* ---- Wrong words --------------------------------------------------------------- */

TEST(a_wrong_word_is_one_line)
{
    child_result r = host("GNOMON=simple(at=exit)", ROUNDS);
    CHECK_EQ(times_in(r.err,
                      "gnomon: $GNOMON: simple: at=exit: say stage, for a "
                      "report at each stage's end, or end, for one of each "
                      "name at the run's end\n"),
             1);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 4);
    r = host("GNOMON=simple(at)", ROUNDS);
    CHECK_EQ(times_in(r.err, "simple: at: a value is missing: at=...\n"), 1);
    r = host("GNOMON=help", "do=a");
    CHECK_EQ(times_in(r.err, "      at         text      when reports come"),
             1);
}

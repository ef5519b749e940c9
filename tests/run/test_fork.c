/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Forks and exits (programs/forks): exactly the right processes report. */
#include "test.h"

#include "child.h"

/* Runs it; how many reports came, and what the last one counted. */
static int reports(const char *word, int status, long long *work)
{
    const char *const words[] = {word, NULL};
    child_result r = child_run(CHILD_PROGRAM("forks"), NULL, words);
    int n = 0;
    *work = -1;
    CHECK_EQ(r.status, status);
    CHECK_STR(r.out, "");
    for (char *at = r.err; (at = strstr(at, "report: work ")) != NULL; n++)
        CHECK_EQ(sscanf(at += 13, "%lld", work), 1);
    if (test_failures)
        fprintf(stderr, "    %s: %s\n", word, r.err);
    return n;
}

TEST(a_child_is_silent)
{
    long long work;
    CHECK_EQ(reports("child", 0, &work), 1);
    CHECK_EQ(work, 123);
}

TEST(a_child_of_open_scopes_is_silent)
{
    long long work;
    CHECK_EQ(reports("open", 0, &work), 1);
    CHECK_EQ(work, 8); /* the outer one ends when main does */
}

TEST(children_of_a_process_whose_threads_record)
{
    long long work;
    CHECK_EQ(reports("threads", 0, &work), 1);
    CHECK_EQ(work, 8 * 20000);
}

TEST(children_of_a_process_that_changes_its_profilers)
{
    long long work;
    CHECK_EQ(reports("control", 0, &work), 1);
    CHECK_EQ(work, 200 * 10);
}

TEST(no_child_of_a_thread_that_begins)
{
    long long work;
    CHECK_EQ(reports("at once", 0, &work), 0);
}

TEST(exit_reports_once)
{
    long long work;
    CHECK_EQ(reports("exit", 7, &work), 1);
    CHECK_EQ(work, 5);
}

TEST(exit_in_another_thread_reports_once)
{
    long long work;
    CHECK_EQ(reports("exit in a thread", 0, &work), 1);
    CHECK_EQ(work, 50);
}

TEST(exit_while_others_mark_reports_once)
{
    long long work;
    CHECK_EQ(reports("exit while others mark", 0, &work), 1);
    CHECK(work >= 0);
}

TEST(no_exit_no_report)
{
    long long work;
    CHECK_EQ(reports("_exit", 8, &work), 0);
}

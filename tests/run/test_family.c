/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* labels: guest
 * Child processes, made in every way there is (programs/family): which of them
 * report, what, and into which file. */
#include "test.h"

#include "child.h"
#include "sanitizer.h"

static child_result family(const char *spec, const char *word)
{
    char line[256];
    const char *const words[] = {word, NULL};
    snprintf(line, sizeof line, "GNOMON=%s", spec);
    child_result r = child_run(CHILD_PROGRAM("family"), line, words);
    CHECK_STR(r.out, "");
    if (!CHECK_EQ(r.status, 0))
        fprintf(stderr, "    %s: %s\n", word, r.err);
    return r;
}

/* The parent alone, with as many scopes; 0: any number. */
static void parent_only(const char *spec, const char *word, int work)
{
    char line[64];
    child_result r = family(spec, word);
    snprintf(line, sizeof line, "parent: work %d\n", work);
    if (!CHECK_EQ(times_in(r.err, work ? line : "parent: work "), 1) ||
        !CHECK_EQ(times_in(r.err, ": work "), 1))
        fprintf(stderr, "    %s: %s\n", word, r.err);
}

static void reports(const child_result *r, const char *line, int times)
{
    if (!CHECK_EQ(times_in(r->err, line), times))
        fprintf(stderr, "    %s%s\n", line, r->err);
}

/* ---- Off ----------------------------------------------------------------- */

TEST(a_forked_child_is_silent)
{
    parent_only("reporter", "fork", 100);
    parent_only("reporter,fork=off", "grandchild", 100);
}

/* Not of one that makes no mark, is recorded, or begins a run of its own. */
TEST(the_parent_tells_of_children_that_are_off)
{
    static const struct {
        const char *spec, *word, *line;
    } cases[] = {
        {"reporter", "fork",
         "gnomon: 1 forked child made marks, which are "
         "not recorded: fork=follow records them\n"},
        {"reporter", "grandchild", "gnomon: 2 forked children made marks"},
        {"reporter,fork=follow", "fork", NULL},
        {"reporter,fork=follow", "grandchild", NULL},
        {"reporter", "spawn", NULL},
        {"reporter", "ask", NULL}}; /* its child has threads */
    for (size_t i = 0; i < sizeof cases / sizeof *cases - IS_TSAN; i++) {
        child_result r = family(cases[i].spec, cases[i].word);
        if (cases[i].line)
            reports(&r, cases[i].line, 1);
        reports(&r, "made marks", cases[i].line != NULL);
    }
}

TEST(a_cloned_child_is_silent)
{
    parent_only("reporter", "clone", 100);
}

/* Its marks are the parent's: memory and thread are. */
TEST(a_child_of_vfork_is_silent)
{
#if IS_TSAN
    SKIP("the sanitizer makes a fork of vfork");
#endif
    parent_only("reporter", "vfork", 105);
    parent_only("reporter,fork=follow", "vfork", 105);
}

TEST(children_of_threads_that_hold_our_lock)
{
    parent_only("reporter", "threads", 0);
}

TEST(cloned_children_of_threads_that_hold_our_lock)
{
#if IS_TSAN
    SKIP("the sanitizer's own locks stay taken in such children");
#endif
    parent_only("reporter", "clone among threads", 0);
}

TEST(a_child_of_a_thread_that_ends)
{
    NEEDS_THREADS_AFTER_FORK();
    parent_only("reporter", "thread", 100);
}

TEST(children_of_callbacks_come_back_from_them)
{
    parent_only("reporter", "callback", 140);
    parent_only("reporter,fork=follow", "callback", 140);
}

TEST(children_of_handlers_come_back_from_them)
{
    NEEDS_THREADS_AFTER_FORK();
    parent_only("reporter", "handler", 0);
    family("reporter,fork=follow", "handler");
}

TEST(workers_of_a_fork_server_are_silent)
{
    parent_only("reporter", "server", 115);
}

/* A program that starts anew is a run of its own. */
TEST(spawned_and_executed_programs_report_as_themselves)
{
    static const char *const words[] = {"spawn", "exec"};
    for (int i = 0; i < 2; i++) {
        child_result r = family("reporter,fork=follow", words[i]);
        reports(&r, "leaf: work 4\n", 1);
        reports(&r, "parent: work 100\n", 1);
        reports(&r, ": work ", 2);
    }
}

TEST(a_child_leaves_the_parents_file_alone)
{
    family("reporter,file=out", "server");
    CHECK_EQ(times_in(child_read("out"), "parent: work 115\n"), 1);
    CHECK_EQ(times_in(child_read("out"), ": work "), 1);
}

/* ---- Asked for ----------------------------------------------------------- */

TEST(a_child_that_calls_setup_reports_from_there)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter", "ask");
    reports(&r, "child: work 11\n", 1);
    reports(&r, "parent: work 100\n", 1);
    reports(&r, ": work ", 2);
    r = family("reporter", "ask after clone");
    reports(&r, "child: work 11\n", 1);
    reports(&r, ": work ", 2);
}

/* ---- fork=follow --------------------------------------------------------- */

TEST(a_child_that_follows_reports_as_itself)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "fork");
    reports(&r, "child: work 20\n", 1);
    reports(&r, "parent: work 100\n", 1);
    reports(&r, ": work ", 2);
    reports(&r, ", forked from ", 1);
    r = family("reporter,fork=follow", "grandchild");
    reports(&r, "child: work 20\n", 1);
    reports(&r, "child: work 30\n", 1);
    reports(&r, ": work ", 3);
}

TEST(a_child_that_follows_may_undo_the_parents_setup)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "teardown");
    reports(&r, "child: work 9\n", 1);
    reports(&r, "parent: work 102\n", 1);
    reports(&r, ": work ", 2);
}

TEST(children_that_follow_from_among_threads)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "threads");
    reports(&r, "child: work 100\n", 30);
    reports(&r, "parent: work ", 1);
}

TEST(a_child_that_follows_and_whose_only_thread_ends)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "thread");
    reports(&r, "child: work 7\n", 1);
    reports(&r, ": work ", 2);
}

/* Children that call _exit report nothing. */
TEST(workers_of_a_fork_server_that_follow)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "server");
    reports(&r, "child: work 10\n", 3);
    reports(&r, "child: work 12\n", 3);
    reports(&r, "parent: work 115\n", 1);
    reports(&r, ": work ", 7);
}

TEST(a_child_obeys_no_token_of_its_parents)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family("reporter,fork=follow", "tokens");
    reports(&r, "child: work 1\n", 1);
    reports(&r, "parent: work 103\n", 1);
}

/* How many files there are whose names fit, and their texts together. */
static int files(const char *pattern, char **text)
{
    char command[128];
    snprintf(command, sizeof command, "cat %s >.all; ls %s | wc -l >.n",
             pattern, pattern);
    CHECK_EQ(system(command), 0);
    *text = child_read(".all");
    return atoi(child_read(".n"));
}

TEST(each_child_that_follows_has_its_own_file)
{
    NEEDS_THREADS_AFTER_FORK();
    char *text;
    family("reporter,fork=follow,file=out.txt", "server");
    CHECK_EQ(times_in(child_read("out.txt"), "parent: work 115\n"), 1);
    CHECK_EQ(times_in(child_read("out.txt"), ": work "), 1);
    CHECK_EQ(files("out-[0-9]*.txt", &text), 6);
    CHECK_EQ(times_in(text, "child: work "), 6);
    family("reporter,fork=follow,file=by-%p", "server");
    CHECK_EQ(files("by-*", &text), 7);
    CHECK_EQ(times_in(text, ": work "), 7);
    family("reporter,fork=follow,dir=logs", "server");
    CHECK_EQ(times_in(child_read("logs/reporter.txt"), "parent: work 115\n"),
             1);
    CHECK_EQ(files("logs/reporter-[0-9]*.txt", &text), 6);
    CHECK_EQ(times_in(text, "child: work "), 6);
}

/* Also where the program changed its folder since. */
TEST(paths_of_a_child_that_follows_begin_where_its_parents_do)
{
    static const char plugin[] = TEST_BINARY_DIR "/plugins/simple.so";
    char *text;
    family("reporter,fork=follow,file=out.txt", "moved");
    CHECK_EQ(times_in(child_read("out.txt"), "parent: work 100\n"), 1);
    CHECK_EQ(files("out-[0-9]*.txt", &text), 1);
    CHECK_EQ(times_in(text, "child: work 20\n"), 1);
    CHECK_EQ(rmdir("moved"), 0);
    family("reporter,fork=follow,dir=logs", "moved");
    CHECK_EQ(files("logs/reporter*.txt", &text), 2);
    CHECK_EQ(rmdir("moved"), 0);
    CHECK_EQ(symlink(plugin, "mine.so"), 0);
    child_result r = family("./mine.so,fork=follow", "moved");
    CHECK_EQ(times_in(r.err, "|  work "), 2);
    CHECK_EQ(rmdir("moved"), 0);
}

typedef struct streamed_parts {
    long parent, children; /* events, and what is missing */
    int parts;
} streamed_parts;

/* Adds up the lines of parts. Each has a file of its own, with so many events; the last
 * scope may be open. */
static streamed_parts count_parts(const char *lines)
{
    streamed_parts sum = {0};
    for (const char *at = lines; (at = strstr(at, "trace: ")); at++) {
        long n = 0, more = 0;
        char path[80] = "";
        (void)sscanf(at, "trace: %ld events in %79[^;\n]; %ld", &n, path,
                     &more);
        char *rows = child_load(path);
        if (CHECK(rows != NULL)) {
            int events = times_in(rows, "\"name\":\"work\"");
            CHECK(events == n || events == n + 1);
        }
        free(rows);
        CHECK_EQ(unlink(path), 0); /* a second line of it finds none */
        *(strncmp(path, "./trace-part", 12) ? &sum.children : &sum.parent) +=
            n + more;
        sum.parts++;
    }
    return sum;
}

#define STREAM "trace(keep=stream,filter=work),mem=1MiB,fork="

TEST(a_child_that_follows_has_a_stream_of_its_own)
{
    NEEDS_THREADS_AFTER_FORK();
    child_result r = family(STREAM "follow", "stream");
    streamed_parts sum = count_parts(r.err);
    CHECK_EQ(sum.parent, 100 + 6 * 20000);
    CHECK_EQ(sum.children, 3 * 60000);
    CHECK(sum.parts > 4);
    CHECK_EQ(system("ls *.json 2>/dev/null | grep -q ."), 256);
}

TEST(a_child_writes_nothing_of_its_parents_stream)
{
    child_result r = family(STREAM "off", "stream");
    streamed_parts sum = count_parts(r.err);
    CHECK_EQ(sum.parent, 100 + 6 * 20000);
    CHECK_EQ(sum.children, 0);
    CHECK(sum.parts > 1);
    CHECK_EQ(system("ls *.json 2>/dev/null | grep -q ."), 256);
}

TEST(fork_has_two_words)
{
    const char *const words[] = {"fork", NULL};
    child_result r = child_run(CHILD_PROGRAM("family"),
                               "GNOMON=reporter,fork=flolow", words);
    CHECK_EQ(times_in(r.err, "gnomon: $GNOMON: fork=flolow: say follow or off"),
             1);
    CHECK_EQ(times_in(r.err, ": work "), 1);
    r = host("GNOMON=log,fork=follow", "spec", "respec");
    CHECK_EQ(times_in(r.out, "log(ranks=all,at=stage),mem=64MiB,fork=follow\n"),
             2);
    CHECK_EQ(times_in(r.out, "same\n"), 1);
}

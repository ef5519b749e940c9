/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* labels: guest
 * timeout: 300
 * Each way in which a program ends (programs/ends): its report comes once, and its
 * exit status is the one that it has without gnomon. */
#include "test.h"

#include "child.h"
#include "sanitizer.h"

#define BY(number) (256 + (number))

/* First in a test in which main ends first: the sanitizer's own thread would
 * not be the last to end, and is neither libc's nor ours. */
#if IS_TSAN
#define NEEDS_NO_OTHER_THREAD() SKIP("the sanitizer's own thread stays")
#define FOREIGN_THREADS 1
#else
#define NEEDS_NO_OTHER_THREAD() (void)0
#define FOREIGN_THREADS 0
#endif

static child_result ends(const char *word, int number, int more)
{
    char digits[2][16];
    const char *words[] = {word, digits[0], digits[1], NULL};
    snprintf(digits[0], sizeof digits[0], "%d", number);
    snprintf(digits[1], sizeof digits[1], "%d", more);
    if (!number)
        words[1] = NULL;
    /* One malloc arena, so that the report meets the lock that was
     * interrupted. */
    child_result r = child_run(CHILD_PROGRAM("ends"),
                               "GNOMON=slow\nMALLOC_ARENA_MAX=1", words);
    CHECK_STR(r.out, "");
    CHECK_EQ(times_in(r.err, "WARNING: ThreadSanitizer"), 0);
    return r;
}

/* One report, of so many scopes; -1: none. */
static void check_end(const char *word, int number, int more, int status,
                      int work)
{
    char line[64];
    child_result r = ends(word, number, more);
    snprintf(line, sizeof line, "parent: work %d\n", work);
    if (!CHECK_EQ(r.status, status) ||
        !CHECK_EQ(times_in(r.err, ": work "), work >= 0) ||
        !CHECK_EQ(times_in(r.err, line), work >= 0))
        fprintf(stderr, "    %s %d %d: %s\n", word, number, more, r.err);
}

static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

/* ---- Exits --------------------------------------------------------------- */

TEST(return_from_main)
{
    check_end("return", 0, 0, 6, 5);
}

TEST(pthread_exit_of_main)
{
    NEEDS_NO_OTHER_THREAD();
    check_end("pthread_exit", 0, 0, 0, 10);
}

/* A main that made no mark. */
TEST(pthread_exit_of_a_main_that_never_marked)
{
    NEEDS_NO_OTHER_THREAD();
    check_end("pthread_exit of a stranger", 0, 0, 0, 5);
}

/* How many threads are left is not to be known, and they may be none. */
TEST(pthread_exit_of_main_where_proc_cannot_be_read)
{
    static const char *const words[] = {"no descriptor", "no root"};
    NEEDS_NO_OTHER_THREAD();
    for (int i = 0; i < 2; i++) {
        child_result r = ends(words[i], 0, 0);
        if (r.status == 77)
            SKIP("no right to change the root");
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "parent: work 10\n"), 1);
        CHECK_EQ(times_in(r.err, "gnomon: the main thread has ended"), 1);
    }
}

/* Nor is that of device times left. */
TEST(pthread_exit_of_main_with_other_threads_of_ours)
{
    static const char *const words[] = {"no descriptor", NULL};
    NEEDS_NO_OTHER_THREAD();
    child_result r =
        child_run(CHILD_PROGRAM("ends"),
                  "GNOMON=cuda,reporter\nGNOMON_CUDA_LIBRARY=" TEST_BINARY_DIR
                  "/fake_cuda/driver.so",
                  words);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "parent: work "), 1);
}

/* No report is due, but a thread of gnomon's runs. */
TEST(pthread_exit_of_main_with_a_schedule)
{
    NEEDS_NO_OTHER_THREAD();
    const char *const words[] = {"pthread_exit", NULL};
    child_result r =
        child_run(CHILD_PROGRAM("ends"),
                  "GNOMON=passthrough(schedule=wait:1/active:1)", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
}

TEST(ends_without_a_report)
{
    check_end("_exit", 0, 0, 6, -1);
    check_end("quick_exit", 0, 0, 6, -1);
    check_end("abort", 0, 0, BY(SIGABRT), -1);
}

/* A handler registered later runs earlier, and is in the report. One that
 * runs after the report finds that all is over. */
TEST(marks_in_atexit_handlers_before_and_after_ours)
{
    child_result r = ends("atexit", 0, 0);
    CHECK_EQ(r.status, 6);
    CHECK_EQ(times_in(r.err, "parent: work 8\n"), 1);
    CHECK_EQ(times_in(r.err, ": work "), 1);
}

/* In the table of `simple`, of the action whose row begins so. */
static int calls_in(const char *table, const char *row)
{
    const char *at = strstr(table, row);
    int calls = -1;
    if (!at || sscanf(at, "|%*[^|]|%*[^|]|%d", &calls) != 1)
        return -1;
    return calls;
}

TEST(marks_before_and_after_main_and_of_dying_threads)
{
    static const char *const none[] = {NULL};
    static const char *const specs[] = {
        "GNOMON=simple", "GNOMON=simple(schedule=wait:1/active:1),log", NULL};
    for (int i = 0; i < 3; i++) {
        child_result r = child_run(CHILD_PROGRAM("lives"), specs[i], none);
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.out, "");
        if (specs[i])
            CHECK(times_in(r.err, "Profiler Report") > 0);
        else
            CHECK_STR(r.err, "");
        if (i == 0)
            CHECK(times_in(r.err, "|  thread-local object") == 1 &&
                  times_in(r.err, "|  constructor") == 1 &&
                  times_in(r.err, "|  static object") == 1);
        /* Of 20 threads, of two keys made later than ours. */
        if (i == 0)
            CHECK_EQ(calls_in(r.err, "|  key "), 40);
    }
}

/* ---- Signals ------------------------------------------------------------- */

TEST(a_signal_at_its_default_action)
{
    for (int i = 0; i < 3; i++)
        check_end("pause", numbers[i], 1000, BY(numbers[i]), 5);
}

TEST(a_signal_that_interrupts_malloc)
{
    for (int i = 0; i < 12; i++)
        check_end("malloc", numbers[i % 3], 700 * i, BY(numbers[i % 3]), 5);
}

TEST(a_signal_that_interrupts_gnomon)
{
    for (int i = 0; i < 12; i++)
        check_end("gnomon", numbers[i % 3], 700 * i, BY(numbers[i % 3]), 5);
}

/* Its stages may have ended with empty reports. */
TEST(a_signal_that_interrupts_a_control_call)
{
    for (int i = 0; i < 12; i++) {
        child_result r = ends("control", SIGTERM, 700 * i);
        CHECK_EQ(r.status, BY(SIGTERM));
        CHECK_EQ(times_in(r.err, "parent: work 5\n"), 1);
    }
}

TEST(a_signal_goes_before_an_exit)
{
    check_end("exit", SIGTERM, 0, BY(SIGTERM), 5);
}

TEST(a_second_interrupt_ends_it_at_once)
{
    check_end("twice", SIGINT, SIGINT, BY(SIGINT), -1);
    check_end("twice", SIGTERM, SIGINT, BY(SIGINT), -1);
}

/* A terminal and a launcher may each send one. */
TEST(two_signals_give_one_report)
{
    check_end("twice", SIGTERM, SIGTERM, BY(SIGTERM), 5);
    check_end("twice", SIGHUP, SIGHUP, BY(SIGHUP), 5);
    check_end("twice", SIGINT, SIGTERM, BY(SIGINT), 5);
}

TEST(a_report_that_hangs_is_given_up)
{
    check_end("stuck", SIGTERM, 0, BY(SIGTERM), -1);
}

/* ---- The host's handlers ------------------------------------------------- */

TEST(a_handler_of_the_hosts_stays)
{
    for (int i = 0; i < 3; i++) {
        check_end("before", numbers[i], 0, 6, 8);
        check_end("after", numbers[i], 0, 6, 8);
        check_end("ignored", numbers[i], 0, 6, 5);
    }
}

TEST(a_handler_that_puts_ours_back)
{
    check_end("chained", SIGTERM, 0, BY(SIGTERM), 5);
}

TEST(an_action_that_is_the_default_again)
{
    check_end("default again", SIGTERM, 0, BY(SIGTERM), 7);
}

TEST(after_teardown_the_action_is_the_default)
{
    check_end("released", SIGTERM, 0, 6, 5);
    check_end("put back", SIGTERM, 0, 6, 5);
}

TEST(a_child_that_a_signal_ends_is_silent)
{
    check_end("child", SIGTERM, 0, 6, 5);
}

/* ---- What there is ------------------------------------------------------- */

/* Signals 1, 2 and 15 in the mask that the system shows. */
TEST(there_is_a_thread_and_handlers_only_for_who_reports)
{
    static const char *const specs[] = {NULL, "GNOMON=", "GNOMON=passthrough",
                                        "GNOMON=simple"};
    for (int i = 0; i < 4; i++) {
        child_result r = host(specs[i], "do=a", "footprint");
        unsigned long long caught = 1;
        int tasks = 0;
        CHECK_EQ(sscanf(r.out, "tasks %d fds %*d caught %llx", &tasks, &caught),
                 2);
        CHECK_EQ(tasks, i == 3 ? 2 + FOREIGN_THREADS : 1);
        CHECK_EQ(caught & 0x4003, i == 3 ? 0x4003 : 0);
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Device times in real processes, on a fake driver with the real clock: the
 * table below simple's, files, the ends of processes and threads, children, and
 * drivers that are useless or hang.
 *
 * labels: guest
 * timeout: 300 */
#include "program.h"
#include "sanitizer.h"

#define FAKE(name) TEST_BINARY_DIR "/fake_cuda/" name ".so"
#define DRIVER "GNOMON_CUDA_LIBRARY=" FAKE("driver") "\n"
#define NO_DRIVER "gnomon: no CUDA driver: scopes on its streams get no device "

#define streams(environment, ...) \
    child_run(CHILD_PROGRAM("streams"), environment, \
              (const char *const[]){__VA_ARGS__, NULL})

/* The count of row `name`, which may be "2/4" in the table; -1: there is none. */
static int count_of(const char *text, const char *name)
{
    char head[64];
    int count = -1;
    snprintf(head, sizeof head, "\n%s ", name);
    const char *row = text ? strstr(text, head) : NULL;
    if (row && sscanf(row + strlen(head), "%d", &count) != 1)
        count = -1;
    return count;
}

/* Without the lines of gnomon's own. */
static char *without_lines(const char *text)
{
    char *out = child_keep(calloc(strlen(text) + 1, 1)), *to = out;
    while (*text) {
        size_t n = strcspn(text, "\n") + 1;
        if (strncmp(text, "gnomon: ", 8) != 0) {
            memcpy(to, text, n);
            to += n;
        }
        text += n;
    }
    return out;
}

/* ---- Reports --------------------------------------------------------------------- */

TEST(a_table_below_that_of_simple)
{
    child_result r = streams(DRIVER "GNOMON=simple,cuda", "stage=fit", "work=3",
                             "work=2", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\n");
    CHECK_TABLE(r.err, "FIT Profiler Report", "work", "launch");
    const char *own = strstr(r.err, "\nFIT Device Report\n\nAction ");
    CHECK_EQ(count_of(own, "work"), 2);
    CHECK_EQ(count_of(own, "launch"), 5);
    CHECK_EQ(times_in(own, "\ncuda 0, Fake ?0?: two events one after "), 1);
    CHECK_EQ(times_in(r.err, "device times"), 0);
}

TEST(simple_alone_loads_no_driver)
{
    child_result r = streams(DRIVER "GNOMON=simple", "stage=fit", "work=3");
    CHECK_TABLE(r.err, "FIT Profiler Report", "work", "launch");
    CHECK_EQ(times_in(r.err, "Device"), 0);
    r = streams(DRIVER, "stage=fit", "work=3");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "");
}

/* The driver is loaded only when a profiler wants device times. */
TEST(what_is_loaded)
{
    child_result r = streams(DRIVER, "setup", "mapped=driver.so");
    CHECK_STR(r.out, "driver.so is not mapped\n");
    r = streams(DRIVER "GNOMON=simple", "setup", "mapped=driver.so");
    CHECK_STR(r.out, "driver.so is not mapped\n");
    r = streams(DRIVER "GNOMON=cuda", "setup", "mapped=driver.so");
    CHECK_STR(r.out, "driver.so is mapped\n");
}

/* A stored profile gives the same report later, byte for byte. */
TEST(kept_profiles)
{
    NEEDS_PROGRAM;
    child_result live =
        streams(DRIVER "GNOMON=cuda,file=x.gnomon", "stage=fit", "work=3",
                "thread=4", "end", "stage=test", "work=2", "end");
    child_result later = shell("$G report --as cuda x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(count_of(live.err, "launch"), 7);
    CHECK(strstr(live.err, "TEST Device Report"));
    CHECK_STR(later.out, without_lines(live.err));
    CHECK_STR(later.err, "");
    later = shell("$G report x.gnomon");
    CHECK_TABLE(later.out, "FIT Profiler Report", "work", "launch");
    later = shell("$G info x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(times_in(later.out, "gnomon.cuda.0.event_ns"), 1);
    later = shell("$G cat x.gnomon");
    CHECK(times_in(later.out, "\"device\": {\"count\": ") > 0);
    later = shell("$G report --as cuda --limit 3 x.gnomon");
    CHECK_EQ(later.status, 0);
    CHECK_EQ(times_in(later.out, " Device Report\n\nAction  Calls "), 2);
    later = shell("$G report --as cuda --format csv --columns calls,host_calls "
                  "--stage fit --sort calls x.gnomon");
    CHECK_STR(later.out, "stage,name,calls,host_calls\n"
                         "fit,launch,7,7\nfit,work,2,2\n");
}

TEST(cplusplus)
{
    child_result r =
        child_run(CHILD_PROGRAM("streams_cpp"), DRIVER "GNOMON=cuda",
                  (const char *const[]){NULL});
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "1\n");
    CHECK_EQ(count_of(r.err, "template"), 3);
    CHECK_EQ(count_of(r.err, "outer"), 1);
    CHECK_EQ(times_in(r.err, "device times"), 0);
}

/* ---- Ends ------------------------------------------------------------------------- */

TEST(threads_and_timers)
{
    child_result r = streams(DRIVER "GNOMON=cuda", "thread=2", "timer",
                             "thread=3", "work=1", "misuse");
    CHECK_STR(r.out, "timer: 1\nmisuse 0\n");
    CHECK_EQ(count_of(r.err, "launch"), 6);
    CHECK_EQ(count_of(r.err, "work"), 3);
    r = streams(DRIVER, "timer", "misuse");
    CHECK_STR(r.out, "timer: 1\nmisuse 0\n");
    CHECK_STR(r.err, "");
}

#define SILENCE "gnomon: the device's driver does not answer: device times are"

TEST(signals)
{
    child_result r = streams(DRIVER "GNOMON=cuda", "work=2", "die");
    CHECK_EQ(r.status, 256 + SIGTERM);
    CHECK_EQ(count_of(r.err, "launch"), 2);
    /* The program continues to its end before the report has its times. */
    r = streams(DRIVER "GNOMON=cuda", "work=1", "slow=200000", "work=2", "die");
    CHECK_EQ(r.status, 256 + SIGTERM);
    CHECK_EQ(times_in(r.err, SILENCE), 0);
    CHECK_EQ(count_of(r.err, "launch"), 3);
    r = streams(DRIVER "GNOMON=cuda", "work=2", "leave");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
}

TEST(profilers_that_come_and_go)
{
    child_result r = streams(DRIVER, "work=1", "configure=cuda", "work=2",
                             "configure=simple", "work=3", "configure=cuda",
                             "work=4", "configure=", "work=5", "misuse");
    CHECK_STR(r.out, "misuse 0\n");
    const char *second = r.err ? strstr(r.err, "Profiler Report") : NULL;
    CHECK_EQ(count_of(r.err, "launch"), 2);
    CHECK_EQ(count_of(second, "launch"), 4);
    CHECK_EQ(times_in(r.err, "Device Report"), 2);
}

/* ---- Children --------------------------------------------------------------------- */

TEST(a_child_is_silent)
{
    child_result r =
        streams(DRIVER "GNOMON=cuda", "work=2", "fork=3", "work=1");
    CHECK_STR(r.out, "child 0\n");
    CHECK_EQ(times_in(r.err, "Device Report"), 1);
    CHECK_EQ(count_of(r.err, "launch"), 3);
}

TEST(a_child_that_follows)
{
    if (IS_TSAN)
        SKIP("the sanitizer takes a child's threads for its parent's");
    child_result r =
        streams(DRIVER "GNOMON=cuda,fork=follow", "work=2", "fork=3", "work=1");
    CHECK_STR(r.out, "child 0\n");
    CHECK_EQ(times_in(r.err, "Device Report"), 2);
    CHECK_EQ(count_of(r.err, "launch"), 3); /* the child is first */
    const char *line = r.err ? strstr(r.err, "forked from") : NULL;
    CHECK_EQ(times_in(r.err, "forked from"), 1);
    CHECK_EQ(count_of(line, "launch"), 3);
    CHECK_EQ(times_in(r.err, "device times"), 0);
}

/* The driver is the parent's: the child must not even query events. */
TEST(a_child_without_fork_handlers)
{
    child_result r = streams(DRIVER "GNOMON=cuda", "work=2", "clone", "work=1");
    CHECK_STR(r.out, "child 0\n");
    CHECK_EQ(times_in(r.err, "Device Report"), 1);
    CHECK_EQ(count_of(r.err, "launch"), 3);
    CHECK_EQ(times_in(r.err, "does not answer"), 0);
}

/* ---- Drivers of no use ------------------------------------------------------------ */

/* One line, and all else works. */
static void of_no_use(const char *library, const char *why)
{
    char environment[512], line[512];
    snprintf(environment, sizeof environment,
             "GNOMON_CUDA_LIBRARY=%s\nGNOMON=simple,cuda", library);
    snprintf(line, sizeof line, NO_DRIVER "times: %s%s", library, why);
    child_result r = streams(environment, "stage=fit", "work=3",
                             "configure=", "configure=cuda", "work=1", "timer");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, line), 1);
    CHECK_EQ(times_in(r.err, "no CUDA driver"), 1);
    const char *table = r.err ? strstr(r.err, "FIT Profiler") : NULL;
    CHECK_TABLE(table, "FIT Profiler Report", "work", "launch");
    CHECK_EQ(times_in(r.err, "no scope on a stream was timed\n"), 2);
    CHECK_EQ(times_in(r.out, "timer: no CUDA driver: "), 1);
    CHECK(strstr(r.out, why));
}

TEST(no_driver)
{
    of_no_use("/nonexistent", ""); /* the loader says why */
}

TEST(the_stub_library)
{
    of_no_use(FAKE("stub"), " is the stub that programs are linked with: take "
                            "its folder out of LD_LIBRARY_PATH\n");
}

TEST(an_old_driver)
{
    of_no_use(FAKE("old"),
              " is for CUDA 10.2: 11.4 is the oldest that can be used\n");
}

TEST(another_library)
{
    of_no_use(FAKE("partial"), " has no cuInit\n");
    of_no_use(FAKE("other"), " has no cuDriverGetVersion\n");
}

/* ---- Drivers that do not answer --------------------------------------------------- */

/* The process ends with its reports, whichever driver call hangs. */
static void hang(const char *call)
{
    char word[64];
    snprintf(word, sizeof word, "hang=%s", call);
    /* The stream exists after the first work; its work then never completes. */
    child_result r = streams(DRIVER "GNOMON=simple,cuda", "stage=fit", "work=1",
                             "never", "work=2", word, "sleep=50", "end");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, SILENCE), 1);
    const char *table = r.err ? strstr(r.err, "FIT Profiler") : NULL;
    CHECK_TABLE(table, "FIT Profiler Report", "work", "launch");
    CHECK_EQ(times_in(r.err, "Device Report"), 1);
}

TEST(a_driver_that_hangs)
{
    hang("cuCtxPushCurrent");
    hang("cuEventQuery");
}

TEST(a_driver_that_hangs_when_it_is_left)
{
    child_result r = streams(
        DRIVER "GNOMON=cuda", "work=2", "sleep=20", "hang=cuStreamDestroy",
        "configure=simple", "work=1", "configure=", "hang=", "alone",
        "configure=cuda", "work=3", "configure=", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "alone 1\nmisuse 0\n");
    CHECK_EQ(count_of(r.err, "launch"), 2);
    CHECK_EQ(times_in(r.err, SILENCE), 1);
    const char *last = r.err ? strstr(r.err, "Profiler Report") : NULL;
    last = last ? strstr(last, "Device Report") : NULL;
    CHECK_EQ(count_of(last, "launch"), 3); /* read by another thread */
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
}

/* A slow driver is no hanging one: its events are read, however long that
 * takes. */
TEST(a_slow_driver)
{
    child_result r =
        streams(DRIVER "GNOMON=cuda", "work=1", "slow=10000", "work=200");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, SILENCE), 0);
    CHECK_EQ(count_of(r.err, "launch"), 201);
}

/* The driver answers again: the waiting thread continues, whichever profiler
 * needs it then. */
TEST(a_driver_that_wakes)
{
    child_result r =
        streams(DRIVER "GNOMON=cuda", "work=2", "hang=cuEventQuery", "work=3",
                "sleep=50", "hang=", "work=1");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(count_of(r.err, "launch"), 6);
    CHECK_EQ(times_in(r.err, SILENCE), 0);
    r = streams(DRIVER "GNOMON=cuda", "work=2", "read=2", "hang=cuEventQuery",
                "work=1", "configure=", "configure=cuda", "work=1",
                "hang=", "work=2", "read=3", "configure=", "misuse");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "misuse 0\n");
    CHECK_EQ(times_in(r.err, SILENCE), 1);
    const char *first = r.err ? strstr(r.err, "Device Report") : NULL;
    CHECK_EQ(count_of(first, "launch"), 2); /* of 3 */
    CHECK_EQ(
        count_of(first ? strstr(first + 1, "Device Report") : NULL, "launch"),
        3);
    /* The reader's thread ends cleanly, and drops a query without an answer. */
    r = streams(DRIVER "GNOMON=cuda", "work=1", "stage=a", "hang=cuEventQuery",
                "work=1", "sleep=200", "end", "hang=", "configure=", "alone",
                "configure=cuda", "stage=b", "work=2", "end");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, SILENCE), 1);
    CHECK_EQ(
        count_of(r.err ? strstr(r.err, "B Device Report") : NULL, "launch"), 2);
}

/* ---- More rights than the user ---------------------------------------------------- */

#define NOBODY 65534

static void as_user(void)
{
    char *own_folder = getcwd(NULL, 0);
    static const char *const words[] = {"secure", "configure=cuda", "setup",
                                        "mapped=driver.so", NULL};
    if (setgid(NOBODY) || setuid(NOBODY))
        _exit(77);
    child_result r = child_run("./streams", DRIVER, words);
    free(own_folder);
    if (times_in(r.out, "secure 1\n") != 1)
        _exit(77);
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "driver.so is not mapped\n"), 1);
    _exit(test_failures != 0);
}

TEST(a_setuid_program_obeys_no_variable)
{
    int status = -1;
    if (geteuid() != 0)
        SKIP("only root can give rights away");
    if (IS_ASAN || IS_TSAN)
        SKIP("a sanitizer's runtime has an environment of its own");
    child_folder();
    if (system("cp " CHILD_PROGRAM("streams") " . && chmod 777 ."
                                              " && chmod 4755 streams"))
        SKIP("no copy of the program");
    pid_t child = fork();
    if (child == 0)
        as_user();
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("cannot become another user, or the file system gives no rights");
    CHECK_EQ(status, 0);
}

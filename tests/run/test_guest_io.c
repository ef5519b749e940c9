/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whatever prevents a report or recording, the host is not harmed: its exit
 * status, output, files and signals are unchanged, one line says what was
 * lost, and the report goes to stderr if possible.
 *
 * labels: guest
 * timeout: 300 */
#include <gnomon.h>

#include "test.h"

#include "child.h"
#include "sanitizer.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define NOBODY 65534
#define ONE "do=train_step"
#define REPORT "Profiler Report\n"

#define SANITIZED (IS_ASAN || IS_TSAN)

/* All names but "." and "..". */
static int entries(const char *path)
{
    DIR *folder = opendir(path);
    int n = -2;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return folder ? n : -1;
}

/* One line that begins so, and the report after it. */
static void check_report(child_result r, const char *why)
{
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "unharmed\n");
    int before = test_failures;
    CHECK_EQ(times_in(r.err, why), 1);
    CHECK_EQ(times_in(r.err, "gnomon: cannot"), 1);
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
    if (test_failures != before)
        fprintf(stderr, "    %s\n", r.err);
}

#define told_of(why, environment, ...) \
    check_report(host(environment, __VA_ARGS__, "say=unharmed", "exit=7"), why)

/* Runs it in a child, which may become another user: 0 passed, 1 failed, 77
 * skipped. */
static int in_child(void (*run)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        child_path[0] = 0; /* the parent removes it */
        run();
        fflush(NULL);
        _exit(test_failures ? 1 : test_skipped ? 77 : 0);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void check_in_child(void (*run)(void))
{
    int status = in_child(run);
    if (status == 77)
        SKIP("see above");
    CHECK_EQ(status, 0);
}

/* The program in the test's folder, where any user can run it. */
static int copy_of_host(const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 755 '%s'",
             CHILD_PROGRAM("host_static"), name, name);
    return system(command) == 0;
}

static child_result run_in_folder(const char *program, const char *environment,
                                  const char *const *words)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", child_path, program);
    return child_run(path, environment, words);
}

/* ---- Descriptors --------------------------------------------------------- */

/* Standard error is a pipe whose reader is gone. */
TEST(a_closed_pipe_ends_no_host)
{
    static const char *const specs[] = {"GNOMON=simple", "GNOMON=log",
                                        "GNOMON=simpel,help"};
    for (size_t i = 0; i < 3; i++) {
        int ends[2];
        CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
        close(ends[0]);
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
        fflush(NULL);
        child_folder();
        pid_t child = fork();
        if (child == 0) {
            putenv((char *)(size_t)specs[i]);
            dup2(open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
            dup2(ends[1], 2);
            execl(CHILD_PROGRAM("host"), "host", ONE, "step", "signals",
                  "say=unharmed", "exit=7", (char *)0);
            _exit(127);
        }
        CHECK_EQ(child_wait(child), 7);
        CHECK_STR(child_read(".out"), "pending 0 caught 0\nunharmed\n");
        close(ends[1]);
    }
}

/* The pipe has no reader, and the host made it non-blocking. */
TEST(a_full_pipe_that_may_not_block_hangs_nobody)
{
    int ends[2];
    char bytes[4096] = "";
    child_folder();
    CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        continue;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("GNOMON", "simple", 1);
        dup2(ends[1], 2);
        execl(CHILD_PROGRAM("host"), "host", ONE, "exit=7", (char *)0);
        _exit(127);
    }
    CHECK_EQ(child_wait(child), 7);
}

/* A pipe by name that nobody opens for reading. */
TEST(a_pipe_without_a_reader_hangs_nobody)
{
    child_folder();
    CHECK_EQ(mkfifo("fifo", 0600), 0);
    told_of("No such device", "GNOMON=simple,file=fifo", ONE);
}

/* The host's next open returns descriptor 2. */
TEST(a_hosts_file_at_2_stays_the_hosts)
{
    static const char *const specs[] = {
        "GNOMON=simple,simpel", "GNOMON=simple,file=/dev/stderr", "GNOMON=log",
        "GNOMON=simple,file=/proc/no/file", NULL};
    for (int late = 0; late < 2; late++)
        for (size_t i = 0; specs[i]; i++) {
            child_result r =
                late ? host(specs[i], ONE, "close=2", "open=data", ONE, "step",
                            "stage=fit", ONE, "end", "exit=7")
                     : host(specs[i], "close=2", "open=data", ONE, "step",
                            "stage=fit", ONE, "end", "exit=7");
            CHECK_EQ(r.status, 7);
            if (!CHECK_STR(child_read("data"), "precious"))
                fprintf(stderr, "    %s\n", specs[i]);
        }
}

/* Started without standard error: descriptor 2 is the host's own file from
 * the start. */
TEST(a_host_started_without_stderr)
{
    child_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("GNOMON", "simple,simpel", 1);
        close(2);
        execl(CHILD_PROGRAM("host"), "host", "open=data", ONE, "exit=7",
              (char *)0);
        _exit(127);
    }
    CHECK_EQ(child_wait(child), 7);
    CHECK_STR(child_read("data"), "precious");
}

/* As daemons do: both standard streams to a log. */
TEST(a_host_that_redirects_both_streams_has_the_report)
{
    child_result r = host("GNOMON=simple", ONE, "both=log", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(child_read("log"), REPORT), 1);
}

TEST(no_descriptors_left)
{
    if (SANITIZED)
        SKIP("a sanitizer's leak check opens files at exit");
    child_folder();
    told_of("Too many open files: raise the limit of open files (ulimit -n)",
            "GNOMON=simple,file=r.txt", ONE, "fds=3");
    told_of("Too many open files", "GNOMON=simple(dir=logs)", "fds=3",
            "stage=fit", ONE, "end");
    child_result r = host("GNOMON=@spec,/no/plugin.so,simple", "fds=3", ONE,
                          "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_EQ(times_in(r.err, REPORT), 1);
    CHECK_EQ(access("logs", F_OK), -1);
    CHECK_EQ(access("r.txt", F_OK), -1);
}

/* ---- Limits -------------------------------------------------------------- */

TEST(the_file_size_limit)
{
    child_folder();
    static char err[20000];
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    int pipe = open("pipe", O_RDWR | O_NONBLOCK);
    pid_t child = child_start(
        CHILD_PROGRAM("host"), "GNOMON=simple,file=a/b/r.txt",
        (const char *const[]){"fsize=100", ONE, "say=unharmed", "exit=7", NULL},
        ".out", "pipe");
    child_result r = {child_wait(child), child_read(".out"), err};
    CHECK(read(pipe, err, sizeof err - 1) > 0);
    check_report(r,
                 "File too large: raise the limit of file sizes (ulimit -f)");
    CHECK_EQ(access("a", F_OK), -1); /* nothing is left behind */
    r = host("GNOMON=simple", "fsize=100", ONE, "exit=7");
    CHECK_EQ(r.status, 7); /* stderr is a file too */
    CHECK_EQ(strlen(r.err), 100);
}

/* The limit counts the threads of a user; it does not bind root. */
static void no_threads(void)
{
    struct rlimit none = {1, 1};
    if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
        SKIP("cannot become another user");
    if (access("host", X_OK))
        SKIP("another user may not run the program");
    if (setrlimit(RLIMIT_NPROC, &none))
        SKIP("cannot set RLIMIT_NPROC");
    /* exec, as a fork is refused too */
    dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    setenv("GNOMON",
           "simple(schedule=wait:1/active:1),log(schedule=wait:2/active:9)", 1);
    execl("host", "host", ONE, "step", ONE, "step", ONE, "step", "say=unharmed",
          "exit=7", (char *)0);
    _exit(127);
}

TEST(no_thread_may_start)
{
    if (SANITIZED)
        SKIP("a sanitizer's leak check starts a thread at exit");
    child_folder();
    if (!copy_of_host("host") || chmod(".", 0777))
        SKIP("no copy of the program");
    int status = in_child(no_threads);
    if (status == 77)
        SKIP("see above");
    CHECK_EQ(status, 7);
    CHECK_STR(child_read("out"), "unharmed\n");
    const char *err = child_read("err");
    CHECK_EQ(times_in(err, REPORT), 1);
    CHECK_EQ(times_in(err, "|  train_step"), 1);
    if (!CHECK_EQ(times_in(err, "gnomon: no thread for schedules (Resource "),
                  1))
        fprintf(stderr, "    %s\n", err ? err : "");
}

/* The host uses three quarters of the rest. */
TEST(little_address_space)
{
    if (SANITIZED)
        SKIP("a sanitizer maps terabytes");
    child_result r = host("GNOMON=simple", "room=65536", ONE, "take=40960",
                          "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "unharmed\n");
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
    r = host("GNOMON=simple", "room=2048", ONE, "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "unharmed\n");
    if (!CHECK_EQ(times_in(r.err, "no address space to record in"), 1))
        fprintf(stderr, "    %s\n", r.err);
    /* The spec names no memory that there is not: it can be configured again. */
    r = host("GNOMON=profile,file=x.gnomon", "room=2048", ONE, "spec");
    CHECK_EQ(times_in(r.out, "mem="), 0);
    r = host("GNOMON=profile,file=x.gnomon", "room=2048", ONE, "respec");
    CHECK_EQ(times_in(r.out, "EINVAL"), 0);
}

/* ---- Directories --------------------------------------------------------- */

/* Not root, to whom permissions mean nothing. */
static void as_nobody(void)
{
    child_result r;
    static const char *const words[] = {ONE, "say=unharmed", "exit=7", NULL};
    if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
        SKIP("cannot become another user");
    strcpy(child_path, "."); /* it is the working one */
    if (access("host", X_OK))
        SKIP("another user may not run the program");
    r = run_in_folder("host", "GNOMON=simple,file=readonly/r.txt", words);
    check_report(r, "Permission denied");
    r = run_in_folder("host", "GNOMON=simple,file=readonly/a/b.txt", words);
    check_report(r, "Permission denied");
    /* A folder of another user, writable for all: only our file is touched. */
    r = run_in_folder("host", "GNOMON=simple,file=open/r.txt", words);
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(child_read("open/r.txt"), REPORT), 1);
    CHECK_EQ(entries("open"), 1);
    /* A link of another user, in a folder writable for all. */
    r = run_in_folder("host", "GNOMON=simple,file=sticky/link/r.txt", words);
    check_report(r, "Permission denied");
    strcpy(child_path, "");
}

TEST(directories_of_other_users)
{
    struct stat info;
    child_folder();
    if (geteuid() != 0)
        SKIP("only root can make another user's files");
    if (!copy_of_host("host"))
        SKIP("no copy of the program");
    CHECK_EQ(chmod(".", 0777), 0);
    CHECK_EQ(mkdir("readonly", 0755), 0);
    CHECK_EQ(mkdir("open", 0777) | chmod("open", 0777), 0);
    CHECK_EQ(mkdir("sticky", 0777) | chmod("sticky", 01777), 0);
    CHECK_EQ(lchown("sticky", 12345, 12345), 0);
    CHECK_EQ(symlink("../open", "sticky/link"), 0);
    CHECK_EQ(lchown("sticky/link", 12346, 12346), 0);
    check_in_child(as_nobody);
    CHECK_EQ(entries("open"), 1);
    CHECK_EQ(lstat("open/r.txt", &info), 0);
    CHECK_EQ(info.st_mode & 07777, 0600);
    CHECK_EQ(info.st_uid, NOBODY);
}

TEST(a_directory_that_is_a_link_is_followed)
{
    struct stat info;
    child_folder();
    CHECK_EQ(mkdir("real", 0755), 0);
    CHECK_EQ(symlink("real", "logs"), 0);
    child_result r = host("GNOMON=simple(dir=logs)", ONE, "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(child_read("real/simple.txt"), REPORT), 1);
    CHECK_EQ(lstat("logs", &info), 0);
    CHECK(S_ISLNK(info.st_mode));
    CHECK_EQ(entries("real"), 1);
}

TEST(a_directory_removed_in_mid_run)
{
    child_folder();
    child_result r =
        host("GNOMON=simple(dir=logs)", "stage=one", ONE, "end", "rm=logs",
             "stage=two", ONE, "end", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(child_read("logs/two-simple.txt"), REPORT), 1);
    /* The working directory itself: a relative name leads nowhere. */
    CHECK_EQ(mkdir("here", 0755), 0);
    told_of("No such file", "GNOMON=simple(dir=logs)", "chdir=here", "rm=.",
            ONE);
}

TEST(a_full_disk_leaves_the_old_report)
{
    child_folder();
    CHECK_EQ(mkdir("disk", 0777), 0);
    if (mount("none", "disk", "tmpfs", 0, "size=8k,nr_inodes=4"))
        SKIP("may not mount a small file system");
    child_result r =
        host("GNOMON=simple(file=disk/r.txt)", "stage=one", ONE, "end",
             "stage=two", "many=x", "end", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_EQ(times_in(r.err, "No space left on device"), 1);
    CHECK_EQ(times_in(r.err, "TWO Profiler Report"), 1);
    CHECK_EQ(times_in(child_read("disk/r.txt"), "ONE Profiler Report"), 1);
    CHECK_EQ(entries("disk"), 1);
    CHECK_EQ(umount("disk"), 0);
}

/* ---- Two processes ------------------------------------------------------- */

/* Two processes without ranks. */
TEST(two_processes_keep_both_reports)
{
    int n = 0, reports = 0;
    pid_t both[4];
    child_folder();
    CHECK_EQ(mkdir("out", 0755), 0);
    for (int i = 0; i < 4; i++) {
        char err[16];
        snprintf(err, sizeof err, "err%d", i);
        both[i] = child_start(
            CHILD_PROGRAM("host"), "GNOMON=simple,file=out/r.txt",
            (const char *const[]){"stage=a", ONE, "sleep=300", "end", "stage=b",
                                  ONE, "sleep=100", "end", "exit=7", NULL},
            ".out", err);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(child_wait(both[i]), 7);
    DIR *folder = opendir("out");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        char path[300];
        snprintf(path, sizeof path, "out/%s", entry->d_name);
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            n++;
            reports += times_in(child_read(path), REPORT);
        }
    }
    closedir(folder);
    CHECK_EQ(n, 4);
    CHECK_EQ(reports, 8);
    CHECK_EQ(times_in(child_read("err0"), "another process wrote out/r.txt") +
                 times_in(child_read("err1"), "another process wrote") +
                 times_in(child_read("err2"), "another process wrote") +
                 times_in(child_read("err3"), "another process wrote"),
             3);
}

/* Forked before the first mark, so it has a run of its own, which starts when its parent
 * has written. */
TEST(a_child_that_starts_later_keeps_its_parents_report)
{
    int ends[2], status = -1;
    char byte = 0;
    child_folder();
    CHECK_EQ(mkdir("out", 0755), 0);
    CHECK_EQ(pipe(ends), 0);
    fflush(NULL);
    pid_t parent = fork();
    if (parent == 0) {
        child_path[0] = 0; /* the test removes it */
        setenv("GNOMON", "simple,file=out/r.txt", 1);
        pid_t child = fork();
        if (child == 0)
            CHECK_EQ(read(ends[0], &byte, 1), 1);
        gnomon_stage_begin(child ? "parent" : "child");
        {
            GNOMON_SCOPE("mark");
        }
        gnomon_stage_end();
        if (child) {
            CHECK_EQ(write(ends[1], &byte, 1), 1);
            waitpid(child, &status, 0);
        }
        exit(0);
    }
    CHECK_EQ(child_wait(parent), 0);
    CHECK_EQ(entries("out"), 2);
    CHECK_EQ(times_in(child_read("out/r.txt"), "PARENT " REPORT), 1);
}

/* ---- More rights than the user ------------------------------------------- */

static void as_user_of_setuid(void)
{
    static const char *const words[] = {
        "default=/no/plugin.so", "setup", ONE, "secure", "exit=7", NULL};
    if (setgid(NOBODY) || setuid(NOBODY))
        SKIP("cannot become another user");
    strcpy(child_path, ".");
    child_result r = run_in_folder(
        "host", "GNOMON=simple,file=r.txt\nMIMALLOC_VERBOSE=1", words);
    strcpy(child_path, "");
    if (times_in(r.out, "secure 1\n") != 1)
        SKIP("the file system gives no rights (nosuid)");
    CHECK_EQ(r.status, 7);
    CHECK_EQ(times_in(r.err, "gnomon: setup: plugin /no/plugin.so is not "
                             "loaded: this program runs with more rights"),
             1);
    CHECK_EQ(times_in(r.err, "\n"), 1);
    CHECK_EQ(times_in(r.err, REPORT), 0);
    CHECK_EQ(access("r.txt", F_OK), -1);
}

static void secure(int is_setuid)
{
    child_folder();
    if (geteuid() != 0)
        SKIP("only root can give rights away");
    if (SANITIZED)
        SKIP("a sanitizer's runtime has an environment of its own");
    if (!copy_of_host("host") || chmod(".", 0777))
        SKIP("no copy of the program");
    if (is_setuid)
        CHECK_EQ(chmod("host", 04755), 0);
    else if (system("setcap cap_net_bind_service+ep host 2> /dev/null"))
        SKIP("no setcap here, or no file capabilities");
    check_in_child(as_user_of_setuid);
}

TEST(a_setuid_program_obeys_no_environment)
{
    secure(1);
}

TEST(a_program_with_file_capabilities_obeys_no_environment)
{
    secure(0);
}

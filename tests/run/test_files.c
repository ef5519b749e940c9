/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files are written completely or not at all, whatever fails, and no signal
 * that gnomon causes reaches the host.
 *
 * links: testing */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "publish.h"
#include "test.h"

/* A new directory, which is then the working directory. */
static void in_new_directory(void)
{
    char path[] = "/tmp/gnomon-files-XXXXXX";
    if (mkdtemp(path) == NULL || chdir(path) != 0)
        exit(99);
}

static int publish(const char *path, const char *text)
{
    return publish_bytes(path, text, strlen(text));
}

/* Whether the file holds just this. */
static int holds(const char *path, const char *text)
{
    char *got;
    int same, error = gnomon__os_read_file(path, 1 << 20, &got);
    if (!CHECK_EQ(error, 0))
        return 0;
    same = CHECK_STR(got, text);
    gnomon__free(got);
    return same;
}

static int entries(const char *path)
{
    DIR *directory = opendir(path);
    int n = -2; /* . and .. */
    while (directory != NULL && readdir(directory) != NULL)
        n++;
    if (directory != NULL)
        closedir(directory);
    return n;
}

static void clean(void)
{
    char folder[PATH_MAX], command[PATH_MAX + 20];
    if (getcwd(folder, sizeof folder) == NULL || chdir("/") != 0)
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_EQ(system(command), 0);
}

/* ---- Publishing ---------------------------------------------------------- */

TEST(publish_makes_and_replaces)
{
    struct stat info;
    in_new_directory();
    umask(022);
    CHECK_EQ(publish("a/b//c/report.txt", "one"), 0);
    holds("a/b/c/report.txt", "one");
    CHECK_EQ(stat("a/b/c/report.txt", &info), 0);
    CHECK_EQ(info.st_mode & 0777, 0600);
    CHECK_EQ(stat("a/b", &info), 0);
    CHECK_EQ(info.st_mode & 0777, 0755);
    CHECK_EQ(publish("a/b/c/report.txt", ""), 0);
    holds("a/b/c/report.txt", "");
    CHECK_EQ(publish("plain", "x"), 0);
    CHECK_EQ(publish("./plain", "y"), 0);
    holds("plain", "y");
    CHECK_EQ(entries("a/b/c"), 1);
    CHECK_EQ(entries("."), 2);
    clean();
}

TEST(publish_says_why_not_and_leaves_nothing)
{
    in_new_directory();
    CHECK_EQ(publish("file", "old"), 0);
    CHECK_EQ(publish("", "x"), ENOENT);
    CHECK_EQ(publish("file/below", "x"), ENOTDIR);
    CHECK_EQ(publish("folder/", "x"), EISDIR);
    CHECK_EQ(mkdir("taken", 0777), 0);
    CHECK_EQ(publish("taken", "x"), EISDIR);
    gnomon__test_fail_allocation(1);
    CHECK_EQ(publish("file", "x"), ENOMEM);
    holds("file", "old");
    CHECK_EQ(entries("."), 2);
    CHECK_EQ(entries("taken"), 0);
    clean();
}

/* A path whose first folder does not exist is taken for mistyped. */
TEST(publish_makes_no_folder_in_the_root)
{
    char path[PATH_MAX + 32], folder[PATH_MAX];
    CHECK_EQ(publish("/gnomon-no-such/run/x.gnomon", "x"), GNOMON__OS_IN_ROOT);
    CHECK_EQ(publish("//gnomon-no-such/x", "x"), GNOMON__OS_IN_ROOT);
    CHECK(gnomon__os_is_missing("/gnomon-no-such"));
    CHECK(!gnomon__os_is_missing("/"));
    CHECK(
        strstr(gnomon__os_error_text(GNOMON__OS_IN_ROOT), "none is made in /"));
    in_new_directory(); /* below one that is there, as many as are needed */
    if (!CHECK(getcwd(folder, sizeof folder) != NULL))
        return;
    snprintf(path, sizeof path, "%s/b/c/x.gnomon", folder);
    CHECK_EQ(publish(path, "x"), 0);
    holds("b/c/x.gnomon", "x");
    clean();
}

TEST(publish_without_permission)
{
    int error;
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        SKIP("cannot give up root's rights");
    error = publish("/usr/gnomon/a/b", "x"); /* not that a is not there */
    CHECK(error == EACCES || error == EROFS);
    error = publish("/usr/gnomon-report", "x");
    CHECK(error == EACCES || error == EROFS);
}

TEST(publish_near_the_longest_name)
{
    char name[NAME_MAX + 2];
    in_new_directory();
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = 0;
    CHECK_EQ(publish(name, "long"), 0);
    holds(name, "long");
    name[NAME_MAX] = 'n';
    name[NAME_MAX + 1] = 0;
    CHECK_EQ(publish(name, "x"), ENAMETOOLONG);
    CHECK_EQ(entries("."), 1);
    clean();
}

TEST(publish_replaces_a_link_and_spares_its_target)
{
    struct stat info;
    in_new_directory();
    CHECK_EQ(publish("precious", "keep"), 0);
    CHECK_EQ(symlink("precious", "report"), 0);
    CHECK_EQ(publish("report", "new"), 0);
    holds("precious", "keep");
    holds("report", "new");
    CHECK_EQ(lstat("report", &info), 0);
    CHECK(S_ISREG(info.st_mode));
    CHECK_EQ(symlink("nowhere", "dangling"), 0);
    CHECK_EQ(publish("dangling", "new"), 0);
    holds("dangling", "new");
    clean();
}

TEST(publish_writes_to_devices_and_pipes)
{
    struct stat info;
    char got[8] = "";
    int fd;
    in_new_directory();
    CHECK_EQ(publish("/dev/null", "x"), 0);
    CHECK_EQ(stat("/dev/null", &info), 0);
    CHECK(S_ISCHR(info.st_mode));
    CHECK_EQ(publish("/dev/full", "x"), ENOSPC);
    CHECK_EQ(symlink("/dev/null", "link"), 0);
    CHECK_EQ(publish("link", "x"), 0);
    CHECK_EQ(stat("/dev/null", &info), 0);
    CHECK(S_ISCHR(info.st_mode));
    CHECK_EQ(mkfifo("fifo", 0600), 0);
    fd = open("fifo", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(publish("fifo", "hello"), 0);
    CHECK_EQ(read(fd, got, 7), 5);
    CHECK_STR(got, "hello");
    close(fd);
    /* Standard output is a file: it is appended to, and not replaced. */
    fd = dup(1);
    CHECK(freopen("out", "w", stdout) != NULL);
    CHECK_EQ(publish("/dev/stdout", "one "), 0);
    CHECK_EQ(publish("/dev/stdout", "two"), 0);
    dup2(fd, 1);
    holds("out", "one two");
    CHECK_EQ(lstat("/dev/stdout", &info), 0);
    CHECK(S_ISLNK(info.st_mode));
    clean();
}

/* A temporary file that an earlier process of this pid left is not written
 * to. */
TEST(publish_passes_over_names_in_use)
{
    char name[64];
    in_new_directory();
    snprintf(name, sizeof name, ".r.%ld.0.tmp", (long)getpid());
    CHECK_EQ(symlink("victim", name), 0);
    CHECK_EQ(publish("r", "x"), 0);
    holds("r", "x");
    CHECK_EQ(access("victim", F_OK), -1);
    CHECK_EQ(entries("."), 2);
    clean();
}

static uint32_t readers_stop;

static void *read_on(void *unused)
{
    (void)unused;
    while (!load_relaxed(&readers_stop)) {
        char *text;
        size_t n, i;
        if (!CHECK_EQ(gnomon__os_read_file("r", 1 << 20, &text), 0))
            return NULL;
        n = strlen(text);
        for (i = 1; i < n; i++)
            if (text[i] != text[0])
                n = 0;
        CHECK(n == 100000 || n == 50);
        gnomon__free(text);
    }
    return NULL;
}

TEST(readers_see_the_old_or_the_new_file)
{
    static char large[100000];
    pthread_t reader;
    int i;
    in_new_directory();
    memset(large, 'a', sizeof large);
    CHECK_EQ(publish_bytes("r", large, sizeof large), 0);
    pthread_create(&reader, NULL, read_on, NULL);
    for (i = 1; i < 400; i++) {
        memset(large, 'a' + i % 26, sizeof large);
        CHECK_EQ(publish_bytes("r", large, i & 1 ? 50 : sizeof large), 0);
    }
    store_relaxed(&readers_stop, 1);
    pthread_join(reader, NULL);
    CHECK_EQ(entries("."), 1);
    clean();
}

/* ---- Signals ------------------------------------------------------------- */

static volatile sig_atomic_t signals_taken;

static void count_signal(int number)
{
    (void)number;
    signals_taken++;
}

TEST(a_closed_pipe_kills_nobody)
{
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    close(ends[0]);
    CHECK_EQ(gnomon__os_write(ends[1], "x", 1), EPIPE); /* default: death */
    signal(SIGPIPE, count_signal);
    CHECK_EQ(gnomon__os_write(ends[1], "x", 1), EPIPE);
    CHECK_EQ(signals_taken, 0);
    CHECK_EQ(write(ends[1], "x", 1), -1); /* the host's own still comes */
    CHECK_EQ(signals_taken, 1);
}

TEST(a_signal_that_was_pending_stays)
{
    int ends[2];
    sigset_t set;
    CHECK_EQ(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, count_signal);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    CHECK_EQ(gnomon__os_write(ends[1], "x", 1), EPIPE);
    CHECK_EQ(signals_taken, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    CHECK_EQ(signals_taken, 1);
}

TEST(the_file_size_limit_kills_nobody)
{
    struct rlimit limit = {1000, 1000};
    static char bytes[5000];
    in_new_directory();
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(publish_bytes("big", bytes, sizeof bytes), EFBIG);
    CHECK_EQ(publish_bytes("small", bytes, 1000), 0);
    CHECK_EQ(entries("."), 1);
    clean();
}

static void *drain_slowly(void *fd)
{
    static char got[70000];
    size_t sum = 0;
    ssize_t n;
    while ((n = read(*(int *)fd, got, sizeof got)) > 0) {
        sum += (size_t)n;
        gnomon__os_sleep_ns(1000000);
    }
    CHECK_EQ(sum, 1000000);
    return NULL;
}

/* A pipe that does not block, and a signal every millisecond. */
TEST(writes_all_of_it_through_interruptions)
{
    static char bytes[1000000];
    struct sigaction action;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    pthread_t reader;
    sigset_t set;
    int ends[2];
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    CHECK_EQ(pipe(ends), 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&reader, NULL, drain_slowly, &ends[0]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    CHECK_EQ(gnomon__os_write(ends[1], bytes, sizeof bytes / 2), 0);
    CHECK_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    CHECK_EQ(gnomon__os_write(ends[1], bytes, sizeof bytes / 2), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    close(ends[1]);
    pthread_join(reader, NULL);
}

TEST(a_bad_descriptor_is_an_error)
{
    CHECK_EQ(gnomon__os_write(-1, "x", 1), EBADF);
    CHECK_EQ(gnomon__os_write(-1, "", 0), 0);
}

/* ---- Reading ------------------------------------------------------------- */

TEST(reads_files_up_to_a_limit)
{
    static char bytes[20000];
    char *text;
    int ends[2];
    char path[32];
    in_new_directory();
    memset(bytes, 'q', sizeof bytes);
    CHECK_EQ(publish_bytes("f", bytes, sizeof bytes), 0);
    CHECK_EQ(gnomon__os_read_file("f", 20000, &text), 0);
    CHECK_EQ(strlen(text), 20000);
    gnomon__free(text);
    CHECK_EQ(gnomon__os_read_file("f", 19999, &text), EFBIG);
    CHECK(text == NULL);
    CHECK_EQ(gnomon__os_read_file("nothing", 10, &text), ENOENT);
    CHECK_EQ(gnomon__os_read_file(".", 10, &text), EISDIR);
    CHECK(text == NULL);
    CHECK_EQ(pipe(ends), 0); /* waits for its writer */
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK_EQ(gnomon__os_read_file(path, 10, &text), ESPIPE);
    CHECK(text == NULL);
    CHECK_EQ(gnomon__heap_bytes(), 0);
    gnomon__test_fail_allocation(2);
    CHECK_EQ(gnomon__os_read_file("f", 20000, &text), ENOMEM);
    CHECK(text == NULL);
    CHECK_EQ(gnomon__heap_bytes(), 0);
    clean();
}

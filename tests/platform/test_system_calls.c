/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Systems that lack a call, interrupt one, or have unusual files: gnomon
 * still works. Failures of any call are tested in test_faults.c.
 *
 * links: testing
 * labels: guest */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "child.h"
#include "mark/observer.h"
#include "marks.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "os_calls.h"
#include "probe_profile.h"
#include "publish.h"
#include "sanitizer.h"

/* ---- No membarrier ------------------------------------------------------- */

static int starts, stops;

static void count_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    starts++;
}

static void count_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    stops++;
}

static const gnomon_profiler counts = {.struct_size = sizeof counts,
                                       .abi = GNOMON_ABI,
                                       .name = "counts",
                                       .start = count_start,
                                       .stop = count_stop};

static void scopes(int n)
{
    for (int i = 0; i < n; i++) {
        GNOMON_SCOPE("scope");
        gnomon_start("action");
        gnomon_stop("action");
    }
}

/* Then each callback has a fence of its own. */
TEST(hooks_without_membarrier)
{
    gnomon__test_fail_calls("syscall", 1, UINT64_MAX, 0);
    CHECK_EQ(gnomon_attach(&counts, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon__needs_fence, 1);
    scopes(10);
    attach_probe(); /* with a tree */
    scopes(10);
    CHECK_EQ(starts, 40);
    CHECK_EQ(stops, 40);
    CHECK_EQ(gnomon_detach(&counts, NULL), GNOMON_OK);
    scopes(10);
    CHECK_EQ(starts, 40);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "scope"), 20);
    gnomon_profile_free(p);
}

static uint32_t is_gone, late;

static void count_late(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    if (load_relaxed(&is_gone))
        add_relaxed(&late, 1);
}

static const gnomon_profiler leaves = {.struct_size = sizeof leaves,
                                       .abi = GNOMON_ABI,
                                       .name = "leaves",
                                       .start = count_late,
                                       .stop = count_late};

static void *mark_till_over(void *over)
{
    while (!load_relaxed((const uint32_t *)over))
        scopes(10);
    return NULL;
}

/* A sandbox may forbid the call after the profiler was attached: detach
 * still works, and no callback runs after it. */
TEST(a_membarrier_that_is_forbidden_later)
{
    pthread_t threads[2];
    uint32_t over = 0;
    CHECK_EQ(gnomon_attach(&leaves, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, mark_till_over, &over), 0);
    for (int i = 0; i < (IS_SLOW ? 20 : 200); i++) {
        gnomon__test_fail_calls("syscall", 1, UINT64_MAX, EPERM);
        CHECK_EQ(gnomon_detach(&leaves, NULL), GNOMON_OK);
        gnomon__test_fail_calls(NULL, 0, 0, 0);
        store_relaxed(&is_gone, 1);
        usleep(100);
        store_relaxed(&is_gone, 0);
        CHECK_EQ(gnomon__needs_fence, 1);
        CHECK_EQ(gnomon_attach(&leaves, NULL, NULL), GNOMON_OK);
    }
    store_relaxed(&over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(late, 0);
}

TEST(a_membarrier_that_cannot_register_is_the_slow_one)
{
    if (!gnomon__os_barrier_prepare())
        SKIP("the system has no membarrier");
    gnomon__test_fail_calls("syscall", 2, 1, EPERM); /* the second registers */
    CHECK_EQ(gnomon__os_barrier_prepare(), 1);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_EQ(gnomon__os_barrier(), 1);
}

/* ---- Locked pages -------------------------------------------------------- */

/* A host whose pages cannot be queried or unlocked gets them mapped all the
 * same. */
TEST(pages_of_a_host_that_locks_its_own)
{
    static const struct {
        const char *call;
        int maps;
    } cases[] = {{"mincore", 1}, {"munlock", 1}, {"mprotect", 0}, {NULL, 1}};
    size_t size = 1u << 20;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || !gnomon__os_locks_pages())
        SKIP("mlockall is refused, or a sanitizer's");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gnomon__test_fail_calls(cases[i].call, cases[i].call ? 1 : 0, 1, 0);
        char *pages = gnomon__os_map(size);
        gnomon__test_fail_calls(NULL, 0, 0, 0);
        CHECK_EQ(pages != NULL, cases[i].maps);
        if (pages)
            pages[size - 1] = 1;
        gnomon__os_unmap(pages, size);
    }
    CHECK_EQ(munlockall(), 0);
    CHECK_EQ(gnomon__os_locks_pages(), 0);
    gnomon__test_fail_calls("mmap", 1, 1, EAGAIN);
    CHECK_EQ(gnomon__os_locks_pages(), 1); /* no more may be locked */
    gnomon__test_fail_calls(NULL, 0, 0, 0);
}

/* ---- Interruptions ------------------------------------------------------- */

static int alarms;

static void count_alarm(int unused)
{
    (void)unused;
    alarms++;
}

TEST(a_sleep_goes_on_after_signals)
{
    struct sigaction action = {.sa_handler = count_alarm};
    struct itimerval each = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    uint64_t before = gnomon__os_monotonic_ns();
    setitimer(ITIMER_REAL, &each, NULL);
    gnomon__os_sleep_ns(50000000);
    setitimer(ITIMER_REAL, &none, NULL);
    CHECK(gnomon__os_monotonic_ns() - before >= 50000000);
    CHECK(alarms > 0);
}

/* Each ends a wait for a reader; the wait has its limit all the same. */
TEST(signals_make_no_wait_longer)
{
    static char bytes[200000];
    struct sigaction action = {.sa_handler = count_alarm};
    struct itimerval often = {{0, 300000}, {0, 300000}},
                     none = {{0, 0}, {0, 0}};
    int ends[2];
    CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    CHECK_EQ(gnomon__os_write(ends[1], bytes, sizeof bytes), ETIMEDOUT);
    setitimer(ITIMER_REAL, &none, NULL);
    CHECK(alarms > 0);
}

TEST(taking_a_pipe_s_signal_is_tried_again)
{
    int ends[2];
    sigset_t pending;
    CHECK_EQ(pipe(ends), 0);
    close(ends[0]);
    gnomon__test_fail_calls("sigtimedwait", 1, 3, EINTR);
    CHECK_EQ(gnomon__os_write(ends[1], "x", 1), EPIPE);
    CHECK_EQ(gnomon__test_calls(), 4);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    sigpending(&pending);
    CHECK_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(a_read_goes_on_after_signals)
{
    char text[4] = "";
    uint64_t size;
    int fd;
    child_folder();
    CHECK_EQ(publish_bytes("f", "report", 6), 0);
    CHECK_EQ(gnomon__os_open("f", &fd, &size), 0);
    gnomon__test_fail_calls("pread", 1, 3, EINTR);
    CHECK_EQ(gnomon__os_read_at(fd, 2, text, 3), 0);
    CHECK_EQ(gnomon__test_calls(), 4);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_STR(text, "por");
    gnomon__os_close(fd);
}

/* ---- The bell ------------------------------------------------------------ */

static void *ring_soon(void *unused)
{
    gnomon__os_sleep_ns(20000000);
    gnomon__os_bell_ring();
    return unused;
}

/* Also where the kernel's wait or wake fails; only the monotonic clock is
 * read. */
TEST(a_wait_ends_by_a_wake_or_its_time)
{
    static const char *const calls[] = {NULL, "syscall"};
    for (size_t i = 0; i < 2; i++) {
        pthread_t ringer;
        uint64_t second = 1000000000;
        gnomon__os_bell_make();
        gnomon__test_fail_calls(calls[i], calls[i] ? 1 : 0, UINT64_MAX, 0);
        CHECK_EQ(gnomon__os_bell_wait(0), 0);
        CHECK_EQ(gnomon__os_bell_wait(1000000), 0);
        errno = 77;
        gnomon__os_bell_ring();
        CHECK_EQ(errno, 77);
        gnomon__os_bell_ring();
        CHECK_EQ(gnomon__os_bell_wait(second), 1);
        CHECK_EQ(gnomon__os_bell_wait(1000000), 0); /* both at once */
        CHECK_EQ(pthread_create(&ringer, NULL, ring_soon, NULL), 0);
        CHECK_EQ(gnomon__os_bell_wait(600 * second), 1);
        pthread_join(ringer, NULL);
        gnomon__test_fail_calls(NULL, 0, 0, 0);
    }
}

/* A process whose state cannot be read is not taken for ended while its main thread is
 * seen; where that is not seen either, nobody knows. */
TEST(a_process_of_unknown_state_still_counts)
{
    static const char *const calls[] = {"open", "read"};
#if IS_EMULATED
    SKIP("the emulator has no process_vm_readv");
#endif
    for (int i = 0; i < 2; i++) {
        gnomon__test_fail_calls(calls[i], 1, 1, 0);
        CHECK_EQ(gnomon__os_is_deserted(), 0);
        CHECK_EQ(gnomon__test_calls(), 1);
    }
    gnomon__test_fail_calls(NULL, 1, UINT64_MAX, 0);
    CHECK_EQ(gnomon__os_is_deserted(), -1);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_EQ(gnomon__os_is_deserted(), 0);
}

/* ---- Limits of memory ---------------------------------------------------- */

/* Only its soft half, which may be raised again. */
static void limit_address_space(rlim_t bytes)
{
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST(an_arena_takes_a_quarter_of_the_room)
{
    gnomon__arena arena, none;
#if IS_ASAN || IS_TSAN
    SKIP("a sanitizer has terabytes mapped");
#endif
    limit_address_space((rlim_t)1 << 40);
    uint64_t room = gnomon__os_mappable_bytes();
    rlim_t used = ((rlim_t)1 << 40) - room;
    limit_address_space(used + (64u << 20));
    int code = gnomon__arena_map(&arena, 1u << 30);
    limit_address_space(used + (2u << 20)); /* too little for both */
    int refusal = gnomon__arena_map(&none, 1u << 30);
    limit_address_space(RLIM_INFINITY);
    CHECK_EQ(refusal, GNOMON_ENOMEM);
    CHECK_EQ(code, GNOMON_OK);
    CHECK(arena.size <= 16u << 20 && arena.size > 15u << 20);
}

static void run_nothing(void *unused)
{
    (void)unused;
}

/* A usual stack is half of it, and the host's next library or thread may need that. */
TEST(a_thread_of_ours_leaves_a_host_its_little_address_space)
{
    gnomon__os_thread thread;
#if IS_ASAN || IS_TSAN
    SKIP("a sanitizer has terabytes mapped");
#elif IS_EMULATED
    SKIP("the emulator's own memory counts");
#endif
    limit_address_space((rlim_t)1 << 40);
    uint64_t before = gnomon__os_mappable_bytes(), room = 16u << 20;
    limit_address_space(((rlim_t)1 << 40) - before + room);
    CHECK_EQ(gnomon__os_thread_start(&thread, "nothing", run_nothing, NULL), 0);
    CHECK(gnomon__os_mappable_bytes() + (2u << 20) > room);
    gnomon__os_thread_join(&thread);
}

/* Where the used memory is unknown, most of the limit is assumed used. */
TEST(room_that_is_not_to_be_known_is_a_quarter_of_the_limit)
{
    limit_address_space((rlim_t)1 << 50);
    gnomon__test_fail_calls("read", 1, 1, EIO);
    uint64_t room = gnomon__os_mappable_bytes();
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_EQ(room, 1ull << 48);
    limit_address_space(RLIM_INFINITY);
}

/* ---- Files --------------------------------------------------------------- */

static int publish(const char *path, const char *text)
{
    return publish_bytes(path, text, strlen(text));
}

/* Where only root may write: else it says so. */
TEST(a_kernel_that_does_not_say_its_clock)
{
    static const char *const calls[] = {"open", "read"};
    char name[48], part[3];
    errno = 77;
    for (size_t i = 0; i < 2; i++) {
        gnomon__test_fail_calls(calls[i], 1, 1, EACCES);
        gnomon__os_clock_source(name, sizeof name);
        gnomon__test_fail_calls(NULL, 0, 0, 0);
        CHECK_STR(name, "");
    }
    gnomon__os_clock_source(name, sizeof name);
    gnomon__os_clock_source(part, sizeof part);
    CHECK_EQ(errno, 77);
    CHECK(strchr(name, '\n') == NULL && strncmp(name, part, 2) == 0);
    CHECK(strlen(part) <= 2);
}

TEST(a_file_in_the_root)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/gnomon-test-%d.txt", (int)getpid());
    int why = publish(path, "report");
    CHECK(why == 0 || why == EACCES || why == EROFS);
    if (why)
        return;
    CHECK_EQ(gnomon__os_read_file(path, 100, &text), 0);
    CHECK_STR(text, "report");
    gnomon__free(text);
    CHECK_EQ(unlink(path), 0);
}

TEST(another_users_link_in_a_shared_folder_is_not_followed)
{
    child_folder();
    CHECK_EQ(mkdir("all", 0777), 0);
    CHECK_EQ(chmod("all", 01777), 0);
    CHECK_EQ(mkdir("precious", 0777), 0);
    CHECK_EQ(symlink("../precious", "all/link"), 0);
    CHECK_EQ(publish("all/link/mine.txt", "report"), 0); /* by ourselves */
    if (lchown("all/link", 12345, 12345) != 0)
        SKIP("only root gives files away");
    CHECK_EQ(publish("all/link/theirs.txt", "report"), GNOMON__OS_FOREIGN);
    CHECK(access("precious/theirs.txt", F_OK) != 0);
    CHECK_EQ(publish("precious/theirs.txt", "report"), 0);
}

static int make_one(int fd, const void *unused)
{
    (void)unused;
    return gnomon__os_write(fd, "one", 3);
}

static int make_half(int fd, const void *context)
{
    (void)context;
    CHECK_EQ(gnomon__os_write(fd, "half", 4), 0);
    return ENOSPC;
}

/* Files of another process are not touched, and partial files are removed. */
TEST(a_file_is_appended_to_as_long_as_it_is_ours)
{
    gnomon__os_file mine = {0, 0, 0};
    char *text;
    child_folder();
    CHECK_EQ(gnomon__os_append_made("a", make_one, NULL, &mine), ENOENT);
    CHECK_EQ(gnomon__os_publish_made("a", make_one, NULL, &mine, 0), 0);
    CHECK_EQ(gnomon__os_append_made("a", make_one, NULL, &mine), 0);
    CHECK_EQ(gnomon__os_append_made("a", make_half, NULL, &mine), ENOSPC);
    CHECK_EQ(gnomon__os_append_made("a", make_one, NULL, &mine), 0);
    CHECK_EQ(gnomon__os_read_file("a", 100, &text), 0);
    CHECK_STR(text, "oneoneone");
    gnomon__free(text);
    CHECK_EQ(publish("b", "two"), 0);
    CHECK_EQ(rename("b", "a"), 0);
    CHECK_EQ(gnomon__os_append_made("a", make_one, NULL, &mine), ENOENT);
    CHECK_EQ(symlink("c", "d"), 0);
    CHECK_EQ(gnomon__os_append_made("d", make_one, NULL, &mine), ENOENT);
    CHECK_EQ(gnomon__os_read_file("a", 100, &text), 0);
    CHECK_STR(text, "two");
    gnomon__free(text);
}

/* An unused device without a size, so that no data can be harmed. */
TEST(a_disk_is_not_written_to)
{
    char path[32], size[64], *text;
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "/dev/loop%d", i);
        snprintf(size, sizeof size, "/sys/block/loop%d/size", i);
        text = child_read(size);
        int fd = text && atol(text) == 0 ? open(path, O_WRONLY) : -1;
        if (fd >= 0) {
            close(fd);
            CHECK_EQ(publish(path, "report"), ENOTSUP);
            return;
        }
    }
    SKIP("no disk that may be opened and is empty");
}

/* The host's own file at descriptor 2 is respected; a child need not inherit
 * it. */
TEST(a_descriptor_2_that_closes_on_exec_is_the_hosts_file)
{
    int kept = dup(2);
    child_folder();
    CHECK_EQ(gnomon__os_stderr(), 2);
    close(2);
    CHECK_EQ(open("own", O_WRONLY | O_CREAT | O_CLOEXEC, 0644), 2);
    int found = gnomon__os_stderr();
    dup2(kept, 2);
    CHECK_EQ(found, -1);
    CHECK_EQ(gnomon__os_stderr(), 2);
}

/* ---- A fork while the lock is taken -------------------------------------- */

static int is_held, may_give;

static void *hold_the_lock(void *unused)
{
    gnomon__lock();
    store_release(&is_held, 1);
    while (!load_acquire(&may_give))
        usleep(1000);
    gnomon__unlock();
    return unused;
}

/* A handler that interrupted a mark may fork: the child has a lock of its
 * own. */
TEST(a_fork_inside_that_finds_the_lock_taken)
{
    pthread_t thread;
    int status = -1;
    attach_probe();
    CHECK_EQ(pthread_create(&thread, NULL, hold_the_lock, NULL), 0);
    while (!load_acquire(&is_held))
        usleep(1000);
    gnomon__guard();
    pid_t child = fork();
    gnomon__unguard();
    if (child == 0) {
        alarm(200);
        gnomon__lock();
        gnomon__unlock();
        *child_path = 0;
        exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    store_release(&may_give, 1);
    pthread_join(thread, NULL);
    scopes(3);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs in which the thread that makes a call is cancelled: before the call,
 * and at each of its system calls, with deferred and with asynchronous
 * cancellation. Each run is a process in a folder of its own, and is
 * compared with a run without cancellation. For programs with the testing
 * library. */
#ifndef GNOMON_TESTS_CANCELLING_H
#define GNOMON_TESTS_CANCELLING_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "child.h"
#include "recording_threads.h"
#include "marks.h"
#include "platform/memory.h"
#include "os_calls.h"

#define HANG_AFTER 200 /* seconds */
#define DIED 3         /* exit status */

/* How the thread is cancelled. */
enum way {
    NEVER,
    BEFORE,
    HELD, /* asynchronous; the host turns cancellation off */
    DEFERRED,
    ASYNCHRONOUS
};

typedef struct one_run {
    enum way way;
    long at; /* which system call; from 1 */
} one_run;

/* What a run leaves, in memory that the parent shares. */
typedef struct left {
    long calls; /* system calls of the thread */
    int came_back, fds, reports, waited;
    unsigned long long heap;
} left;

typedef struct scenario {
    void (*before)(void); /* on the main thread; NULL: nothing */
    void (*call)(void);   /* on the thread that is cancelled */
    void (*after)(void);  /* on the main thread, before it ends */
    int has_reader;       /* a thread of gnomon's allocates meanwhile */
} scenario;

static left *run_left;

/* ---- Calls that wait ----------------------------------------------------- */

static int waits; /* number of calls */

/* The functions in which a thread may be cancelled. */
static void wait_a_bit(void)
{
    char byte;
    int fd = open("/dev/null", O_RDONLY);
    if (fd >= 0) {
        (void)!read(fd, &byte, 1);
        close(fd);
    }
    usleep(1);
    pthread_testcancel();
    __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED);
}

/* ---- A run ----------------------------------------------------------------------- */

static const scenario *the_scenario;
static one_run the_run;
static pthread_t the_thread;
static uint32_t is_counting;

/* gnomon calls this before each of its system calls. */
static void at_call(void)
{
    if (!load_acquire(&is_counting) ||
        !pthread_equal(the_thread, pthread_self()))
        return;
    if (++run_left->calls == the_run.at)
        pthread_cancel(pthread_self());
}

static void *run_thread(void *unused)
{
    int state = -1, before = PTHREAD_CANCEL_ENABLE;
    the_thread = pthread_self();
    if (the_run.way == HELD)
        before = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(before, NULL);
    if (the_run.way == ASYNCHRONOUS || the_run.way == HELD)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    store_release(&is_counting, 1);
    if (the_run.way == BEFORE || the_run.way == HELD)
        pthread_cancel(pthread_self());
    the_scenario->call();
    run_left->came_back = 1;
    store_release(&is_counting, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    CHECK_EQ(state, before);
    return unused;
}

static int count_files(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void be_child(const scenario *s, const one_run *r)
{
    pthread_t thread;
    the_scenario = s;
    the_run = *r;
    *child_path = 0; /* the parent cleans up */
    test_failures = 0;
    alarm(HANG_AFTER);
    if (!freopen("err", "w", stderr))
        _exit(DIED);
    gnomon__test_at_calls(at_call);
    if (s->before)
        s->before();
    int fds = count_files("/proc/self/fd");
    CHECK_EQ(pthread_create(&thread, NULL, run_thread, NULL), 0);
    pthread_join(thread, NULL);
    store_release(&is_counting, 0);
    run_left->fds = count_files("/proc/self/fd") - fds;
    run_left->heap = gnomon__heap_bytes();
    run_left->waited = load_relaxed(&waits);
    CHECK_EQ(gnomon_stage_begin("after"),
             GNOMON_OK); /* it succeeds: no thread is left inside a call */
    {
        GNOMON_SCOPE("work");
        pass(1000);
    }
    if (s->after)
        s->after();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    exit(test_failures ? DIED : 0);
}

static void log_failure(const one_run *r, int status)
{
    static const char *const ways[] = {"never", "before", "held", "deferred",
                                       "asynchronous"};
    char *text = child_load("err");
    const int the_run_survives = 0;
    CHECK(the_run_survives);
    fprintf(stderr, "    cancelled: %s, at call %ld: status %x\n%s",
            ways[r->way], r->at, (unsigned)status, text ? text : "");
    free(text);
}

static left run_once(const scenario *s, one_run r)
{
    static int folders;
    char folder[32];
    int status = 0;
    child_folder();
    memset(run_left, 0, sizeof *run_left);
    snprintf(folder, sizeof folder, "%06d", folders++); /* in the heap */
    CHECK(mkdir(folder, 0755) == 0 && chdir(folder) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_child(s, &r);
    int failures = test_failures;
    if (!CHECK_EQ(waitpid(child, &status, 0), child) || status)
        log_failure(&r, status);
    char *report = child_load("report.txt");
    run_left->reports = times_in(report, "|  work");
    free(report);
    CHECK(run_left->reports > 0);
    if (test_failures > failures && !status)
        log_failure(&r, status);
    CHECK(chdir("..") == 0);
    return *run_left;
}

/* Both runs are equal but for the cancellation. */
static void compare(const scenario *s, const left *a, const left *b, one_run r)
{
    int failures = test_failures;
    CHECK_EQ(b->fds, a->fds);
    CHECK_EQ(b->reports, a->reports);
    if (r.way != ASYNCHRONOUS) { /* an asynchronous one may have done less */
        CHECK(b->came_back);
        CHECK_EQ(b->waited, a->waited);
        CHECK(b->heap == a->heap || s->has_reader);
    }
    if (test_failures > failures)
        log_failure(&r, 0);
}

static void cancel_at_each(const scenario *s)
{
    const one_run never = {NEVER, 0}, before = {BEFORE, 0}, held = {HELD, 0};
    run_left = mmap(NULL, sizeof *run_left, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const left undisturbed = run_once(s, never);
    CHECK(undisturbed.came_back);
    left now = run_once(s, before);
    compare(s, &undisturbed, &now, before);
    now = run_once(s, held);
    compare(s, &undisturbed, &now, held);
    /* Each is a process. Between them, gcc's build and the others do each. */
    long step = getenv("GNOMON_SOAK") ? 1 : IS_ASAN ? 3 : EACH;
    for (int way = DEFERRED; way <= ASYNCHRONOUS; way++)
        for (long at = 1; at <= undisturbed.calls && !test_failures;
             at += step) {
            one_run r = {(enum way)way, at};
            now = run_once(s, r);
            compare(s, &undisturbed, &now, r);
        }
    fprintf(stderr, "    %ld calls of the system\n", undisturbed.calls);
}

#endif

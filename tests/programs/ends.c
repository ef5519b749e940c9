/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that ends in the way that its argument names. Signals are given by
 * number. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../sanitizer.h"
#include "reporter.h"

static int number; /* of the signal */
static volatile sig_atomic_t handled;
static int stuck, in_summary;

static void nap(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

/* A report that allocates host memory and takes time, as a plugin's may. */
static int slow_summary(void *self, const gnomon_profile *p,
                        const gnomon_writer *out)
{
    (void)self;
    for (int i = 0; i < 100; i++)
        free(memset(malloc(10000 + 100 * (size_t)i), 1, 10000));
    __atomic_store_n(&in_summary, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&stuck, __ATOMIC_ACQUIRE))
        nap(1000);
    return reporter_summary(NULL, p, out);
}

static const gnomon_profiler slow = {
    .struct_size = sizeof slow,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "slow",
    .help = "takes memory",
    .summary = slow_summary,
};

/* ThreadSanitizer may lose a signal for a thread that begins to wait. */
static void send_now(int what)
{
    if (IS_TSAN)
        raise(what);
    else
        kill(getpid(), what);
}

static void *send_later(void *us)
{
    nap(*(long *)us);
    send_now(number);
    return NULL;
}

static _Noreturn void wait_for_death(void)
{
    for (;;)
        pause();
}

/* ---- Receivers of the signal --------------------------------------------- */

static void *volatile keep;

static _Noreturn void in_malloc(void)
{
    for (size_t i = 0;; i++) {
        keep = malloc(16 + i % 100000);
        free(keep);
    }
}

static _Noreturn void in_gnomon(void)
{
    char name[32];
    for (int i = 0;; i++) {
        snprintf(name, sizeof name, "name %d", i % 50000);
        gnomon_start(name);
        gnomon_step();
        gnomon_stop(name);
    }
}

static _Noreturn void in_control(void)
{
    for (;;) {
        gnomon_attach(&reporter, &number, NULL);
        gnomon_detach(&reporter, &number);
    }
}

/* ---- Two signals --------------------------------------------------------- */

/* The report is stuck when the second one comes. */
static void *send_twice(void *second)
{
    send_now(number);
    while (!__atomic_load_n(&in_summary, __ATOMIC_ACQUIRE))
        nap(1000);
    send_now(*(int *)second);
    if (*(int *)second != SIGINT)
        __atomic_store_n(&stuck, 0, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- The host's handlers ------------------------------------------------- */

static void count(int unused)
{
    (void)unused;
    handled++;
}

static void handle(void (*how)(int))
{
    struct sigaction action = {.sa_handler = how};
    sigaction(number, &action, NULL);
}

static int handler_is(void (*how)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == how;
}

static int with_handler(int before)
{
    if (before)
        handle(count);
    work(5);
    if (!before)
        handle(count);
    raise(number);
    work(2);
    gnomon_stage_begin("s"); /* where the test reads default actions */
    work(1);
    raise(number);
    return handled == 2 && handler_is(count) ? 6 : 1;
}

/* ---- Exits --------------------------------------------------------------- */

static void *work_and_end(void *unused)
{
    (void)unused;
    nap(50000);
    work(5);
    nap(50000);
    return NULL;
}

static void *raise_on_thread(void *unused)
{
    raise(number);
    wait_for_death();
    return unused;
}

/* After the report: profilers are gone. */
static void mark_late(void)
{
    work(1000);
    gnomon_teardown();
}

static void mark_early(void)
{
    work(3);
}

static void *end_thread_of_hosts(void *unused)
{
    pthread_exit(unused);
}

/* Main ends, and then five marks of a thread, where no file of /proc can be opened. */
static _Noreturn void end_without_proc(const char *word)
{
    struct rlimit few = {32, 32};
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a process that hangs */
    work(5);
    pthread_create(&thread, NULL, end_thread_of_hosts, NULL);
    pthread_join(thread, NULL); /* libgcc_s is loaded */
    pthread_create(&thread, NULL, work_and_end, NULL);
    if (strcmp(word, "no root") == 0 &&
        (mkdir("empty", 0700) || chroot("empty")))
        _exit(77);
    setrlimit(RLIMIT_NOFILE, &few);
    while (strcmp(word, "no descriptor") == 0 && dup(1) >= 0)
        ;
    pthread_exit(NULL);
}

static int exits(const char *word)
{
    pthread_t thread;
    if (strncmp(word, "no ", 3) == 0)
        end_without_proc(word);
    if (strcmp(word, "return") == 0) {
        work(5);
        return 6;
    }
    if (strcmp(word, "pthread_exit") == 0 ||
        strcmp(word, "pthread_exit of a stranger") == 0) {
        if (word[12] == 0)
            work(5);
        else
            gnomon_region_get("nothing", NULL, GNOMON_KIND_SCOPE);
        pthread_create(&thread, NULL, work_and_end, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(word, "_exit") == 0) {
        work(5);
        _exit(6);
    }
    if (strcmp(word, "quick_exit") == 0) {
        work(5);
        quick_exit(6);
    }
    if (strcmp(word, "abort") == 0) {
        work(5);
        abort();
    }
    if (strcmp(word, "atexit") == 0) { /* run in reverse order */
        atexit(mark_late);
        gnomon_setup(NULL);
        work(5);
        atexit(mark_early);
        return 6;
    }
    return 9;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int second = argc > 3 ? atoi(argv[3]) : 0;
    long us = argc > 3 ? atol(argv[3]) : 0;
    pthread_t thread;
    number = argc > 2 ? atoi(argv[2]) : 0;
    gnomon_host_get()->add_profiler(&reporter);
    gnomon_host_get()->add_profiler(&slow);
    if (argc <= 2)
        return exits(word);
    if (strcmp(word, "before") == 0 || strcmp(word, "after") == 0)
        return with_handler(*word == 'b');
    if (strcmp(word, "ignored") == 0) {
        handle(SIG_IGN);
        work(5);
        raise(number);
        gnomon_stage_begin("s");
        return handler_is(SIG_IGN) ? 6 : 1;
    }
    if (strcmp(word, "chained") == 0) {
        /* Saves, replaces and calls the handler, as a later library may do
         * with gnomon's. */
        struct sigaction was;
        work(5);
        sigaction(number, NULL, &was);
        handle(count);
        raise(number);
        sigaction(number, &was, NULL);
        raise(number);
        wait_for_death();
    }
    if (strcmp(word, "default again") == 0) {
        handle(count);
        work(5);
        handle(SIG_DFL);
        gnomon_stage_end(); /* no stage is open: an error */
        gnomon_stage_begin("s");
        work(2);
        raise(number);
        wait_for_death();
    }
    if (strcmp(word, "released") == 0) {
        gnomon_setup(NULL);
        work(5);
        if (handler_is(SIG_DFL))
            return 1;
        gnomon_teardown();
        return handler_is(SIG_DFL) ? 6 : 2;
    }
    if (strcmp(word, "put back") == 0) {
        /* Ours, by a host that saved it while we had it. */
        struct sigaction was;
        gnomon_setup(NULL);
        work(5);
        sigaction(number, NULL, &was);
        gnomon_teardown();
        sigaction(number, &was, NULL);
        gnomon_attach(NULL, NULL, "simple");
        gnomon_attach(NULL, NULL, "");
        return handler_is(SIG_DFL) ? 6 : 1;
    }
    if (strcmp(word, "child") == 0) {
        int status;
        work(5);
        pid_t child = fork();
        if (child == 0) {
            raise(number);
            _exit(1);
        }
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == number ? 6 : 1;
    }
    work(5);
    if (strcmp(word, "twice") == 0) {
        stuck = 1;
        pthread_create(&thread, NULL, send_twice, &second);
        wait_for_death();
    }
    if (strcmp(word, "exit") == 0) {
        stuck = 1;
        pthread_create(&thread, NULL, raise_on_thread, NULL);
        while (!__atomic_load_n(&in_summary, __ATOMIC_ACQUIRE))
            nap(1000);
        __atomic_store_n(&stuck, 0, __ATOMIC_RELEASE);
        exit(6);
    }
    if (strcmp(word, "stuck") == 0) {
        stuck = 1;
        raise(number);
        wait_for_death();
    }
    pthread_create(&thread, NULL, send_later, &us);
    if (strcmp(word, "malloc") == 0)
        in_malloc();
    if (strcmp(word, "gnomon") == 0)
        in_gnomon();
    if (strcmp(word, "control") == 0)
        in_control();
    wait_for_death();
}

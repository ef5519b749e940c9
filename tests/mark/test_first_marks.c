/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* First marks made by signal handlers: of the process, of a thread, of a
 * region. They do not call the host's malloc; a mark that would need it is
 * refused and counted, until a mark outside a handler has allocated.
 *
 * links: static
 * alone: yes
 * labels: guest */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>

#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

/* ---- What handlers must not reach ---------------------------------------- */

static _Thread_local volatile int in_handler;
static uint64_t allocations; /* made in a handler */

#if !IS_SANITIZED && defined(__GLIBC__)
#define WATCHED 1
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

void *malloc(size_t size)
{
    if (in_handler)
        add_relaxed(&allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (in_handler)
        add_relaxed(&allocations, 1);
    return __libc_calloc(count, size);
}
#else
#define WATCHED 0
#endif

/* ---- One handler, installed in every way --------------------------------- */

static void mark_work(void)
{
    GNOMON_SCOPE("work");
}

static void mark_everything(int number)
{
    static gnomon_region range =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    int before = in_handler;
    (void)number;
    in_handler = 1;
    errno = 4711;
    {
        GNOMON_SCOPE("handled");
        GNOMON_MARK("mark");
        GNOMON_COUNTER("counter", 1);
        gnomon_start("by name");
        gnomon_stop("by name");
        gnomon_range_end(gnomon_range_begin(&range));
        gnomon_link link = gnomon_link_out();
        gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
        gnomon_step();
        gnomon_thread_name("handler's");
    }
    CHECK_EQ(errno, 4711);
    in_handler = before;
}

static void install(int flags)
{
    struct sigaction act = {.sa_handler = mark_everything, .sa_flags = flags};
    sigemptyset(&act.sa_mask);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
}

static char other_stack[1 << 16];

#ifdef GNOMON__TSAN
#define NEEDS_REAL_HANDLERS SKIP("the thread sanitizer calls handlers later")
#else
#define NEEDS_REAL_HANDLERS (void)0
#endif

static void first_of_the_process(int flags)
{
    NEEDS_REAL_HANDLERS;
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    if (flags & SA_ONSTACK)
        CHECK_EQ(sigaltstack(&stack, NULL), 0);
    install(flags);
    raise(SIGUSR1);
    install(flags);
    CHECK_EQ(live_health().threads, 0);
    /* Scope, mark, counter, start, stop, range, step, name. */
    CHECK_EQ(live_health().reentered, 8);
    CHECK_EQ(allocations, 0);
    mark_work(); /* reads $GNOMON */
    CHECK_EQ(live_health().threads, 1);
    CHECK_EQ(live_count_of("simple", "work"), 1);
    raise(SIGUSR1);
    CHECK_EQ(allocations, 0);
    CHECK_EQ(live_count_of("simple", "handled"), 1);
    CHECK_EQ(live_count_of("simple", "by name"), 1);
    CHECK_EQ(live_health().reentered, 8);
}

TEST(the_process_s_first)
{
    first_of_the_process(0);
}

TEST(the_process_s_first_with_its_signal_open)
{
    first_of_the_process(SA_NODEFER);
}

TEST(the_process_s_first_by_a_handler_that_runs_once)
{
    first_of_the_process((int)SA_RESETHAND);
}

TEST(the_process_s_first_on_another_stack)
{
    first_of_the_process(SA_ONSTACK | SA_SIGINFO);
}

TEST(the_process_s_first_with_everything_blocked)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
    first_of_the_process(0);
}

/* ---- Not in a handler ---------------------------------------------------- */

/* A thread that blocks signals with handlers elsewhere is not in a handler,
 * also where a handler ran on its stack before. */
static void *mark_blocked(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
    mark_work();
    return unused;
}

static void blocked_first(int flags)
{
    pthread_t thread;
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    install(flags);
    CHECK_EQ(pthread_create(&thread, NULL, mark_blocked, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(live_count_of("simple", "work"), 1);
    CHECK_EQ(live_health().reentered, 0);
}

TEST(a_thread_that_blocks_signals_may_be_first)
{
    blocked_first(0);
}

TEST(an_unblocked_signal_is_no_handler)
{
    blocked_first(SA_NODEFER);
}

static void nothing(int number)
{
    (void)number;
}

TEST(what_a_handler_left_on_the_stack_is_no_handler)
{
    struct sigaction act = {.sa_handler = nothing};
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    raise(SIGUSR1);
    mark_blocked(NULL);
    CHECK_EQ(live_count_of("simple", "work"), 1);
    CHECK_EQ(live_health().reentered, 0);
}

/* ---- Threads and regions ------------------------------------------------- */

static pthread_barrier_t signalled;

static void *wait_for_signals(void *unused)
{
    pthread_barrier_wait(&signalled);
    pthread_barrier_wait(&signalled);
    return unused;
}

/* The C library stores a thread's first 32 keys in the thread itself; ours
 * is a later one. */
static void a_thread_s_first(int keys)
{
    NEEDS_REAL_HANDLERS;
    pthread_t thread;
    pthread_key_t key;
    for (int i = 0; i < keys; i++)
        CHECK_EQ(pthread_key_create(&key, NULL), 0);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    install(0);
    pthread_barrier_init(&signalled, NULL, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_create(&thread, NULL, wait_for_signals, NULL), 0);
        pthread_barrier_wait(&signalled);
        for (int k = 0; k < 2; k++) {
            pthread_kill(thread, SIGUSR1);
            while (live_count_of("keeper", "handled") < 2 * i + k + 1)
                usleep(1000);
        }
        pthread_barrier_wait(&signalled);
        pthread_join(thread, NULL);
    }
    CHECK_EQ(allocations, 0);
    live_check_no_trouble();
    CHECK_EQ(live_count_of("keeper", "handled"), 6);
}

TEST(a_thread_s_first_and_second)
{
    a_thread_s_first(0);
    CHECK_EQ(live_health().threads, 0); /* each end was delivered */
}

TEST(a_thread_s_first_behind_many_keys)
{
    a_thread_s_first(100);
}

static void *mark_after_the_signal(void *unused)
{
    raise(SIGUSR1);
    mark_work();
    return unused;
}

TEST(a_thread_s_end_reaches_hooks_at_its_next_mark)
{
    NEEDS_REAL_HANDLERS;
    pthread_t thread;
    pthread_key_t key;
    for (int i = 0; i < 100; i++)
        CHECK_EQ(pthread_key_create(&key, NULL), 0);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    install(0);
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(pthread_create(&thread, NULL, mark_after_the_signal, NULL), 0);
        pthread_join(thread, NULL);
    }
    CHECK_EQ(allocations, 0);
    CHECK_EQ(live_health().threads, 0);
    CHECK_EQ(live_count_of("keeper", "handled"), 50);
    CHECK_EQ(live_count_of("keeper", "work"), 50);
    live_check_no_trouble();
}

/* ---- Modules that are closed after a handler marked them ------------------ */

#define MODULE TEST_BINARY_DIR "/plugins/module_region.so"

static gnomon_region *of_module;

static void mark_module(int number)
{
    (void)number;
    gnomon_end(gnomon_begin(of_module));
}

static void *open_module(void)
{
    struct sigaction act = {.sa_handler = mark_module};
    void *module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    if (CHECK(module != NULL))
        of_module = dlsym(module, "region_of_module");
    CHECK(of_module != NULL);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    return module;
}

/* An attach or detach writes to all regions seen. */
static void close_and_attach(void *module)
{
    dlclose(module);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    mark_work();
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
}

TEST(a_module_s_first_by_a_handler)
{
    NEEDS_REAL_HANDLERS;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    uint64_t before = live_health().reentered;
    void *module = open_module();
    raise(SIGUSR1);
    CHECK_EQ(live_health().reentered, before + 1);
    CHECK(of_module->mask & GNOMON_MASK_UNSEEN);
    close_and_attach(module);
}

TEST(a_module_s_first_by_a_handler_where_all_is_off)
{
    NEEDS_REAL_HANDLERS;
    unsetenv("GNOMON");
    for (int started = 0; started < 2; started++) {
        void *module = open_module();
        raise(SIGUSR1);
        CHECK_EQ(of_module->mask, 0);
        close_and_attach(module);
        CHECK(!dlopen(MODULE, RTLD_NOW | RTLD_NOLOAD)); /* not kept */
    }
    live_check_no_trouble();
}

TEST(a_module_that_was_marked_outside_stays)
{
    NEEDS_REAL_HANDLERS;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    void *module = open_module();
    mark_module(0);
    raise(SIGUSR1);
    dlclose(module);
    raise(SIGUSR1);
    CHECK_EQ(live_count_of("keeper", "of a module"), 3);
    live_check_no_trouble();
}

TEST(the_allocation_counter_counts)
{
    if (!WATCHED)
        SKIP("a sanitizer has its own malloc");
    in_handler = 1;
    void *volatile memory = malloc(100);
    free(memory);
    in_handler = 0;
    CHECK(allocations > 0);
}

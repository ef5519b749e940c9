/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * What gnomon uses of the system: pages, barriers, threads, libraries, errors,
 * the log, and the clock that tests move. Files: test_files.c. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "platform/atomic.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "test.h"
#include "turns.h"

/* ---- Identity ------------------------------------------------------------ */

TEST(names_are_terminated_and_cut)
{
    char name[16], host[256];
    prctl(PR_SET_NAME, "loader-0");
    gnomon__os_thread_name(name);
    CHECK_STR(name, "loader-0");
    prctl(PR_SET_NAME, "a name of 16 bytes and more");
    gnomon__os_thread_name(name);
    CHECK_STR(name, "a name of 16 by");
    gnomon__os_name_of_thread(gnomon__os_thread_id(), name);
    CHECK_STR(name, "a name of 16 by");
    gnomon__os_host_name(host);
    CHECK(strlen(host) > 0);
    CHECK_EQ(gnomon__os_pid(), getpid());
    CHECK_EQ(gnomon__os_thread_id(), getpid());
    CHECK_EQ(gnomon__os_is_secure(), 0);
}

TEST(time_goes_on)
{
    uint64_t before = gnomon__os_monotonic_ns();
    gnomon__os_sleep_ns(2000000);
    CHECK(gnomon__os_monotonic_ns() - before >= 2000000);
    CHECK(gnomon__os_unix_ns() > 1600000000000000000u);
}

/* ---- Pages --------------------------------------------------------------- */

TEST(pages_are_zero_and_may_be_many)
{
    size_t bytes = (size_t)3 << 30, i;
    char *pages;
    errno = 77;
    pages = gnomon__os_map(bytes);
    if (!CHECK(pages != NULL))
        return;
    for (i = 0; i < bytes; i += bytes / 64)
        CHECK_EQ(pages[i], 0);
    pages[bytes - 1] = 1;
    gnomon__os_unmap(pages, bytes);
    gnomon__os_unmap(NULL, 4096);
    CHECK(gnomon__os_map(SIZE_MAX / 2) == NULL);
    CHECK_EQ(errno, 77);
}

/* ---- Barriers ------------------------------------------------------------ */

/* Two threads store, bar and load, one of them without a fence of its own: at
 * least one sees the other's store. Without the barrier both miss at times. */
static struct {
    _Alignas(64) uint32_t x;
    _Alignas(64) uint32_t y;
    _Alignas(64) uint32_t round;
    _Alignas(64) uint32_t done;
    uint32_t saw_y;
} duel;

/* Up to about as long as the other side needs to see a round begin: then without the
 * barrier both miss in one round of forty. */
static void dawdle(uint32_t *state)
{
    uint32_t i;
    *state = *state * 1664525u + 1013904223u;
    for (i = *state >> 22; i > 0; i--)
        fence_signal();
}

static void wait_for(const uint32_t *word, uint32_t value)
{
    uint32_t tries = 0;
    while (load_acquire(word) != value)
        give_turn(&tries);
}

static cpu_set_t processors; /* that the process may use */

/* Onto one of them: two sides on the same one never miss each other. */
static void stay_on(int number)
{
    cpu_set_t one;
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &processors) || number-- > 0)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static void *light_side(void *rounds)
{
    uint32_t i, state = 1;
    stay_on(1);
    for (i = 1; i <= *(uint32_t *)rounds; i++) {
        wait_for(&duel.round, i);
        dawdle(&state);
        store_relaxed(&duel.x, i);
        fence_signal();
        duel.saw_y = load_relaxed(&duel.y) == i;
        store_release(&duel.done, i);
    }
    return NULL;
}

TEST(barrier_orders_other_threads)
{
    uint32_t rounds = 5000, i, both_missed = 0, state = 2;
    pthread_t thread;
    if (!gnomon__os_barrier_prepare())
        SKIP("the system has no membarrier");
    CHECK_EQ(sched_getaffinity(0, sizeof processors, &processors), 0);
    if (CPU_COUNT(&processors) < 2)
        SKIP("one processor");
    stay_on(0);
    pthread_create(&thread, NULL, light_side, &rounds);
    for (i = 1; i <= rounds; i++) {
        uint32_t saw_x;
        store_release(&duel.round, i);
        dawdle(&state);
        store_relaxed(&duel.y, i);
        CHECK_EQ(gnomon__os_barrier(), 1);
        saw_x = load_relaxed(&duel.x) == i;
        wait_for(&duel.done, i);
        both_missed += !saw_x && !duel.saw_y;
    }
    pthread_join(thread, NULL);
    CHECK_EQ(both_missed, 0);
}

TEST(barrier_prepares_itself)
{
    int has = gnomon__os_barrier();
    CHECK_EQ(gnomon__os_barrier_prepare(), has);
}

/* ---- Threads ------------------------------------------------------------- */

static struct {
    char name[16];
    sigset_t blocked;
    int64_t id;
} seen;

static void look_around(void *argument)
{
    CHECK(argument == &seen);
    gnomon__os_thread_name(seen.name);
    pthread_sigmask(SIG_SETMASK, NULL, &seen.blocked);
    seen.id = gnomon__os_thread_id();
}

TEST(own_threads_have_a_name_and_take_no_signal)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGUSR1,
                                  SIGPROF, SIGCHLD, SIGALRM, SIGPIPE};
    gnomon__os_thread thread;
    sigset_t before, after;
    size_t i;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    CHECK_EQ(gnomon__os_thread_start(&thread, "gnomon-writes-and-flushes",
                                     look_around, &seen),
             0);
    gnomon__os_thread_join(&thread);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK_STR(seen.name, "gnomon-writes-a");
    CHECK(seen.id != gnomon__os_thread_id() && seen.id > 0);
    for (i = 0; i < sizeof signals / sizeof *signals; i++) {
        CHECK(sigismember(&seen.blocked, signals[i]));
        CHECK_EQ(sigismember(&after, signals[i]),
                 sigismember(&before, signals[i]));
    }
    CHECK_EQ(gnomon__heap_bytes(), 0);
    gnomon__test_fail_allocation(1); /* nor does it need any */
    CHECK_EQ(gnomon__os_thread_start(&thread, "x", look_around, &seen), 0);
    gnomon__os_thread_join(&thread);
}

/* ---- Libraries ----------------------------------------------------------- */

TEST(a_missing_library_gives_an_error_text)
{
    const char *why = NULL;
    CHECK(gnomon__os_library("/nowhere/libmine.so", &why) == NULL);
    CHECK(why != NULL && strstr(why, "/nowhere/libmine.so") != NULL);
    CHECK(gnomon__os_library("/proc/self/status", &why) == NULL);
    CHECK(why != NULL && strlen(why) > 5);
}

#define PLUGIN TEST_BINARY_DIR "/plugins/passthrough.so"

static int is_mapped(const char *name)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, name) != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

TEST(a_pinned_module_survives_dlclose)
{
    void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL), *entry;
    int i;
    if (!CHECK(library != NULL))
        return;
    entry = dlsym(library, "gnomon_plugin_v1");
    CHECK(entry != NULL);
    errno = 77;
    for (i = 0; i < 3; i++)
        gnomon__os_pin_module(entry);
    CHECK_EQ(errno, 77);
    dlclose(library);
    CHECK(is_mapped("/passthrough.so"));
}

TEST(a_module_that_is_not_pinned_goes)
{
    void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
#ifndef __GLIBC__
    SKIP("musl unmaps nothing");
#endif
    if (!CHECK(library != NULL))
        return;
    CHECK(is_mapped("/passthrough.so"));
    dlclose(library);
    CHECK(!is_mapped("/passthrough.so"));
}

TEST(pinning_the_program_or_nothing_is_harmless)
{
    int local = 0;
    gnomon__os_pin_module(&seen);
    gnomon__os_pin_module(&local);
    gnomon__os_pin_module(NULL);
    gnomon__os_pin_module((void *)(uintptr_t)dlsym(RTLD_DEFAULT, "getpid"));
}

TEST(symbols_are_found_by_name)
{
    const char *why;
    void *library = gnomon__os_library(PLUGIN, &why);
    if (!CHECK(library != NULL))
        return;
    CHECK(why == NULL);
    CHECK(gnomon__os_symbol(library, "gnomon_plugin_v1") != NULL);
    CHECK(gnomon__os_symbol(library, "gnomon_plugin_v999") == NULL);
    CHECK(dlsym(RTLD_DEFAULT, "gnomon_plugin_v1") == NULL);
}

/* ---- Errors and the log -------------------------------------------------- */

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    CHECK_STR(gnomon_error_text(), "");
    gnomon__fail(GNOMON_EIO, "another");
    CHECK_STR(gnomon_error_text(), "another");
    return NULL;
}

TEST(error_text_is_the_threads_own)
{
    char many[1000];
    pthread_t thread;
    CHECK_STR(gnomon_error_text(), "");
    CHECK_EQ(gnomon__fail(GNOMON_EINVAL, "'%s' is %d", "x", 7), GNOMON_EINVAL);
    pthread_create(&thread, NULL, fail_elsewhere, NULL);
    pthread_join(thread, NULL);
    CHECK_STR(gnomon_error_text(), "'x' is 7");
    gnomon__fail(GNOMON_EIO, "%s, so no", gnomon_error_text());
    CHECK_STR(gnomon_error_text(), "'x' is 7, so no");
    gnomon__fail_clear();
    CHECK_STR(gnomon_error_text(), "");
    memset(many, 'm', sizeof many - 1);
    many[sizeof many - 1] = 0;
    gnomon__fail(GNOMON_EIO, "%s", many);
    CHECK_EQ(strlen(gnomon_error_text()), 255);
}

TEST(codes_have_names)
{
    CHECK_STR(gnomon_error_name(0), "GNOMON_OK");
    CHECK_STR(gnomon_error_name(GNOMON_EINVAL), "GNOMON_EINVAL");
    CHECK_STR(gnomon_error_name(GNOMON_EPLUGIN), "GNOMON_EPLUGIN");
    CHECK_STR(gnomon_error_name(GNOMON_DECLINED), "GNOMON_DECLINED");
    CHECK_STR(gnomon_error_name(2), "GNOMON_E?");
    CHECK_STR(gnomon_error_name(-1000), "GNOMON_E?");
    CHECK_STR(gnomon_version(), GNOMON_VERSION);
}

static char caught[2000];

static void catch_line(const char *line)
{
    snprintf(caught, sizeof caught, "%s", line);
}

TEST(a_log_line_stays_one_line)
{
    char many[3000];
    gnomon__test_log = catch_line;
    errno = 77;
    gnomon__log("a %s \xc3\xa9", "b\nc\x1b[31m\x7f|\t|\xc2\x9b.");
    CHECK_EQ(errno, 77);
    CHECK_STR(caught, "gnomon: a b\\nc\\x1b[31m\\x7f|\\t|\\x9b. \xc3\xa9");
    memset(many, 'm', sizeof many - 1);
    many[sizeof many - 1] = 0;
    gnomon__log("%s", many);
    CHECK_EQ(strlen(caught), 1022);
}

TEST(the_log_is_one_write_to_stderr)
{
    char got[3000], many[3000];
    int ends[2], kept = dup(2);
    ssize_t n;
    memset(many, 'm', sizeof many - 1);
    many[sizeof many - 1] = 0;
    if (!CHECK_EQ(pipe2(ends, O_DIRECT), 0)) /* a read is a write */
        return;
    dup2(ends[1], 2);
    gnomon__log("step %d", 3);
    gnomon__log("%s", many);
    dup2(kept, 2);
    n = read(ends[0], got, sizeof got);
    CHECK(n == 15 && memcmp(got, "gnomon: step 3\n", 15) == 0);
    n = read(ends[0], got, sizeof got);
    CHECK(n == 1023 && got[n - 1] == '\n');
}

/* ---- The clock that tests move ------------------------------------------- */

TEST(test_clock_is_ns_from_zero)
{
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    CHECK_EQ(gnomon__clock_kind(), GNOMON__CLOCK_UNKNOWN);
    gnomon__clock_start();
    CHECK_EQ(gnomon__clock_kind(), GNOMON__CLOCK_COUNTER);
    CHECK_STR(gnomon__clock_name(), "test");
    gnomon__test_set(1234567891234);
    CHECK_EQ(gnomon__ticks(), 1234567891234);
    CHECK_EQ(gnomon__clock_ns(gnomon__ticks()), 1234567891234);
    CHECK_EQ(gnomon__clock_rate(0, 5), 1ull << GNOMON__CLOCK_SHIFT);
    CHECK_EQ(gnomon__clock_moments(moments), 2);
    CHECK_EQ(moments[0].ns, 0);
    CHECK_EQ(moments[0].unix_ns, GNOMON__TEST_UNIX_NS);
}

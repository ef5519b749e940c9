/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * One thread loads a module whose constructor calls gnomon, while another one is
 * at its first mark, which loads a plugin: there is no deadlock. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live_profile.h"
#include "recording_threads.h"

#define MARKS 100

static uint32_t is_constructing, is_marking;
static long waits_for; /* its thread id */
static int setup_code = 1;

/* Whether that thread is in the kernel, as one that waits for a lock is. */
static int is_asleep(long thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int f = open(path, O_RDONLY);
    ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
    if (f >= 0)
        close(f);
    const char *state = n > 0 ? strrchr(text, ')') : NULL;
    return state && state[1] && state[2] == 'S';
}

static void until_the_other_waits(void)
{
    store_release(&is_constructing, 1);
    while (!load_acquire(&is_marking))
        usleep(1000);
    for (int i = 0; i < 500 && !is_asleep(waits_for); i++)
        usleep(1000);
    usleep(20000);
}

static void mark_in_constructor(void)
{
    until_the_other_waits();
    for (int i = 0; i < MARKS; i++) {
        GNOMON_SCOPE("constructor");
    }
}

static void set_up_in_constructor(void)
{
    until_the_other_waits();
    setup_code = gnomon_setup(NULL);
}

static void *load_module(void *unused)
{
    CHECK(dlopen(TEST_BINARY_DIR "/plugins/constructor.so", RTLD_NOW) != NULL);
    return unused;
}

static void both(void (*in_constructor)(void))
{
    char address[32];
    uintptr_t at;
    pthread_t loader;
    memcpy(&at, &in_constructor, sizeof at);
    snprintf(address, sizeof address, "%llx", (unsigned long long)at);
    setenv("IN_CONSTRUCTOR", address, 1);
    setenv("GNOMON",
           "simple(file=/dev/null)," TEST_BINARY_DIR "/plugins/passthrough.so",
           1);
    alarm(200);
    waits_for = syscall(SYS_gettid);
    CHECK_EQ(pthread_create(&loader, NULL, load_module, NULL), 0);
    while (!load_acquire(&is_constructing))
        usleep(1000);
    store_release(&is_marking, 1);
    {
        GNOMON_SCOPE("main");
    }
    pthread_join(loader, NULL);
    CHECK_EQ(live_count_of("simple", "main"), 1);
}

/* Each is counted, in one way or the other. */
TEST(marks_in_a_constructor)
{
    both(mark_in_constructor);
    CHECK_EQ((uint64_t)live_count_of("simple", "constructor") +
                 live_health().reentered,
             MARKS);
}

TEST(setup_in_a_constructor)
{
    both(set_up_in_constructor);
    CHECK(setup_code == GNOMON_OK || setup_code == GNOMON_EBUSY);
    if (setup_code == GNOMON_OK)
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* ---- A walk through the loader's list -------------------------------------- */

LIVE_KEEPER(keeper, "keeper");

static int set_up_in_walk(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    set_up_in_constructor();
    return 1;
}

static void *walk(void *unused)
{
    dl_iterate_phdr(set_up_in_walk, NULL);
    return unused;
}

/* dl_iterate_phdr calls the host's callback under the loader's lock; an
 * attach walks the list, too. */
TEST(setup_in_a_walk_of_the_list)
{
    pthread_t walker;
    alarm(200);
    unsetenv("GNOMON");
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    waits_for = syscall(SYS_gettid);
    CHECK_EQ(pthread_create(&walker, NULL, walk, NULL), 0);
    while (!load_acquire(&is_constructing))
        usleep(1000);
    store_release(&is_marking, 1);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_join(walker, NULL);
    CHECK(setup_code == GNOMON_OK || setup_code == GNOMON_EBUSY);
    for (int n = 1 + (setup_code == GNOMON_OK); n > 0; n--)
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

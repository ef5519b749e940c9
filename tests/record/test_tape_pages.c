/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The pages of a tape have memory before marks come to them, so far and no further, and
 * where the system does not give it in advance nothing is lost. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "mark/observer.h"
#include "mark/tape.h"
#include "marks.h"
#include "platform/os.h"
#include "os_calls.h"
#include "probe_profile.h"
#include "sanitizer.h"
#include "taping.h"

enum { PAGE = 4096, MIB = 1 << 20, BLOCKS = 65536 / 16 };

static gnomon_region scope_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "scope", NULL, NULL);

static void mark_some(uint64_t many)
{
    while (many--) {
        gnomon_token token = gnomon_begin(&scope_region);
        pass(1);
        gnomon_end(token);
    }
}

static uint64_t used(void)
{
    return load_relaxed(&gnomon__marks_arena.used);
}

/* Marks until so much of the arena is in use. Returns how many scopes. */
static uint64_t mark_to(uint64_t bytes)
{
    uint64_t marked = 0;
    for (; used() < bytes; marked += BLOCKS)
        mark_some(BLOCKS);
    return marked;
}

static int has_memory(uint64_t offset)
{
    unsigned char is_there = 0;
    char *page = gnomon__marks_arena.base + offset / PAGE * PAGE;
    CHECK_EQ(mincore(page, PAGE, &is_there), 0);
    return is_there & 1;
}

/* Under an emulator or an old kernel pages do not come in advance. */
static int system_populates(void)
{
    unsigned char is_there = 0;
    void *page = gnomon__os_map(PAGE);
    int does = gnomon__os_populate(page, PAGE) &&
               mincore(page, PAGE, &is_there) == 0 && (is_there & 1);
    gnomon__os_unmap(page, PAGE);
    return does;
}

static int say_nothing(void *self, const gnomon_profile *p,
                       const gnomon_writer *out)
{
    (void)self;
    (void)p;
    (void)out;
    return GNOMON_OK;
}

/* As it has a report, our thread is there. */
static const gnomon_profiler reporter = {TAPES("reporter"), KEEPS("first"),
                                         .summary = say_nothing};

static void start(const char *mem, const char *options)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, mem), GNOMON_OK);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&reporter, NULL, options), GNOMON_OK);
}

static void wait_for_memory(uint64_t offset)
{
    while (!has_memory(offset))
        usleep(100);
}

TEST(pages_come_before_marks_do)
{
    if (!system_populates())
        SKIP("this system gives no memory in advance");
    start("passthrough,mem=16MiB", NULL);
    mark_to(4 * MIB);
    /* Asked for when less than half of them were left. */
    wait_for_memory(used() + MIB / 2 - PAGE);
    CHECK(!has_memory(used() + MIB + PAGE));
}

/* A program that marks little gets no more than it uses. */
TEST(no_pages_for_few_events)
{
    if (!system_populates())
        SKIP("this system gives no memory in advance");
    start("passthrough,mem=16MiB", NULL);
    mark_some(3000); /* blocks of 1 to 32 KiB, of which the last is not full */
    CHECK(!has_memory(used() + 2 * PAGE));
}

/* At the end of the arena there is nothing to ask for, whatever the ring still does. */
TEST(pages_end_with_the_arena)
{
    if (!system_populates())
        SKIP("this system gives no memory in advance");
    start("passthrough,mem=2MiB", "keep=last");
    for (int i = 0; i < 8; i++) {
        mark_some(40 * BLOCKS);
        /* On a busy machine our thread may have come before the last blocks were taken, and
         * nobody asks for those pages again. */
        gnomon__lock();
        const int is_left = gnomon__tape_wants_pages();
        gnomon__unlock();
        if (is_left)
            gnomon__tape_take_pages();
        wait_for_memory(gnomon__marks_arena.size - 1);
    }
    gnomon__lock();
    CHECK(!gnomon__tape_wants_pages());
    gnomon__unlock();
}

/* Nor is a system asked twice that refused. */
TEST(a_system_that_refuses)
{
    start("passthrough,mem=16MiB", NULL);
    gnomon__test_fail_calls("madvise", 1, UINT64_MAX, EINVAL);
    uint64_t marked = mark_to(2 * MIB);
    while (!gnomon__test_calls())
        usleep(100);
    marked += mark_to(8 * MIB);
    CHECK_EQ(gnomon__test_calls(), 1);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    gnomon_profile *p = profile_of("reporter", 0);
    CHECK_EQ(events(p), marked);
    CHECK_EQ(missing(p, NULL), 0);
    gnomon_profile_free(p);
}

/* A child has an arena of its own, whose pages are asked for from the beginning. */
TEST(a_child_gets_its_own)
{
    if (IS_TSAN)
        SKIP("ThreadSanitizer allows no thread in a child");
    if (!system_populates())
        SKIP("this system gives no memory in advance");
    start("passthrough,mem=16MiB", NULL);
    mark_to(6 * MIB);
    wait_for_memory(used() + MIB / 2 - PAGE);
    pid_t child = fork();
    if (child == 0) {
        start("passthrough,mem=16MiB", NULL);
        mark_to(3 * MIB);
        wait_for_memory(used() + MIB / 2 - PAGE);
        _exit(used() < 5 * MIB ? 0 : 3);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * labels: guest
 * A child calls no hook of its parent's, in whatever way it was made. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark/observer.h"
#include "os_calls.h"
#include "programs/raw_fork.h"
#include "recording_threads.h"

static int is_wiped = 1; /* a page, by the kernel, in children */

/* Shared with children. */
static struct {
    pid_t parent;
    uint32_t in_parent, in_child;
} * calls;

static void count(void)
{
    add_relaxed(
        getpid() == calls->parent ? &calls->in_parent : &calls->in_child, 1);
}

static void on_scope(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
    count();
}

#define ON(type) \
    static void on_##type(void *self, const gnomon_##type##_event *event) \
    { \
        (void)self, (void)event; \
        count(); \
    }
ON(step)
ON(counter)
ON(mark)
ON(thread)
ON(window)
ON(link)

#define HOOK(word, ...) \
    { \
        .struct_size = sizeof(gnomon_profiler), .abi = GNOMON_ABI, \
        .name = word, __VA_ARGS__ \
    }
static const gnomon_profiler plain =
    HOOK("plain", .start = on_scope, .stop = on_scope);
static const gnomon_profiler second =
    HOOK("second", .start = on_scope, .stop = on_scope);
static const gnomon_profiler full = HOOK(
    "full", .wants = GNOMON_WANT_TREE | GNOMON_WANT_TIMES, .start = on_scope,
    .stop = on_scope, .step = on_step, .counter = on_counter, .mark = on_mark,
    .thread = on_thread, .window = on_window, .link = on_link);

static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);

static void mark_all(void)
{
    {
        GNOMON_SCOPE("scope");
        GNOMON_SCOPE("inner");
        GNOMON_MARK("mark");
        GNOMON_COUNTER("counter", 1);
    }
    gnomon_start("action");
    gnomon_stop("action");
    gnomon_range_end(gnomon_range_begin(&range));
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_step();
    gnomon_thread_name("name");
}

static void *fork_and_mark(void *forks)
{
    pid_t (*make)(void);
    int status = -1;
    memcpy(&make, forks, sizeof make);
    gnomon_token open =
        gnomon_begin(gnomon_region_get("open", NULL, GNOMON_KIND_SCOPE));
    pid_t child = make();
    if (child == 0) {
        mark_all();
        gnomon_end(open);
        mark_all();
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    gnomon_end(open);
    return NULL;
}

static pid_t (*const ways[])(void) = {fork, bare_fork, raw_fork};

static void check_children(void)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pthread_t thread;
        pid_t (*way)(void) = ways[i];
        fork_and_mark(&way);
        CHECK_EQ(pthread_create(&thread, NULL, fork_and_mark, &way), 0);
        pthread_join(thread, NULL);
        CHECK_EQ(calls->in_child, 0);
    }
    CHECK(calls->in_parent > 0);
}

static void with(const gnomon_profiler *const *profilers)
{
    if (!is_wiped)
        gnomon__test_fail_calls("madvise", 1, UINT64_MAX, EINVAL);
#if IS_TSAN
    SKIP("the sanitizer's own locks stay taken in such children");
#endif
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(calls != MAP_FAILED))
        return;
    calls->parent = getpid();
    for (; *profilers; profilers++)
        CHECK_EQ(gnomon_attach(*profilers, NULL, NULL), GNOMON_OK);
    mark_all();
    check_children();
}

TEST(of_the_only_hook)
{
    with((const gnomon_profiler *const[]){&plain, NULL});
}

TEST(of_several)
{
    with((const gnomon_profiler *const[]){&plain, &second, NULL});
}

TEST(of_a_hook_and_a_tree)
{
    LIVE_KEEPER(keeper, "keeper");
    with((const gnomon_profiler *const[]){&keeper, &plain, NULL});
}

TEST(of_every_callback)
{
    with((const gnomon_profiler *const[]){&full, NULL});
}

TEST(of_all_together)
{
    with((const gnomon_profiler *const[]){&full, &plain, &second, NULL});
}

TEST(of_the_only_hook_where_no_page_is_wiped)
{
    is_wiped = 0;
    with((const gnomon_profiler *const[]){&plain, NULL});
}

TEST(of_all_together_where_no_page_is_wiped)
{
    is_wiped = 0;
    with((const gnomon_profiler *const[]){&full, &plain, &second, NULL});
}

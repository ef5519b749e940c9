/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks while no profiler is attached: they make no system call, so that they work in
 * a sandbox, and they are recorded as soon as a profiler is attached.
 * links: static
 * labels: guest */
#include <dlfcn.h>
#include <sys/mman.h>

#include "live_profile.h"
#include "recording_threads.h"

#include "child.h"

LIVE_KEEPER(keeper, "keeper");

static void attach(void)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
}

static void detach(void)
{
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
}

/* ---- Sandboxes ----------------------------------------------------------------- */

static void in_sandbox(const char *word)
{
    const char *const words[] = {word, NULL};
    if (IS_SANITIZED)
        SKIP("a sanitizer makes system calls of its own");
    child_result r = child_run(CHILD_PROGRAM("sandboxed"), NULL, words);
    if (r.status == 77)
        SKIP("no sandbox is to be had");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "begin\nend\n");
    CHECK_STR(r.err, "");
}

TEST(a_sandbox_before_the_first_mark)
{
    in_sandbox("");
}

TEST(a_sandbox_after_setup)
{
    in_sandbox("setup");
}

TEST(a_sandbox_after_all_was_detached)
{
    in_sandbox("detached");
}

/* ---- Regions marked before the attach ------------------------------------ */

static void mark_work(void)
{
    GNOMON_SCOPE("work");
}

static void mark_each_kind(gnomon_region *named)
{
    GNOMON_REGION(range, "range", NULL);
    mark_work();
    gnomon_end(gnomon_begin(named));
    gnomon_start("action");
    gnomon_stop("action");
    gnomon_range_end(gnomon_range_begin(&range));
}

TEST(regions_are_counted_from_the_attach_on)
{
    gnomon_region *named = gnomon_region_get("named", NULL, GNOMON_KIND_SCOPE);
    CHECK(named != gnomon_region_get("other", NULL, GNOMON_KIND_SCOPE));
    for (int i = 0; i < 3; i++) {
        mark_each_kind(named);
        mark_each_kind(named);
        attach();
        mark_each_kind(named);
        CHECK_EQ(live_count_of("keeper", "work"), 1);
        CHECK_EQ(live_count_of("keeper", "named"), 1);
        CHECK_EQ(live_count_of("keeper", "action"), 1);
        CHECK_EQ(live_count_of("keeper", "range"), 1);
        live_check_no_trouble();
        detach();
    }
}

/* $GNOMON is read at the first mark; later control calls can add more. */
TEST(setup_after_marks_is_obeyed)
{
    gnomon_setup_options o = {.struct_size = sizeof o,
                              .spec = "simple(file=/dev/null)"};
    mark_work();
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    mark_work();
    CHECK_EQ(live_count_of("simple", "work"), 1);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* ---- Memory of regions --------------------------------------------------- */

#define MODULE TEST_BINARY_DIR "/plugins/module_region.so"

static gnomon_region *open_module(void **module)
{
    *module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    return *module ? dlsym(*module, "region_of_module") : NULL;
}

static void mark(gnomon_region *region)
{
    gnomon_end(gnomon_begin(region));
}

TEST(a_module_that_stays)
{
    void *module;
    gnomon_region *region = open_module(&module);
    if (!CHECK(region != NULL))
        return;
    mark(region);
    attach();
    mark(region);
    dlclose(module); /* pinned now */
    mark(region);
    CHECK_EQ(live_count_of("keeper", "of a module"), 2);
}

TEST(a_module_that_goes_and_comes_again)
{
    for (int i = 0; i < 10; i++) {
        void *module;
        gnomon_region *region = open_module(&module);
        if (!CHECK(region != NULL))
            return;
        mark(region);
        CHECK_EQ(region->mask, 0);
        dlclose(module);
        if (i % 2 && CHECK(open_module(&module) != NULL))
            mark(region = dlsym(module, "region_of_module"));
        attach();
        if (i % 2) {
            mark(region);
            CHECK_EQ(live_count_of("keeper", "of a module"), 1);
            live_check_no_trouble();
            return;
        }
        detach();
    }
}

/* The host's own memory, which it may free or reuse. */
TEST(memory_of_the_hosts_own)
{
    static const gnomon_region fresh =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "in a page", NULL, NULL);
    gnomon_region *page[3];
    for (int i = 0; i < 3; i++) {
        page[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (!CHECK(page[i] != MAP_FAILED))
            return;
        *page[i] = fresh;
        mark(page[i]);
        CHECK_EQ(page[i]->mask, 0);
    }
    munmap(page[1], 4096);
    memset(page[2], 0x55, 4096);
    attach();
    mark(page[0]);
    CHECK_EQ(live_count_of("keeper", "in a page"), 1);
    for (size_t i = 0; i < 4096; i++)
        if (!CHECK_EQ(((const char *)page[2])[i], 0x55))
            break;
    live_check_no_trouble();
}

/* More regions than the list holds. */
TEST(regions_by_the_thousand)
{
    enum { MANY = 5000 };
    gnomon_region *regions = calloc(MANY, sizeof *regions);
    for (int i = 0; i < MANY; i++) {
        regions[i] = (gnomon_region)GNOMON_REGION_INIT(
            GNOMON_KIND_SCOPE, "one of many", NULL, NULL);
        mark(&regions[i]);
        mark(&regions[i]);
    }
    attach();
    for (int i = 0; i < MANY; i++)
        mark(&regions[i]);
    CHECK_EQ(live_count_of("keeper", "one of many"), MANY);
    live_check_no_trouble();
}

/* ---- Attach during first marks ------------------------------------------- */

enum { THREADS = 4, REGIONS = 64 };

static gnomon_region *shared; /* of this round: what was registered stays */
static pthread_barrier_t turns;

static void *mark_first(void *rounds)
{
    for (int k = 0; k < *(int *)rounds; k++) {
        pthread_barrier_wait(&turns);
        for (int i = 0; i < REGIONS; i++)
            mark(&shared[i]);
        gnomon_start("action");
        gnomon_stop("action");
        pthread_barrier_wait(&turns); /* attached */
        for (int i = 0; i < REGIONS; i++)
            mark(&shared[i]);
        gnomon_start("last");
        gnomon_stop("last");
        pthread_barrier_wait(&turns);
        pthread_barrier_wait(&turns); /* counted */
    }
    return NULL;
}

/* A mark after an attach has returned is counted, whatever its region's
 * first mark was doing then. */
TEST(first_marks_during_an_attach)
{
    pthread_t threads[THREADS];
    int rounds[THREADS], all = (int)live_times(300, 10000);
    for (int i = 0; i < THREADS; i++)
        rounds[i] = all;
    pthread_barrier_init(&turns, NULL, THREADS + 1);
    live_start(threads, THREADS, mark_first, rounds, sizeof *rounds);
    for (int k = 0; k < all; k++) {
        shared = calloc(REGIONS, sizeof *shared);
        for (int i = 0; i < REGIONS; i++)
            shared[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE,
                                                          "shared", NULL, NULL);
        pthread_barrier_wait(&turns);
        attach();
        long long before = live_count_of("keeper", "shared");
        pthread_barrier_wait(&turns);
        pthread_barrier_wait(&turns);
        long long count = live_count_of("keeper", "shared");
        CHECK(count >= THREADS * REGIONS);
        CHECK(count <= 2 * THREADS * REGIONS);
        CHECK(before <= THREADS * REGIONS);
        CHECK_EQ(live_count_of("keeper", "last"), THREADS);
        detach();
        pthread_barrier_wait(&turns);
        if (test_failures)
            _exit(1);
    }
    live_join(threads, THREADS);
    live_check_no_trouble();
}

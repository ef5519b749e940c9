/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of regions, at its limits and without memory; and other small tables, of
 * threads, hooks and copies.
 * links: testing
 * timeout: 300 */
#include <signal.h>
#include <stdlib.h>

#include "mark/region.h"
#include "mark/observer.h"
#include "marks.h"
#include "probe_profile.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "sanitizer.h"

static gnomon_region *region_of(const char *what, int i)
{
    char name[32];
    snprintf(name, sizeof name, "%s %d", what, i);
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

/* ---- Regions ------------------------------------------------------------- */

static gnomon_region static_region(const char *name)
{
    return (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, NULL,
                                             NULL);
}

TEST(regions_of_another_make_stay_off)
{
    gnomon_region small = static_region("small"),
                  alien = static_region("alien");
    attach_probe();
    gnomon_health before = health_now();
    small.struct_size--;
    alien.abi++;
    for (int i = 0; i < 3; i++) {
        gnomon_end(gnomon_begin(&small));
        gnomon_end(gnomon_begin(&alien));
    }
    CHECK_EQ(small.mask, 0);
    CHECK_EQ(alien.mask, 0);
    CHECK_HEALTH(before, .bad_regions = 2);
}

/* Static regions have no limit but that of the table. */
TEST(a_million_static_regions_fill_the_table)
{
    enum { MORE = 1000 };
    uint32_t n = GNOMON__MAX_REGIONS + MORE;
#if IS_ASAN || IS_TSAN
    SKIP("a sanitizer is too slow at it");
#endif
    gnomon_region *all = calloc(n, sizeof *all);
    attach_probe();
    gnomon_end(gnomon_begin(region_of("before", 0)));
    gnomon_health before = health_now();
    uint32_t first = gnomon__region_count();
    for (uint32_t i = 0; i < n; i++) {
        all[i] = static_region("one of many");
        gnomon_end(gnomon_begin(&all[i]));
    }
    uint32_t fit = GNOMON__MAX_REGIONS - 1 - first;
    CHECK_EQ(gnomon__region_count(), GNOMON__MAX_REGIONS - 1);
    CHECK_EQ(all[fit].mask, GNOMON_MASK_UNSEEN);
    gnomon_health after = health_now();
    CHECK_EQ(after.other_names - before.other_names, n - fit);
    gnomon_end(gnomon_begin(&all[fit - 1]));
    CHECK_EQ(health_now().unmatched, before.unmatched);
}

/* A block of the table is 4096 regions. */
TEST(a_region_for_which_there_is_no_memory_stays_off)
{
    enum { N = 5000 };
    static gnomon_region all[N];
    int off = 0;
    attach_probe();
    gnomon_end(gnomon_begin(region_of("before", 0)));
    gnomon_health before = health_now();
    int fit = 4095 - (int)gnomon__region_count();
    for (int i = 0; i < N; i++) {
        all[i] = static_region("one of many");
        gnomon__test_fail_allocation(1);
        gnomon_touch_slow(&all[i], all[i].mask);
        gnomon__test_fail_allocation(0);
        off += !all[i].mask;
    }
    CHECK_EQ(off, N - fit);
    CHECK_HEALTH(before, .other_names = (uint64_t)off);
}

TEST(a_bad_name_for_which_there_is_no_memory)
{
    enum { N = 90 }; /* copies of 1 KiB, of pages of 64 */
    static gnomon_region all[N];
    static char name[1001];
    int nameless = 0;
    attach_probe();
    memset(name, 0xff, sizeof name - 1);
    for (int i = 0; i < N; i++) {
        all[i] = static_region(name);
        gnomon__test_fail_allocation(1);
        gnomon_end(gnomon_begin(&all[i]));
        gnomon__test_fail_allocation(0);
        CHECK(all[i].mask != 0);
        nameless += strcmp(gnomon__region_name(&all[i]), "(bad name)") == 0;
    }
    CHECK(nameless > 0);
    gnomon_profile_free(profile_of("probe", 0));
}

static gnomon_region handled[70], *in_heap;

static void touch_all(int unused)
{
    (void)unused;
    for (int i = 0; i < 70; i++)
        gnomon_end(gnomon_begin(&handled[i]));
    gnomon_end(gnomon_begin(in_heap));
}

/* The program's own regions stay mapped. A handler cannot know that of
 * others. */
TEST(a_handler_s_first_touches)
{
    struct sigaction action = {.sa_handler = touch_all};
    in_heap = calloc(1, sizeof *in_heap);
    attach_probe();
    gnomon_end(gnomon_begin(region_of("before", 0)));
    for (int i = 0; i < 70; i++)
        handled[i] = static_region("handled");
    *in_heap = static_region("in the heap");
    gnomon_health before = health_now();
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    CHECK_HEALTH(before, .reentered = 1);
    touch_all(0);
    CHECK_HEALTH(before, .reentered = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "handled"), 2 * 70);
    CHECK_EQ(calls_of(p, "in the heap"), 1);
    gnomon_profile_free(p);
}

/* ---- Off ----------------------------------------------------------------- */

TEST(a_step_as_the_first_mark_of_a_process_that_is_off)
{
    CHECK_EQ(gnomon_enabled, GNOMON_MASK_UNSEEN);
    gnomon_step();
    CHECK_EQ(gnomon_enabled, 0);
    CHECK_EQ(health_now().threads, 0);
    CHECK_EQ(health_now().mapped_bytes, 0);
}

/* ---- Names and health ---------------------------------------------------- */

static char named[256];

static void on_name(void *self, const gnomon_thread_event *event)
{
    size_t used = strlen(named);
    CHECK(self == named);
    snprintf(named + used, sizeof named - used, "%u %s, ",
             (unsigned)event->thread, event->name);
}

static void on_step(void *self, const gnomon_step_event *event)
{
    (void)self, (void)event;
}

static void *name_it(void *name)
{
    gnomon_thread_name(name);
    return NULL;
}

TEST(hooks_hear_of_names_of_threads)
{
    static char worker[] = "worker\xff";
    const gnomon_profiler hears = {.struct_size = sizeof hears,
                                   .abi = GNOMON_ABI,
                                   .name = "hears",
                                   .thread = on_name};
    const gnomon_profiler deaf = {.struct_size = sizeof deaf,
                                  .abi = GNOMON_ABI,
                                  .name = "deaf",
                                  .step = on_step};
    CHECK_EQ(gnomon_attach(&deaf, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hears, named, NULL), GNOMON_OK);
    gnomon_thread_name("main");
    on_thread(name_it, worker);
    gnomon_thread_name("again");
    CHECK_EQ(gnomon_detach(&hears, named), GNOMON_OK);
    gnomon_thread_name("unheard");
    CHECK_STR(named, "0 main, 1 worker\xEF\xBF\xBD, 0 again, ");
}

static char logged[1024];

static void keep_line(const char *line)
{
    snprintf(logged, sizeof logged, "%s", line);
}

TEST(the_log_has_names_of_threads)
{
    gnomon__test_log = keep_line;
    CHECK_EQ(gnomon_attach(NULL, NULL, "log"), GNOMON_OK);
    gnomon_thread_name("loader");
    CHECK_STR(logged, "gnomon: log: 0 is thread loader");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* A program of a later version has a larger struct. */
TEST(a_larger_health_is_zero_past_what_is_known)
{
    struct {
        gnomon_health known;
        uint64_t later[4];
    } more;
    memset(&more, 0xff, sizeof more);
    more.known.struct_size = sizeof more;
    attach_probe();
    gnomon_end(1234);
    gnomon_health_get(&more.known);
    CHECK_EQ(more.known.struct_size, sizeof more);
    CHECK_EQ(more.known.foreign, 1);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(more.later[i], 0);
}

/* ---- Copies -------------------------------------------------------------- */

TEST(sixty_four_copies_fit)
{
    static uint32_t gates[65];
    attach_probe();
    for (int i = 0; i < 64; i++)
        CHECK_EQ(gnomon__observer_add_active_word(&gates[i]), GNOMON_OK);
    CHECK_EQ(gnomon__observer_add_active_word(&gates[64]), GNOMON_EFULL);
    CHECK_STR(gnomon_error_text(), "64 copies of gnomon are in this process, "
                                   "no more fit");
    CHECK_EQ(gnomon__observer_add_active_word(&gates[3]),
             GNOMON_OK); /* it is there */
    CHECK_EQ(gates[63], gnomon_enabled);
    CHECK_EQ(gates[64], 0);
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    CHECK_EQ(gates[63], 0);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Percentages are of the time that the profiler's view recorded; of a partly
 * recorded stage, of that part.
 *
 * links: testing */
#include <stdlib.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "test.h"

#define MS 1000000u

static void pass_ms(unsigned ms)
{
    gnomon__test_pass((uint64_t)ms * MS);
}

static void work_ms(unsigned ms)
{
    gnomon_start("work");
    pass_ms(ms);
    gnomon_stop("work");
}

static char text[65536];

static int keep(const gnomon_writer *w, const void *bytes, size_t size)
{
    size_t used = strlen(text);
    (void)w;
    if (used + size >= sizeof text)
        return GNOMON_EFULL;
    memcpy(text + used, bytes, size);
    text[used + size] = 0;
    return GNOMON_OK;
}

/* The last column of the row of "work" in simple's table; -1: there is none. */
static double share_in_text(void)
{
    const char *row = strstr(text, "|  work");
    const char *end = row ? strchr(row, '\n') : NULL;
    int bars = 0;
    if (!end)
        return -1;
    while (end > row && bars < 2)
        bars += *--end == '|';
    return strtod(end + 1, NULL);
}

static double share(void)
{
    gnomon_writer w = {.struct_size = sizeof w, .write = keep};
    *text = 0;
    CHECK_EQ(gnomon_summary("simple", &w), GNOMON_OK);
    return share_in_text();
}

static uint64_t recorded_ms(int all_stages)
{
    gnomon_profile *p = NULL;
    gnomon_stage_info s = {.struct_size = sizeof s};
    if (!CHECK_EQ(gnomon_snapshot(&p, "simple", all_stages), GNOMON_OK))
        return 0;
    gnomon_profile_stage(p, 1, &s);
    gnomon_profile_free(p);
    return s.recorded_ns / MS;
}

static void begin(void)
{
    gnomon_setup_options quiet = {
        .struct_size = sizeof quiet, .has_rank = 1, .rank = 1, .world_size = 2};
    pass_ms(1);
    CHECK_EQ(gnomon_setup(&quiet), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
}

TEST(of_the_time_of_the_stage)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    begin();
    pass_ms(1500);
    work_ms(500);
    CHECK_EQ(recorded_ms(0), 2000);
    CHECK_EQ(share() * 10, 250);
}

TEST(of_the_time_after_a_late_attach)
{
    begin();
    work_ms(1000); /* which nobody sees */
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    work_ms(500);
    pass_ms(500);
    CHECK_EQ(recorded_ms(0), 1000);
    CHECK_EQ(recorded_ms(1), 1000);
    CHECK_EQ(share() * 10, 500);
    gnomon_stage_begin("fit"); /* all of it from now on */
    work_ms(100);
    pass_ms(900);
    CHECK_EQ(recorded_ms(0), 1000);
    CHECK_EQ(share() * 10, 100);
    CHECK_EQ(recorded_ms(1), 2000);
}

/* The program attaches it, as a user requested. */
TEST(of_the_time_between_attach_and_detach)
{
    static const gnomon_profiler keeper = {.struct_size = sizeof keeper,
                                           .abi = GNOMON_ABI,
                                           .wants = GNOMON_WANT_TREE,
                                           .name = "simple",
                                           .help = "keeps a tree"};
    begin();
    for (int i = 0; i < 3; i++) {
        pass_ms(777);
        CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
        work_ms(30);
        pass_ms(70);
        CHECK_EQ(recorded_ms(0), 100);
        CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
    }
}

TEST(of_the_windows_alone)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(schedule=wait:1/active:1)"),
             GNOMON_OK);
    begin();
    for (int i = 0; i < 10; i++) {
        work_ms(50);
        pass_ms(50);
        gnomon_step();
    }
    CHECK_EQ(recorded_ms(0), 500);
    CHECK_EQ(share() * 10, 500);
}

/* The time between a stage's end and the next one's first mark belongs to no
 * stage. */
TEST(not_of_the_time_between_stages)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(schedule=active:1/repeat:1)"),
             GNOMON_OK);
    begin();
    gnomon_step();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    pass_ms(5000);
    work_ms(100);
    gnomon_step();
    pass_ms(100);
    CHECK_EQ(recorded_ms(0), 100);
    CHECK_EQ(share() * 10, 1000);
}

/* ---- Without a stage ---------------------------------------------------------- */

static uint64_t reported_ms;

static int note_recorded(void *self, const gnomon_profile *p,
                         const gnomon_writer *out)
{
    gnomon_stage_info s = {.struct_size = sizeof s};
    (void)self;
    (void)out;
    CHECK_EQ(gnomon_profile_stage(p, 1, &s), GNOMON_OK);
    CHECK_EQ(s.recorded_ns, s.end_ns - s.begin_ns);
    reported_ms = s.recorded_ns / MS;
    return GNOMON_OK;
}

static const gnomon_profiler noter = {.struct_size = sizeof noter,
                                      .abi = GNOMON_ABI,
                                      .wants = GNOMON_WANT_TREE,
                                      .name = "noter",
                                      .summary = note_recorded};

static void begin_without_stage(void)
{
    gnomon_setup_options quiet = {
        .struct_size = sizeof quiet, .has_rank = 1, .rank = 1, .world_size = 2};
    CHECK_EQ(gnomon_setup(&quiet), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&noter, NULL, NULL), GNOMON_OK);
    pass_ms(1);
}

/* Until now, and in the reports at the run's end, long after the last mark. */
static void check_recorded(uint64_t ms, unsigned idle_ms)
{
    CHECK_EQ(recorded_ms(0), ms);
    CHECK_EQ(recorded_ms(1), ms);
    pass_ms(idle_ms);
    gnomon_teardown();
    CHECK_EQ(reported_ms, ms + idle_ms);
}

static void check_ended(uint64_t ms)
{
    pass_ms(5000);
    CHECK_EQ(recorded_ms(0), ms);
    CHECK_EQ(recorded_ms(1), ms);
    gnomon_teardown();
    CHECK_EQ(reported_ms, ms);
}

TEST(of_the_time_to_the_last_end_without_a_stage)
{
    begin_without_stage();
    work_ms(25);
    pass_ms(50);
    work_ms(25);
    CHECK_EQ(share() * 10, 500);
    check_ended(100);
}

TEST(of_the_time_to_the_last_end_of_any_kind)
{
    begin_without_stage();
    work_ms(10);
    gnomon_range r = gnomon_range_begin(gnomon_region_get("range", "", 0));
    pass_ms(10);
    gnomon_range_end(r);
    check_ended(20);
    begin_without_stage();
    work_ms(10);
    pass_ms(20);
    gnomon_step();
    check_ended(30);
}

TEST(of_the_time_to_the_last_end_on_any_path)
{
    begin_without_stage();
    CHECK_EQ(gnomon_attach(NULL, NULL, "+trace(file=/dev/null)"), GNOMON_OK);
    work_ms(10);
    work_ms(10);
    CHECK_EQ(recorded_ms(0), 20);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+log(file=/dev/null)"), GNOMON_OK);
    work_ms(10);
    work_ms(10);
    CHECK_EQ(recorded_ms(0), 40);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+tree(filter=work)"), GNOMON_OK);
    work_ms(10);
    work_ms(10);
    check_ended(60);
}

TEST(of_all_the_time_while_something_is_open)
{
    begin_without_stage();
    gnomon_start("open");
    work_ms(10);
    pass_ms(90);
    check_recorded(100, 100);
    gnomon_stop("open");
    begin_without_stage();
    gnomon_range r = gnomon_range_begin(gnomon_region_get("range", "", 0));
    work_ms(10);
    pass_ms(90);
    check_recorded(100, 100);
    gnomon_range_end(r);
}

/* What is marked after a stage's end is in one that nobody opened. */
TEST(of_the_time_to_the_last_end_after_a_stage)
{
    begin_without_stage();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    work_ms(10);
    pass_ms(90);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(reported_ms, 100); /* its own end was said */
    pass_ms(100);
    work_ms(10);
    pass_ms(5000);
    CHECK_EQ(recorded_ms(0), 10);
    gnomon_teardown();
    CHECK_EQ(reported_ms, 10);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of a profile that has a part of a stage: of a cycle of a schedule, or of a
 * recording that began later. It has its own steps, and no other ones.
 * links: testing */
#include <stdio.h>
#include <stdlib.h>

#include "gnomon/profile.h"
#include "marks.h"
#include "probe_profile.h"
#include "platform/error.h"
#include "run/run.h"
#include "taping.h"

/* Steps of `first`, `first` + 1, ... ns. */
static void steps_of(int count, uint64_t first)
{
    for (int i = 0; i < count; i++) {
        gnomon_start("work");
        pass(first + (uint64_t)i);
        gnomon_stop("work");
        gnomon_step();
    }
}

static void check_steps(const gnomon_profile *p, uint32_t stage, uint64_t count,
                        uint64_t first, uint64_t ns)
{
    gnomon_stage_info s;
    gnomon_step_info step;
    uint64_t seen = 0, sum = 0;
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(gnomon_profile_stage(p, stage, &s), GNOMON_OK);
    CHECK_EQ(s.steps ? s.steps->count : 0, count);
    CHECK_EQ(s.steps ? s.steps->total_ns : 0, ns);
    for (size_t i = 1; !gnomon_profile_step(p, i, &step); i++) {
        if (step.stage != stage)
            continue;
        CHECK(step.number >= first && step.number < first + count);
        sum += step.end_ns - step.begin_ns;
        seen++;
    }
    CHECK_EQ(seen, count);
    CHECK_EQ(sum, ns);
}

static int write_text(const gnomon_writer *w, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

/* The caller frees it. */
static char *steps_report(const gnomon_profile *p)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = write_text, .context = to};
    CHECK_EQ(gnomon_report(p, "steps", &w), GNOMON_OK);
    fclose(to);
    return text;
}

/* ---- Cycles ------------------------------------------------------------------ */

static struct {
    uint64_t count, first, ns;
} expected[4];
static int delivered;
static char *last_report;

static int check_cycle(void *self, const gnomon_profile *p,
                       const gnomon_writer *out)
{
    (void)self, (void)out;
    check_steps(p, 1, expected[delivered].count, expected[delivered].first,
                expected[delivered].ns);
    free(last_report);
    last_report = steps_report(p);
    delivered++;
    return GNOMON_OK;
}

static gnomon_profiler cycle_taper = {TAPES("cycles"), .events = check_cycle};

static void run_cycles(const char *schedule, int steps)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycle_taper, NULL, schedule), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    steps_of(steps, 100);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

TEST(a_cycle_has_its_own_steps)
{
    expected[0].count = expected[1].count = 2;
    expected[0].first = 1;
    expected[0].ns = 101 + 102;
    expected[1].first = 4;
    expected[1].ns = 104 + 105;
    run_cycles("schedule=wait:1/active:2/repeat:2", 7);
    CHECK_EQ(delivered, 2);
    CHECK(strstr(last_report, "\nstep 5 "));
    CHECK(strstr(last_report, "\nstep 4 "));
    CHECK(!strstr(last_report, "\nstep 2 "));
    CHECK(!strstr(last_report, "\nstep 6 "));
    free(last_report);
}

/* More than the run keeps. */
TEST(a_long_cycle_has_all_its_steps)
{
    expected[0].count = 200;
    expected[0].first = 100;
    expected[0].ns = 200 * 200 + 200 * 199 / 2;
    run_cycles("schedule=wait:100/active:200/repeat:1", 400);
    CHECK_EQ(delivered, 1);
    free(last_report);
}

/* Its tree and the times in steps are of the stage, from that's begin on. */
TEST(times_in_steps_of_the_whole_stage_are_not_a_cycle_s)
{
    expected[0].count = 2;
    expected[0].first = 1;
    expected[0].ns = 101 + 102;
    cycle_taper.wants |= GNOMON_WANT_STEPS;
    run_cycles("schedule=wait:1/active:2/repeat:1", 4);
    CHECK_EQ(delivered, 1);
    free(last_report);
}

/* The profile is made after the next scope has begun, as a thread of ours may be late. */
static int open_scopes;

static int count_open(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    (void)self, (void)out;
    open_scopes += (int)gnomon_profile_count(p, GNOMON_OPENS);
    delivered++;
    return GNOMON_OK;
}

TEST(a_cycle_has_no_scope_that_began_after_it)
{
    cycle_taper.events = count_open;
    gnomon__test_set(1000);
    CHECK_EQ(
        gnomon_attach(&cycle_taper, NULL, "schedule=wait:1/active:1/repeat:1"),
        GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_start("around");
    steps_of(1, 100);
    CHECK_EQ(gnomon__control_enter(), GNOMON_OK); /* so no cycle is delivered */
    steps_of(1, 100);
    gnomon_start("after");
    gnomon__control_leave();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(delivered, 1);
    CHECK_EQ(open_scopes, 1);
}

static struct {
    uint64_t calls, events, with_events;
} given;

static int count_given(void *self, const gnomon_profile *p,
                       const gnomon_writer *out)
{
    (void)self, (void)out;
    given.calls++;
    given.events += events(p);
    given.with_events += events(p) != 0;
    return GNOMON_OK;
}

static char last_line[256];

static void keep_line(const char *line)
{
    snprintf(last_line, sizeof last_line, "%s", line);
}

/* 20 cycles while none can be given, of which 16 wait: a profiler counts all of them. */
TEST(cycles_that_fall_together_say_so_and_keep_their_numbers)
{
    cycle_taper.events = count_given;
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycle_taper, NULL, "schedule=wait:1/active:1"),
             GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon__test_log = keep_line;
    CHECK_EQ(gnomon__control_enter(), GNOMON_OK);
    steps_of(40, 100);
    gnomon__control_leave();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STR(last_line,
              "gnomon: cycles 16 to 20 of a schedule ended faster than "
              "profilers took them: the first has the events of all");
    CHECK_EQ(given.calls, 20);
    CHECK_EQ(given.with_events, 16);
    CHECK_EQ(given.events, 20);
}

/* ---- Recordings that began later ------------------------------------------------- */

TEST(a_recording_that_began_later_has_its_own_steps)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(file=/dev/null)"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("warm up"), GNOMON_OK);
    steps_of(3, 10);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    steps_of(80, 20);
    pass(1); /* in a step that it does not see from its begin */
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    steps_of(1, 50);
    steps_of(70, 1000);
    gnomon_profile *p = profile_of("taper", 0);
    check_steps(p, 1, 70, 81, 70 * 1000 + 70 * 69 / 2);
    char *text = steps_report(p);
    CHECK(strstr(text, "\nstep 150 "));
    free(text);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_stage_begin("after"), GNOMON_OK);
    steps_of(2, 5);
    p = profile_of("taper", 1);
    gnomon_stage_info s;
    for (uint32_t i = 1; !gnomon_profile_stage(p, i, &s); i++)
        if (strcmp(s.name, "warm up") == 0)
            check_steps(p, i, 0, 0, 0);
        else if (strcmp(s.name, "after") == 0)
            check_steps(p, i, 2, 0, 5 + 6);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

TEST(a_recording_from_the_begin_has_all_steps)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    steps_of(5, 10);
    gnomon_profile *p = profile_of("taper", 0);
    check_steps(p, 1, 5, 0, 10 + 11 + 12 + 13 + 14);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long regions took in steps, on the test's clock: in which step a time
 * counts, what is kept of a long run, and what the profiler `steps` prints.
 *
 * links: testing */
#include <stdarg.h>

#include "child.h"
#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"
#include "step_times.h"

#include "gnomon.h"
#include "mark/thread.h"
#include "platform/memory.h"
#include "print/letters.h"

#define MS 1000000u

static void begin(const char *spec)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
}

static void scope(const char *name, uint64_t ns)
{
    gnomon_start(name);
    pass(ns);
    gnomon_stop(name);
}

static int text_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

GNOMON_PRINTF(2, 3)
static int text_print(const gnomon_writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vfprintf(w->context, format, list);
    va_end(list);
    return n < 0 ? GNOMON_EIO : GNOMON_OK;
}

/* The text of `steps` now. The caller frees it. */
static char *text_now(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    const gnomon_writer w = {.struct_size = sizeof w,
                             .write = text_write,
                             .print = text_print,
                             .context = to};
    CHECK_EQ(gnomon_summary("steps", &w), GNOMON_OK);
    fclose(to);
    return text;
}

static void check_text(const char *wanted)
{
    char *text = text_now();
    CHECK_STR(text, wanted);
    free(text);
}

/* ---- The report ---------------------------------------------------------------- */

TEST(a_slow_step_is_reported_with_what_was_longer)
{
    begin("steps(limit=3)");
    for (int i = 0; i < 100; i++) {
        scope("train_dataloader_next", i == 81 ? 114 * MS : 3 * MS);
        scope("training_step", 9 * MS);
        if (i == 40)
            scope("save_checkpoint", 12 * MS);
        gnomon_step();
    }
    check_text(
        "Steps\n"
        "\n"
        "     Steps       Mean     Median        p99        Max\n"
        "       100    13.2 ms      12 ms    24.1 ms     123 ms\n"
        "of a step: 68 % training_step, 31 % train_dataloader_next\n"
        "\n"
        "step 81   123 ms  train_dataloader_next 114 ms, usually 3.01 ms\n"
        "step 40    24 ms  save_checkpoint 12 ms, usually 0\n"
        "step 0     12 ms\n");
}

/* A heading alone would leave a user of a trainer that makes no steps to guess. */
TEST(without_steps_a_line_says_what_makes_them)
{
    begin("steps");
    scope("training_step", MS);
    check_text("Steps\n"
               "\n"
               "no step was recorded: gnomon_step() makes one, or step= in "
               "$GNOMON\n");
}

/* The same layers run in it as in training, and none of them takes longer. */
TEST(what_is_new_in_a_step_is_reported_and_not_what_it_calls)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 50; i++) {
        scope("forward", 2 * MS);
        if (i % 10 == 9) {
            GNOMON_SCOPE("validation");
            for (int k = 0; k < 5; k++)
                scope("forward", 2 * MS);
        }
        gnomon_step();
    }
    char *text = text_now();
    CHECK(strstr(text, "\nstep 9    12 ms  validation 10 ms, usually 0\n") ||
          !fprintf(stderr, "%s", text));
    free(text);
}

static void check_line(const char *line)
{
    char *text = text_now();
    CHECK(strstr(text, line) || !fprintf(stderr, "%s", text));
    free(text);
}

/* All that runs in a validation runs because of it. */
TEST(what_ran_more_often_is_reported_by_what_calls_it)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 50; i++) {
        scope("forward", 2 * MS);
        if (i % 10 == 9) {
            GNOMON_SCOPE("validation");
            for (int k = 0; k < 5; k++) {
                GNOMON_SCOPE("validation_step");
                scope("forward", 2 * MS);
            }
        }
        gnomon_step();
    }
    check_line("\nstep 9    12 ms  validation 10 ms, usually 0\n");
}

/* Batches that are accumulated: no forward takes longer. */
TEST(more_calls_than_usual_are_told)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < (i == 30 ? 6 : 1); k++) {
            GNOMON_SCOPE("batch");
            scope("forward", 2 * MS);
        }
        gnomon_step();
    }
    check_line("\nstep 30    12 ms  batch 12 ms in 6 calls, usually 2.02 ms\n");
}

/* One of a few slow steps is no reason to call the others usual. */
TEST(as_many_calls_that_took_longer_are_no_calls)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 20; i++) {
        GNOMON_SCOPE("batch");
        scope("forward", i % 3 ? 2 * MS : 30 * MS);
        gnomon_step();
    }
    check_line("\nstep 0    30 ms  forward 30 ms, usually 2.02 ms\n");
}

static int decodes; /* a loader's, by turns */

static void *decode(void *ns)
{
    scope("decode", *(uint64_t *)ns);
    decodes++;
    return NULL;
}

/* The longer a step, the more is decoded beside it: that is not why. */
TEST(what_runs_beside_a_slow_step_is_not_why)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 40; i++) {
        uint64_t ns = (i == 20 ? 80 : 20) * (uint64_t)MS;
        uint64_t start = gnomon__ticks();
        for (int k = 0; k < 8; k++) {
            gnomon__test_set(start);
            on_thread(decode, &ns);
        }
        gnomon__test_set(start);
        scope("compute", ns);
        gnomon_step();
    }
    CHECK_EQ(decodes, 320);
    char *text = text_now();
    CHECK(
        strstr(text, "\nstep 20    80 ms  compute 80 ms, usually 20.5 ms\n") ||
        !fprintf(stderr, "%s", text));
    free(text);
}

/* What loaders did meanwhile may be why the step waited, and adds up to more. */
TEST(what_the_stepping_thread_waited_for_comes_first)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 40; i++) {
        uint64_t ns = (i == 20 ? 80 : 5) * (uint64_t)MS;
        uint64_t start = gnomon__ticks();
        for (int k = 0; k < 8; k++) {
            gnomon__test_set(start);
            on_thread(decode, &ns);
        }
        gnomon__test_set(start);
        scope("next_batch", ns);
        scope("compute", 20 * MS);
        gnomon_step();
    }
    check_line("\nstep 20   100 ms  next_batch 80 ms, usually 5.12 ms; "
               "decode 640 ms, usually 41 ms\n");
}

static void nested(int step)
{
    GNOMON_SCOPE("epoch_step");
    GNOMON_SCOPE("run_training_batch");
    scope("forward", step == 20 ? 90 * MS : 1 * MS);
    scope("backward", step == 30 ? 40 * MS : 1 * MS);
    scope("optimizer_step", step == 30 ? 30 * MS : 1 * MS);
}

/* Time that is mostly an inner scope's is not reported of the outer ones;
 * where two inner ones share it, their parent is reported too, but not its
 * parents. */
TEST(the_innermost_scope_that_explains_it_is_reported)
{
    begin("steps(limit=2)");
    for (int i = 0; i < 50; i++) {
        nested(i);
        gnomon_step();
    }
    char *text = text_now();
    CHECK(
        strstr(text, "\nstep 20    92 ms  forward 90 ms, usually 1.01 ms\n") !=
        NULL);
    CHECK(strstr(text, "\nstep 30    71 ms  run_training_batch 71 ms, usually "
                       "3.01 ms; backward 40 ms, usually 1.01 ms; "
                       "optimizer_step 30 ms, usually 1.01 ms\n") != NULL ||
          !fprintf(stderr, "%s", text));
    free(text);
}

/* Its path may be the last one that the profile has. */
TEST(a_scope_that_came_last_explains_it_too)
{
    begin("steps(limit=1)");
    for (int i = 0; i < 20; i++) {
        gnomon_start("outer");
        if (i == 19)
            scope("retry", 30 * MS);
        pass(MS);
        gnomon_stop("outer");
        gnomon_step();
    }
    char *text = text_now();
    CHECK(strstr(text, "\nstep 19    31 ms  retry 30 ms, usually 0\n") ||
          !fprintf(stderr, "%s", text));
    free(text);
}

TEST(durations_have_three_digits)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "0"},
                 {7, "7 ns"},
                 {999, "999 ns"},
                 {1000, "1 us"},
                 {3149, "3.15 us"},
                 {9994, "9.99 us"},
                 {9995, "10 us"},
                 {99949, "99.9 us"},
                 {99950, "100 us"},
                 {999499, "999 us"},
                 {999500, "1 ms"},
                 {12 * MS, "12 ms"},
                 {3100000, "3.1 ms"},
                 {1234 * (uint64_t)MS, "1.23 s"},
                 {99999999 * (uint64_t)MS, "100000 s"}};
    char text[GNOMON__DURATION];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK_STR(gnomon__short_duration(text, times[i].ns), times[i].text);
}

/* Columns have four, with their zeroes. */
TEST(durations_in_columns_have_four_digits)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "0 ns"},
                 {999, "999 ns"},
                 {1000, "1.000 us"},
                 {99994, "99.99 us"},
                 {99995, "100.0 us"},
                 {999949, "999.9 us"},
                 {999950, "1.000 ms"},
                 {3100000, "3.100 ms"},
                 {1234 * (uint64_t)MS, "1.234 s"},
                 {UINT64_MAX, "18446744074 s"}};
    char text[GNOMON__DURATION];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK_STR(gnomon__print_duration(text, times[i].ns), times[i].text);
}

/* ---- In which step a time counts ----------------------------------------- */

static gnomon_profile *of_steps(int all_stages)
{
    return profile_of("steps", all_stages);
}

/* A scope counts in the step in which it ends, from that step's begin on. */
TEST(a_scope_over_steps_counts_from_the_step_s_begin)
{
    begin("steps");
    scope("load", 10);
    gnomon_region *region = gnomon_region_get("long", NULL, GNOMON_KIND_SCOPE);
    gnomon_token token = gnomon_begin(region);
    gnomon_range range = gnomon_range_begin(region);
    pass(100);
    gnomon_step();
    pass(30);
    gnomon_end(token);
    gnomon_step();
    pass(7);
    gnomon_range_end(range);
    gnomon_step();
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(step_stats(p, 1, NULL).count, 3);
    CHECK_EQ(step_stats(p, 1, NULL).total_ns, 147);
    CHECK_EQ(step_stats(p, 1, "load").count, 1);
    CHECK_EQ(step_stats(p, 1, "long").count, 2);
    CHECK_EQ(step_stats(p, 1, "long").total_ns, 37);
    CHECK_EQ(slow_step_ns(p, 1, 0, NULL), 110);
    CHECK_EQ(slow_step_ns(p, 1, 0, "load"), 10);
    CHECK_EQ(slow_step_ns(p, 1, 0, "long"), 0);
    CHECK_EQ(slow_step_ns(p, 1, 1, "long"), 30);
    CHECK_EQ(slow_step_ns(p, 1, 2, "long"), 7);
    gnomon_profile_free(p);
}

static void *load_on_thread(void *ns)
{
    scope("load", *(const uint64_t *)ns);
    return NULL;
}

/* Successive threads of one name share one table, and no time is lost. */
TEST(threads_add_up_also_those_that_ended)
{
    begin("steps");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t ns = 100 + i;
        scope("load", 1000);
        on_thread(load_on_thread, &ns);
        if (i % 2)
            on_thread(load_on_thread, &ns);
        gnomon_step();
    }
    gnomon_profile *p = of_steps(0);
    gnomon_stats load = step_stats(p, 1, "load");
    CHECK_EQ(load.count, 20);
    CHECK_EQ(load.min_ns, 1100);
    CHECK_EQ(load.max_ns, 1000 + 2 * 119);
    CHECK_EQ(load.total_ns, 20 * 1000 + 30 * 100 + 190 + 100);
    CHECK_EQ(slow_step_ns(p, 1, 19, "load"), 1238);
    CHECK_EQ(slow_steps(p, 1), 10);
    gnomon_profile_free(p);
}

static void check_calls(const gnomon_profile *p, uint64_t step,
                        const char *region, uint64_t own_ns, uint64_t calls)
{
    int is_slow;
    gnomon_step_time_info t = slow_step(p, 1, step, region, &is_slow);
    CHECK_EQ(t.own_ns, own_ns);
    CHECK_EQ(t.calls, calls);
}

/* Of loaders it is not the thread that makes the step. */
TEST(calls_and_the_time_of_the_stepping_thread_are_known)
{
    begin("steps");
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t ns = 100;
        for (uint64_t k = 0; k <= 2 * i; k++)
            scope("load", 7);
        on_thread(load_on_thread, &ns);
        on_thread(decode, &ns);
        scope("instant", 0);
        gnomon_step();
    }
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(slow_step_ns(p, 1, 2, "load"), 135);
    check_calls(p, 0, "load", 7, 2);
    check_calls(p, 2, "load", 35, 6);
    check_calls(p, 2, "decode", 0, 1);
    check_calls(p, 2, "instant", 0, 1);
    check_calls(p, 2, NULL, slow_step_ns(p, 1, 2, NULL), 1);
    gnomon_step_time_info t;
    for (size_t i = 1; !gnomon_profile_step_time(p, i, &t); i++)
        if (!t.step && step_record_is_of(p, &t, "load")) {
            CHECK_EQ(t.time->total_ns, 63 + 300);
            CHECK_EQ(t.own_ns, 63);
            CHECK_EQ(t.calls, 9 + 3);
        }
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    gnomon_profile_free(p);
}

/* Waiting steps are in no sum, nor is a scope that ended in them; a step
 * counts only if its window was open from its begin. */
TEST(a_schedule_s_windows_alone_count)
{
    begin("steps(schedule=wait:2/warmup:1/active:3/repeat:1),simple");
    for (uint64_t i = 0; i < 10; i++) {
        scope("load", 10 + i);
        if (i == 5) /* begins in the window, and ends after it */
            gnomon_start("late");
        gnomon_step();
        if (i == 5)
            gnomon_stop("late");
    }
    gnomon_profile *p = of_steps(0);
    gnomon_stage_info stage;
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    CHECK_EQ(stage.steps->count, 10);
    CHECK_EQ(step_stats(p, 1, NULL).count, 3);
    CHECK_EQ(step_stats(p, 1, "load").count, 3);
    CHECK_EQ(step_stats(p, 1, "load").total_ns, 13 + 14 + 15);
    CHECK_EQ(step_stats(p, 1, "late").count, 0);
    CHECK_EQ(slow_steps(p, 1), 3);
    CHECK_EQ(slow_step_ns(p, 1, 5, "load"), 15);
    gnomon_profile_free(p);
}

/* Marks before a stage is opened are in its tree and its time, and in no step. */
TEST(the_first_step_begins_with_the_stage)
{
    begin("steps,tree");
    scope("load_checkpoint", 100 * MS);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    for (int i = 0; i < 3; i++) {
        scope("train", i ? 2 * MS : 3 * MS);
        gnomon_step();
    }
    gnomon_profile *p = of_steps(0);
    gnomon_stage_info stage;
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    CHECK_EQ(stage.end_ns - stage.begin_ns, 107 * MS);
    CHECK_EQ(stage.steps->max_ns, 3 * MS);
    CHECK_EQ(step_stats(p, 1, NULL).total_ns, 7 * MS);
    CHECK_EQ(step_stats(p, 1, "load_checkpoint").count, 0);
    CHECK_EQ(slow_step_ns(p, 1, 0, "train"), 3 * MS);
    gnomon_profile_free(p);
    check_text("FIT Steps\n"
               "\n"
               "     Steps       Mean     Median        p99        Max\n"
               "         3    2.33 ms    2.02 ms       3 ms       3 ms\n"
               "before the first step: 100 ms\n"
               "of a step: 100 % train\n"
               "\n"
               "step 0     3 ms  train 3 ms, usually 2.02 ms\n"
               "step 1     2 ms\n"
               "step 2     2 ms\n");
    /* What lies between two stages is the second one's. */
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    scope("between", 50 * MS);
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    for (int i = 0; i < 1000; i++) {
        scope("val", MS);
        gnomon_step();
    }
    char *text = text_now();
    CHECK(strstr(text, "\nbefore the first step: 50 ms\n"));
    CHECK(!strstr(text, "between"));
    free(text);
}

static void *train(void *ns)
{
    scope("train", *(uint64_t *)ns);
    gnomon_step();
    return NULL;
}

/* The process's first thread only waits for it. */
TEST(parts_of_a_step_are_those_of_the_thread_that_makes_it)
{
    uint64_t ns = 2 * MS;
    begin("steps");
    for (int i = 0; i < 3; i++) {
        scope("wait", 6 * MS);
        on_thread(train, &ns);
    }
    char *text = text_now();
    CHECK(strstr(text, "\nof a step: 25 % train\n"));
    free(text);
}

/* Without a stage a step begins at the first mark. */
TEST(without_a_stage_the_first_mark_is_in_the_first_step)
{
    begin("steps");
    pass(50 * MS);
    scope("load", 100 * MS);
    gnomon_step();
    scope("load", MS);
    gnomon_step();
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(step_stats(p, 1, NULL).max_ns, 100 * MS);
    CHECK_EQ(step_stats(p, 1, "load").max_ns, 100 * MS);
    gnomon_profile_free(p);
    char *text = text_now();
    CHECK(!strstr(text, "before"));
    free(text);
}

/* A profiler that does not want steps has none, and an equal tree. */
/* Neither the time between two steps nor what was marked in it; of a scope that is open
 * meanwhile, what comes after. */
TEST(what_comes_before_a_step_begins_anew_is_of_none)
{
    begin("steps");
    scope("load", 1 * MS);
    gnomon_step();
    gnomon_start("epoch");
    scope("validate", 100 * MS);
    scope("load", 7 * MS);
    gnomon_step_begin(1);
    scope("load", 2 * MS);
    gnomon_stop("epoch");
    gnomon_step();
    gnomon_profile *p = profile_of("steps", 0);
    CHECK_EQ(step_stats(p, 1, NULL).count, 2);
    CHECK_EQ(step_stats(p, 1, NULL).total_ns, 3 * MS);
    CHECK_EQ(step_stats(p, 1, "validate").count, 0);
    CHECK_EQ(step_stats(p, 1, "load").total_ns, 3 * MS);
    CHECK_EQ(step_stats(p, 1, "epoch").total_ns, 2 * MS);
    CHECK_EQ(slow_step_ns(p, 1, 1, "load"), 2 * MS);
    gnomon_profile_free(p);
}

TEST(only_views_that_want_steps_have_them)
{
    begin("simple");
    scope("load", 10);
    gnomon_step();
    gnomon_profile *p = profile_of("simple", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEP_TIMES), 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 1);
    gnomon_profile_free(p);
}

/* A step that began before the view was attached is incomplete; times of a
 * detached view are not used for the next. */
TEST(a_view_attached_later_has_complete_steps_only)
{
    gnomon_profiler keeper = {.struct_size = sizeof keeper,
                              .abi = GNOMON_ABI,
                              .wants = GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
                              .name = "keeper"};
    begin("simple");
    for (int round = 0; round < 3; round++) {
        scope("load", 5);
        CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
        scope("load", 7);
        gnomon_step();
        scope("load", 11 + (uint64_t)round);
        gnomon_step();
        gnomon_profile *p = profile_of("keeper", 0);
        CHECK_EQ(step_stats(p, 1, NULL).count, 1);
        CHECK_EQ(step_stats(p, 1, "load").total_ns, 11 + (uint64_t)round);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
    }
}

/* ---- Stages ----------------------------------------------------------------------- */

static void stage(const char *name, int steps, uint64_t ns)
{
    CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
    for (int i = 0; i < steps; i++) {
        scope("load", ns + (uint64_t)i);
        gnomon_step();
    }
    scope("load", 1000); /* after the last step: of none */
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

static uint32_t stage_named(const gnomon_profile *p, const char *name)
{
    gnomon_stage_info s;
    for (uint32_t i = 1; gnomon_profile_stage(p, i, &s) == GNOMON_OK; i++)
        if (strcmp(s.name, name) == 0)
            return i;
    return 0;
}

TEST(stages_of_a_name_add_up)
{
    begin("steps,file=/dev/null");
    stage("fit", 8, 100);
    stage("validate", 2, 50);
    stage("fit", 8, 300);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    scope("load", 500);
    gnomon_step();
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(step_stats(p, 1, "load").count, 1);
    CHECK_EQ(slow_steps(p, 1), 1);
    gnomon_profile_free(p);
    for (int look = 0; look < 2; look++) { /* it takes nothing away */
        p = of_steps(1);
        uint32_t fit = stage_named(p, "fit"), test = stage_named(p, "validate");
        CHECK_EQ(step_stats(p, fit, NULL).count, 17);
        CHECK_EQ(step_stats(p, fit, "load").total_ns,
                 8 * 100 + 28 + 8 * 300 + 28 + 500);
        CHECK_EQ(step_stats(p, fit, "load").max_ns, 500);
        CHECK_EQ(slow_steps(p, fit), 10); /* 1 of the last, 8, 1 of the first */
        CHECK_EQ(step_stats(p, test, "load").count, 2);
        CHECK_EQ(slow_steps(p, test), 2);
        gnomon_profile_free(p);
    }
    char *text = text_now();
    CHECK(strstr(text, "\nstep 0   500 ns\n") != NULL);
    free(text);
}

/* A file's parts are successive stages; each is reported once. */
TEST(a_file_has_them_by_stage)
{
    child_folder();
    begin("steps,file=run.gnomon");
    stage("fit", 3, 100);
    stage("validate", 2, 50);
    stage("fit", 4, 300);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    static const uint64_t counts[] = {3, 2, 4}, totals[] = {303, 101, 1206};
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_EQ(step_stats(p, i, NULL).count, counts[i - 1]);
        CHECK_EQ(step_stats(p, i, "load").total_ns, totals[i - 1]);
        CHECK_EQ(slow_steps(p, i), counts[i - 1]);
    }
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 9);
    gnomon_profile_free(p);
}

/* ---- Long runs --------------------------------------------------------------------- */

static void many_steps(long steps)
{
    for (long i = 0; i < steps; i++) {
        scope("load", (uint64_t)(i * 7919 % 100003));
        gnomon_step();
    }
}

/* A million steps take as much memory as the first thousands. The slowest
 * are kept, of equal ones the first. */
TEST(a_million_steps_take_the_memory_of_some)
{
    const long steps = IS_SLOW ? 400012 : 1000000;
    begin("steps");
    many_steps(100003);
    uint64_t heap = gnomon__heap_bytes();
    uint32_t arena = gnomon__marks_arena.used;
    many_steps(steps - 100003);
    CHECK_EQ(gnomon__heap_bytes(), heap);
    CHECK_EQ(gnomon__marks_arena.used, arena);
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(step_stats(p, 1, NULL).count, (uint64_t)steps);
    CHECK_EQ(slow_steps(p, 1), 10);
    gnomon_step_time_info t;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        if (t.step)
            CHECK(t.time->total_ns >= 100000); /* some come each 100003 steps */
    gnomon_profile_free(p);
}

TEST(of_equally_slow_steps_the_first_ten_stay)
{
    begin("steps");
    for (int i = 0; i < 50; i++) {
        scope("load", i == 30 ? 2000 : 1000);
        gnomon_step();
    }
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(slow_step_ns(p, 1, 30, "load"), 2000);
    for (uint64_t i = 0; i < 9; i++)
        CHECK_EQ(slow_step_ns(p, 1, i, "load"), 1000);
    CHECK_EQ(slow_step_ns(p, 1, 9, "load"), UINT64_MAX);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 50); /* each once */
    gnomon_profile_free(p);
}

/* Regions past the 4096th are one. */
TEST(more_regions_than_there_is_room_for)
{
    char name[16];
    begin("steps");
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "r%d", i);
        gnomon_region *r = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
        gnomon_token token = gnomon_begin(r);
        pass(3);
        gnomon_end(token);
    }
    gnomon_step();
    gnomon_profile *p = of_steps(0);
    uint64_t total = 0, regions = 0;
    gnomon_step_time_info t;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        if (!t.step && t.region) {
            total += t.time->total_ns;
            regions++;
        }
    CHECK_EQ(total, 5000 * 3);
    CHECK_EQ(regions, 4095);
    CHECK(step_stats(p, 1, "(other)").total_ns >= 900 * 3);
    CHECK_EQ(step_stats(p, 1, "r0").total_ns, 3);
    CHECK_EQ(slow_step_ns(p, 1, 0, "r1"), 3);
    gnomon_profile_free(p);
}

/* ---- Children ----------------------------------------------------------------------- */

/* A child has its own steps, and none of its parent's. */
TEST(a_forked_child_begins_anew)
{
    int status = -1;
    if (IS_TSAN)
        SKIP("TSan lets no child start a thread");
    begin("steps,file=/dev/null");
    scope("load", 100);
    gnomon_step();
    scope("load", 30);
    pid_t child = fork();
    if (!child) {
        test_failures = 0;
        scope("load", 5); /* it is off */
        gnomon_step();
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        CHECK_EQ(gnomon_attach(NULL, NULL, "steps,file=/dev/null"), GNOMON_OK);
        scope("load", 70);
        gnomon_step();
        gnomon_profile *p = of_steps(0);
        CHECK_EQ(step_stats(p, 1, "load").count, 1);
        CHECK_EQ(step_stats(p, 1, "load").total_ns, 70);
        gnomon_profile_free(p);
        _exit(test_failures != 0);
    }
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    gnomon_step();
    gnomon_profile *p = of_steps(0);
    CHECK_EQ(step_stats(p, 1, "load").count, 2);
    CHECK_EQ(step_stats(p, 1, "load").total_ns, 130);
    gnomon_profile_free(p);
}

/* ---- Concurrently -------------------------------------------------------- */

static uint32_t marking_ends, times_marked;

static void *mark_on(void *unused)
{
    while (!load_relaxed(&marking_ends)) {
        gnomon_start("work");
        pass(1);
        gnomon_stop("work");
        add_relaxed(&times_marked, 1);
    }
    return unused;
}

/* Steps are reported, stages end and profiles are read while others mark:
 * the time of a region in all steps is no more than recorded. */
TEST(steps_are_reported_while_others_mark)
{
    const int rounds = IS_SLOW ? 20 : 100;
    pthread_t threads[3];
    begin("steps,file=/dev/null");
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, mark_on, NULL), 0);
    for (int round = 0; round < rounds; round++) {
        CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
        for (int i = 0; i < 20; i++) {
            uint32_t before = load_relaxed(&times_marked);
            scope("own", 2);
            while (!i && load_relaxed(&times_marked) < before + 3)
                usleep(1);
            gnomon_step();
        }
        if (round % 10 == 0)
            gnomon_profile_free(of_steps(1));
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    store_relaxed(&marking_ends, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    gnomon_profile *p = of_steps(1);
    uint32_t fit = stage_named(p, "fit");
    CHECK_EQ(step_stats(p, fit, "own").count, (uint64_t)rounds * 20);
    CHECK_EQ(step_stats(p, fit, NULL).count, (uint64_t)rounds * 20);
    uint64_t total = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        if (!gnomon_profile_node(p, i, &n) && n.host &&
            strcmp(node_name(p, &n), "work") == 0)
            total += n.host->total_ns;
    }
    CHECK(step_stats(p, fit, "work").total_ns <= total);
    CHECK(step_stats(p, fit, "work").count > 0);
    gnomon_profile_free(p);
}

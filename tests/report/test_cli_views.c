/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was recorded under several filters, and what is of no stage, in reports and
 * in comparisons of files.
 * links: testing
 * needs: cli
 * timeout: 300 */
#include <sys/stat.h>

#include "program.h"

#include "built_runs.h"
#include "platform/ticks.h"

/* ---- Views ------------------------------------------------------------------ */

static void mark_steps(void)
{
    gnomon_stage_begin("fit");
    for (int i = 0; i < 5; i++) {
        gnomon_start("optimizer_step");
        gnomon_start("load");
        gnomon_stop("load");
        gnomon_stop("optimizer_step");
        gnomon_step();
    }
    gnomon_stage_end();
}

/* A folder with the two files of one run. */
static void save_two_views(void)
{
    child_folder();
    CHECK_EQ(mkdir("two", 0777), 0);
    CHECK_EQ(gnomon_configure("profile(file=two/all.gnomon),"
                              "profile(filter=opt*,file=two/opt.gnomon)"),
             GNOMON_OK);
    mark_steps();
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
}

/* The views were summed once: ten calls. */
TEST(a_run_under_two_filters_is_shown_as_two_views)
{
    NEEDS_PROGRAM;
    save_two_views();
    child_result r = shell("$G report two");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "FIT Profiler Report\n"), 2);
    CHECK_EQ(times_in(r.out, "--- view: all marks ---\n"), 1);
    CHECK_EQ(times_in(r.out, "--- view: filter=opt* ---\n"), 1);
    CHECK_EQ(times_in(r.out, "|  5  "), 4);
    CHECK_EQ(times_in(r.out, "|  10  "), 1); /* all calls of the first view */
    r = shell("$G merge -o one.gnomon two && $G report one.gnomon > one && "
              "$G report two | diff - one && $G report --as steps two && "
              "$G report --as json two | grep -o '\"view\": \"[^\"]*\"'");
    CHECK(
        strstr(r.out, "\"view\": \"all marks\"\n\"view\": \"filter=opt*\"\n"));
    CHECK_EQ(r.status, 0);
}

/* A process that recorded `fit` whole and one of its four steps, and `validate` in the
 * first view alone; as the two files of it are. */
static void put_scheduled_views(void)
{
    static const char node[] =
        "{\"track\": 1, \"stage\": %d, \"view\": 1, \"region\": 1, \"host\": "
        "{\"count\": %d, \"total_ns\": %d, \"self_ns\": %d, \"min_ns\": 20000, "
        "\"max_ns\": 20000}}";
    static const char form[] =
        "{\"gnomon\": 1, \"runs\": [{\"rank\": 0, \"uuid\": \"u\"}], "
        "\"stages\": [{\"name\": \"fit\", \"ordinal\": 1, \"end_ns\": 100000, "
        "\"recorded_ns\": %s], \"tracks\": [{\"name\": \"main\"}], "
        "\"views\": [{\"words\": \"%s\"}], \"regions\": [{\"name\": "
        "\"step\"}], "
        "\"nodes\": [%s]}";
    char fit[256], validate[256], both[600], text[1600];
    child_folder();
    CHECK_EQ(mkdir("two", 0777), 0);
    snprintf(fit, sizeof fit, node, 1, 4, 80000, 80000);
    snprintf(validate, sizeof validate, node, 2, 1, 20000, 20000);
    snprintf(both, sizeof both, "%s, %s", fit, validate);
    snprintf(text, sizeof text, form,
             "100000}, {\"name\": \"validate\", \"ordinal\": 2, \"begin_ns\": "
             "100000, \"end_ns\": 140000, \"recorded_ns\": 40000}",
             "", both);
    program_put("two/all.gnomon.json", text);
    snprintf(fit, sizeof fit, node, 1, 1, 20000, 20000);
    snprintf(text, sizeof text, form, "25000}", "schedule=wait:3/active:1",
             fit);
    program_put("two/one.gnomon.json", text);
}

/* Once the longer time was that of both views: 20 % of the second one. */
TEST(per_cents_of_a_view_are_of_the_time_that_it_recorded)
{
    NEEDS_PROGRAM;
    put_scheduled_views();
    static const char shown[] = "fit,step,80,80000,4\n"
                                "fit,step,80,20000,1\n"
                                "validate,step,50,20000,1\n";
#define STEPS "'tree(format=csv,columns=percent|total|calls)' %s | tail -n +2"
    child_result r = shell("$G report --as " STEPS, "two");
    CHECK_STR(r.out, shown);
    r = shell("$G merge -o both.json two && $G report --as " STEPS,
              "both.json");
    CHECK_STR(r.out, shown);
#undef STEPS
    r = shell("$G merge -o a.gnomon two/all.gnomon.json && "
              "$G merge -o b.json two/one.gnomon.json a.gnomon && cmp b.json "
              "both.json && $G merge -o c.json b.json two/one.gnomon.json && "
              "cmp c.json both.json && grep -A3 view_times c.json");
    CHECK_STR(r.out, "\"view_times\": [\n"
                     "{\"stage\": 1, \"view\": 1, \"recorded_ns\": 100000},\n"
                     "{\"stage\": 1, \"view\": 2, \"recorded_ns\": 25000},\n"
                     "{\"stage\": 2, \"view\": 1, \"recorded_ns\": 40000}]}\n");
}

TEST(a_view_has_no_report_of_a_stage_that_it_did_not_record)
{
    NEEDS_PROGRAM;
    put_scheduled_views();
    child_result r = shell("$G report two");
    CHECK_EQ(times_in(r.out, "FIT Profiler Report\n"), 2);
    CHECK_EQ(times_in(r.out, "VALIDATE Profiler Report\n"), 1);
    CHECK_EQ(times_in(r.out, "--- view: all marks ---\n"), 2);
}

/* A profiler with a schedule, and one that comes in the middle of the stage. */
TEST(a_process_under_several_schedules_is_shown_with_the_time_of_each)
{
    NEEDS_PROGRAM;
    child_folder();
    CHECK_EQ(mkdir("two", 0777), 0);
    CHECK_EQ(gnomon_configure("profile(file=two/all.gnomon),profile("
                              "schedule=wait:5/active:1,file=two/a.gnomon)"),
             GNOMON_OK);
    gnomon_stage_begin("fit");
    for (int i = 0; i < 6; i++) {
        gnomon_start("step");
        gnomon__test_pass(8000);
        gnomon_stop("step");
        gnomon__test_pass(2000);
        gnomon_step();
    }
    gnomon_stage_end();
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
    child_result r = shell("$G report --as 'regions(format=csv,columns=percent"
                           "|calls)' two | tail -n +2");
    /* 8 of 10 us, also of the one step that the second recorded: it was 17 once. */
    CHECK_STR(r.out, "fit,step,80,6\nfit,step,80,1\n");
}

TEST(views_are_always_written)
{
    NEEDS_PROGRAM;
    save_two_views();
    child_result r =
        shell("for f in two/*; do $G cat $f | grep -A1 '\"views'; done");
    CHECK_STR(r.out, "\"views\": [\n{}],\n\"views\": [\n{\"words\": "
                     "\"filter=opt*\"}],\n");
    r = shell("$G report two/all.gnomon");
    CHECK(strstr(r.out, "view") == NULL);
}

TEST(a_run_under_two_filters_is_compared_once)
{
    NEEDS_PROGRAM;
    save_two_views();
    child_result r = shell("$G diff two two");
    CHECK_EQ(r.status, 0);
    CHECK(strstr(r.out, "optimizer_step        5        5 ") != NULL);
    CHECK(strstr(r.out, "load                  5        5 ") != NULL);
    CHECK(strstr(r.err, "two: 1 stage is there in another view, too, which is "
                        "left out: --view chooses one\n") != NULL);
    r = shell("$G diff two two --view 'filter=*'");
    CHECK(strstr(r.out, "optimizer_step        5        5 ") != NULL);
    CHECK(strstr(r.out, "load ") == NULL);
    CHECK_STR(r.err, "");
    r = shell("$G merge -o one.gnomon two; $G diff two one.gnomon 2>&1");
    CHECK(strstr(r.out, "one.gnomon: 1 stage is there in another view") !=
          NULL);
    CHECK(strstr(r.out, "optimizer_step        5        5 ") != NULL);
    CHECK(strstr(r.out, "load                  5        5 ") != NULL);
    CHECK(strstr(r.out, "fit          5        5 ") != NULL); /* its steps */
}

/* Views of a run without identity are separate in one profile. */
TEST(views_of_an_unknown_run_count_once)
{
    NEEDS_PROGRAM;
    built_run l = run_begin(NULL, 0, NULL);
    run_stage(&l, "fit");
    for (int i = 0; i < 2; i++) {
        l.view = gnomon_add_view(
            l.builder, &(gnomon_view_info){.words = i ? "filter=b" : ""});
        RUN_ROW(&l, "step", 5, 6, 7);
    }
    l.view = 0; /* as of a device: of all views */
    RUN_ROW(&l, "copy", 5);
    gnomon_profile *p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, "a.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G diff a.gnomon a.gnomon");
    CHECK(strstr(r.out, "step          3        3 ") != NULL);
    CHECK(strstr(r.out, "copy          1        1 ") != NULL);
    CHECK_EQ(times_in(r.err, "a.gnomon: 1 stage is there in another view"), 2);
}

/* ---- Of no stage -------------------------------------------------------------- */

/* They were in no report once, also where there were stages. */
TEST(nodes_of_no_stage_have_a_report_too)
{
    NEEDS_PROGRAM;
    built_run l = run_begin(NULL, 0, "a");
    RUN_ROW(&l, "warm_up", 5000000, 6000000);
    run_stage(&l, "fit");
    RUN_ROW(&l, "step", 5, 6, 7);
    gnomon_profile *p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, "a.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G report a.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "Profiler Report\n"), 2);
    CHECK_EQ(times_in(r.out, "FIT Profiler Report\n"), 1);
    CHECK_EQ(times_in(r.out, "|  warm_up"), 1);
    CHECK_EQ(times_in(r.out, "|  step"), 1);
    r = shell("$G report --stage fit a.gnomon | grep -c warm_up");
    CHECK_STR(r.out, "0\n");
    r = shell("$G diff a.gnomon a.gnomon");
    CHECK(strstr(r.out, "warm_up") != NULL);
}

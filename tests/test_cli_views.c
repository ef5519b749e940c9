/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was recorded under several filters, and what is of no stage, in reports and
 * in comparisons of files.
 * links: static
 * needs: cli
 * timeout: 120 */
#include <sys/stat.h>

#include "program.h"

#include "built_runs.h"

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

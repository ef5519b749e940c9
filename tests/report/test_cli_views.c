/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one process recorded under several schedules, in a report of its files. Views in
 * other reports: text/cli_views.
 * links: testing
 * needs: cli
 * timeout: 300 */
#include <sys/stat.h>

#include "program.h"

#include "gnomon.h"
#include "platform/ticks.h"

/* A profiler with a schedule, and one that comes in the middle of the stage. */
TEST(a_process_under_several_schedules_is_shown_with_the_time_of_each)
{
    NEEDS_PROGRAM;
    child_folder();
    CHECK_EQ(mkdir("two", 0777), 0);
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "profile(file=two/all.gnomon),profile("
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
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    child_result r = shell("$G report --as 'regions(format=csv,columns=percent"
                           "|calls)' two | tail -n +2");
    /* 8 of 10 us, also of the one step that the second recorded: it was 17 once. */
    CHECK_STR(r.out, "fit,step,80,6\nfit,step,80,1\n");
}

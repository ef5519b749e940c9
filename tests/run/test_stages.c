/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which stage scopes belong to, and when reports are written. The clock is
 * the test's.
 *
 * links: testing */
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "platform/error.h"

#define MS 1000000u

static char lines[4096]; /* what the log got */

static void keep_line(const char *line)
{
    if (strlen(lines) + strlen(line) + 2 < sizeof lines)
        strcat(strcat(lines, line), "\n");
}

/* The attached profiler's text now; the caller's until the next call. */
static char summary_text[65536];

static int keep_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    char *at = w->context;
    size_t used = strlen(at);
    if (used + size >= sizeof summary_text)
        return GNOMON_EFULL;
    memcpy(at + used, bytes, size);
    at[used + size] = 0;
    return GNOMON_OK;
}

static const char *summary_of(const char *profiler)
{
    gnomon_writer w = {
        .struct_size = sizeof w, .write = keep_bytes, .context = summary_text};
    *summary_text = 0;
    return gnomon_summary(profiler, &w) ? gnomon_error_text() : summary_text;
}

static void took(const char *name, unsigned ms)
{
    gnomon_start(name);
    gnomon__test_pass(ms * MS);
    gnomon_stop(name);
}

/* A profiler that records its calls, and rows as "name calls total". */
static char calls_text[4096];

static void note_call(const char *format, ...) GNOMON_PRINTF(1, 2);
static void note_call(const char *format, ...)
{
    size_t used = strlen(calls_text);
    va_list list;
    va_start(list, format);
    vsnprintf(calls_text + used, sizeof calls_text - used, format, list);
    va_end(list);
}

static int teller_setup(void *self, const gnomon_run_info *run,
                        const char *stage)
{
    (void)self, (void)run;
    note_call("setup(%s) ", stage ? stage : "");
    return GNOMON_OK;
}

static int teller_summary(void *self, const gnomon_profile *p,
                          const gnomon_writer *out)
{
    gnomon_stage_info stage;
    (void)self, (void)out;
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 1);
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    note_call("[%s#%u %d..%d ms", stage.name, (unsigned)stage.ordinal,
              (int)(stage.begin_ns / MS), (int)(stage.end_ns / MS));
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        gnomon_region_info region;
        gnomon_profile_node(p, i, &node);
        gnomon_profile_region(p, node.region, &region);
        if (node.host && node.host->count)
            note_call(" %s %d %d", region.name, (int)node.host->count,
                      (int)(node.host->total_ns / MS));
    }
    note_call("] ");
    return GNOMON_OK;
}

static void teller_teardown(void *self, const char *stage)
{
    (void)self;
    note_call("teardown(%s) ", stage ? stage : "");
}

static const gnomon_profiler teller = {
    .struct_size = sizeof teller,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "teller",
    .setup = teller_setup,
    .summary = teller_summary,
    .teardown = teller_teardown,
};

static void begin_test(void)
{
    gnomon__test_log = keep_line;
    gnomon__test_set(1 * MS);
    CHECK_EQ(gnomon_host_get()->add_profiler(&teller), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "teller"), GNOMON_OK);
    gnomon__test_set(9 * MS);
}

/* Lightning's first action comes before setup, and so is fit's. */
TEST(a_stage_owns_what_came_since_the_one_before)
{
    begin_test();
    gnomon_start("configure_callbacks");
    gnomon__test_pass(2 * MS);
    gnomon_stop("configure_callbacks");
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    took("step", 3);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon__test_pass(5 * MS);
    took("between", 1);
    gnomon__test_pass(5 * MS);
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    took("step", 4);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon__test_pass(5 * MS);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    gnomon__test_pass(7 * MS);
    took("step", 1);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_STR(calls_text, "setup() setup(fit) "
                          "[fit#1 9..14 ms configure_callbacks 1 2 step 1 3] "
                          "teardown(fit) setup(validate) "
                          "[validate#2 19..29 ms between 1 1 step 1 4] "
                          "teardown(validate) setup(test) "
                          "[test#3 34..42 ms step 1 1] teardown(test) ");
    CHECK_STR(lines, "");
}

/* A scope that is open when a stage ends counts in the stage where it began. */
TEST(a_scope_over_the_end_of_a_stage)
{
    begin_test();
    gnomon_stage_begin("fit");
    gnomon_start("outer");
    took("inner", 1);
    gnomon_stage_end();
    took("inner", 2);
    gnomon_stop("outer");
    took("own", 3);
    gnomon_stage_begin("test");
    gnomon_stage_end();
    CHECK_STR(calls_text,
              "setup() setup(fit) [fit#1 9..10 ms inner 1 1] "
              "teardown(fit) setup(test) "
              "[test#2 10..15 ms inner 1 2 own 1 3] teardown(test) ");
}

static int steps_told(void)
{
    int n = 0;
    for (const char *at = calls_text; (at = strstr(at, " step")) != NULL; at++)
        n++;
    return n;
}

TEST(steps_count_from_each_stages_begin)
{
    begin_test();
    CHECK_EQ(
        gnomon_attach(NULL, NULL, "teller(schedule=wait:1/active:1/repeat:1)"),
        GNOMON_OK);
    *calls_text = 0;
    for (int stage = 0; stage < 2; stage++) {
        gnomon_stage_begin(stage ? "b" : "a");
        for (int i = 0; i < 4; i++) {
            char name[8] = "step0";
            name[4] = (char)('0' + i);
            took(name, 1);
            gnomon_step();
        }
        gnomon_stage_end();
    }
    CHECK_EQ(steps_told(), 2);
    CHECK(strstr(calls_text, "[a#1 9..13 ms step1 1 1]") != NULL);
    CHECK(strstr(calls_text, "[b#2 13..17 ms step1 1 1]") != NULL);
}

TEST(wrong_calls_are_reported_and_change_nothing)
{
    begin_test();
    CHECK_EQ(gnomon_stage_end(), GNOMON_ESTATE);
    CHECK_STR(gnomon_error_text(), "gnomon_stage_end: no stage is open");
    CHECK_EQ(gnomon_stage_begin(NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_teardown(), GNOMON_ESTATE);
    CHECK(*gnomon_error_text());
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_STR(gnomon_error_text(), "");
    took("step", 1);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK); /* ends the other */
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STR(calls_text, "setup() setup(fit) [fit#1 9..10 ms step 1 1] "
                          "teardown(fit) setup(fit) [fit#2 10..10 ms] "
                          "teardown(fit) ");
}

/* A registered profiler reports by itself, not when a spec is replaced. */
TEST(a_new_spec_asks_only_those_that_go)
{
    begin_test();
    *calls_text = 0;
    int self = 0;
    CHECK_EQ(gnomon_attach(&teller, &self, NULL), GNOMON_OK);
    took("a", 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough"), GNOMON_OK);
    CHECK_STR(calls_text, "setup() [#1 9..10 ms a 1 1] teardown() ");
    took("b", 1);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK(strstr(calls_text, "[fit#1 9..11 ms a 1 1 b 1 1] ") != NULL);
    CHECK_EQ(gnomon_detach(&teller, &self), GNOMON_OK);
}

TEST(setups_nest_and_repeat)
{
    begin_test();
    *calls_text = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        if (i)
            CHECK_EQ(gnomon_attach(NULL, NULL, "teller"), GNOMON_OK);
        took("a", 1);
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        took("b", 1);
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        took("nobody", 1);
    }
    CHECK_STR(calls_text, "[#1 9..11 ms a 1 1 b 1 1] teardown() "
                          "setup() [#1 12..14 ms a 1 1 b 1 1] teardown() "
                          "setup() [#1 15..17 ms a 1 1 b 1 1] teardown() ");
    CHECK_EQ(gnomon_teardown(), GNOMON_ESTATE);
}

/* The summary at any time is what the report would be. */
TEST(a_summary_now_is_the_report)
{
    char now[8192];
    begin_test();
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(file=report.txt)"), GNOMON_OK);
    gnomon_stage_begin("fit");
    took("step", 1);
    CHECK(strlen(summary_of("simple")) < sizeof now);
    took("step", 2);
    strcpy(now, summary_of("Simple"));
    CHECK(strncmp(now, "FIT Profiler Report\n", 20) == 0);
    gnomon_stage_end();
    FILE *f = fopen("report.txt", "r");
    if (CHECK(f != NULL)) {
        char report[8192];
        size_t n = fread(report, 1, sizeof report - 1, f);
        report[n] = 0;
        fclose(f);
        remove("report.txt");
        CHECK_STR(report, now); /* no cost on the test's clock */
    }
    CHECK_STR(summary_of("nobody"), "no profiler 'nobody' is attached");
    CHECK_EQ(gnomon_summary("simple", NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_summary(NULL, NULL), GNOMON_ENOENT);
}

/* ---- More names than the limit ------------------------------------------- */

#define NAMES 1100u
#define STAGE_NAMES 1023u /* besides that of stages without a name */

static unsigned reports_of_their_own;

static int check_name(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    (void)self, (void)out;
    gnomon_stage_info stage;
    char want[16];
    snprintf(want, sizeof want, "s%u", reports_of_their_own);
    if (!p || gnomon_profile_stage(p, 1, &stage))
        return GNOMON_EINVAL;
    if (CHECK_STR(stage.name, want))
        reports_of_their_own++;
    return GNOMON_OK;
}

static const gnomon_profiler names = {.struct_size = sizeof names,
                                      .abi = GNOMON_ABI,
                                      .name = "names",
                                      .wants = GNOMON_WANT_TREE,
                                      .summary = check_name};

/* Each reports by its own name; the sums of the last ones are one. */
TEST(names_past_the_table_report_as_themselves)
{
    CHECK_EQ(gnomon_attach(&names, NULL, NULL), GNOMON_OK);
    for (unsigned i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
        took("a", 1);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(reports_of_their_own, NAMES);
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "names", 1), GNOMON_OK);
    uint64_t stages = 0, others = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(p, i, &s);
        stages += s.count;
        others += strcmp(s.name, "(other)") == 0 ? s.count : 0;
    }
    CHECK_EQ(stages, NAMES);
    CHECK_EQ(others, NAMES - STAGE_NAMES);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&names, NULL), GNOMON_OK);
}

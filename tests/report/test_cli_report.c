/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `gnomon report` of a file prints the bytes that the profiler printed in the running
 * program; what it prints of given numbers: text/cli_report.
 * links: testing
 * timeout: 300 */
#include "program.h"
#include "sanitizer.h"
#include "saved_profile.h"

#include <stdint.h>

#include "marks.h"
#include "probe_profile.h"
#include "full_profile.h"

/* ---- Live runs ---------------------------------------------------------------- */

static uint64_t dice = 88172645463325252u;

static uint32_t roll(uint32_t below)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)(dice >> 33) % below;
}

static const char *const words[] = {
    "forward",
    "backward",
    "[Strategy]S.step",
    "na\xc3\xafve",
    "x",
    "a name that is longer than the others are, and has a comma in it"};
static gnomon_region *regions[6];

static void work(int depth)
{
    for (uint32_t n = 1 + roll(4); n > 0; n--) {
        gnomon_token token = gnomon_begin(regions[roll(6)]);
        pass(roll(5) ? roll(2000000) : roll(20));
        if (depth && roll(2))
            work(depth - 1);
        pass(roll(2000));
        gnomon_end(token);
    }
}

static void run_actions(void)
{
    const char *outer = words[roll(3)], *inner = words[3 + roll(3)];
    gnomon_start(outer);
    work(2);
    gnomon_start(inner);
    work(1);
    gnomon_stop(roll(2) ? outer : inner); /* they need not nest */
    pass(roll(100000));
    gnomon_stop(outer);
    gnomon_stop(inner);
}

static void *run_in_thread(void *unused)
{
    run_actions();
    return unused;
}

/* Rows that take equally long keep the order of their first ends. */
static void run_ties(void)
{
    static const char *const ties[] = {"tie z", "tie a", "tie m"};
    for (size_t i = 0; i < 3; i++) {
        gnomon_start(ties[i]);
        pass(70);
        gnomon_stop(ties[i]);
    }
}

static void run_some(void)
{
    pthread_t thread;
    run_ties();
    for (uint32_t n = 1 + roll(3); n > 0; n--) {
        run_actions();
        gnomon_step();
    }
    if (roll(2) &&
        CHECK_EQ(pthread_create(&thread, NULL, run_in_thread, NULL), 0))
        pthread_join(thread, NULL);
}

/* The profiler's text for the open stage; never freed. */
static char *live(const char *profiler)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    gnomon_writer w = {.struct_size = sizeof w,
                       .write = program_write,
                       .print = program_print,
                       .context = to};
    CHECK_EQ(gnomon_summary(profiler, &w), GNOMON_OK);
    fclose(to);
    return child_keep(text);
}

static void begin(const char *spec)
{
    gnomon__test_set(1000);
    for (size_t i = 0; i < 6; i++)
        regions[i] = gnomon_region_get(words[i], NULL, GNOMON_KIND_SCOPE);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
}

static void save_live(const char *profiler, int all_stages, const char *path)
{
    gnomon_profile *p = profile_of(profiler, all_stages);
    program_save(p, "gnomon", path);
    program_save(p, "json", "all.gnomon.json");
    gnomon_profile_free(p);
}

/* From JSON to .gnomon and back, and from .gnomon to JSON and back. */
static void check_forms(const char *file, const char *json)
{
    child_result r = shell("$G cat %s > 1.json && cmp 1.json %s && "
                           "$G cat -o 2.gnomon %s && cmp 2.gnomon %s && "
                           "$G cat 2.gnomon | cmp - %s && "
                           "$G cat -o 2.gnomon.json - < %s && "
                           "cmp 2.gnomon.json %s",
                           file, json, json, file, json, file, json);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "");
}

static void check_report(const char *command, const char *text)
{
    child_result r = shell("$G report %s", command);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, text);
}

TEST(an_open_stage_is_reported_as_in_the_running_program)
{
    NEEDS_PROGRAM;
    begin("simple,advanced,file=/dev/null");
    for (int i = 0; i < 8; i++) {
        gnomon_stage_begin(i % 2 ? "fit" : "validate");
        run_some();
        gnomon_start("open"); /* to the end */
        pass(50);
        save_live("simple", 0, "one.gnomon");
        check_forms("one.gnomon", "all.gnomon.json");
        check_report("one.gnomon", live("simple"));
        check_report("all.gnomon.json", live("simple"));
        check_report("--as simple --extended - < one.gnomon", live("simple"));
        check_report("--as advanced one.gnomon", live("advanced"));
        check_report("--as=advanced all.gnomon.json", live("advanced"));
        gnomon_stop("open");
        gnomon_stage_end();
    }
    gnomon_attach(NULL, NULL, "");
}

TEST(stages_come_one_after_the_other)
{
    static const char *const names[] = {"fit", "validate", "test"};
    NEEDS_PROGRAM;
    begin("simple,advanced,file=/dev/null");
    char *all[2] = {strdup(""), strdup("")};
    for (int i = 0; i < 3; i++) {
        gnomon_stage_begin(names[i]);
        run_some();
        for (int k = 0; k < 2; k++) {
            const char *text = live(k ? "advanced" : "simple");
            all[k] = realloc(all[k], strlen(all[k]) + strlen(text) + 1);
            strcat(all[k], text);
            program_put(k ? "advanced.txt" : "simple.txt", text);
        }
        child_result r = shell("mv simple.txt %s-simple.txt; "
                               "mv advanced.txt %s-advanced.txt",
                               names[i], names[i]);
        CHECK_EQ(r.status, 0);
        gnomon_stage_end();
    }
    save_live("simple", 1, "all.gnomon");
    check_report("all.gnomon", all[0]);
    check_report("--as advanced all.gnomon", all[1]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            const char *kind = k ? "advanced" : "simple";
            child_result r = shell("$G report --stage %s --as %s all.gnomon | "
                                   "cmp - %s-%s.txt",
                                   names[i], kind, names[i], kind);
            CHECK_EQ(r.status, 0);
        }
    free(all[0]);
    free(all[1]);
    gnomon_attach(NULL, NULL, "");
}

/* A scope that is open over a stage's end has children in the next stage. */
TEST(paths_across_stages_are_reported_as_in_the_running_program)
{
    NEEDS_PROGRAM;
    begin("simple,advanced,file=/dev/null");
    gnomon_stage_begin("fit");
    gnomon_token token = gnomon_begin(regions[0]);
    work(2);
    gnomon_stage_end();
    gnomon_stage_begin("test");
    work(2);
    save_live("simple", 1, "all.gnomon");
    check_report("--stage test all.gnomon", live("simple"));
    check_report("--stage test --as advanced all.gnomon", live("advanced"));
    gnomon_end(token);
    /* Now fit has a scope whose children are in test, which is no error. */
    save_live("simple", 1, "all.gnomon");
    child_result r = shell("$G report --stage fit all.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "|  forward "), 1);
    check_report("--stage test all.gnomon", live("simple"));
    gnomon_attach(NULL, NULL, "");
}

/* The options are the profilers' own. */
TEST(options_are_those_of_the_profilers)
{
    static const char *const pairs[][2] = {
        {"simple(extended=false)", "--no-extended"},
        {"simple(sort=calls)", "--sort calls"},
        {"simple(sort=name,limit=2)", "--sort=NAME --limit 2"},
        {"simple(extended=false,sort=total)", "--no-extended --sort total"},
        {"advanced(sort=tottime)", "--as advanced --sort tottime"},
        {"advanced(sort=calls,line_count_restriction=2)",
         "--as advanced --sort calls --limit 2"}};
    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char command[128];
        const char *profiler = *pairs[i][0] == 's' ? "simple" : "advanced";
        snprintf(command, sizeof command, "%s,file=/dev/null", pairs[i][0]);
        begin(command);
        gnomon_stage_begin("fit");
        run_some();
        save_live(profiler, 0, "one.gnomon");
        snprintf(command, sizeof command, "%s one.gnomon", pairs[i][1]);
        check_report(command, live(profiler));
        gnomon_stage_end();
        gnomon_attach(NULL, NULL, "");
    }
}

/* ---- Other files ---------------------------------------------------------------- */

/* Devices, pools, events and other entities do not disturb these reports. */
TEST(a_profile_of_every_entity_has_reports)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = full_of("01");
    program_save(p, "gnomon", "whole.gnomon");
    program_save(p, "json", "whole.json");
    check_forms("whole.gnomon", "whole.json");
    gnomon_profile_free(p);
    for (const char *const *kind =
             (const char *const[]){"simple", "advanced", "threads", "steps",
                                   "json", NULL};
         *kind; kind++) {
        child_result r = shell("$G report --as %s whole.gnomon", *kind);
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.out, *kind[0] == 'j' ? "\"fit\"" : "FIT "), 1);
        CHECK_EQ(times_in(r.out, *kind[0] == 'j' ? "\"ranks\": 2"
                                                 : "2 ranks, time of each\n"),
                 strcmp(*kind, "steps") != 0);
        CHECK(strstr(r.err, "gnomon: whole.gnomon: lost_events: "));
        CHECK(strstr(r.err, "gnomon: whole.gnomon: 2 scopes were open\n"));
    }
}

/* A file of 28 MB, nearly all of it events, which no report needs. */
TEST(large_files_take_little_memory)
{
    enum { EVENTS = IS_SANITIZED ? 100000 : 500000 };
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    gnomon_cell cell = {gnomon_cell_of(1500), 0, 2};
    gnomon_stats twice = {sizeof twice, 0, 2, 3000, 3000, 1500, 1500, &cell, 1};
    NEEDS_PROGRAM;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    uint32_t track = gnomon_add_track(b, &(gnomon_track_info){.run = run});
    uint32_t region =
        gnomon_add_region(b, &(gnomon_region_info){.name = "step"});
    uint32_t node = gnomon_add_node(
        b,
        &(gnomon_node_info){.track = track, .region = region, .host = &twice});
    for (uint64_t i = 0; i < EVENTS; i++)
        gnomon_add_event(b, &(gnomon_event_info){
                                .track = track, .node = node, .begin_ns = i});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, "gnomon", "large.gnomon");
    gnomon_profile_free(p);
    static const char *const commands[] = {"report", "info"};
    for (size_t i = 0; i < 2; i++) {
        child_result r = shell(PROGRAM_PEAK "%s large.gnomon", commands[i]);
        const double kib = program_peak(&r);
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.out, "step"), !i);
        CHECK_EQ(times_in(r.out, IS_SANITIZED ? "100000" : "500000"), i);
        if (!IS_SANITIZED)
            CHECK(kib > 0 && kib < 20000);
    }
}

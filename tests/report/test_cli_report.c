/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `gnomon report` of a file prints the bytes that the profiler printed in the running
 * program; and has tables of its own.
 * links: testing
 * timeout: 300 */
#include "program.h"
#include "sanitizer.h"

#include <stdint.h>

#include "marks.h"
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
    CHECK_EQ(gnomon_configure(spec), GNOMON_OK);
}

static void save_live(const char *profiler, int all_stages, const char *path)
{
    gnomon_profile *p = profile_of(profiler, all_stages);
    program_save(p, GNOMON_FORM_FILE, path);
    program_save(p, GNOMON_FORM_JSON, "all.gnomon.json");
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
    gnomon_configure(NULL);
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
    gnomon_configure(NULL);
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
    gnomon_configure(NULL);
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
        gnomon_configure(NULL);
    }
}

/* ---- Tables of the program's own ------------------------------------------------- */

static const char by_hand[] =
    "{\"gnomon\": 1, \"stages\": [{\"name\": \"fit\", \"end_ns\": 90000,"
    "\"steps\": {\"count\": 3, \"total_ns\": 600, \"self_ns\": 600,"
    " \"min_ns\": 100, \"max_ns\": 300, \"cells\": [[57,1],[73,1],[82,1]]}}],"
    "\"steps\": [{\"stage\": 1, \"number\": 1, \"end_ns\": 100,"
    " \"phase\": \"warmup\"},"
    "{\"stage\": 1, \"number\": 2, \"begin_ns\": 100, \"end_ns\": 400},"
    "{\"stage\": 1, \"number\": 3, \"begin_ns\": 400, \"end_ns\": 600},"
    "{\"stage\": 1, \"number\": 4, \"begin_ns\": 600}],"
    "\"tracks\": [{\"name\": \"main\", \"os_id\": 7},"
    "{\"name\": \"loader\", \"index\": 1, \"thread_count\": 2}],"
    "\"regions\": [{\"name\": \"step\"}, {\"name\": \"load\"},"
    "{\"name\": \"a \\\"quoted\\\"\\u0009name\"},"
    "{\"name\": \"open\", \"kind\": \"api\"}, {\"name\": \"tie\"}],"
    "\"nodes\": ["
    "{\"track\": 1, \"stage\": 1, \"region\": 1, \"first\": 2, \"host\":"
    "{\"count\": 2, \"total_ns\": 9000, \"self_ns\": 3000, \"min_ns\": 4500,"
    " \"max_ns\": 4500}},"
    "{\"track\": 1, \"stage\": 1, \"region\": 3, \"parent\": 1, \"first\": 1,"
    " \"host\": {\"count\": 1, \"total_ns\": 6000, \"self_ns\": 6000,"
    " \"min_ns\": 6000, \"max_ns\": 6000}},"
    "{\"track\": 2, \"stage\": 1, \"region\": 2, \"first\": 3, \"host\":"
    "{\"count\": 4, \"total_ns\": 4000, \"self_ns\": 4000, \"min_ns\": 1000,"
    " \"max_ns\": 1000}},"
    "{\"track\": 2, \"stage\": 1, \"region\": 5, \"first\": 5, \"host\":"
    "{\"count\": 4, \"total_ns\": 4000, \"self_ns\": 4000, \"min_ns\": 1000,"
    " \"max_ns\": 1000}},"
    "{\"track\": 2, \"stage\": 1, \"region\": 4, \"first\": 6, \"host\":"
    "{\"count\": 1, \"total_ns\": 7, \"self_ns\": 7, \"min_ns\": 7,"
    " \"max_ns\": 7}}," /* of a kind that has no row */
    "{\"track\": 2, \"stage\": 1, \"region\": 1, \"first\": 4, \"host\":"
    "{\"count\": 1, \"total_ns\": 12345678, \"self_ns\": 12345678,"
    " \"min_ns\": 12345678, \"max_ns\": 12345678}},"
    "{\"track\": 2, \"region\": 4}]}"; /* without statistics */

TEST(threads_have_a_table_each)
{
    NEEDS_PROGRAM;
    program_put("p.json", by_hand);
    check_report(
        "--as threads p.json",
        "FIT Regions by thread\n"
        "\n"
        "Thread 0 main (7)\n"
        "  Action            Calls     Total         %      Self      Mean  "
        "     p99\n"
        "  step                  2  9.000 us     10.00  3.000 us  4.500 us  "
        "4.500 us\n"
        "  a \"quoted\"\\tname      1  6.000 us      6.67  6.000 us  6.000 us"
        "  6.000 us\n"
        "\n"
        "Thread 1 loader, 2 that followed one another\n"
        "  Action            Calls     Total         %      Self      Mean  "
        "     p99\n"
        "  step                  1  12.35 ms  13717.42  12.35 ms  12.35 ms  "
        "12.35 ms\n"
        "  load                  4  4.000 us      4.44  4.000 us  1.000 us  "
        "1.000 us\n"
        "  tie                   4  4.000 us      4.44  4.000 us  1.000 us  "
        "1.000 us\n");
    child_result r = shell("$G report --as threads --sort self --limit 1 "
                           "p.json | grep -c '^  [sal]'");
    CHECK_STR(r.out, "2\n");
    r = shell("$G report --as threads --sort self --limit 1 p.json");
    CHECK_EQ(times_in(r.out, "\n  a "), 1);
    CHECK_EQ(times_in(r.out, "\n  step "), 1);
    CHECK_EQ(times_in(r.out, "\n  load "), 0);
}

/* Without recorded regions of all steps, durations are reported of the slow
 * steps only. */
TEST(steps_have_a_table)
{
    static const char stats[] =
        "FIT Steps\n"
        "\n"
        "     Steps       Mean     Median        p99        Max\n"
        "         3     200 ns     203 ns     299 ns     300 ns\n"
        "\n"
        "step 2   300 ns\n";
    char text[1024];
    NEEDS_PROGRAM;
    program_put("p.json", by_hand);
    check_report("--as steps --limit 1 p.json", stats);
    snprintf(text, sizeof text,
             "%sstep 3   200 ns\n"
             "step 1   100 ns\n",
             stats);
    check_report("--as steps p.json", text);
}

/* Fit twice, with a gap and validate between, recorded with ordinals, and by
 * a program without recorded durations. */
static const char rounds[] =
    "{\"gnomon\": 1, \"stages\": ["
    "{\"name\": \"fit\", \"ordinal\": 1, \"end_ns\": 10000},"
    "{\"name\": \"validate\", \"ordinal\": 2, \"begin_ns\": 10000,"
    " \"end_ns\": 15000},"
    "{\"name\": \"fit\", \"ordinal\": 3, \"begin_ns\": 20000,"
    " \"end_ns\": 50000, \"recorded_ns\": 10000}],"
    "\"steps\": [{\"stage\": 1, \"number\": 0, \"end_ns\": 100},"
    "{\"stage\": 3, \"number\": 0, \"begin_ns\": 20000,"
    " \"end_ns\": 20700}],"
    "\"tracks\": [{\"name\": \"main\"}],"
    "\"regions\": [{\"name\": \"step\", \"kind\": \"action\"},"
    " {\"name\": \"eval\"}],"
    "\"nodes\": ["
    "{\"track\": 1, \"stage\": 1, \"region\": 1, \"first\": 1, \"host\":"
    "{\"count\": 2, \"total_ns\": 4000, \"self_ns\": 4000, \"min_ns\": 2000,"
    " \"max_ns\": 2000}},"
    "{\"track\": 1, \"stage\": 2, \"region\": 2, \"first\": 2, \"host\":"
    "{\"count\": 1, \"total_ns\": 5000, \"self_ns\": 5000, \"min_ns\": 5000,"
    " \"max_ns\": 5000}},"
    "{\"track\": 1, \"stage\": 3, \"region\": 1, \"first\": 3, \"host\":"
    "{\"count\": 3, \"total_ns\": 6000, \"self_ns\": 6000, \"min_ns\": 2000,"
    " \"max_ns\": 2000}}]}";

/* Times of stages add up, so percentages are of the time recorded in all of
 * them. */
TEST(stages_of_a_name_are_one)
{
    NEEDS_PROGRAM;
    program_put("r.json", rounds);
    child_result r = shell("$G report r.json");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "Profiler Report"), 2);
    CHECK(strncmp(r.out, "FIT Profiler Report\n", 20) == 0);
    CHECK(strstr(
        r.out,
        "|  Total	|  -              	|  5              	"
        "|  2e-05          	|  100 %          	|\n"));
    CHECK(strstr(
        r.out, "|  step	|  2e-06          	|  5              	"
               "|  1e-05          	|  50.0           	|\n"));
    CHECK_STR(r.err, "gnomon: r.json: fit is 2 stages added up\n");
    child_result form =
        shell("$G cat -o r.gnomon r.json && $G report r.gnomon; "
              "$G report --stage fit r.gnomon 2>&1 | grep -c Report");
    CHECK(strncmp(form.out, r.out, strlen(r.out)) == 0);
    CHECK_STR(form.out + strlen(r.out), "1\n");

    r = shell("$G report --as json r.json | grep -o '\"stage\".*\"steps\"'");
    CHECK_STR(r.out, "\"stage\": \"fit\", \"ordinal\": 1, \"stages\": 2, "
                     "\"wall_ns\": 20000, \"steps\"\n"
                     "\"stage\": \"validate\", \"ordinal\": 2, \"stages\": 1, "
                     "\"wall_ns\": 5000, \"steps\"\n");
    r = shell("$G report --as threads r.json");
    CHECK_EQ(times_in(r.out, "FIT Regions by thread, 2 stages added up\n"), 1);
    CHECK_EQ(times_in(r.out, "VALIDATE Regions by thread\n"), 1);
    CHECK_EQ(times_in(r.out, "  step        5  10.00 us"), 1);
    CHECK_STR(r.err, "");
    /* Step numbers begin anew in each stage: the report shows those of the
     * last one. */
    r = shell("$G report --as steps --stage fit r.json");
    CHECK_STR(r.out, "FIT Steps\n\nstep 0 of stage 3   700 ns\n");
}

TEST(each_stage_by_itself)
{
    NEEDS_PROGRAM;
    program_put("r.json", rounds);
    child_result r = shell("$G report --each r.json");
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(r.out, "FIT Profiler Report\n"), 2);
    CHECK_EQ(times_in(r.out, "VALIDATE Profiler Report\n"), 1);
    CHECK_EQ(times_in(r.out, "|  2              	|  4e-06 "), 1);
    CHECK_EQ(times_in(r.out, "|  3              	|  6e-06 "), 1);
    r = shell("$G report --each --stage fit --as json r.json");
    CHECK_EQ(times_in(r.out, "\"stages\": 1"), 2);
    /* Merged stages are reported alike when the file has them merged
     * already. */
    r = shell("sed 's/\"ordinal\": 3,/\"ordinal\": 3, \"count\": 4,/' r.json > "
              "s.json; $G report --each s.json; $G report s.json");
    CHECK_STR(r.err, "gnomon: s.json: fit is 4 stages added up\n"
                     "gnomon: s.json: fit is 5 stages added up\n");
    r = shell("$G report --each=yes r.json");
    CHECK_EQ(r.status, 1);
}

/* Ranks have stages of a name in any number. */
TEST(ranks_add_up_their_rounds)
{
    NEEDS_PROGRAM;
    program_put("r.json", rounds);
    child_result r = shell(
        "for n in 0 1; do sed \"s/^{/{\\\"runs\\\": [{\\\"job\\\": \\\"j\\\", "
        "\\\"uuid\\\": \\\"$n\\\", \\\"rank\\\": $n, "
        "\\\"world_size\\\": 2}],/\" r.json > r$n.json; done; "
        "$G report r0.json r1.json");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "Profiler Report\n"), 2);
    CHECK(strstr(
        r.out, "|  step	|  2e-06          	|  10             	"
               "|  2e-05          	|  50.0           	|\n"));
    CHECK_EQ(times_in(r.out, "step        2  10.00 us  10.00 us"), 1);
}

/* The next report begins on a new line, also after one without a newline at
 * its end. */
TEST(reports_without_rows_are_lines)
{
    NEEDS_PROGRAM;
    program_put("p.json", "{\"gnomon\": 1, \"stages\": [{\"name\": \"fit\"}, "
                          "{\"name\": \"test\", \"ordinal\": 1}]}");
    child_result r = shell("$G report --as advanced p.json");
    CHECK_EQ(r.status, 3);
    CHECK_STR(r.out, "FIT Profiler Report\nTEST Profiler Report");
}

TEST(long_names_are_not_cut)
{
    char name[1001] = "", text[4096];
    NEEDS_PROGRAM;
    memset(name, 'n', sizeof name - 1);
    snprintf(text, sizeof text,
             "{\"gnomon\": 1, \"tracks\": [{}], \"regions\": [{\"name\": "
             "\"%s\"}], \"nodes\": [{\"track\": 1, \"region\": 1, \"host\": "
             "{\"count\": 1, \"total_ns\": 5, \"self_ns\": 5, \"min_ns\": 5, "
             "\"max_ns\": 5}}]}",
             name);
    program_put("p.json", text);
    child_result r = shell("$G report --as json p.json");
    snprintf(text, sizeof text,
             "{\"name\": \"%s\", \"category\": \"\", \"calls\": 1", name);
    CHECK(strstr(r.out, text));
    r = shell("$G report --as threads p.json");
    CHECK(strstr(r.out, name));
}

TEST(json_is_for_scripts)
{
    NEEDS_PROGRAM;
    program_put("p.json", by_hand);
    check_report(
        "--as json --sort calls p.json",
        "[{\"file\": \"p.json\", \"report\": \"regions\", \"rank\": null, "
        "\"stage\": \"fit\", "
        "\"ordinal\": 0, \"stages\": 1, \"wall_ns\": 90000, \"steps\": 3, "
        "\"rows\": [\n"
        "{\"name\": \"load\", \"category\": \"\", \"calls\": 4, "
        "\"total_ns\": 4000, \"percent\": 4.44444, \"self_ns\": 4000, "
        "\"mean_ns\": 1000, \"min_ns\": 1000, \"p50_ns\": 1000, "
        "\"p90_ns\": 1000, \"p99_ns\": 1000, \"max_ns\": 1000, "
        "\"device_calls\": null, \"device_ns\": null},\n"
        "{\"name\": \"tie\", \"category\": \"\", \"calls\": 4, "
        "\"total_ns\": 4000, \"percent\": 4.44444, \"self_ns\": 4000, "
        "\"mean_ns\": 1000, \"min_ns\": 1000, \"p50_ns\": 1000, "
        "\"p90_ns\": 1000, \"p99_ns\": 1000, \"max_ns\": 1000, "
        "\"device_calls\": null, \"device_ns\": null},\n"
        "{\"name\": \"step\", \"category\": \"\", \"calls\": 3, "
        "\"total_ns\": 12354678, \"percent\": 13727.4, \"self_ns\": 12348678, "
        "\"mean_ns\": 4118226, \"min_ns\": 4500, \"p50_ns\": 4580, "
        "\"p90_ns\": 12259561, \"p99_ns\": 12337066, \"max_ns\": 12345678, "
        "\"device_calls\": null, \"device_ns\": null},\n"
        "{\"name\": \"a \\\"quoted\\\"\\u0009name\", \"category\": \"\", "
        "\"calls\": 1, "
        "\"total_ns\": 6000, \"percent\": 6.66667, \"self_ns\": 6000, "
        "\"mean_ns\": 6000, \"min_ns\": 6000, \"p50_ns\": 6000, "
        "\"p90_ns\": 6000, \"p99_ns\": 6000, \"max_ns\": 6000, "
        "\"device_calls\": null, \"device_ns\": null}]}]\n");
    child_result r = shell("$G report --as json --sort name p.json");
    CHECK_EQ(times_in(r.out, "rows\": [\n{\"name\": \"a "), 1);
    CHECK(strstr(strstr(r.out, "\"load\""), "\"step\""));
    r = shell("cp p.json q.json; $G report --as json p.json "
              "q.json | python3 -c 'import json, sys\n"
              "all = json.load(sys.stdin)\n"
              "print(len(all), [a[\"file\"] for a in all])'");
    if (r.status == 127)
        SKIP("no python3");
    CHECK_STR(r.out, "2 ['p.json', 'q.json']\n");
}

/* Devices, pools, events and other entities do not disturb these reports. */
TEST(a_profile_of_every_entity_has_reports)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = full_of("01");
    program_save(p, GNOMON_FORM_FILE, "whole.gnomon");
    program_save(p, GNOMON_FORM_JSON, "whole.json");
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

/* A file of 56 MB, nearly all of it events, which no report needs. */
TEST(large_files_take_little_memory)
{
    enum { EVENTS = IS_SANITIZED ? 100000 : 1000000 };
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
    program_save(p, GNOMON_FORM_FILE, "large.gnomon");
    gnomon_profile_free(p);
    child_result r = shell(
        "for what in report info; do python3 -c 'import resource, subprocess, "
        "sys\n"
        "out = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(out.stdout.count(\"step\"), out.stdout.count(\"1000000\"), "
        "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 40000)' "
        "$G $what large.gnomon; done");
    if (r.status == 127 || strstr(r.err, "not found"))
        SKIP("no python3");
    if (!IS_ASAN && !IS_TSAN)
        CHECK_STR(r.out, "1 0 True\n0 1 True\n");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon diff: its options, tables, gates and exit codes.
 *
 * links: static
 * threads: none
 * needs: cli
 * timeout: 300 */
#include <sys/stat.h>

#include "program.h"

#include "command/command.h"
#include "built_runs.h"

/* A file of a run in which `step` took these ns, and `load` half of them. */
static void save(const char *path, const char *uuid, uint64_t step,
                 size_t calls)
{
    static uint64_t ns[1000];
    built_run l = run_begin(NULL, 0, uuid);
    gnomon_profile *p;
    run_stage(&l, "fit");
    for (size_t i = 0; i < calls; i++)
        ns[i] = step + step / 100 * (i % 3);
    run_row(&l, GNOMON_KIND_ACTION, "step", ns, calls);
    for (size_t i = 0; i < calls; i++)
        ns[i] /= 2;
    run_row(&l, GNOMON_KIND_ACTION, "load", ns, calls);
    run_stage(&l, "test");
    run_row(&l, GNOMON_KIND_ACTION, "step", ns, 1);
    p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static void save_sides(void)
{
    save("a.gnomon", "a", 1000000, 100);
    save("b.gnomon", "b", 1200000, 100);
}

/* The command exits with this status and prints this on standard error, or
 * nothing. */
static void check(const char *words, int status, const char *says)
{
    child_result r = shell("$G diff %s", words);
    if (!CHECK_EQ(r.status, status) ||
        !CHECK(*says ? strstr(r.err, says) != NULL : !*r.err))
        fprintf(stderr, "    gnomon diff %s: %s%s\n", words, r.out, r.err);
}

TEST(tables)
{
    NEEDS_PROGRAM;
    save_sides();
    child_result r = shell("$G diff a.gnomon b.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out,
              "A: 1 job, 1 run; B: 1 job, 1 run\n"
              "How far jobs differ is assumed: 1.6 % + 15 ns. Three jobs "
              "a side measure it.\n\n"
              "FIT Changes from A to B\n\n"
              "action  calls A  calls B    mean A    mean B   change"
              "    99.9 % sure of  confidence  change of total\n"
              "step        100      100  1.010 ms  1.212 ms  +20.0 %"
              "  +11.4 .. +29.3 %   > 99.99 %        +20.20 ms\n"
              "load        100      100  504.9 us  605.9 us  +20.0 %"
              "  +11.4 .. +29.3 %   > 99.99 %        +10.10 ms\n\n"
              "TEST Changes from A to B\n\n"
              "action  calls A  calls B    mean A    mean B   change"
              "  99.9 % sure of  confidence  change of total\n"
              "step          1        1  500.0 us  600.0 us  +20.0 %"
              "               -           -        +100.0 us\n\n");
    r = shell("$G diff a.gnomon b.gnomon --stage fit --metric total "
              "--sort name --limit 1 --confidence 95 --drift 0.1");
    CHECK(strstr(r.out, "TEST") == NULL);
    CHECK(strstr(r.out, "total A") && strstr(r.out, "95 % sure of"));
    CHECK(strstr(r.out, "load") && !strstr(r.out, "step"));
    CHECK(strstr(r.out, "\n1 more\n") != NULL);
    r = shell("$G diff a.gnomon a.gnomon --metric p99");
    CHECK_EQ(times_in(r.out, " 0.0 % "), 3);
}

static void save_one(const char *path, const char *uuid, const char *name,
                     uint64_t ns)
{
    built_run l = run_begin(NULL, 0, uuid);
    run_stage(&l, "fit");
    RUN_ROW(&l, name, ns, ns, ns);
    gnomon_profile *p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

/* JSON has exact numbers, null for missing values, and the gates. */
TEST(as_json)
{
    NEEDS_PROGRAM;
    save_one("a.gnomon", "a", "say \"x\"", 1000000);
    save_one("b.gnomon", "b", "y|z", 2000000);
    child_result r = shell("$G diff --as json a.gnomon b.gnomon");
    CHECK_EQ(r.status, 3);
    CHECK_STR(r.out,
              "{\"a\": {\"jobs\": 1, \"runs\": 1}, \"b\": {\"jobs\": 1, "
              "\"runs\": 1}, \"confidence\": 0.999, \"assumed\": {\"drift\": "
              "0.016, \"drift_ns\": 15},\n\"tables\": [\n"
              "{\"stage\": \"fit\", \"kind\": \"host\", \"metric\": "
              "\"mean\", \"unit\": \"ns\", \"left_out\": 0, \"rows\": [\n"
              "{\"name\": \"y|z\", \"calls_a\": null, \"calls_b\": 3, "
              "\"a\": null, \"b\": 2000000, \"change\": null, \"low\": null, "
              "\"high\": null, \"confidence\": null, \"total_a_ns\": null, "
              "\"total_b_ns\": 6000000},\n"
              "{\"name\": \"say \\\"x\\\"\", \"calls_a\": 3, \"calls_b\": "
              "null, \"a\": 1000000, \"b\": null, \"change\": null, \"low\": "
              "null, \"high\": null, \"confidence\": null, \"total_a_ns\": "
              "3000000, \"total_b_ns\": null}]}],\n\"gates\": null}\n");
    save_one("b.gnomon", "b", "say \"x\"", 2000000);
    r = shell("$G diff --as json a.gnomon b.gnomon --limit 1 --drift 0 --gate "
              "'say* mean +5%%' --gate '* total +200%%'");
    CHECK_EQ(r.status, 4);
    CHECK(strstr(r.out, "\"assumed\": {\"drift\": 0, \"drift_ns\": 0}"));
    const char *gates = strstr(r.out, "\"gates\"");
    if (CHECK(gates != NULL)) {
        CHECK(strstr(gates, "{\"gate\": \"say* mean +5%\", \"verdict\": "
                            "\"fails\", \"stage\": \"fit\", \"name\": \"say "
                            "\\\"x\\\"\", \"a\": 1000000, \"b\": 2000000, "
                            "\"change\": 1, "));
        CHECK(strstr(gates, "},\n{\"gate\": \"* total +200%\", "
                            "\"verdict\": \"holds\""));
    }
    r = shell("$G diff --as json a.gnomon b.gnomon --gate 'say* mean +5%%' "
              "2>/dev/null | python3 -m json.tool >/dev/null");
    CHECK_EQ(r.status, 0);
}

TEST(as_markdown)
{
    NEEDS_PROGRAM;
    save_one("a.gnomon", "a", "x|y", 1000000);
    save_one("b.gnomon", "b", "x|y", 2000000);
    child_result r = shell("$G diff --as md a.gnomon b.gnomon "
                           "--gate 'x* mean +200%%'");
    CHECK_EQ(r.status, 0);
    CHECK(strstr(r.out,
                 "### FIT Changes from A to B\n\n"
                 "| action | calls A | calls B | mean A | mean B | change "
                 "| 99.9 % sure of | confidence | change of total |\n"
                 "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
                 "| ---: |\n"
                 "| x\\|y | 3 | 3 | 1.000 ms | 2.000 ms | +100.0 % | "));
    CHECK(strstr(r.out, "\n- gate holds: x\\* mean +200%: fit: x\\|y: mean "));
}

/* Stages of one ordinal are matched by name. */
TEST(stages_come_as_in_the_run)
{
    static const struct {
        const char *path, *stages[5];
    } files[] = {{"a.gnomon", {"tune", "test", "fit", "tune"}},
                 {"b.gnomon", {"check", "none", "none", "tune"}}};
    NEEDS_PROGRAM;
    for (int i = 0; i < 2; i++) {
        built_run l = run_begin(NULL, 0, files[i].path);
        for (int k = 0; files[i].stages[k]; k++) {
            run_stage(&l, files[i].stages[k]);
            RUN_ROW(&l, k ? "a" : "z", 5, 6);
        }
        gnomon_profile *p = run_end(&l);
        program_save(p, GNOMON_FORM_FILE, files[i].path);
        gnomon_profile_free(p);
    }
    child_result r = shell("$G diff a.gnomon b.gnomon | grep Changes");
    CHECK_STR(r.out, "CHECK Changes from A to B\nTUNE Changes from A to B\n"
                     "NONE Changes from A to B\nTEST Changes from A to B\n"
                     "FIT Changes from A to B\n");
}

TEST(gates)
{
    NEEDS_PROGRAM;
    save_sides();
    check("a.gnomon b.gnomon --gate 'step mean +5%'", 4,
          "gate fails: step mean +5%: fit: step: mean 1.010 ms -> 1.212 ms, "
          "+20.0 %, > 99.99 % sure");
    check("a.gnomon b.gnomon --gate 'step mean +25%'", 0, "");
    check("a.gnomon b.gnomon --gate 'step mean +5% +1ms'", 0, "");
    check("a.gnomon b.gnomon --gate 'step mean +5%' --drift 9 --stage fit", 0,
          "gate is not sure: step mean +5%: fit: step");
    check("a.gnomon b.gnomon --gate 'step mean +5%' --stage test", 0,
          "one execution a side says nothing");
    check("b.gnomon a.gnomon --gate 'step mean +5%'", 0, "");
    check("b.gnomon a.gnomon --gate '* mean +5%' --gate 'load total -10%'", 4,
          "gate fails: load total -10%: fit: load");
    check("a.gnomon b.gnomon --gate 'stepp mean +5%'", 1,
          "did you mean 'step'?");
    check("a.gnomon b.gnomon --gate 'evaluate mean +5%'", 1,
          "watches nothing: no row is 'evaluate'\n");
    check("a.gnomon b.gnomon --gate 'load mean +5%' --stage test", 1,
          "watches nothing");
    child_result r = shell("$G diff a.gnomon a.gnomon --gate 'st?p mean +5%%' "
                           "--stage fit");
    CHECK_EQ(r.status, 0);
    CHECK(strstr(r.out,
                 "gate holds: st?p mean +5%: fit: step: mean 1.010 ms "
                 "-> 1.010 ms, 0.0 %, 0.00 % sure if jobs differ") != NULL);
}

/* With one job a side the spread of jobs is assumed; with two it is
 * measured. */
TEST(a_gate_prints_its_assumptions)
{
    static const char line[] = "How far jobs differ is assumed: ";
    NEEDS_PROGRAM;
    save_sides();
    check("a.gnomon b.gnomon --gate 'step mean +5%'", 4,
          "> 99.99 % sure if jobs differ by 1.6 % + 15 ns\n");
    check("a.gnomon b.gnomon --gate 'step mean +5%' --drift 2%+1us", 4,
          "% sure if jobs differ by 2 % + 1000 ns\n");
    CHECK_EQ(system("mkdir A && cp a.gnomon A/0.gnomon"), 0);
    save("A/1.gnomon", "a1", 1010000, 100);
    child_result r = shell("$G diff A b.gnomon --gate 'step mean +5%%'");
    CHECK(!strstr(r.out, line) && !strstr(r.err, "if jobs differ"));
    r = shell("$G diff a.gnomon b.gnomon --drift 0");
    CHECK(strstr(r.out, "assumed: 0 % + 0 ns.") != NULL);
    r = shell("$G diff a.gnomon b.gnomon --drift 50ns");
    CHECK(strstr(r.out, "assumed: 1.6 % + 50 ns.") != NULL);
    check("a.gnomon b.gnomon --drift 3%+4%", 1, "1.6%+15ns");
}

/* A job with another code layout may add some ns to a hook of 100 ns: 25 ns
 * more are not significant, three times the duration is. */
TEST(short_hooks_may_drift_by_some_ns)
{
    NEEDS_PROGRAM;
    save("a.gnomon", "a", 100, 1000);
    save("b.gnomon", "b", 125, 1000);
    save("c.gnomon", "c", 300, 1000);
    check("a.gnomon b.gnomon --stage fit --gate '* mean +5%'", 0,
          "gate is not sure");
    check("a.gnomon b.gnomon --stage fit --gate '* mean +5%' --drift 1.6%+0ns",
          4, "gate fails");
    check("a.gnomon c.gnomon --stage fit --gate 'step mean +5%'", 4,
          "gate fails");
    check("a.gnomon c.gnomon --stage fit --gate 'step total +5%'", 4,
          "gate fails");
}

/* Each comparison of a gate may fail by chance. */
TEST(many_gates_ask_for_more_confidence)
{
    NEEDS_PROGRAM;
    save("a.gnomon", "a", 1000000, 100);
    save("b.gnomon", "b", 1080000, 100);
    check("a.gnomon b.gnomon --stage fit --gate 'step mean +5%'", 4,
          "gate fails");
    check("a.gnomon b.gnomon --stage fit --gate 'step mean +5%' "
          "--gate '* mean +5%' --gate '* total +5%'",
          0, "to fail takes 99.98 %");
}

TEST(words)
{
    NEEDS_PROGRAM;
    save_sides();
    check("a.gnomon", 1, "name two sides");
    check("a.gnomon b.gnomon a.gnomon", 1, "more than two sides");
    check("a.gnomon b.gnomon --gate 'step'", 1, "must end in a limit");
    check("a.gnomon b.gnomon --gate 'step meam +5%'", 1,
          "did you mean 'mean'?");
    check("a.gnomon b.gnomon --metric medium", 1, "word for --metric");
    check("a.gnomon b.gnomon --sort totl", 1, "did you mean 'total'?");
    check("a.gnomon b.gnomon --limit 0", 1, "from 1");
    check("a.gnomon b.gnomon --confidence 100", 1, "below 100");
    check("a.gnomon b.gnomon --confidence often", 1, "percent");
    check("a.gnomon b.gnomon --drift -1", 1, "percent");
    check("a.gnomon b.gnomon --stage fti", 3, "a stage named fti");
    check("--help", 0, "");
}

TEST(files)
{
    NEEDS_PROGRAM;
    save_sides();
    program_put("broken.gnomon", "no profile");
    program_put("empty.json", "{\"gnomon\": 1}");
    check("a.gnomon missing.gnomon", 2, "missing.gnomon");
    check("broken.gnomon b.gnomon", 2, "broken.gnomon");
    if (GNOMON_WITH_JANSSON)
        check("a.gnomon empty.json", 3, "nothing to compare");
    CHECK_EQ(system("head -c 32 a.gnomon > head.gnomon"), 0); /* no run */
    check("a.gnomon head.gnomon", 2, "damaged: the end of the file");
    CHECK_EQ(system("mkdir A B && cp a.gnomon A/0.gnomon && "
                    "cp b.gnomon B/0.gnomon"),
             0);
    save("A/1.gnomon", "a1", 1010000, 100);
    save("B/1.gnomon", "b1", 1190000, 100);
    child_result r = shell("$G diff A 'B/*' --gate 'step mean +5%%'");
    CHECK_EQ(r.status, 4);
    CHECK(strstr(r.out, "A: 2 jobs, 2 runs; B: 2 jobs, 2 runs\n") != NULL);
    CHECK_EQ(system("cp a.gnomon A/2.gnomon"), 0); /* the life of A/0 again */
    check("A B", 0, "A: 2 stages are there twice, and count once");
    CHECK_EQ(system("cp broken.gnomon A/3.gnomon"), 0);
    check("A B --gate 'step mean +5%' --stage fit", 2, "gates are refused");
}

TEST(rows_of_one_side_alone)
{
    NEEDS_PROGRAM;
    save_sides();
    built_run l = run_begin(NULL, 0, "c");
    run_stage(&l, "fit");
    RUN_ROW(&l, "new", 5, 6);
    gnomon_profile *p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, "c.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G diff a.gnomon c.gnomon --stage fit");
    CHECK_EQ(r.status, 3);
    CHECK_EQ(times_in(r.out, "only in A"), 2);
    CHECK_EQ(times_in(r.out, "only in B"), 1);
    CHECK(strstr(r.err, "nothing ended on both sides") != NULL);
    CHECK_EQ(system("mkdir C && cp b.gnomon c.gnomon C"), 0);
    check("a.gnomon C --gate 'new mean +5%'", 3, "on one side only");
}

/* ---- Devices, steps, counters ----------------------------------------------- */

/* A run whose kernels and steps take so many ns, and whose loss is so large. */
static void save_device(const char *path, uint64_t ns, double loss)
{
    built_run l = run_begin(NULL, 0, path);
    const gnomon_cell cells[] = {{gnomon_cell_of(ns - ns / 100), 0, 50},
                                 {gnomon_cell_of(ns + ns / 100), 0, 50}};
    gnomon_stats s = {
        sizeof s,      0,     100,
        100 * ns,      0,     ns - ns / 100,
        ns + ns / 100, cells, cells[0].cell == cells[1].cell ? 1 : 2};
    gnomon_cell one = {cells[0].cell, 0, 100};
    if (s.cell_count == 1)
        s.cells = &one;
    uint32_t stage = gnomon_add_stage(
        l.builder, &(gnomon_stage_info){
                       .run = l.run, .ordinal = 1, .name = "fit", .steps = &s});
    uint32_t kernel = gnomon_add_region(
        l.builder,
        &(gnomon_region_info){.kind = GNOMON_KIND_KERNEL, .name = "gemm"});
    uint32_t counter = gnomon_add_region(
        l.builder,
        &(gnomon_region_info){.kind = GNOMON_KIND_COUNTER, .name = "loss"});
    gnomon_add_node(l.builder, &(gnomon_node_info){.track = l.track,
                                                   .stage = stage,
                                                   .region = kernel,
                                                   .device = &s});
    gnomon_add_counter(l.builder,
                       &(gnomon_counter_info){.track = l.track,
                                              .region = counter,
                                              .stage = stage,
                                              .count = 100,
                                              .last = loss,
                                              .min = loss,
                                              .max = loss + 0.1,
                                              .sum = 100 * loss + 5});
    l.stage = stage;
    RUN_ROW(&l, "step", 1000000, 1000000);
    gnomon_profile *p = run_end(&l);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

TEST(device_times_steps_and_counters_can_be_gated)
{
    NEEDS_PROGRAM;
    save_device("a.gnomon", 1000000, 2.0);
    save_device("b.gnomon", 1300000, 2.5);
    check(
        "a.gnomon b.gnomon --gate 'gemm device-mean +5%'", 4,
        "gate fails: gemm device-mean +5%: fit: gemm: device-mean 1.000 ms -> "
        "1.300 ms, +30.0 %, > 99.99 % sure");
    check("a.gnomon b.gnomon --gate 'fit step-p50 +5%'", 4,
          "gate fails: fit step-p50 +5%: fit: fit: step-p50");
    check("a.gnomon b.gnomon --gate 'fit step-count +5%'", 0, "");
    check("a.gnomon b.gnomon --gate 'loss counter-last +5%'", 4,
          "counter-last 2 -> 2.5, +25.0 %, ");
    check("a.gnomon b.gnomon --gate 'loss counter-last +5% +1'", 0, "");
    check("b.gnomon a.gnomon --gate 'loss counter-mean -5%'", 4,
          "counter-mean 2.55 -> 2.05, -19.6 %");
    check("a.gnomon b.gnomon --gate '* mean +5%'", 0, ""); /* of the host */
    check("a.gnomon b.gnomon --gate 'gem device-mean +5%'", 1,
          "did you mean 'gemm'?");
    check("a.gnomon b.gnomon --gate 'gemm mean +5%'", 1, "watches nothing");
    child_result r = shell("$G diff a.gnomon b.gnomon");
    CHECK(strstr(r.out, "FIT Changes from A to B\n") != NULL);
    CHECK(strstr(r.out, "FIT Changes on devices from A to B\n") != NULL);
    CHECK(strstr(r.out, "FIT Changes of steps from A to B\n") != NULL);
    CHECK(strstr(r.out, "FIT Changes of counters from A to B\n") != NULL);
    r = shell("$G diff a.gnomon b.gnomon --metric counter-sum");
    CHECK_EQ(times_in(r.out, " from A to B\n"), 1);
    CHECK(
        strstr(r.out, "loss           100        100    205    255  +24.4 %"));
}

/* ---- Ranks ---------------------------------------------------------------- */

/* A file of a rank of a job of eight. */
static void save_rank(const char *side, int32_t rank, const char *attempt,
                      uint64_t step)
{
    static uint64_t ns[100];
    char uuid[32], path[64];
    snprintf(uuid, sizeof uuid, "%s-%d-%s", side, (int)rank,
             attempt ? attempt : "first");
    built_run l = run_begin_as((gnomon_run_info){.job = side,
                                                 .rank = rank,
                                                 .world_size = 8,
                                                 .attempt = attempt,
                                                 .uuid = uuid});
    run_stage(&l, "fit");
    for (size_t i = 0; i < 100; i++)
        ns[i] = step + step / 100 * (i % 3);
    run_row(&l, GNOMON_KIND_ACTION, "step", ns, 100);
    gnomon_profile *p = run_end(&l);
    snprintf(path, sizeof path, "%s/%s.gnomon", side, uuid);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static void save_ranks(const char *side, int32_t from, int32_t to,
                       uint64_t step)
{
    child_folder();
    CHECK_EQ(mkdir(side, 0777), 0);
    for (int32_t rank = from; rank < to; rank++)
        save_rank(side, rank, NULL, step);
}

/* Once its attempts counted as two jobs, and calls and totals were halved. */
TEST(a_slowdown_fails_though_a_rank_was_restarted)
{
    NEEDS_PROGRAM;
    save_ranks("A", 0, 8, 1000000);
    save_ranks("B", 0, 8, 1200000);
    save_rank("B", 3, "1", 1200000);
    child_result r = shell("$G diff A B --gate 'step total +5%%'");
    CHECK_EQ(r.status, 4);
    CHECK(strstr(r.out, "A: 1 job, 8 runs; B: 1 job, 8 runs\n") != NULL);
    CHECK(strstr(r.out, "step        800      900") != NULL);
    CHECK(
        strstr(r.err, "B: restarted of job B: rank 3; its attempts add up\n"));
    CHECK(strstr(r.err, "gate fails: step total +5%: fit: step: total") !=
          NULL);
}

/* Five of eight ranks, and slower: once this passed. */
TEST(missing_ranks_are_reported_and_gates_refused)
{
    NEEDS_PROGRAM;
    save_ranks("A", 0, 8, 1000000);
    save_ranks("B", 0, 5, 1200000);
    check("A B", 0, "B: 3 of 8 ranks of job B are missing: 5-7\n");
    check("A B --gate 'step total +5%'", 3,
          "gates are refused: ranks are missing, and the jobs do not have the "
          "same ones\n");
    save_ranks("C", 0, 5, 1200000); /* as with ranks=0-4 */
    check("B C --gate 'step total +5%'", 0,
          "B: 3 of 8 ranks of job C are missing: 5-7\n");
    save_ranks("D", 5, 8, 1200000);
    check("B D --gate 'step total +5%'", 3, "gates are refused");
    /* An empty list would say that no gate fails. */
    child_result refused =
        shell("$G diff --as json B D --gate 'step total +5%%' | tail -1");
    CHECK_STR(refused.out, "\"gates\": null}\n");
    refused = shell("$G diff --as json B B | tail -1");
    CHECK_STR(refused.out, "\"gates\": []}\n");
}

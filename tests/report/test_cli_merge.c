/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon merge, and reports of many ranks: which ranks are missing, there twice
 * or restarted, and how ranks compare.
 * links: static
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "json_form.h"
#include "program.h"

/* A rank that spent `ms` in "step" and a half of it in "load", below. */
static void put_rank(const char *path, int rank, int world, int ms,
                     const char *more)
{
    char text[1024];
    int cell = (int)gnomon_cell_of((uint64_t)ms * 1000000);
    int half = (int)gnomon_cell_of((uint64_t)ms * 500000);
    snprintf(text, sizeof text,
             "{\"gnomon\": 1, \"runs\": [{\"rank\": %d, \"world_size\": %d, "
             "\"host\": \"n%d\", \"pid\": %d, \"now_ns\": 9000000000%s}], "
             "\"stages\": [{\"name\": \"fit\", \"ordinal\": 1, \"end_ns\": "
             "%d000000, \"ended\": true}], \"tracks\": [{\"name\": \"main\"}], "
             "\"regions\": [{\"name\": \"step\"}, {\"name\": \"load\"}], "
             "\"nodes\": [{\"track\": 1, \"stage\": 1, \"region\": 1, "
             "\"first\": 2, \"host\": {\"count\": 1, \"total_ns\": %d000000, "
             "\"self_ns\": %d00000, \"min_ns\": %d000000, \"max_ns\": "
             "%d000000, \"cells\": [[%d, 1]]}}, {\"track\": 1, \"stage\": 1, "
             "\"parent\": 1, \"region\": 2, \"first\": 1, \"host\": "
             "{\"count\": 1, \"total_ns\": %d00000, \"self_ns\": %d00000, "
             "\"min_ns\": %d00000, \"max_ns\": %d00000, \"cells\": [[%d, "
             "1]]}}]}\n",
             rank, world, rank / 2, 100 + rank, more, ms, ms, 5 * ms, ms, ms,
             cell, 5 * ms, 5 * ms, 5 * ms, 5 * ms, half);
    program_put(path, text);
}

TEST(ranks_are_one_report)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    put_rank("r0.json", 0, 4, 10, "");
    put_rank("r1.json", 1, 4, 12, "");
    put_rank("r2.json", 2, 4, 40, "");
    put_rank("r3.json", 3, 4, 11, "");
    child_result r = shell("$G report r*.json");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(r.out, "FIT Profiler Report\n"), 1);
    CHECK(strstr(r.out, "|  4              \t|  0.073          \t|  100.0 "));
    const char *table = strstr(r.out, "4 ranks");
    CHECK_STR(table ? table : "none",
              "4 ranks, time of each\n"
              "\n"
              "Action  Ranks       Min    Median       Max  Slowest  Host\n"
              "step        4  10.00 ms  11.50 ms  40.00 ms  rank 2   n1\n"
              "load        4  5.000 ms  5.750 ms  20.00 ms  rank 2   n1\n");
    r = shell("$G merge -o all.gnomon r3.json r1.json r0.json r2.json && "
              "$G report all.gnomon > a && $G report r*.json | diff - a && "
              "$G report --as advanced all.gnomon | grep -c '4 ranks'");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "1\n");
    CHECK_STR(r.err, "");
    r = shell("$G report --as json all.gnomon | python3 -c 'import json, sys\n"
              "stage, = json.load(sys.stdin)\n"
              "print(stage[\"ranks\"], stage[\"wall_ns\"])'");
    if (r.status != 127)
        CHECK_STR(r.out, "4 73000000\n");
    r = shell("$G report --as ranks --format csv all.gnomon");
    CHECK_STR(r.out, "stage,name,ranks,min_ns,median_ns,max_ns,over,slowest,"
                     "host,total_ns\n"
                     "fit,step,4,10000000,11500000,40000000,247.826,rank 2,n1,"
                     "73000000\n"
                     "fit,load,4,5000000,5750000,20000000,247.826,rank 2,n1,"
                     "36500000\n");
    r = shell("$G report --as ranks --filter load --columns max all.gnomon");
    CHECK_STR(r.out, "FIT 4 ranks, time of each\n"
                     "\n"
                     "Action       Max\n"
                     "load    20.00 ms\n");
    r = shell("$G report --filter step all.gnomon | grep -c -e ^step -e ^load");
    CHECK_STR(r.out, "1\n");
    r = shell("$G report --as regions --by host --columns total,self "
              "--sort name --format csv r*.json");
    CHECK_STR(r.out, "stage,host,name,total_ns,self_ns\n"
                     "fit,n0,load,11000000,11000000\n"
                     "fit,n0,step,22000000,11000000\n"
                     "fit,n1,load,25500000,25500000\n"
                     "fit,n1,step,51000000,25500000\n");
    r = shell("$G report --as 'tree(by=rank,columns=total)' r*.json | "
              "grep -A 3 'Rank 2'");
    CHECK_STR(r.out, "Rank 2\n"
                     "  Path       Total\n"
                     "  step    40.00 ms\n"
                     "    load  20.00 ms\n");
}

TEST(ranks_that_do_not_fit_together_are_reported)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    put_rank("0.json", 0, 9, 10, ", \"uuid\": \"a\", \"job\": \"j\"");
    put_rank("1.json", 1, 9, 10, ", \"uuid\": \"b\", \"job\": \"j\"");
    put_rank("1b.json", 1, 9, 10, ", \"uuid\": \"c\", \"job\": \"j\"");
    put_rank("4.json", 4, 9, 10, ", \"uuid\": \"d\", \"job\": \"j\"");
    put_rank("4b.json", 4, 9, 10,
             ", \"uuid\": \"e\", \"job\": \"j\", \"attempt\": \"1\"");
    put_rank("8.json", 8, 9, 10, ", \"job\": \"j\"");
    put_rank("8b.json", 8, 9, 12, ", \"job\": \"j\"");
    child_result r = shell("cp 0.json 0b.json; $G merge -o m.gnomon ?.json "
                           "?b.json; $G info m.gnomon 2>/dev/null | wc -l");
    CHECK_STR(
        r.err,
        "gnomon: 5 of 9 ranks of job j are missing: 2-3, 5-7\n"
        "gnomon: 0b.json: has rank 0 as 0.json has it: counted once\n"
        "gnomon: rank 1 of job j is there twice: process 101 on n0 and process "
        "101 on n0\n"
        "gnomon: rank 4 of job j was restarted: attempts first, 1\n"
        "gnomon: 8b.json: has rank 8, which 8.json has, too: without a uuid "
        "their times add up\n");
    CHECK_STR(r.out, "7\n"); /* a header, and a line for each run */
    r = shell(
        "$G report 0.json"); /* a rank without a world size expects no others */
    CHECK_STR(r.err, "");
    put_rank("x.json", 0, 1, 10, ", \"uuid\": \"x\"");
    put_rank("y.json", 0, 1, 10, ", \"uuid\": \"y\"");
    r = shell("$G report x.json y.json"); /* two trainings, not two ranks */
    CHECK_EQ(times_in(r.out, "==> "), 2);
    CHECK_EQ(times_in(r.out, "ranks"), 0);
}

/* Nine runs of eight ranks. */
TEST(a_restarted_rank_is_one_rank)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    for (int rank = 0; rank < 8; rank++) {
        char path[16];
        snprintf(path, sizeof path, "%d.json", rank);
        put_rank(path, rank, 8, 10, ", \"job\": \"j\"");
    }
    put_rank("5b.json", 5, 8, 30, ", \"job\": \"j\", \"attempt\": \"1\"");
    child_result r = shell("$G report ?.json 5b.json");
    CHECK(strstr(r.out, "\n8 ranks, time of each\n") != NULL);
    CHECK(strstr(r.out, "step        8  10.00 ms  10.00 ms  40.00 ms  "
                        "rank 5   n2\n") != NULL);
    put_rank("other.json", 0, 1, 10, "");
    r = shell("$G report ?.json 5b.json other.json");
    CHECK(strstr(r.out, "==> 0.json and 7 ranks more <==\n") != NULL);
}

/* ---- Runs in one file --------------------------------------------------------- */

/* Adds a run of 5 ns in each of two regions; in that stage, where it is named. */
static void add_run(gnomon_builder *b, const gnomon_run_info *about,
                    const char *stage)
{
    const gnomon_cell cell = {gnomon_cell_of(5), 0, 1};
    const gnomon_stats once = {sizeof once, 0, 1, 5, 5, 5, 5, &cell, 1};
    gnomon_node_info node = {.host = &once};
    uint32_t run = gnomon_add_run(b, about);
    if (stage)
        node.stage = gnomon_add_stage(
            b, &(gnomon_stage_info){
                   .run = run, .ordinal = 1, .name = stage, .end_ns = 9});
    node.track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    for (node.region = 1; node.region <= 2; node.region++)
        gnomon_add_node(b, &node);
}

static gnomon_builder *runs_begin(void)
{
    gnomon_builder *b = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_region(b, &(gnomon_region_info){.name = "step"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "load"});
    return b;
}

static void runs_end(gnomon_builder *b, const char *path)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

TEST(jobs_are_a_report_each)
{
    NEEDS_PROGRAM;
    gnomon_builder *b = runs_begin();
    for (int i = 0; i < 3; i++)
        add_run(b,
                &(gnomon_run_info){.rank = i, .world_size = 3, .job = "large"},
                "fit");
    add_run(b,
            &(gnomon_run_info){
                .rank = 1, .world_size = 1, .job = "large", .uuid = "alone"},
            "fit");
    for (int i = 0; i < 2; i++)
        add_run(b,
                &(gnomon_run_info){.rank = i, .world_size = 2, .job = "small"},
                "fit");
    runs_end(b, "all.gnomon");
    child_result r = shell("$G report all.gnomon | grep -e '==>' -e ranks,");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "==> all.gnomon and 2 ranks more <==\n"
                     "3 ranks, time of each\n"
                     "==> all.gnomon <==\n"
                     "==> all.gnomon and 1 rank more <==\n"
                     "2 ranks, time of each\n");
}

/* Ranks that differ in their regions, have no stage, or have no number. */
TEST(ranks_may_differ)
{
    static const char *const stages[] = {"test", NULL, "fit", NULL};
    NEEDS_PROGRAM;
    gnomon_builder *b = runs_begin();
    for (int i = 0; i < 4; i++)
        add_run(b, &(gnomon_run_info){.rank = i, .world_size = 4}, stages[i]);
    runs_end(b, "a.gnomon");
    child_result r = shell("$G report a.gnomon | grep -e Report -e rank");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "Profiler Report\n"
                     "2 ranks, time of each\n"
                     "load        2  5 ns    5 ns  5 ns  rank 1\n"
                     "step        2  5 ns    5 ns  5 ns  rank 1\n"
                     "FIT Profiler Report\n"
                     "1 rank, time of each\n"
                     "load        1  5 ns    5 ns  5 ns  rank 2\n"
                     "step        1  5 ns    5 ns  5 ns  rank 2\n"
                     "TEST Profiler Report\n"
                     "1 rank, time of each\n"
                     "load        1  5 ns    5 ns  5 ns  rank 0\n"
                     "step        1  5 ns    5 ns  5 ns  rank 0\n");
    b = runs_begin();
    for (int i = 0; i < 2; i++)
        add_run(b,
                &(gnomon_run_info){
                    .rank = -1, .world_size = 2, .uuid = i ? "a" : "b"},
                "fit");
    runs_end(b, "b.gnomon");
    r = shell("$G report b.gnomon | grep ' run '");
    CHECK_STR(r.out, "load        2  5 ns    5 ns  5 ns  run 1\n"
                     "step        2  5 ns    5 ns  5 ns  run 1\n");
}

TEST(the_first_of_many_rank_ranges_are_listed)
{
    NEEDS_PROGRAM;
    gnomon_builder *b = runs_begin();
    for (int i = 0; i < 50; i += 2)
        add_run(b, &(gnomon_run_info){.rank = i, .world_size = 99}, "fit");
    runs_end(b, "a.gnomon");
    child_result r = shell("$G merge -o b.gnomon a.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err,
              "gnomon: 74 of 99 ranks are missing: 1, 3, 5, 7, 9, 11, 13, 15, "
              "17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, ...\n");
}

TEST(files_in_any_form_order_and_folder)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    for (int i = 0; i < 6; i++) {
        char path[16];
        snprintf(path, sizeof path, "%d.json", i);
        put_rank(path, i, 6, 10 + i, "");
    }
    child_result r =
        shell("set -e; $G merge -o all.gnomon ?.json\n"
              "for i in 0 2 4; do $G cat -o $i.gnomon $i.json; done\n"
              "$G merge -o b.gnomon 5.json 4.gnomon 1.json 0.gnomon 2.gnomon "
              "3.json; cmp all.gnomon b.gnomon\n"
              "$G merge -o c.gnomon 2.gnomon 3.json 1.json 2> some\n"
              "grep -c '^gnomon: 3 of 6 ranks are missing: 0, 4-5$' some\n"
              "cat 0.json | $G merge -o d.gnomon c.gnomon - 4.json 5.json; "
              "cmp all.gnomon d.gnomon\n"
              "$G merge -o e.gnomon all.gnomon; cmp all.gnomon e.gnomon\n"
              "$G merge -o - all.gnomon | cmp - all.gnomon\n"
              "$G merge -o all.json all.gnomon\n"
              "$G cat all.gnomon | cmp - all.json\n"
              "mkdir d; for i in ?.json; do mv $i "
              "d/${i%%.json}.gnomon.json; done; $G merge -o f.gnomon d; cmp "
              "all.gnomon f.gnomon\n"
              "stat -c %%a f.gnomon");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "1\n600\n");
    CHECK_EQ(r.status, 0);
}

TEST(many_files_and_few_descriptors)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    put_rank("r.json", 7, 400, 10, ", \"uuid\": \"UUID\"");
    child_result r =
        shell("set -e; mkdir d; i=0; while [ $i -lt 400 ]; do sed "
              "\"s/UUID/$i/; s/\\\"rank\\\": 7/\\\"rank\\\": $i/\" r.json > "
              "d/$i.gnomon.json; i=$((i+1)); done; ulimit -n 12; "
              "$G merge -o all.gnomon d; $G report all.gnomon | grep -c "
              "'^400 ranks'; $G info all.gnomon | wc -l");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "1\n401\n");
    CHECK_EQ(r.status, 0);
}

TEST(each_error_has_its_exit_code)
{
    NEEDS_PROGRAM;
    NEEDS_JANSSON();
    put_rank("a.json", 0, 1, 10, "");
    child_result r = shell("$G merge a.json");
    CHECK_EQ(r.status, 1);
    CHECK(strstr(r.err, "-o"));
    CHECK_EQ(shell("$G merge -o x.gnomon").status, 1);
    r = shell("$G merge -o x.gnomon nowhere a.json; echo $?; "
              "$G report x.gnomon | head -n 1");
    CHECK_STR(r.out, "2\nFIT Profiler Report\n");
    CHECK_EQ(times_in(r.err, "gnomon: nowhere: "), 1);
    r = shell("echo '{\"gnomon\": 1, \"runs\": []}' > none.json; "
              "$G merge -o y.gnomon none.json; echo $?; ls y.gnomon");
    CHECK_EQ(strncmp(r.out, "3\n", 2), 0);
    CHECK_EQ(shell("$G merge -o no/such/folder.gnomon a.json").status, 2);
    r = shell("$G merge -o /dev/full a.json");
    CHECK_EQ(r.status, 2);
    CHECK_EQ(times_in(r.err, "\n"), 1);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* advanced, cuda and steps as tables whose rows are grouped (by=) and ordered, of a
 * job whose times are known.
 * links: static
 * needs: cli */
#include "program.h"

#include "gnomon.h"
#include "merging.h"

#define US 1000u

typedef struct timed {
    gnomon_stats stats;
    gnomon_cell cell;
} timed;

/* `count` durations of `ns` each. */
static const gnomon_stats *times(timed *t, uint64_t count, uint64_t ns,
                                 uint64_t self_ns)
{
    t->cell = (gnomon_cell){gnomon_cell_of(ns), 0, count};
    t->stats = (gnomon_stats){.struct_size = sizeof t->stats,
                              .count = count,
                              .total_ns = count * ns,
                              .self_ns = self_ns,
                              .min_ns = ns,
                              .max_ns = ns,
                              .cells = &t->cell,
                              .cell_count = 1};
    return &t->stats;
}

typedef struct job_rank {
    gnomon_builder *b;
    uint32_t run, stage;
} job_rank;

static uint32_t region_of(gnomon_builder *b, const char *name, uint32_t kind,
                          const char *category, const char *file, uint32_t line)
{
    return gnomon_add_region(b, &(gnomon_region_info){.name = name,
                                                      .kind = kind,
                                                      .category = category,
                                                      .file = file,
                                                      .line = line});
}

static uint32_t path_of(const job_rank *j, uint32_t track, uint32_t parent,
                        uint32_t region, uint64_t count, uint64_t ns,
                        uint64_t self_ns, uint64_t device_ns)
{
    timed host, device;
    return gnomon_add_node(
        j->b, &(gnomon_node_info){
                  .track = track,
                  .parent = parent,
                  .region = region,
                  .stage = j->stage,
                  .host = times(&host, count, ns, self_ns),
                  .device = device_ns ? times(&device, 1, device_ns, device_ns)
                                      : NULL});
}

/* Steps 0, 1, ... of one, two, ... times `ns`; in each "load" takes all but 1 us. Of
 * its median the steps' is close enough. */
static void add_steps(const job_rank *j, const gnomon_stats *all,
                      uint32_t region, int count, uint64_t ns)
{
    gnomon_add_step_time(
        j->b, &(gnomon_step_time_info){.stage = j->stage, .time = all});
    gnomon_add_step_time(j->b, &(gnomon_step_time_info){.stage = j->stage,
                                                        .region = region,
                                                        .time = all});
    for (int i = 0; i < count; i++) {
        uint64_t begin = (uint64_t)i * 1000 * US, its = (uint64_t)(i + 1) * ns;
        const uint32_t step = gnomon_add_step(
            j->b, &(gnomon_step_info){.stage = j->stage,
                                      .number = (uint64_t)i,
                                      .begin_ns = begin,
                                      .end_ns = begin + its,
                                      .phase = GNOMON_PHASE_RECORD,
                                      .rank = -1});
        for (int k = 0; k < 2; k++) {
            timed t;
            gnomon_add_step_time(
                j->b, &(gnomon_step_time_info){
                          .stage = j->stage,
                          .step = step,
                          .region = k ? region : 0,
                          .time = times(&t, 1, its - (k ? US : 0), 0)});
        }
    }
}

/* A rank of four on two hosts, whose times are `us` and multiples. */
static void put_rank(int32_t rank, uint64_t us, int steps)
{
    char host[16], path[24];
    const uint64_t u = us * US;
    gnomon_cell cells[16] = {{0}};
    gnomon_stats all = {.struct_size = sizeof all, .cells = cells};
    for (int i = 0; i < steps; i++) {
        uint64_t ns = (uint64_t)(i + 1) * u;
        cells[all.cell_count++] = (gnomon_cell){gnomon_cell_of(ns), 0, 1};
        all.count++;
        all.total_ns += ns;
        all.min_ns = u;
        all.max_ns = ns;
    }
    job_rank j;
    CHECK_EQ(gnomon_builder_create(&j.b), GNOMON_OK);
    snprintf(host, sizeof host, "n%d", rank / 2);
    snprintf(path, sizeof path, "r%d.gnomon", rank);
    j.run = gnomon_add_run(j.b, &(gnomon_run_info){.rank = rank,
                                                   .local_rank = -1,
                                                   .world_size = 4,
                                                   .host = host});
    j.stage = gnomon_add_stage(j.b, &(gnomon_stage_info){.run = j.run,
                                                         .ordinal = 2,
                                                         .name = "fit",
                                                         .end_ns = 9000 * US,
                                                         .steps = &all});
    const uint32_t step = region_of(j.b, "step", GNOMON_KIND_ACTION, "", "", 0);
    const uint32_t load =
        region_of(j.b, "load", GNOMON_KIND_SCOPE, "disk", "io.c", 40);
    const uint32_t walk =
        region_of(j.b, "walk", GNOMON_KIND_FUNCTION, "", "train.c", 7);
    uint32_t tracks[2];
    for (uint32_t i = 0; i < 2; i++)
        tracks[i] = gnomon_add_track(
            j.b, &(gnomon_track_info){.run = j.run,
                                      .index = i,
                                      .name = i ? "worker" : "main",
                                      .device = -1});
    const uint32_t top = path_of(&j, tracks[0], 0, step, 1, 10 * u, 3 * u, 0);
    path_of(&j, tracks[0], top, load, 2, 2 * u, 4 * u, 0);
    path_of(&j, tracks[0], top, walk, 1, 3 * u, 3 * u, 2 * u);
    path_of(&j, tracks[1], 0, load, 1, 5 * u, 5 * u, u);
    add_steps(&j, &all, load, steps, u);
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_finish(j.b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static void put_job(void)
{
    for (int32_t rank = 0; rank < 4; rank++)
        put_rank(rank, 10 * (uint64_t)(rank + 1), 3);
}

static void check_report(const char *words, const char *out)
{
    child_result r = shell("$G report %s", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, out);
    CHECK_STR(r.err, "");
}

/* ---- The tree ----------------------------------------------------------------- */

TEST(the_tree_has_device_times_of_all_threads)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as tree --columns calls,total,device r?.gnomon | head -n 7",
                 "FIT Call Tree\n"
                 "\n"
                 "Path    Calls     Total    Device\n"
                 "step        4  1.000 ms\n"
                 "  load      8  400.0 us\n"
                 "  walk      4  300.0 us  200.0 us\n"
                 "load        4  500.0 us  100.0 us\n");
    check_report("--as tree --by rank --columns device --format csv "
                 "r?.gnomon | grep ,walk,",
                 "fit,0,walk,20000\nfit,1,walk,40000\nfit,2,walk,60000\n"
                 "fit,3,walk,80000\n");
}

/* ---- Order ------------------------------------------------------------------- */

/* Lines, steps and ranks are ordered as names are, what has none comes last. */
TEST(numbers_that_name_something_ascend)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as advanced --sort line --columns line --format csv "
                 "r0.gnomon",
                 "stage,action,name,line\n"
                 "fit,step,walk,7\n"
                 "fit,step,load,40\n"
                 "fit,step,step,\n"
                 "fit,load,load,40\n");
    check_report("--as steps --sort step --columns time --limit 2 r0.gnomon",
                 "FIT Steps\n"
                 "\n"
                 "Step      Time\n"
                 "   0  10.00 us\n"
                 "   1  20.00 us\n");
    check_report("--as steps --sort rank --columns rank --limit 4 "
                 "r?.gnomon",
                 "FIT Steps\n"
                 "\n"
                 "Step  Rank\n"
                 "   2     0\n"
                 "   1     0\n"
                 "   2     1\n"
                 "   1     1\n");
}

/* ---- Tables of reports with a text of their own ----------------------------------- */

/* Two stages of each of two names. */
static void put_stages(void)
{
    CHECK_EQ(gnomon_configure("steps,file=two.gnomon"), GNOMON_OK);
    for (int i = 0; i < 4; i++) {
        gnomon_stage_begin(i % 2 ? "test" : "fit");
        gnomon_start("step");
        gnomon_stop("step");
        gnomon_step();
        gnomon_stage_end();
    }
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
}

static void check_tables(const char *report, const char *words)
{
    child_result r = shell("$G report --as %s %s two.gnomon", report, words);
    CHECK(strstr(r.out, "\n\nTEST ") || strstr(r.out, "\n\n### TEST "));
    CHECK_EQ(times_in(r.out, ", 2 stages added up\n"), 2);
    CHECK_STR(r.err, "");
}

static void check_own_texts(const char *report, const char *words)
{
    child_result r = shell("$G report --as %s %s two.gnomon", report, words);
    CHECK_EQ(times_in(r.err, "test is 2 stages added up\n"), 1);
    CHECK_EQ(times_in(r.err, " is 2 stages added up\n"), 2);
    CHECK_EQ(times_in(r.out, "added up"), 0);
}

/* An empty line is between tables. The reports' own texts follow one another, and a
 * line says how many stages each is of. */
TEST(tables_are_set_apart)
{
    static const char *const reports[] = {"advanced", "steps", "cuda"};
    NEEDS_PROGRAM;
    put_stages();
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        check_tables(reports[i], "--columns all");
        check_own_texts(reports[i], "");
        check_own_texts(reports[i], "--format text");
    }
}

/* The same of plugins, whose options say what they print. */
TEST(tables_of_plugins_are_set_apart)
{
    static const char *const tables[] = {
        CHILD_PLUGIN("tree"), CHILD_PLUGIN("regions"), CHILD_PLUGIN("links"),
        CHILD_PLUGIN("counters")};
    static const char *const both[] = {
        CHILD_PLUGIN("advanced"), CHILD_PLUGIN("steps"), CHILD_PLUGIN("cuda")};
    NEEDS_PROGRAM;
    put_stages();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        check_tables(tables[i], "");
        check_tables(tables[i], "--format text");
    }
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        check_tables(both[i], "--columns all");
        check_tables(both[i], "--by rank");
        check_tables(both[i], "--format md");
        check_own_texts(both[i], "");
        check_own_texts(both[i], "--format text");
    }
    check_own_texts(CHILD_PLUGIN("simple"), "");
    check_own_texts(CHILD_PLUGIN("own_text"), "");
    child_result r = shell(
        "$G report --as " CHILD_PLUGIN("own_text") " --format csv two.gnomon");
    CHECK_EQ(times_in(r.err, " is 2 stages added up\n"), 2);
    r = shell("$G report --as '" CHILD_PLUGIN("own_text") "(format=short)' "
                                                          "two.gnomon");
    CHECK_STR(r.out, "own text of fit as short\nown text of test as short\n");
}

/* What the program says of options that a report does not know. */
static void check_refused(const char *words, const char *line)
{
    child_result r = shell("$G report %s r0.gnomon", words);
    CHECK_EQ(r.status, 1);
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, line);
}

/* ---- cuda ----------------------------------------------------------------------- */

TEST(device_times_by_group)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as cuda --by rank --columns calls,total,host r?.gnomon",
                 "FIT Device Report by rank\n"
                 "\n"
                 "Rank 0\n"
                 "  Action  Calls    Stream      Host\n"
                 "  walk        1  20.00 us  30.00 us\n"
                 "  load        1  10.00 us  50.00 us\n"
                 "\n"
                 "Rank 1\n"
                 "  Action  Calls    Stream      Host\n"
                 "  walk        1  40.00 us  60.00 us\n"
                 "  load        1  20.00 us  100.0 us\n"
                 "\n"
                 "Rank 2\n"
                 "  Action  Calls    Stream      Host\n"
                 "  walk        1  60.00 us  90.00 us\n"
                 "  load        1  30.00 us  150.0 us\n"
                 "\n"
                 "Rank 3\n"
                 "  Action  Calls    Stream      Host\n"
                 "  walk        1  80.00 us  120.0 us\n"
                 "  load        1  40.00 us  200.0 us\n");
    check_report("--as cuda --by host --format csv --columns calls,total,max "
                 "--limit 1 r?.gnomon",
                 "stage,host,name,calls,total_ns,max_ns\n"
                 "fit,n0,walk,2,60000,40000\n"
                 "fit,n1,walk,2,140000,80000\n");
    check_report("--as cuda --by thread --format csv --columns total r0.gnomon",
                 "stage,thread,name,total_ns\n"
                 "fit,0 main,walk,20000\n"
                 "fit,1 worker,load,10000\n");
    check_report("--as cuda --by category --format md --columns total "
                 "r0.gnomon",
                 "### FIT Device Report by category\n"
                 "\n"
                 "#### Category disk\n"
                 "\n"
                 "| Action | Stream |\n"
                 "| --- | ---: |\n"
                 "| load | 10.00 us |\n"
                 "\n"
                 "#### Category (none)\n"
                 "\n"
                 "| Action | Stream |\n"
                 "| --- | ---: |\n"
                 "| walk | 20.00 us |\n");
    check_report("--as 'cuda(by=file,format=csv)' --columns total r?.gnomon",
                 "stage,file,name,total_ns\n"
                 "fit,io.c,load,100000\n"
                 "fit,train.c,walk,200000\n");
    check_refused("--as 'cuda(by=week)'", "gnomon: cuda: by=week: say thread, "
                                          "rank, host, category or file\n");
}

/* ---- advanced -------------------------------------------------------------------- */

TEST(functions_by_group)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as advanced --by thread --format csv r0.gnomon",
                 "stage,thread,action,name,file,line,calls,primitive,self_ns,"
                 "cumulative_ns\n"
                 "fit,0 main,step,step,,,1,1,30000,100000\n"
                 "fit,0 main,step,load,io.c,40,2,2,40000,40000\n"
                 "fit,0 main,step,walk,train.c,7,1,1,30000,30000\n"
                 "fit,1 worker,load,load,io.c,40,1,1,50000,50000\n");
    check_report("--as advanced --by rank --columns calls,cumulative --limit 1 "
                 "--sort calls r0.gnomon r1.gnomon r2.gnomon r3.gnomon",
                 "FIT Profiler Report by rank and action\n"
                 "\n"
                 "Rank 0, action load\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          1    50.00 us\n"
                 "\n"
                 "Rank 0, action step\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          2    40.00 us\n"
                 "\n"
                 "Rank 1, action load\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          1    100.0 us\n"
                 "\n"
                 "Rank 1, action step\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          2    80.00 us\n"
                 "\n"
                 "Rank 2, action load\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          1    150.0 us\n"
                 "\n"
                 "Rank 2, action step\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          2    120.0 us\n"
                 "\n"
                 "Rank 3, action load\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          1    200.0 us\n"
                 "\n"
                 "Rank 3, action step\n"
                 "  Function  Calls  Cumulative\n"
                 "  load          2    160.0 us\n");
    check_report("--as advanced --by host --columns self --format csv "
                 "r?.gnomon",
                 "stage,host,action,name,self_ns\n"
                 "fit,n0,load,load,150000\n"
                 "fit,n0,step,step,90000\n"
                 "fit,n0,step,load,120000\n"
                 "fit,n0,step,walk,90000\n"
                 "fit,n1,load,load,350000\n"
                 "fit,n1,step,step,210000\n"
                 "fit,n1,step,load,280000\n"
                 "fit,n1,step,walk,210000\n");
    check_report("--as advanced --by category --columns self,cumulative "
                 "--format md r?.gnomon",
                 "### FIT Profiler Report by category and action\n"
                 "\n"
                 "#### Category disk, action step\n"
                 "\n"
                 "| Function | Self | Cumulative |\n"
                 "| --- | ---: | ---: |\n"
                 "| load | 400.0 us | 400.0 us |\n"
                 "\n"
                 "#### Category disk, action load\n"
                 "\n"
                 "| Function | Self | Cumulative |\n"
                 "| --- | ---: | ---: |\n"
                 "| load | 500.0 us | 500.0 us |\n"
                 "\n"
                 "#### Category (none), action step\n"
                 "\n"
                 "| Function | Self | Cumulative |\n"
                 "| --- | ---: | ---: |\n"
                 "| step | 300.0 us | 1.000 ms |\n"
                 "| walk | 300.0 us | 300.0 us |\n");
    check_report("--as 'advanced(by=file)' r0.gnomon",
                 "FIT Profiler Report by file and action\n"
                 "\n"
                 "File io.c, action step\n"
                 "  Function  Line  Calls      Self  Cumulative\n"
                 "  load        40      2  40.00 us    40.00 us\n"
                 "\n"
                 "File io.c, action load\n"
                 "  Function  Line  Calls      Self  Cumulative\n"
                 "  load        40      1  50.00 us    50.00 us\n"
                 "\n"
                 "File train.c, action step\n"
                 "  Function  Line  Calls      Self  Cumulative\n"
                 "  walk         7      1  30.00 us    30.00 us\n"
                 "\n"
                 "File (none), action step\n"
                 "  Function  Line  Calls      Self  Cumulative\n"
                 "  step                1  30.00 us    100.0 us\n");
    check_report("--as 'advanced(by=file)' --format json --columns line "
                 "r0.gnomon",
                 "[{\"file\": \"r0.gnomon\", \"report\": \"advanced\", "
                 "\"rank\": 0, \"stage\": \"fit\", \"ordinal\": 2, \"stages\": "
                 "1, \"wall_ns\": 9000000, \"steps\": 3, \"rows\": [\n"
                 "{\"file\": \"io.c\", \"action\": \"step\", \"name\": "
                 "\"load\", \"line\": 40},\n"
                 "{\"file\": \"io.c\", \"action\": \"load\", \"name\": "
                 "\"load\", \"line\": 40},\n"
                 "{\"file\": \"train.c\", \"action\": \"step\", \"name\": "
                 "\"walk\", \"line\": 7},\n"
                 "{\"file\": \"(none)\", \"action\": \"step\", \"name\": "
                 "\"step\", \"line\": null}]}]\n");
    check_refused("--as 'advanced(by=action)'",
                  "gnomon: advanced: by=action: say thread, rank, host, "
                  "category or file\n");
}

/* ---- ranks ------------------------------------------------------------------------ */

/* The ranks of a host are compared with each other; of a category or file what their
 * actions have of it. */
TEST(ranks_by_group)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as ranks --by host r?.gnomon",
                 "FIT 4 ranks, time of each by host\n"
                 "\n"
                 "Host n0\n"
                 "  Action  Ranks       Min    Median       Max  Slowest\n"
                 "  step        2  100.0 us  150.0 us  200.0 us  rank 1\n"
                 "  load        2  90.00 us  135.0 us  180.0 us  rank 1\n"
                 "  walk        2  30.00 us  45.00 us  60.00 us  rank 1\n"
                 "\n"
                 "Host n1\n"
                 "  Action  Ranks       Min    Median       Max  Slowest\n"
                 "  step        2  300.0 us  350.0 us  400.0 us  rank 3\n"
                 "  load        2  270.0 us  315.0 us  360.0 us  rank 3\n"
                 "  walk        2  90.00 us  105.0 us  120.0 us  rank 3\n");
    check_report("--as ranks --by category --columns median,total "
                 "--sort name --format md r?.gnomon",
                 "### FIT 4 ranks, time of each by category\n"
                 "\n"
                 "#### Category disk\n"
                 "\n"
                 "| Action | Median | Total |\n"
                 "| --- | ---: | ---: |\n"
                 "| load | 225.0 us | 900.0 us |\n"
                 "\n"
                 "#### Category (none)\n"
                 "\n"
                 "| Action | Median | Total |\n"
                 "| --- | ---: | ---: |\n"
                 "| step | 250.0 us | 1.000 ms |\n"
                 "| walk | 75.00 us | 300.0 us |\n");
    check_report("--as 'ranks(by=file,format=csv)' --columns min,max --limit 1 "
                 "r?.gnomon",
                 "stage,file,name,min_ns,max_ns\n"
                 "fit,io.c,load,90000,360000\n"
                 "fit,train.c,walk,30000,120000\n"
                 "fit,(none),step,100000,400000\n");
    check_report(
        "--as ranks --by host --columns total --format json "
        "--filter walk r?.gnomon",
        "[{\"file\": \"r0.gnomon\", \"ranks\": 4, \"report\": \"ranks\", "
        "\"rank\": null, \"stage\": \"fit\", \"ordinal\": 2, \"stages\": 1, "
        "\"wall_ns\": 36000000, \"steps\": 12, \"rows\": [\n"
        "{\"host\": \"n0\", \"name\": \"walk\", \"total_ns\": 90000},\n"
        "{\"host\": \"n1\", \"name\": \"walk\", \"total_ns\": 210000}]}]\n");
    check_refused("--as ranks --by rank",
                  "gnomon: ranks: by=rank: say host, category or file\n");
    check_refused("--as 'ranks(by=thread)'",
                  "gnomon: ranks: by=thread: say host, category or file\n");
}

/* ---- steps ----------------------------------------------------------------------- */

/* Each rank or host has its slowest and its own median, however fast it is beside the
 * others. */
TEST(steps_by_group)
{
    NEEDS_PROGRAM;
    put_rank(0, 10, 12);
    for (int32_t rank = 1; rank < 4; rank++)
        put_rank(rank, 1000 * (uint64_t)rank, 11);
    check_report(
        "--as steps --by rank --limit 2 r?.gnomon",
        "FIT Steps by rank\n"
        "\n"
        "Rank 0\n"
        "  Step      Time    Median       p99  Why   Why took   usually\n"
        "    11  120.0 us  61.44 us  119.9 us  load  119.0 us  61.44 us\n"
        "    10  110.0 us  61.44 us  119.9 us  load  109.0 us  61.44 us\n"
        "\n"
        "Rank 1\n"
        "  Step      Time    Median       p99  Why   Why took   usually\n"
        "    10  11.00 ms  5.898 ms  10.94 ms  load  11.00 ms  5.898 ms\n"
        "     9  10.00 ms  5.898 ms  10.94 ms  load  9.999 ms  5.898 ms\n"
        "\n"
        "Rank 2\n"
        "  Step      Time    Median       p99  Why   Why took   usually\n"
        "    10  22.00 ms  11.80 ms  21.89 ms  load  22.00 ms  11.80 ms\n"
        "     9  20.00 ms  11.80 ms  21.89 ms  load  20.00 ms  11.80 ms\n"
        "\n"
        "Rank 3\n"
        "  Step      Time    Median       p99  Why   Why took   usually\n"
        "    10  33.00 ms  18.35 ms  32.95 ms  load  33.00 ms  18.35 ms\n"
        "     9  30.00 ms  18.35 ms  32.95 ms  load  30.00 ms  18.35 ms\n");
    check_report("--as steps --by host --limit 3 --format csv --columns "
                 "rank,time,steps,why r?.gnomon",
                 "stage,host,step,rank,time_ns,steps,why\n"
                 "fit,n0,10,1,11000000,23,load\n"
                 "fit,n0,9,1,10000000,23,load\n"
                 "fit,n0,8,1,9000000,23,load\n"
                 "fit,n1,10,3,33000000,22,load\n"
                 "fit,n1,9,3,30000000,22,load\n"
                 "fit,n1,8,3,27000000,22,load\n");
    check_report("--as steps --by rank --sort step --limit 1 --columns time "
                 "--filter nothing --format md r1.gnomon",
                 "### FIT Steps by rank\n"
                 "\n"
                 "#### Rank 1\n"
                 "\n"
                 "| Step | Time |\n"
                 "| ---: | ---: |\n"
                 "| 1 | 2.000 ms |\n");
    check_report(
        "--as steps --by rank --limit 1 --columns step --format json "
        "r?.gnomon",
        "[{\"file\": \"r0.gnomon\", \"ranks\": 4, \"report\": \"steps\", "
        "\"rank\": null, \"stage\": \"fit\", \"stages\": 4, \"rows\": [\n"
        "{\"rank\": \"0\", \"step\": 11},\n"
        "{\"rank\": \"1\", \"step\": 10},\n"
        "{\"rank\": \"2\", \"step\": 10},\n"
        "{\"rank\": \"3\", \"step\": 10}]}]\n");
    child_result r = shell("$G report --as steps --by rank --format csv "
                           "r?.gnomon | grep -c '^fit,0,'");
    CHECK_STR(r.out, "10\n");
    r = shell("$G merge -o all.gnomon r?.gnomon && $G report --as steps --by "
              "rank --limit 2 all.gnomon >a && $G report --as steps --by rank "
              "--limit 2 r?.gnomon | diff a -");
    CHECK_STR(r.out, "");
    CHECK_EQ(r.status, 0);
    check_refused("--as steps --by thread",
                  "gnomon: steps: by=thread: say rank or host\n");
    check_refused("--as 'steps(by=file)'",
                  "gnomon: steps: by=file: say rank or host\n");
}

#define LAST_STEPS \
    "gnomon: 1.gnomon: only its last 64 steps are in it: GNOMON=steps keeps " \
    "the slowest\n"

/* A rank in a process of its own. */
static void record_steps(const char *rank, const char *spec, int steps)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("RANK", rank, 1);
        setenv("WORLD_SIZE", "2", 1);
        int code = gnomon_configure(spec);
        for (int step = 0; step < steps; step++) {
            gnomon_start("load");
            gnomon_stop("load");
            gnomon_step();
        }
        _exit(code || gnomon_configure(NULL));
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* Slower ones may have come before the last steps. */
TEST(files_without_step_times_say_so)
{
    NEEDS_PROGRAM;
    child_folder();
    record_steps("0", "profile,file=%r.gnomon", 64);
    record_steps("1", "profile,file=%r.gnomon", 70);
    record_steps("0", "profile,steps,file=2.gnomon", 70);
    CHECK_STR(shell("$G report --as steps 0.gnomon >t").err, "");
    CHECK_STR(shell("$G report --as steps 2*.gnomon >t").err, "");
    CHECK_STR(shell("$G report --as steps 1.gnomon >t").err, LAST_STEPS);
    CHECK_STR(shell("$G report --as steps --format csv 1.gnomon >t").err,
              LAST_STEPS);
    CHECK_STR(shell("$G report --as regions 1.gnomon >t").err, "");
    CHECK_STR(shell("$G report --as steps 0.gnomon 1.gnomon >t").err,
              "gnomon: 0.gnomon: which of its steps were slow is not in it: "
              "GNOMON=steps keeps the slowest\n");
}

/* In the running program there is one rank. */
TEST(steps_by_rank_in_the_running_program)
{
    child_folder();
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "4", 1);
    CHECK_EQ(gnomon_configure("steps(by=rank,columns=step,format=csv,"
                              "file=live-%r.csv)"),
             GNOMON_OK);
    gnomon_stage_begin("fit");
    gnomon_start("step");
    gnomon_stop("step");
    gnomon_step();
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
    CHECK_STR(child_read("live-3.csv"), "stage,rank,step\nfit,3,0\n");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links in reports of a job whose links are known: their table in groups, and filters
 * that leave out who submitted or what was submitted.
 * links: static
 * threads: none
 * needs: cli */
#include "program.h"

#include "gnomon.h"

#define US 1000u

/* `count` executions of `ns` together, `self_ns` of it their own. */
static uint32_t node_of(gnomon_builder *b, uint32_t track, uint32_t parent,
                        uint32_t region, uint64_t count, uint64_t ns,
                        uint64_t self_ns)
{
    gnomon_cell cell = {gnomon_cell_of(ns / count), 0, count};
    gnomon_stats stats = {.struct_size = sizeof stats,
                          .count = count,
                          .total_ns = ns,
                          .self_ns = self_ns,
                          .min_ns = ns / count,
                          .max_ns = ns / count,
                          .cells = &cell,
                          .cell_count = 1};
    return gnomon_add_node(b, &(gnomon_node_info){.track = track,
                                                  .parent = parent,
                                                  .region = region,
                                                  .stage = 1,
                                                  .host = &stats});
}

static uint32_t region_of(gnomon_builder *b, const char *name,
                          const char *category, const char *file)
{
    return gnomon_add_region(b, &(gnomon_region_info){.name = name,
                                                      .kind = GNOMON_KIND_SCOPE,
                                                      .category = category,
                                                      .file = file});
}

static void submit(gnomon_builder *b, uint32_t from, uint32_t to,
                   uint64_t count)
{
    gnomon_add_link(b, &(gnomon_link_info){.from = from,
                                           .to = to,
                                           .kind = GNOMON_LINK_SUBMIT,
                                           .count = count});
}

/* A rank of four on two hosts. The main thread submits "task" in "forward" and in
 * "load"; the worker's task submits "copy" to a third thread. All times are multiples
 * of the rank plus one. */
static void put_rank(int32_t rank)
{
    char host[16], path[24];
    const uint64_t u = US * (uint64_t)(rank + 1);
    static const char *const threads[] = {"main", "worker", "copier"};
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    snprintf(host, sizeof host, "n%d", rank / 2);
    snprintf(path, sizeof path, "r%d.gnomon", rank);
    uint32_t tracks[3];
    uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){
               .rank = rank, .local_rank = -1, .world_size = 4, .host = host});
    gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = run, .ordinal = 1, .name = "fit", .end_ns = 100 * US});
    for (uint32_t i = 0; i < 3; i++)
        tracks[i] = gnomon_add_track(
            b, &(gnomon_track_info){
                   .run = run, .index = i, .name = threads[i], .device = -1});
    const uint32_t step = region_of(b, "step", "", ""),
                   forward = region_of(b, "forward", "model", "train.c"),
                   load = region_of(b, "load", "disk", "io.c"),
                   task = region_of(b, "task", "", "pool.c"),
                   inner = region_of(b, "inner", "", "pool.c"),
                   copy = region_of(b, "copy", "disk", "io.c");
    const uint32_t top = node_of(b, tracks[0], 0, step, 1, 20 * u, 4 * u),
                   model =
                       node_of(b, tracks[0], top, forward, 1, 10 * u, 10 * u),
                   read = node_of(b, tracks[0], top, load, 2, 6 * u, 6 * u),
                   work = node_of(b, tracks[1], 0, task, 4, 8 * u, 4 * u),
                   copies = node_of(b, tracks[2], 0, copy, 2, 2 * u, 2 * u);
    node_of(b, tracks[1], work, inner, 4, 4 * u, 4 * u);
    submit(b, model, work, 3);
    submit(b, read, work, 1);
    submit(b, work, copies, 2);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

/* "load" submitted "task" twice and "store" three times. The links of "store" are
 * between single executions, as files with events have them, in any order. */
static void put_single_links(void)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = -1});
    gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = run, .ordinal = 1, .name = "fit", .end_ns = 100 * US});
    uint32_t of[2];
    for (uint32_t i = 0; i < 2; i++)
        of[i] = gnomon_add_track(
            b, &(gnomon_track_info){.run = run, .index = i, .device = -1});
    const uint32_t load = node_of(b, of[0], 0, region_of(b, "load", "", ""), 1,
                                  10 * US, 10 * US),
                   store = node_of(b, of[0], 0, region_of(b, "store", "", ""),
                                   1, 10 * US, 10 * US),
                   task = node_of(b, of[1], 0, region_of(b, "task", "", ""), 5,
                                  5 * US, 5 * US);
    for (uint64_t i = 0; i < 5; i++)
        gnomon_add_link(b,
                        &(gnomon_link_info){.from = i % 2 ? load : store,
                                            .to = task,
                                            .kind = GNOMON_LINK_SUBMIT,
                                            .count = 1,
                                            .from_instance = i % 2 ? 0 : 2,
                                            .to_instance = i % 2 ? 0 : 10 + i});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, "single.gnomon");
    gnomon_profile_free(p);
}

static void put_job(void)
{
    for (int32_t rank = 0; rank < 4; rank++)
        put_rank(rank);
}

static void check_report(const char *words, const char *out)
{
    child_result r = shell("$G report %s", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, out);
    CHECK_STR(r.err, "");
}

/* A link is in the group of the path that submitted, its thread, rank and host, and
 * its region's category and file. */
TEST(links_by_group)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as links --by rank --columns to,count,total r?.gnomon",
                 "FIT Links by rank\n"
                 "\n"
                 "Rank 0\n"
                 "  From          To    Links  Total of it\n"
                 "  step/forward  task      3     8.000 us\n"
                 "  task          copy      2     2.000 us\n"
                 "  step/load     task      1     8.000 us\n"
                 "\n"
                 "Rank 1\n"
                 "  From          To    Links  Total of it\n"
                 "  step/forward  task      3     16.00 us\n"
                 "  task          copy      2     4.000 us\n"
                 "  step/load     task      1     16.00 us\n"
                 "\n"
                 "Rank 2\n"
                 "  From          To    Links  Total of it\n"
                 "  step/forward  task      3     24.00 us\n"
                 "  task          copy      2     6.000 us\n"
                 "  step/load     task      1     24.00 us\n"
                 "\n"
                 "Rank 3\n"
                 "  From          To    Links  Total of it\n"
                 "  step/forward  task      3     32.00 us\n"
                 "  task          copy      2     8.000 us\n"
                 "  step/load     task      1     32.00 us\n");
    check_report("--as links --by host --limit 1 --format csv r?.gnomon",
                 "stage,host,from,to,kind,count,calls,total_ns,self_ns\n"
                 "fit,n0,step/forward,task,submit,6,8,24000,12000\n"
                 "fit,n1,step/forward,task,submit,6,8,56000,28000\n");
    check_report(
        "--as 'links(by=thread)' --columns to,calls --format md r1.gnomon",
        "### FIT Links by thread\n"
        "\n"
        "#### Thread 0 main\n"
        "\n"
        "| From | To | Calls of it |\n"
        "| --- | --- | ---: |\n"
        "| step/forward | task | 4 |\n"
        "| step/load | task | 4 |\n"
        "\n"
        "#### Thread 1 worker\n"
        "\n"
        "| From | To | Calls of it |\n"
        "| --- | --- | ---: |\n"
        "| task | copy | 2 |\n");
    check_report(
        "--as links --by category --columns to,count --format csv r?.gnomon",
        "stage,category,from,to,count\n"
        "fit,disk,step/load,task,4\n"
        "fit,model,step/forward,task,12\n"
        "fit,(none),task,copy,8\n");
    check_report(
        "--as links --by file --columns count --sort total --format "
        "json r0.gnomon",
        "[{\"file\": \"r0.gnomon\", \"report\": \"links\", \"rank\": 0, "
        "\"stage\": \"fit\", \"ordinal\": 1, \"stages\": 1, \"wall_ns\": "
        "100000, \"steps\": 0, \"rows\": [\n"
        "{\"file\": \"io.c\", \"from\": \"step/load\", \"count\": 1},\n"
        "{\"file\": \"pool.c\", \"from\": \"task\", \"count\": 2},\n"
        "{\"file\": \"train.c\", \"from\": \"step/forward\", \"count\": "
        "3}]}]\n");
    child_result r = shell("$G report --as 'links(by=week)' r0.gnomon");
    CHECK_EQ(r.status, 1);
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "gnomon: links: by=week: say thread, rank, host, "
                     "category or file\n");
}

/* ---- Filters ----------------------------------------------------------------------- */

/* A tree with a filter is the tree without the rows that it leaves out: what they
 * submitted is below the nearest kept path above them, on whatever thread. */
TEST(submitted_work_stays_below_what_is_kept)
{
    NEEDS_PROGRAM;
    put_job();
    check_report("--as tree --columns calls,total r0.gnomon",
                 "FIT Call Tree\n"
                 "\n"
                 "Path          Calls     Total\n"
                 "step              1  20.00 us\n"
                 "  forward         1  10.00 us\n"
                 "    ~ task        4  8.000 us\n"
                 "      inner       4  4.000 us\n"
                 "      ~ copy      2  2.000 us\n"
                 "  load            2  6.000 us\n");
    check_report("--as tree --columns calls,total --exclude forward r0.gnomon",
                 "FIT Call Tree\n"
                 "\n"
                 "Path        Calls     Total\n"
                 "step            1  20.00 us\n"
                 "  ~ task        4  8.000 us\n"
                 "    inner       4  4.000 us\n"
                 "    ~ copy      2  2.000 us\n"
                 "  load          2  6.000 us\n");
    check_report("--as tree --columns calls,total --exclude task r0.gnomon",
                 "FIT Call Tree\n"
                 "\n"
                 "Path         Calls     Total\n"
                 "step             1  20.00 us\n"
                 "  forward        1  10.00 us\n"
                 "    ~ inner      4  4.000 us\n"
                 "    ~ copy       2  2.000 us\n"
                 "  load           2  6.000 us\n");
    check_report(
        "--as tree --columns calls,total --filter 'step|copy' r0.gnomon",
        "FIT Call Tree\n"
        "\n"
        "Path      Calls     Total\n"
        "step          1  20.00 us\n"
        "  ~ copy      2  2.000 us\n");
    check_report(
        "--as tree --columns calls,total --filter 'inner|copy' r0.gnomon",
        "FIT Call Tree\n"
        "\n"
        "Path   Calls     Total\n"
        "inner      4  4.000 us\n"
        "copy       2  2.000 us\n");
    check_report(
        "--as tree --columns calls,total --filter 'task|copy' r0.gnomon",
        "FIT Call Tree\n"
        "\n"
        "Path      Calls     Total\n"
        "task          4  8.000 us\n"
        "  ~ copy      2  2.000 us\n");
    check_report("--as tree --columns calls,total --filter 'step|copy' --by "
                 "rank --format csv r?.gnomon",
                 "stage,rank,name,calls,total_ns\n"
                 "fit,0,step,1,20000\n"
                 "fit,0,~ copy,2,2000\n"
                 "fit,1,step,1,40000\n"
                 "fit,1,~ copy,2,4000\n"
                 "fit,2,step,1,60000\n"
                 "fit,2,~ copy,2,6000\n"
                 "fit,3,step,1,80000\n"
                 "fit,3,~ copy,2,8000\n");
    check_report("--as links --columns to,count,calls,total --exclude "
                 "'forward|task' r0.gnomon",
                 "FIT Links\n"
                 "\n"
                 "From  To     Links  Calls of it  Total of it\n"
                 "step  inner      3            4     4.000 us\n"
                 "step  copy       2            2     2.000 us\n");
    check_report("--as advanced --format csv --columns calls,cumulative "
                 "--filter 'step|copy' r0.gnomon",
                 "stage,action,name,calls,cumulative_ns\n"
                 "fit,step,step,1,20000\n"
                 "fit,step,copy,2,2000\n");
}

/* Files with events have a link for each execution that was submitted. Reports add these
 * up: the tree is that of a file without events. */
TEST(links_between_executions_count_in_the_tree)
{
    NEEDS_PROGRAM;
    put_single_links();
    check_report("--as tree --columns calls,total single.gnomon",
                 "FIT Call Tree\n"
                 "\n"
                 "Path      Calls     Total\n"
                 "load          1  10.00 us\n"
                 "store         1  10.00 us\n"
                 "  ~ task      5  5.000 us\n");
    check_report("--as links --columns to,count --exclude store single.gnomon",
                 "FIT Links\n"
                 "\n"
                 "From  To    Links\n"
                 "load  task      2\n");
    check_report("--as advanced --format csv --columns calls,cumulative "
                 "--filter 'store|task' single.gnomon",
                 "stage,action,name,calls,cumulative_ns\n"
                 "fit,store,store,1,10000\n"
                 "fit,store,task,5,5000\n");
}

/* A heading alone would leave one to guess; programs get columns and no line. */
TEST(reports_without_rows_say_so)
{
    NEEDS_PROGRAM;
    put_single_links();
    check_report("--as links --exclude task single.gnomon",
                 "FIT Links\n"
                 "\n"
                 "no link was recorded: gnomon_link_in() makes one, from "
                 "gnomon_link_out()\n");
    check_report("--as links --exclude task --columns to --format csv "
                 "single.gnomon",
                 "stage,from,to\n");
    check_report("--as counters single.gnomon",
                 "FIT Counters and Marks\n"
                 "\n"
                 "no counter was sampled and no mark made: gnomon_counter() "
                 "and gnomon_mark() do so\n");
    check_report("--as counters --format md single.gnomon",
                 "### FIT Counters and Marks\n"
                 "\n"
                 "no counter was sampled and no mark made: gnomon_counter() "
                 "and gnomon_mark() do so\n");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Commands of the program without memory: each of their allocations fails in turn; the
 * command says so and leaves nothing behind. And files that the system does not let
 * them read.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include <getopt.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "gnomon.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os_calls.h"
#undef open /* the test calls libc's own */
#undef close
#undef getrlimit

static int lines;         /* on standard error */
static int memory_errors; /* lines that report missing memory */
static char last_line[200];

static void hear(const char *line)
{
    CHECK_EQ(strncmp(line, "gnomon: ", 8), 0);
    snprintf(last_line, sizeof last_line, "%s", line);
    lines++;
    memory_errors += strstr(line, "no memory") || strstr(line, "GNOMON_ENOMEM");
}

/* Of a stage: a step that is slow, by a region in it. */
static void put_slow_step(gnomon_builder *b, uint32_t stage, uint32_t region,
                          const gnomon_stats *usual)
{
    gnomon_cell cell = {gnomon_cell_of(9000), 0, 1};
    gnomon_stats slow = {sizeof slow, 0, 1, 9000, 0, 9000, 9000, &cell, 1};
    uint32_t step =
        gnomon_add_step(b, &(gnomon_step_info){.stage = stage, .end_ns = 9000});
    for (uint32_t i = 0; i < 2; i++) {
        gnomon_add_step_time(
            b, &(gnomon_step_time_info){
                   .stage = stage, .region = i ? region : 0, .time = usual});
        gnomon_add_step_time(b,
                             &(gnomon_step_time_info){.stage = stage,
                                                      .step = step,
                                                      .region = i ? region : 0,
                                                      .time = &slow});
    }
}

/* Of a stage: "work" that the node submitted, with "part" inside it. */
static void put_work(gnomon_builder *b, uint32_t stage, uint32_t track,
                     uint32_t from, const gnomon_stats *part)
{
    uint32_t regions[2], above = 0;
    gnomon_stats all = *part;
    all.self_ns = 0;
    for (uint32_t i = 0; i < 2; i++) {
        regions[i] = gnomon_add_region(
            b, &(gnomon_region_info){.name = i ? "part" : "work"});
        above =
            gnomon_add_node(b, &(gnomon_node_info){.track = track,
                                                   .parent = above,
                                                   .stage = stage,
                                                   .region = regions[i],
                                                   .host = i ? part : &all});
        if (!i)
            gnomon_add_link(b, &(gnomon_link_info){.from = from,
                                                   .to = above,
                                                   .kind = GNOMON_LINK_SUBMIT,
                                                   .count = 2});
    }
}

/* A profile of two stages and two tracks, with steps and links; one name is too long
 * for a buffer. `lost`: the message of a loss, or NULL. */
static void put_rank(const char *path, int32_t rank, int32_t world,
                     const char *lost)
{
    gnomon_builder *b;
    gnomon_profile *p;
    char name[400] = "";
    memset(name, 'n', sizeof name - 1);
    gnomon_cell cell = {gnomon_cell_of(1500), 0, 2};
    gnomon_stats twice = {sizeof twice, 0, 2, 3000, 3000, 1500, 1500, &cell, 1};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank, .world_size = world, .uuid = path});
    gnomon_add_metadata(
        b, &(gnomon_metadata_info){.run = run, .key = "k", .json = "1"});
    uint32_t region = gnomon_add_region(b, &(gnomon_region_info){.name = name});
    for (uint32_t i = 1; i <= 2; i++) {
        uint32_t stage = gnomon_add_stage(
            b, &(gnomon_stage_info){
                   .run = run, .ordinal = i, .name = "fit", .end_ns = 9000});
        uint32_t track = gnomon_add_track(
            b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
        uint32_t node = gnomon_add_node(b, &(gnomon_node_info){.track = track,
                                                               .stage = stage,
                                                               .region = region,
                                                               .host = &twice});
        put_slow_step(b, stage, region, &twice);
        put_work(b, stage, track, node, &twice);
    }
    if (lost)
        gnomon_add_loss(
            b, &(gnomon_loss_info){.run = run, .kind = lost, .count = 3});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static void put_profile(const char *path)
{
    put_rank(path, 0, 1, NULL);
}

static int run(const char *const *words)
{
    const gnomon__command *c = gnomon__cli_find(gnomon__commands, words[0]);
    char *argv[8] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)(size_t)words[argc];
    optind = 0; /* anew */
    return c->run(argc, argv);
}

/* Fails each allocation in turn; the result is reported, besides the lines
 * that are always printed. */
static void starve(const char *const *words, int always)
{
    uint64_t n = 0, made;
    lines = 0;
    CHECK_EQ(run(words), GNOMON__EXIT_OK);
    CHECK_EQ(lines, always);
    do {
        lines = memory_errors = 0;
        gnomon__test_fail_allocation(++n);
        int status = run(words);
        made = gnomon__test_allocations();
        gnomon__test_fail_allocation(0);
        if (!CHECK(status == GNOMON__EXIT_UNREADABLE ||
                   status == GNOMON__EXIT_USAGE || status == GNOMON__EXIT_OK) ||
            !CHECK(status ? memory_errors > 0 : lines == always))
            fprintf(stderr, "    gnomon %s %s: allocation %d: status %d: %s\n",
                    words[0], words[1], (int)n, status,
                    lines ? last_line : "no line");
    } while (made >= n);
    CHECK(n > 3);
}

#define STARVE(...) starve((const char *const[]){__VA_ARGS__, NULL}, 0)
/* One line reports that two stages are summed. */
#define STARVE_SUM(...) starve((const char *const[]){__VA_ARGS__, NULL}, 1)

TEST(each_allocation_that_fails_is_reported)
{
    child_folder();
    CHECK_EQ(mkdir("d", 0755), 0);
    put_profile("d/a.gnomon");
    gnomon__test_log = hear;
    CHECK(freopen("/dev/null", "w", stdout) != NULL);
    STARVE_SUM("report", "d/a.gnomon");
    STARVE_SUM("report", "--as=advanced", "d/a.gnomon");
    STARVE("report", "--as=threads", "d");
    STARVE_SUM("report", "--as=steps", "d/*.gnomon");
    STARVE("report", "--as=json", "--limit=1", "d/a.gnomon");
    STARVE_SUM("report", "--as=advanced", "--sort=time", "--limit=9", "d");
    STARVE("report", "--each", "d");
    STARVE("info", "d");
    STARVE("cat", "d/a.gnomon");
    STARVE("cat", "-o", "d/a.json", "d/a.gnomon");
    STARVE("cat", "d/a.json");
    CHECK_EQ(mkdir("ranks", 0755), 0);
    put_rank("ranks/0.gnomon", 0, 2, NULL);
    put_rank("ranks/1.gnomon", 1, 2, NULL);
    STARVE_SUM("report", "ranks");
    STARVE("report", "--as=ranks", "--by=host", "ranks");
    STARVE("report", "--as=ranks", "--by=category", "--exclude=part", "ranks");
    STARVE("report", "--as=steps", "--by=rank", "ranks");
    STARVE("report", "--as=steps", "--by=host", "--exclude=part", "ranks");
    STARVE("report", "--as=links", "--by=rank", "--exclude=work", "ranks");
    STARVE("report", "--as=tree", "--exclude=work", "ranks");
    STARVE("info", "ranks");
    STARVE("merge", "-o", "all.gnomon", "ranks");
    STARVE("merge", "-o", "all.json", "ranks");
    STARVE_SUM("report", "all.json");
    STARVE("diff", "ranks", "all.gnomon");
    STARVE("diff", "ranks", "all.gnomon", "--gate", "nn* mean +5%");
    put_rank("lost.gnomon", 0, 1, "dinner");
    starve((const char *const[]){"report", "lost.gnomon", NULL}, 2);
    CHECK_EQ(shell("ls -A d").status, 0);
    CHECK_STR(shell("ls -A d").out, "a.gnomon\na.json\n");
}

/* Standard input, and much more of it than is read at once. */
TEST(standard_input_may_be_too_large)
{
    child_folder();
    put_profile("a.gnomon");
    CHECK_EQ(shell("head -c 300000 /dev/zero > zeroes").status, 0);
    gnomon__test_log = hear;
    CHECK(freopen("/dev/null", "w", stdout) != NULL);
    for (uint64_t n = 1; n < 12; n++) {
        lines = 0;
        CHECK(freopen("zeroes", "r", stdin) != NULL);
        gnomon__test_fail_allocation(n);
        CHECK_EQ(run((const char *const[]){"info", "-", NULL}),
                 GNOMON__EXIT_UNREADABLE);
        gnomon__test_fail_allocation(0);
        CHECK_EQ(lines, 1);
    }
}

/* ---- What cannot be read --------------------------------------------------- */

static void check_told(const char *const *words, const char *line)
{
    lines = 0;
    CHECK_EQ(run(words), GNOMON__EXIT_UNREADABLE);
    CHECK_EQ(lines, 1);
    CHECK_STR(last_line, line);
}

/* The library's line names the file, too. */
TEST(a_disk_that_fails_is_reported_once)
{
    child_folder();
    put_profile("a.gnomon");
    gnomon__test_log = hear;
    for (uint64_t n = 1; n < 4; n++) {
        gnomon__test_fail_calls("pread", n, UINT64_MAX, EIO);
        check_told((const char *const[]){"cat", "a.gnomon", NULL},
                   "gnomon: a.gnomon: Input/output error");
        check_told((const char *const[]){"info", "a.gnomon", NULL},
                   "gnomon: a.gnomon: Input/output error");
        gnomon__test_fail_calls(NULL, 0, 0, 0);
    }
}

TEST(a_folder_for_which_no_descriptor_is_left)
{
    struct rlimit limit, none;
    child_folder();
    CHECK_EQ(mkdir("d", 0755), 0);
    gnomon__test_log = hear;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    check_told((const char *const[]){"info", "d", NULL},
               "gnomon: d: Too many open files");
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

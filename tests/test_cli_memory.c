/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Commands of the program without memory: each of their allocations fails in
 * turn, and then they say so and leave nothing behind.
 * links: testing
 * needs: cli
 * timeout: 120 */
#include "program.h"

#include <getopt.h>

#include "cli/command.h"
#include "platform/error.h"
#include "platform/memory.h"

static int lines; /* on standard error */
static char last_line[200];

static void hear(const char *line)
{
    CHECK_EQ(strncmp(line, "gnomon: ", 8), 0);
    snprintf(last_line, sizeof last_line, "%s", line);
    lines++;
}

/* Two stages, two tracks, steps; a name that is too long for a buffer. */
static void put_rank(const char *path, int32_t rank, int32_t world)
{
    gnomon_builder *b;
    gnomon_profile *p;
    char name[400] = "";
    memset(name, 'n', sizeof name - 1);
    gnomon_cell cell = {gnomon_cell_of(1500), 0, 2};
    gnomon_host_stats twice = {2, 3000, 3000, 1500, 1500, &cell, 1};
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
        gnomon_add_step(b, &(gnomon_step_info){.stage = stage, .end_ns = 7});
        gnomon_add_node(b, &(gnomon_node_info){.track = track,
                                               .stage = stage,
                                               .region = region,
                                               .host = &twice});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static void put_profile(const char *path)
{
    put_rank(path, 0, 1);
}

static int run(const char *const *words)
{
    const gnomon__command *c = gnomon__command_find(words[0]);
    char *argv[8] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)(size_t)words[argc];
    optind = 0; /* anew */
    return c->run(argc, argv);
}

/* Fails each allocation; whatever came of it, it was told. */
static void starve(const char *const *words)
{
    uint64_t n = 0, made;
    CHECK_EQ(run(words), GNOMON__EXIT_OK);
    CHECK_EQ(lines, 0);
    do {
        lines = 0;
        gnomon__test_fail_allocation(++n);
        int status = run(words);
        made = gnomon__test_allocations();
        gnomon__test_fail_allocation(0);
        if (!CHECK(status == GNOMON__EXIT_UNREADABLE ||
                   status == GNOMON__EXIT_USAGE || status == GNOMON__EXIT_OK) ||
            !CHECK_EQ(lines > 0, status != GNOMON__EXIT_OK))
            fprintf(stderr, "    gnomon %s %s: allocation %d: status %d: %s\n",
                    words[0], words[1], (int)n, status,
                    lines ? last_line : "no line");
    } while (made >= n);
    CHECK(n > 3);
    lines = 0;
}

#define STARVE(...) starve((const char *const[]){__VA_ARGS__, NULL})

TEST(each_allocation_that_fails_is_told)
{
    child_folder();
    CHECK_EQ(mkdir("d", 0755), 0);
    put_profile("d/a.gnomon");
    gnomon__test_log = hear;
    CHECK(freopen("/dev/null", "w", stdout) != NULL);
    STARVE("report", "d/a.gnomon");
    STARVE("report", "--as=advanced", "d/a.gnomon");
    STARVE("report", "--as=threads", "d");
    STARVE("report", "--as=steps", "d/*.gnomon");
    STARVE("report", "--as=json", "--limit=1", "d/a.gnomon");
    STARVE("report", "--as=advanced", "--sort=time", "--limit=9", "d");
    STARVE("info", "d");
    STARVE("cat", "d/a.gnomon");
    STARVE("cat", "-o", "d/a.json", "d/a.gnomon");
    STARVE("cat", "d/a.json");
    CHECK_EQ(mkdir("ranks", 0755), 0);
    put_rank("ranks/0.gnomon", 0, 2);
    put_rank("ranks/1.gnomon", 1, 2);
    STARVE("report", "ranks");
    STARVE("info", "ranks");
    STARVE("merge", "-o", "all.gnomon", "ranks");
    STARVE("merge", "-o", "all.json", "ranks");
    STARVE("report", "all.json");
    STARVE("diff", "ranks", "all.gnomon");
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

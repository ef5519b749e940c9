/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Commands of the program whose standard input is too large, and files that the system
 * does not let them read. Each allocation that fails: text/cli_memory.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include <errno.h>
#include <getopt.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "gnomon.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "os_calls.h"
#include "saved_profile.h"

static int lines; /* on standard error */
static char last_line[200];

static void hear(const char *line)
{
    CHECK_EQ(strncmp(line, "gnomon: ", 8), 0);
    snprintf(last_line, sizeof last_line, "%s", line);
    lines++;
}

static void put_profile(const char *path)
{
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_cell cell = {gnomon_cell_of(1500), 0, 2};
    gnomon_stats twice = {sizeof twice, 0, 2, 3000, 3000, 1500, 1500, &cell, 1};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    uint32_t region = gnomon_add_region(b, &(gnomon_region_info){.name = "a"});
    gnomon_add_node(b, &(gnomon_node_info){
                           .track = track, .region = region, .host = &twice});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, "gnomon", path);
    gnomon_profile_free(p);
}

static int run(const char *const *words)
{
    const gnomon__command *c = gnomon__cli_find(gnomon__commands, words[0]);
    char *argv[8] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)(size_t)words[argc];
    optind = 0; /* anew */
    return c->run(c, argc, argv);
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

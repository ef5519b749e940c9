/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* file=NAME.gnomon in processes of their own: what the files are called, who may
 * read them, when they are written, and what happens where they cannot be. */
#include <dirent.h>
#include <sys/mount.h>

#include "gnomon/profile.h"

#include "child.h"
#include "test.h"

#define ONE "do=train_step"
#define LAUNCHED "GNOMON_WORLD_SIZE=4\nGNOMON_RANK="
#define TWO_STAGES "stage=fit", ONE, "end", "stage=validate", ONE, "do=x", "end"

/* How many names that do not begin with a dot are in the folder. */
static int files_in(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int n = 0;
    while (folder && (entry = readdir(folder)) != NULL)
        n += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return folder ? n : -1;
}

/* Executions of actions and scopes in the file; -1: it is no sound profile. */
static int marks_in(const char *path)
{
    gnomon_profile *p = NULL;
    int n = 0;
    if (gnomon_profile_load(&p, path) || gnomon_profile_check(p)) {
        gnomon_profile_free(p);
        return -1;
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        gnomon_profile_node(p, i, &node);
        n += node.host ? (int)node.host->count : 0;
    }
    gnomon_profile_free(p);
    return n;
}

static int32_t rank_in(const char *path)
{
    gnomon_profile *p = NULL;
    gnomon_run_info run = {.rank = -2};
    if (!gnomon_profile_load(&p, path))
        gnomon_profile_run(p, 1, &run);
    gnomon_profile_free(p);
    return run.rank;
}

static int lines_of_ours(const char *text)
{
    return times_in(text, "\ngnomon: ") + (strncmp(text, "gnomon: ", 8) == 0);
}

/* ---- Names ------------------------------------------------------------------------- */

TEST(one_for_the_run_or_one_for_each_stage)
{
    child_result r = host("GNOMON=simple,file=run.gnomon", TWO_STAGES, ONE);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 3);
    CHECK_EQ(marks_in("run.gnomon"), 4);
    CHECK_EQ(files_in("."), 1);
    host("GNOMON=simple,file=out/%s-%r.gnomon", TWO_STAGES, ONE);
    CHECK_EQ(marks_in("out/fit-0.gnomon"), 1);
    CHECK_EQ(marks_in("out/validate-0.gnomon"), 2);
    CHECK_EQ(marks_in("out/run-0.gnomon"), 1);
    CHECK_EQ(files_in("out"), 3);
}

TEST(no_file_is_two_ranks)
{
    static const char *const names[] = {"run-0.gnomon", "run-1.gnomon",
                                        "run-2.gnomon", "run-3.gnomon"};
    pid_t ranks[4];
    for (int i = 0; i < 4; i++) {
        char environment[128], err[24];
        snprintf(environment, sizeof environment,
                 "GNOMON=simple,file=run.gnomon\n" LAUNCHED "%d", i);
        snprintf(err, sizeof err, ".err%d", i);
        ranks[i] =
            child_start(CHILD_PROGRAM("host"), environment,
                        (const char *const[]){TWO_STAGES, NULL}, ".out", err);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(child_wait(ranks[i]), 0);
    CHECK_EQ(files_in("."), 4);
    for (int i = 0; i < 4; i++) {
        char err[24];
        snprintf(err, sizeof err, ".err%d", i);
        CHECK_EQ(marks_in(names[i]), 3);
        CHECK_EQ(rank_in(names[i]), i);
        CHECK_EQ(times_in(child_read(err), "Profiler Report"), i ? 0 : 2);
    }
}

/* The text goes where it goes without file=. */
TEST(with_a_directory_the_file_is_in_it)
{
    child_result r = host("GNOMON=simple,dir=out,file=%s.gnomon", TWO_STAGES);
    CHECK_STR(r.err, "");
    CHECK_EQ(marks_in("out/fit.gnomon"), 1);
    CHECK_EQ(times_in(child_read("out/fit-simple.txt"), "FIT Profiler"), 1);
    CHECK_EQ(files_in("out"), 4);
    host("GNOMON=profile,dir,file=deep/%s.gnomon", "dir=logs", "setup",
         TWO_STAGES, "teardown");
    CHECK_EQ(marks_in("logs/deep/validate.gnomon"), 2);
    CHECK_EQ(files_in("logs"), 1);
    char spec[160];
    snprintf(spec, sizeof spec, "GNOMON=profile,dir=out,file=%s/x.gnomon",
             child_path);
    host(spec, ONE);
    CHECK_EQ(marks_in("x.gnomon"), 1);
    CHECK_EQ(files_in("out"), 4);
}

/* As Hydra does between stages. Paths begin where the spec was read. */
TEST(a_program_may_change_its_folder)
{
#define MOVES "mkdir=sub", "stage=fit", ONE, "end", "chdir=sub"
    child_result r =
        host("GNOMON=simple,file=run.gnomon", MOVES, "stage=test", ONE, "end");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 2);
    CHECK_EQ(marks_in("run.gnomon"), 2);
    host("GNOMON=simple,file=a.txt", MOVES, "stage=test", ONE, "end", "chdir=/",
         ONE);
    CHECK_EQ(times_in(child_read("a.txt"), "Profiler Report"), 3);
    host("GNOMON=simple,tree,dir", MOVES, "stage=test", ONE, "end");
    CHECK(access("fit-simple.txt", F_OK) == 0);
    CHECK(access("test-tree.txt", F_OK) == 0);
    host("GNOMON=simple,trace,dir=o", MOVES, "stage=test", ONE, "end");
    CHECK(access("o/test-simple.txt", F_OK) == 0);
    CHECK(access("o/trace.pt.trace.json", F_OK) == 0);
    CHECK_EQ(files_in("sub"), 0);
    /* A later spec is read in another folder. */
    host("GNOMON=simple,file=b.txt", MOVES, "configure=simple,file=c.txt", ONE,
         "chdir=..", ONE);
    CHECK_EQ(times_in(child_read("b.txt"), "Profiler Report"), 1);
    CHECK_EQ(times_in(child_read("sub/c.txt"), "Profiler Report"), 1);
    CHECK_EQ(files_in("sub"), 1);
}

TEST(files_of_functions_are_in_the_reports_folder)
{
    child_result r =
        host("GNOMON=advanced(dump_stats),file=out/a.gnomon.json", TWO_STAGES);
    CHECK_EQ(times_in(r.err, "Profile stats for: train_step"), 2);
    CHECK_EQ(lines_of_ours(r.err), 2); /* what it cost */
    CHECK(access("out/fit-a-train_step.prof", F_OK) == 0);
    CHECK(access("out/validate-a-x.prof", F_OK) == 0);
    CHECK(strncmp(child_read("out/a.gnomon.json"), "{\"gnomon\": 1", 12) == 0);
    CHECK_EQ(files_in("out"), 4);
}

/* ---- Messages ------------------------------------------------------------ */

static void says(const char *spec, const char *line, const char *before)
{
    char environment[128];
    snprintf(environment, sizeof environment, "GNOMON=%s", spec);
    child_result r = host(environment, ONE, "say=unharmed");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "unharmed\n");
    const char *at = strstr(r.err, line), *first = strstr(r.err, before);
    if (!CHECK_EQ(times_in(r.err, line), 1) || !CHECK(at <= first))
        fprintf(stderr, "    %s: %s\n", spec, r.err);
    CHECK_EQ(files_in("."), 0);
}

/* At the start, not at the run's end. */
TEST(a_profile_that_nobody_records_is_reported)
{
    says("passthrough,file=x.gnomon",
         "gnomon: $GNOMON: passthrough: file=x.gnomon: it records no profile: "
         "add 'profile'\n",
         "");
    says("log,file=x.gnomon.json",
         "gnomon: $GNOMON: log: file=x.gnomon.json: it records no profile: add "
         "'profile'\n",
         "log: 0 > train_step");
    says("log,simple(file=/dev/null),file=x.gnomon",
         "gnomon: $GNOMON: log: file=x.gnomon: it records no profile: add "
         "'profile'\n",
         "log: 0 > train_step");
    says("profile",
         "gnomon: profile: file= names no .gnomon file, so nothing is "
         "written: say file=NAME.gnomon\n",
         "");
    says("profile,file=/dev/null",
         "gnomon: profile: file= names no .gnomon file", "");
}

TEST(profile_prints_no_report)
{
    child_result r = host("GNOMON=profile,file=x.gnomon", TWO_STAGES, "spec");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "profile(ranks=all,at=stage,file=x.gnomon),mem=64MiB\n");
    CHECK_EQ(marks_in("x.gnomon"), 3);
    r = host("GNOMON=profile,mem=300KiB,file=x.gnomon", "spec");
    CHECK_EQ(times_in(r.out, ",mem=300KiB\n"), 1);
    r = host("GNOMON=log,profile,file=x.gnomon", ONE);
    CHECK_EQ(times_in(r.err, "it records no profile"), 0);
    r = host("GNOMON=profile,file=%s-%d.gnomon", "stage=a", ONE, "stage=b", ONE,
             "stage=a", ONE);
    CHECK_EQ(times_in(r.err, "'%d' is not known and stays"), 1);
    CHECK_EQ(lines_of_ours(r.err), 1); /* once, and not for each stage */
    CHECK_EQ(marks_in("a-%d.gnomon"), 2);
}

TEST(an_unknown_percent_is_told_once_for_each_file)
{
    child_result r = host("GNOMON=simple,advanced,regions(file=b%d),file=a%q",
                          "stage=a", ONE, "stage=b", ONE);
    CHECK_EQ(times_in(r.err, "simple: file=a%q: '%q' is not known"), 1);
    CHECK_EQ(times_in(r.err, "'%q' is not known"), 1);
    CHECK_EQ(times_in(r.err, "'%d' is not known"), 1);
}

/* ---- When -------------------------------------------------------------------------- */

TEST(it_is_written_at_a_signal_that_ends_the_process)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char number[16], path[32], environment[64];
        const char *const words[] = {"malloc", number, "1000", NULL};
        snprintf(number, sizeof number, "%d", signals[i]);
        snprintf(path, sizeof path, "%d.gnomon", signals[i]);
        snprintf(environment, sizeof environment, "GNOMON=profile,file=%s",
                 path);
        child_result r = child_run(CHILD_PROGRAM("ends"), environment, words);
        CHECK_EQ(r.status, 256 + signals[i]);
        CHECK_STR(r.err, "");
        CHECK_EQ(marks_in(path), 10); /* five, each in another */
    }
}

/* What came before is whole. */
TEST(a_killed_process_leaves_the_last_one)
{
    pid_t child =
        child_start(CHILD_PROGRAM("host"), "GNOMON=profile,file=run.gnomon",
                    (const char *const[]){TWO_STAGES, "stage=test", ONE,
                                          "sleep=60000", NULL},
                    ".out", ".err");
    while (marks_in("run.gnomon") < 3)
        usleep(1000);
    kill(child, SIGKILL);
    CHECK_EQ(child_wait(child), 256 + SIGKILL);
    CHECK_EQ(marks_in("run.gnomon"), 3);
    CHECK_EQ(files_in("."), 1);
}

/* ---- Owner and processes ------------------------------------------------- */

TEST(children_have_their_own)
{
    const char *const words[] = {"fork", NULL};
    child_run(CHILD_PROGRAM("family"), "GNOMON=profile,file=run.gnomon", words);
    int alone = marks_in("run.gnomon");
    CHECK(alone > 0);
    CHECK_EQ(files_in("."), 1);
    child_result r =
        child_run(CHILD_PROGRAM("family"),
                  "GNOMON=profile,fork=follow,file=run.gnomon", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_EQ(marks_in("run.gnomon"), alone);
    CHECK_EQ(files_in("."), 2);
    DIR *folder = opendir(".");
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        long pid = 0;
        if (sscanf(e->d_name, "run-%ld.gnomon", &pid) == 1) {
            CHECK(pid > 1);
            CHECK(marks_in(e->d_name) > 0);
        }
    }
    closedir(folder);
}

/* Both files are there, whichever process was first. */
TEST(another_process_keeps_its_file)
{
    pid_t first = child_start(
        CHILD_PROGRAM("host"), "GNOMON=profile,file=run.gnomon.json",
        (const char *const[]){"do=one", "setup", "stage=fit", "end",
                              "sleep=400", TWO_STAGES, NULL},
        ".out", ".first");
    while (access("run.gnomon.json", F_OK) != 0)
        usleep(1000);
    child_result r = host("GNOMON=profile,file=run.gnomon.json", "do=other");
    CHECK_EQ(child_wait(first), 0);
    CHECK_EQ(files_in("."), 2);
    CHECK_EQ(times_in(child_read(".first"), "another process wrote") +
                 times_in(r.err, "another process wrote"),
             1);
    DIR *folder = opendir(".");
    int one = 0, other = 0;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        size_t n = strlen(e->d_name);
        if (n < 12 || strcmp(e->d_name + n - 12, ".gnomon.json") != 0)
            continue;
        one += times_in(child_read(e->d_name), "\"name\": \"one\"") == 1;
        other += times_in(child_read(e->d_name), "\"name\": \"other\"") == 1;
    }
    closedir(folder);
    CHECK_EQ(one, 1);
    CHECK_EQ(other, 1);
}

TEST(it_is_its_owners_alone)
{
    struct stat info;
    child_folder();
    umask(0);
    CHECK_EQ(mkdir("mine", 0777), 0);
    FILE *precious = fopen("precious", "w");
    if (precious)
        fputs("keep", precious), fclose(precious);
    CHECK_EQ(symlink("../precious", "mine/run.gnomon"), 0);
    host("GNOMON=profile,file=mine/run.gnomon\nSECRET=hunter2", TWO_STAGES);
    CHECK_STR(child_read("precious"), "keep");
    CHECK_EQ(lstat("mine/run.gnomon", &info), 0);
    CHECK(S_ISREG(info.st_mode));
    CHECK_EQ(info.st_mode & 07777, 0600);
    CHECK_EQ(marks_in("mine/run.gnomon"), 3);
    CHECK_EQ(files_in("mine"), 1);
    host("GNOMON=profile,file=run.gnomon.json\nSECRET=hunter2", ONE);
    CHECK_EQ(times_in(child_read("run.gnomon.json"), "hunter2"), 0);
    CHECK_EQ(times_in(child_read("run.gnomon.json"), "SECRET"), 0);
}

/* ---- What goes wrong --------------------------------------------------------------- */

/* One line for the two stages, and the report as ever. */
static void harms_nobody(const char *file, const char *why)
{
    char environment[128];
    snprintf(environment, sizeof environment, "GNOMON=simple,file=%s", file);
    child_result r =
        host(environment, TWO_STAGES, "signals", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "pending 0 caught 0\nunharmed\n");
    CHECK_EQ(times_in(r.err, "gnomon: cannot write the profile to "), 1);
    if (!CHECK_EQ(times_in(r.err, why), 1) ||
        !CHECK_EQ(times_in(r.err, "|  train_step"), 2) ||
        !CHECK_EQ(lines_of_ours(r.err), 3))
        fprintf(stderr, "    %s: %s\n", file, r.err);
}

TEST(what_cannot_be_written_is_reported)
{
    child_folder();
    CHECK_EQ(mkdir("folder.gnomon", 0755), 0);
    CHECK_EQ(mkdir("folder.gnomon/full", 0755), 0);
    CHECK_EQ(symlink("/dev/full", "full.gnomon"), 0);
    harms_nobody("folder.gnomon", "Is a directory");
    harms_nobody("/proc/no/x.gnomon", "No such file");
    harms_nobody(".out/x.gnomon.json", "Not a directory");
    harms_nobody("full.gnomon", "No space left on device");
    CHECK_EQ(files_in("."), 2);
}

TEST(the_file_size_limit_is_reported)
{
    child_result r = host("GNOMON=profile,file=large.gnomon", "fsize=400", ONE,
                          "signals", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "pending 0 caught 0\nunharmed\n");
    CHECK_STR(r.err, "gnomon: cannot write the profile to large.gnomon: File "
                     "too large: raise the limit of file sizes (ulimit -f)\n");
    CHECK_EQ(files_in("."), 0);
}

TEST(a_full_or_read_only_disk_is_reported)
{
    child_folder();
    CHECK_EQ(mkdir("disk", 0777), 0);
    if (mount("none", "disk", "tmpfs", 0, "size=4k,nr_inodes=5"))
        SKIP("may not mount a small file system");
    /* A file from before is not changed. */
    host("GNOMON=profile,file=disk/x.gnomon", ONE);
    CHECK_EQ(marks_in("disk/x.gnomon"), 1);
    child_result r = host("GNOMON=simple,file=disk/x.gnomon", "many=x", ONE);
    CHECK_EQ(times_in(r.err, "No space left on device"), 1);
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
    CHECK_EQ(marks_in("disk/x.gnomon"), 1);
    CHECK_EQ(files_in("disk"), 1);
    CHECK_EQ(mount("none", "disk", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    harms_nobody("disk/x.gnomon", "Read-only file system");
    CHECK_EQ(umount("disk"), 0);
}

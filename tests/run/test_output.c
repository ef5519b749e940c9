/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where reports go: which rank prints, and file names; two ranks never share
 * a file, and none is ever partial.
 *
 * labels: guest */
#include "test.h"

#include "child.h"

#include <dirent.h>
#include <sys/mount.h>

#define ONE "do=train_step"
#define LAUNCHED "GNOMON_WORLD_SIZE=4\nGNOMON_RANK="

/* How many files that do not begin with a dot are in the folder. */
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

/* The file is just one complete table of train_step, with its footer. */
static void holds_one_report(const char *path)
{
    const char *text = child_read(path);
    if (!CHECK(text != NULL)) {
        fprintf(stderr, "    there is no %s\n", path);
        return;
    }
    CHECK_TABLE(strstr(text, "Profiler"), "Profiler Report", "train_step");
    CHECK_EQ(times_in(text, "Profiler Report"), 1);
    CHECK_EQ(times_in(text, "gnomon: about "), 1);
    CHECK_EQ(text[strlen(text) - 1], '\n');
}

TEST(stderr_is_rank_zeros)
{
    static const struct {
        const char *environment;
        int prints;
    } cases[] = {
        {"GNOMON_RANK=0\nGNOMON_WORLD_SIZE=4", 1},
        {"GNOMON_RANK=3\nGNOMON_WORLD_SIZE=4", 0},
        {"RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=0", 0},
        {"RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0", 1},
        {"OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2", 0},
        {"PMI_RANK=1\nPMI_SIZE=2", 0},
        {"SLURM_PROCID=1\nSLURM_NTASKS=2\nSLURM_STEP_ID=0", 0},
        {"SLURM_PROCID=1\nSLURM_NTASKS=2", 1}, /* a batch script */
        {"RANK=5\nWORLD_SIZE=2", 1},           /* contradicts itself */
        {"RANK=1", 1},                         /* not whole */
        {"GNOMON_RANK=0\nGNOMON_WORLD_SIZE=2\nRANK=1\nWORLD_SIZE=2", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char environment[256] = "GNOMON=simple\n";
        child_result r = host(strcat(environment, cases[i].environment), ONE);
        CHECK_EQ(r.status, 0);
        if (!CHECK_EQ(times_in(r.err, "Profiler Report"), cases[i].prints))
            fprintf(stderr, "    %s\n", cases[i].environment);
        CHECK(cases[i].prints || !*r.err);
    }
}

TEST(names_know_who_writes)
{
    char path[512], name[256] = "";
    child_result r =
        host("GNOMON=simple,file=out/%s-%r-%l-%h-%p-%t-%%.txt\nRANK=2\n"
             "WORLD_SIZE=4\nLOCAL_RANK=1",
             "stage=fit", ONE, "end");
    DIR *folder = opendir("out");
    const struct dirent *entry;
    CHECK_STR(r.err, "");
    while (folder && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            snprintf(name, sizeof name, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    long pid = 0, start = 0;
    char machine[128] = "", host_name[128] = "";
    gethostname(host_name, sizeof host_name - 1);
    CHECK_EQ(sscanf(name, "fit-2-1-%127[^-]", machine), 1);
    CHECK(strncmp(machine, host_name, strlen(machine)) == 0);
    size_t skip = strlen("fit-2-1-") + strlen(host_name);
    if (CHECK(strlen(name) > skip)) {
        CHECK_EQ(sscanf(name + skip, "-%ld-%ld-", &pid, &start), 2);
        CHECK(pid > 1 && start > 1600000000);
        CHECK_STR(name + strlen(name) - 6, "-%.txt");
    }
    snprintf(path, sizeof path, "out/%s", name);
    holds_one_report(path);
}

/* All at once, as a launcher starts them. */
TEST(no_file_is_two_ranks)
{
    static const char *const names[] = {"report-0.txt", "report-1.txt",
                                        "report-2.txt", "report-3.txt"};
    pid_t ranks[4];
    for (int i = 0; i < 4; i++) {
        char environment[128], err[24];
        snprintf(environment, sizeof environment,
                 "GNOMON=simple,file=report.txt\n" LAUNCHED "%d", i);
        snprintf(err, sizeof err, ".err%d", i);
        ranks[i] = child_start(CHILD_PROGRAM("host"), environment,
                               (const char *const[]){ONE, "sleep=20", NULL},
                               ".out", err);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(child_wait(ranks[i]), 0);
    CHECK_EQ(files_in("."), 4);
    for (int i = 0; i < 4; i++)
        holds_one_report(names[i]);
}

TEST(a_directory_gets_lightnings_names)
{
    host("GNOMON=simple,dir=one", "stage=fit", ONE, "end");
    holds_one_report("one/fit-simple.txt");
    host("GNOMON=simple,dir=one", ONE);
    holds_one_report("one/simple.txt");
    host("GNOMON=simple(dir=one,file=perf)", "stage=fit", ONE, "end");
    holds_one_report("one/fit-perf.txt");
    CHECK_EQ(files_in("one"), 3);
    for (int i = 0; i < 2; i++) {
        char environment[128];
        snprintf(environment, sizeof environment,
                 "GNOMON=simple,dir=two,file=perf\n" LAUNCHED "%d", i);
        host(environment, "stage=fit", ONE, "end");
    }
    holds_one_report("two/fit-perf-0.txt");
    holds_one_report("two/fit-perf-1.txt");
    CHECK_EQ(files_in("two"), 2);
}

TEST(the_host_sets_rank_and_directory)
{
    child_result r = host("GNOMON=simple,dir\nRANK=0\nWORLD_SIZE=2", "dir=logs",
                          "rank=1/2/1", "setup", "stage=fit", ONE, "teardown");
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "");
    holds_one_report("logs/fit-simple-1.txt");
    r = host("GNOMON=simple,dir", "stage=fit", ONE); /* no rank was given */
    holds_one_report("fit-simple.txt");
    /* Only rank 0 prints to stderr, by the rank that the host gives. */
    r = host("GNOMON=simple", "rank=1/2", "setup", ONE, "teardown");
    CHECK_STR(r.err, "");
    r = host("GNOMON=simple\nRANK=1\nWORLD_SIZE=2", "rank=0/1", "setup", ONE,
             "teardown");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    /* A spec of the host, where the user gives none. */
    r = host(NULL, "default=simple", "setup", ONE, "teardown");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    r = host("GNOMON=log", "default=simple", "setup", ONE, "teardown");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 0);
    CHECK_EQ(times_in(r.err, "log: 0 > train_step"), 1);
}

/* A wrong rank is reported, and the rest works. */
TEST(a_wrong_rank_is_reported_to_the_host)
{
    child_result r =
        host("GNOMON=simple", "rank=4/4", "setup", ONE, "teardown");
    CHECK_STR(r.out, "setup: GNOMON_EINVAL: gnomon_setup: rank 4 is not below "
                     "world size 4\n");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
}

/* Programs end where setup fails: a user's mistyped word would end the training. */
TEST(wrong_words_of_the_user_are_no_error_of_setup)
{
    child_result r = host("GNOMON=simpel,simple,fliter=a,/nowhere/at/all.so",
                          "setup", ONE, "teardown");
    CHECK_STR(r.out, "");
    CHECK_EQ(times_in(r.err, "gnomon: $GNOMON: "), 3);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    r = host(NULL, "default=simpel", "setup", ONE, "teardown");
    CHECK_STR(r.out, "setup: GNOMON_EINVAL: setup: unknown profiler 'simpel': "
                     "did you mean 'simple'?\n");
}

TEST(ranks_choose_who_records)
{
    for (int i = 0; i < 4; i++) {
        char environment[128], path[32];
        snprintf(environment, sizeof environment,
                 "GNOMON=simple(ranks=0|2-3),file=r.txt\n" LAUNCHED "%d", i);
        snprintf(path, sizeof path, "r-%d.txt", i);
        host(environment, ONE);
        if (i == 1)
            CHECK(child_read(path) == NULL);
        else
            holds_one_report(path);
    }
}

/* With ranks=0 a thousand ranks leave one file of each kind. */
TEST(a_rank_left_out_writes_no_file)
{
    static const char *const specs[] = {
        "profile(ranks=0),file=%s.gnomon",
        "profile(ranks=0),file=p.gnomon.json",
        "advanced(ranks=0,dump_stats),dir=.",
        "advanced(ranks=0,dump_stats=run),dir=.",
        "simple(ranks=0),dir=.",
        "simple(ranks=0),file=t.txt,at=end"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char environment[128];
        snprintf(environment, sizeof environment, "GNOMON=%s\n" LAUNCHED "%d",
                 specs[i], 1);
        child_result r = host(environment, "stage=fit", "do=a", "end", "do=b");
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.err, "");
        CHECK_EQ(files_in("."), 0);
    }
    child_result r = host("GNOMON=simple(ranks=1)", "do=a"); /* on stderr */
    CHECK_EQ(times_in(r.err, "this rank is not in ranks="), 1);
}

/* An incomplete set of a launcher's variables is reported once, where no
 * other rank was found or given. */
TEST(half_a_launcher_is_reported_once)
{
    static const struct {
        const char *environment, *line;
    } cases[] = {
        {"RANK=1", "gnomon: no rank is known: RANK is set without "
                   "WORLD_SIZE\n"},
        {"RANK=5\nWORLD_SIZE=2",
         "gnomon: no rank is known: RANK=5 does not go with WORLD_SIZE=2\n"},
        {"RANK=1\nPMI_RANK=0\nPMI_SIZE=1", NULL},
        {"WORLD_SIZE=4", NULL},
        {"RANK=1\nX=", NULL}, /* then the host gives it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char environment[128] = "GNOMON=simple\n";
        int said = strstr(cases[i].environment, "X=") != NULL;
        child_result r = host(strcat(environment, cases[i].environment),
                              "do=early", said ? "rank=0/2" : "say=", "setup",
                              "stage=a", ONE, "end", "stage=b", ONE, "end");
        CHECK_EQ(times_in(r.err, "no rank is known"), cases[i].line != NULL);
        if (cases[i].line)
            CHECK_EQ(times_in(r.err, cases[i].line), 1);
        CHECK(times_in(r.err, "Profiler Report") >= 2);
    }
    child_result r = host("RANK=1", ONE); /* off prints nothing */
    CHECK_STR(r.err, "");
}

/* The first marks come before the host knows its rank: Lightning's do. */
TEST(ranks_follow_a_rank_that_comes_late)
{
    child_result r = host("GNOMON=simple(ranks=2),file=late.txt", "do=early",
                          "rank=2/4", "setup", ONE, "teardown");
    CHECK_STR(r.out, "");
    holds_one_report("late-2.txt");
}

TEST(profilers_share_a_file)
{
    host("GNOMON=simple,simple(extended=false),log,file=all.txt", "stage=fit",
         ONE, "end", "stage=validate", ONE, "end");
    const char *text = child_read("all.txt");
    CHECK_EQ(times_in(text, "FIT Profiler Report"), 2);
    CHECK_EQ(times_in(text, "VALIDATE Profiler Report"), 2);
    CHECK_EQ(times_in(text, "All was logged"), 2);
    CHECK_EQ(files_in("."), 1);
    /* A file of an earlier run is replaced. */
    host("GNOMON=simple,file=all.txt", ONE);
    holds_one_report("all.txt");
}

/* A process reads the file all the time. Reports are appended: what was read
 * stays, and all reports are complete except the last, which may be in
 * progress. */
TEST(a_reader_sees_complete_reports_and_a_partial_last_one)
{
    char *before = strdup("");
    pid_t writer =
        child_start(CHILD_PROGRAM("host"), "GNOMON=simple,file=polled.txt",
                    (const char *const[]){"stages=60", NULL}, ".out", ".err");
    int status = 0, seen = 0, most = 0, done = 0;
    while (!done) {
        done = waitpid(writer, &status, WNOHANG) == writer;
        char *text = child_load("polled.txt");
        if (!text)
            continue;
        int reports = times_in(text, "Profiler Report\n");
        int whole = times_in(text, " ns each\n"); /* their last line */
        CHECK(whole == reports || whole == reports - 1);
        CHECK(strncmp(text, before, strlen(before)) == 0);
        seen += reports > most;
        most = reports;
        free(before);
        before = text;
    }
    CHECK_EQ(times_in(before, " ns each\n"), 60);
    CHECK_EQ(before[strlen(before) - 1], '\n');
    free(before);
    CHECK_EQ(status, 0);
    CHECK_EQ(most, 60);
    CHECK(seen > 2);
    CHECK_EQ(files_in("."), 1);
}

static void falls_back(const char *environment, const char *why)
{
    child_result r = host(environment, ONE, "say=unharmed");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "unharmed\n");
    CHECK_EQ(times_in(r.err, "gnomon: cannot write the report to "), 1);
    if (!CHECK_EQ(times_in(r.err, why), 1))
        fprintf(stderr, "    %s\n", r.err);
    CHECK_EQ(times_in(r.err, "|  train_step"), 1);
}

TEST(what_cannot_be_written_goes_to_stderr)
{
    child_folder();
    CHECK_EQ(mkdir("folder", 0755), 0);
    CHECK_EQ(symlink("nowhere/else", "dangling"), 0);
    falls_back("GNOMON=simple,file=folder", "Is a directory");
    falls_back("GNOMON=simple,file=/proc/no/file", "No such file");
    falls_back("GNOMON=simple,file=.out/file", "Not a directory");
    if (geteuid() != 0) {
        CHECK_EQ(mkdir("readonly", 0555), 0);
        falls_back("GNOMON=simple,file=readonly/r.txt", "Permission denied");
    }
}

/* Reported at the start, when the path can be corrected, and at the report. */
TEST(a_path_that_begins_nowhere_is_reported_at_the_start)
{
    child_folder();
    falls_back("GNOMON=simple,file=/gnomon-no-such/run/x.txt",
               "its first folder is not there, and none is made in /: give");
    static const char *const specs[] = {
        "simple,file=/gnomon-no-such/run/x.txt",
        "simple,profile(file=/gnomon-no-such/x.gnomon)",
        "simple,advanced,dir=/gnomon-no-such/run"};
    for (size_t i = 0; i < 3; i++) {
        char environment[128];
        snprintf(environment, sizeof environment, "GNOMON=%s", specs[i]);
        child_result r = child_run(CHILD_PROGRAM("host"), environment,
                                   (const char *const[]){"do=a", NULL});
        CHECK_EQ(strncmp(r.err,
                         "gnomon: $GNOMON: there is no /gnomon-no-such: "
                         "folders are made below one that is there, never in "
                         "/: is the path right?\n",
                         60),
                 0);
        CHECK_EQ(times_in(r.err, "never in /: "), 1);
        CHECK(access("/gnomon-no-such", F_OK) != 0);
    }
    child_result r =
        child_run(CHILD_PROGRAM("host"), "GNOMON=simple,file=below/this/x.txt",
                  (const char *const[]){"do=a", NULL});
    CHECK_STR(r.err, "");
    CHECK_EQ(access("below/this/x.txt", F_OK), 0);
}

TEST(a_report_in_a_file_of_another_kind_is_reported)
{
    child_folder();
    child_result r = child_run(CHILD_PROGRAM("host"),
                               "GNOMON=simple(file=run.json),advanced(file="
                               "run.prof),simple(file=run.txt)",
                               (const char *const[]){"do=a", NULL});
    CHECK_STR(
        r.err,
        "gnomon: $GNOMON: simple: file=run.json: its report goes there, "
        "which is text: for the profile as JSON write "
        "file=run.gnomon.json\n"
        "gnomon: $GNOMON: advanced: file=run.prof: its report goes there, "
        "which is text: for .prof files write "
        "advanced(dump_stats=run,file=run.txt)\n");
    CHECK_TABLE(child_read("run.json"), "Profiler Report", "a");
    /* A plugin may write this. */
    r = child_run(CHILD_PROGRAM("host"),
                  "GNOMON=" CHILD_PLUGIN("simple") "(file=run.json)",
                  (const char *const[]){"do=a", NULL});
    CHECK_EQ(times_in(r.err, "which is text"), 0);
}

TEST(a_full_or_read_only_disk_harms_nobody)
{
    child_folder();
    CHECK_EQ(mkdir("disk", 0777), 0);
    if (mount("none", "disk", "tmpfs", 0, "size=4k,nr_inodes=3"))
        SKIP("may not mount a small file system");
    falls_back("GNOMON=simple(file=disk/a/b/c.txt)", "No space left on device");
    child_result r = host("GNOMON=simple(file=disk/r.txt)", "many=x");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "No space left on device"), 1);
    CHECK_EQ(times_in(r.err, "|  x 1"), 1 + 10 + 100);
    CHECK_EQ(mount("none", "disk", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    falls_back("GNOMON=simple(file=disk/r.txt)", "Read-only file system");
    CHECK_EQ(umount("disk"), 0);
    CHECK_EQ(files_in("disk"), 0);
}

TEST(a_closed_stderr_harms_nobody)
{
    child_result r = host("GNOMON=simple,simpel", "close=2", ONE, "step",
                          "stage=fit", ONE, "end", "exit=4");
    CHECK_EQ(r.status, 4);
    CHECK_STR(r.err, "");
    r = host("GNOMON=simple,file=folder/r.txt", "close=2", "mkdir=folder",
             "mkdir=folder/r.txt", ONE, "exit=5");
    CHECK_EQ(r.status, 5);
}

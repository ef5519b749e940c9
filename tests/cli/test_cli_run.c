/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `gnomon run`: the program that it runs behaves as it does by itself.
 * timeout: 300 */
#include "program.h"

#include <signal.h>

#define HOST CHILD_PROGRAM("host")

TEST(it_ends_as_the_program_does)
{
    NEEDS_PROGRAM;
    CHECK_EQ(shell("$G run true").status, 0);
    CHECK_EQ(shell("$G run -- sh -c 'exit 7'").status, 7);
    CHECK_EQ(shell("exec $G run sh -c 'kill -TERM $$'").status, 256 + SIGTERM);
    CHECK_EQ(shell("exec $G run sh -c 'kill -KILL $$'").status, 256 + SIGKILL);
    CHECK_EQ(shell("exec $G run sh -c 'ulimit -c 0; kill -SEGV $$'").status,
             256 + SIGSEGV);
    child_result r = shell("$G run no-such-program");
    CHECK_EQ(r.status, 127);
    CHECK_STR(r.err, "gnomon: no-such-program: no such program\n");
    r = shell("touch plain; $G run ./plain");
    CHECK_EQ(r.status, 126);
    CHECK_STR(r.err, "gnomon: ./plain: Permission denied\n");
    /* Without a #! line a script is run by sh, as env and shells do. */
    r = shell(
        "echo 'echo script $1' > plain; chmod +x plain; $G run ./plain x");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "script x\n");
}

TEST(the_program_gets_its_own_options)
{
    NEEDS_PROGRAM;
    child_result r = shell("$G run echo --help -p x -- y");
    CHECK_STR(r.out, "--help -p x -- y\n");
    r = shell("$G run -- echo -- z");
    CHECK_STR(r.out, "-- z\n");
    r = shell("$G run sh -c 'echo \"$GNOMON\"'");
    CHECK_STR(r.out, "simple\n");
    r = shell(
        "GNOMON=log $G run -p 'simple,mem=1MiB' sh -c 'echo \"$GNOMON\"'");
    CHECK_STR(r.out, "simple,mem=1MiB\n");
    r = shell("$G run --profiler=advanced sh -c 'echo \"$GNOMON\"; cat; "
              "echo err >&2' < /dev/null");
    CHECK_STR(r.out, "advanced\n");
    CHECK_EQ(strncmp(r.err, "err\n", 4), 0);
    CHECK_EQ(times_in(r.err, "\n"), 2); /* that nothing was marked */
}

TEST(it_prints_where_the_reports_are)
{
    NEEDS_PROGRAM;
    child_result r = shell("echo old > fit-9.txt; sleep 0.02; "
                           "$G run -p 'simple(file=%%s-%%r.txt)' %s "
                           "stage=fit do=a end stage=test do=b end",
                           HOST);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "gnomon: report: fit-0.txt\n"
                     "gnomon: report: test-0.txt\n");
    r = shell("$G run -p 'simple,advanced(dump_stats),dir=out' %s stage=fit "
              "do=a end",
              HOST);
    CHECK_STR(r.err, "gnomon: report: out/fit-simple.txt\n"
                     "gnomon: report: out/fit-advanced-a.prof\n"
                     "gnomon: report: out/fit-advanced.txt\n");
    r = shell("$G run -p 'simple,file=x%%p[1].txt' %s do=a", HOST);
    CHECK_EQ(times_in(r.err, "gnomon: report: x"), 1);
    CHECK_EQ(times_in(r.err, "[1].txt\n"), 1);
    r = shell("GNOMON_RANK=3 GNOMON_WORLD_SIZE=4 "
              "$G run -p 'simple,file=r.txt' %s do=a",
              HOST);
    CHECK_STR(r.err, "gnomon: report: r-3.txt\n");
    r = shell("$G run -p 'simple,advanced,file=both.gnomon.json' %s do=a",
              HOST);
    CHECK_EQ(times_in(r.err, "gnomon: report: "), 1);
    CHECK(strstr(r.err, "gnomon: report: both.gnomon.json\n"));
    r = shell("$G run -p simple,ranks=3,file=none.txt %s do=a", HOST);
    CHECK_STR(r.err, "gnomon: no report was written\n");
    r = shell("$G run -p simple,ranks=3,file=/dev/shm/none.txt %s do=a", HOST);
    CHECK_STR(r.err, "gnomon: no report was written\n");
    r = shell("$G run -p simple,ranks=3,file=/dev/null %s do=a", HOST);
    CHECK_STR(r.err, "");              /* a stream */
    r = shell("$G run %s do=a", HOST); /* on standard error */
    CHECK_EQ(times_in(r.err, "gnomon: report: "), 0);
    CHECK_EQ(times_in(r.err, "no report"), 0);
    CHECK(strstr(r.err, "Profiler Report\n"));
    r = shell("$G run -p simple,file=/dev/stderr %s do=a", HOST);
    CHECK_EQ(times_in(r.err, "no report"), 0);
    CHECK(strstr(r.err, "Profiler Report\n"));
}

/* Only files that the program wrote are listed, in any folder, each once. */
TEST(files_that_were_written_are_named)
{
    NEEDS_PROGRAM;
    child_result r = shell(
        "mkdir in tmp; export TMPDIR=$PWD/tmp; $G run -p simple,file=out.txt "
        "sh -c 'echo x > out-5.txt; echo x > out-7.prof; cd in; %s do=a; %s "
        "do=b; %s do=c'; ls tmp",
        HOST, HOST, HOST);
    CHECK_STR(r.out, ""); /* nothing is left */
    CHECK_STR(r.err, "gnomon: report: in/out.txt\n");
    r = shell("$G run -p 'simple,file=r-%%r.txt' sh -c 'for r in 0 1 2; do "
              "GNOMON_RANK=$r GNOMON_WORLD_SIZE=3 %s do=a & done; wait'",
              HOST);
    CHECK_EQ(times_in(r.err, "gnomon: report: r-"), 3);
    CHECK_EQ(times_in(r.err, "\n"), 3);
    r = shell("$G run -p \"simple,file=$PWD/abs.txt\" sh -c \"cd /; %s "
              "do=a\"",
              HOST);
    CHECK_STR(r.err, "gnomon: report: abs.txt\n");
    r = shell("$G run -p simple,file=gone.txt sh -c '%s do=a; rm gone.txt'",
              HOST);
    CHECK_STR(r.err, "gnomon: no report was written\n");
    r = shell("$G run -p 'simple,file=\"a\nb.txt\"' %s do=a", HOST);
    CHECK_STR(r.err, "gnomon: report: a\\nb.txt\n");
    /* A file that another user chose is not read; without the option none is
     * searched. */
    r = shell("mkdir d; ln -s $PWD/d/none link; echo keep > plain; chmod 400 "
              "plain; for f in link $PWD/link $PWD/none d /dev/full; do "
              "GNOMON_RUN_NOTES=$f GNOMON=simple,file=z.txt %s do=a; done; ls "
              "d none; cat plain",
              HOST);
    CHECK_EQ(times_in(r.out, "keep"), 1);
    CHECK_EQ(times_in(r.err, "gnomon"), 0);
    CHECK(access("d/none", F_OK) != 0 && access("none", F_OK) != 0);
    r = shell("TMPDIR=/none $G run -p simple,file=y.txt %s do=a", HOST);
    CHECK_STR(r.err, "gnomon: /none: No such file or directory: the reports "
                     "that are written cannot be listed\n");
    CHECK_EQ(access("y.txt", F_OK), 0);
}

#define NOTHING "nothing was recorded: no process on this machine "

TEST(a_program_that_never_marks_is_reported)
{
    NEEDS_PROGRAM;
    child_result r = shell("$G run true");
    CHECK_STR(r.err,
              "gnomon: true: " NOTHING "made a mark of gnomon; for marks "
              "of NVTX use gnomon run --nvtx\n");
    r = shell("$G run %s", HOST); /* which could, and does not */
    CHECK_EQ(times_in(r.err, NOTHING "made a mark of gnomon"), 1);
    r = shell(
        "$G run -p simple,file=x.txt sh -c '%s do=a mkdir=marked sleep=20000 & "
        "while [ ! -d marked ]; do sleep 0.01; done; kill -KILL $!; exit 0'",
        HOST);
    CHECK_EQ(times_in(r.err, "gnomon: sh: nothing was reported: it has made no "
                             "mark, or ended by _exit\n"),
             1);
    r = shell("NVTX_INJECTION64_PATH=/none/tool.so $G run -p off true");
    CHECK_STR(r.err,
              "gnomon: NVTX_INJECTION64_PATH=/none/tool.so: No such file "
              "or directory: NVTX in the program will load no tool\n");
    /* A failing program, or one that wants no report, gets no notes. */
    CHECK_STR(shell("$G run false").err, "");
    CHECK_STR(shell("$G run -p off true").err, "");
    CHECK_STR(shell("$G run -p '' true").err, "");
    r = shell("$G run $G run true"); /* the outer run prints the notes */
    CHECK_EQ(times_in(r.err, NOTHING), 1);
    CHECK_EQ(times_in(r.err, "\n"), 1);
}

/* ---- Signals ---------------------------------------------------------------------- */

/* A program that notes signals; with a word, USR1 makes it end its group. */
static void put_notes(void)
{
    program_put("notes", "");
    program_put("note.sh", "for s in INT TERM HUP QUIT WINCH CONT; do\n"
                           "    trap \"echo $s >> notes\" $s\n"
                           "done\n"
                           "trap 'echo USR1 >> notes; [ -z \"$1\" ] || "
                           "kill -TERM 0' USR1\n"
                           "trap 'exit 5' USR2\n"
                           "echo ready >> notes\n"
                           "while :; do sleep 0.2 & wait $!; done\n");
}

/* Starts it in a group of its own, as a shell does, before it can signal. */
static pid_t start_noting(const char *word)
{
    put_notes();
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(open("err", O_WRONLY | O_CREAT, 0644), 2);
        execl(PROGRAM_PATH, "gnomon", "run", "--", "sh", "note.sh", word,
              (char *)0);
        _exit(127);
    }
    return child;
}

/* Waits until the notes end in this line. */
static int noted(const char *line)
{
    for (int tries = 0; tries < 2000; tries++) {
        const char *text = child_read("notes");
        size_t n = strlen(text), m = strlen(line);
        if (n >= m && strcmp(text + n - m, line) == 0)
            return 1;
        usleep(10000);
    }
    return 0;
}

TEST(signals_are_passed_on)
{
    static const struct {
        int number;
        const char *line;
    } signals[] = {{SIGINT, "INT\n"},   {SIGTERM, "TERM\n"},
                   {SIGHUP, "HUP\n"},   {SIGQUIT, "QUIT\n"},
                   {SIGUSR1, "USR1\n"}, {SIGWINCH, "WINCH\n"},
                   {SIGCONT, "CONT\n"}};
    NEEDS_PROGRAM;
    pid_t child = start_noting(NULL);
    CHECK(noted("ready\n"));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        kill(child, signals[i].number);
        CHECK(noted(signals[i].line));
    }
    CHECK_EQ(times_in(child_read("notes"), "\n"), 8); /* each once */
    kill(child, SIGUSR2);
    CHECK_EQ(child_wait(child), 5);
}

/* A signal that the program sends to its group, and so to us, reaches it
 * once. */
TEST(its_own_signals_come_once)
{
    NEEDS_PROGRAM;
    pid_t child = start_noting("group");
    CHECK(noted("ready\n"));
    kill(child, SIGUSR1);
    CHECK(noted("USR1\nTERM\n"));
    usleep(100000);
    kill(child, SIGWINCH);
    CHECK(noted("WINCH\n"));
    CHECK_STR(child_read("notes"), "ready\nUSR1\nTERM\nWINCH\n");
    kill(child, SIGUSR2);
    CHECK_EQ(child_wait(child), 5);
}

/* A terminal's signal reaches the program from the terminal. It is not
 * passed on, also not to a program that left the terminal's group. */
static void check_terminal(int has_left, const char *notes)
{
    NEEDS_PROGRAM;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        SKIP("no pseudo-terminals");
    put_notes();
    pid_t child = fork();
    if (child == 0) {
        setsid();
        int tty = open(ptsname(terminal),
                       O_RDWR); /* gnomon's process group from here on */
        for (int fd = 0; fd < 3; fd++)
            dup2(tty, fd);
        execl(PROGRAM_PATH, "gnomon", "run", has_left ? "setsid" : "env", "sh",
              "note.sh", (char *)0);
        _exit(127);
    }
    CHECK(noted("ready\n"));
    CHECK_EQ(write(terminal, "\003", 1), 1); /* Ctrl-C */
    if (has_left)
        usleep(100000);
    else
        CHECK(noted("INT\n"));
    kill(child, SIGUSR1);
    CHECK(noted("USR1\n"));
    CHECK_STR(child_read("notes"), notes);
    kill(child, SIGUSR2);
    CHECK_EQ(child_wait(child), 5);
}

TEST(a_terminals_signals_come_from_the_terminal)
{
    check_terminal(0, "ready\nINT\nUSR1\n");
}

TEST(a_terminals_signals_are_not_passed_on)
{
    if (shell("command -v setsid").status)
        SKIP("no setsid");
    check_terminal(1, "ready\nUSR1\n");
}

/* A stop of the program stops gnomon run too, so that the shell sees it;
 * both continue. */
TEST(it_stops_and_goes_on)
{
    int status = 0;
    NEEDS_PROGRAM;
    pid_t child = start_noting(NULL);
    CHECK(noted("ready\n"));
    kill(child, SIGTSTP);
    CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
    CHECK(WIFSTOPPED(status));
    kill(child, SIGCONT);
    CHECK(noted("CONT\n"));
    kill(child, SIGUSR2);
    CHECK_EQ(child_wait(child), 5);
}

/* A signal that was ignored before stays so. */
TEST(ignored_signals_stay_ignored)
{
    NEEDS_PROGRAM;
    child_result r = shell("trap '' HUP; $G run sh -c 'kill -HUP $$; echo on'");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "on\n");
    /* SIGCHLD is the exception: ignored, it would never arrive. */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGCHLD, SIG_IGN);
        alarm(200);
        execl(PROGRAM_PATH, "gnomon", "run", "sh", "-c", "exit 4", (char *)0);
        _exit(127);
    }
    CHECK_EQ(child_wait(child), 4);
    /* And none is blocked in it. */
    r = shell("$G run grep SigBlk /proc/self/status");
    CHECK_STR(r.out, "SigBlk:\t0000000000000000\n");
}

/* The program's report is written, and gnomon run dies of the same signal. */
TEST(a_killed_program_has_its_report)
{
    NEEDS_PROGRAM;
    pid_t child = child_start(
        PROGRAM_PATH, NULL,
        (const char *const[]){"run", "-p", "simple,file=killed.txt", HOST,
                              "do=a", "mkdir=marked", "sleep=20000", NULL},
        "out", "err");
    for (int tries = 0; tries < 2000 && access("marked", F_OK) != 0; tries++)
        usleep(10000);
    kill(child, SIGTERM);
    CHECK_EQ(child_wait(child), 256 + SIGTERM);
    CHECK_STR(child_read("err"), "gnomon: report: killed.txt\n");
    CHECK_TABLE(child_read("killed.txt"), "Profiler Report", "a");
}

/* ---- Jobs --------------------------------------------------------------------- */

TEST(repeat_makes_the_jobs_of_a_side)
{
    NEEDS_PROGRAM;
    child_result r = shell("$G run --repeat 3 -o 'a %%r' -- %s stage=fit do=a "
                           "do=a end > out; ls 'a %%r'",
                           HOST);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "job1.gnomon\njob2.gnomon\njob3.gnomon\n");
    CHECK_STR(r.err,
              "gnomon: a %r: 3 jobs, 3 profiles: gnomon diff compares two "
              "such folders\n");
    r = shell(
        "$G run --repeat 2 -o b -p simple,file=$PWD/t.txt -- sh -c 'cd /; "
        "exec %s stage=fit do=a do=a end'; cat t.txt | grep -c Report; "
        "$G diff 'a %%r' b | head -n 1",
        HOST);
    CHECK_STR(r.out, "1\nA: 3 jobs, 3 runs; B: 2 jobs, 2 runs\n");
    r = shell("$G cat b/job2.gnomon | grep -o '\"job\": \"[^\"]*\"'");
    CHECK_STR(r.out, "\"job\": \"b-2\"\n");
}

/* Also names that are patterns of files. */
TEST(repeat_looks_into_folders_of_any_name)
{
    NEEDS_PROGRAM;
    CHECK_STR(
        shell("$G run --repeat 1 -o 'a[1]*' -- %s do=a 2> err; cat err", HOST)
            .out,
        "gnomon: a[1]*: 1 job, 1 profile: gnomon diff compares two such "
        "folders\n");
    CHECK_STR(shell("$G run --repeat 1 -o 'a[1]*' -- true").err,
              "gnomon: a[1]*: holds profiles already: name another folder\n");
    child_result r = shell("$G run --repeat 1 -o 'a\"b' -- true");
    CHECK_EQ(r.status, 2);
    CHECK_STR(r.err, "gnomon: a\"b: a name with a quote cannot stand in "
                     "$GNOMON\n");
    CHECK_EQ(access("a\"b", F_OK), -1);
    r = shell("mkdir 'c\"d' && cd 'c\"d' && $G run --repeat 1 -o e -- true");
    CHECK_STR(r.err,
              "gnomon: e: a name with a quote cannot stand in $GNOMON\n");
}

/* The ranks of a job are one job, whatever its number of processes. */
TEST(repeated_jobs_have_ranks)
{
    NEEDS_PROGRAM;
    child_result r =
        shell("$G run --repeat 2 -o a -- sh -c 'for r in 0 1; do "
              "GNOMON_RANK=$r GNOMON_WORLD_SIZE=2 %s do=a do=a; done' && "
              "ls a && $G diff a a | head -n 1",
              HOST);
    CHECK_STR(r.out, "job1-0.gnomon\njob1-1.gnomon\njob2-0.gnomon\n"
                     "job2-1.gnomon\n"
                     "A: 2 jobs, 4 runs; B: 2 jobs, 4 runs\n");
}

TEST(repeat_ends_with_the_first_job_that_fails)
{
    NEEDS_PROGRAM;
    child_result r =
        shell("$G run --repeat 3 -o a -- sh -c '%s do=a; echo x >> "
              "log; test $(wc -l < log) -lt 2 || exit 7'",
              HOST);
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.err, "gnomon: job 2 of 3 failed\n");
    CHECK_STR(shell("wc -l < log").out, "2\n");
    CHECK_EQ(
        shell("exec $G run --repeat 3 -o b -- sh -c 'kill -TERM $$'").status,
        256 + SIGTERM);
    r = shell("$G run --repeat 3 -o a -- true");
    CHECK_EQ(r.status, 2);
    CHECK_STR(r.err,
              "gnomon: a: holds profiles already: name another folder\n");
    r = shell("$G run --repeat 3 -o c -- true");
    CHECK_EQ(r.status, 3);
    CHECK(strstr(r.err, "c: the program left no profile in it"));
    CHECK_EQ(shell("$G run --repeat 3 -- true").status, 1);
    CHECK_EQ(shell("$G run --repeat 0 -o d -- true").status, 1);
    CHECK_EQ(shell("$G run --repeat 3 -o no/such -- true").status, 2);
    CHECK_EQ(shell("$G run --repeat 3 -o e -- no-such-program").status, 127);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `gnomon run` and signals: the program that it runs behaves as it does by itself. What
 * it prints is in text/cli_run.
 * timeout: 300 */
#include "program.h"

#include <signal.h>

#define HOST CHILD_PROGRAM("host")

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

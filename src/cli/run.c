/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon run: starts a program under a spec, passes signals on, and ends with the
 * program's status or signal.
 *
 * Signals to pass on are blocked and waited for with sigwaitinfo, so nothing here runs
 * in a handler. A terminal's signals reach the program directly, because it is in our
 * process group: they are not passed on a second time. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"
#include "cli/injected.h"
#include "cli/jobs.h"
#include "cli/run_notes.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profilers/table.h"
#include "spec/options.h"

/* As shells and env say it. */
enum { RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127, RUN_SIGNALLED = 128 };

enum { RUN_PROFILER, RUN_NVTX, RUN_REPEAT, RUN_OUTPUT };

static const gnomon__cli_option run_options[] = {
    [RUN_PROFILER] = {.name = "profiler",
                      .letter = 'p',
                      .value = "SPEC",
                      .help = "the value of $GNOMON (default: simple)"},
    [RUN_NVTX] = {.name = "nvtx",
                  .help = "take in the marks that the program makes with NVTX"},
    [RUN_REPEAT] = {.name = "repeat",
                    .value = "N",
                    .help = "run it N times, each time as a job of its own"},
    [RUN_OUTPUT] = {.name = "output",
                    .letter = 'o',
                    .kind = GNOMON__VALUE_FILE,
                    .value = "DIR",
                    .help =
                        "the folder for the profiles of the jobs, a side of "
                        "gnomon diff"},
    {.name = NULL}};

static int run_run(int argc, char **argv);

const gnomon__command gnomon__command_run = {
    .name = "run",
    .operands = "[--] PROGRAM [WORD...]",
    .about = "Runs a program under a profiler, and says where the reports are",
    .more =
        "Sets $GNOMON for it, passes signals on, and ends as the program "
        "does: with its\n"
        "exit status, or by the same signal; 127 where it is not found, "
        "126 where it\n"
        "cannot be executed. Lines on the reports go to standard error.\n"
        "\n"
        "--repeat 5 -o DIR makes five jobs, one after the other, and leaves "
        "their profiles\n"
        "in DIR; it ends with the first that fails. gnomon diff compares "
        "two such folders.\n"
        "\n"
        "A program that is marked with NVTX needs no gnomon in it: --nvtx "
        "sets\n"
        "$NVTX_INJECTION64_PATH to libgnomon-nvtx.so, for it and all that "
        "it starts.",
    .options = run_options,
    .run = run_run,
    .operands_follow = 1,
};

/* ---- The program ---------------------------------------------------------------- */

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP};

/* In the child: only what may be called between fork and exec. The words were
 * made before. */
static void exec_program(char **words, const sigset_t *mask, int tell)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(words[0], words);
    int why = errno;
    while (write(tell, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(RUN_NOT_FOUND);
}

/* The process; or 0, and *why is the errno that execvp left. */
static pid_t start(char **words, const sigset_t *mask, int *why)
{
    int pipe_ends[2];
    ssize_t n;
    *why = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        *why = errno;
        return 0;
    }
    pid_t child = fork();
    if (child == 0)
        exec_program(words, mask, pipe_ends[1]);
    if (child < 0)
        *why = errno;
    close(pipe_ends[1]);
    do /* end of file: exec has closed the pipe */
        n = child > 0 ? read(pipe_ends[0], why, sizeof *why) : 0;
    while (n < 0 && errno == EINTR);
    close(pipe_ends[0]);
    if (!*why)
        return child;
    if (child > 0)
        waitpid(child, NULL, 0);
    return 0;
}

static int not_started(const char *name, int why)
{
    gnomon__log("%s: %s", name,
                why == ENOENT ? "no such program" : strerror(why));
    return why == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

/* ---- Its end -------------------------------------------------------------------- */

/* Whether the program has ended. If it was stopped, we stop, too, so that a shell sees
 * it; when we are continued, so is the program. */
static int has_ended(pid_t child, int *status)
{
    pid_t changed = waitpid(child, status, WNOHANG | WUNTRACED);
    if (changed == child && WIFSTOPPED(*status)) {
        raise(SIGSTOP); /* until SIGCONT, which then is passed on */
        return 0;
    }
    return changed == child || (changed < 0 && errno != EINTR);
}

static int wait_for_exit(pid_t child, const sigset_t *waited)
{
    siginfo_t info;
    int status = 0;
    for (;;) {
        int number = sigwaitinfo(waited, &info);
        if (number == SIGCHLD) {
            if (has_ended(child, &status))
                return status;
        } else if (number > 0 && info.si_code != SI_KERNEL &&
                   info.si_pid !=
                       child) { /* the child may signal its own group */
            kill(child, number);
        }
    }
}

/* Dies by the same signal; if that fails, returns the status that shells use. */
static int die_by_signal(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none); /* the program's own core is enough */
    signal(number, SIG_DFL);
    fflush(NULL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return RUN_SIGNALLED + number;
}

/* Blocks the signals to pass on, for good; `before` is the mask for the program. */
static void block_signals(sigset_t *waited, sigset_t *before)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(waited);
    sigaddset(waited, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(waited, passed_on[i]);
    sigaction(SIGCHLD, &usual, NULL); /* if ignored it would not arrive */
    sigprocmask(SIG_BLOCK, waited, before);
}

/* Runs the program under the spec. Returns a status as of waitpid; below 0: it did not
 * start, and *why is the exit status for that. */
static int run_once(const char *spec, char **words, const sigset_t *waited,
                    const sigset_t *before, int *why)
{
    int code;
    if (setenv("GNOMON", spec, 1) != 0) {
        *why = not_started(words[0], errno);
        return -1;
    }
    pid_t child = start(words, before, &code);
    if (child)
        return wait_for_exit(child, waited);
    *why = not_started(words[0], code);
    return -1;
}

static int end_as_program(int status)
{
    return WIFSIGNALED(status) ? die_by_signal(WTERMSIG(status))
                               : WEXITSTATUS(status);
}

static int run_program(const char *spec, int has_nvtx, char **words)
{
    sigset_t waited, before;
    static gnomon__run_notes notes;
    int why = GNOMON__EXIT_UNREADABLE;
    block_signals(&waited, &before);
    gnomon__run_notes_begin(&notes);
    int status = run_once(spec, words, &waited, &before, &why);
    gnomon__run_notes_print(&notes, status == 0 ? words[0] : NULL, spec,
                            has_nvtx);
    return status < 0 ? why : end_as_program(status);
}

/* ---- Jobs ----------------------------------------------------------------------- */

/* `count` jobs; the first that fails is the last. */
static int run_jobs(const gnomon__cli_jobs *jobs, const char *spec,
                    unsigned count, char **words)
{
    sigset_t waited, before;
    int why = GNOMON__EXIT_UNREADABLE;
    block_signals(&waited, &before);
    for (unsigned n = 1; n <= count; n++) {
        char *job = gnomon__cli_jobs_spec(jobs, spec, n);
        if (!job)
            gnomon__log("no memory for a job");
        int status = job ? run_once(job, words, &waited, &before, &why) : -1;
        gnomon__free(job);
        if (status < 0)
            return why;
        if (status) {
            gnomon__log("job %u of %u failed", n, count);
            return end_as_program(status);
        }
        if (!gnomon__cli_jobs_files(jobs)) {
            gnomon__log("%s: the program left no profile in it: does it make "
                        "marks?",
                        jobs->given);
            return GNOMON__EXIT_NOTHING;
        }
    }
    gnomon__log("%s: %u job%s, %zu profile%s: gnomon diff compares two such "
                "folders",
                jobs->given, count, count == 1 ? "" : "s",
                gnomon__cli_jobs_files(jobs),
                gnomon__cli_jobs_files(jobs) == 1 ? "" : "s");
    return GNOMON__EXIT_OK;
}

static int run_with_jobs(const char *folder, const char *spec,
                         const char *repeat, char **words)
{
    const gnomon__command *c = &gnomon__command_run;
    unsigned long long count = 1;
    gnomon__cli_jobs jobs = {0};
    if (!folder)
        return gnomon__cli_usage(c, "--repeat needs a folder: -o DIR");
    if (repeat &&
        (!gnomon__cli_number(repeat, &count) || !count || count > UINT16_MAX)) {
        gnomon__log("--repeat %s: say a number from 1", repeat);
        return GNOMON__EXIT_USAGE;
    }
    int status = GNOMON__EXIT_UNREADABLE;
    if (gnomon__cli_jobs_begin(&jobs, folder))
        status = run_jobs(&jobs, spec, (unsigned)count, words);
    gnomon__cli_jobs_free(&jobs);
    return status;
}

/* ---- The spec -------------------------------------------------------------------- */

/* Logs words that are nearly known: the program would run for hours without what was
 * meant. Other unknown words may be of a profiler that the program brings, and those
 * of a plugin are known once it is loaded. */
static int is_mistyped(const char *text)
{
    const gnomon_profiler *known[64];
    gnomon__complaints complaints = {0};
    gnomon__spec spec = {0};
    size_t count = 0;
    int is_wrong = 0;
    while (count < sizeof known / sizeof *known && gnomon__profilers[count]) {
        known[count] = *gnomon__profilers[count];
        count++;
    }
    (void)gnomon__spec_parse(&spec, text, "--profiler", &complaints);
    for (size_t i = 0; i < spec.item_count; i++)
        spec.lost_plugin |= spec.items[i].is_path;
    if (!spec.lost_plugin)
        (void)gnomon__spec_resolve(&spec, known, count, &complaints);
    for (unsigned i = 0; i < complaints.count; i++)
        if (strstr(complaints.line[i], "': did you mean '")) {
            gnomon__log("%s", complaints.line[i]);
            is_wrong = 1;
        }
    gnomon__complaints_free(&complaints);
    gnomon__spec_free(&spec);
    return is_wrong;
}

static int run_run(int argc, char **argv)
{
    const char *spec = NULL, *repeat = NULL, *folder = NULL;
    int option, nvtx = 0;
    while ((option = gnomon__cli_next(&gnomon__command_run, argc, argv)) >= 0)
        if (option == RUN_NVTX)
            nvtx = 1;
        else if (option == RUN_REPEAT)
            repeat = optarg;
        else if (option == RUN_OUTPUT)
            folder = optarg;
        else
            spec = optarg;
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    if (optind == argc)
        return gnomon__cli_usage(&gnomon__command_run, "no program is named");
    if (spec && is_mistyped(spec))
        return GNOMON__EXIT_USAGE;
    if (!nvtx)
        gnomon__cli_check_nvtx();
    else if (!gnomon__cli_inject_nvtx())
        return GNOMON__EXIT_UNREADABLE;
    if (repeat || folder)
        return run_with_jobs(folder, spec, repeat, argv + optind);
    return run_program(spec ? spec : "simple", nvtx, argv + optind);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon run: starts a program under a spec, passes signals on, and ends with the
 * program's status or signal.
 *
 * Signals to pass on are blocked and waited for with sigwaitinfo, so nothing here runs
 * in a handler. A terminal's signals reach the program directly, because it is in our
 * process group: they are not passed on a second time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command/command.h"
#include "command/inputs.h"
#include "page/page.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profilers/table.h"
#include "spec/names.h"
#include "spec/options.h"
#include "spec/spec.h"

/* The exit statuses that shells and env use. */
enum { RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127, RUN_SIGNALLED = 128 };

typedef struct run_request {
    const char *spec, *repeat, *folder;
    int nvtx, malloc, opens;
} run_request;

static const gnomon__cli_option run_options[] = {
    GNOMON__TEXT("profiler", 'p', "SPEC",
                 "the value of $GNOMON (default: simple)",
                 GNOMON__TO(run_request, spec)),
    GNOMON__FLAG("nvtx", "take in the marks that the program makes with NVTX",
                 GNOMON__TO(run_request, nvtx)),
    GNOMON__FLAG("malloc",
                 "record what it takes from malloc (profiler: memory)",
                 GNOMON__TO(run_request, malloc)),
    GNOMON__TEXT("repeat", 0, "N",
                 "run it N times, each time as a job of its own",
                 GNOMON__TO(run_request, repeat)),
    GNOMON__FILE(
        "output", 'o', "DIR",
        "the folder for the profiles of the jobs, a side of gnomon diff",
        GNOMON__TO(run_request, folder)),
    GNOMON__FLAG("open", "show its profile in the browser, when it has ended",
                 GNOMON__TO(run_request, opens)),
    {.name = NULL}};

/* ---- NVTX ------------------------------------------------------------------------- */

/* libgnomon-nvtx.so is in the program's folder, as in a build, or in the library folder of
 * the installation, relative to the program, so that an installed tree may be moved. */
#define NVTX_LIBRARY "libgnomon-nvtx.so"
#define NVTX_VARIABLE "NVTX_INJECTION64_PATH"

/* The program's own folder; 0: the system does not tell. */
static int own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;
    if (n < 0)
        return 0;
    folder[n] = 0;
    slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

/* A line where $NVTX_INJECTION64_PATH names a tool that the program's NVTX cannot load,
 * which would say nothing. */
static void check_nvtx(void)
{
    const char *path = getenv(NVTX_VARIABLE);
    /* The loader searches for a name without a slash, so it is not checked. */
    if (path && strchr(path, '/') && access(path, R_OK) != 0)
        gnomon__log(NVTX_VARIABLE
                    "=%s: %s: NVTX in the program will load no tool",
                    path, strerror(errno));
}

/* Finds a library of ours. 0: one line has said why not. */
static int find_library(const char *option, const char *name, const char *why,
                        char real[PATH_MAX])
{
    static const char *const places[] = {"", "/" GNOMON_LIB_FROM_BIN};
    char folder[PATH_MAX], path[2 * PATH_MAX];
    if (!own_folder(folder)) {
        gnomon__log("%s: /proc/self/exe: %s", option, strerror(errno));
        return 0;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s/%s", folder, places[i], name);
        if (realpath(path, real) && access(real, R_OK) == 0)
            return 1;
    }
    gnomon__log("%s: %s is neither in %s nor in %s%s: it is made where %s",
                option, name, folder, folder, places[1], why);
    return 0;
}

/* Sets $NVTX_INJECTION64_PATH to libgnomon-nvtx.so, and says so where it was something
 * else. 0: one line has said why not. */
static int inject_nvtx(void)
{
    char real[PATH_MAX];
    const char *before = getenv(NVTX_VARIABLE);
    if (!find_library("--nvtx", NVTX_LIBRARY, "NVTX's headers are", real))
        return 0;
    if (before && *before && strcmp(before, real) != 0)
        gnomon__log("--nvtx: " NVTX_VARIABLE
                    " was %s; for this program it is %s",
                    before, real);
    if (setenv(NVTX_VARIABLE, real, 1) != 0) {
        gnomon__log("--nvtx: %s", strerror(errno));
        return 0;
    }
    return 1;
}

/* ---- malloc ------------------------------------------------------------------------- */

/* What the loader of an executable would refuse, or would do nothing with; NULL: nothing.
 * The loader's name and those of needed libraries are in the file as they are. Scripts are
 * their interpreter's matter. */
static const char *why_not_preloaded(const char *text, size_t size)
{
    if (size < 4 || memcmp(text, "\177ELF", 4) != 0)
        return NULL;
    if (memmem(text, size, "\0libasan.so", 11) ||
        memmem(text, size, "\0libtsan.so", 11) ||
        memmem(text, size, "\0__asan_init", 13) ||
        memmem(text, size, "\0__tsan_init", 13))
        return "it is built with a sanitizer, which has a malloc of its own";
    if (!memmem(text, size < 8192 ? size : 8192, "/ld-", 4))
        return "it is linked statically";
#ifdef __GLIBC__
    if (memmem(text, size < 8192 ? size : 8192, "/ld-musl-", 9))
        return "it is of another C library than gnomon";
#endif
    return NULL;
}

/* Whether the program gets rights that its user has not. */
static int has_more_rights(FILE *program, const struct stat *s)
{
    return (s->st_mode & S_ISUID && s->st_uid != geteuid()) ||
           (s->st_mode & S_ISGID && s->st_gid != getegid()) ||
           (geteuid() &&
            fgetxattr(fileno(program), "security.capability", NULL, 0) > 0);
}

/* The executable as execvp finds it; NULL: there is none, which is said later. */
static FILE *open_program(const char *name)
{
    char path[PATH_MAX];
    const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
    if (!folders)
        return fopen(name, "re");
    for (size_t n; *folders; folders += n + (folders[n] == ':')) {
        n = strcspn(folders, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, n ? folders : ".",
                     name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return fopen(path, "re");
    }
    return NULL;
}

/* Preloads libgnomon-malloc.so, before all that is preloaded already. Where the program
 * cannot have it, a line says so. 0: a line has said why nothing will run. */
static int preload_malloc(const char *program)
{
    char real[PATH_MAX], *value = NULL;
    const char *before = getenv("LD_PRELOAD"), *why = NULL;
    struct stat s;
    FILE *from = open_program(program);
    if (!find_library("--malloc", "libgnomon-malloc.so",
                      "there is no sanitizer", real)) {
        if (from)
            (void)fclose(from);
        return 0;
    }
    if (from) {
        char *text = fstat(fileno(from), &s) == 0
                         ? gnomon__alloc((size_t)s.st_size + 1)
                         : NULL;
        if (text)
            why = has_more_rights(from, &s)
                      ? "it has more rights than its user, so the loader "
                        "preloads nothing"
                      : why_not_preloaded(
                            text, fread(text, 1, (size_t)s.st_size, from));
        gnomon__free(text);
        (void)fclose(from);
    }
    if (why) {
        gnomon__log("--malloc: %s: %s: its malloc is not recorded", program,
                    why);
        return 1;
    }
    if (asprintf(&value, "%s%s%s", real, before && *before ? ":" : "",
                 before ? before : "") < 0 ||
        setenv("LD_PRELOAD", value, 1) != 0) {
        gnomon__log("--malloc: %s", strerror(errno));
        return 0;
    }
    free(value);
    return 1;
}

/* ---- Notes on reports --------------------------------------------------------------- */

/* The file to which processes of the program append the paths that they wrote, and whether
 * they made marks (platform/os.h), so nothing is guessed from the spec or from files in
 * the folder; "": there is none. Processes on other machines leave no notes. */
static char run_notes[PATH_MAX];

/* Makes the file and names it in the environment, unless an outer `gnomon run` has. */
static void run_notes_begin(void)
{
    const char *outer = getenv(GNOMON__NOTES), *folder = getenv("TMPDIR");
    int fd = -1;
    if (outer && *outer) /* the outer `gnomon run` prints them */
        return;
    folder = folder && *folder == '/' ? folder : "/tmp";
    if (snprintf(run_notes, sizeof run_notes, "%s/gnomon-run-XXXXXX", folder) <
        (int)sizeof run_notes)
        fd = mkstemp(run_notes);
    if (fd < 0 || close(fd) != 0 || setenv(GNOMON__NOTES, run_notes, 1)) {
        gnomon__log("%s: %s: the reports that are written cannot be listed",
                    folder, strerror(errno));
        *run_notes = 0;
    }
}

typedef struct notes_read {
    int has_begun, has_marked;
    gnomon__cli_inputs files;
} notes_read;

/* Adds a path once, relative to the working directory if below it. */
static void add_written_file(notes_read *read, char *path)
{
    char cwd[PATH_MAX];
    size_t n = getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0;
    if (n > 1 && strncmp(path, cwd, n) == 0 && path[n] == '/')
        path += n + 1;
    for (size_t i = 0; i < read->files.count; i++)
        if (strcmp(read->files.paths[i], path) == 0)
            return;
    if (access(path, F_OK) == 0)
        (void)gnomon__cli_add(&read->files, path);
}

static void read_notes(notes_read *read, const char *path)
{
    FILE *from = fopen(path, "re");
    char *note = NULL;
    size_t room = 0;
    ssize_t n;
    while (from && (n = getdelim(&note, &room, 0, from)) > 0) {
        read->has_begun |= *note == GNOMON__NOTE_BEGUN;
        read->has_marked |= *note == GNOMON__NOTE_MARKED;
        if (*note == GNOMON__NOTE_FILE && n > 2)
            add_written_file(read, note + 1);
    }
    free(note);
    if (from)
        (void)fclose(from);
}

/* Whether file= or dir= names a file; streams do not count. */
static int names_file(const gnomon__settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *value = settings->at[i].value;
        if (gnomon__same_word(settings->at[i].key, "dir") ||
            (gnomon__same_word(settings->at[i].key, "file") && value &&
             !gnomon__file_is_stream(value)))
            return 1;
    }
    return 0;
}

/* Whether the spec wants anything, and whether it wants files. */
static int is_wanted(const char *text, int *in_files)
{
    gnomon__complaints ignored = {0}; /* the program has logged them */
    gnomon__spec spec = {0};
    (void)gnomon__spec_parse(&spec, NULL, text, "--profiler", &ignored);
    int wants = spec.item_count != 0;
    *in_files = names_file(&spec.defaults);
    for (size_t i = 0; i < spec.item_count; i++) {
        *in_files |= names_file(&spec.items[i].settings);
        wants &= !gnomon__same_word(spec.items[i].name, "off") &&
                 !gnomon__same_word(spec.items[i].name, "none") &&
                 strcmp(spec.items[i].name, "0") != 0;
    }
    gnomon__complaints_free(&ignored);
    gnomon__spec_free(&spec);
    return wants;
}

static void log_nothing_written(const notes_read *read, const char *name,
                                const char *spec, int has_nvtx)
{
    int in_files = 0;
    if (!is_wanted(spec, &in_files))
        return;
    if (!read->has_begun && has_nvtx)
        gnomon__log("%s: nothing was recorded: no process on this machine "
                    "called gnomon or NVTX",
                    name);
    else if (!read->has_begun)
        gnomon__log("%s: nothing was recorded: no process on this machine made "
                    "a mark of gnomon; for marks of NVTX use gnomon run --nvtx",
                    name);
    else if (!read->has_marked)
        gnomon__log("%s: nothing was reported: it has made no mark, or ended "
                    "by _exit",
                    name);
    else if (in_files)
        gnomon__log("no report was written");
}

/* Reads and removes the file, and logs a line for each report that exists. If the program
 * `name` (NULL: it failed) ended well under `spec` without a report, logs why. */
static void run_notes_print(const char *name, const char *spec, int has_nvtx)
{
    notes_read read = {0};
    if (!*run_notes)
        return;
    read_notes(&read, run_notes);
    (void)unlink(run_notes);
    for (size_t i = 0; i < read.files.count; i++)
        gnomon__log("report: %s", read.files.paths[i]);
    if (!read.files.count && name)
        log_nothing_written(&read, name, spec, has_nvtx);
    gnomon__cli_inputs_free(&read.files);
}

/* ---- Jobs that are made one after the other ------------------------------------------ */

/* Each has a name of its own, and its profiles in one folder, as one side of gnomon diff.
 * The path in $GNOMON is absolute, because the program may change its directory before its
 * first mark. Zeroes are none. */
typedef struct run_jobs {
    char *folder;      /* its whole path; NULL: none is made */
    const char *given; /* as it was named */
    char *name;        /* what those of jobs begin with */
} run_jobs;

#define QUOTED "a name with a quote cannot stand in $GNOMON"

static int jobs_fail(const char *folder, const char *why)
{
    gnomon__log("%s: %s", folder, why);
    return 0;
}

/* "fold%r" is "fold%%r" in a spec, where it stands in quotes. NULL: no memory. */
static char *quoted_path(const char *path)
{
    char *text = gnomon__alloc(2 * strlen(path) + 1), *to = text;
    for (; text && *path; path++) {
        if (*path == '%')
            *to++ = '%';
        *to++ = *path;
    }
    return text;
}

/* How many profiles are in the folder. */
static size_t run_jobs_files(const run_jobs *jobs)
{
    DIR *folder = opendir(jobs->folder);
    const struct dirent *entry;
    size_t count = 0;
    while (folder && (entry = readdir(folder)) != NULL) {
        const char *ending = strrchr(entry->d_name, '.');
        count +=
            *entry->d_name != '.' && ending && strcmp(ending, ".gnomon") == 0;
    }
    if (folder)
        (void)closedir(folder);
    return count;
}

/* Makes the folder, where it is not there. 0: it cannot be made, or holds profiles
 * already; one line has said so. Free it in any case. */
static int run_jobs_begin(run_jobs *jobs, const char *folder)
{
    const char *name = getenv("GNOMON_JOB");
    if (strchr(folder, '"'))
        return jobs_fail(folder, QUOTED);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return jobs_fail(folder, strerror(errno));
    jobs->given = folder;
    jobs->folder = realpath(folder, NULL);
    if (!jobs->folder)
        return jobs_fail(folder, strerror(errno));
    if (strchr(jobs->folder, '"'))
        return jobs_fail(folder, QUOTED);
    jobs->name =
        gnomon__strdup(name && *name ? name : strrchr(jobs->folder, '/') + 1);
    if (!jobs->name)
        return jobs_fail(folder, "no memory");
    if (run_jobs_files(jobs))
        return jobs_fail(folder, "holds profiles already: name another folder");
    return 1;
}

/* Sets $GNOMON_JOB for the n-th job, from 1. Returns what $GNOMON is to be: `spec`, which
 * may be NULL, and its profile in the folder. The caller frees it; NULL: no memory. */
static char *run_jobs_spec(const run_jobs *jobs, const char *spec, unsigned n)
{
    char *path = quoted_path(jobs->folder);
    size_t size = (spec ? strlen(spec) : 0) + (path ? strlen(path) : 0) + 64;
    size_t job_size = strlen(jobs->name) + 16;
    char *text = gnomon__alloc(size), *job = gnomon__alloc(job_size);
    int ok = path && text && job;
    if (ok) {
        snprintf(text, size, "%s%sprofile(file=\"%s/job%u.gnomon\")",
                 spec ? spec : "", spec ? "," : "", path, n);
        snprintf(job, job_size, "%s-%u", jobs->name, n);
        ok = setenv("GNOMON_JOB", job, 1) == 0;
    }
    gnomon__free(path);
    gnomon__free(job);
    if (ok)
        return text;
    gnomon__free(text);
    return NULL;
}

static void run_jobs_free(run_jobs *jobs)
{
    free(jobs->folder);
    gnomon__free(jobs->name);
    *jobs = (run_jobs){0};
}

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
    int why = GNOMON__EXIT_UNREADABLE;
    block_signals(&waited, &before);
    run_notes_begin();
    int status = run_once(spec, words, &waited, &before, &why);
    run_notes_print(status == 0 ? words[0] : NULL, spec, has_nvtx);
    return status < 0 ? why : end_as_program(status);
}

/* ---- Each job -------------------------------------------------------------------- */

/* `count` jobs; the first that fails is the last. */
static int run_each_job(const run_jobs *jobs, const char *spec, unsigned count,
                        char **words)
{
    sigset_t waited, before;
    int why = GNOMON__EXIT_UNREADABLE;
    block_signals(&waited, &before);
    for (unsigned n = 1; n <= count; n++) {
        char *job = run_jobs_spec(jobs, spec, n);
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
        if (!run_jobs_files(jobs)) {
            gnomon__log("%s: the program left no profile in it: does it make "
                        "marks?",
                        jobs->given);
            return GNOMON__EXIT_NOTHING;
        }
    }
    return GNOMON__EXIT_OK;
}

static void say_jobs(const run_jobs *jobs, unsigned count)
{
    gnomon__log("%s: %u job%s, %zu profile%s: gnomon diff compares two such "
                "folders",
                jobs->given, count, count == 1 ? "" : "s", run_jobs_files(jobs),
                run_jobs_files(jobs) == 1 ? "" : "s");
}

/* Makes the page of the folder's profiles in it, and opens it. */
static int open_page(const run_jobs *jobs)
{
    gnomon__cli_inputs in = {0};
    char path[PATH_MAX], *words[] = {jobs->folder, NULL};
    int status = gnomon__cli_expand(&in, words);
    if (snprintf(path, sizeof path, "%s/page.html", jobs->folder) >=
        (int)sizeof path)
        status = GNOMON__EXIT_UNREADABLE;
    if (!status)
        status = gnomon__page_make(&in, path);
    if (!status)
        gnomon__page_open(path);
    gnomon__cli_inputs_free(&in);
    return status;
}

/* A folder of its own for the page of a program, which is what the page is named as. 0: one
 * line has said why not. */
static int make_open_folder(char folder[PATH_MAX], const char *program)
{
    const char *base = getenv("TMPDIR"), *slash = strrchr(program, '/');
    base = base && *base == '/' ? base : "/tmp";
    if (snprintf(folder, PATH_MAX, "%s/gnomon-page-XXXXXX", base) < PATH_MAX &&
        mkdtemp(folder) &&
        setenv("GNOMON_JOB", slash ? slash + 1 : program, 0) == 0)
        return 1;
    gnomon__log("%s: %s", base, strerror(errno));
    return 0;
}

/* Without a folder one is made, for the page. */
static int run_with_jobs(const gnomon__command *c, const run_request *r,
                         char **words)
{
    static char made[PATH_MAX];
    const char *folder = r->folder, *repeat = r->repeat;
    unsigned long long count = 1;
    run_jobs jobs = {0};
    if (!folder && !r->opens)
        return gnomon__cli_usage(c, "--repeat needs a folder: -o DIR");
    if (repeat &&
        (!gnomon__cli_number(repeat, &count) || !count || count > UINT16_MAX)) {
        gnomon__log("--repeat %s: say a number from 1", repeat);
        return GNOMON__EXIT_USAGE;
    }
    int status = GNOMON__EXIT_UNREADABLE;
    if (!folder && make_open_folder(made, words[0]))
        folder = made;
    if (folder && run_jobs_begin(&jobs, folder))
        status = run_each_job(&jobs, r->spec, (unsigned)count, words);
    if (!status && folder != made) /* of the page's own nobody asked */
        say_jobs(&jobs, (unsigned)count);
    if (!status && r->opens)
        status = open_page(&jobs);
    run_jobs_free(&jobs);
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
    (void)gnomon__spec_parse(&spec, NULL, text, "--profiler", &complaints);
    for (size_t i = 0; i < spec.item_count; i++)
        spec.lost_plugin |= spec.items[i].is_path;
    if (!spec.lost_plugin)
        (void)gnomon__spec_resolve(&spec, known, count);
    for (unsigned i = 0; i < complaints.count; i++)
        if (strstr(complaints.line[i], "': did you mean '")) {
            gnomon__log("%s", complaints.line[i]);
            is_wrong = 1;
        }
    gnomon__complaints_free(&complaints);
    gnomon__spec_free(&spec);
    return is_wrong;
}

static int run_run(const gnomon__command *c, int argc, char **argv)
{
    run_request r = {.spec = NULL};
    int status = gnomon__cli_read(c, argc, argv, &r);
    if (status != GNOMON__CLI_END)
        return status;
    if (optind == argc)
        return gnomon__cli_usage(c, "no program is named");
    if (r.spec && is_mistyped(r.spec))
        return GNOMON__EXIT_USAGE;
    if (!r.nvtx)
        check_nvtx();
    else if (!inject_nvtx())
        return GNOMON__EXIT_UNREADABLE;
    if (r.malloc && !preload_malloc(argv[optind]))
        return GNOMON__EXIT_UNREADABLE;
    if (r.malloc && !r.spec)
        r.spec = "memory";
    if (r.repeat || r.folder || r.opens)
        return run_with_jobs(c, &r, argv + optind);
    return run_program(r.spec ? r.spec : "simple", r.nvtx, argv + optind);
}

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
        "--open makes a page of the profiles and opens it by xdg-open; "
        "without a display\n"
        "it prints the path of the page.\n"
        "\n"
        "A program that is marked with NVTX needs no gnomon in it: --nvtx "
        "sets\n"
        "$NVTX_INJECTION64_PATH to libgnomon-nvtx.so, for it and all that "
        "it starts.\n"
        "\n"
        "--malloc preloads libgnomon-malloc.so, by $LD_PRELOAD: memory then "
        "has a pool\n"
        "\"malloc\". A static program, or one with a sanitizer, runs "
        "without it.",
    .options = run_options,
    .run = run_run,
    .operands_follow = 1,
};

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls that fail: a whole run, each time in a process of its own, with the
 * first call of the table in os_calls.h failing, then the second, and so on
 * until none is left to fail; by name, and by any name. Nothing crashes, hangs
 * or leaks; every report comes out whole, or a line or the code of a call says
 * what is missing; and the next run there is not affected.
 * links: testing
 * labels: guest
 * timeout: 600 */
#include <dirent.h>
#include <errno.h>

#include "profile_bytes.h"
#include "child.h"
#include "recording_threads.h"
#include "profile_words.h"
#include "full_profile.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "os_calls.h"

#define MOST 9000      /* calls of a run */
#define HANG_AFTER 200 /* seconds */

/* ---- The run ----------------------------------------------------------------- */

static void pass_ns(uint64_t ns)
{
    gnomon__test_pass(ns);
}

static int refusals; /* control calls that said what is missing */

static int fair(int code)
{
    refusals += code != GNOMON_OK;
    if (code)
        CHECK(*gnomon_error_text());
    return CHECK(code <= 0);
}

static void mark_some(const char *tag)
{
    GNOMON_SCOPE("outer");
    for (int i = 0; i < 3; i++) {
        gnomon_start(tag);
        pass_ns(1000000);
        gnomon_token t =
            gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE));
        pass_ns(3000000);
        gnomon_mark(gnomon_region_get("mark", NULL, GNOMON_KIND_MARK));
        gnomon_end(t);
        gnomon_stop(tag);
        gnomon_step();
    }
}

static void *mark_on_thread(void *tag)
{
    gnomon_thread_name("worker");
    mark_some(tag);
    return NULL;
}

/* Reports to stderr, to two files, one of which two stages share and for one a
 * directory is made; a schedule, for which there is a thread; a spec's file; a
 * plugin; marks on two threads; a file for the run's directory; files together with a
 * report; and profiles of both stages, one that is added to and one
 * that is written anew. */
static void run_all(void)
{
    static char worker[] = "worker";
    pthread_t thread;
    gnomon_setup_options o = {.struct_size = sizeof o, .dir = "logs"};
    fair(gnomon_setup(&o));
    fair(gnomon_attach(
        NULL, NULL,
        "@spec,simple,simple(file=link/all.txt),simple(file=deep/down/%s.txt),"
        "simple(dir,filter=i*,schedule=wait:1/active:1/repeat:0)," CHILD_PLUGIN(
            "passthrough") ",simple(file=/dev/stderr),advanced(file=more.txt,"
                           "dump_stats=run),profile(file=kept.gnomon),"
                           "profile(file=anew.gnomon.json)"));
    fair(gnomon_metadata("key", "1"));
    fair(gnomon_stage_begin("fit"));
    mark_some("main");
    if (!CHECK_EQ(pthread_create(&thread, NULL, mark_on_thread, worker), 0))
        return;
    pthread_join(thread, NULL);
    gnomon_stage_end();
    fair(gnomon_stage_begin("test"));
    mark_some("again");
    gnomon_profile *p = NULL;
    if (fair(gnomon_snapshot(&p, "simple", 1)) && p)
        fair(gnomon_profile_check(p)); /* or it has no memory */
    gnomon_profile_free(p);
    p = NULL;
    int code = gnomon_profile_load(&p, "profile.gnomon");
    CHECK(!code == (p != NULL) && (!code || *gnomon_error_text()));
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* ---- What it leaves ------------------------------------------------------------ */

static const char *const reports[] = {"err",
                                      "all.txt",
                                      "deep/down/fit.txt",
                                      "deep/down/test.txt",
                                      "logs/fit-simple.txt",
                                      "logs/test-simple.txt",
                                      "more.txt",
                                      "fit-more.prof",
                                      "test-more.prof",
                                      "kept.gnomon",
                                      "anew.gnomon.json"};
#define REPORTS (sizeof reports / sizeof *reports)
static char *undisturbed[REPORTS];

/* What marks cost is measured, and not the same twice. */
static char *without_costs(char *text)
{
    char *at = text, *end;
    while (at && (at = strstr(at, "gnomon: about ")) != NULL &&
           (end = strchr(at, '\n')) != NULL)
        memmove(at, end + 1, strlen(end + 1) + 1);
    return text;
}

/* The file's text without the parts that vary. NULL: no such file. Free it. */
static char *load_report(const char *path)
{
    return strstr(path, ".gnomon") ? profile_words(path)
                                   : without_costs(child_load(path));
}

static int count_files(const char *folder, const char *part)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += strstr(e->d_name, part) != NULL;
    if (d)
        closedir(d);
    return n;
}

static int count_temporaries(void)
{
    return count_files(".", ".tmp") + count_files("logs", ".tmp") +
           count_files("deep/down", ".tmp");
}

/* Whether all reports are complete, or a message says that they are not. A
 * failed write to stderr cannot be reported. */
static int must_be_whole;
static char what_differs[256];

static int is_loss_reported(void)
{
    int whole = 1, is_reported = refusals > 0;
    size_t length = 0;
    for (size_t i = 0; i < REPORTS; i++) {
        char *text = load_report(reports[i]);
        int same = text && undisturbed[i] && !strcmp(text, undisturbed[i]);
        if (!same && !(whole = 0) && length < sizeof what_differs)
            length += (size_t)snprintf(what_differs + length,
                                       sizeof what_differs - length, " %s",
                                       reports[i]);
        is_reported |=
            times_in(text, "gnomon: ") >
            (undisturbed[i] ? times_in(undisturbed[i], "gnomon: ") : 0);
        free(text);
    }
    return whole || (is_reported && !must_be_whole);
}

/* In a child: a run in a fresh folder, with this fault. */
typedef struct a_fault {
    const char *name; /* NULL: any */
    uint64_t n, many;
    int error;
} a_fault;
static const a_fault none = {NULL, 0, 1, 0};

/* Exit statuses of a child. */
enum { REACHED = 0, FAILED = 1, NOT_REACHED = 2 };

/* A lasting fault may prevent every message; so may fstat, when it says that
 * there is no standard error. */
static int may_be_silent(const a_fault *f)
{
    if (f->error == EBADF && f->name && strcmp(f->name, "fstat") == 0)
        return strcmp(what_differs, " err") == 0;
    return f->many > 1 && (!f->name || strcmp(f->name, "write") == 0 ||
                           strcmp(f->name, "pthread_sigmask") == 0);
}

static void check_left(const a_fault *f, int fds)
{
    CHECK_EQ(count_files("/proc/self/fd", ""), fds);
    if (!CHECK(is_loss_reported() || may_be_silent(f)))
        fprintf(stderr, "    not as it was:%s\n", what_differs);
    if (f->many == 1) /* otherwise a partial file may stay */
        CHECK_EQ(count_temporaries(), 0);
}

static const char an_allocation[] =
    "allocation"; /* a name that is not in the table */

static void set_fault(const a_fault *f)
{
    if (f->name == an_allocation)
        gnomon__test_fail_allocation(f->n);
    else
        gnomon__test_fail_calls(f->name, f->n, f->many, f->error);
}

static int is_reached(const a_fault *f)
{
    uint64_t seen = f->name == an_allocation ? gnomon__test_allocations()
                                             : gnomon__test_calls();
    return f->n && seen >= f->n;
}

/* As if `gnomon run` had started it. */
static void expect_notes(void)
{
    char path[4096];
    FILE *notes = fopen("notes", "w");
    size_t n = getcwd(path, sizeof path - 8) ? strlen(path) : 0;
    strcpy(path + n, "/notes");
    CHECK(n && notes && setenv("GNOMON_RUN_NOTES", path, 1) == 0);
    if (notes)
        fclose(notes);
}

static void be_child(const a_fault *f)
{
    sigset_t before, after;
    gnomon_profile *whole = full_of("0");
    bytes b = bytes_of(whole, "gnomon");
    FILE *profile = fopen("profile.gnomon", "w");
    CHECK(profile && fwrite(b.at, 1, b.size, profile) == b.size);
    if (profile)
        fclose(profile);
    gnomon_profile_free(whole);
    free(b.at);
    FILE *spec = fopen("spec", "w");
    int status;
    *child_path = 0; /* the parent cleans up */
    test_failures = 0;
    expect_notes();
    CHECK_EQ(symlink(".", "link"), 0);
    if (spec) {
        fputs("passthrough\n", spec);
        fclose(spec);
    }
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    int saved = dup(2), fds = count_files("/proc/self/fd", "");
    dup2(err, 2);
    alarm(HANG_AFTER);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    set_fault(f);
    run_all();
    status = is_reached(f) ? REACHED : NOT_REACHED;
    set_fault(&none);
    gnomon__test_fail_allocation(0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    int masks = !f->name || strcmp(f->name, "pthread_sigmask") == 0;
    for (int i = 1; i < 32 && !masks; i++)
        CHECK_EQ(sigismember(&after, i), sigismember(&before, i));
    dup2(saved, 2);
    if (status == REACHED) {
        check_left(f, fds);
        dup2(err, 2);
        run_all(); /* as if nothing had been */
        uint64_t heap = gnomon__heap_bytes();
        run_all();
        dup2(saved, 2);
        CHECK_EQ(gnomon__heap_bytes(), heap);
    }
    close(err);
    close(saved);
    exit(test_failures ? FAILED : status);
}

static int run_child(const a_fault *f)
{
    static int folders;
    char folder[32];
    int status = 0;
    child_folder();
    snprintf(folder, sizeof folder, "%d", folders++);
    CHECK(mkdir(folder, 0755) == 0 && chdir(folder) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_child(f);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        (WEXITSTATUS(status) != REACHED &&
         WEXITSTATUS(status) != NOT_REACHED)) {
        char *text = child_load("err");
        const int the_run_survives = 0;
        CHECK(the_run_survives);
        fprintf(stderr,
                "    call %llu of %s, %d times, error %d: status %x\n%s",
                (unsigned long long)f->n, f->name ? f->name : "all",
                f->many == 1 ? 1 : 99, f->error, (unsigned)status,
                text ? text : "");
        free(text);
    }
    if (!f->n)
        for (size_t i = 0; i < REPORTS; i++)
            undisturbed[i] = load_report(reports[i]);
    CHECK(chdir("..") == 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* ---- Failing each in turn --------------------------------------------------------- */

/* Every `many`-th, fewer where a child takes long; all in a soak. */
static uint64_t each(uint64_t many)
{
    return live_times(0, 1) ? 1 : many * EACH_RUN;
}

/* Of all names, each of the first calls is another one. */
enum { FIRST_CALLS = 40 };

/* Each call of `name` in turn, or each `stride`-th; from number $FAULT_FIRST on
 * where that is set. How many there are. */
static int fail_each(const char *name, uint64_t stride, uint64_t many,
                     int error)
{
    const char *first = getenv("FAULT_FIRST");
    a_fault f = {name, first ? strtoull(first, NULL, 10) : 1, many, error};
    if (!undisturbed[0])
        run_child(&none);
    while (f.n < MOST && !test_failures && run_child(&f) == REACHED)
        f.n += name || f.n > FIRST_CALLS ? stride : 1;
    CHECK(f.n < MOST);
    return (int)f.n - 1;
}

/* Calls that a normal run does not make: for a host's non-blocking descriptor, a
 * module that comes late, locked pages, a closed pipe, a signal that ends the
 * process, one whose main thread has ended, or after another failure. */
static int is_unreached(const char *name)
{
    static const char *const unreached_calls[] = {
        "dlinfo",           "fcntl",   "ftruncate",    "ioctl",
        "mprotect",         "munlock", "munmap",       "poll",
        "process_vm_readv", "raise",   "sigtimedwait", "statx",
        "unlinkat"};
    for (size_t i = 0; i < sizeof unreached_calls / sizeof *unreached_calls;
         i++)
        if (strcmp(unreached_calls[i], name) == 0)
            return 1;
    return 0;
}

static void fail_every_name(uint64_t many, int error)
{
    const char *name;
    for (size_t i = 0; (name = gnomon__test_call_name(i)) != NULL; i++)
        if (!CHECK(fail_each(name, each(1), many, error) || is_unreached(name)))
            fprintf(stderr, "    %s\n", name);
}

TEST(soak_each_call_fails_once)
{
    fail_every_name(1, 0);
}

/* From one call on each call of the name fails: no descriptor is left, or
 * the disk is full, for good. */
TEST(soak_each_name_fails_for_good)
{
    const char *name;
    for (size_t i = 0; (name = gnomon__test_call_name(i)) != NULL; i++)
        fail_each(name, each(5), UINT64_MAX, 0);
}

/* Every call fails. */
TEST(soak_the_system_fails_for_good)
{
    fail_each(NULL, each(60), UINT64_MAX, 0);
}

TEST(soak_each_allocation_fails)
{
    CHECK(fail_each(an_allocation, each(7), 1, 0) > 100);
}

/* Calls are interrupted by a signal, as with a host's handler without
 * SA_RESTART, or must wait: both are tried again, and the reports are
 * complete. */
TEST(soak_interruptions)
{
    static const char *const slow[] = {"open", "openat", "read", "write"};
    must_be_whole = 1;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        fail_each(slow[i], each(3), 1, EINTR);
    fail_each("write", each(3), 1, EAGAIN);
}

/* A file that seems to be gone must not be overwritten where it exists. */
TEST(files_that_seem_gone)
{
    static const char *const names[] = {"fstat", "open", "fstatat", "read"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fail_each(names[i], each(1), 1, ENOENT);
}

/* Each error code. */
TEST(soak_each_call_fails_with_each_error)
{
    static const int errors[] = {EPERM,  ENOENT, EIO,    EBADF, ENOMEM,
                                 EACCES, EEXIST, EISDIR, ENOSYS};
    if (!live_times(0, 1))
        SKIP("GNOMON_SOAK is not set");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        fail_every_name(1, errors[i]);
}

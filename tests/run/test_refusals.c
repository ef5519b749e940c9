/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control calls that are refused, wholly or in part: each returns its error,
 * does the rest, and does not change the next call.
 *
 * links: testing */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "child.h"
#include "marks.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "os_calls.h"
#include "probe_profile.h"
#include "sanitizer.h"
#undef stat

static char log_text[8192];

static void keep_log(const char *line)
{
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", line);
}

static void one_scope(void)
{
    gnomon_start("scope");
    pass(5);
    gnomon_stop("scope");
}

/* ---- Setup --------------------------------------------------------------- */

TEST(setup_asks_for_a_size)
{
    gnomon_setup_options none = {.has_rank = 1};
    CHECK_EQ(gnomon_setup(&none), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(),
              "gnomon_setup: set options.struct_size to sizeof options");
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

TEST(the_launcher_s_attempt_is_in_the_profile)
{
    gnomon_run_info run;
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("TORCHELASTIC_RESTART_COUNT", "3", 1);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    one_scope();
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_run(p, 1, &run), GNOMON_OK);
    CHECK_STR(run.attempt, "3");
    CHECK_EQ(run.rank, 1);
    gnomon_profile_free(p);
}

static int rank_of_the_run(void)
{
    gnomon_run_info run;
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_run(p, 1, &run), GNOMON_OK);
    gnomon_profile_free(p);
    return run.rank;
}

TEST(the_first_setup_with_a_rank_counts_for_all)
{
    gnomon_setup_options o = {
        .struct_size = sizeof o, .has_rank = 1, .rank = 2, .world_size = 2};
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    one_scope();
    CHECK_EQ(rank_of_the_run(), -1);
    CHECK_EQ(gnomon_setup(&o), GNOMON_EINVAL);
    CHECK_EQ(rank_of_the_run(), -1);
    o.rank = 1;
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    CHECK_EQ(rank_of_the_run(), 1);
    o.rank = 0;
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    CHECK_EQ(rank_of_the_run(), 1);
}

/* ---- Configuring --------------------------------------------------------- */

TEST(of_many_wrong_words_the_first_are_reported)
{
    gnomon__test_log = keep_log;
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "a1,b2,c3,d4,e5,f6,g7,h8,i9,j10,k11,l12,m13,n14,"
                           "o15,p16,q17,r18,s19"),
             GNOMON_EINVAL);
    CHECK_EQ(times_in(log_text, "unknown profiler"), 16);
    CHECK_EQ(times_in(log_text, "gnomon: gnomon_attach: and 3 more\n"), 1);
}

TEST(uneven_sizes_are_shown_in_kibibytes)
{
    char spec[256];
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1100KiB"), GNOMON_OK);
    gnomon_spec(spec, sizeof spec);
    CHECK(strstr(spec, ",mem=1100KiB") != NULL);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
}

TEST(a_spec_s_file_for_which_there_is_no_memory)
{
    int reported = 0, done = 0;
    gnomon__test_log = keep_log;
    child_folder();
    FILE *f = fopen("spec", "w");
    fputs("passthrough", f);
    fclose(f);
    for (uint64_t n = 1; !done && CHECK(n < 200); n++) {
        gnomon__test_fail_allocation(n);
        int code = gnomon_attach(NULL, NULL, "@spec");
        done = gnomon__test_allocations() < n;
        gnomon__test_fail_allocation(0);
        CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM);
        reported += code == GNOMON_ENOMEM;
    }
    CHECK(reported > 3);
    CHECK_EQ(gnomon_attach(NULL, NULL, "@spec"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* ---- Attaching ----------------------------------------------------------- */

static int made, destroyed;

static int make_one(const gnomon_options *options, void **self)
{
    (void)options;
    *self = &made;
    made++;
    return GNOMON_OK;
}

static void destroy_one(void *self)
{
    CHECK(self == &made);
    destroyed++;
}

static void ignore_step(void *self, const gnomon_step_event *event)
{
    (void)self, (void)event;
}

static const gnomon_profiler maker = {.struct_size = sizeof maker,
                                      .abi = GNOMON_ABI,
                                      .name = "maker",
                                      .create = make_one,
                                      .step = ignore_step,
                                      .destroy = destroy_one};

TEST(a_profiler_that_does_not_fit_is_destroyed)
{
    static int selfs[31];
    gnomon__test_log = keep_log;
    CHECK_EQ(gnomon_host_get()->add_profiler(&maker), GNOMON_OK);
    for (int i = 0; i < 31; i++)
        CHECK_EQ(gnomon_attach(&maker, &selfs[i], NULL), GNOMON_OK);
    CHECK_EQ(made, 0); /* it was given a self */
    CHECK_EQ(gnomon_attach(NULL, NULL, "maker"), GNOMON_EFULL);
    CHECK_EQ(made, 1);
    CHECK_EQ(destroyed, 1);
    CHECK_EQ(gnomon_detach(&maker, &selfs[3]), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "maker"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(made, 2);
    CHECK_EQ(destroyed, 2);
}

TEST(a_wrong_preset_is_the_profiler_s)
{
    static const gnomon_option_info own[] = {
        {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "size", "large",
         "how many"},
        {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "", NULL,
         "has no name"},
        {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER,
         "an_option_with_a_name_of_more_than_forty_letters", NULL,
         "too long to be meant"},
        {.key = NULL},
    };
    gnomon_profiler wrong = maker;
    wrong.options = own;
    CHECK_EQ(gnomon_attach(&wrong, NULL, NULL), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(),
              "maker: its preset size=large: say a whole number");
    wrong.options = own + 1;
    CHECK_EQ(gnomon_attach(&wrong, NULL, "filtre=a"), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "did you mean 'filter'?") != NULL);
    CHECK_EQ(gnomon_attach(&wrong, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&wrong, NULL), GNOMON_OK);
}

TEST(no_address_space_to_record_in)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    gnomon__test_fail_calls("mmap", 1, UINT64_MAX, 0);
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_ENOMEM);
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_STR(gnomon_error_text(), "no address space to record in");
    attach_probe();
}

static int fail_setup(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    return GNOMON_EIO;
}

TEST(a_setup_that_fails_is_reported_each_time)
{
    gnomon_profiler fails = probe;
    fails.setup = fail_setup;
    gnomon__test_log = keep_log;
    CHECK_EQ(gnomon_attach(&fails, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    one_scope();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    CHECK_EQ(times_in(log_text, "gnomon: probe: setup failed (GNOMON_EIO); it "
                                "goes on\n"),
             3);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "scope"), 1);
    gnomon_profile_free(p);
}

/* ---- A slow callback ----------------------------------------------------- */

static int is_inside, may_leave;

static void stay(void *self, const gnomon_mark_event *event)
{
    (void)self, (void)event;
    store_release(&is_inside, 1);
    while (!load_acquire(&may_leave))
        usleep(1000);
}

static const gnomon_profiler slow = {.struct_size = sizeof slow,
                                     .abi = GNOMON_ABI,
                                     .name = "slow",
                                     .mark = stay};

static void *mark_slowly(void *unused)
{
    GNOMON_MARK("mark");
    return unused;
}

static pthread_t start_staying(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, mark_slowly, NULL), 0);
    while (!load_acquire(&is_inside))
        usleep(1000);
    return thread;
}

static void let_go(pthread_t thread)
{
    store_release(&may_leave, 1);
    pthread_join(thread, NULL);
}

TEST(a_callback_may_run_for_a_second_before_detach_gives_up)
{
    CHECK_EQ(gnomon_attach(&slow, NULL, NULL), GNOMON_OK);
    pthread_t thread = start_staying();
    CHECK_EQ(gnomon_detach(&slow, NULL), GNOMON_EBUSY);
    CHECK_STR(gnomon_error_text(),
              "a callback of the profiler has been running for a second: "
              "detach again when it is over");
    store_release(&is_inside, 0);
    mark_slowly(NULL); /* no callback is called any more */
    CHECK_EQ(is_inside, 0);
    let_go(thread);
    CHECK_EQ(gnomon_detach(&slow, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&slow, NULL), GNOMON_ENOENT);
}

TEST(configure_reports_a_callback_that_still_runs)
{
    gnomon__test_log = keep_log;
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "slow"), GNOMON_OK);
    pthread_t thread = start_staying();
    gnomon_attach(NULL, NULL, "");
    CHECK_EQ(times_in(log_text, "gnomon: slow: a callback of the profiler has "
                                "been running for a second"),
             1);
    let_go(thread);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_enabled, 0);
}

/* ---- Reports ------------------------------------------------------------- */

TEST(an_unknown_letter_in_a_file_s_name_is_reported)
{
    gnomon__test_log = keep_log;
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(file=a%z.txt)"), GNOMON_OK);
    one_scope();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK(*log_text);
}

/* Another process has written there: both reports are kept, whatever fails. */
TEST(a_second_report_for_which_there_is_no_memory)
{
    int done = 0, reported = 0;
    gnomon__test_log = keep_log;
    child_folder();
    int kept = dup(2), null = open("/dev/null", O_WRONLY);
    for (uint64_t n = 1; !done && CHECK(n < 300); n++) {
        char file[32], spec[64];
        snprintf(file, sizeof file, "%d.txt", (int)n);
        snprintf(spec, sizeof spec, "simple(file=%s)", file);
        CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
        one_scope();
        if (n == 1)
            child_next_tick();
        FILE *f = fopen(file, "w");
        fputs("theirs\n", f);
        fclose(f);
        *log_text = 0;
        dup2(null, 2);
        gnomon__test_fail_allocation(n);
        gnomon_attach(NULL, NULL, "");
        done = gnomon__test_allocations() < n;
        gnomon__test_fail_allocation(0);
        dup2(kept, 2);
        reported += times_in(log_text, "cannot write the report") == 1;
        CHECK_STR(child_read(file), "theirs\n");
    }
    CHECK(reported > 0);
    CHECK_EQ(times_in(log_text, "another process wrote"), 1);
}

/* ---- Forks --------------------------------------------------------------- */

/* Its status: 0 for success. Its coverage counts are written, as exit does. */
static void check_child(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void be_child(void)
{
    *child_path = 0; /* the parent's folder */
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    one_scope();
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "scope"), 1);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(gnomon_teardown(),
             GNOMON_ESTATE); /* the parent's scopes are not its own */
    exit(test_failures != 0);
}

TEST(a_child_nests_its_own_setups)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    one_scope();
    pid_t child = fork();
    if (child == 0)
        be_child();
    check_child(child);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static pid_t child_of_callback;

static void fork_in_mark(void *self, const gnomon_mark_event *event)
{
    (void)self, (void)event;
    child_of_callback = fork();
}

TEST(a_child_of_a_callback_starts_when_it_asks)
{
    gnomon_profiler forks = slow;
    forks.mark = fork_in_mark;
    CHECK_EQ(gnomon_attach(&forks, NULL, NULL), GNOMON_OK);
    GNOMON_MARK("mark");
    if (child_of_callback == 0)
        be_child();
    check_child(child_of_callback);
}

static int file_codes[2]; /* of the parent, of the child */

static int fork_and_report(void *self, const gnomon_profile *p,
                           const gnomon_writer *out)
{
    (void)self, (void)p;
    child_of_callback = fork();
    int is_child = child_of_callback == 0;
    file_codes[is_child] =
        out->file(out, is_child ? "child" : "parent", ".bin", "1", 1);
    return out->print(out, "report\n");
}

/* Files belong to the parent: a child that returns from a report leaves them
 * alone. */
TEST(a_child_of_a_report_writes_nothing)
{
    gnomon_profiler forks = probe;
    forks.summary = fork_and_report;
    child_folder();
    CHECK_EQ(gnomon_attach(&forks, NULL, "dir=text"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&probe, NULL, "file=%p.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    one_scope();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    if (child_of_callback == 0) {
        CHECK_EQ(file_codes[1], GNOMON_ESTATE);
        *child_path = 0; /* the parent's folder */
        exit(test_failures != 0);
    }
    check_child(child_of_callback);
    CHECK_EQ(file_codes[0], GNOMON_OK);
    child_result r =
        child_run("/bin/ls", NULL, (const char *[]){".", "text", NULL});
    CHECK_EQ(times_in(r.out, ".gnomon\n"), 1);
    CHECK_EQ(times_in(r.out, "text:\nfit-probe-parent.bin\nfit-probe.txt\n"),
             1);
    CHECK_EQ(times_in(r.out, "child"), 0);
}

/* The state of the parent's thread is not ended by its copy in the child. */
static void *fork_and_end(void *unused)
{
    one_scope();
    pid_t child = fork();
    if (child == 0)
        pthread_exit(NULL); /* the last one: the process ends well */
    check_child(child);
    one_scope();
    return unused;
}

TEST(a_thread_that_ends_in_a_child)
{
#if IS_TSAN
    SKIP("the sanitizer knows no thread any more when its handlers run");
#endif
    attach_probe();
    on_thread(fork_and_end, NULL);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "scope"), 2);
    gnomon_profile_free(p);
}

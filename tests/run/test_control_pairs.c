/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * Each control call before each other one, as a process's first two: what each does to
 * the other is as a small model of the run says, or a code. */
#include <sys/wait.h>
#include <unistd.h>

#include "gnomon/report.h"
#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

/* What the calls so far have made of the run. */
static struct {
    int has_variable;
    int is_decided; /* by $GNOMON, configure or a setup's spec */
    int has_simple;
    int setups, has_stage, has_keeper;
    int is_over; /* by a teardown: marks do not begin the next one */
} run;

/* $GNOMON is read by the first call that needs to know. */
static void read_variable(void)
{
    if (!run.is_decided && run.has_variable)
        run.is_decided = run.has_simple = 1;
}

static void set_up_with(const char *spec)
{
    gnomon_setup_options o = {.struct_size = sizeof o, .spec = spec};
    read_variable();
    if (!run.setups && !run.is_decided && spec)
        run.is_decided = run.has_simple = 1;
    run.setups++;
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
}

static void set_up(void)
{
    set_up_with(NULL);
}

static void set_up_simple(void)
{
    set_up_with("simple(file=/dev/null)");
}

static void tear_down(void)
{
    CHECK_EQ(gnomon_teardown(), run.setups ? GNOMON_OK : GNOMON_ESTATE);
    if (run.setups && --run.setups == 0) {
        run.is_decided = run.has_simple = run.has_stage = 0;
        run.is_over = 1;
    }
}

static void configure_simple(void)
{
    run.is_decided = run.has_simple = 1;
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(file=/dev/null)"), GNOMON_OK);
}

static void configure_nothing(void)
{
    run.is_decided = 1;
    run.has_simple = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

static void begin_stage(void)
{
    read_variable();
    run.has_stage = 1;
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
}

static void end_stage(void)
{
    CHECK_EQ(gnomon_stage_end(), run.has_stage ? GNOMON_OK : GNOMON_ESTATE);
    run.has_stage = 0;
}

static void attach(void)
{
    read_variable();
    run.has_keeper++;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
}

static void detach(void)
{
    CHECK_EQ(gnomon_detach(&keeper, NULL),
             run.has_keeper ? GNOMON_OK : GNOMON_ENOENT);
    run.has_keeper -= run.has_keeper > 0;
}

static void register_keeper(void)
{
    CHECK_EQ(gnomon_host_get()->add_profiler(&keeper), GNOMON_OK);
}

static void ask_spec(void)
{
    read_variable();
    CHECK_EQ(gnomon_spec(NULL, 0) > 0, run.has_simple);
}

static void snapshot(void)
{
    gnomon_profile *p = NULL;
    read_variable();
    CHECK_EQ(gnomon_snapshot(&p, "simple", 1),
             run.has_simple ? GNOMON_OK : GNOMON_ENOENT);
    gnomon_profile_free(p);
}

static int write_nothing(const gnomon_writer *out, const void *bytes, size_t n)
{
    (void)out, (void)bytes, (void)n;
    return GNOMON_OK;
}

static void summarize(void)
{
    gnomon_writer out = {.struct_size = sizeof out, .write = write_nothing};
    read_variable();
    CHECK_EQ(gnomon_summary("simple", &out),
             run.has_simple ? GNOMON_OK : GNOMON_ENOENT);
}

static void put_metadata(void)
{
    read_variable();
    CHECK_EQ(gnomon_metadata("key", "1"), GNOMON_OK);
}

static void name_file(void)
{
    char name[64];
    read_variable();
    CHECK(gnomon_host_get()->file_name("a-%p", name, sizeof name) > 0);
}

static void wait_for_device(void)
{
    CHECK_EQ(gnomon_device_wait(0), GNOMON_OK);
}

static const struct {
    const char *name;
    void (*make)(void);
} calls[] = {{"setup", set_up},
             {"setup with a spec", set_up_simple},
             {"teardown", tear_down},
             {"configure", configure_simple},
             {"configure with nothing", configure_nothing},
             {"stage_begin", begin_stage},
             {"stage_end", end_stage},
             {"attach", attach},
             {"detach", detach},
             {"register", register_keeper},
             {"spec", ask_spec},
             {"snapshot", snapshot},
             {"summary", summarize},
             {"metadata", put_metadata},
             {"file_name", name_file},
             {"device_wait", wait_for_device}};
#define CALLS (sizeof calls / sizeof *calls)

/* Both calls, and then whether a mark is recorded by whom it should be. */
static void make_both(size_t first, size_t second)
{
    calls[first].make();
    calls[second].make();
    if (!run.is_over)
        read_variable();
    int is_recorded = run.has_simple;
    {
        GNOMON_SCOPE("mark");
    }
    if (is_recorded)
        CHECK_EQ(live_count_of("simple", "mark"), 1);
    if (run.has_keeper)
        CHECK_EQ(live_count_of("keeper", "mark"), 1);
    snapshot();
    ask_spec();
    live_check_no_trouble();
    if (test_failures)
        fprintf(stderr, "    %s, then %s\n", calls[first].name,
                calls[second].name);
}

static void make_all_pairs(void)
{
    for (size_t pair = 0; pair < CALLS * CALLS; pair++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            test_failures = 0;
            make_both(pair / CALLS, pair % CALLS);
            _exit(test_failures != 0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
}

TEST(without_the_variable)
{
    unsetenv("GNOMON");
    make_all_pairs();
}

TEST(with_the_variable)
{
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    run.has_variable = 1;
    make_all_pairs();
}

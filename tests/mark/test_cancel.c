/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pthread_cancel in the calls of gnomon: requested before the call, and at
 * each of its system calls on the same thread, with both types. The call
 * does its work and returns; an asynchronous cancellation may act as it
 * returns. Nothing stays locked, open or allocated, and the process ends
 * with its reports.
 *
 * links: testing
 * optimized: yes
 * labels: guest
 * timeout: 300 */
#include "cancelling.h"
#include "fake_device.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"

#define SPEC \
    "simple(file=report.txt),waiter(file=waited.txt)," CHILD_PLUGIN( \
        "passthrough")

/* ---- A profiler that waits in each of its callbacks ---------------------------- */

static int waiter_create(const gnomon_options *options, void **self)
{
    (void)options;
    *self = &waits;
    wait_a_bit();
    return GNOMON_OK;
}

static int waiter_setup(void *self, const gnomon_run_info *run,
                        const char *stage)
{
    (void)self, (void)run, (void)stage;
    wait_a_bit();
    return GNOMON_OK;
}

static int waiter_summary(void *self, const gnomon_profile *profile,
                          const gnomon_writer *out)
{
    (void)self, (void)profile;
    wait_a_bit();
    return out->print(out, "waited\n");
}

static void waiter_teardown(void *self, const char *stage)
{
    (void)self, (void)stage;
    wait_a_bit();
}

static void waiter_destroy(void *self)
{
    (void)self;
    wait_a_bit();
}

static void waiter_window(void *self, const gnomon_window_event *event)
{
    (void)self, (void)event;
    wait_a_bit();
}

static const gnomon_profiler waiter = {
    .struct_size = sizeof waiter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "waiter",
    .create = waiter_create,
    .setup = waiter_setup,
    .summary = waiter_summary,
    .teardown = waiter_teardown,
    .destroy = waiter_destroy,
    .window = waiter_window,
};

/* Of scopes that a thread's end leaves open. */
static void waiter_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)slot;
    if (frame->flags & GNOMON_FRAME_UNFINISHED)
        wait_a_bit();
}

static const gnomon_profiler hook = {
    .struct_size = sizeof hook,
    .abi = GNOMON_ABI,
    .name = "hook",
    .stop = waiter_stop,
};

static int waiter_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    (void)writer, (void)bytes, (void)size;
    wait_a_bit();
    return GNOMON_OK;
}

static int waiter_print(const gnomon_writer *writer, const char *format, ...)
    GNOMON_PRINTF(2, 3);
static int waiter_print(const gnomon_writer *writer, const char *format, ...)
{
    (void)writer, (void)format;
    return GNOMON_OK;
}

static const gnomon_writer waiting_writer = {.struct_size =
                                                 sizeof waiting_writer,
                                             .write = waiter_write,
                                             .print = waiter_print};

/* ---- The calls ----------------------------------------------------------- */

static void work(void)
{
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("work");
        pass(1000);
    }
}

static void set_environment(void)
{
    setenv("GNOMON", "simple(file=report.txt)," CHILD_PLUGIN("passthrough"), 1);
}

static void know_waiter(void)
{
    CHECK_EQ(gnomon_host_get()->add_profiler(&waiter), GNOMON_OK);
}

static void configure(void)
{
    know_waiter();
    CHECK_EQ(gnomon_attach(NULL, NULL, SPEC), GNOMON_OK);
    work();
}

static void set_up(void)
{
    gnomon_setup_options o = {.struct_size = sizeof o, .spec = SPEC};
    know_waiter();
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    work();
}

static void begin_stage(void)
{
    configure();
    CHECK_EQ(gnomon_stage_begin("first"), GNOMON_OK);
    work();
}

static void call_setup(void)
{
    gnomon_setup_options o = {
        .struct_size = sizeof o, .spec = SPEC, .dir = "logs"};
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
}

/* Reads a file, loads a plugin, makes threads. */
static void write_spec(void)
{
    FILE *f = fopen("spec", "w");
    know_waiter();
    if (!CHECK(f))
        return;
    fputs("passthrough\n", f);
    fclose(f);
}

static void call_configure(void)
{
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "@spec," SPEC ",profile(file=kept.gnomon),"
                           "simple(file=deep/down.txt,"
                           "schedule=wait:1/active:1/repeat:0)"),
             GNOMON_OK);
}

/* A line reports it, and the rest works. */
static void call_configure_wrong(void)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, SPEC ",nobody"), GNOMON_EINVAL);
}

static void call_configure_nothing(void)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

static void configure_profiles(void)
{
    know_waiter();
    call_configure_nothing();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           SPEC ",profile(file=kept.gnomon),advanced(file="
                                "more.txt,dump_stats=run),simple(file="
                                "deep/down.txt,schedule=wait:1/active:1)"),
             GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("first"), GNOMON_OK);
    work();
    gnomon_step();
    work();
}

static void call_teardown(void)
{
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static void call_stage_begin(void)
{
    CHECK_EQ(gnomon_stage_begin("second"), GNOMON_OK);
}

static void call_stage_end(void)
{
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

static void call_attach(void)
{
    CHECK_EQ(gnomon_attach(&waiter, NULL, "file=attached.txt"), GNOMON_OK);
}

static void attach_all(void)
{
    configure();
    call_attach();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    work();
}

static void call_detach(void)
{
    CHECK_EQ(gnomon_detach(&waiter, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
}

static void call_small_ones(void)
{
    char spec[256];
    gnomon_open_scope open[8] = {{.struct_size = sizeof *open}};
    gnomon_health health = {.struct_size = sizeof health};
    CHECK_EQ(gnomon_host_get()->add_profiler(&hook), GNOMON_OK);
    CHECK_EQ(gnomon_metadata("key", "1"), GNOMON_OK);
    CHECK(gnomon_spec(spec, sizeof spec) > 0);
    CHECK(gnomon_thread_count() > 0);
    CHECK(gnomon_thread_stack(0, open, 8) >= 0);
    gnomon_health_get(&health);
    gnomon_thread_name("renamed");
    gnomon_stop("never started");
}

static void call_summary(void)
{
    CHECK_EQ(gnomon_summary("simple", &waiting_writer), GNOMON_OK);
    CHECK_EQ(gnomon_summary("waiter", &waiting_writer), GNOMON_OK);
}

static gnomon_profile *taken; /* also by a thread that ended */

static void free_taken(void)
{
    CHECK(taken != NULL);
    gnomon_profile_free(taken);
}

static void call_snapshot(void)
{
    CHECK_EQ(gnomon_snapshot(&taken, "simple", 1), GNOMON_OK);
}

static void set_environment_to_wait(void)
{
    know_waiter();
    call_configure_nothing();
    CHECK_EQ(gnomon_attach(NULL, NULL, SPEC), GNOMON_OK);
}

static void keep_profile(void)
{
    configure_profiles();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

static void call_load(void)
{
    if (!CHECK_EQ(gnomon_profile_load(&taken, "kept.gnomon"), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
}

static void take_one(void)
{
    configure();
    call_snapshot();
}

static void call_write(void)
{
    CHECK_EQ(gnomon_write(taken, "gnomon", &waiting_writer), GNOMON_OK);
    CHECK_EQ(gnomon_write(taken, "json", &waiting_writer), GNOMON_OK);
}

static void attach_hook(void)
{
    configure();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
}

/* The call ends the thread, after its destructors. */
static void leave_open(void)
{
    gnomon_begin(gnomon_region_get("left open", NULL, GNOMON_KIND_SCOPE));
}

static void check_thread_is_over(void)
{
    gnomon_health h = live_health();
    CHECK(h.left_open == 1 || the_run.way == ASYNCHRONOUS);
    CHECK_EQ(h.threads, 1);
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
}

static void attach_scheduled(void)
{
    configure();
    CHECK_EQ(gnomon_attach(&waiter, NULL,
                           "file=attached.txt,schedule=wait:1/active:1"),
             GNOMON_OK);
}

static void call_steps(void)
{
    for (int i = 0; i < 4; i++) {
        gnomon_mark(gnomon_region_get("moment", NULL, GNOMON_KIND_MARK));
        gnomon_step();
    }
}

/* Its callbacks get each window, whichever thread makes the step. */
static void check_windows(void)
{
    int before = load_relaxed(&waits);
    CHECK_EQ(gnomon_stage_begin("again"), GNOMON_OK);
    call_steps();
    CHECK(load_relaxed(&waits) > before + 3);
}

/* ---- Scopes on a device whose driver waits --------------------------------------- */

static gnomon_device slow_toy;
static toy_stream *slow_stream;
static const gnomon_profiler timed = {.struct_size = sizeof timed,
                                      .abi = GNOMON_ABI,
                                      .wants =
                                          GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
                                      .name = "timed"};

static int slow_record(void *event, void *stream)
{
    if (pthread_equal(the_thread, pthread_self())) /* not the reader's */
        wait_a_bit();
    return toy_event_record(event, stream);
}

static void attach_timed(void)
{
    configure();
    slow_toy = toy;
    slow_toy.event_record = slow_record;
    slow_stream = toy_make_stream(toy_device_context(0));
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
}

static void call_on_device(void)
{
    GNOMON_REGION(r, "on the device", NULL);
    for (int i = 0; i < 3; i++)
        gnomon_end_on(gnomon_begin_on(&r, &slow_toy, slow_stream));
}

static void check_device(void)
{
    gnomon_health h = live_health();
    CHECK_EQ(h.timers_unended, 0);
    CHECK(h.left_open == 0 || the_run.way == ASYNCHRONOUS);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    CHECK_EQ(toy_faults, 0);
}

/* ---- A library whose constructor waits --------------------------------------------- */

static void load_waiting(void)
{
    void (*call)(void) = wait_a_bit;
    char address[32];
    uintptr_t at;
    memcpy(&at, &call, sizeof at);
    snprintf(address, sizeof address, "%llx", (unsigned long long)at);
    setenv("IN_CONSTRUCTOR", address, 1);
    setenv("GNOMON", "simple(file=report.txt)," CHILD_PLUGIN("constructor"), 1);
}

/* ---- The tests -------------------------------------------------------------------- */

#define CANCELLED(name, before, call, after, has_reader) \
    TEST(name) \
    { \
        static const scenario s = {before, call, after, has_reader}; \
        cancel_at_each(&s); \
    }

CANCELLED(the_first_mark, set_environment, work, NULL, 0)
CANCELLED(the_first_mark_that_loads, load_waiting, work, NULL, 0)
CANCELLED(setup, know_waiter, call_setup, NULL, 0)
CANCELLED(configure, write_spec, call_configure, NULL, 0)
CANCELLED(configure_with_a_complaint, know_waiter, call_configure_wrong, NULL,
          0)
CANCELLED(configure_nothing, begin_stage, call_configure_nothing, NULL, 0)
CANCELLED(teardown, set_up, call_teardown, NULL, 0)
CANCELLED(a_stage_s_begin, begin_stage, call_stage_begin, NULL, 0)
CANCELLED(a_stage_s_end_with_all_files, configure_profiles, call_stage_end,
          NULL, 0)
CANCELLED(attach, configure, call_attach, NULL, 0)
CANCELLED(detach, attach_all, call_detach, NULL, 0)
CANCELLED(small_ones, configure, call_small_ones, NULL, 0)
CANCELLED(a_summary, configure, call_summary, NULL, 0)
CANCELLED(a_snapshot, configure, call_snapshot, free_taken, 0)
CANCELLED(a_snapshot_first, set_environment_to_wait, call_snapshot, free_taken,
          0)
CANCELLED(a_profile_s_load, keep_profile, call_load, free_taken, 0)
CANCELLED(a_profile_s_writing, take_one, call_write, free_taken, 0)
CANCELLED(a_thread_s_end, attach_hook, leave_open, check_thread_is_over, 0)
CANCELLED(windows, attach_scheduled, call_steps, check_windows, 0)
CANCELLED(scopes_on_a_device, attach_timed, call_on_device, check_device, 1)

/* ---- The end of the process ------------------------------------------------------- */

static void end_with(enum way way)
{
    alarm(HANG_AFTER);
    *child_path = 0;
    if (!freopen("err", "w", stderr))
        _exit(DIED);
    configure();
    if (way == ASYNCHRONOUS)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    the_thread = pthread_self();
    the_run = (one_run){way, 1};
    gnomon__test_at_calls(at_call);
    store_release(&is_counting, way != BEFORE);
    if (way == BEFORE)
        pthread_cancel(pthread_self());
    exit(0);
}

/* libc may act on the cancellation after our reports: then the process ends
 * with its last thread. */
static void check_end_with(enum way way)
{
    int status = 0;
    run_left = mmap(NULL, sizeof *run_left, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        end_with(way);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    char *report = child_load("report.txt"), *waited = child_load("waited.txt");
    CHECK_EQ(times_in(report, "|  work"), 1);
    CHECK_EQ(times_in(waited, "waited"), 1);
    free(report);
    free(waited);
}

TEST(exit_with_a_cancel_pending)
{
    check_end_with(BEFORE);
}

TEST(exit_with_a_cancel_amid_the_report)
{
    check_end_with(DEFERRED);
}

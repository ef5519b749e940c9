/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profiler with a thread of its own that takes profiles all the time, as a metrics
 * exporter does. The thread is joined when the profiler goes: in its teardown, in
 * its destroy, or in neither. There is no deadlock.
 * links: static
 * labels: guest */
#include <signal.h>

#include "gnomon/profile.h"
#include "recording_threads.h"

#define TOO_LONG 60 /* seconds; what it takes is far below one */

typedef struct exporter {
    pthread_t thread;
    int runs, is_over, in_teardown, in_destroy;
    uint64_t taken;
} exporter;

static exporter one;

static void *export_all(void *argument)
{
    exporter *e = argument;
    while (!load_acquire(&e->is_over)) {
        gnomon_profile *p = NULL;
        int code = gnomon_snapshot(&p, "exporter", e->taken % 2);
        if (!code && CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
            store_release(&e->taken, e->taken + 1);
        else /* it is entering or leaving */
            CHECK(code == GNOMON_ENOENT || code == GNOMON_ESTATE);
        gnomon_profile_free(p);
    }
    return NULL;
}

static int setup(void *self, const gnomon_run_info *run, const char *stage)
{
    exporter *e = self;
    (void)run, (void)stage;
    if (e->runs++)
        return GNOMON_OK;
    store_release(&e->is_over, 0);
    return pthread_create(&e->thread, NULL, export_all, e) ? GNOMON_ENOMEM
                                                           : GNOMON_OK;
}

static void join(exporter *e)
{
    if (!e->runs)
        return;
    store_release(&e->is_over, 1);
    pthread_join(e->thread, NULL);
    e->runs = 0;
}

static int create(const gnomon_options *options, void **self)
{
    (void)options;
    *self = &one;
    return GNOMON_OK;
}

static void teardown(void *self, const char *stage)
{
    (void)stage;
    if (((exporter *)self)->in_teardown)
        join(self);
}

static void destroy(void *self)
{
    if (((exporter *)self)->in_destroy)
        join(self);
}

static const gnomon_profiler exporter_profiler = {
    .struct_size = sizeof exporter_profiler,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "exporter",
    .help = "takes profiles all the time",
    .create = create,
    .setup = setup,
    .teardown = teardown,
    .destroy = destroy,
};

/* ---- What the host does ----------------------------------------------------------- */

static void mark(void)
{
    for (int i = 0; i < 1000; i++) {
        GNOMON_SCOPE("outer");
        GNOMON_SCOPE("inner");
        gnomon_step();
    }
}

static void begin(void)
{
    CHECK_EQ(gnomon_host_get()->add_profiler(&exporter_profiler), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "exporter"), GNOMON_OK);
    mark();
}

/* While it exports. */
static void run_stages(void)
{
    begin();
    while (!load_acquire(&one.taken))
        usleep(100);
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(gnomon_stage_begin(i % 2 ? "validate" : "fit"), GNOMON_OK);
        mark();
    }
}

static void end_by_exit(void)
{
    run_stages();
}

static void end_by_configure(void)
{
    run_stages();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK(!one.in_destroy || !one.runs);
}

static void end_by_teardown(void)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    run_stages();
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static void end_by_signal(void)
{
    run_stages();
    raise(SIGTERM);
}

/* In a process of its own, which ends with `status`. */
static void play(void (*host)(void), int status)
{
    for (int where = 0; where < 4; where++) {
        int code = 0, waited = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            one.in_teardown = where & 1;
            one.in_destroy = where >> 1;
            host();
            exit(test_failures != 0);
        }
        while (waitpid(child, &code, WNOHANG) == 0 && waited++ < TOO_LONG * 100)
            usleep(10000);
        if (!CHECK(waited < TOO_LONG * 100)) {
            fprintf(stderr, "    joined in %d: it hangs\n", where);
            kill(child, SIGKILL);
            waitpid(child, &code, 0);
        }
        code = WIFEXITED(code) ? WEXITSTATUS(code) : 256 + WTERMSIG(code);
        if (!CHECK_EQ(code, status))
            return;
    }
}

TEST(at_a_plain_exit)
{
    play(end_by_exit, 0);
}

TEST(by_another_spec)
{
    play(end_by_configure, 0);
}

TEST(by_a_teardown)
{
    play(end_by_teardown, 0);
}

TEST(by_a_signal)
{
    play(end_by_signal, 256 + SIGTERM);
}

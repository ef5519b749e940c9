/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * labels: guest
 * timeout: 600
 * A process forks at a random moment while its threads make its first calls. The child
 * may have copies of locks that nobody holds any more: none of its calls hangs. Also where
 * the kernel wipes no page for children. A soak forks 2000 times in each way. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/raw_fork.h"
#include "recording_threads.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "os_calls.h"
#include "run/run.h"
#include "run/stage.h"
#include "stepping.h"

#define THREADS 3
#define LONGEST_SPIN 30000u
#define HANG_AFTER 20 /* seconds */

static pthread_barrier_t begin;

static void mark(void)
{
    GNOMON_SCOPE("mark");
}

static void *set_up(void *unused)
{
    pthread_barrier_wait(&begin);
    gnomon_setup(NULL);
    return unused;
}

static void *switch_stages(void *unused)
{
    pthread_barrier_wait(&begin);
    for (int i = 0; i < 20; i++) {
        gnomon_stage_begin("s");
        mark();
    }
    return unused;
}

static void *mark_first(void *unused)
{
    pthread_barrier_wait(&begin);
    mark();
    gnomon_start("action");
    gnomon_stop("action");
    return unused;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* The status of the child. */
static int live(uint32_t seed, pid_t (*forks)(void))
{
    static void *(*const calls[])(void *) = {set_up, switch_stages, mark_first};
    pthread_t threads[THREADS];
    int status = -1;
    uint32_t random = seed;
    if (next_random(&random) % 2)
        setenv("GNOMON", "simple(file=/dev/null)", 1);
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL,
                                calls[next_random(&random) % 3], NULL),
                 0);
    pthread_barrier_wait(&begin);
    for (volatile uint32_t n = next_random(&random) % LONGEST_SPIN; n; n--)
        continue;
    pid_t child = forks();
    if (child == 0) {
        alarm(HANG_AFTER);
        mark();
        gnomon_setup(NULL);
        mark();
        gnomon_stage_begin("of the child");
        gnomon_start("action");
        gnomon_stop("action");
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (status)
        fprintf(stderr, "    child: status %x\n", (unsigned)status);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return status;
}

/* Each life is a process that is new. */
static void fork_often(pid_t (*forks)(void), int is_wiped)
{
    if (IS_TSAN || (IS_ASAN && forks != fork))
        SKIP("the sanitizer's own locks stay taken in such children");
    long times = live_times(40, 2000);
    int ill = 0;
    alarm(3 * HANG_AFTER + (unsigned)times);
    for (long i = 0; i < times; i++) {
        int status = -1;
        pid_t life = fork();
        if (life == 0) {
            if (!is_wiped)
                gnomon__test_fail_calls("madvise", 1, UINT64_MAX, EINVAL);
            _exit(live((uint32_t)i, forks) != 0 || test_failures);
        }
        CHECK_EQ(waitpid(life, &status, 0), life);
        ill += status != 0;
        if (status)
            fprintf(stderr, "    life %ld: status %x\n", i, (unsigned)status);
    }
    CHECK_EQ(ill, 0);
}

/* ---- The loader ------------------------------------------------------------ */

static uint32_t is_forking;

static void note_fork(void)
{
    store_release(&is_forking, 1);
}

/* In a call that takes the loader's locks, until a fork has begun. */
static void *be_in_loader(void *unused)
{
    CHECK_EQ(gnomon__os_loader_enter(), 1);
    pthread_barrier_wait(&begin);
    while (!load_acquire(&is_forking))
        gnomon__os_sleep_ns(100000);
    gnomon__os_loader_leave();
    return unused;
}

/* Else its setup could load no plugin and start no thread. */
TEST(a_child_finds_the_loader_free)
{
    pthread_t thread;
    int status = -1;
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    mark();
    pthread_atfork(note_fork, NULL, NULL); /* runs before what came earlier */
    pthread_barrier_init(&begin, NULL, 2);
    CHECK_EQ(pthread_create(&thread, NULL, be_in_loader, NULL), 0);
    pthread_barrier_wait(&begin);
    pid_t child = fork();
    if (child == 0)
        _exit(!gnomon__os_loader_enter());
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    pthread_join(thread, NULL);
}

/* ---- The heap ---------------------------------------------------------------- */

static gnomon__whole_steps *steps_of_stage;

static int note_steps(void *self, const gnomon_profile *profile,
                      const gnomon_writer *out)
{
    (void)self, (void)profile, (void)out;
    steps_of_stage = (void *)(uintptr_t)gnomon__stage.reported.steps;
    return GNOMON_OK;
}

static const gnomon_profiler notes_steps = {.struct_size = sizeof notes_steps,
                                            .abi = GNOMON_ABI,
                                            .name = "notes_steps",
                                            .wants = GNOMON_WANT_TREE,
                                            .summary = note_steps};

/* A thread may be amid the end of a stage: what was kept of it is where it was. */
TEST(a_child_frees_no_block_that_had_moved)
{
    const gnomon_setup_options simple = {.struct_size = sizeof simple,
                                         .spec = "simple(file=/dev/null)"};
    int status = -1;
    if (IS_TSAN)
        SKIP("TSan lets no such child start a thread");
    CHECK_EQ(gnomon_attach(&notes_steps, NULL, ""), GNOMON_OK);
    gnomon_stage_begin("fit");
    gnomon_step();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    if (!CHECK(steps_of_stage && steps_of_stage->time.cells))
        return;
    gnomon__total *time = &steps_of_stage->time;
    gnomon_cell *cells = time->cells;
    time->cells = (void *)16;
    pid_t child = fork();
    if (child == 0) {
        int code = gnomon_setup(&simple);
        mark();
        gnomon_stage_begin("fit");
        gnomon_step();
        _exit(code || gnomon_stage_end() || gnomon_teardown());
    }
    time->cells = cells;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(gnomon_detach(&notes_steps, NULL), GNOMON_OK);
}

static sem_t is_stopped, may_go_on;
static pthread_t forker;
static uint32_t is_through;

static void stop_at_call(void)
{
    if (pthread_equal(forker, pthread_self()))
        return;
    sem_post(&is_stopped);
    sem_wait(&may_go_on);
}

static void *set_up_in_pieces(void *unused)
{
    gnomon_setup(NULL);
    store_release(&is_through, 1);
    sem_post(&is_stopped);
    return unused;
}

/* libc has a lock for those handlers too, and _Fork renews it no more than clone does. */
TEST(a_child_waits_for_no_registration_of_fork_handlers)
{
    pthread_t thread;
    int status = 0, registered = 0;
    uint64_t seen = 0;
    if (IS_SANITIZED)
        SKIP("the sanitizer's own locks stay taken in such children");
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    forker = pthread_self();
    sem_init(&is_stopped, 0, 0);
    sem_init(&may_go_on, 0, 0);
    gnomon__test_fail_calls("pthread_atfork", UINT64_MAX, 1, 0);
    gnomon__test_at_calls(stop_at_call);
    CHECK_EQ(pthread_create(&thread, NULL, set_up_in_pieces, NULL), 0);
    while (sem_wait(&is_stopped) == 0 && !load_acquire(&is_through)) {
        if (gnomon__test_calls() > seen) { /* it was the call before */
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
            registered++;
        }
        seen = gnomon__test_calls();
        pid_t child = bare_fork();
        if (child == 0)
            _exit(!gnomon__os_loader_enter());
        CHECK_EQ(waitpid(child, &status, 0), child);
        sem_post(&may_go_on);
    }
    gnomon__test_at_calls(NULL);
    pthread_join(thread, NULL);
    CHECK(registered > 0);
}

/* ---- Entries that are counted -------------------------------------------------- */

static int children, ill_children;

/* After each instruction, by one that finds no entry counted that is not there. */
static void look_in_child(int number, siginfo_t *info, void *context)
{
    int status = -1;
    (void)number, (void)info;
    if (!stepping_is_in_program(context))
        return;
    pid_t child = fork();
    if (child == 0) {
        size_t count;
        (void)gnomon__profilers_known(&count);
        uint32_t stages = gnomon__stage_name_count();
        int is_well = gnomon__profiler_named("no such") == NULL;
        for (uint32_t i = 0; i < stages; i++)
            is_well &= gnomon__stages_named(i) != NULL;
        _exit(!is_well || !gnomon__profiler_named("simple"));
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    ill_children += status != 0;
    children++;
}

static void make_entries(void)
{
    size_t count;
    (void)gnomon__profilers_known(&count);
    (void)gnomon__stage_name_number("fit");
}

/* Another thread may make them while the process forks. */
TEST(a_child_finds_what_is_counted)
{
    if (!CAN_STEP)
        SKIP("no single steps here");
    gnomon__free(gnomon__alloc(1)); /* the first one blocks signals */
    step_through(make_entries, look_in_child);
    if (!children)
        SKIP("no single steps here");
    CHECK(children > 100);
    CHECK_EQ(ill_children, 0);
}

/* ---- Random moments ---------------------------------------------------------- */

#define EACH_WAY(name, forks) \
    TEST(soak_##name) \
    { \
        fork_often(forks, 1); \
    } \
    TEST(soak_##name##_where_no_page_is_wiped) \
    { \
        fork_often(forks, 0); \
    }

EACH_WAY(fork, fork)
EACH_WAY(a_fork_without_handlers, bare_fork)
EACH_WAY(clone, raw_fork)

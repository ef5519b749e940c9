/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Four threads at once, each with a program of marks of its own: bytes of the input
 * in turn. Scopes end where they began or on another thread, ranges anywhere,
 * handlers mark, hooks come and go, stacks and profiles are read, children are
 * forked. Whatever the threads' order was: each scope is counted, once.
 * links: static */
#include "fuzz.h"
#include "live_profile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "recording_threads.h"

/* Of so many inputs TOGETHER the counts are checked: a check takes as long as one. */
enum { TOGETHER = 16 };
enum { THREADS = 4, REGIONS = 4, DEEP = 24, SLOTS = 4, ACTIONS = 2 };

LIVE_KEEPER(keeper, "keeper");

/* An execution that began and was not yet counted as ended is in one list of
 * a thread, or in a slot shared with another thread. */
typedef struct program {
    int number;
    const uint8_t *at;
    size_t left; /* bytes, each THREADS apart */
    uint32_t seed;
    gnomon_token open[DEEP];
    int count;
    int actions[ACTIONS]; /* open */
    uint64_t begun[REGIONS];
    uint64_t handled, acted;
} program;

static program programs[THREADS];
static gnomon_token posted[THREADS][SLOTS];
static gnomon_range ranges[SLOTS];
static uint64_t ranges_ended;
static pthread_barrier_t turns;
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static int has_hook, forks_left;
static uint64_t starts, stops;

static gnomon_region regions[REGIONS] = {
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r0", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r1", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r2", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r3", NULL, NULL),
};
static gnomon_region ranged =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "ranged", NULL, NULL);
static gnomon_region handled =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "handled", NULL, NULL);
static const char *const names[ACTIONS] = {"a0", "a1"};

/* ---- A hook ------------------------------------------------------------------ */

static void hook_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame;
    *slot = 1;
    add_relaxed(&starts, 1);
}

static void hook_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame;
    if (*slot != 1)
        abort();
    *slot = 2;
    add_relaxed(&stops, 1);
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = hook_start,
                                     .stop = hook_stop};

static void toggle_hook(void)
{
    int code = has_hook ? gnomon_detach(&hook, NULL)
                        : gnomon_attach(&hook, NULL, NULL);
    CHECK_EQ(code, GNOMON_OK);
    has_hook = !has_hook;
}

/* ---- One thread ---------------------------------------------------------------- */

static __thread program *mine;

static uint32_t next_byte(program *p)
{
    if (!p->left)
        return 0;
    uint32_t byte = *p->at;
    p->left--;
    p->at += THREADS;
    return byte;
}

static void in_handler(int number)
{
    (void)number;
    gnomon_end(gnomon_begin(&handled));
    mine->handled++;
}

static void forget(program *p, int at)
{
    p->count--;
    memmove(p->open + at, p->open + at + 1,
            (size_t)(p->count - at) * sizeof *p->open);
}

static void begin(program *p, uint32_t which)
{
    if (p->count == DEEP)
        return;
    p->open[p->count] = gnomon_begin(&regions[which % REGIONS]);
    p->begun[which % REGIONS]++;
    p->count++;
}

static void end(program *p, uint32_t how)
{
    if (!p->count)
        return;
    int at = how & 1 ? p->count - 1 : (int)(how / 4) % p->count;
    if (how & 2) { /* where a hook saw it, what is inside ends too */
        gnomon_end_alone(p->open[at]);
        forget(p, at);
        return;
    }
    gnomon_end(p->open[at]);
    /* And all open inner scopes, with one that was taken back. */
    while (p->count > at)
        gnomon_end(p->open[--p->count]);
}

static void post(program *p, uint32_t how)
{
    gnomon_token none = 0;
    if (!p->count)
        return;
    int at = (int)(how / 8) % p->count;
    if (p->open[at] && cas_acq_rel(&posted[how % THREADS][how / 8 % SLOTS],
                                   &none, p->open[at]))
        forget(p, at);
}

static void take(program *p, uint32_t how)
{
    gnomon_token token = swap_acq_rel(&posted[p->number][how % SLOTS], 0);
    if (how & 4)
        gnomon_end_alone(token);
    else
        gnomon_end(token);
}

static void act(program *p, uint32_t which)
{
    int *is_open = &p->actions[which % ACTIONS];
    if (*is_open)
        gnomon_stop(names[which % ACTIONS]);
    else
        gnomon_start(names[which % ACTIONS]);
    p->acted += (uint64_t)*is_open;
    *is_open = !*is_open;
}

static void range(uint32_t how)
{
    gnomon_range began = how & 1 ? gnomon_range_begin(&ranged) : 0;
    gnomon_range old = swap_acq_rel(&ranges[how / 2 % SLOTS], began);
    gnomon_range_end(old);
    add_relaxed(&ranges_ended, old != 0);
}

static void say(uint32_t how)
{
    GNOMON_COUNTER("counter", how);
    GNOMON_MARK("mark");
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    if (how & 1)
        gnomon_step();
}

static void read_profiles(uint32_t how)
{
    gnomon_open_scope open[DEEP] = {{.struct_size = sizeof *open}};
    (void)gnomon_thread_stack(how % (THREADS + 2), open, DEEP);
}

static void ask(uint32_t how)
{
    gnomon_profile *p;
    if (pthread_mutex_trylock(&control))
        return;
    if (how & 3)
        toggle_hook();
    else if ((p = live_snapshot("keeper")) != NULL)
        gnomon_profile_free(p);
    pthread_mutex_unlock(&control);
}

/* The child is silent, and must not hang or crash. */
static void have_child(program *p)
{
    int status = 0;
    if (pthread_mutex_trylock(&control))
        return;
    pid_t child = forks_left-- > 0 ? fork() : -1;
    if (child == 0) {
        begin(p, 0);
        take(p, 0);
        act(p, 0);
        range(1);
        end(p, 1);
        _exit(7);
    }
    pthread_mutex_unlock(&control);
    if (child < 0)
        return;
    pid_t ended;
    do /* libFuzzer's clock interrupts it */
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    CHECK_EQ(ended, child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void run(program *p)
{
    while (p->left) {
        uint32_t what = next_byte(p), how = next_byte(p);
        switch (what % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
            begin(p, how);
            break;
        case 4:
        case 5:
        case 6:
            end(p, how);
            break;
        case 7:
        case 8:
            post(p, how);
            break;
        case 9:
        case 10:
            take(p, how);
            break;
        case 11:
            act(p, how);
            break;
        case 12:
            range(how);
            break;
        case 13:
            say(how);
            break;
        case 14:
            read_profiles(how);
            if (how % 16 == 0)
                raise(SIGUSR1);
            break;
        default:
            if (how % 8 == 0)
                ask(how / 8);
            else if (how == 255)
                have_child(p);
        }
    }
}

/* Ends all open executions; then each thread marks once more, so that it
 * applies ends of others. */
static void tidy(program *p)
{
    pthread_barrier_wait(&turns);
    for (uint32_t i = 0; i < SLOTS; i++)
        take(p, i);
    pthread_barrier_wait(&turns);
    while (p->count)
        gnomon_end(p->open[--p->count]);
    for (uint32_t i = 0; i < ACTIONS; i++)
        if (p->actions[i])
            act(p, i);
    for (uint32_t i = 0; p->number == 0 && i < SLOTS; i++)
        range(2 * i);
    begin(p, 0);
    end(p, 1);
    pthread_barrier_wait(&turns);
}

static void *work(void *argument)
{
    program *p = mine = argument;
    for (;;) {
        pthread_barrier_wait(&turns);
        run(p);
        tidy(p);
    }
    return NULL;
}

/* ---- The process ----------------------------------------------------------------- */

static void start_all(void)
{
    pthread_t threads[THREADS];
    struct sigaction act = {.sa_handler = in_handler};
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    pthread_barrier_init(&turns, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        programs[i].number = i;
    live_start(threads, THREADS, work, programs, sizeof *programs);
    if (test_failures)
        abort();
}

static uint64_t sum_of(size_t field)
{
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++) {
        uint64_t one;
        memcpy(&one, (const char *)&programs[i] + field, sizeof one);
        sum += one;
    }
    return sum;
}

static void check_counts(void)
{
    gnomon_profile *p = live_snapshot("keeper");
    for (size_t r = 0; r < REGIONS; r++)
        CHECK_EQ(live_count(p, regions[r].name),
                 sum_of(offsetof(program, begun) + r * sizeof(uint64_t)));
    CHECK_EQ(live_count(p, "handled"), sum_of(offsetof(program, handled)));
    CHECK_EQ(live_count(p, "a0") + live_count(p, "a1"),
             sum_of(offsetof(program, acted)));
    CHECK_EQ(live_count(p, "ranged"), ranges_ended);
    gnomon_profile_free(p);
    gnomon_health h = live_health();
    CHECK_EQ(h.lost_scopes, 0);
    CHECK_EQ(h.reentered, 0);
}

/* With empty trees, whose counts were checked: the copy that a read makes grows with each new path. */
static void start_again(void)
{
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < THREADS; i++) {
        memset(programs[i].begun, 0, sizeof programs[i].begun);
        programs[i].handled = programs[i].acted = 0;
    }
    ranges_ended = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t inputs;
    if (!inputs)
        start_all();
    else if (inputs % TOGETHER == 0)
        start_again();
    for (size_t i = 0; i < THREADS; i++) {
        programs[i].at = data + i;
        programs[i].left = size > i ? (size - i + THREADS - 1) / THREADS : 0;
    }
    forks_left = inputs++ % 256 == 0; /* as slow as all others together */
    for (int i = 0; i < 4; i++)
        pthread_barrier_wait(&turns);
    if (has_hook)
        toggle_hook();
    CHECK_EQ(starts, stops);
    if (FUZZ_IS_REPLAY || inputs % TOGETHER == 0)
        check_counts();
    return fuzz_end();
}

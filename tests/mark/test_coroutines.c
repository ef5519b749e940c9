/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs that begin on one thread and end on another, as coroutines of a pool do. No
 * scope is missing from the counts, and memory does not grow with the jobs.
 * links: static
 * timeout: 300
 * labels: guest */
#include <semaphore.h>

#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

#define THREADS 4
#define JOBS 50000
#define AT_ONCE 16 /* jobs that are under way */

static gnomon_region job_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "job", NULL, NULL);

/* ---- A pool that always hands on ----------------------------------------------- */

typedef struct job {
    gnomon_token token;
    int begun;
    struct job *next;
} job;

typedef struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t bell;
    job *first, **last;
    int number, is_over;
    long mine; /* scopes that it has begun itself */
} worker;

static worker workers[THREADS];
static job jobs[20 * JOBS];
static sem_t room; /* for further jobs */
static long job_count;
static void (*end_job)(gnomon_token token);
static void (*now_and_then)(void); /* between jobs */

static void hand_to(int number, job *j)
{
    worker *w = &workers[number % THREADS];
    j->next = NULL;
    pthread_mutex_lock(&w->lock);
    *w->last = j;
    w->last = &j->next;
    pthread_cond_signal(&w->bell);
    pthread_mutex_unlock(&w->lock);
}

/* NULL: the pool ends. */
static job *next_job(worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->first && !w->is_over)
        pthread_cond_wait(&w->bell, &w->lock);
    job *j = w->first;
    if (j && !(w->first = j->next))
        w->last = &w->first;
    pthread_mutex_unlock(&w->lock);
    return j;
}

static void never_suspends(void)
{
    GNOMON_FUNCTION();
}

static void resume(worker *w, job *j)
{
    if (!j->begun) {
        j->begun = 1;
        j->token = gnomon_begin(&job_region);
        never_suspends();
        hand_to(w->number + 1 + (int)((j - jobs) % (THREADS - 1)), j);
        return;
    }
    end_job(j->token);
    sem_post(&room);
}

static void *work(void *worker_of)
{
    worker *w = worker_of;
    for (job *j = next_job(w); j; j = next_job(w))
        resume(w, j);
    return NULL;
}

static void start_pool(void)
{
    job_count = live_times(JOBS, 20 * JOBS);
    sem_init(&room, 0, AT_ONCE);
    for (int i = 0; i < THREADS; i++) {
        worker *w = &workers[i];
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->bell, NULL);
        w->last = &w->first;
        w->number = i;
        pthread_create(&w->thread, NULL, work, w);
    }
    for (long i = 0; i < job_count; i++) {
        while (sem_wait(&room))
            ;
        hand_to((int)(i % THREADS), &jobs[i]);
        if (now_and_then && i % 997 == 0)
            now_and_then();
    }
    for (int i = 0; i < AT_ONCE; i++)
        while (sem_wait(&room))
            ;
}

static void end_pool(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_lock(&workers[i].lock);
        workers[i].is_over = 1;
        pthread_cond_signal(&workers[i].bell);
        pthread_mutex_unlock(&workers[i].lock);
        pthread_join(workers[i].thread, NULL);
    }
}

/* ---- What must hold --------------------------------------------------------------- */

static int depth_of(const gnomon_profile *p)
{
    int most = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n = {.parent = (uint32_t)i};
        int depth = 0;
        for (; n.parent; depth++)
            gnomon_profile_node(p, n.parent, &n);
        most = depth > most ? depth : most;
    }
    return most;
}

static void check_counts(const char *name, int most_deep)
{
    gnomon_profile *p = live_snapshot(name);
    gnomon_health h = live_health();
    CHECK_EQ(live_count(p, "never_suspends"), job_count);
    CHECK_EQ(live_count(p, "job") + (long long)h.foreign, job_count);
    CHECK_EQ(live_count(p, "(other)"), 0);
    CHECK_EQ(h.crossed + h.unmatched + h.left_open + h.lost_scopes, 0);
    CHECK_EQ(h.too_deep + h.reentered + h.lost_frames, 0);
    if (!CHECK(depth_of(p) <= most_deep))
        fprintf(stderr, "    %d deep\n", depth_of(p));
    gnomon_profile_free(p);
}

static void run_jobs(const char *name, int most_deep)
{
    end_job = end_job ? end_job : gnomon_end;
    start_pool();
    check_counts(name, most_deep); /* while all threads wait for work, too */
    CHECK_EQ(live_health().foreign, 0);
    end_pool();
    check_counts(name, most_deep);
}

TEST(jobs_that_move_are_counted_where_they_began)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    run_jobs("keeper", AT_ONCE + 2);
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
}

TEST(jobs_that_move_are_counted_under_simple)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    run_jobs("simple", AT_ONCE + 2);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

TEST(ends_that_leave_others_open_are_counted)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    end_job = gnomon_end_alone;
    run_jobs("keeper", AT_ONCE + 2);
}

/* ---- With concurrent reads and changes ----------------------------------- */

static void begin_stage(void)
{
    CHECK_EQ(gnomon_stage_begin("stage"), GNOMON_OK);
    gnomon_profile_free(live_snapshot("keeper"));
}

TEST(jobs_move_while_stages_end)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    now_and_then = begin_stage;
    run_jobs("keeper", 4 * AT_ONCE);
}

static uint32_t readers_end;

static void *read_until_the_end(void *unused)
{
    while (!load_acquire(&readers_end))
        gnomon_profile_free(live_snapshot("keeper"));
    return unused;
}

/* A reader makes the ends of threads that are outside of marks. */
TEST(jobs_move_while_others_read)
{
    pthread_t reader;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    end_job = gnomon_end;
    CHECK_EQ(pthread_create(&reader, NULL, read_until_the_end, NULL), 0);
    start_pool();
    store_release(&readers_end, 1);
    pthread_join(reader, NULL);
    check_counts("keeper", AT_ONCE + 2);
    end_pool();
    check_counts("keeper", AT_ONCE + 2);
}

LIVE_KEEPER(other, "other");

static void come_and_go(void)
{
    static int is_there;
    CHECK_EQ(is_there ? gnomon_detach(&other, NULL)
                      : gnomon_attach(&other, NULL, NULL),
             GNOMON_OK);
    is_there = !is_there;
}

TEST(jobs_move_while_another_tree_comes_and_goes)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    now_and_then = come_and_go;
    run_jobs("keeper", AT_ONCE + 2);
}

/* ---- Hooks ------------------------------------------------------------------------ */

static uint64_t starts, stops, moved, faults;

static void see_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    add_relaxed(&starts, 1);
    *slot = frame->token;
}

static __thread uint64_t own_number; /* plus 1 */

static void see_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    own_number = own_number ? own_number : frame->thread + 1;
    add_relaxed(&stops, 1);
    if (frame->flags & GNOMON_FRAME_FOREIGN)
        add_relaxed(&moved, 1);
    if (*slot != frame->token || own_number != frame->thread + 1 ||
        (frame->flags & ~(uint32_t)GNOMON_FRAME_FOREIGN))
        add_relaxed(&faults, 1);
}

static const gnomon_profiler watching = {.struct_size = sizeof watching,
                                         .abi = GNOMON_ABI,
                                         .name = "watching",
                                         .start = see_start,
                                         .stop = see_stop};

TEST(hooks_get_each_stop_once_on_the_thread_of_its_start)
{
    CHECK_EQ(gnomon_attach(&watching, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    end_job = gnomon_end;
    start_pool();
    end_pool(); /* hooks are called at their thread's next mark, or at its end */
    check_counts("keeper", AT_ONCE + 2);
    CHECK_EQ(starts, 2 * job_count);
    CHECK_EQ(stops, 2 * job_count);
    CHECK_EQ(moved, job_count);
    CHECK_EQ(faults, 0);
    CHECK_EQ(live_health().foreign, 0);
}

TEST(hooks_get_each_stop_once_without_a_tree)
{
    CHECK_EQ(gnomon_attach(&watching, NULL, NULL), GNOMON_OK);
    end_job = gnomon_end;
    start_pool();
    end_pool();
    CHECK_EQ(starts, 2 * job_count);
    CHECK_EQ(stops, 2 * job_count);
    CHECK_EQ(moved, job_count);
    CHECK_EQ(faults, 0);
}

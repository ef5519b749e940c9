/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What random programs are made of: regions, filters, profilers that check
 * their callbacks, and threads that take turns. */
#ifndef GNOMON_TESTS_MODEL_WORLD_H
#define GNOMON_TESTS_MODEL_WORLD_H

#include <semaphore.h>

#include "mark/arena.h"
#include "mark/tree.h"
#include "model_compare.h"

/* ---- What programs mark ------------------------------------------------------ */

static const struct {
    const char *name, *category;
    char letter; /* the category, for filters */
} names[MODEL_REGIONS] = {
    {"s0", "x", 's'}, {"s1", "y", 's'}, {"s2", "x", 's'}, {"s3", "", 's'},
    {"a0", "", 'a'},  {"a1", "", 'a'},  {"a2", "", 'a'},  {"a3", "", 'a'},
    {"r0", "x", 'r'}, {"r1", "", 'r'},  {"m0", "x", 'm'}, {"m1", "", 'm'},
    {"c0", "", 'c'},  {"c1", "y", 'c'}, {"s4", "y", 's'}, {"s5", "", 's'},
};
static gnomon_region *regions[MODEL_REGIONS];
static const int scopes[] = {0, 1, 2, 3, 14, 15};

static const char *model_region_name(int region)
{
    return region == MODEL_OTHER ? "(other)" : names[region].name;
}

static const char *const filters[] = {NULL,
                                      NULL,
                                      "filter=s*",
                                      "filter=a?|r0",
                                      "exclude=s1|a1",
                                      "filter=@x",
                                      "filter=s*|@x,exclude=s0"};

/* The same seven, in C. */
static int model_takes(int filter, int region)
{
    char l = names[region].letter, digit = names[region].name[1];
    int in_x = names[region].category[0] == 'x';
    switch (filter) {
    case 2:
        return l == 's';
    case 3:
        return l == 'a' || (l == 'r' && digit == '0');
    case 4:
        return !((l == 's' || l == 'a') && digit == '1');
    case 5:
        return in_x;
    case 6:
        return (l == 's' || in_x) && !(l == 's' && digit == '0');
    default:
        return 1;
    }
}

/* Schedules: steps skipped at first, then cycles of waiting, warming up and
 * recording steps, and the number of cycles; 0 recording steps: all are
 * recorded. */
static const struct {
    const char *words;
    uint64_t skipped, waited, warmed, recorded, cycles;
} schedules[] = {
    {NULL, 0, 0, 0, 0, 0},
    {NULL, 0, 0, 0, 0, 0},
    {NULL, 0, 0, 0, 0, 0},
    {"schedule=wait:1/active:1", 0, 1, 0, 1, 0},
    {"schedule=active:1/wait:1", 0, 1, 0, 1, 0},
    {"schedule=wait:1/warmup:1/active:2/repeat:2", 0, 1, 1, 2, 2},
    {"schedule=skip_first:2/active:3", 2, 0, 0, 3, 0},
    {"schedule=active:2/repeat:1", 0, 0, 0, 2, 1},
};

/* What stays where memory is full; the first also where steps end. */
static const char *const keeps[] = {NULL, "keep=first", "keep=1steps",
                                    "keep=3steps", "keep=stream"};

static int model_kept_steps(int keep)
{
    return keep == 2 ? 1 : keep == 3 ? 3 : 0;
}

static int model_is_stream(int keep)
{
    return keep == 4;
}

static int model_is_scheduled(int schedule)
{
    return schedules[schedule].recorded != 0;
}

static int model_cycle_at(int schedule, uint64_t steps)
{
    uint64_t length = schedules[schedule].waited + schedules[schedule].warmed +
                      schedules[schedule].recorded;
    uint64_t cycle = 0;
    if (!schedules[schedule].recorded)
        return 1;
    if (steps < schedules[schedule].skipped)
        return 0;
    steps -= schedules[schedule].skipped;
    for (; steps >= length; steps -= length)
        cycle++;
    return (!schedules[schedule].cycles ||
            cycle < schedules[schedule].cycles) &&
                   steps >= length - schedules[schedule].recorded
               ? (int)cycle + 1
               : 0;
}

static int model_is_window(int schedule, uint64_t steps)
{
    return model_cycle_at(schedule, steps) != 0;
}

/* ---- Profilers ----------------------------------------------------------------- */

typedef struct observer {
    uint64_t starts, stops, marks, steps, samples, bad_slots, bad_times;
    uint64_t reports, given;
    int wants_times, view;
    FILE *parts; /* of a stream; NULL: it is none */
} observer;

static void on_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    observer *o = self;
    o->starts++;
    o->bad_slots += *slot != 0;
    *slot = f->token;
}

static void on_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    observer *o = self;
    o->stops++;
    o->bad_slots += *slot != f->token;
    /* A hook that wants no times may get them: another profiler wants them. */
    if (f->end_ns)
        o->bad_times +=
            f->end_ns != gnomon__test_ticks || f->begin_ns > f->end_ns;
    else
        o->bad_times += o->wants_times && gnomon__test_ticks;
}

static void on_mark(void *self, const gnomon_mark_event *event)
{
    (void)event;
    ((observer *)self)->marks++;
}

static void on_counter(void *self, const gnomon_counter_event *event)
{
    (void)event;
    ((observer *)self)->samples++;
}

static void on_step(void *self, const gnomon_step_event *event)
{
    (void)event;
    ((observer *)self)->steps++;
}

static const char *const view_names[MODEL_VIEWS] = {"v0", "v1", "v2", "v3"};
static gnomon_profiler profilers[MODEL_VIEWS];
static observer observers[MODEL_VIEWS];
static int has_hooks[MODEL_VIEWS];

/* ---- Threads that take turns ------------------------------------------------------ */

typedef struct worker {
    pthread_t thread;
    sem_t go, done;
    void (*job)(int thread); /* NULL: the thread ends */
    int number;
} worker;
static worker workers[MODEL_THREADS];

static void *work(void *argument)
{
    worker *w = argument;
    for (;;) {
        sem_wait(&w->go);
        if (!w->job)
            return NULL;
        w->job(w->number);
        sem_post(&w->done);
    }
}

/* Thread 0 is the calling thread. */
static void run_on(int thread, void (*job)(int thread))
{
    worker *w = &workers[thread];
    if (thread == 0) {
        job(0);
        return;
    }
    w->job = job;
    sem_post(&w->go);
    if (job)
        sem_wait(&w->done);
}

static int start_worker(int thread)
{
    worker *w = &workers[thread];
    return CHECK(!pthread_create(&w->thread, NULL, work, w));
}

static void end_worker(int thread)
{
    run_on(thread, NULL);
    pthread_join(workers[thread].thread, NULL);
}

static void say_name(int thread)
{
    char name[4];
    snprintf(name, sizeof name, "w%d", thread);
    gnomon_thread_name(name);
}

#endif

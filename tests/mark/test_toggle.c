/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control calls change all settings while eight threads mark. One profiler
 * is attached from before the first mark to the end: its tree has each mark.
 *
 * links: static */
#include <sched.h>

#include "live_profile.h"
#include "recording_threads.h"

#define THREADS 8

enum kind { OUTER, INNER, ACTION, CROSSING, RANGE, MARK, COUNTER, LINK, KINDS };
static const char *const kind_names[] = {"outer",    "inner", "action",
                                         "crossing", "range", "mark"};

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", "toggle", NULL);
static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);
static gnomon_region range_region =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region mark_region =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "mark", NULL, NULL);
static gnomon_region counter_region =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "counter", NULL, NULL);

LIVE_KEEPER(keeper, "keeper");

typedef struct worker {
    uint64_t begun[KINDS]; /* raised before the begin */
    uint64_t ended[KINDS]; /* and after the end */
    uint32_t steps;
} worker;

static worker workers[THREADS];
static uint32_t stopping;
static uint64_t range_box[16]; /* ranges on their way to another thread */
static gnomon_link link_box;
static pthread_mutex_t link_lock = PTHREAD_MUTEX_INITIALIZER;

static void begun(worker *w, int kind)
{
    store_release(&w->begun[kind], w->begun[kind] + 1);
}

static void ended(worker *w, int kind)
{
    store_release(&w->ended[kind], w->ended[kind] + 1);
}

static void hand_on(worker *w, uint32_t i)
{
    begun(w, RANGE);
    gnomon_range r = gnomon_range_begin(&range_region);
    r = swap_acq_rel(&range_box[i % 16], r);
    if (r) {
        gnomon_range_end(r);
        ended(w, RANGE);
    }
    if (i % 8)
        return;
    pthread_mutex_lock(&link_lock);
    gnomon_link from = link_box;
    link_box = gnomon_link_out();
    pthread_mutex_unlock(&link_lock);
    if (from.word[0]) {
        begun(w, LINK);
        gnomon_link_in(&from, GNOMON_LINK_SUBMIT);
    }
}

static void *mark_on(void *item)
{
    worker *w = item;
    for (uint32_t i = 0; !load_acquire(&stopping); i++) {
        begun(w, OUTER);
        gnomon_token a = gnomon_begin(&outer_region);
        begun(w, INNER);
        gnomon_token b = gnomon_begin(&inner_region);
        begun(w, COUNTER);
        gnomon_counter(&counter_region, i);
        begun(w, MARK);
        gnomon_mark(&mark_region);
        hand_on(w, i);
        gnomon_end(b);
        ended(w, INNER);
        begun(w, ACTION);
        gnomon_start("action");
        begun(w, CROSSING);
        gnomon_start("crossing");
        gnomon_stop("action");
        ended(w, ACTION);
        gnomon_stop("crossing");
        ended(w, CROSSING);
        gnomon_end(a);
        ended(w, OUTER);
        if (i % 64 == 63) {
            gnomon_step();
            sched_yield();
        }
    }
    return NULL;
}

static long long sum_of(int kind, int of_ended)
{
    long long sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += (long long)load_acquire(of_ended ? &workers[i].ended[kind]
                                                : &workers[i].begun[kind]);
    return sum;
}

/* ---- What is toggled ------------------------------------------------------ */

typedef struct hook {
    uint64_t alive; /* 0 in memory that was given back */
    uint64_t starts, stops, others;
} hook;

static void hook_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    hook *h = self;
    CHECK_EQ(load_relaxed(&h->alive), 1);
    CHECK_EQ(*slot, 0);
    *slot = f->token ^ (uintptr_t)h;
    add_relaxed(&h->starts, 1);
}

static void hook_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    hook *h = self;
    CHECK_EQ(load_relaxed(&h->alive), 1);
    CHECK(*slot == (f->token ^ (uintptr_t)h));
    add_relaxed(&h->stops, 1);
}

static void hook_mark(void *self, const gnomon_mark_event *event)
{
    CHECK_STR(event->name, "mark");
    add_relaxed(&((hook *)self)->others, 1);
}

static void hook_counter(void *self, const gnomon_counter_event *event)
{
    CHECK_STR(event->name, "counter");
    CHECK(event->value >= 0);
    add_relaxed(&((hook *)self)->others, 1);
}

static void hook_step(void *self, const gnomon_step_event *event)
{
    CHECK(event->end_ns >= event->begin_ns);
    add_relaxed(&((hook *)self)->others, 1);
}

static const gnomon_profiler hooked = {
    .struct_size = sizeof hooked,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TIMES,
    .name = "hooked",
    .start = hook_start,
    .stop = hook_stop,
    .step = hook_step,
    .counter = hook_counter,
    .mark = hook_mark,
};

static hook *attach_hook(const char *options)
{
    hook *h = calloc(1, sizeof *h);
    h->alive = 1;
    CHECK_EQ(gnomon_attach(&hooked, h, options), GNOMON_OK);
    return h;
}

/* After the detach no thread calls it, so its memory can be freed at once. */
static uint64_t detach_hook(hook *h)
{
    int code, tries = 0;
    while ((code = gnomon_detach(&hooked, h)) == GNOMON_EBUSY && ++tries < 60)
        continue; /* a thread got no processor for a second */
    CHECK_EQ(code, GNOMON_OK);
    uint64_t starts = h->starts, stops = h->stops;
    CHECK(stops <= starts);
    h->alive = 0;
    free(h);
    return starts;
}

/* Limits for a profile of marking threads: at least the executions that had
 * ended before, at most those begun after. */
static void check_live(void)
{
    long long least[KINDS], inexact = 0;
    for (int k = OUTER; k <= RANGE; k++)
        least[k] = sum_of(k, 1);
    gnomon_profile *p = live_snapshot("keeper");
    for (int k = OUTER; k <= MARK; k++) {
        long long count = live_count(p, kind_names[k]);
        CHECK(k == MARK || count >= least[k]);
        CHECK(count <= sum_of(k, 0));
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_track_info t;
        gnomon_profile_track(p, i, &t);
        inexact += t.inexact;
    }
    CHECK(inexact <= THREADS);
    gnomon_profile_free(p);
}

static void check_stacks(void)
{
    gnomon_open_scope open[64] = {{.struct_size = sizeof *open}};
    for (size_t i = 0; i < gnomon_thread_count(); i++) {
        int n = gnomon_thread_stack(i, open, 64);
        CHECK(n == GNOMON_EBUSY || (n >= 0 && n <= 4));
        if (n > 0)
            CHECK_STR(open[0].name, "outer");
        if (n > 1 && strcmp(open[1].name, "inner") != 0 &&
            strcmp(open[1].name, "crossing") != 0)
            CHECK_STR(open[1].name, "action");
    }
}

static int swallow(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)w;
    (void)bytes;
    (void)size;
    return GNOMON_OK;
}

static void toggle(int i)
{
    static const char *const specs[] = {
        "simple,file=/dev/null",
        "simple(filter=inn*),simple(exclude=@toggle),file=/dev/null",
        "passthrough",
        "simple(schedule=wait:1/warmup:1/active:2),file=/dev/null",
        "",
        "simple(filter=nothing),passthrough,file=/dev/null",
        "simple(schedule=skip_first:2/wait:30/active:1),file=/dev/null",
    };
    const gnomon_writer out = {.struct_size = sizeof out, .write = swallow};
    static int next, in_stage, stages;
    int code;
    switch (i % 8) {
    case 0:
    case 4:
        CHECK_EQ(gnomon_attach(NULL, NULL, specs[next++ % 7]), GNOMON_OK);
        break;
    case 1:
        if (stages++ > 200) /* each has its own nodes, which are kept */
            break;
        CHECK_EQ(in_stage ? gnomon_stage_end()
                          : gnomon_stage_begin(i & 16 ? "fit" : "validate"),
                 GNOMON_OK);
        in_stage = !in_stage;
        break;
    case 2:
    case 6:
        check_live();
        break;
    case 3:
        code = gnomon_summary("simple", &out);
        CHECK(code == GNOMON_OK || code == GNOMON_ENOENT);
        break;
    case 5:
        check_stacks();
        break;
    case 7:
        CHECK_EQ(gnomon_metadata("round", i & 8 ? "1" : "\"x\""), GNOMON_OK);
        gnomon_step();
        break;
    }
}

/* ---- The final profile --------------------------------------------------- */

static void run_against(void (*change)(long rounds), long rounds)
{
    pthread_t threads[THREADS];
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    live_start(threads, THREADS, mark_on, workers, sizeof *workers);
    while (!sum_of(OUTER, 1))
        usleep(50);
    change(rounds);
    store_release(&stopping, 1);
    live_join(threads, THREADS);
    for (int i = 0; i < 16; i++)
        gnomon_range_end(range_box[i]);

    gnomon_profile *p = live_snapshot("keeper");
    gnomon_health h = live_health();
    for (int k = OUTER; k <= MARK; k++)
        if (!CHECK_EQ(live_count(p, kind_names[k]), sum_of(k, 0)))
            fprintf(stderr, "    %s\n", kind_names[k]);
    long long samples = 0, links = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        gnomon_counter_info c;
        gnomon_profile_counter(p, i, &c);
        samples += (long long)c.count;
    }
    CHECK_EQ(samples, sum_of(COUNTER, 0));
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        gnomon_link_info l;
        gnomon_profile_link(p, i, &l);
        links += (long long)l.count;
    }
    CHECK_EQ(links + (long long)h.lost_links, sum_of(LINK, 0));
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_track_info t;
        gnomon_profile_track(p, i, &t);
        CHECK(!t.inexact);
        CHECK(!t.alive || t.os_id == getpid()); /* we stepped */
    }
    gnomon_profile_free(p);
    h.lost_links = 0; /* across a change of the configuration */
#define NONE(field, text) \
    if (!CHECK_EQ(h.field, 0)) \
        fprintf(stderr, "    " #field "\n");
    GNOMON_HEALTH(NONE)
#undef NONE
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

static void change_all(long rounds)
{
    hook *h[2] = {NULL, NULL};
    for (long i = 0; i < rounds; i++) {
        toggle((int)i);
        if (i % 3)
            continue;
        hook **at = &h[i / 3 % 2];
        if (*at)
            detach_hook(*at);
        *at = i % 4 ? attach_hook(i & 1 ? "filter=*er" : NULL) : NULL;
    }
    for (int i = 0; i < 2; i++)
        if (h[i])
            detach_hook(h[i]);
}

TEST(soak_everything_changes_while_eight_threads_mark)
{
    run_against(change_all, live_times(1000, 20000));
}

static void change_hooks(long rounds)
{
    uint64_t starts = 0;
    for (long i = 0; i < rounds; i++) {
        hook *h = attach_hook(NULL);
        /* Sometimes waits until a thread is inside it, otherwise at once. */
        while (i % 4 == 0 && !load_relaxed(&h->starts))
            usleep(20);
        starts += detach_hook(h);
    }
    CHECK((long)starts >= rounds / 4);
}

TEST(soak_hooks_come_and_go_while_eight_threads_mark)
{
    run_against(change_hooks, live_times(3000, 100000));
}

/* A hook gets the bit of a former tree and vice versa, immediately. */
static void change_kinds(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        hook *h = attach_hook(NULL);
        detach_hook(h);
        CHECK_EQ(gnomon_attach(NULL, NULL, "simple,file=/dev/null"), GNOMON_OK);
        CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    }
}

TEST(soak_bits_pass_between_hooks_and_trees)
{
    run_against(change_kinds, live_times(500, 10000));
}

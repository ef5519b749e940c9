/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * Tapes of many threads: events are what hooks saw, to the nanosecond; they add up to
 * the tree; a reader at any moment stops nobody and counts what it misses. */
#include <stdlib.h>

#include "event_runs.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "taping.h"

#define THREADS 6

static gnomon_region regions[4] = {
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "b", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "c", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "d", NULL, NULL)};

/* ---- Against hooks ----------------------------------------------------------- */

#define SEEN 20000

typedef struct seen_scope {
    uint64_t begin, end;
    const gnomon_region *region;
} seen_scope;

static seen_scope *seen[THREADS + 1];
static size_t seen_count[THREADS + 1];

static void see_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    (void)slot;
    if (f->thread <= THREADS && seen_count[f->thread] < SEEN)
        seen[f->thread][seen_count[f->thread]++] =
            (seen_scope){f->begin_ns, f->end_ns, f->region};
}

static const gnomon_profiler watcher = {.struct_size = sizeof watcher,
                                        .abi = GNOMON_ABI,
                                        .wants = GNOMON_WANT_TIMES,
                                        .name = "watcher",
                                        .stop = see_stop};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Scopes nested at random, `left` in all. */
static void mark_at_random(uint64_t *state, long *left, int depth)
{
    while (*left > 0 && next_random(state) % 4) {
        gnomon_token t = gnomon_begin(&regions[next_random(state) % 4]);
        --*left;
        if (depth < 2)
            mark_at_random(state, left, depth + 1);
        gnomon_end(t);
    }
}

static long per_thread;

static void *mark_thread(void *seed)
{
    uint64_t state = (uint64_t)(size_t)seed;
    long left = per_thread;
    while (left > 0)
        mark_at_random(&state, &left, 0);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_thread, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int seen_order(const void *a, const void *b)
{
    const seen_scope *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin > y->begin ? 1 : -1;
    return x->end < y->end ? 1 : x->end > y->end ? -1 : 0;
}

static const char *event_name(const gnomon_profile *p,
                              const gnomon_event_info *e)
{
    gnomon_node_info n;
    static gnomon_region_info r;
    gnomon_profile_node(p, e->node, &n);
    gnomon_profile_region(p, n.region, &r);
    return r.name;
}

/* Whether another one has the same times: which of them comes first is not known. */
static int has_twin(const seen_scope *s, const seen_scope *of, size_t count)
{
    return (s > of && !seen_order(s - 1, s)) ||
           (s + 1 < of + count && !seen_order(s, s + 1));
}

/* The events of each track are the scopes that the hook saw on its thread. */
static void check_seen(const gnomon_profile *p)
{
    size_t at[THREADS + 1] = {0}, wrong = 0;
    for (int t = 0; t <= THREADS; t++)
        qsort(seen[t], seen_count[t], sizeof *seen[t], seen_order);
    for (size_t i = 1; i <= events(p); i++) {
        gnomon_event_info e;
        gnomon_track_info k;
        gnomon_profile_event(p, i, &e);
        gnomon_profile_track(p, e.track, &k);
        const seen_scope *s = &seen[k.index][at[k.index]++];
        wrong += s->begin != e.begin_ns ||
                 s->end != e.begin_ns + e.duration_ns ||
                 (!has_twin(s, seen[k.index], seen_count[k.index]) &&
                  strcmp(s->region->name, event_name(p, &e)) != 0);
    }
    CHECK_EQ(wrong, 0);
    for (int t = 0; t <= THREADS; t++)
        CHECK_EQ(at[t], seen_count[t]);
}

TEST(events_are_what_hooks_saw)
{
    for (int i = 0; i <= THREADS; i++)
        seen[i] = calloc(SEEN, sizeof *seen[i]);
    per_thread = 3000;
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&watcher, NULL, NULL), GNOMON_OK);
    run_threads();
    gnomon_profile *p = live_snapshot("taper");
    CHECK_EQ(events(p), THREADS * per_thread);
    check_event_runs(p);
    check_seen(p);
    gnomon_profile_free(p);
    for (int i = 0; i <= THREADS; i++)
        free(seen[i]);
}

/* ---- Against the tree ----------------------------------------------------------- */

/* Counts are the same, and totals up to the rounding of each event. */
TEST(events_add_up_to_the_tree)
{
    per_thread = live_times(50000, 500000);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    run_threads();
    gnomon_profile *p = live_snapshot("taper");
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    uint64_t *count = calloc(nodes + 1, sizeof *count);
    uint64_t *total = calloc(nodes + 1, sizeof *total);
    for (size_t i = 1; i <= events(p); i++) {
        gnomon_event_info e;
        gnomon_profile_event(p, i, &e);
        count[e.node]++;
        total[e.node] += e.duration_ns;
    }
    for (size_t i = 1; i <= nodes && !missing(p, NULL); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        CHECK_EQ(count[i], n.host->count);
        uint64_t far = total[i] > n.host->total_ns
                           ? total[i] - n.host->total_ns
                           : n.host->total_ns - total[i];
        CHECK(far <= 2 * count[i] + n.host->total_ns / 100000);
    }
    CHECK_EQ(events(p) + missing(p, NULL), THREADS * per_thread);
    free(count);
    free(total);
    gnomon_profile_free(p);
}

/* ---- While threads mark ------------------------------------------------------------- */

static int stop_marking;

static void *mark_until(void *seed)
{
    uint64_t state = (uint64_t)(size_t)seed, made = 0;
    while (!load_relaxed(&stop_marking)) {
        long left = 50;
        mark_at_random(&state, &left, 0);
        made += (uint64_t)(50 - left);
    }
    return (void *)(size_t)made;
}

/* Events ascend, lie on their nodes' tracks and end before now: the profile's check. What
 * is made is there or missing, once all threads are over. */
TEST(a_reader_at_any_moment)
{
    uint64_t made = 0;
    pthread_t threads[THREADS];
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=8MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_until, (void *)(i + 1));
    for (long i = live_times(10, 4000); i--;)
        gnomon_profile_free(live_snapshot("taper"));
    store_relaxed(&stop_marking, 1);
    for (size_t i = 0; i < THREADS; i++) {
        void *count;
        pthread_join(threads[i], &count);
        made += (uint64_t)(size_t)count;
    }
    gnomon_profile *p = live_snapshot("taper");
    CHECK_EQ(events(p) + missing(p, NULL), made);
    CHECK_EQ(live_count(p, "a") + live_count(p, "b") + live_count(p, "c") +
                 live_count(p, "d"),
             (long long)made);
    gnomon_profile_free(p);
}

static void *attach_and_detach(void *unused)
{
    (void)unused;
    while (!load_relaxed(&stop_marking)) {
        CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
        CHECK_EQ(gnomon_detach(&taper, NULL), GNOMON_OK);
    }
    return NULL;
}

TEST(attached_and_detached_meanwhile)
{
    pthread_t threads[THREADS], other;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=2MiB"), GNOMON_OK);
    pthread_create(&other, NULL, attach_and_detach, NULL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_until, (void *)(i + 1));
    for (long i = live_times(40, 10000); i--;) {
        gnomon_profile *p = NULL;
        if (gnomon_snapshot(&p, "taper", 1) == GNOMON_OK &&
            !CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
            fprintf(stderr, "    %s\n", gnomon_error_text());
        gnomon_profile_free(p);
    }
    store_relaxed(&stop_marking, 1);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(other, NULL);
}

/* ---- Very many -------------------------------------------------------------------- */

#define VERY_MANY 2000

static pthread_barrier_t all_marked;

static void *mark_a_few(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10; i++)
        gnomon_end(gnomon_begin(&regions[i % 4]));
    pthread_barrier_wait(&all_marked);
    return NULL;
}

/* All live at once share the default memory, and no event is lost. */
TEST(two_thousand_threads)
{
    static pthread_t threads[VERY_MANY];
    unsigned n = IS_SLOW ? 200 : VERY_MANY;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_barrier_init(&all_marked, NULL, n + 1);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (unsigned i = 0; i < n; i++)
        if (!CHECK_EQ(pthread_create(&threads[i], &small, mark_a_few, NULL), 0))
            exit(1);
    pthread_barrier_wait(&all_marked);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    gnomon_profile *p = live_snapshot("taper");
    CHECK_EQ(events(p), 10 * n);
    CHECK_EQ(missing(p, NULL), 0);
    gnomon_profile_free(p);
}

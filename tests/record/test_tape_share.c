/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * Threads share the memory of tapes: what goes first is what is oldest, whosoever it is,
 * and each event is there or counted as missing. */
#include <stdlib.h>

#include "live_profile.h"
#include "recording_threads.h"
#include "taping.h"

#define VERY_MANY 2000
#define FEW 10

static gnomon_region few_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "few", NULL, NULL);
static gnomon_region many_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "many", NULL, NULL);

static void mark_region(gnomon_region *region, long times)
{
    while (times--)
        gnomon_end(gnomon_begin(region));
}

/* ---- What a profile has --------------------------------------------------------- */

typedef struct taped_counts {
    uint64_t few, many; /* events */
    uint64_t missing, made;
} taped_counts;

static int is_few(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    gnomon_region_info r;
    return !gnomon_profile_node(p, node, &n) &&
           !gnomon_profile_region(p, n.region, &r) &&
           strcmp(r.name, "few") == 0;
}

/* Checks that all that was made is there or missing. */
static taped_counts count_events(void)
{
    gnomon_profile *p = live_snapshot("taper");
    taped_counts c = {0};
    for (size_t i = 1; i <= events(p); i++) {
        gnomon_event_info e;
        gnomon_profile_event(p, i, &e);
        int few = is_few(p, e.node);
        c.few += few != 0;
        c.many += few == 0;
    }
    c.missing = missing(p, NULL);
    c.made = (uint64_t)(live_count(p, "few") + live_count(p, "many"));
    CHECK_EQ(c.few + c.many + c.missing, c.made);
    gnomon_profile_free(p);
    return c;
}

/* ---- Threads that wait between what they mark ------------------------------------- */

static pthread_barrier_t rounds;
static unsigned round_count;
static long each_round;

static void *mark_in_rounds(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < round_count; i++) {
        mark_region(&few_region, each_round);
        pthread_barrier_wait(&rounds); /* all have marked */
        pthread_barrier_wait(&rounds); /* the next round */
    }
    return NULL;
}

static void next_round(void)
{
    pthread_barrier_wait(&rounds);
}

static void start_threads(pthread_t *threads, unsigned n, unsigned of,
                          long each)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_barrier_init(&rounds, NULL, n + 1);
    round_count = of;
    each_round = each;
    for (unsigned i = 0; i < n; i++)
        if (!CHECK_EQ(pthread_create(&threads[i], &small, mark_in_rounds, NULL),
                      0))
            exit(1);
    next_round();
}

static void join_threads(const pthread_t *threads, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static unsigned how_many(void)
{
    return IS_SLOW ? 200 : VERY_MANY;
}

/* Memory for all threads and their paths, and a few MiB of events. */
static void attach_with_little(const gnomon_profiler *which, unsigned n)
{
    char spec[64];
    snprintf(spec, sizeof spec, "passthrough,mem=%uKiB", 4096 + n * 12);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_attach(which, NULL, NULL), GNOMON_OK);
}

/* First the threads' old events go, though they end in blocks that are not full; then,
 * when each marks again, it has all that it marked last. */
TEST(what_is_oldest_goes_first)
{
    static pthread_t threads[VERY_MANY];
    unsigned n = how_many();
    long many = 1000000;
    attach_with_little(&taper, n);
    start_threads(threads, n, 2, FEW);
    taped_counts c = count_events();
    CHECK_EQ(c.few, n * FEW);
    mark_region(&many_region, many);
    c = count_events();
    CHECK_EQ(c.few, 0);
    CHECK(c.many > 4096 * 1024 / 16 / 2);
    next_round(); /* each marks once more */
    next_round(); /* all have */
    c = count_events();
    CHECK_EQ(c.few, n * FEW);
    CHECK_EQ(c.made, 2 * n * FEW + (uint64_t)many);
    CHECK(c.many > 4096 * 1024 / 16 / 4);
    next_round();
    join_threads(threads, n);
}

/* Blocks of 64 KiB, as each marked much once. */
TEST(large_blocks_of_idle_and_of_ended_threads_are_used)
{
    static pthread_t threads[64];
    unsigned n = 64;
    long many = 300000;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=4MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (int ends = 0; ends < 2; ends++) {
        start_threads(threads, n, 1, 5000);
        if (ends) {
            next_round();
            join_threads(threads, n);
        }
        mark_region(&many_region, many);
        taped_counts c = count_events();
        CHECK_EQ(c.few, 0);
        CHECK(c.many > 100000); /* of the 190 000 that fit into 3 MiB */
        if (!ends) {
            next_round();
            join_threads(threads, n);
        }
    }
}

/* More threads than blocks: each gets one all the same, and loses what is oldest. */
TEST(more_threads_than_blocks)
{
    static pthread_t threads[VERY_MANY];
    unsigned n = how_many();
    char spec[64];
    snprintf(spec, sizeof spec, "passthrough,mem=%uKiB", n * 13);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    mark_region(&many_region, 1); /* a tree: blocks may leave it no room */
    start_threads(threads, n, 2, 100);
    count_events();
    mark_region(&many_region, 999);
    taped_counts c = count_events();
    CHECK(c.many >= 63);
    next_round();
    next_round();
    count_events();
    next_round();
    join_threads(threads, n);
}

TEST(the_first_stay_of_very_many)
{
    static pthread_t threads[VERY_MANY];
    unsigned n = how_many();
    long many = 1000000;
    attach_with_little(&first_taper, n);
    start_threads(threads, n, 2, FEW);
    mark_region(&many_region, many);
    taped_counts c = count_events();
    CHECK_EQ(c.few, n * FEW);
    CHECK(c.many > 4096 * 1024 / 16 / 2);
    next_round();
    next_round();
    c = count_events(); /* their blocks have room */
    CHECK_EQ(c.few, 2 * n * FEW);
    next_round();
    join_threads(threads, n);
}

/* Threads that are taken for idle mark all the time. */
static int stop_marking;

static void *mark_now_and_then(void *unused)
{
    size_t made = 0;
    (void)unused;
    for (; !load_relaxed(&stop_marking); made += 20) {
        mark_region(&few_region, 20);
        usleep(50);
    }
    return (void *)made;
}

TEST(blocks_are_taken_while_their_threads_mark)
{
    pthread_t threads[12];
    uint64_t made = 0;
    long many = live_times(1000000, 8000000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 12; i++)
        pthread_create(&threads[i], NULL, mark_now_and_then, NULL);
    for (long done = 0; done < many; done += many / 10) {
        mark_region(&many_region, many / 10);
        gnomon_profile_free(live_snapshot("taper"));
    }
    store_relaxed(&stop_marking, 1);
    for (int i = 0; i < 12; i++) {
        void *count;
        pthread_join(threads[i], &count);
        made += (uint64_t)(size_t)count;
    }
    CHECK_EQ(count_events().made, made + (uint64_t)(many / 10 * 10));
}

/* ---- Names ------------------------------------------------------------------------ */

static void *mark_as(void *name)
{
    gnomon_thread_name(name);
    mark_region(&few_region, FEW);
    return NULL;
}

static int has_track(const gnomon_profile *p, const char *name)
{
    gnomon_track_info t;
    for (size_t i = 1; !gnomon_profile_track(p, i, &t); i++)
        if (strcmp(t.name, name) == 0)
            return 1;
    return 0;
}

/* Events use what is theirs up; that is no lack of memory for threads. */
TEST(threads_keep_their_names_beside_a_full_tape)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=4MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    mark_region(&many_region, 300000);
    char names[10][16];
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        snprintf(names[i], sizeof names[i], "worker %d", i);
        pthread_create(&thread, NULL, mark_as, names[i]);
        pthread_join(thread, NULL);
    }
    gnomon_profile *p = live_snapshot("taper");
    for (int i = 0; i < 10; i++)
        CHECK(has_track(p, names[i]));
    gnomon_profile_free(p);
}

static const gnomon_profiler tree_alone = {.struct_size = sizeof tree_alone,
                                           .abi = GNOMON_ABI,
                                           .wants = GNOMON_WANT_TREE,
                                           .name = "tree_alone"};

/* What a tape gave back is in large pieces; a tree takes small ones. */
TEST(paths_use_the_memory_of_a_tape_that_is_over)
{
    enum { SIDE = 40 };
    static gnomon_region regions[SIDE];
    static char names[SIDE][8];
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    mark_region(&many_region, 300000);
    CHECK_EQ(gnomon_detach(&taper, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&tree_alone, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < SIDE; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        regions[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE,
                                                       names[i], NULL, NULL);
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        gnomon_token outer = gnomon_begin(&regions[i / SIDE]);
        mark_region(&regions[i % SIDE], 1);
        gnomon_end(outer);
    }
    gnomon_health health = {.struct_size = sizeof health};
    gnomon_health_get(&health);
    CHECK_EQ(health.other_nodes, 0);
    CHECK_EQ(health.lost_scopes, 0);
}

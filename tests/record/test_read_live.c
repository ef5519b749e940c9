/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * Stacks and profiles of threads that mark without a pause are right, and neither
 * reading nor recording takes more memory the longer a run is. */

#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");
LIVE_KEEPER(second, "second");

static gnomon_region regions[4] = {
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r0", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r1", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r2", NULL, NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "r3", NULL, NULL),
};

static uint32_t stopping;
static uint64_t begun, ended; /* of r0 */

/* r0 to r3 in one another, again and again. */
static void *mark_on(void *unused)
{
    gnomon_token t[4];
    (void)unused;
    while (!load_acquire(&stopping)) {
        store_release(&begun, begun + 1);
        for (int i = 0; i < 4; i++)
            t[i] = gnomon_begin(&regions[i]);
        for (int i = 3; i >= 0; i--)
            gnomon_end(t[i]);
        store_release(&ended, ended + 1);
    }
    return NULL;
}

static pthread_t start_marking(void)
{
    pthread_t t;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(pthread_create(&t, NULL, mark_on, NULL), 0);
    while (!load_acquire(&ended))
        usleep(50);
    return t;
}

static void stop_marking(pthread_t t)
{
    store_release(&stopping, 1);
    pthread_join(t, NULL);
    CHECK_EQ(live_count_of("keeper", "r0"), begun);
    CHECK_EQ(live_count_of("keeper", "r3"), begun);
    live_check_no_trouble();
}

/* An exact stack is one that existed: r0 .. rk, each begun after its parent. */
static int check_stack(size_t thread)
{
    gnomon_open_scope open[8] = {{.struct_size = sizeof *open}};
    int n = gnomon_thread_stack(thread, open, 8);
    if (n == GNOMON_EBUSY)
        return 0;
    int good = n >= 0 && n <= 4;
    for (int i = 0; good && i < n; i++) {
        char want[3] = {'r', (char)('0' + i), 0};
        good = strcmp(open[i].name, want) == 0 &&
               (!i || (open[i].begin_ns >= open[i - 1].begin_ns &&
                       open[i].token > open[i - 1].token));
    }
    CHECK(good);
    return 1;
}

TEST(soak_stacks_of_a_thread_that_never_pauses)
{
    pthread_t t = start_marking();
    long reads = live_times(100000, 10000000), exact = 0;
    for (long i = 0; i < reads; i++)
        exact += check_stack(0);
    stop_marking(t);
    CHECK_EQ(exact, reads);
}

static void hooked_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)f;
    *slot = ++*(uint64_t *)self;
}

static void hooked_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)f;
    CHECK(*slot <= *(uint64_t *)self);
}

static const gnomon_profiler hooked = {
    .struct_size = sizeof hooked,
    .abi = GNOMON_ABI,
    .name = "hooked",
    .start = hooked_start,
    .stop = hooked_stop,
};

/* Through frames, and read from within callbacks too. */
TEST(soak_stacks_of_a_thread_with_hooks)
{
    uint64_t count = 0;
    CHECK_EQ(gnomon_attach(&hooked, &count, NULL), GNOMON_OK);
    pthread_t t = start_marking();
    long reads = live_times(100000, 10000000), exact = 0;
    for (long i = 0; i < reads; i++)
        exact += check_stack(0);
    stop_marking(t);
    CHECK_EQ(exact, reads);
}

static void stack_in_hook(void *self, const gnomon_frame *f, uint64_t *slot)
{
    gnomon_open_scope open[8] = {{.struct_size = sizeof *open}};
    (void)slot;
    CHECK_EQ(gnomon_thread_stack(f->thread, open, 8), *(int *)self);
    if (*(int *)self)
        CHECK_STR(open[0].name, "r0");
}

/* The start hooks run before the scope is open, so that they cost the parent. */
TEST(a_callback_reads_its_own_thread)
{
    static const gnomon_profiler reader = {
        .struct_size = sizeof reader,
        .abi = GNOMON_ABI,
        .name = "reader",
        .start = stack_in_hook,
    };
    int depth = 0;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&reader, &depth, NULL), GNOMON_OK);
    gnomon_token t[4];
    for (; depth < 4; depth++)
        t[depth] = gnomon_begin(&regions[depth]);
    gnomon_open_scope open[2] = {{.struct_size = sizeof *open}};
    CHECK_EQ(gnomon_thread_stack(0, open, 2), 4); /* all, of which two fit */
    CHECK_STR(open[1].name, "r1");
    CHECK(open[1].token == t[1]);
    CHECK_EQ(gnomon_thread_stack(0, NULL, 0), 4);
    CHECK_EQ(gnomon_thread_stack(0, NULL, 1), GNOMON_EINVAL);
    CHECK_EQ(gnomon_thread_stack(1, open, 2), GNOMON_EINVAL);
    while (depth)
        gnomon_end(t[--depth]);
    CHECK_EQ(gnomon_thread_stack(0, open, 2), 0);
    CHECK_EQ(gnomon_detach(&keeper, NULL), GNOMON_OK);
    gnomon_end(gnomon_begin(&regions[0]));
    CHECK_EQ(gnomon_thread_stack(0, open, 2), 0);
}

/* ---- Profiles ----------------------------------------------------------------- */

/* A profile is exact or flagged, and its counts are between the ended and
 * the begun executions. A flagged one may count the last execution twice, as
 * it moves from "pending" to its cell; only exact ones never shrink. */
TEST(soak_profiles_of_a_thread_that_never_pauses)
{
    pthread_t t = start_marking();
    long reads = live_times(2000, 100000);
    long long before = 0;
    for (long i = 0; i < reads; i++) {
        long long least = (long long)load_acquire(&ended);
        gnomon_profile *p = live_snapshot("keeper");
        long long count = live_count(p, "r0");
        CHECK(count >= least && count <= (long long)load_acquire(&begun));
        CHECK(count >= before);
        gnomon_track_info track;
        gnomon_profile_track(p, 1, &track);
        before = track.inexact ? before : count;
        CHECK(track.alive);
        size_t opens = gnomon_profile_count(p, GNOMON_OPENS);
        CHECK(opens <= 4);
        for (size_t k = 1; !track.inexact && k <= opens; k++) {
            gnomon_open_info o;
            gnomon_node_info n;
            gnomon_region_info r;
            gnomon_profile_open(p, k, &o);
            gnomon_profile_node(p, o.node, &n);
            gnomon_profile_region(p, n.region, &r);
            CHECK_EQ(r.name[1] - '0', k - 1);
        }
        gnomon_profile_free(p);
    }
    stop_marking(t);
}

/* Each of several trees has an execution of its own that ended and is in no cell yet. */
TEST(several_trees_are_read_to_the_last_end)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&second, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 1000; i++)
        gnomon_end(gnomon_begin(&regions[0]));
    CHECK_EQ(live_count_of("keeper", "r0"), 1000);
    CHECK_EQ(live_count_of("second", "r0"), 1000);
}

enum { PATHS = 600 };
static gnomon_region *paths[PATHS];

/* Each once; then the first and the last in turn, with pauses: some paths are copied
 * between two marks, and not all. */
static void *mark_both_ends(void *unused)
{
    for (int i = 0; i < PATHS; i++)
        gnomon_end(gnomon_begin(paths[i]));
    while (!load_acquire(&stopping))
        for (int i = 0; i < PATHS; i += PATHS - 1) {
            gnomon_end(gnomon_begin(paths[i]));
            for (int pause = 0; pause < 10000; pause++)
                (void)load_acquire(&stopping);
        }
    return unused;
}

/* What is called exact is of one moment. */
TEST(an_exact_profile_is_of_one_moment)
{
    pthread_t t;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < PATHS; i++) {
        char name[16];
        snprintf(name, sizeof name, "path %03d", i);
        paths[i] = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    CHECK_EQ(pthread_create(&t, NULL, mark_both_ends, NULL), 0);
    while (live_count_of("keeper", paths[PATHS - 1]->name) < 2)
        usleep(100);
    for (int i = 0; i < 50; i++) {
        gnomon_profile *p = live_snapshot("keeper");
        gnomon_track_info track = {0};
        gnomon_profile_track(p, 1, &track);
        long long more = live_count(p, paths[0]->name) -
                         live_count(p, paths[PATHS - 1]->name);
        CHECK(track.inexact || more == 0 || more == 1);
        gnomon_profile_free(p);
    }
    store_release(&stopping, 1);
    pthread_join(t, NULL);
}

/* ---- Memory ---------------------------------------------------------------------- */

static long resident_kib(void)
{
    long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static void run_scopes(long n)
{
    for (long i = 0; i < n; i += 4) {
        gnomon_token a = gnomon_begin(&regions[0]);
        gnomon_token b = gnomon_begin(&regions[1]);
        gnomon_end(b);
        gnomon_start("by name");
        gnomon_stop("by name");
        gnomon_range_end(gnomon_range_begin(&regions[3]));
        gnomon_end(a);
    }
}

TEST(soak_memory_does_not_grow_with_the_run)
{
    long n = live_times(10000000, 1000000000);
    long slack = IS_EMULATED ? 8192 : 1024; /* an emulator translates on */
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    run_scopes(100000);
    gnomon_profile_free(live_snapshot("keeper"));
    gnomon_health before = live_health();
    long resident = resident_kib();
    run_scopes(n);
    long resident_after = resident_kib();
    if (!IS_SANITIZED && !CHECK(resident_after <= resident + slack))
        fprintf(stderr, "    %ld KiB, before %ld\n", resident_after, resident);
    /* The histograms' memory too: their windows hold the slowest so far, and
     * an interruption may be slower. */
    CHECK(live_health().mapped_bytes <= before.mapped_bytes + 65536);
    CHECK_EQ(live_count_of("keeper", "r0"), (100000 + n) / 4);
    CHECK_EQ(live_health().heap_bytes, before.heap_bytes);
    live_check_no_trouble();
}

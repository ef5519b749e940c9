/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random scopes over many stages in so little memory that most of their paths are
 * "(other)": the profiles of all stages, the reports and the file add up to all
 * that was marked.
 * links: testing
 * timeout: 300 */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"

#define NAMES 2000
#define DEEPEST 6

static uint64_t dice;

static uint32_t roll(uint32_t below)
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(dice >> 33) % below;
}

/* ---- What is marked ------------------------------------------------------------------ */

static gnomon_region *regions[NAMES];
static gnomon_token open[DEEPEST];
static int region_of[DEEPEST], depth;
static uint64_t marked, busy_ns, of_name[NAMES];

static void begin_one(void)
{
    int r = (int)(roll(4) ? roll(20) : roll(NAMES)); /* some are known early */
    region_of[depth] = r;
    open[depth++] = gnomon_begin(regions[r]);
}

static void end_one(void)
{
    gnomon_end(open[--depth]);
    of_name[region_of[depth]]++;
    marked++;
}

static void go_on(uint64_t ns)
{
    pass(ns);
    busy_ns += depth ? ns : 0;
}

static void begin_stage(void)
{
    static const char *const names[] = {"fit", "validate", "test"};
    CHECK_EQ(gnomon_stage_begin(names[roll(3)]), GNOMON_OK);
}

static void play(long operations)
{
    for (long i = 0; i < operations; i++) {
        go_on(roll(100));
        if (roll(500) == 0)
            begin_stage();
        else if (depth < DEEPEST && (!depth || roll(2)))
            begin_one();
        else
            end_one();
    }
    while (depth)
        end_one();
}

/* ---- What is reported ---------------------------------------------------- */

typedef struct sums {
    uint64_t calls, total, self, others, late;
} sums;

static sums sums_of(const gnomon_profile *p)
{
    sums s = {0};
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        if (!n.host)
            continue;
        s.calls += n.host->count;
        s.self += n.host->self_ns;
        s.others += n.flags & GNOMON_NODE_OTHER ? n.host->count : 0;
    }
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info stage;
        gnomon_profile_stage(p, i, &stage);
        s.late += stage.late;
    }
    return s;
}

static uint64_t reported;

static int add_report(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    (void)self, (void)out;
    if (!CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    reported += sums_of(p).calls;
    return GNOMON_OK;
}

static const gnomon_profiler adder = {.struct_size = sizeof adder,
                                      .abi = GNOMON_ABI,
                                      .wants = GNOMON_WANT_TREE,
                                      .name = "adder",
                                      .summary = add_report};

/* Scopes below an "(other)" are part of its time, and counted as too deep. */
static void check_sums(const gnomon_profile *p, uint64_t too_deep)
{
    sums s = sums_of(p);
    CHECK_EQ(s.calls + too_deep, marked);
    CHECK_EQ(s.self, busy_ns);
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        if (i % 50 == 0)
            CHECK(calls_of(p, name) <= of_name[i]);
    }
}

static void full(const char *memory, uint64_t seed, int is_full)
{
    char spec[64], path[64], options[96];
    gnomon_setup_options quiet = {
        .struct_size = sizeof quiet, .has_rank = 1, .rank = 1, .world_size = 2};
    CHECK_EQ(gnomon_setup(&quiet), GNOMON_OK);
    snprintf(spec, sizeof spec, "passthrough,mem=%s", memory);
    snprintf(path, sizeof path, "/tmp/gnomon-full-%d-1.gnomon", (int)getpid());
    snprintf(options, sizeof options, "file=/tmp/gnomon-full-%d.gnomon",
             (int)getpid());
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&adder, NULL, options), GNOMON_OK);
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        regions[i] = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    dice = seed;
    gnomon_health before = health_now();
    play(IS_SLOW ? 20000 : 200000);
    gnomon_health after = health_now();
    uint64_t too_deep = after.too_deep - before.too_deep;
    CHECK_EQ(after.unmatched + after.crossed + after.lost_scopes, 0);
    if (!is_full)
        CHECK_EQ(after.other_nodes, 0);
    else
        CHECK(after.other_nodes > 0);
    gnomon_profile *p = profile_of("adder", 1);
    check_sums(p, too_deep);
    if (is_full)
        CHECK(sums_of(p).others > 0);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK); /* the last stage's report */
    p = profile_of("adder", 1);
    check_sums(p, too_deep);
    CHECK_EQ(reported + sums_of(p).late + too_deep, marked);
    gnomon_profile_free(p);
    if (CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK))
        check_sums(p, too_deep);
    else
        fprintf(stderr, "    %s\n", gnomon_error_text());
    gnomon_profile_free(p);
    unlink(path);
    CHECK_EQ(gnomon_detach(&adder, NULL), GNOMON_OK);
}

/* In a process of its own, which takes its memory anew. */
static void full_there(const char *memory, uint64_t seed)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        test_failures = 0;
        full(memory, seed, 1);
        _exit(test_failures != 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!CHECK_EQ(status, 0))
        fprintf(stderr, "    mem=%s, seed %llu\n", memory,
                (unsigned long long)seed);
}

TEST(soak_little_memory)
{
    static const char *const sizes[] = {"512KiB", "1MiB", "1500KiB", "2MiB",
                                        "3MiB"};
    uint64_t most = getenv("GNOMON_SOAK") ? 2000 : 5;
    for (uint64_t seed = 1; seed <= most; seed++)
        full_there(sizes[seed % 5], seed);
}

TEST(enough)
{
    full("1GiB", 4, 0);
}

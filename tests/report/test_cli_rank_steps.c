/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps of many ranks, each by itself: the same as those of one rank alone, and in little
 * memory.
 * links: static
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include "gnomon.h"
#include "sanitizer.h"
#include "saved_profile.h"

enum { STEPS = 40, PAIRS = 20, REGIONS = 2 * PAIRS, SLOWEST = 10 };

/* Times in ns of a rank's steps: of the step itself, number 0, and of its regions. */
static uint64_t took[STEPS][REGIONS + 1];

static uint64_t random_state;

static uint64_t random_to(uint64_t end)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % end;
}

/* Regions 1 and 2, 3 and 4, ... are an outer one and one inside it. In some steps one of
 * these is slow, which its outer one is then, too. */
static void make_times(uint64_t seed)
{
    random_state = seed;
    for (int s = 0; s < STEPS; s++) {
        const uint64_t slow =
            random_to(3) ? 1 + random_to(REGIONS) : REGIONS + 1;
        took[s][0] = 0;
        for (uint64_t outer = 1; outer < REGIONS; outer += 2) {
            took[s][outer + 1] = (50000 + random_to(20000)) *
                                 (outer + 1 == slow ? 20 + random_to(20) : 1);
            took[s][outer] = took[s][outer + 1] + (1000 + random_to(1000)) *
                                                      (outer == slow ? 900 : 1);
            took[s][0] += took[s][outer];
        }
    }
}

typedef struct step_sum {
    gnomon_stats stats;
    gnomon_cell cells[STEPS];
} step_sum;

static int by_cell(const void *left, const void *right)
{
    const gnomon_cell *a = left, *b = right;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* Of the steps from `first` to `last`. */
static const gnomon_stats *sum_of(step_sum *sum, int region, int first,
                                  int last)
{
    gnomon_stats *s = &sum->stats;
    *s = (gnomon_stats){
        .struct_size = sizeof *s, .cells = sum->cells, .min_ns = UINT64_MAX};
    for (int i = first; i <= last; i++) {
        const uint64_t ns = took[i][region];
        sum->cells[s->count++] = (gnomon_cell){gnomon_cell_of(ns), 0, 1};
        s->total_ns += ns;
        s->min_ns = ns < s->min_ns ? ns : s->min_ns;
        s->max_ns = ns > s->max_ns ? ns : s->max_ns;
    }
    qsort(sum->cells, (size_t)s->count, sizeof *sum->cells, by_cell);
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->cell_count &&
            sum->cells[s->cell_count - 1].cell == sum->cells[i].cell)
            sum->cells[s->cell_count - 1].count++;
        else
            sum->cells[s->cell_count++] = sum->cells[i];
    }
    return s;
}

/* The slowest steps have times of their own. */
static void add_slowest(gnomon_builder *b, const uint32_t regions[])
{
    char is_in[STEPS] = {0};
    step_sum sum;
    for (int k = 0; k < SLOWEST; k++) {
        int slowest = -1;
        for (int s = 0; s < STEPS; s++)
            if (!is_in[s] && (slowest < 0 || took[s][0] > took[slowest][0]))
                slowest = s;
        is_in[slowest] = 1;
        const uint64_t begin = (uint64_t)slowest * 100000000;
        const uint32_t step = gnomon_add_step(
            b, &(gnomon_step_info){.stage = 1,
                                   .number = (uint64_t)slowest,
                                   .begin_ns = begin,
                                   .end_ns = begin + took[slowest][0],
                                   .phase = GNOMON_PHASE_RECORD,
                                   .rank = -1});
        for (int i = 0; i <= REGIONS; i++)
            gnomon_add_step_time(
                b, &(gnomon_step_time_info){
                       .stage = 1,
                       .step = step,
                       .region = regions[i],
                       .time = sum_of(&sum, i, slowest, slowest)});
    }
}

/* A rank of `ranks`, of which two are on each host; `attempt` is one of its processes,
 * the next one is on another host. */
static void put_rank(int32_t rank, int32_t ranks, int attempt)
{
    char host[16], path[32], name[16];
    uint32_t regions[REGIONS + 1] = {0}, outer = 0;
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    step_sum sum;
    make_times((uint64_t)rank * 7 + (uint64_t)attempt + 1);
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    snprintf(host, sizeof host, "n%d", (rank + attempt) % (ranks / 2));
    snprintf(path, sizeof path, "r%d-%d.gnomon", rank, attempt);
    gnomon_add_run(b, &(gnomon_run_info){.rank = rank,
                                         .local_rank = -1,
                                         .world_size = ranks,
                                         .host = host,
                                         .uuid = path});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1,
                                .ordinal = 1,
                                .name = "fit",
                                .end_ns = (uint64_t)STEPS * 100000000,
                                .steps = sum_of(&sum, 0, 0, STEPS - 1)});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    for (int i = 1; i <= REGIONS; i++) {
        snprintf(name, sizeof name, "%s%d", i % 2 ? "outer" : "inner", i / 2);
        regions[i] = gnomon_add_region(
            b, &(gnomon_region_info){.name = name, .kind = GNOMON_KIND_SCOPE});
        step_sum inner;
        gnomon_stats s = *sum_of(&sum, i, 0, STEPS - 1);
        s.self_ns =
            i % 2 ? s.total_ns - sum_of(&inner, i + 1, 0, STEPS - 1)->total_ns
                  : s.total_ns;
        uint32_t node =
            gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                                   .stage = 1,
                                                   .parent = i % 2 ? 0 : outer,
                                                   .region = regions[i],
                                                   .host = &s});
        outer = i % 2 ? node : 0;
    }
    for (int i = 0; i <= REGIONS; i++)
        gnomon_add_step_time(
            b, &(gnomon_step_time_info){.stage = 1,
                                        .region = regions[i],
                                        .time = sum_of(&sum, i, 0, STEPS - 1)});
    add_slowest(b, regions);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, "gnomon", path);
    gnomon_profile_free(p);
}

#define COLUMNS \
    "--columns " \
    "time,median,p99,max,steps,why,why_time,why_usual,why2,why2_time," \
    "why2_usual,why3,why3_time,why3_usual"

/* What is said of a rank or host beside others is what is said of its files alone, where
 * there are no groups: which steps, which regions in them, and how long these usually
 * take. Returns how many steps have a region that is named. */
static int check_group(const char *by, int group, const char *files,
                       const char *words)
{
    child_result r = shell(
        "$G report --as steps --format csv " COLUMNS " %s %s >alone && "
        "$G report --as steps --by %s --format csv " COLUMNS
        " %s r*.gnomon | grep -e ^stage -e '^fit,n*%d,' | "
        "cut -d, -f1,3- | diff alone - && grep -c -e inner -e outer alone",
        words, files, by, words, group);
    CHECK_EQ(r.status, 0);
    return atoi(r.out);
}

TEST(a_rank_or_host_has_what_it_has_alone)
{
    static const char *const words[] = {"", "--exclude 'outer*|inner1*'",
                                        "--sort why --limit 4"};
    enum { RANKS = 6 };
    int named = 0;
    char files[64];
    NEEDS_PROGRAM;
    for (int32_t rank = 0; rank < RANKS; rank++)
        put_rank(rank, RANKS, 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (int rank = 0; rank < RANKS; rank++) {
            snprintf(files, sizeof files, "r%d-0.gnomon", rank);
            named += check_group("rank", rank, files, words[i]);
        }
        for (int host = 0; host < RANKS / 2; host++) {
            snprintf(files, sizeof files, "r%d-0.gnomon r%d-0.gnomon", host,
                     host + RANKS / 2);
            named += check_group("host", host, files, words[i]);
        }
    }
    CHECK(named > RANKS * 10);
    /* Outer regions are not named for what is slow inside them. */
    child_result r = shell("$G report --as steps --by rank --format csv "
                           "--columns why,why2,why3 r*.gnomon >all; "
                           "grep -c outer all; grep -c inner all");
    int outer = 0, inner = 0;
    CHECK_EQ(sscanf(r.out, "%d %d", &outer, &inner), 2);
    CHECK(outer > RANKS && inner > RANKS);
    r = shell("grep -e 'inner\\([0-9]*\\),.*outer\\1,' all");
    CHECK_STR(r.out, "");
}

/* Attempts of a rank have one median and ten steps together, on whatever hosts they
 * were. */
TEST(attempts_of_a_rank_are_one)
{
    NEEDS_PROGRAM;
    for (int32_t rank = 0; rank < 4; rank++)
        put_rank(rank, 4, 0);
    put_rank(1, 4, 1);
    CHECK(check_group("rank", 1, "r1-*.gnomon", "") > 0);
    CHECK(check_group("host", 0, "r0-0.gnomon r1-1.gnomon r2-0.gnomon", "") >
          0);
    CHECK(check_group("host", 1, "r1-0.gnomon r3-0.gnomon", "") > 0);
    child_result r =
        shell("$G report --as steps --by rank --format csv --columns steps "
              "--limit 1 r*.gnomon | cut -d, -f2,4; "
              "$G report --as steps --by host --format json r*.gnomon | "
              " grep -o '\"ranks\": .'");
    CHECK_STR(r.out, "rank,steps\n0,40\n1,80\n2,40\n3,40\n\"ranks\": 4\n");
}

/* It was 0.2 MB for each rank or host, with all times of its slowest steps. */
TEST(ranks_and_hosts_take_little_memory)
{
    enum { RANKS = 200 };
    NEEDS_PROGRAM;
    if (IS_SANITIZED)
        SKIP("sanitizers take memory of their own");
    for (int32_t rank = 0; rank < RANKS; rank++)
        put_rank(rank, RANKS, 0);
    const double ranks = program_kib("report --as steps --by rank .");
    const double hosts = program_kib("report --as steps --by host .");
    const double regions = program_kib("report --as regions --by rank .");
    CHECK(ranks > 0 && ranks < 20 * 1024);
    CHECK(hosts > 0 && hosts < 14 * 1024);
    CHECK(regions > 0 && regions < 9 * 1024);
}

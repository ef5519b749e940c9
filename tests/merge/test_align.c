/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clocks of ranks compared by barriers: ranks whose clocks are off by known amounts, and
 * drift, come to one time within the error that is stated.
 * links: static
 * threads: none
 * needs: cli */
#include "program.h"

#include "merge/align.h"
#include "platform/memory.h"
#include "random_profile.h"
#include "saved_profile.h"

enum { BARRIERS = 300, RANKS = 4 };

static double away(double a, double b)
{
    return a < b ? b - a : a - b;
}

/* ---- Two clocks -------------------------------------------------------------------- */

/* The second clock shows (true time - offset) / (1 + drift). Ranks leave a barrier up to
 * `jitter` ns after the last has entered. */
static void make_pairs(gnomon__clock_pair *pairs, double offset, double drift,
                       uint32_t jitter)
{
    for (int i = 0; i < BARRIERS; i++) {
        const double enter_a = 1e9 + 2e7 * i + random_below(5000000);
        const double enter_b = 1e9 + 2e7 * i + random_below(5000000);
        const double last = enter_a > enter_b ? enter_a : enter_b;
        const double leave_a = last + random_below(jitter + 1);
        const double leave_b = last + random_below(jitter + 1);
        const double in_b = (enter_b - offset) / (1 + drift);
        const double out_b = (leave_b - offset) / (1 + drift);
        pairs[i] = (gnomon__clock_pair){.at = leave_a,
                                        .end = leave_a - out_b,
                                        .least = enter_a - out_b,
                                        .most = leave_a - in_b};
    }
}

/* What is to be added at a true moment. */
static double truth(double at, double offset, double drift)
{
    return at - (at - offset) / (1 + drift);
}

TEST(offset_and_drift_are_within_the_error)
{
    static gnomon__clock_pair pairs[BARRIERS];
    for (int round = 0; round < 200; round++) {
        const double offset = (random_below(2000001) - 1e6) * 1e3;
        const double drift = (random_below(2001) - 1e3) * 1e-7;
        const uint32_t jitter = random_below(20000);
        make_pairs(pairs, offset, drift, jitter);
        gnomon__clock_fit f = gnomon__clock_fit_of(pairs, BARRIERS);
        CHECK(!f.is_loose);
        CHECK_EQ(f.count, BARRIERS);
        for (double at = f.from; at <= f.until; at += (f.until - f.from) / 8) {
            const double off =
                away(gnomon__clock_fit_at(&f, at), truth(at, offset, drift));
            if (!CHECK(off <= f.error + 5))
                fprintf(stderr, "    off by %g, said %g\n", off, f.error);
            CHECK(off <= jitter / 2.0 + 20);
        }
        CHECK(f.error < 3.0 * jitter + 200000);
        CHECK(away(f.drift, drift) < 1e-7 + jitter * 2e-10);
    }
}

/* One barrier says nothing of the drift. */
TEST(one_barrier_gives_an_offset)
{
    const gnomon__clock_pair one = {1000, 500, 400, 550};
    gnomon__clock_fit f = gnomon__clock_fit_of(&one, 1);
    CHECK(away(f.offset, 500) < 1e-6 && away(f.error, 100) < 0.1);
    CHECK(away(f.drift, 0) < 1e-12 && !f.is_loose);
}

/* Which barriers are left out as too far off depends on the mean distance of all. */
TEST(a_fit_is_of_its_pairs_alone)
{
    static gnomon__clock_pair pairs[BARRIERS + 1];
    make_pairs(pairs, 1e6, 1e-6, 1000);
    pairs[BARRIERS / 3].end += 1e5;
    const gnomon__clock_fit f = gnomon__clock_fit_of(pairs, BARRIERS);
    pairs[BARRIERS] = (gnomon__clock_pair){2e10, 1e12, 1e12, 1e12};
    const gnomon__clock_fit again = gnomon__clock_fit_of(pairs, BARRIERS);
    CHECK(away(f.offset, again.offset) < 1e-9);
    CHECK(away(f.drift, again.drift) < 1e-15);
}

/* The first and the last barrier allow 0 to 10 ns each, and the one between them 4.5: so
 * what is added at one of the ends is at most 9. */
TEST(limits_may_be_less_than_a_ns_apart)
{
    const gnomon__clock_pair three[] = {
        {0, 0, 0, 10}, {1e6, 0, 0, 10}, {5e5, 0, 0, 4.5}};
    const gnomon__clock_fit f = gnomon__clock_fit_of(three, 3);
    CHECK(away(f.error, 9) < 1e-6 && !f.is_loose);
}

/* A clock that was set in between cannot be a line; the error says how far it is off. */
TEST(a_clock_that_was_set_is_told)
{
    static gnomon__clock_pair pairs[BARRIERS];
    make_pairs(pairs, 1e6, 0, 1000);
    for (int i = BARRIERS / 2; i < BARRIERS; i++) {
        pairs[i].end += 1e9;
        pairs[i].least += 1e9;
        pairs[i].most += 1e9;
    }
    gnomon__clock_fit f = gnomon__clock_fit_of(pairs, BARRIERS);
    CHECK(f.is_loose);
    CHECK(f.error > 1e8);
}

/* Three barriers of a rank whose clock is `late`, of steps 1, 2 and 3. */
static void three_barriers(gnomon__barrier *of, uint64_t late)
{
    for (uint32_t i = 0; i < 3; i++)
        of[i] = (gnomon__barrier){.key = 7,
                                  .step = i + 1,
                                  .begin_ns = 100 * i + late,
                                  .end_ns = 100 * i + 10 + late};
}

/* Those of two threads of one name are like one another: nobody knows which is which. */
TEST(barriers_are_paired_one_with_one)
{
    gnomon__barrier a[3], b[3];
    gnomon__clock_pair *pairs;
    three_barriers(a, 0);
    three_barriers(b, 5);
    CHECK_EQ(gnomon__barriers_match(&(gnomon__barriers){a, 3, 3, 1},
                                    &(gnomon__barriers){b, 3, 3, 1}, 0, &pairs),
             3);
    CHECK(away(pairs[0].end, -5) < 1e-6 && away(pairs[2].at, 210) < 1e-6);
    gnomon__free(pairs);
    /* Only those that are counted are looked at. */
    for (size_t k = 0; k < 9; k++) {
        const size_t i = k / 3, n = k % 3;
        CHECK_EQ(gnomon__barriers_match(&(gnomon__barriers){a, i, 3, 1},
                                        &(gnomon__barriers){b, n, 3, 1}, 0,
                                        &pairs),
                 i < n ? i : n);
        gnomon__free(pairs);
    }
    for (int i = 0; i < 2;
         i++) { /* the first two, then the last two are alike */
        three_barriers(b, 5);
        b[1].step = i ? 3 : 1;
        for (int k = 0; k < 2; k++) {
            const gnomon__barriers one = {k ? a : b, 3, 3, 1};
            const gnomon__barriers other = {k ? b : a, 3, 3, 1};
            CHECK_EQ(gnomon__barriers_match(&one, &other, 0, &pairs), 1);
            CHECK(away(pairs[0].at - (k ? 0 : 5), i ? 10 : 210) < 1e-6);
            gnomon__free(pairs);
        }
    }
}

/* A clock that is 10 % slow or fast: moments go to the nearest ns, up and down. */
TEST(moments_are_rounded_to_the_nearest)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const gnomon__aligned a = {.rate = sign * 0.1};
        for (uint64_t ns = 0; ns <= 30; ns++) {
            gnomon_event_info e = {.begin_ns = ns, .duration_ns = 0};
            gnomon__align_event(&a, &e);
            const uint64_t more = (ns + 4) / 10;
            if (ns % 10 != 5) /* a half may go either way */
                CHECK_EQ(e.begin_ns, sign > 0 ? ns + more : ns - more);
            CHECK_EQ(e.duration_ns, 0);
        }
    }
}

/* The second clock runs 93 ppm fast for an hour: what is added to its moments is the line
 * at the first clock's moments, and not at its own. */
TEST(the_line_is_applied_at_the_moment_that_it_gives)
{
    const double drift = 93e-6, hour = 3.6e12;
    gnomon__aligned a = {.to = 1, .fit = {.count = 1, .drift = drift}};
    gnomon__align_by_fit(&a, 1000000, 5e9);
    for (int i = 0; i <= 100; i++) {
        const double truth = hour * i / 100;
        const double own = truth * (1 - drift) - 5e9;
        if (own < 0)
            continue;
        gnomon_event_info e = {.begin_ns = (uint64_t)(own + 0.5)};
        gnomon__align_event(&a, &e);
        CHECK(away((double)(a.zero_unix_ns + e.begin_ns) - 1e6, truth) < 4);
    }
}

/* Few barriers within a millisecond say nothing of a drift, whatever their ends say. */
TEST(no_drift_is_larger_than_that_of_clocks)
{
    const gnomon__clock_pair two[] = {{1e6, 9e4, -5e5, 1e5},
                                      {2e6, 7e4, -5e5, 1e5}};
    const gnomon__clock_fit f = gnomon__clock_fit_of(two, 2);
    CHECK(f.drift >= -1e-3 && f.drift <= 1e-3 && !f.is_loose);
    CHECK(away(gnomon__clock_fit_at(&f, 1.5e6), 8e4) < 1);
}

/* ---- Files ---------------------------------------------------------------------------- */

static double rank_offset[RANKS] = {0, 3e9, -2.5e6, 12345};
static double rank_drift[RANKS] = {0, 20e-6, -35e-6, 1e-6};

/* A life of all ranks: their processes were started anew at its begin. */
typedef struct rank_life {
    const char *path, *attempt;
    const char *uuids[RANKS];
    double begin;             /* ns, true time */
    const char *hosts[RANKS]; /* NULL: each its own */
} rank_life;

/* What a rank's clock shows at a true moment, since the life's zero, which it takes for
 * Unix time 1e18 and its begin. */
static uint64_t shown(const rank_life *life, int rank, double at)
{
    return (uint64_t)((life->begin + at - rank_offset[rank]) /
                          (1 + rank_drift[rank]) -
                      life->begin + 4e9);
}

static double leave_at[BARRIERS][RANKS];

/* Rank 2 has lost its first steps, and with them the first barriers, and rank 3 its last
 * step. */
static void save_rank(const rank_life *life, int rank, int kind,
                      const double enter[][RANKS])
{
    char path[32], host[] = {'h', (char)('0' + rank), 0};
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    const uint64_t end = shown(life, rank, 4e10);
    const int first = rank == 2 ? 50 : 0;
    const int last = rank == 3 ? BARRIERS - 1 : BARRIERS;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){
                          .rank = rank,
                          .world_size = RANKS + 1,
                          .host = life->hosts[rank] ? life->hosts[rank] : host,
                          .attempt = life->attempt,
                          .uuid = life->uuids[rank],
                          .pid = 70 + rank + (life->begin > 0 ? 20 : 0),
                          .clock_error_ns = 700,
                          .zero_unix_ns = 1000000000000000000u - 4000000000u +
                                          (uint64_t)life->begin,
                          .now_ns = end});
    gnomon_add_metadata(
        b, &(gnomon_metadata_info){.run = 1, .key = "seed", .json = "7"});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1, .name = "fit", .end_ns = end});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    gnomon_add_region(
        b, &(gnomon_region_info){.name = "all_reduce", .kind = (uint32_t)kind});
    gnomon_add_node(b,
                    &(gnomon_node_info){.track = 1, .stage = 1, .region = 1});
    for (int i = first; i < last; i++)
        gnomon_add_step(
            b, &(gnomon_step_info){
                   .stage = 1,
                   .rank = -1,
                   .number = (uint64_t)i,
                   .phase = GNOMON_PHASE_RECORD,
                   .begin_ns = shown(life, rank, enter[i][rank] - 100),
                   .end_ns = shown(life, rank, leave_at[i][rank] + 100)});
    for (int i = first; i < last; i++) {
        const uint64_t begin = shown(life, rank, enter[i][rank]);
        const uint64_t after = shown(life, rank, leave_at[i][rank]);
        gnomon_add_event(b, &(gnomon_event_info){.track = 1,
                                                 .node = 1,
                                                 .begin_ns = begin,
                                                 .duration_ns = after - begin});
        if (i == last - 1)
            gnomon_add_link(b, &(gnomon_link_info){.from = 1,
                                                   .to = 1,
                                                   .count = 1,
                                                   .from_instance = 1,
                                                   .to_instance = 2,
                                                   .from_ns = begin,
                                                   .to_ns = after});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    snprintf(path, sizeof path, "%s%d.gnomon", life->path, rank);
    program_save(p, "gnomon", path);
    gnomon_profile_free(p);
}

/* Moments of barriers are those of all lives, since their begins. */
static void save_lives(int kind, const rank_life *lives, size_t count)
{
    static double enter_at[BARRIERS][RANKS];
    for (int i = 0; i < BARRIERS; i++) {
        double last = 0;
        for (int r = 0; r < RANKS; r++) {
            enter_at[i][r] = 5e9 + 1e8 * i + random_below(5000000);
            last = enter_at[i][r] > last ? enter_at[i][r] : last;
        }
        for (int r = 0; r < RANKS; r++)
            leave_at[i][r] = last + random_below(2000);
    }
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r < RANKS; r++)
            save_rank(&lives[i], r, kind, (const double(*)[RANKS])enter_at);
}

static void save_ranks(int kind)
{
    const rank_life only = {.path = "r"};
    save_lives(kind, &only, 1);
}

/* The error that the metadata of a run says. */
static double said_error(const gnomon_profile *p, uint32_t run)
{
    gnomon_metadata_info d;
    for (size_t i = 1; gnomon_profile_metadata(p, i, &d) == GNOMON_OK; i++)
        if (d.run == run && strcmp(d.key, "gnomon.clock") == 0)
            return strtod(strstr(d.json, "error_ns\": ") + 11, NULL);
    return -1;
}

/* The links of a run go with its last event. */
static void check_links(const gnomon_profile *p, uint32_t run,
                        const gnomon_event_info *last)
{
    gnomon_link_info l;
    gnomon_node_info n;
    gnomon_track_info t;
    int count = 0;
    for (size_t i = 1; gnomon_profile_link(p, i, &l) == GNOMON_OK; i++) {
        gnomon_profile_node(p, l.from, &n);
        gnomon_profile_track(p, n.track, &t);
        if (t.run != run || l.from_ns != last->begin_ns)
            continue;
        CHECK_EQ(l.to_ns, last->begin_ns + last->duration_ns);
        count++;
    }
    CHECK_EQ(count, 1);
}

/* All ranks leave a barrier within the stated errors, by one time, in each life. */
static void check_one_time(const rank_life *lives, size_t count)
{
    gnomon_profile *p = NULL;
    gnomon_event_info e;
    gnomon_track_info t;
    gnomon_run_info run;
    int next[2][RANKS] = {{0, 0, 50, 0}, {0, 0, 50, 0}};
    CHECK_EQ(gnomon_profile_load(&p, "all.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS),
             count * (RANKS * BARRIERS - 51));
    for (size_t i = 1; gnomon_profile_event(p, i, &e) == GNOMON_OK; i++) {
        gnomon_profile_track(p, e.track, &t);
        gnomon_profile_run(p, t.run, &run);
        const double error = said_error(p, t.run);
        const double end = (double)(run.zero_unix_ns - 1000000000000000000u +
                                    e.begin_ns + e.duration_ns);
        const size_t life = count > 1 && end > lives[1].begin;
        const int barrier = next[life][run.rank]++;
        if (barrier == (run.rank == 3 ? BARRIERS - 2 : BARRIERS - 1))
            check_links(p, t.run, &e);
        const double off =
            away(end, lives[life].begin + leave_at[barrier][run.rank]);
        if (!CHECK(off <= error + 1000) || !CHECK(off < 4000)) {
            fprintf(stderr, "    rank %d, life %zu: off by %g, said %g\n",
                    (int)run.rank, life, off, error);
            break;
        }
        CHECK(run.rank ? error > 0 && error < 400000 : error < 1);
    }
    gnomon_profile_free(p);
}

TEST(ranks_get_one_time_by_collectives)
{
    NEEDS_PROGRAM;
    save_ranks(GNOMON_KIND_COLLECTIVE);
    child_result r =
        shell("$G merge --align collectives -o all.gnomon r?.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK(strstr(r.err, "1 of 5 ranks is missing: 4") != NULL);
    CHECK(strstr(r.err, "gnomon: rank 1: +3000") != NULL);
    CHECK(strstr(r.err, "drift +20.") || strstr(r.err, "drift +19.9"));
    CHECK(strstr(r.err, "to rank 0 by 300 barriers; off by at most ") != NULL);
    if (!CHECK(strstr(r.err, "to rank 0 by 250 barriers") != NULL))
        fprintf(stderr, "%s", r.err);
    check_one_time(&(rank_life){.path = "r"}, 1);
    r = shell("$G merge --align collectives -o turned.gnomon r3.gnomon "
              "r1.gnomon r0.gnomon r2.gnomon 2>/dev/null && "
              "cmp turned.gnomon all.gnomon");
    CHECK_EQ(r.status, 0);
}

static void has(child_result r, const char *words)
{
    if (!CHECK(strstr(r.err, words) != NULL))
        fprintf(stderr, "    no %s in %s", words, r.err);
}

/* Ranks 0 and 1 are on one host, 2 and 3 on another, which is 5 ms late. What the first
 * rank of a host is given holds for the second. */
TEST(ranks_of_one_host_keep_one_clock)
{
    const rank_life life = {.path = "r", .hosts = {"h", "h", "k", "k"}};
    const double offset[RANKS] = {0, 0, 5e6, 5e6};
    const double drift[RANKS] = {0, 0, 30e-6, 30e-6};
    double had_offset[RANKS], had_drift[RANKS];
    NEEDS_PROGRAM;
    memcpy(had_offset, rank_offset, sizeof offset);
    memcpy(had_drift, rank_drift, sizeof drift);
    memcpy(rank_offset, offset, sizeof offset);
    memcpy(rank_drift, drift, sizeof drift);
    save_lives(GNOMON_KIND_COLLECTIVE, &life, 1);
    child_result r =
        shell("$G merge --align collectives -o all.gnomon r?.gnomon");
    CHECK_EQ(r.status, 0);
    check_one_time(&life, 1);
    has(r, "rank 1: by the clock of rank 0, which is on the same host, read "
           "within 1.400 us\n");
    has(r, "rank 2: +5299.9");
    has(r, "rank 3: by the clock of rank 2, which is on the same host, read "
           "within 1.400 us\n");
    r = shell("$G cat all.gnomon | grep -o '\"zero_unix_ns\":[^,]*' | sort -u "
              "| wc -l");
    CHECK_EQ(atoi(r.out), 2);
    /* Barriers prove that two machines have one name. */
    memcpy(rank_offset, had_offset, sizeof offset);
    memcpy(rank_drift, had_drift, sizeof drift);
    save_lives(GNOMON_KIND_COLLECTIVE,
               &(rank_life){.path = "r", .hosts = {"h", "h", "h", "k"}}, 1);
    r = shell("$G merge --align collectives -o all.gnomon r?.gnomon");
    check_one_time(&life, 1);
    has(r, "rank 1: +3000");
}

TEST(ranks_get_one_time_by_a_named_region)
{
    NEEDS_PROGRAM;
    save_ranks(GNOMON_KIND_SCOPE);
    child_result r =
        shell("$G merge --align all_reduce -o all.gnomon r?.gnomon");
    CHECK_EQ(r.status, 0);
    check_one_time(&(rank_life){.path = "r"}, 1);
    r = shell("$G merge --align collectives -o none.gnomon r?.gnomon");
    CHECK(strstr(r.err, "rank 3: by the clocks of the hosts, read within "
                        "1.400 us; those of two hosts may differ by more\n"));
    CHECK(strstr(r.err,
                 "gnomon: --align collectives: no two ranks have single "
                 "executions of collectives; files have them of trace\n"));
    r = shell("$G merge --align all_redcue -o none.gnomon r?.gnomon");
    CHECK(strstr(r.err, "gnomon: --align all_redcue: no two ranks have single "
                        "executions of that name; files have them of trace\n"));
    r = shell("$G merge --align hosts -o none.gnomon r?.gnomon");
    CHECK_EQ(times_in(r.err, "--align"), 0);
}

/* All ranks were restarted, by a launcher that counts or by hand. Steps have the same
 * numbers again, but each life is compared with itself. */
TEST(restarted_ranks_get_one_time)
{
    static const rank_life counted[] = {
        {.path = "r"}, {.path = "s", .attempt = "1", .begin = 2e11}};
    static const rank_life by_hand[] = {
        {.path = "r", .uuids = {"b", "a", "a", "b"}},
        {.path = "s", .uuids = {"a", "b", "b", "a"}, .begin = 2e11}};
    NEEDS_PROGRAM;
    save_lives(GNOMON_KIND_COLLECTIVE, counted, 2);
    child_result r =
        shell("$G merge --align collectives -o all.gnomon [rs]?.gnomon");
    CHECK_EQ(r.status, 0);
    check_one_time(counted, 2);
    has(r, "rank 1, attempt 1: +30");
    has(r, "ppm, to rank 0, attempt first by 300 barriers");
    has(r, "ppm, to rank 0, attempt 1 by 300 barriers");
    save_lives(GNOMON_KIND_COLLECTIVE, by_hand, 2);
    r = shell("$G merge --align collectives -o all.gnomon [rs]?.gnomon");
    CHECK_EQ(r.status, 0);
    check_one_time(by_hand, 2);
    has(r, "rank 1, process 91: +30");
    has(r, "ppm, to rank 0, process 90 by 300 barriers");
}

/* Barriers of one life are none of another. */
TEST(a_rank_that_was_restarted_alone_keeps_its_time)
{
    static const rank_life by_hand[] = {
        {.path = "r", .uuids = {"a", "a", "a", "a"}},
        {.path = "s", .uuids = {"b", "b", "b", "b"}, .begin = 2e11}};
    static const rank_life counted[] = {
        {.path = "r"}, {.path = "s", .attempt = "1", .begin = 2e11}};
    NEEDS_PROGRAM;
    save_lives(GNOMON_KIND_COLLECTIVE, by_hand, 2);
    child_result r =
        shell("$G merge --align collectives -o all.gnomon r?.gnomon s1.gnomon");
    CHECK_EQ(r.status, 0);
    has(r, "rank 1, process 71: +30");
    has(r, "rank 1, process 91: by the clocks of the hosts, read within 1.400");
    save_lives(GNOMON_KIND_COLLECTIVE, counted, 2);
    r = shell("$G merge --align collectives -o all.gnomon r?.gnomon s1.gnomon");
    CHECK_EQ(r.status, 0);
    has(r, "rank 1, attempt first: +30");
    has(r, "rank 1, attempt 1: by the clock of its host, as no lower rank has "
           "this attempt\n");
}

/* Each rank has its own word on its clock beside what its run says; once more aligned,
 * it has the new one in place of the old. */
TEST(metadata_of_runs_stay)
{
    NEEDS_PROGRAM;
    save_ranks(GNOMON_KIND_COLLECTIVE);
    child_result r =
        shell("$G merge --align collectives -o a.gnomon r?.gnomon && "
              "$G merge --align collectives -o b.gnomon a.gnomon && "
              "for f in a b; do $G cat $f.gnomon >$f; "
              "grep -c '\"seed\"' $f; grep -c '\"gnomon.clock\"' $f; done");
    CHECK_STR(r.out, "4\n4\n4\n4\n");
}

TEST(by_hosts_nothing_is_moved)
{
    NEEDS_PROGRAM;
    save_ranks(GNOMON_KIND_COLLECTIVE);
    child_result r = shell("$G merge --align hosts -o a.gnomon r?.gnomon && "
                           "$G merge -o b.gnomon r?.gnomon && "
                           "$G cat a.gnomon | grep -v '\"gnomon.clock\"' >a; "
                           "$G cat b.gnomon >b; "
                           "diff a b | grep -c '^[<>].*begin_ns'");
    CHECK_STR(r.out, "0\n");
}

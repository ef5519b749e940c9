/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps of summed ranks and stages: steps stay separate, the slowest of all
 * are kept, and each has its rank.
 *
 * links: testing
 * threads: none
 * needs: cli */
#include "merging.h"
#include "step_times.h"

#define MS 1000000u

/* A rank's run of one stage, with `steps` steps, the first of `first` ms,
 * each a ms longer. In each "load" takes all but a millisecond. */
static bytes rank_of(int32_t rank, int steps, uint64_t first)
{
    gnomon_builder *b;
    gnomon_cell cell, cells[16];
    gnomon_stats one = {sizeof one, 0, 1, 0, 0, 0, 0, &cell, 1};
    gnomon_stats all = {sizeof all, 0, 0, 0, 0, 0, 0, cells, 0};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    const uint32_t load =
        gnomon_add_region(b, &(gnomon_region_info){.name = "load"});
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){
               .rank = rank, .local_rank = -1, .world_size = 2, .host = "a"});
    for (int i = 0; i < steps; i++) {
        uint64_t ns = (first + (uint64_t)i) * MS;
        uint32_t its = gnomon_cell_of(ns);
        if (!all.cell_count || cells[all.cell_count - 1].cell != its)
            cells[all.cell_count++] = (gnomon_cell){its, 0, 0};
        cells[all.cell_count - 1].count++;
        all.count++;
        all.total_ns += ns;
        all.min_ns = i ? all.min_ns : ns;
        all.max_ns = ns;
    }
    const uint32_t stage =
        gnomon_add_stage(b, &(gnomon_stage_info){.run = run,
                                                 .ordinal = 2,
                                                 .name = "fit",
                                                 .end_ns = 1000 * MS,
                                                 .steps = &all});
    gnomon_add_step_time(
        b, &(gnomon_step_time_info){.stage = stage, .time = &all});
    for (int i = 0; i < steps; i++) {
        uint64_t ns = (first + (uint64_t)i) * MS;
        const uint32_t step = gnomon_add_step(
            b, &(gnomon_step_info){.stage = stage,
                                   .number = (uint64_t)i,
                                   .begin_ns = (uint64_t)i * 100 * MS,
                                   .end_ns = (uint64_t)i * 100 * MS + ns,
                                   .phase = GNOMON_PHASE_RECORD,
                                   .rank = -1});
        for (uint32_t region = 0; region <= load; region++) {
            uint64_t its = ns - region * MS;
            one.total_ns = one.min_ns = one.max_ns = its;
            cell = (gnomon_cell){gnomon_cell_of(its), 0, 1};
            gnomon_add_step_time(b, &(gnomon_step_time_info){.stage = stage,
                                                             .step = step,
                                                             .region = region,
                                                             .time = &one});
        }
    }
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes made = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return made;
}

/* A slow step of a rank, and what "load" took in it. */
static void check_slow(const gnomon_profile *p, int32_t rank, uint64_t number,
                       uint64_t load_ms)
{
    gnomon_step_info s;
    gnomon_step_time_info t;
    uint64_t ns = 0;
    size_t step = 1;
    while (gnomon_profile_step(p, step, &s) == GNOMON_OK &&
           (s.rank != rank || s.number != number))
        step++;
    CHECK_EQ(s.ordinal, 2);
    CHECK_EQ(s.end_ns - s.begin_ns, (load_ms + 1) * MS);
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        if (t.step == step && t.region)
            ns = t.time->total_ns;
    CHECK_EQ(ns, load_ms * MS);
}

/* Eight of 11 to 18 ms and eight of 14 to 21: the ten slowest are four and
 * six. Of equal ones the lower rank's is kept. */
TEST(of_ranks_the_slowest_stay_with_their_rank)
{
    bytes parts[] = {rank_of(0, 8, 11), rank_of(1, 8, 14)};
    bytes turned[] = {parts[1], parts[0]};
    bytes sum = summed(parts, 2, NULL), other = summed(turned, 2, NULL);
    CHECK(bytes_equal(&sum, &other));
    gnomon_profile *p = read_back(&sum);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(step_stats(p, 1, NULL).count, 16);
    CHECK_EQ(slow_steps(p, 1), 10);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 10); /* and no others */
    for (uint64_t i = 4; i < 8; i++)
        check_slow(p, 0, i, 10 + i);
    for (uint64_t i = 2; i < 8; i++)
        check_slow(p, 1, i, 13 + i);
    gnomon_profile_free(p);
    free(sum.at);
    free(other.at);
    free(parts[0].at);
    free(parts[1].at);
}

/* A merged file has each run's own; their sum is that of the files. */
TEST(a_merged_file_keeps_those_of_each_run)
{
    bytes parts[] = {rank_of(0, 8, 11), rank_of(1, 8, 14)};
    bytes whole = merged(parts, 2);
    gnomon_profile *p = read_back(&whole);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 16);
    CHECK_EQ(slow_steps(p, 1), 8);
    CHECK_EQ(slow_steps(p, 2), 8);
    bytes sum = summed(parts, 2, NULL), again = summed(&whole, 1, NULL);
    CHECK(bytes_equal(&sum, &again));
    gnomon_profile_free(p);
    free(sum.at);
    free(again.at);
    free(whole.at);
    free(parts[0].at);
    free(parts[1].at);
}

/* Two runs of one rank, without uuids: each step is unchanged. */
TEST(steps_of_one_number_do_not_become_one)
{
    bytes parts[] = {rank_of(0, 3, 20), rank_of(0, 4, 60)};
    bytes whole = merged(parts, 2);
    gnomon_profile *p = read_back(&whole);
    gnomon_step_info s;
    /* Steps that begin at the same time are readings of one, and the longer
     * is kept. */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 4);
    for (size_t i = 1; gnomon_profile_step(p, i, &s) == GNOMON_OK; i++)
        CHECK_EQ(s.end_ns - s.begin_ns, (59 + i) * MS);
    CHECK_EQ(step_stats(p, 1, NULL).count, 7);
    gnomon_profile_free(p);
    free(whole.at);
    free(parts[0].at);
    free(parts[1].at);
}

/* ---- Calls and the time of the stepping thread ---------------------------------- */

static uint32_t put_once(gnomon_builder *b, uint32_t step, uint32_t region,
                         uint64_t ns)
{
    const gnomon_cell cell = {gnomon_cell_of(ns), 0, 1};
    const gnomon_stats once = {sizeof once, 0, 1, ns, 0, ns, ns, &cell, 1};
    return gnomon_add_step_time(
        b, &(gnomon_step_time_info){
               .stage = 1, .step = step, .region = region, .time = &once});
}

/* A reading of one run: "load" in its only step, and in all. */
static bytes reading_of(int32_t rank, uint64_t ns, uint64_t own_ns,
                        uint64_t calls)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    const gnomon_cell cell = {gnomon_cell_of(ns), 0, 1};
    const gnomon_stats once = {sizeof once, 0, 1, ns, 0, ns, ns, &cell, 1};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_region(b, &(gnomon_region_info){.name = "load"});
    gnomon_add_run(b, &(gnomon_run_info){.rank = rank, .uuid = "u"});
    gnomon_add_stage(b, &(gnomon_stage_info){.run = 1, .ordinal = 1});
    gnomon_add_step(
        b, &(gnomon_step_info){
               .stage = 1, .begin_ns = MS, .end_ns = 2 * MS, .rank = -1});
    for (uint32_t step = 0; step <= 1; step++) {
        put_once(b, step, 0, MS);
        gnomon_add_step_time(b, &(gnomon_step_time_info){.stage = 1,
                                                         .step = step,
                                                         .region = 1,
                                                         .time = &once,
                                                         .own_ns = own_ns,
                                                         .calls = calls});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes made = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return made;
}

static void check_load(const bytes *of, int is_sum, uint64_t own_ns,
                       uint64_t calls)
{
    gnomon_profile *p = read_back(of);
    gnomon_step_time_info t;
    int found = 0;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++) {
        if (!t.region || (is_sum && t.step))
            continue;
        CHECK_EQ(t.own_ns, own_ns);
        CHECK_EQ(t.calls, calls);
        found++;
    }
    CHECK_EQ(found, 2 - is_sum);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    gnomon_profile_free(p);
}

/* An older file's reading says neither, and one of less time had not seen it all. */
TEST(readings_keep_calls_with_their_time_and_ranks_add_them_up)
{
    bytes parts[] = {reading_of(0, 700, 500, 3), reading_of(0, 700, 0, 0),
                     reading_of(0, 600, 600, 9)};
    bytes turned[] = {parts[2], parts[1], parts[0]};
    bytes one = merged(parts, 3), other = merged(turned, 3);
    CHECK(bytes_equal(&one, &other));
    check_load(&one, 0, 500, 3);
    bytes ranks[] = {parts[0], reading_of(1, 400, 100, 5)};
    bytes sum = summed(ranks, 2, NULL);
    check_load(&sum, 1, 600, 8);
    free(sum.at);
    free(ranks[1].at);
    free(one.at);
    free(other.at);
    for (int i = 0; i < 3; i++)
        free(parts[i].at);
}

/* ---- Many steps --------------------------------------------------------------- */

/* Steps of more than `ns`, each a ns longer. */
static bytes file_of_many(uint32_t steps, uint64_t ns)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_region(b, &(gnomon_region_info){.name = "load"});
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    gnomon_add_stage(b, &(gnomon_stage_info){.run = 1, .ordinal = 1});
    for (uint32_t i = 1; i <= steps; i++) {
        gnomon_add_step(b, &(gnomon_step_info){.stage = 1,
                                               .number = i,
                                               .begin_ns = i * MS,
                                               .end_ns = i * MS + ns + i,
                                               .rank = -1});
        put_once(b, i, 0, ns + i);
    }
    put_once(b, 0, 0, 50);
    put_once(b, 0, 1, 40);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes made = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return made;
}

/* Of a run in three files; so many that all but the slowest are left out before the next
 * file is added, whose own are slower than each that stayed. */
TEST(the_slowest_of_a_run_in_several_files)
{
    bytes files[] = {file_of_many(9000, 0), file_of_many(20, 10000),
                     file_of_many(5, 20000)};
    bytes whole = merged(files, 3);
    gnomon_profile *p = read_back(&whole);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
    CHECK_EQ(slow_steps(p, 1), 10);
    CHECK_EQ(step_stats(p, 1, NULL).count, 3);
    CHECK_EQ(step_stats(p, 1, "load").count, 3);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEP_TIMES), 12);
    gnomon_profile_free(p);
    free(whole.at);
    for (int i = 0; i < 3; i++)
        free(files[i].at);
}

/* ---- Invalid steps ------------------------------------------------------- */

static void check_refused(uint32_t step_stage, uint64_t count, int has_time,
                          uint64_t own_ns, const char *why)
{
    gnomon_builder *b;
    gnomon_profile *p;
    const gnomon_cell cell = {5, 0, count};
    const gnomon_stats time = {sizeof time, 0, count, 5 * count, 0,
                               5,           5, &cell, 1};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    for (uint32_t i = 1; i <= 2; i++)
        gnomon_add_stage(b, &(gnomon_stage_info){.ordinal = i, .name = ""});
    const uint32_t step = gnomon_add_step(
        b, &(gnomon_step_info){.stage = step_stage, .end_ns = 5});
    gnomon_add_step_time(
        b, &(gnomon_step_time_info){.stage = 1,
                                    .step = step,
                                    .time = has_time ? &time : NULL,
                                    .own_ns = own_ns});
    CHECK_EQ(gnomon_builder_finish(b, &p), why ? GNOMON_EINVAL : GNOMON_OK);
    if (why)
        CHECK(strstr(gnomon_error_text(), why) != NULL);
    else
        gnomon_profile_free(p);
}

TEST(times_that_are_of_no_step_are_refused)
{
    check_refused(1, 1, 1, 5, NULL);
    check_refused(2, 1, 1, 0, "its step is of another stage");
    check_refused(1, 2, 1, 0, "its time not of one step");
    check_refused(1, 1, 0, 0, "there is no time");
    check_refused(1, 1, 1, 6, "own_ns is above total_ns");
}

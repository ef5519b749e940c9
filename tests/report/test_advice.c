/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules of advice: each has a profile that crosses its threshold and one that is just
 * below it. What they print is text/cli_report/advice*.txt.
 * links: static
 * threads: none
 * needs: cli */
#include <math.h>

#include "gnomon.h"
#include "random_profile.h"
#include "report/advice.h"
#include "test.h"

#define MS 1000000.0
#define MOST 512

/* ---- Profiles that are made ---------------------------------------------------------- */

/* A rank with one stage, whose steps follow one another. */
typedef struct made_rank {
    gnomon_builder *b;
    uint32_t run, stage, main, regions;
    uint64_t begin_ns[MOST + 1]; /* of steps, and the end of the last one */
    size_t steps;
    const char *names[8]; /* of regions */
} made_rank;

static uint64_t sizes_ns[MOST];

/* Durations that will be those of steps or executions. */
static size_t same(size_t count, double ns)
{
    for (size_t i = 0; i < count; i++)
        sizes_ns[i] = (uint64_t)ns;
    return count;
}

/* Statistics of the first `count` sizes. */
static const gnomon_stats *stats(size_t count, double self)
{
    static gnomon_stats s;
    static gnomon_cell cells[MOST];
    s = (gnomon_stats){.struct_size = sizeof s,
                       .count = count,
                       .min_ns = UINT64_MAX,
                       .cells = cells};
    for (uint32_t cell = 0; cell < 976; cell++) {
        uint64_t n = 0;
        for (size_t i = 0; i < count; i++)
            n += gnomon_cell_of(sizes_ns[i]) == cell;
        if (n)
            cells[s.cell_count++] = (gnomon_cell){cell, 0, n};
    }
    for (size_t i = 0; i < count; i++) {
        s.total_ns += sizes_ns[i];
        s.min_ns = sizes_ns[i] < s.min_ns ? sizes_ns[i] : s.min_ns;
        s.max_ns = sizes_ns[i] > s.max_ns ? sizes_ns[i] : s.max_ns;
    }
    s.self_ns = self < 0 ? s.total_ns : (uint64_t)self;
    return &s;
}

static uint32_t track(made_rank *m, int kind, const char *name, int device)
{
    return gnomon_add_track(m->b, &(gnomon_track_info){.run = m->run,
                                                       .kind = (uint32_t)kind,
                                                       .name = name,
                                                       .device = device});
}

/* With `count` steps of these sizes. */
static made_rank rank_of(int rank, size_t count)
{
    made_rank m = {.steps = count};
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++)
        m.begin_ns[i + 1] = m.begin_ns[i] + sizes_ns[i];
    CHECK_EQ(gnomon_builder_create(&m.b), GNOMON_OK);
    m.run = gnomon_add_run(
        m.b, &(gnomon_run_info){
                 .rank = rank, .host = "node", .now_ns = m.begin_ns[count]});
    m.stage = gnomon_add_stage(
        m.b, &(gnomon_stage_info){.run = m.run,
                                  .ordinal = 1,
                                  .name = "fit",
                                  .end_ns = m.begin_ns[count],
                                  .steps = count ? stats(count, -1) : NULL});
    m.main = track(&m, GNOMON_TRACK_THREAD, "main", -1);
    for (size_t i = 0; i < count; i++, at = m.begin_ns[i])
        gnomon_add_step(m.b, &(gnomon_step_info){.stage = m.stage,
                                                 .number = i,
                                                 .begin_ns = at,
                                                 .end_ns = m.begin_ns[i + 1],
                                                 .phase = GNOMON_PHASE_RECORD,
                                                 .rank = -1});
    return m;
}

/* One of a name is one. */
static uint32_t region(made_rank *m, const char *name, int kind)
{
    for (uint32_t i = 0; i < m->regions; i++)
        if (strcmp(m->names[i], name) == 0)
            return i + 1;
    m->names[m->regions++] = name;
    return gnomon_add_region(
        m->b, &(gnomon_region_info){.name = name, .kind = (uint32_t)kind});
}

/* `self` below 0: all of it. */
static uint32_t path(made_rank *m, uint32_t on, uint32_t parent,
                     const char *name, size_t count, double self)
{
    return gnomon_add_node(
        m->b, &(gnomon_node_info){.track = on,
                                  .stage = m->stage,
                                  .parent = parent,
                                  .region = region(m, name, GNOMON_KIND_SCOPE),
                                  .flags = GNOMON_NODE_PARTIAL,
                                  .host = stats(count, self)});
}

/* The rest of each step. */
static void forward(made_rank *m, double ns)
{
    path(m, m->main, 0, "forward", same(m->steps, ns), -1);
}

static gnomon_profile *made(made_rank *m)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(m->b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static gnomon__findings found;

/* Makes `found`, of profiles that it frees. */
static void advise(gnomon_profile *const *p, size_t count)
{
    gnomon__findings_free(&found);
    CHECK_EQ(gnomon__advise(&found, (const gnomon_profile *const *)p, count),
             GNOMON_OK);
    for (size_t i = 0; i < found.count; i++) /* texts must not need these */
        CHECK(*found.at[i].what && *found.at[i].from);
}

static const gnomon__finding *of_rule(const char *rule)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.at[i].rule->name, rule) == 0)
            return &found.at[i];
    return NULL;
}

static gnomon_profile *kept[2];

/* Whether the only finding is of the rule and says that; "" : there is none at all. */
static void finds_of(const char *rule, const char *what, size_t count)
{
    advise(kept, count);
    const gnomon__finding *f = of_rule(rule);
    CHECK_EQ(found.count, *what != '\0');
    for (size_t i = 0; i < found.count; i++)
        if (&found.at[i] != f || !strstr(f->what, what))
            fprintf(stderr, "    %s: %s\n", found.at[i].rule->name,
                    found.at[i].what);
    if (*what)
        CHECK(f && strstr(f->what, what));
    while (count)
        gnomon_profile_free(kept[--count]);
}

static void finds(made_rank *m, const char *rule, const char *what)
{
    kept[0] = made(m);
    finds_of(rule, what, 1);
}

/* ---- Loaders ------------------------------------------------------------------------- */

static made_rank loading(double ns)
{
    made_rank m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 8.5 * MS);
    path(&m, m.main, 0, "train_dataloader_next", same(100, ns), -1);
    return m;
}

static void workers(made_rank *m, double share, const char *cpus)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t on =
            track(m, GNOMON_TRACK_THREAD, i ? "worker 1" : "worker 0", -1);
        path(m, on, 0, "decode", same(100, share * 10 * MS), -1);
    }
    if (cpus)
        gnomon_add_metadata(m->b, &(gnomon_metadata_info){.run = m->run,
                                                          .key = "cpus",
                                                          .json = cpus});
}

TEST(waits_for_loaders)
{
    made_rank m = loading(1.1 * MS);
    finds(&m, "loader", "waits 11 % of the steps for train_dataloader_next");
    m = loading(1.0 * MS);
    finds(&m, "loader", "");
}

TEST(a_first_batch_is_start_up)
{
    made_rank m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 8.5 * MS);
    (void)same(100, 0.5 * MS);
    sizes_ns[0] = (uint64_t)(100 * MS);
    path(&m, m.main, 0, "train_dataloader_next", 100, -1);
    finds(&m, "loader", "");
}

/* The loader is asked once more at the end of each. */
TEST(so_is_that_of_each_epoch)
{
    for (size_t epochs = 0; epochs <= 4; epochs += 4) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        forward(&m, 8.5 * MS);
        (void)same(100 + epochs, 0.5 * MS);
        for (size_t i = 0; i < 4; i++) /* the longest is start-up in any case */
            sizes_ns[i] = (uint64_t)(100 * MS);
        path(&m, m.main, 0, "train_dataloader_next", 100 + epochs, -1);
        finds(&m, "loader", !epochs ? "waits 35 % of the steps" : "");
    }
}

/* Asked `asked` times in step 40, which takes long. */
static made_rank beginning_anew(size_t asked)
{
    (void)same(100, 10 * MS);
    sizes_ns[40] = (uint64_t)(100 * MS);
    made_rank m = rank_of(-1, 100);
    const uint32_t of = region(&m, "train_dataloader_next", GNOMON_KIND_SCOPE);
    for (uint32_t step = 0; step <= 41; step += 41)
        gnomon_add_step_time(
            m.b,
            &(gnomon_step_time_info){
                .stage = m.stage,
                .step = step,
                .region = of,
                .time = stats(same(step ? 1 : 100, step ? 90 * MS : 2 * MS), 0),
                .own_ns = (uint64_t)((step ? 90 : 190) * MS),
                .calls = step ? asked : 101});
    forward(&m, 9 * MS);
    return m;
}

TEST(the_first_step_of_an_epoch_is_no_slow_one)
{
    made_rank m = beginning_anew(2);
    finds(&m, "slow step", "");
    m = beginning_anew(1);
    finds(&m, "slow step", "Step 40 took 100 ms");
}

TEST(more_workers_only_where_they_are_busy_and_cores_are_free)
{
    made_rank m = loading(1.2 * MS);
    workers(&m, 0.85, "16");
    kept[0] = made(&m);
    advise(kept, 1);
    CHECK_STR(of_rule("loader")->tries, "more workers");
    CHECK(!of_rule("loader")->unsure);
    gnomon_profile_free(kept[0]);
    m = loading(1.2 * MS);
    workers(&m, 0.79, "16");
    finds(&m, "loader", "workers are busy 79 %: workers idle too");
    m = loading(1.2 * MS);
    workers(&m, 0.85, "3");
    finds(&m, "loader", "no core is left");
    m = loading(1.2 * MS);
    workers(&m, 0.85, NULL);
    kept[0] = made(&m);
    advise(kept, 1);
    CHECK(strstr(of_rule("loader")->unsure, "whether cores are free"));
    gnomon_profile_free(kept[0]);
}

/* The thread that makes the steps is not the one that is busiest. */
TEST(workers_that_never_rest_make_no_steps)
{
    made_rank m = loading(1.2 * MS);
    for (int k = 0; k < 2; k++)
        gnomon_add_step_time(
            m.b,
            &(gnomon_step_time_info){
                .stage = m.stage,
                .region = region(&m, k ? "forward" : "train_dataloader_next",
                                 GNOMON_KIND_SCOPE),
                .time = stats(same(100, k ? 8.5 * MS : 1.2 * MS), 0),
                .own_ns = (uint64_t)(k ? 850 * MS : 120 * MS),
                .calls = 100});
    workers(&m, 1, "16");
    finds(&m, "loader", "its 2 workers are busy 100 %");
}

/* ---- Steps --------------------------------------------------------------------------- */

static made_rank stepping(double ns, size_t every, double longer,
                          const char *in)
{
    (void)same(100, ns);
    for (size_t i = 1; i < 100; i++)
        if (every ? i % every == every - 1 : i == 40)
            sizes_ns[i] = (uint64_t)longer;
    made_rank m = rank_of(-1, 100);
    const size_t count = every ? 100 / every : 1;
    const uint32_t of = region(&m, in, GNOMON_KIND_SCOPE);
    const size_t slow = every ? every - 1 : 40;
    for (int all = 0; all < 2; all++)
        gnomon_add_step_time(
            m.b,
            &(gnomon_step_time_info){
                .stage = m.stage,
                .step = all ? 0 : (uint32_t)slow + 1,
                .region = of,
                .time = stats(same(all ? count : 1, longer - ns), 0),
                .own_ns = (uint64_t)(all ? count : 1) * (uint64_t)(longer - ns),
                .calls = all ? count : 1});
    path(&m, m.main, 0, in, same(count, longer - ns), -1);
    forward(&m, ns);
    return m;
}

TEST(slow_steps_are_named_with_what_was_longer)
{
    made_rank m = stepping(20 * MS, 0, 71 * MS, "save_checkpoint");
    finds(&m, "slow step",
          "Step 40 took 71 ms, usually 20.5 ms: 51 ms more in "
          "save_checkpoint");
    m = stepping(20 * MS, 0, 69 * MS, "save_checkpoint");
    finds(&m, "slow step", ""); /* less than 50 ms more */
    m = stepping(30 * MS, 0, 89 * MS, "save_checkpoint");
    finds(&m, "slow step", ""); /* less than 3 times */
}

TEST(a_first_step_is_no_slow_one)
{
    (void)same(100, 20 * MS);
    sizes_ns[0] = (uint64_t)(500 * MS);
    made_rank m = rank_of(-1, 100);
    path(&m, m.main, 0, "forward", same(100, 25 * MS), -1);
    finds(&m, "slow step", "");
}

TEST(periodic_steps_are_named_with_their_period)
{
    made_rank m = stepping(10 * MS, 10, 16 * MS, "validate");
    finds(&m, "periodic step",
          "1 of 10 steps takes 5.73 ms more, 5 % of the total time: 6 ms more "
          "in validate");
    m = stepping(10 * MS, 10, 15 * MS, "validate");
    finds(&m, "periodic step", "");
}

/* Each 20 steps it generates, which takes long, and in the middle it validates. */
TEST(periods_of_two_kinds_are_two)
{
    for (size_t more = 10; more <= 100; more += 90) {
        (void)same(128, 30 * MS);
        for (size_t i = 10; i < 128; i += 10)
            sizes_ns[i] += (uint64_t)((i % 20 ? (double)more : 430) * MS);
        made_rank m = rank_of(-1, 128);
        path(&m, m.main, 0, "generate", same(6, 430 * MS), -1);
        forward(&m, 29 * MS);
        gnomon_profile *p = made(&m);
        advise(&p, 1);
        gnomon_profile_free(p);
        if (!CHECK_EQ(found.count, more < 100 ? 1 : 2))
            continue;
        CHECK(strstr(found.at[0].what, "1 of 20 steps takes 430 ms more"));
        CHECK(strstr(found.at[0].unsure, "perhaps generate"));
        if (more == 100)
            CHECK_STR(found.at[1].rule->name, "periodic step");
    }
}

/* Without times in steps what ran as often is perhaps the reason. */
TEST(a_reason_is_guessed_by_how_often_it_ran)
{
    for (size_t count = 8; count <= 12; count++) {
        (void)same(100, 10 * MS);
        for (size_t i = 9; i < 100; i += 10)
            sizes_ns[i] = (uint64_t)(20 * MS);
        made_rank m = rank_of(-1, 100);
        path(&m, m.main, 0, "validate", same(count, 8 * MS), -1);
        path(&m, m.main, 0, "log", same(10, MS), -1);
        forward(&m, 9 * MS);
        finds(&m, "periodic step", "1 of 10 steps takes");
        const char *unsure = of_rule("periodic step")->unsure;
        CHECK(!!strstr(unsure, "perhaps validate, which ran") ==
              (count >= 9 && count <= 11));
        CHECK(!strstr(unsure, "log"));
    }
}

/* Slow ones at random have no period. */
TEST(noise_has_no_period)
{
    for (uint64_t k = 1; k <= 200; k++) {
        random_word = k * 2654435761u;
        for (size_t i = 0; i < 64; i++)
            sizes_ns[i] = random_below(8) ? 10000000 : 20000000;
        made_rank m = rank_of(-1, 64);
        forward(&m, 10 * MS);
        finds(&m, "periodic step", "");
    }
}

/* ---- Marks --------------------------------------------------------------------------- */

TEST(time_outside_of_marks_is_told)
{
    made_rank m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 7.4 * MS);
    finds(&m, "unmarked", "26 % of the steps is not marked: 260 ms outside");
    m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 7.6 * MS);
    finds(&m, "unmarked", "");
    m = rank_of(-1, same(100, 10 * MS));
    const uint32_t step =
        path(&m, m.main, 0, "train_step", same(100, 10 * MS), 260 * MS);
    path(&m, m.main, step, "forward", same(100, 7.4 * MS), -1);
    finds(&m, "unmarked", "around the whole step: train_step");
}

/* One that is around all steps ends in one of them, so little of it is known to be in
 * steps; what is inside of it tells. */
TEST(a_scope_around_the_steps_is_no_time_outside)
{
    for (int is = 0; is < 2; is++) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        const double each = is ? 7 * MS : 9 * MS;
        const uint32_t epoch = path(&m, m.main, 0, "epoch", same(1, 1000 * MS),
                                    1000 * MS - 100 * each);
        path(&m, m.main, epoch, "train_step", same(100, each), -1);
        for (uint32_t k = 0; k < 2; k++)
            gnomon_add_step_time(
                m.b,
                &(gnomon_step_time_info){
                    .stage = m.stage,
                    .region = region(&m, k ? "epoch" : "train_step",
                                     GNOMON_KIND_SCOPE),
                    .time = stats(same(k ? 1 : 100, k ? 10 * MS : each), 0),
                    .own_ns = (uint64_t)(k ? 10 * MS : 100 * each),
                    .calls = k ? 1 : 100});
        finds(&m, "unmarked", is ? "30 % of the steps" : "");
    }
}

TEST(marks_that_cost_more_than_they_tell)
{
    for (int is = 0; is < 2; is++) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        const uint64_t count = is ? 510000 : 490000;
        const gnomon_cell cell = {gnomon_cell_of(100), 0, count};
        const gnomon_stats s = {.struct_size = sizeof s,
                                .count = count,
                                .total_ns = count * 100,
                                .self_ns = count * 100,
                                .min_ns = 100,
                                .max_ns = 100,
                                .cells = &cell,
                                .cell_count = 1};
        gnomon_add_node(
            m.b,
            &(gnomon_node_info){.track = m.main,
                                .stage = m.stage,
                                .region = region(&m, "tiny", GNOMON_KIND_SCOPE),
                                .host = &s});
        forward(&m, 9 * MS);
        finds(&m, "mark", is ? "The mark tiny costs about 20.4 ms" : "");
    }
}

/* ---- Devices ------------------------------------------------------------------------- */

/* `count` kernels, each launched `gap` after the one before was over; where `copies`,
 * these times are filled on another stream. */
static made_rank on_device(size_t count, double work, double gap, int copies)
{
    made_rank m = rank_of(-1, same(1, (double)(count + 1) * (work + gap)));
    const uint32_t calls = track(&m, GNOMON_TRACK_LANE, "calls", 0),
                   streams[] = {track(&m, GNOMON_TRACK_STREAM, "stream 7", 0),
                                track(&m, GNOMON_TRACK_STREAM, "stream 8", 0)};
    uint32_t nodes[3];
    const struct {
        const char *name;
        int kind;
        uint32_t on;
        double ns;
    } of[] = {{"cudaLaunchKernel", GNOMON_KIND_API, calls, gap / 2},
              {"gemm", GNOMON_KIND_KERNEL, streams[0], work},
              {"Memcpy HtoD", GNOMON_KIND_COPY, streams[1], gap}};
    const uint32_t scope = path(&m, m.main, 0, "forward", same(1, 1000), -1);
    (void)scope;
    for (int i = 0; i < 2 + copies; i++)
        nodes[i] = gnomon_add_node(
            m.b,
            &(gnomon_node_info){.track = of[i].on,
                                .stage = m.stage,
                                .region = region(&m, of[i].name, of[i].kind),
                                .host = stats(same(count, of[i].ns), -1)});
    for (size_t i = 0; i < count; i++) {
        const double at = (double)i * (work + gap);
        for (int k = 0; k < 2 + copies; k++)
            gnomon_add_event(m.b,
                             &(gnomon_event_info){
                                 .track = of[k].on,
                                 .node = nodes[k],
                                 .begin_ns = (uint64_t)(at + (k == 1   ? gap
                                                              : k == 0 ? gap / 4
                                                                       : 0)),
                                 .duration_ns = (uint64_t)of[k].ns,
                                 .instance = 1 + 3 * i + (uint64_t)k});
        gnomon_add_link(m.b, &(gnomon_link_info){.from = nodes[0],
                                                 .to = nodes[1],
                                                 .kind = GNOMON_LINK_LAUNCH,
                                                 .count = 1,
                                                 .from_instance = 1 + 3 * i,
                                                 .to_instance = 2 + 3 * i});
    }
    return m;
}

static int has_of_device(made_rank *m, const char *rule)
{
    kept[0] = made(m);
    advise(kept, 1);
    const int is = of_rule(rule) != NULL;
    gnomon_profile_free(kept[0]);
    return is;
}

TEST(launch_bound_devices)
{
    made_rank m = on_device(300, 0.14 * MS, 0.04 * MS, 0);
    CHECK(has_of_device(&m, "launch"));
    m = on_device(300, 0.18 * MS, 0.04 * MS, 0);
    CHECK(!has_of_device(&m, "launch"));
    m = on_device(300, 0.14 * MS, 0.04 * MS, 1);
    CHECK(!has_of_device(&m, "launch"));
}

TEST(idle_devices)
{
    made_rank m = on_device(100, 0.7 * MS, 0.2 * MS, 0);
    CHECK(has_of_device(&m, "idle device"));
    m = on_device(100, 0.9 * MS, 0.2 * MS, 0);
    CHECK(!has_of_device(&m, "idle device"));
    m = on_device(100, 0.7 * MS, 0.2 * MS, 1);
    CHECK(!has_of_device(&m, "idle device"));
}

TEST(scopes_that_wait_for_the_device)
{
    for (int is = 0; is < 2; is++) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        const double wait = is ? 0.51 * MS : 0.49 * MS;
        const uint32_t log =
            path(&m, m.main, 0, "log_loss", same(100, MS), 100 * (MS - wait));
        path(&m, m.main, log, "aten::item", same(100, wait), -1);
        forward(&m, 9 * MS);
        finds(&m, "device wait", is ? "log_loss waits for the device" : "");
    }
}

/* ---- Memory -------------------------------------------------------------------------- */

enum { GROWS, SAWS, FEW, RESERVED };

static made_rank remembering(int how)
{
    const size_t steps = how == FEW ? 24 : 25;
    made_rank m = rank_of(-1, same(steps, 10 * MS));
    const uint32_t pool = track(&m, GNOMON_TRACK_POOL,
                                how == RESERVED ? "cuda reserved" : "cuda", -1);
    forward(&m, 9 * MS);
    for (size_t i = 0; i < steps; i++) {
        const double bytes = how == SAWS && i % 4 == 3 ? -3e6 : 1e6;
        gnomon_add_event(m.b, &(gnomon_event_info){.kind = GNOMON_EVENT_MEMORY,
                                                   .track = m.main,
                                                   .region = pool,
                                                   .begin_ns = m.begin_ns[i],
                                                   .value = bytes});
    }
    return m;
}

/* A stage of 3000 steps, none of which is there: as a pool, or as a counter of the thread,
 * `bytes` says what each step adds, and `noise` how far single bins are off. */
static made_rank in_bins(const char *counter, double bytes, double noise)
{
    made_rank m = rank_of(-1, same(2, 10 * MS));
    static gnomon_bin bins[750];
    const uint32_t pool =
        counter ? m.main : track(&m, GNOMON_TRACK_POOL, "cuda", -1);
    const uint32_t of =
        counter ? gnomon_add_region(
                      m.b, &(gnomon_region_info){.name = counter,
                                                 .kind = GNOMON_KIND_COUNTER})
                : 0;
    for (size_t i = 0; i < 750; i++) {
        const double use = 1e9 + (double)i * 4 * bytes + (i % 2 ? noise : 0);
        bins[i] = (gnomon_bin){sizeof *bins, 4, use, use, 4 * use};
    }
    if (counter)
        gnomon_add_counter(m.b, &(gnomon_counter_info){.track = m.main,
                                                       .region = of,
                                                       .stage = m.stage,
                                                       .count = 3000,
                                                       .sum = 3e12});
    gnomon_add_strip(m.b, &(gnomon_strip_info){.stage = m.stage,
                                               .track = pool,
                                               .region = of,
                                               .width = 4,
                                               .bins = bins,
                                               .bin_count = 750});
    return m;
}

TEST(memory_that_grows_by_bins)
{
    made_rank m = in_bins(NULL, 1e6, 1e6);
    finds(&m, "memory", "Memory grows: cuda by 977 KiB in each step");
    m = in_bins("rss bytes", 1e6, 1e6);
    finds(&m, "memory", "Memory grows: rss bytes by 977 KiB in each step");
    m = in_bins(NULL, 1e4, 0); /* 2 % are 1e4 in each of 2400 steps */
    finds(&m, "memory", "cuda by 10 KiB in each step");
    m = in_bins(NULL, 8e3, 0);
    finds(&m, "memory", "");
    m = in_bins(NULL, 1e5, 2e8); /* less than its noise, 1e8, four times */
    finds(&m, "memory", "");
    m = in_bins(NULL, 1e6, 2e8);
    finds(&m, "memory", "cuda by 97");
    m = in_bins(NULL, 0, 0);
    finds(&m, "memory", "");
}

TEST(memory_that_grows)
{
    made_rank m = remembering(GROWS);
    finds(&m, "memory", "Memory grows: cuda by 977 KiB in each step");
    m = remembering(FEW);
    finds(&m, "memory", "");
    m = remembering(SAWS);
    finds(&m, "memory", "");
    m = remembering(RESERVED);
    finds(&m, "memory", "");
}

/* ---- Ranks --------------------------------------------------------------------------- */

/* Both take 44 ms for a step: the rank that waits less is behind. */
static gnomon_profile *of_pair(int rank, double wait, const char *name)
{
    made_rank m = rank_of(rank, same(50, 44 * MS));
    forward(&m, 44 * MS - wait);
    path(&m, m.main, 0, name, same(50, wait), -1);
    return made(&m);
}

TEST(the_rank_behind_waits_least)
{
    kept[0] = of_pair(0, 31 * MS, "all_reduce");
    kept[1] = of_pair(1, 1 * MS, "all_reduce");
    finds_of("rank behind",
             "Rank 1 is behind: in a step it waits 1 ms in collectives, and "
             "the median rank 31 ms; what takes longer on it: forward",
             2);
    kept[0] = of_pair(0, 3.3 * MS, "all_reduce");
    kept[1] = of_pair(1, 1.2 * MS, "all_reduce");
    finds_of("rank behind", "", 2);
    kept[0] = of_pair(0, 31 * MS, "optimizer");
    kept[1] = of_pair(1, 1 * MS, "optimizer");
    finds_of("rank behind", "", 2);
}

/* ---- The recording ------------------------------------------------------------------- */

TEST(schedules_that_were_never_reached)
{
    for (int is = 0; is < 2; is++) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        const uint32_t all = gnomon_add_view(m.b,
                                             &(gnomon_view_info){.words = ""}),
                       view = gnomon_add_view(
                           m.b, &(gnomon_view_info){
                                    .words = "schedule=wait:200/active:3"});
        for (uint32_t v = all; v <= (is ? all : view); v++)
            gnomon_add_node(
                m.b, &(gnomon_node_info){
                         .track = m.main,
                         .stage = m.stage,
                         .view = v,
                         .region = region(&m, "forward", GNOMON_KIND_SCOPE),
                         .host = stats(same(100, 9 * MS), -1)});
        finds(&m, "schedule",
              is ? "The schedule schedule=wait:200/active:3 was never reached: "
                   "100 steps"
                 : "");
    }
}

TEST(losses_that_make_tables_wrong)
{
    for (uint64_t is = 0; is < 2; is++) {
        made_rank m = rank_of(-1, same(100, 10 * MS));
        forward(&m, 9 * MS);
        gnomon_add_loss(m.b, &(gnomon_loss_info){.run = m.run,
                                                 .kind = "lost_scopes",
                                                 .count = 1 + is});
        gnomon_add_loss(m.b, &(gnomon_loss_info){
                                 .run = m.run, .kind = "crossed", .count = 50});
        finds(&m, "losses",
              is ? "Tables are wrong by what was lost: 2 marks" : "");
    }
    made_rank m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 9 * MS);
    gnomon_add_loss(m.b, &(gnomon_loss_info){
                             .run = m.run, .kind = "events_lost", .count = 50});
    finds(&m, "losses", "The timeline lacks what was lost: 50 events");
    m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 9 * MS);
    gnomon_add_loss(m.b, &(gnomon_loss_info){.kind = "node", .count = 1});
    finds(&m, "losses", "damaged: node: 1");
    CHECK_STR(of_rule("losses")->tries, "an undamaged copy of the file");
}

TEST(clocks_that_stepped)
{
    for (uint64_t is = 0; is < 2; is++) {
        made_rank m = {.b = NULL};
        const gnomon_clock_anchor anchor = {
            sizeof anchor, 0, 1000,
            1700000000000001000u + (is ? 101 : 99) * 1000000u, 0};
        CHECK_EQ(gnomon_builder_create(&m.b), GNOMON_OK);
        gnomon_add_run(m.b,
                       &(gnomon_run_info){.rank = 0,
                                          .zero_unix_ns = 1700000000000000000u,
                                          .anchors = &anchor,
                                          .anchor_count = 1});
        finds(&m, "clock", is ? "The system's clock was set by 101 ms" : "");
    }
    made_rank m = rank_of(-1, same(100, 10 * MS));
    forward(&m, 9 * MS);
    gnomon_add_node(
        m.b, &(gnomon_node_info){.track = m.main,
                                 .stage = m.stage,
                                 .flags = GNOMON_NODE_CLOCK,
                                 .region = region(&m, "odd", GNOMON_KIND_SCOPE),
                                 .host = stats(same(1, MS), -1)});
    finds(&m, "clock", "The clock stepped back while 1 paths ran");
}

/* ---- All ----------------------------------------------------------------------------- */

TEST(what_gains_little_is_not_told)
{
    made_rank m = rank_of(-1, same(100, 0.2 * MS));
    forward(&m, 0.09 * MS);
    finds(&m, "unmarked", "55 % of the steps");
    m = rank_of(-1, same(9, 10 * MS));
    forward(&m, MS);
    finds(&m, "unmarked", "");
    m = rank_of(-1, same(100, 0.2 * MS));
    forward(&m, 0.11 * MS);
    finds(&m, "unmarked", "");
}

TEST(the_most_to_be_gained_comes_first_and_seven_are_told)
{
    gnomon_profile *p[10];
    for (int i = 0; i < 10; i++) {
        char name[16];
        made_rank m = rank_of(i, same(100, 10 * MS));
        snprintf(name, sizeof name, "log%d", i);
        const double wait = (0.6 + 0.05 * ((i * 7) % 10)) * MS;
        const uint32_t log =
            path(&m, m.main, 0, name, same(100, MS + wait), 100 * MS);
        path(&m, m.main, log, ".item()", same(100, wait), -1);
        forward(&m, 8.5 * MS - wait);
        p[i] = made(&m);
    }
    advise(p, 10);
    CHECK_EQ(found.count, GNOMON__FINDINGS);
    for (size_t i = 1; i < found.count; i++)
        CHECK(found.at[i - 1].gain_ns >= found.at[i].gain_ns);
    CHECK(strstr(found.at[0].from, "rank 7"));
    for (int i = 0; i < 10; i++)
        gnomon_profile_free(p[i]);
}

/* Noise of 5 %, and what a rank does after another. */
TEST(ten_made_runs_have_no_findings)
{
    random_word = 41;
    for (int k = 0; k < 10; k++) {
        for (size_t i = 0; i < 200; i++)
            sizes_ns[i] = 10000000 + random_below(1000000);
        made_rank m = rank_of(k, 200);
        const uint32_t step =
            path(&m, m.main, 0, "train_step", same(200, 10 * MS), 100 * MS);
        path(&m, m.main, step, "train_dataloader_next",
             same(200, (0.2 + 0.05 * k) * MS), -1);
        path(&m, m.main, step, "forward", same(200, 4 * MS), -1);
        path(&m, m.main, step, "backward", same(200, 4 * MS), -1);
        path(&m, m.main, step, "optimizer_step", same(200, MS), -1);
        finds(&m, "", "");
    }
}

/* The table of docs/reports.md is the program's. */
TEST(thresholds_are_documented)
{
    static char page[1 << 17];
    char line[512];
    FILE *file = fopen(TEST_SOURCE_DIR "/../docs/reports.md", "r");
    if (!CHECK(file))
        return;
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (const gnomon__advice_rule *r = gnomon__advice_rules; r->look; r++) {
        snprintf(line, sizeof line, "\n| %s | %s | %s |\n", r->name,
                 r->threshold, r->reads);
        if (!CHECK(strstr(page, line)))
            fprintf(stderr, "    %s", line + 1);
    }
}

/* A profile whose regions have names that rules look for. */
typedef struct renamed {
    gnomon_profile base;
    const gnomon_profile *of;
} renamed;

static size_t renamed_count(const gnomon_profile *p, int kind)
{
    return gnomon_profile_count(((const renamed *)(const void *)p)->of, kind);
}

static int renamed_get(const gnomon_profile *p, int kind, size_t number,
                       void *info)
{
    static const char *const names[] = {"load", "all_reduce", "aten::item",
                                        "forward", "bytes allocated"};
    const gnomon_profile *of = ((const renamed *)(const void *)p)->of;
    const int code = of->api->get(of, kind, number, info);
    if (kind == GNOMON_REGIONS && !code)
        ((gnomon_region_info *)info)->name = names[number % 5];
    return code;
}

TEST(any_profile_is_read)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = renamed_count,
                                           .get = renamed_get};
    uint32_t met = 0;
    for (int i = 1; i <= 500; i++) {
        random_word = (uint64_t)i * 7919;
        random_is_odd = i % 2;
        gnomon_profile *p[] = {random_profile("01", 0), random_profile("2", 0)};
        renamed r[] = {{{&api}, p[0]}, {{&api}, p[1]}};
        gnomon_profile *of[] = {&r[0].base, &r[1].base};
        advise(of, 2);
        CHECK(found.count <= GNOMON__FINDINGS);
        met |= found.looked;
        gnomon_profile_free(p[0]);
        gnomon_profile_free(p[1]);
    }
    CHECK(met & met >> 8); /* rules of many kinds had data */
}

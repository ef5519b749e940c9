/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two sides' rows, matched and summed.
 * links: testing
 * threads: none
 * needs: cli */
#include <math.h>

#include "gnomon/report.h"
#include "platform/memory.h"
#include "diff/side.h"
#include "built_runs.h"
#include "full_profile.h"

static gnomon__diff *new_diff(void)
{
    gnomon__diff *d = NULL;
    CHECK_EQ(gnomon__diff_create(&d), GNOMON_OK);
    return d;
}

/* Adds a run to a job and frees it. */
static void add(gnomon__diff *d, enum gnomon__side side, uint32_t job,
                built_run *l)
{
    gnomon_profile *p = run_end(l);
    CHECK_EQ(gnomon__diff_add(d, side, job, p, &(size_t){0}), GNOMON_OK);
    gnomon_profile_free(p);
}

static const gnomon__diff_row *row_of_kind(const gnomon__diff *d,
                                           enum gnomon__diff_kind kind,
                                           const char *stage, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->rows[i].kind == kind && strcmp(d->rows[i].stage, stage) == 0 &&
            strcmp(d->rows[i].name, name) == 0)
            return &d->rows[i];
    fprintf(stderr, "    no row %s of stage %s\n", name, stage);
    CHECK_EQ(d->count, SIZE_MAX);
    return NULL;
}

static const gnomon__diff_row *row_of(const gnomon__diff *d, const char *stage,
                                      const char *name)
{
    return row_of_kind(d, GNOMON__DIFF_HOST, stage, name);
}

static size_t row_count(const gnomon__diff *d)
{
    size_t host = 0;
    for (size_t i = 0; i < d->count; i++)
        host += d->rows[i].kind == GNOMON__DIFF_HOST;
    return host;
}

static void check_half(const gnomon__diff_half *h, uint64_t calls,
                       uint64_t total, uint64_t min, uint64_t max)
{
    uint64_t sum = 0;
    CHECK_EQ(h->all.s.count, calls);
    CHECK_EQ(h->all.s.total_ns, total);
    CHECK_EQ(h->all.s.min_ns, min);
    CHECK_EQ(h->all.s.max_ns, max);
    for (size_t i = 0; i < h->all.s.cell_count; i++) {
        sum += h->all.s.cells[i].count;
        CHECK(h->all.s.cells[i].count > 0);
        CHECK(i == 0 || h->all.s.cells[i - 1].cell < h->all.s.cells[i].cell);
    }
    CHECK_EQ(sum, calls);
    for (size_t i = 0; i < h->part_count; i++)
        sum -= (uint64_t)h->parts[i].calls;
    CHECK_EQ(sum, 0);
}

TEST(rows_are_matched_by_stage_and_name)
{
    gnomon__diff *d = new_diff();
    built_run a = run_begin(NULL, 0, "a"), b = run_begin(NULL, 0, "b");
    run_stage(&a, "fit");
    RUN_ROW(&a, "step", 100, 300);
    run_row(&a, GNOMON_KIND_SCOPE, "step", (const uint64_t[]){70}, 1);
    run_row(&a, GNOMON_KIND_KERNEL, "gemm", (const uint64_t[]){70}, 1);
    RUN_ROW(&a, "gone", 5);
    run_stage(&a, "test");
    RUN_ROW(&a, "step", 9);
    run_stage(&b, "sanity");
    run_stage(&b, "fit");
    RUN_ROW(&b, "new", 6);
    RUN_ROW(&b, "step", 1000);
    run_stage(&b, "fit"); /* again, and so of the same rows */
    RUN_ROW(&b, "step", 2000, 40);
    add(d, GNOMON__SIDE_A, 0, &a);
    add(d, GNOMON__SIDE_B, 0, &b);
    CHECK_EQ(row_count(d), 4);
    const gnomon__diff_row *row = row_of(d, "fit", "step");
    check_half(&row->side[0], 3, 470, 70, 300);
    check_half(&row->side[1], 3, 3040, 40, 2000);
    CHECK_EQ(row->side[0].all.s.self_ns, 235);
    check_half(&row_of(d, "test", "step")->side[0], 1, 9, 9, 9);
    CHECK_EQ(row_of(d, "test", "step")->side[1].all.s.count, 0);
    CHECK_EQ(row_of(d, "fit", "gone")->side[1].all.s.count, 0);
    CHECK_EQ(row_of(d, "fit", "new")->side[0].all.s.count, 0);
    /* In the table "fit" is the first stage, as it is A's. */
    static const char *const names[] = {"gone", "new", "step", "step"};
    CHECK_EQ(gnomon__diff_end(d), GNOMON_OK);
    CHECK_EQ(d->table.table.row_count, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(gnomon__diff_row_at(d, i)->name, names[i]);
        CHECK_STR(gnomon__diff_row_at(d, i)->stage, i < 3 ? "fit" : "test");
    }
    gnomon__diff_free(d);
}

/* The sums are those of the program's other tables. */
TEST(sums_are_those_of_report)
{
    gnomon__diff *d = new_diff();
    gnomon_profile *p = full_of("0");
    gnomon_rows *all;
    size_t seen = 0;
    CHECK_EQ(gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0}),
             GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->rows(&all, p, GNOMON_ROWS_ALL), GNOMON_OK);
    for (size_t i = 0; i < all->count; i++) {
        const gnomon_stats *s = gnomon_row_at(all, i)->host;
        const gnomon__diff_row *row =
            row_of(d, "fit", gnomon_row_at(all, i)->name);
        if (!row)
            continue;
        check_half(&row->side[0], s->count, s->total_ns, s->min_ns, s->max_ns);
        CHECK_EQ(row->side[0].all.s.self_ns, s->self_ns);
        seen++;
    }
    CHECK(seen > 0);
    CHECK_EQ(row_count(d), seen);
    gnomon_host_get()->rows_free(all);
    gnomon_profile_free(p);
    gnomon__diff_free(d);
}

/* Times on devices of kernels too, steps by their stage, counters of all tracks. */
TEST(devices_steps_and_counters_have_rows)
{
    gnomon__diff *d = new_diff();
    for (int rank = 0; rank < 2; rank++) {
        gnomon_profile *p = full_of(rank ? "1" : "0");
        CHECK_EQ(gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0}),
                 GNOMON_OK);
        gnomon_profile_free(p);
    }
    const gnomon__diff_half *h =
        &row_of_kind(d, GNOMON__DIFF_DEVICE, "fit", "forward")->side[0];
    check_half(h, 14, 560, 40, 40);
    h = &row_of_kind(d, GNOMON__DIFF_DEVICE, "", "HtoD")->side[0];
    check_half(h, 14, 560, 40, 40);
    h = &row_of_kind(d, GNOMON__DIFF_STEPS, "fit", "fit")->side[0];
    CHECK_EQ(h->all.s.count, 6);
    CHECK_EQ((uint64_t)h->parts[0].calls, 6);
    h = &row_of_kind(d, GNOMON__DIFF_COUNTER, "fit", "loss")->side[0];
    CHECK_EQ(h->all.s.count, 4);
    CHECK_EQ((uint64_t)h->parts[0].runs, 2);
    CHECK(h->parts[0].max == 1.7976931348623157e308);
    CHECK(h->parts[0].min < 0);
    gnomon__diff_free(d);
}

/* A kernel has a row for each scope around it, also where it is the profile's last
 * node: room for too few of these is an overflow. */
TEST(work_deep_below_scopes_has_a_row_for_each)
{
    enum { DEPTH = 100 };
    const gnomon_cell cell = {gnomon_cell_of(9), 0, 1};
    const gnomon_stats once = {sizeof once, 0, 1, 9, 9, 9, 9, &cell, 1};
    gnomon__heap_use_libc(); /* it notices when a block is freed */
    gnomon__diff *d = new_diff();
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = -1});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .kind = GNOMON_TRACK_STREAM});
    for (uint32_t i = 0; i <= DEPTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", (unsigned)i);
        gnomon_add_region(
            b, &(gnomon_region_info){.name = name,
                                     .kind = i == DEPTH ? GNOMON_KIND_KERNEL
                                                        : GNOMON_KIND_SCOPE});
        gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                               .parent = i,
                                               .region = i + 1,
                                               .flags = GNOMON_NODE_PARTIAL,
                                               .host = &once,
                                               .device = &once});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    CHECK_EQ(gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0}),
             GNOMON_OK);
    size_t busy = 0;
    for (size_t i = 0; i < d->count; i++)
        busy += d->rows[i].kind == GNOMON__DIFF_BUSY;
    CHECK_EQ(busy, DEPTH);
    gnomon_profile_free(p);
    gnomon__diff_free(d);
}

/* ---- Jobs --------------------------------------------------------------- */

static void add_life(gnomon__diff *d, uint32_t job, uint64_t ns)
{
    built_run l = run_begin(NULL, 0, NULL);
    run_stage(&l, "fit");
    RUN_ROW(&l, "step", ns);
    add(d, GNOMON__SIDE_A, job, &l);
}

TEST(runs_of_one_job_add_up)
{
    gnomon__diff *d = new_diff();
    add_life(d, 0, 10);
    add_life(d, 1, 400);
    add_life(d, 0, 20);
    add_life(d, 1, 300);
    add_life(d, 2, 5000);
    CHECK_EQ(d->jobs[GNOMON__SIDE_A].jobs, 3);
    CHECK_EQ(d->jobs[GNOMON__SIDE_B].jobs, 0);
    const gnomon__diff_half *h = &row_of(d, "fit", "step")->side[0];
    CHECK_EQ(h->part_count, 3);
    CHECK_EQ((uint64_t)h->parts[0].total, 30);
    CHECK_EQ((uint64_t)h->parts[1].total, 700);
    CHECK_EQ((uint64_t)h->parts[2].total, 5000);
    CHECK_EQ((uint64_t)h->parts[1].runs, 2);
    CHECK_EQ((uint64_t)h->parts[1].max, 400);
    CHECK_EQ((uint64_t)h->parts[1].min, 300);
    check_half(h, 5, 5730, 10, 5000);
    gnomon__diff_free(d);
}

/* Else many runs with names of their own take time by the square of their number. */
TEST(a_run_meets_rows_of_its_own_alone)
{
    gnomon__diff *d = new_diff();
    built_run a = run_begin("a", 0, "a"), b = run_begin("b", 0, "b");
    RUN_ROW(&a, "a", 1);
    RUN_ROW(&b, "b", 1);
    add(d, GNOMON__SIDE_A, 0, &a);
    d->rows[0].now.runs = 1; /* as if the next run had met it */
    add(d, GNOMON__SIDE_A, 1, &b);
    CHECK_EQ(row_of(d, "", "a")->side[0].part_count, 1);
    CHECK_EQ(row_of(d, "", "b")->side[0].part_count, 2);
    gnomon__diff_free(d);
}

TEST(many_jobs_share_parts)
{
    gnomon__diff *d = new_diff();
    const gnomon__diff_half *h;
    for (uint32_t i = 0; i < 3 * GNOMON__DIFF_PARTS + 1; i++)
        add_life(d, i, 7);
    h = &row_of(d, "fit", "step")->side[0];
    CHECK_EQ(d->jobs[GNOMON__SIDE_A].jobs, 3 * GNOMON__DIFF_PARTS + 1);
    CHECK_EQ(h->part_count, GNOMON__DIFF_PARTS);
    CHECK_EQ((uint64_t)h->parts[0].calls, 4);
    CHECK_EQ((uint64_t)h->parts[1].calls, 3);
    check_half(h, 97, 679, 7, 7);
    gnomon__diff_free(d);
}

#define MOST_RUNS 8

/* The processes of a side, as they came. */
typedef struct job_world {
    gnomon_run_info infos[MOST_RUNS];
    gnomon__job_run runs[MOST_RUNS];
    gnomon__jobs jobs;
} job_world;

static void add_process(job_world *w, const char *job, int32_t rank,
                        const char *attempt)
{
    const size_t i = w->jobs.count++;
    w->jobs.runs = w->runs;
    w->infos[i] = (gnomon_run_info){
        .job = job, .rank = rank, .world_size = 4, .attempt = attempt};
    w->runs[i] = (gnomon__job_run){&w->infos[i], i, i, 0, 0, 0};
}

/* The job of the process that was added as the n-th. */
static uint32_t job_of(const job_world *w, size_t n)
{
    for (size_t i = 0; i < w->jobs.count; i++)
        if (w->runs[i].number == n)
            return w->runs[i].job;
    return UINT32_MAX;
}

TEST(ranks_are_one_job_and_a_rank_again_is_another)
{
    job_world w = {.jobs = {0}};
    add_process(&w, NULL, 0, NULL);
    add_process(&w, NULL, 1, NULL);
    add_process(&w, NULL, 1, NULL);
    add_process(&w, NULL, 0, NULL);
    add_process(&w, "named", 0, NULL);
    add_process(&w, NULL, -1, NULL);
    add_process(&w, NULL, 0, NULL);
    gnomon__jobs_find(&w.jobs);
    CHECK_EQ(w.jobs.jobs, 4);
    CHECK_EQ(job_of(&w, 0), job_of(&w, 1));
    CHECK_EQ(job_of(&w, 0), job_of(&w, 5));
    CHECK_EQ(job_of(&w, 2), job_of(&w, 3));
    CHECK(job_of(&w, 2) != job_of(&w, 0) && job_of(&w, 2) != job_of(&w, 4));
    CHECK(job_of(&w, 6) != job_of(&w, 0) && job_of(&w, 6) != job_of(&w, 2));
}

/* Calls and totals are those of all attempts together. */
TEST(attempts_of_a_rank_are_one_job)
{
    job_world w = {.jobs = {0}};
    add_process(&w, "j", 1, NULL);
    add_process(&w, "j", 0, NULL);
    add_process(&w, "j", 1, "1");
    add_process(&w, "j", 1, "2");
    gnomon__jobs_find(&w.jobs);
    CHECK_EQ(w.jobs.jobs, 1);
    CHECK_EQ(gnomon__jobs_log_ranks(&w.jobs, "A"), 1);
    CHECK_EQ(w.jobs.count, 2);
    /* The same attempt once more is of another job. */
    w = (job_world){.jobs = {0}};
    for (int i = 0; i < 2; i++)
        add_process(&w, "j", 1, "2");
    gnomon__jobs_find(&w.jobs);
    CHECK_EQ(w.jobs.jobs, 2);
}

TEST(jobs_are_compared_by_their_ranks)
{
    job_world a = {.jobs = {0}}, b = {.jobs = {0}}, c;
    for (int32_t rank = 0; rank < 4; rank++) {
        add_process(&a, "j", 3 - rank, NULL);
        add_process(&b, "j", rank, rank ? NULL : "1");
    }
    c = b;
    c.jobs.runs = c.runs;
    add_process(&c, "j", 2, NULL); /* a second job */
    gnomon__jobs_find(&a.jobs);
    gnomon__jobs_find(&b.jobs);
    gnomon__jobs_find(&c.jobs);
    CHECK_EQ(gnomon__jobs_log_ranks(&a.jobs, "A"), 0);
    CHECK_EQ(gnomon__jobs_log_ranks(&b.jobs, "B"), 0);
    CHECK_EQ(gnomon__jobs_log_ranks(&c.jobs, "B"), 1);
    CHECK_EQ(gnomon__jobs_same_ranks(&a.jobs, &b.jobs), 1);
    CHECK_EQ(gnomon__jobs_same_ranks(&a.jobs, &c.jobs), 0);
    CHECK_EQ(gnomon__jobs_same_ranks(&c.jobs, &a.jobs), 0);
}

/* ---- Quantiles ---------------------------------------------------------- */

static double quantile_of(const uint64_t *ns, size_t n, double q)
{
    gnomon__diff *d = new_diff();
    built_run l = run_begin(NULL, 0, NULL);
    double value;
    run_row(&l, GNOMON_KIND_SCOPE, "x", ns, n);
    add(d, GNOMON__SIDE_A, 0, &l);
    value = gnomon_quantile(&row_of(d, "", "x")->side[0].all.s, q);
    gnomon__diff_free(d);
    return value;
}

TEST(quantiles_move_with_their_durations)
{
    uint64_t ns[100];
    double last = 0;
    for (int i = 0; i < 100; i++)
        ns[i] = 5000;
    CHECK(quantile_of(ns, 100, 0.5) == 5000.0);
    CHECK(quantile_of(ns, 1, 0.99) == 5000.0);
    for (int by = 0; by < 40; by++) { /* across several cells */
        double q;
        for (int i = 0; i < 100; i++)
            ns[i] = (uint64_t)(10000 + 50 * by + 20 * i);
        q = quantile_of(ns, 100, 0.5);
        CHECK(q > last);
        CHECK(fabs(q - (11000 + 50 * by)) < 150);
        CHECK(quantile_of(ns, 100, 0) >= (double)ns[0]);
        CHECK(quantile_of(ns, 100, 1) == (double)ns[99]);
        last = q;
    }
    CHECK(quantile_of((const uint64_t[]){0, 0, 3}, 3, 0.5) == 0.0);
    CHECK(gnomon_quantile(&(gnomon_stats){0}, 0.5) == 0.0);
}

/* A report and a gate use the same number. */
TEST(report_and_diff_use_one_quantile)
{
    static const double q[] = {0.5, 0.9, 0.99};
    gnomon__diff *d = new_diff();
    built_run l = run_begin(NULL, 0, NULL);
    uint64_t ns[500];
    gnomon_rows *all;
    for (uint64_t i = 0; i < 500; i++)
        ns[i] = 1000000 + 7919 * i % 400000;
    run_row(&l, GNOMON_KIND_SCOPE, "x", ns, 500);
    gnomon_profile *p = run_end(&l);
    CHECK_EQ(gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0}),
             GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->rows(&all, p, GNOMON_ROWS_ALL), GNOMON_OK);
    CHECK_EQ(all->count, 1);
    uint64_t shown[3];
    for (int i = 0; i < 3; i++)
        shown[i] = gnomon_quantile_ns(gnomon_row_at(all, 0)->host, q[i]);
    const gnomon__diff_half *h = &row_of(d, "", "x")->side[0];
    for (int i = 0; i < 3; i++) {
        CHECK_EQ((uint64_t)h->parts[0].quantiles[i], shown[i]);
        CHECK_EQ(gnomon_quantile_ns(&h->all.s, q[i]), shown[i]);
    }
    gnomon_host_get()->rows_free(all);
    gnomon_profile_free(p);
    gnomon__diff_free(d);
}

/* ---- Memory ------------------------------------------------------------- */

TEST(without_memory_an_error_is_reported)
{
    built_run l = run_begin("j", 0, "u");
    run_stage(&l, "fit");
    RUN_ROW(&l, "a", 1, 20, 300);
    RUN_ROW(&l, "b", 4000);
    gnomon_profile *p = run_end(&l);
    int code = GNOMON_ENOMEM;
    for (uint64_t n = 1; code == GNOMON_ENOMEM && CHECK(n < 200); n++) {
        gnomon__diff *d = NULL;
        gnomon__test_fail_allocation(n);
        code = gnomon__diff_create(&d);
        if (code == GNOMON_OK)
            code = gnomon__diff_add(d, GNOMON__SIDE_A, 0, p, &(size_t){0});
        if (code == GNOMON_OK)
            code = gnomon__diff_end(d);
        gnomon__test_fail_allocation(0);
        CHECK(code == GNOMON_ENOMEM || (code == GNOMON_OK && n > 15));
        gnomon__diff_free(d);
    }
    CHECK_EQ(code, GNOMON_OK);
    gnomon_profile_free(p);
}

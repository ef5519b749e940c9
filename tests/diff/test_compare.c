/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The comparison of two sides: values, intervals, confidence, and their table.
 * links: testing
 * threads: none
 * needs: cli */
#include <math.h>

#include "diff/changes.h"
#include "diff/compare.h"
#include "diff/t_distribution.h"
#include "fake_profile.h"
#include "platform/memory.h"
#include "built_runs.h"

static const gnomon__assumptions usual = {GNOMON__DRIFT, GNOMON__DRIFT_NS};

static int near(double a, double b, double share)
{
    if (fabs(a - b) <= share * fabs(b))
        return 1;
    fprintf(stderr, "    %.9g, not %.9g\n", a, b);
    return 0;
}

/* ---- The t distribution ------------------------------------------------- */

/* Critical values as tables print them: two-sided 0.05, 0.01, 0.001. */
TEST(t_distribution_matches_the_tables)
{
    static const struct {
        double df, t[3];
    } rows[] = {{1, {12.7062, 63.6567, 636.6192}},
                {2, {4.302653, 9.924843, 31.59905}},
                {5, {2.570582, 4.032143, 6.868827}},
                {10, {2.228139, 3.169273, 4.586894}},
                {30, {2.042272, 2.749996, 3.645959}},
                {120, {1.979930, 2.617421, 3.373454}},
                {HUGE_VAL, {1.959964, 2.575829, 3.290527}}};
    static const double beyond[] = {0.05, 0.01, 0.001};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 3; k++) {
            double t = rows[i].t[k], df = rows[i].df;
            CHECK(near(gnomon__t_quantile(beyond[k], df), t, 1e-6));
            CHECK(near(gnomon__t_two_sided(t, df), beyond[k], 1e-5));
            CHECK(gnomon__t_two_sided(-t, df) == gnomon__t_two_sided(t, df));
        }
    CHECK(near(gnomon__t_two_sided(1, 1), 0.5, 1e-12)); /* Cauchy */
    CHECK(near(gnomon__t_two_sided(sqrt(2), 2), 1 - sqrt(0.5), 1e-12));
    CHECK(gnomon__t_two_sided(0, 7) == 1.0);
    CHECK(gnomon__t_two_sided(HUGE_VAL, 7) == 0.0);
    CHECK(gnomon__t_two_sided(1e200, 0.5) == 0.0);
    CHECK(
        near(gnomon__t_two_sided(3, 99999), gnomon__t_two_sided(3, 1e9), 1e-3));
}

/* ---- Sides -------------------------------------------------------------- */

static void add_side(gnomon__diff *d, enum gnomon__side side,
                     const uint64_t *ns, size_t n)
{
    built_run l = run_begin(NULL, 0, NULL);
    run_row(&l, GNOMON_KIND_ACTION, "x", ns, n);
    gnomon_profile *p = run_end(&l);
    CHECK_EQ(gnomon__diff_add(d, side, p), GNOMON_OK);
    gnomon_profile_free(p);
}

static gnomon__change change_of(const gnomon__diff *d,
                                enum gnomon__metric metric)
{
    CHECK_EQ(d->count, 1);
    return gnomon__compare(d, d->rows[0], metric, 0.999, &usual);
}

/* `n` durations around a mean, spread evenly by this share to each side. */
static uint64_t *even(size_t n, double mean, double share)
{
    static uint64_t ns[2][4096];
    static int which;
    uint64_t *to = ns[which ^= 1];
    for (size_t i = 0; i < n; i++) {
        double at = n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : 0;
        to[i] = (uint64_t)(mean * (1 + share * at) + 0.5);
    }
    return to;
}

static gnomon__diff *pair_of(const uint64_t *a, size_t na, const uint64_t *b,
                             size_t nb)
{
    gnomon__diff *d = NULL;
    gnomon__diff_create(&d);
    add_side(d, GNOMON__SIDE_A, a, na);
    add_side(d, GNOMON__SIDE_B, b, nb);
    return d;
}

TEST(each_metric_is_what_its_name_says)
{
    static const uint64_t a[] = {1000, 2000, 2000, 3000, 12000};
    static const uint64_t b[] = {5000, 5000};
    static const double want[][2] = {
        {5, 2},    {20000, 10000}, {4000, 5000}, {2000, 5000}, {0, 5000},
        {0, 5000}, {12000, 5000},  {1000, 5000}, {10000, 5000}};
    gnomon__diff *d = pair_of(a, 5, b, 2);
    for (int m = 0; m < GNOMON__METRICS; m++) {
        gnomon__change c = change_of(d, (enum gnomon__metric)m);
        if (want[m][0] > 0)
            CHECK(near(c.a, want[m][0], m == GNOMON__METRIC_P50 ? 0.03 : 0));
        CHECK(c.b == want[m][1]);
        CHECK(near(c.relative, c.b / c.a - 1, 1e-12));
    }
    gnomon__diff_free(d);
}

TEST(equal_sides_have_not_changed)
{
    for (int m = 0; m < GNOMON__METRICS; m++) {
        uint64_t *ns = even(50, 1e6, 0.3);
        gnomon__diff *d = pair_of(ns, 50, ns, 50);
        gnomon__change c = change_of(d, (enum gnomon__metric)m);
        CHECK(c.relative == 0.0 && c.confidence == 0.0);
        CHECK(c.low < 0 && c.high > 0);
        gnomon__diff_free(d);
    }
}

/* ---- Changes ------------------------------------------------------------ */

/* Fieller's interval contains 1 exactly where the test finds no change. */
TEST(interval_and_confidence_agree)
{
    int sure = 0, unsure = 0;
    for (int i = 0; i < 60; i++)
        for (int m = 0; m < GNOMON__METRICS; m++) {
            const uint64_t *a = even(40 + (size_t)i, 1e6, 0.03);
            const uint64_t *b = even(40, 1e6 * (0.8 + 0.01 * i), 0.015 * i);
            gnomon__diff *d = pair_of(a, 40 + (size_t)i, b, 40);
            gnomon__change c = change_of(d, (enum gnomon__metric)m);
            int is_sure = c.confidence >= 0.999;
            CHECK(c.low <= c.relative && c.relative <= c.high);
            CHECK_EQ(is_sure, c.low > 0 || c.high < 0);
            sure += is_sure;
            unsure += !is_sure;
            gnomon__diff_free(d);
        }
    CHECK(sure > 50 && unsure > 50);
}

TEST(one_execution_borrows_the_other_sides_spread)
{
    gnomon__diff *d = pair_of(even(1, 3e6, 0), 1, even(100, 1e6, 0.02), 100);
    gnomon__change c = change_of(d, GNOMON__MEAN);
    CHECK(c.confidence > 0.999); /* a third of it is not in a spread of 2 % */
    gnomon__diff_free(d);
    d = pair_of(even(1, 1.3e6, 0), 1, even(100, 1e6, 0.5), 100);
    c = change_of(d, GNOMON__MEAN);
    CHECK(c.confidence < 0.9);
    gnomon__diff_free(d);
    d = pair_of(even(1, 1e6, 0), 1, even(1, 9e6, 0), 1);
    for (int m = 0; m < GNOMON__METRICS; m++) {
        c = change_of(d, (enum gnomon__metric)m);
        if (m == GNOMON__CALLS)
            CHECK(c.confidence == 0.0);
        else
            CHECK(isnan(c.confidence) && c.low < -1 && c.high > 1e9);
    }
    gnomon__diff_free(d);
}

TEST(rows_without_time_have_no_share)
{
    static const uint64_t none[] = {0, 0, 0}, some[] = {500, 600, 700};
    gnomon__diff *d = pair_of(none, 3, none, 3);
    gnomon__change c = change_of(d, GNOMON__MEAN);
    CHECK(c.relative == 0.0 && c.confidence == 0.0);
    gnomon__diff_free(d);
    d = pair_of(none, 3, some, 3);
    c = change_of(d, GNOMON__MEAN);
    CHECK(isinf(c.relative) && isinf(c.low) && isinf(c.high));
    CHECK(c.confidence > 0.8);
    gnomon__diff_free(d);
}

/* Numbers of calls vary as Poisson numbers, so small ones are weak evidence;
 * jobs that agree on them are stronger. */
TEST(numbers_of_calls_are_compared_as_counts)
{
    gnomon__diff *d = pair_of(even(10, 1e6, 0.1), 10, even(14, 1e6, 0.1), 14);
    gnomon__change c = change_of(d, GNOMON__CALLS);
    CHECK(near(c.relative, 0.4, 1e-9) && c.confidence < 0.9);
    gnomon__diff_free(d);
    d = pair_of(even(1000, 1e6, 0.1), 1000, even(2000, 1e6, 0.1), 2000);
    c = change_of(d, GNOMON__CALLS);
    CHECK(c.confidence > 0.999);
    gnomon__diff_free(d);
    d = pair_of(even(1000, 1e6, 0.1), 1000, even(1100, 1e6, 0.1), 1100);
    CHECK(change_of(d, GNOMON__CALLS).confidence < 0.99);
    for (int i = 0; i < 4; i++) {
        add_side(d, GNOMON__SIDE_A, even(1000, 1e6, 0.1), 1000);
        add_side(d, GNOMON__SIDE_B, even(1100, 1e6, 0.1), 1100);
    }
    c = change_of(d, GNOMON__CALLS);
    CHECK(c.a == 1000.0 && c.b == 1100.0); /* a job's */
    CHECK(c.confidence > 0.999);
    gnomon__diff_free(d);
}

/* Jobs that agree make a change significant, and jobs that differ make it
 * insignificant; one job a side cannot show either. */
TEST(jobs_measure_their_own_spread)
{
    static const double quiet[] = {1.000, 1.002, 0.999, 1.001, 0.998};
    static const double loud[] = {1.00, 1.15, 0.90, 1.08, 0.86};
    gnomon__diff *d[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const double *off = i ? loud : quiet;
        gnomon__diff_create(&d[i]);
        for (int k = 0; k < 5; k++) {
            double a = 1e6 * off[k], b = 1.05e6 * off[4 - k];
            add_side(d[i], GNOMON__SIDE_A, even(100, a, 0.01), 100);
            add_side(d[i], GNOMON__SIDE_B, even(100, b, 0.01), 100);
        }
    }
    CHECK(change_of(d[0], GNOMON__MEAN).confidence > 0.999);
    CHECK(change_of(d[1], GNOMON__MEAN).confidence < 0.7);
    CHECK(change_of(d[1], GNOMON__TOTAL).confidence < 0.7);
    CHECK(change_of(d[1], GNOMON__METRIC_P50).confidence < 0.7);
    CHECK(near(change_of(d[0], GNOMON__MEAN).relative, 0.05, 1e-3));
    gnomon__diff_free(d[0]);
    gnomon__diff_free(d[1]);
}

/* A side of one job is given the spread of the other side's jobs. */
TEST(a_lone_job_has_the_spread_of_the_others)
{
    static const double loud[] = {1.00, 1.15, 0.90, 1.08, 0.86};
    gnomon__diff *d = NULL;
    gnomon__diff_create(&d);
    for (int k = 0; k < 5; k++)
        add_side(d, GNOMON__SIDE_A, even(100, 1e6 * loud[k], 0.01), 100);
    add_side(d, GNOMON__SIDE_B, even(100, 1.2e6, 0.01), 100);
    CHECK(change_of(d, GNOMON__MEAN).confidence < 0.95);
    gnomon__diff_free(d);
    d = pair_of(even(100, 1e6, 0.01), 100, even(100, 1.2e6, 0.01), 100);
    CHECK(change_of(d, GNOMON__MEAN).confidence > 0.999);
    gnomon__diff_free(d);
}

/* ---- Counters ------------------------------------------------------------ */

/* A job's counter: half of its samples are `low`, the others `high`. */
static void add_counter(gnomon__diff *d, enum gnomon__side side, uint64_t count,
                        double low, double high)
{
    built_run l = run_begin(NULL, 0, NULL);
    uint32_t region = gnomon_add_region(
        l.builder,
        &(gnomon_region_info){.kind = GNOMON_KIND_COUNTER, .name = "loss"});
    gnomon_add_counter(l.builder, &(gnomon_counter_info){
                                      .track = l.track,
                                      .region = region,
                                      .count = count,
                                      .last = high,
                                      .min = low,
                                      .max = high,
                                      .sum = (double)count * (low + high) / 2});
    gnomon_profile *p = run_end(&l);
    CHECK_EQ(gnomon__diff_add(d, side, p), GNOMON_OK);
    gnomon_profile_free(p);
}

static gnomon__change counter_change(double low, double high, double more,
                                     enum gnomon__metric metric)
{
    gnomon__diff *d = NULL;
    gnomon__diff_create(&d);
    add_counter(d, GNOMON__SIDE_A, 100, low, high);
    add_counter(d, GNOMON__SIDE_B, 100, low + more, high + more);
    gnomon__change c = change_of(d, metric);
    gnomon__diff_free(d);
    return c;
}

TEST(counters_are_compared_whatever_their_sign)
{
    gnomon__change c = counter_change(2.0, 2.2, 0.5, GNOMON__SAMPLES_MEAN);
    CHECK(near(c.a, 2.1, 1e-9) && near(c.b, 2.6, 1e-9));
    CHECK(near(c.relative, 0.5 / 2.1, 1e-9));
    CHECK(c.confidence > 0.999 && c.low > 0 && c.high > c.relative);
    c = counter_change(-2.2, -2.0, 0.5,
                       GNOMON__SAMPLES_MEAN); /* more is more */
    CHECK(near(c.relative, 0.5 / 2.1, 1e-9));
    CHECK(c.confidence > 0.999 && c.low > 0 && c.high > c.relative);
    c = counter_change(0, 100, 5, GNOMON__SAMPLES_MEAN); /* far apart */
    CHECK(c.confidence < 0.5 && c.low < 0);
    c = counter_change(2.0, 2.2, 0.5, GNOMON__SAMPLES_LAST);
    CHECK(near(c.a, 2.2, 1e-9) && near(c.b, 2.7, 1e-9));
    c = counter_change(2.0, 2.2, 0.5, GNOMON__SAMPLES_MIN);
    CHECK(near(c.a, 2.0, 1e-9));
    c = counter_change(2.0, 2.2, 0.5, GNOMON__SAMPLES_SUM);
    CHECK(near(c.a, 210, 1e-9) && near(c.b, 260, 1e-9));
    c = counter_change(8, 8, 0, GNOMON__SAMPLES_MAX);
    CHECK(c.confidence == 0.0 && c.relative == 0.0);
    c = counter_change(0, 0, 1, GNOMON__SAMPLES_MAX);
    CHECK(isinf(c.relative) && c.relative > 0);
}

TEST(one_sample_gives_no_interval)
{
    gnomon__diff *d = NULL;
    gnomon__diff_create(&d);
    add_counter(d, GNOMON__SIDE_A, 1, 2, 2);
    add_counter(d, GNOMON__SIDE_B, 1, 9, 9);
    CHECK(isnan(change_of(d, GNOMON__SAMPLES_MEAN).confidence));
    gnomon__diff_free(d);
}

/* ---- Text --------------------------------------------------------------- */

#define NONE ((double)NAN)

static gnomon__changes_line lines[] = {
    {"optimizer_step",
     {100, 100},
     {1.2e6, 1.326e6},
     0.105,
     0.031,
     0.182,
     0.99991,
     {1.2e8, 1.326e8},
     0},
    {"d\xc3\xa9j\xc3\xa0 vu",
     {100, 100},
     {1e3, 1e3},
     0,
     -0.07,
     0.08,
     0,
     {1e5, 1e5},
     0},
    {"gone",
     {2.5, NONE},
     {5e9, NONE},
     NONE,
     -HUGE_VAL,
     HUGE_VAL,
     NONE,
     {1.25e10, NONE},
     0},
    {"new\n",
     {NONE, 1},
     {NONE, 17.25},
     NONE,
     -HUGE_VAL,
     HUGE_VAL,
     NONE,
     {NONE, 17.25},
     0},
    {"zero", {1, 1}, {0, 5}, HUGE_VAL, -HUGE_VAL, HUGE_VAL, 0.9555, {0, 5}, 0},
    {"less", {7, 8}, {2e4, 1e4}, -0.5, -0.6, -0.4, 0.99934, {14e4, 8e4}, 0},
};

static char *table_of(const gnomon__changes *c)
{
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(gnomon__changes_print(c, &w.base), GNOMON_OK);
    return w.text;
}

TEST(the_table)
{
    gnomon__changes c = {.stage = "fit",
                         .metric = "mean",
                         .lines = lines,
                         .count = sizeof lines / sizeof *lines,
                         .confidence = 0.999};
    char *text = table_of(&c);
    CHECK_STR(
        text,
        "FIT Changes from A to B\n\n"
        "action          calls A  calls B    mean A    mean B     change"
        "    99.9 % sure of  confidence  change of total\n"
        "gone                2.5        -   5.000 s         -  only in A"
        "                 -           -         -12.50 s\n"
        "optimizer_step      100      100  1.200 ms  1.326 ms    +10.5 %"
        "   +3.1 .. +18.2 %   > 99.99 %        +12.60 ms\n"
        "less                  7        8  20.00 us  10.00 us    -50.0 %"
        "  -60.0 .. -40.0 %     99.93 %        -60.00 us\n"
        "new\\n                 -        1         -  17.25 ns  only in B"
        "                 -           -        +17.25 ns\n"
        "zero                  1        1      0 ns  5.000 ns     +inf %"
        "                 -     95.55 %        +5.000 ns\n"
        "d\xc3\xa9j\xc3\xa0 vu             100      100  1.000 us  1.000 us"
        "      0.0 %    -7.0 .. +8.0 %      0.00 %             0 ns\n\n");
    free(text);
    c.limit = 1;
    c.sort = GNOMON__CHANGES_CONFIDENCE;
    c.stage = "";
    c.unit = GNOMON__CHANGES_COUNT;
    c.metric = "calls";
    text = table_of(&c);
    CHECK(strncmp(text, "Changes from A to B\n\naction     calls A  calls B  ",
                  49) == 0);
    CHECK(strstr(text, "\ngone    5000000000        -  only in A  ") != NULL);
    CHECK(strstr(text, "\n5 more\n\n") != NULL);
    free(text);
}

TEST(the_table_is_in_the_order_asked_for)
{
    static const char *const first[] = {"gone", "gone", "gone",
                                        "d\xc3\xa9j\xc3\xa0 vu"};
    static const char *const last[] = {"d\xc3\xa9j\xc3\xa0 vu",
                                       "d\xc3\xa9j\xc3\xa0 vu",
                                       "d\xc3\xa9j\xc3\xa0 vu", "zero"};
    gnomon__changes c = {.stage = "",
                         .metric = "mean",
                         .lines = lines,
                         .count = sizeof lines / sizeof *lines};
    for (int sort = 0; gnomon__changes_words[sort]; sort++) {
        c.sort = (enum gnomon__changes_sort)sort;
        free(table_of(&c));
        CHECK_STR(lines[0].name, first[sort]);
        CHECK_STR(lines[c.count - 1].name, last[sort]);
    }
}

TEST(without_memory_there_is_no_table)
{
    gnomon__changes c = {
        .stage = "", .metric = "mean", .lines = lines, .count = 1};
    fake_writer w;
    fake_open(&w);
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon__changes_print(&c, &w.base), GNOMON_ENOMEM);
    gnomon__test_fail_allocation(0);
    CHECK_STR(w.text, "");
    free(w.text);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The comparison of two sides: values, intervals, confidence, and their text.
 * links: testing
 * threads: none
 * needs: cli */
#include <math.h>

#include "diff/show.h"
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
    CHECK_EQ(gnomon__diff_add(d, side, d->jobs[side].jobs, p, &(size_t){0}),
             GNOMON_OK);
    gnomon_profile_free(p);
}

static gnomon__change change_of(const gnomon__diff *d,
                                enum gnomon__metric metric)
{
    CHECK_EQ(d->count, 1);
    return gnomon__compare(d, &d->rows[0], metric, 0.999, &usual);
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
    for (int m = 0; m < GNOMON__LAST; m++) {
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
    for (int m = 0; m < GNOMON__LAST; m++) {
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
        for (int m = 0; m < GNOMON__LAST; m++) {
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
    for (int m = 0; m < GNOMON__LAST; m++) {
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
    CHECK_EQ(gnomon__diff_add(d, side, d->jobs[side].jobs, p, &(size_t){0}),
             GNOMON_OK);
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
    gnomon__change c = counter_change(2.0, 2.2, 0.5, GNOMON__MEAN);
    CHECK(near(c.a, 2.1, 1e-9) && near(c.b, 2.6, 1e-9));
    CHECK(near(c.relative, 0.5 / 2.1, 1e-9));
    CHECK(c.confidence > 0.999 && c.low > 0 && c.high > c.relative);
    c = counter_change(-2.2, -2.0, 0.5, GNOMON__MEAN); /* more is more */
    CHECK(near(c.relative, 0.5 / 2.1, 1e-9));
    CHECK(c.confidence > 0.999 && c.low > 0 && c.high > c.relative);
    c = counter_change(0, 100, 5, GNOMON__MEAN); /* far apart */
    CHECK(c.confidence < 0.5 && c.low < 0);
    c = counter_change(2.0, 2.2, 0.5, GNOMON__LAST);
    CHECK(near(c.a, 2.2, 1e-9) && near(c.b, 2.7, 1e-9));
    c = counter_change(2.0, 2.2, 0.5, GNOMON__MIN);
    CHECK(near(c.a, 2.0, 1e-9));
    c = counter_change(2.0, 2.2, 0.5, GNOMON__TOTAL);
    CHECK(near(c.a, 210, 1e-9) && near(c.b, 260, 1e-9));
    c = counter_change(8, 8, 0, GNOMON__MAX);
    CHECK(c.confidence == 0.0 && c.relative == 0.0);
    c = counter_change(0, 0, 1, GNOMON__MAX);
    CHECK(isinf(c.relative) && c.relative > 0);
}

TEST(one_sample_gives_no_interval)
{
    gnomon__diff *d = NULL;
    gnomon__diff_create(&d);
    add_counter(d, GNOMON__SIDE_A, 1, 2, 2);
    add_counter(d, GNOMON__SIDE_B, 1, 9, 9);
    CHECK(isnan(change_of(d, GNOMON__MEAN).confidence));
    gnomon__diff_free(d);
}

/* ---- Text --------------------------------------------------------------- */

/* A quantile has two digits, and its change no tenths of a percent. */
TEST(numbers_have_the_digits_that_are_known)
{
    static const struct {
        double value;
        const char *exact, *about;
    } cases[] = {{0, "0 ns", "0 ns"},
                 {5.5, "5.500 ns", "5.5 ns"},
                 {99.996, "100.0 ns", "100 ns"},
                 {949, "949.0 ns", "950 ns"},
                 {996, "996.0 ns", "1.0 us"},
                 {999960, "1.000 ms", "1.0 ms"},
                 {1016384, "1.016 ms", "1.0 ms"},
                 {9951000, "9.951 ms", "10 ms"},
                 {123456789, "123.5 ms", "120 ms"},
                 {4e12, "4000.0 s", "4000 s"},
                 {(double)NAN, "-", "-"}};
    char text[GNOMON__CHANGES_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(
            gnomon__changes_value(text, cases[i].value, GNOMON__CHANGES_NS, 0),
            cases[i].exact);
        CHECK_STR(gnomon__changes_value(text, cases[i].value,
                                        GNOMON__CHANGES_ABOUT_NS, 0),
                  cases[i].about);
    }
    CHECK_STR(gnomon__changes_value(text, -5e6, GNOMON__CHANGES_NS, 1),
              "-5.000 ms");
    CHECK_STR(gnomon__changes_value(text, 2.5, GNOMON__CHANGES_COUNT, 1),
              "+2.5");
    CHECK_STR(gnomon__changes_value(text, 1e-7, GNOMON__CHANGES_SAMPLE, 0),
              "1e-07");
    CHECK_STR(gnomon__changes_percent(text, 0.3107, GNOMON__CHANGES_NS),
              "+31.1 %");
    CHECK_STR(gnomon__changes_percent(text, 0.3107, GNOMON__CHANGES_ABOUT_NS),
              "+31 %");
    CHECK_STR(gnomon__changes_percent(text, -0.004, GNOMON__CHANGES_ABOUT_NS),
              "0 %");
    CHECK_STR(gnomon__changes_between(text, -0.5, HUGE_VAL, GNOMON__CHANGES_NS),
              "-50.0 .. +inf %");
    CHECK_STR(gnomon__changes_sure(text, 0.99939), "99.93 %");
}

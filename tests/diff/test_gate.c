/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gates: their syntax, their decisions, and how often they are wrong:
 * simulated pairs of sides with and without a change, from fixed seeds.
 *
 * links: static
 * threads: none
 * needs: cli
 * labels: once
 * timeout: 300 */
#include <math.h>

#include "command/command.h"
#include "diff/gate.h"
#include "sanitizer.h"
#include "simulated_jobs.h"

/* ---- Words -------------------------------------------------------------- */

typedef struct word_case {
    const char *text, *name;
    enum gnomon__metric metric;
    double relative, absolute; /* absolute -1: not given */
} word_case;

TEST(gates_are_parsed)
{
    static const word_case cases[] = {
        {"step mean +5%", "step", GNOMON__MEAN, 0.05, -1},
        {"  step  p99  +2.5% ", "step", GNOMON__METRIC_P99, 0.025, -1},
        {"a step in  two total +0% +1.5ms", "a step in  two", GNOMON__TOTAL, 0,
         1.5e6},
        {"'mean' max -10%", "mean", GNOMON__MAX, -0.1, -1},
        {"\" x \" self +5% +10us", " x ", GNOMON__SELF, 0.05, 1e4},
        {"[M]M.* calls -1% -3", "[M]M.*", GNOMON__CALLS, -0.01, 3},
        {"mean mean +5%", "mean", GNOMON__MEAN, 0.05, -1},
        {"+x P50 +200% +0", "+x", GNOMON__METRIC_P50, 2, 0},
        {"gemm* device-p99 +5% +1us", "gemm*", GNOMON__METRIC_P99, 0.05, 1e3},
        {"fit step-mean +5%", "fit", GNOMON__MEAN, 0.05, -1},
        {"fit step-count -1% -2", "fit", GNOMON__CALLS, -0.01, 2},
        {"fit step-min +5% +1us", "fit", GNOMON__MIN, 0.05, 1e3},
        {"loss counter-last +5% +0.25", "loss", GNOMON__LAST, 0.05, 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const word_case *c = &cases[i];
        gnomon__gate g;
        CHECK_EQ(gnomon__gate_parse(&g, c->text), GNOMON__EXIT_OK);
        CHECK_STR(g.name, c->name);
        CHECK_EQ(g.metric, c->metric);
        CHECK(fabs(g.relative - c->relative) < 1e-12);
        CHECK_EQ(g.falls, c->relative < 0);
        if (c->absolute < 0)
            CHECK(isnan(g.absolute));
        else
            CHECK(g.absolute == c->absolute);
        gnomon__gate_free(&g);
    }
}

TEST(wrong_gates_are_refused)
{
    static const char *const wrong[] = {
        "",
        "step",
        "+5%",
        "mean +5%",
        "step mean",
        "step mean 5%",
        "step mean +5",
        "step mean +%",
        "step mean +5%%",
        "step mean +1.2.3%",
        "step mean +nan%",
        "step mean +0x10%",
        "step mean +inf%",
        "step median +5%",
        "step mean +5% +10",
        "step mean +5% +10parsecs",
        "step mean +5% -10us",
        "step mean +5% 10us",
        "step calls +5% +10us",
        "step mean +10us +5%",
        "step device-self +5%",
        "loss counter-p50 +5%",
        "loss counter-mean +5% +1us",
        "loss counter-mean +5% -1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gnomon__gate g;
        if (!CHECK_EQ(gnomon__gate_parse(&g, wrong[i]), GNOMON__EXIT_USAGE))
            fprintf(stderr, "    %s\n", wrong[i]);
        gnomon__gate_free(&g);
    }
}

/* ---- Judgement ------------------------------------------------------------ */

static enum gnomon__verdict judged(const char *text, double a, double b,
                                   double confidence)
{
    gnomon__change c = {
        .a = a, .b = b, .relative = b / a - 1, .confidence = confidence};
    enum gnomon__verdict verdict;
    gnomon__gate g;
    CHECK_EQ(gnomon__gate_parse(&g, text), GNOMON__EXIT_OK);
    verdict = gnomon__gate_judge(&g, &c, 100, 0.999);
    gnomon__gate_free(&g);
    return verdict;
}

#define HOLDS(...) CHECK_EQ(judged(__VA_ARGS__), GNOMON__GATE_HOLDS)
#define FAILS(...) CHECK_EQ(judged(__VA_ARGS__), GNOMON__GATE_FAILS)
#define UNSURE(...) CHECK_EQ(judged(__VA_ARGS__), GNOMON__GATE_UNSURE)

/* It takes all three. */
TEST(a_gate_fails_only_beyond_both_limits_and_with_confidence)
{
    FAILS("x mean +5%", 1e6, 1.051e6, 0.9995);
    HOLDS("x mean +5%", 1e6, 1.049e6, 1);
    UNSURE("x mean +5%", 1e6, 1.051e6, 0.998);
    UNSURE("x mean +5%", 1e6, 2e6, (double)NAN);
    HOLDS("x mean +5%", 1e6, 0.5e6, 1);
    HOLDS("x mean +5%", 100, 119, 1); /* 20 ns at least */
    FAILS("x mean +5%", 100, 121, 1);
    FAILS("x mean +5% +5ns", 100, 106, 1);
    HOLDS("x mean +5% +1ms", 1e6, 1.9e6, 1);
    FAILS("x mean +5% +1ms", 1e6, 2.1e6, 1);
    HOLDS("x total +5%", 1e4, 1.19e4, 1); /* of 100 calls */
    FAILS("x total +5%", 1e4, 1.21e4, 1);
    FAILS("x calls +0%", 100, 101, 1);
    HOLDS("x calls +0% +1", 100, 101, 1);
    FAILS("x mean -5%", 1e6, 0.94e6, 1);
    HOLDS("x mean -5%", 1e6, 0.96e6, 1);
    HOLDS("x mean -5%", 1e6, 1.94e6, 1);
    FAILS("x calls -5% -3", 100, 90, 1);
    FAILS("x mean +5%", 0, 100, 1);
    HOLDS("x mean +5%", 0, 0, 0);
}

/* ---- Simulation ------------------------------------------------------------- */

#define GATES 8
static const char *const gates[GATES] = {
    "x mean +5%", "x total +5%", "x p50 +5%",   "x p99 +5%",
    "x max +5%",  "x self +5%",  "x calls +5%", "x min +5%"};

/* Their result does not depend on the build, so they run in all of them:
 * they are quick. */
#if defined(__OPTIMIZE__) && !defined(__clang__) && defined(__x86_64__) && \
    !IS_SANITIZED
#define PAIRS 1000
#define FEW_PAIRS 100
#define MOST_FALSE 1 /* in 100 */
#define LEAST_SEEN 95
#else /* so few that chance matters */
#define PAIRS 20
#define FEW_PAIRS 5
#define MOST_FALSE 5
#define LEAST_SEEN 90
#endif

/* How many of `pairs` pairs of sides fail each gate, where B is `longer`. */
static void simulate(const shape *s, size_t jobs, size_t calls, double longer,
                     int pairs, int fails[GATES])
{
    static const gnomon__assumptions usual = {GNOMON__DRIFT, GNOMON__DRIFT_NS};
    gnomon__gate g[GATES];
    dice = 4711;
    for (int i = 0; i < GATES; i++) {
        CHECK_EQ(gnomon__gate_parse(&g[i], gates[i]), GNOMON__EXIT_OK);
        fails[i] = 0;
    }
    for (int pair = 0; pair < pairs; pair++) {
        double base = s->base_ns > 0 ? s->base_ns : 1e6 * (1 + uniform());
        gnomon__diff *d;
        gnomon__diff_create(&d);
        for (size_t job = 0; job < jobs; job++) {
            add_job(d, GNOMON__SIDE_A, s, base, calls);
            add_job(d, GNOMON__SIDE_B, s, base * longer, calls);
        }
        const gnomon__diff_row *row = &d->rows[0];
        for (int i = 0; i < GATES; i++) {
            gnomon__change c =
                gnomon__compare(d, row, g[i].metric, 0.999, &usual);
            fails[i] += gnomon__gate_judge(&g[i], &c, (double)calls, 0.999) ==
                        GNOMON__GATE_FAILS;
        }
        gnomon__diff_free(d);
    }
    for (int i = 0; i < GATES; i++)
        gnomon__gate_free(&g[i]);
}

static void say(size_t jobs, size_t calls, int pairs, const int fails[GATES])
{
    fprintf(stderr, "    %d jobs of %d calls, of %d:", (int)jobs, (int)calls,
            pairs);
    for (int i = 0; i < GATES; i++)
        fprintf(stderr, " %d '%s'", fails[i], gates[i]);
    fprintf(stderr, "\n");
}

static int pairs_for(size_t calls)
{
    return calls > 10000 ? FEW_PAIRS : PAIRS;
}

/* Where many are simulated, a quarter of the pairs decides if it is twice as good as it
 * must be. In a soak all are. */
static int quarter_of(int pairs)
{
    return pairs < 100 || getenv("GNOMON_SOAK") ? 0 : pairs / 4;
}

static int most_of(const int *fails)
{
    int most = 0;
    for (int i = 0; i < GATES; i++)
        most = fails[i] > most ? fails[i] : most;
    return most;
}

/* Without a change at most 1 % fail. */
static void check_quiet(const shape *s, size_t jobs, size_t calls)
{
    int pairs = pairs_for(calls), quarter = quarter_of(pairs), fails[GATES];
    simulate(s, jobs, calls, 1, quarter, fails);
    if (quarter && most_of(fails) * 200 <= quarter * MOST_FALSE)
        return;
    simulate(s, jobs, calls, 1, pairs, fails);
    if (!CHECK(most_of(fails) * 100 <= pairs * MOST_FALSE) ||
        getenv("GATE_VERBOSE"))
        say(jobs, calls, pairs, fails);
}

static int least_of(const int *fails, int metrics)
{
    int least = fails[0];
    for (int i = 1; i < metrics; i++)
        least = fails[i] < least ? fails[i] : least;
    return least;
}

/* With one, at least 95 % do, of the first `metrics` gates. */
static void check_seen(const shape *s, size_t jobs, size_t calls, double longer,
                       int metrics)
{
    int pairs = pairs_for(calls), quarter = quarter_of(pairs), fails[GATES];
    simulate(s, jobs, calls, longer, quarter, fails);
    if (quarter && (quarter - least_of(fails, metrics)) * 200 <=
                       quarter * (100 - LEAST_SEEN))
        return;
    simulate(s, jobs, calls, longer, pairs, fails);
    if (!CHECK(least_of(fails, metrics) * 100 >= pairs * LEAST_SEEN) ||
        getenv("GATE_VERBOSE"))
        say(jobs, calls, pairs, fails);
}

static const size_t few_and_many[] = {2, 5, 20, 100, 1000, 100000};
#define SIZES(first, last) for (size_t size_ = first; size_ <= last; size_++)
#define CALLS few_and_many[size_]

TEST(soak_noise_does_not_fail)
{
    SIZES(0, 5)
    {
        check_quiet(&(shape){.noise = 0.02}, 1, CALLS);
        if (CALLS <= 1000)
            check_quiet(&(shape){.noise = 0.3}, 1, CALLS);
    }
}

TEST(soak_heavy_tails_do_not_fail)
{
    SIZES(0, 4)
    {
        check_quiet(&(shape){.noise = 0.5, .is_log = 1}, 1, CALLS);
        check_quiet(&(shape){.noise = 1.5, .is_log = 1}, 1, CALLS);
        check_quiet(&(shape){.tail = 1.2}, 1, CALLS);
    }
}

TEST(soak_few_outliers_do_not_fail)
{
    SIZES(0, 5)
    {
        shape s = {.noise = 0.02, .outliers = 0.001, .outlier = 100};
        check_quiet(&s, 1, CALLS);
        s.outliers = 0.02;
        if (CALLS <= 1000)
            check_quiet(&s, 1, CALLS);
    }
}

/* Correlated executions: fewer than 100 of them, alike and drifting far,
 * look like as many that vary little. */
TEST(soak_executions_that_are_alike_do_not_fail)
{
    SIZES(0, 4)
    {
        check_quiet(&(shape){.noise = 0.02, .memory = 0.9}, 1, CALLS);
        if (CALLS >= 5)
            check_quiet(&(shape){.noise = 0.2, .memory = 0.7}, 1, CALLS);
        if (CALLS >= 100)
            check_quiet(&(shape){.noise = 0.2, .memory = 0.9}, 1, CALLS);
    }
}

TEST(soak_drift_of_the_machine_does_not_fail)
{
    SIZES(0, 4)
    {
        check_quiet(&(shape){.noise = 0.02, .drift = 0.01}, 1, CALLS);
        check_quiet(&(shape){.noise = 0.02, .drift = 0.02}, 1, CALLS);
        check_quiet(&(shape){.noise = 0.001, .drift = 0.02}, 1, CALLS);
    }
}

/* More drift than assumed: three jobs show it, even if two do not. */
TEST(soak_jobs_show_a_drift_that_was_not_assumed)
{
    static const size_t jobs[] = {2, 3, 5, 10};
    for (int i = 0; i < 4; i++) {
        check_quiet(&(shape){.noise = 0.02, .drift = 0.02}, jobs[i], 20);
        if (jobs[i] == 2)
            continue;
        check_quiet(&(shape){.noise = 0.02, .drift = 0.05}, jobs[i], 100);
        check_quiet(&(shape){.noise = 0.1, .drift = 0.2}, jobs[i], 20);
    }
}

/* The position of a quantile in its cell is unknown: one that crosses the
 * edge of a cell seems to jump. */
TEST(soak_a_step_over_an_edge_does_not_fail)
{
    const shape s = {.noise = 0.0001,
                     .outliers = 0.4,
                     .outlier = 1.5,
                     .base_ns = 1047500}; /* the edge is at 2^20 */
    int fails[GATES];
    simulate(&s, 5, 5000, 1.002, 20, fails);
    for (int i = 0; i < GATES; i++)
        CHECK_EQ(fails[i], 0);
}

TEST(soak_numbers_of_calls_that_vary_do_not_fail)
{
    SIZES(1, 4)
    check_quiet(&(shape){.noise = 0.02, .is_poisson = 1}, 1, CALLS);
    check_quiet(&(shape){.noise = 0.02, .is_poisson = 1}, 3, 100);
}

TEST(soak_short_executions_do_not_fail)
{
    SIZES(1, 5)
    {
        check_quiet(&(shape){.noise = 0.1, .base_ns = 100, .grain_ns = 20}, 1,
                    CALLS);
        check_quiet(
            &(shape){
                .noise = 0.05, .base_ns = 35, .grain_ns = 1, .drift = 0.02},
            1, CALLS);
    }
}

/* The gates before `p50` are those of mean and total. */
enum { UP_TO_TOTAL = 2, UP_TO_P50 = 3, UP_TO_P99 = 4 };

TEST(soak_a_change_of_10_percent_fails)
{
    const shape quiet = {.noise = 0.02}, loud = {.noise = 0.3};
    const shape drifts = {.noise = 0.02, .drift = 0.01};
    const shape drifts_more = {.noise = 0.02, .drift = 0.02};
    SIZES(2, 5)
    check_seen(&quiet, 1, CALLS, 1.1, UP_TO_TOTAL);
    check_seen(&drifts, 3, 20, 1.1, UP_TO_TOTAL);
    check_seen(&drifts_more, 5, 20, 1.1, UP_TO_TOTAL);
    check_seen(&loud, 10, 1000, 1.1, UP_TO_P50);
    check_seen(&(shape){.noise = 0.5, .is_log = 1}, 1, 100000, 1.1,
               UP_TO_TOTAL);
}

TEST(soak_larger_changes_fail_after_few_calls)
{
    const shape quiet = {.noise = 0.02};
    check_seen(&quiet, 1, 10, 1.15, UP_TO_TOTAL);
    check_seen(&quiet, 1, 5, 1.4, UP_TO_TOTAL);
    check_seen(&quiet, 1, 100, 1.15, UP_TO_P99);
    check_seen(&(shape){.noise = 0.1, .base_ns = 1000}, 1, 1000, 1.2,
               UP_TO_P50);
}

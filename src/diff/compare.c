/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of a side of a row, their variances, and the test of a change. Pure functions.
 * docs/comparing.md has the reasons.
 *
 * Executions of one run depend on one another in ways that a histogram does not
 * show. So n of them count as 1 / (1/n + m/(n + m)) independent ones, m being
 * ESTIMATE_MEMORY: n/(m + 1) if there are many, and hardly more than one if there are
 * few. The other assumption is that the whole job is off by a drift: the larger variance
 * of the two is used.
 *
 * The independent samples of the test are jobs. The variance between them is a mean,
 * weighted by degrees of freedom, of an assumed one, which counts as COMPARE_PRIOR
 * jobs, and of the measured one. So one job a side can be compared, and with more jobs
 * the assumption loses weight (Smyth 2004). The degrees
 * of freedom of the sum are Satterthwaite's (1946), as in Welch's test; those of
 * the spread of executions are the smaller side's, as executions that depend on
 * one another tell less of it. The interval of the ratio is Fieller's (1954); it
 * holds 1 exactly where the test sees no change. */
#include "diff/compare.h"

#include <math.h>

#define ESTIMATE_MEMORY 14.0

#define METRICS_OF_TIMES(X, prefix, calls, kind) \
    X(prefix calls, kind, CALLS) \
    X(prefix "total", kind, TOTAL) \
    X(prefix "mean", kind, MEAN) \
    X(prefix "p50", kind, METRIC_P50) \
    X(prefix "p90", kind, METRIC_P90) \
    X(prefix "p99", kind, METRIC_P99) \
    X(prefix "max", kind, MAX) \
    X(prefix "min", kind, MIN)
#define METRICS(X) \
    METRICS_OF_TIMES(X, "", "calls", HOST) \
    X("self", HOST, SELF) \
    METRICS_OF_TIMES(X, "device-", "calls", DEVICE) \
    METRICS_OF_TIMES(X, "busy-", "calls", BUSY) \
    METRICS_OF_TIMES(X, "step-", "count", STEPS) \
    X("counter-mean", COUNTER, MEAN) \
    X("counter-last", COUNTER, LAST) \
    X("counter-min", COUNTER, MIN) \
    X("counter-max", COUNTER, MAX) \
    X("counter-sum", COUNTER, TOTAL) \
    X("memory-allocations", MEMORY, CALLS) \
    X("memory-allocated", MEMORY, TOTAL) \
    X("memory-peak", MEMORY, MAX) \
    X("memory-held", MEMORY, SELF)
#define METRIC_WORD(word, kind, metric) word,
#define METRIC_OF(word, kind, metric) {GNOMON__DIFF_##kind, GNOMON__##metric},
const char *const gnomon__metric_words[] = {METRICS(METRIC_WORD) NULL};
const gnomon__metric_of gnomon__metrics[] = {METRICS(METRIC_OF)};

static double square(double x)
{
    return x * x;
}

/* Variances are of one part's value; a side's is their share by `parts`. */
typedef struct estimate {
    double value;    /* of a job; NAN: the row is not on this side */
    double known;    /* variance that is assumed, and known as such */
    double guessed;  /* variance from the spread of executions; NAN: there is
                        one alone, and so no spread */
    double measured; /* variance between parts; of no use below 2 of them */
    double unseen;   /* variance that all parts share: of where in its cell a
                        quantile is */
    double relative; /* variance of executions, in squares of the mean; NAN */
    double parts;
    double executions;
} estimate;

/* ---- Values ------------------------------------------------------------- */

static size_t part_count(size_t jobs)
{
    return jobs < GNOMON__DIFF_PARTS ? jobs : GNOMON__DIFF_PARTS;
}

static size_t jobs_in(size_t jobs, size_t part)
{
    return jobs / GNOMON__DIFF_PARTS + (part < jobs % GNOMON__DIFF_PARTS);
}

/* What a job of this part shows; NAN: the row is in none of them, and has no
 * such value there. */
static double part_value(const gnomon__diff_part *p, double jobs,
                         enum gnomon__metric metric)
{
    if (metric == GNOMON__CALLS)
        return p->calls / jobs;
    if (metric == GNOMON__TOTAL)
        return p->total / jobs;
    if (metric == GNOMON__SELF)
        return p->self / jobs;
    if (p->runs == 0)
        return (double)NAN;
    switch (metric) {
    case GNOMON__MEAN:
        return p->total / p->calls;
    case GNOMON__MAX:
        return p->max;
    case GNOMON__MIN:
        return p->min;
    case GNOMON__LAST:
        return p->last / p->runs;
    default:
        return p->quantiles[metric - GNOMON__METRIC_P50] / p->runs;
    }
}

/* Their mean, which is the side's value, and variance, by Welford's updates. A
 * maximum, or a quantile, of all jobs at once would be that of the slowest. */
static void add_parts(estimate *e, const gnomon__diff_half *half, size_t jobs,
                      enum gnomon__metric metric)
{
    static const gnomon__diff_part none;
    double squares = 0;
    e->value = 0;
    e->parts = 0;
    for (size_t i = 0; i < part_count(jobs); i++) {
        const gnomon__diff_part *p =
            i < half->part_count ? &half->parts[i] : &none;
        double value = part_value(p, (double)jobs_in(jobs, i), metric);
        double off = value - e->value;
        if (isnan(value))
            continue;
        e->parts++;
        e->value += off / e->parts;
        squares += off * (value - e->value);
    }
    if (e->parts <= 0)
        e->value = (double)NAN;
    e->measured = e->parts > 1 ? squares / (e->parts - 1) : 0;
}

/* ---- Variances ---------------------------------------------------------- */

/* The variance of executions, relative to the square of the mean. The shortest
 * and the longest are known; the others count as the middles of their cells,
 * between those two. */
static double relative_variance(const gnomon_stats *s)
{
    double mean = (double)s->total_ns / (double)s->count, squares;
    if (s->count < 2)
        return (double)NAN;
    if (s->total_ns == 0)
        return 0;
    squares =
        square((double)s->min_ns - mean) + square((double)s->max_ns - mean);
    for (size_t i = 0; i < s->cell_count; i++) {
        uint64_t low = gnomon_cell_low(s->cells[i].cell);
        uint64_t high = gnomon_cell_low(s->cells[i].cell + 1) - 1;
        double count = (double)s->cells[i].count;
        low = low < s->min_ns ? s->min_ns : low;
        high = high > s->max_ns ? s->max_ns : high;
        count -= (i == 0) + (i + 1 == s->cell_count);
        squares += count * square(((double)low + (double)high) / 2 - mean);
    }
    return squares / (double)(s->count - 1) / square(mean);
}

/* The variance of samples whose minimum and maximum alone are known: the upper bound
 * of Bhatia and Davis (2000). */
static double samples_variance(const gnomon__diff_half *half)
{
    double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < half->part_count; i++) {
        const gnomon__diff_part *p = &half->parts[i];
        low = p->runs > 0 ? fmin(low, p->min) : low;
        high = p->runs > 0 ? fmax(high, p->max) : high;
        sum += p->total;
    }
    double mean = sum / (double)half->all.s.count;
    double most = (high - mean) * (mean - low);
    return isfinite(most) ? fmax(most, 0) : (double)NAN;
}

/* The variance of a counter's metric over n samples. */
static double sampled_variance(const gnomon__diff_half *half, double n,
                               double independent, enum gnomon__metric metric)
{
    double variance = samples_variance(half);
    if (metric == GNOMON__MEAN)
        return variance / independent;
    return metric == GNOMON__TOTAL ? variance * square(n) / independent
                                   : variance;
}

/* By Woodruff (1952): how far the quantile is from those at the ends of its rank's
 * interval, for so many independent executions; half a rank wider on each side, because
 * ranks are whole numbers. */
static double quantile_variance(const gnomon_stats *s, double q,
                                double independent)
{
    double off = sqrt(q * (1 - q) / independent) + 0.5 / independent;
    double value = gnomon_quantile(s, q);
    double above = gnomon_quantile(s, fmin(q + off, 1)) - value;
    double below = value - gnomon_quantile(s, fmax(q - off, 0));
    return square(fmax(above, below));
}

/* The variance of a quantile's place in its cell, which is not known; but it is
 * no further from the mean than by Cantelli's inequality. */
static double cell_variance(const gnomon_stats *s, double q, double relative)
{
    double mean = (double)s->total_ns / (double)s->count;
    double sigma = isnan(relative) ? 0 : mean * sqrt(relative);
    uint32_t cell = gnomon_cell_of((uint64_t)gnomon_quantile(s, q));
    double low = fmax((double)gnomon_cell_low(cell), (double)s->min_ns);
    double high = fmin((double)gnomon_cell_low(cell + 1), (double)s->max_ns);
    low = fmax(low, mean - sigma * sqrt((1 - q) / q));
    high = fmin(high, mean + sigma * sqrt(q / (1 - q)));
    return high > low ? square(high - low) / 12 : 0;
}

/* The variance of a value of `n` executions, were n what `independent` says. */
static double value_variance(const gnomon__diff_half *half, const estimate *e,
                             double n, double independent,
                             enum gnomon__metric metric)
{
    const gnomon_stats *s = &half->all.s;
    double mean = (double)s->total_ns / (double)s->count;
    switch (metric) {
    case GNOMON__CALLS:
        return 0;
    case GNOMON__MEAN:
        return e->relative * square(mean) / independent;
    case GNOMON__TOTAL:
    case GNOMON__SELF: /* whose own spread is not recorded: no more than this */
        return e->relative * square(mean * n) / independent;
    case GNOMON__MAX: /* as far as from those that could have been absent */
        return square(e->value -
                      gnomon_quantile(s, fmax(0, 1 - ESTIMATE_MEMORY / n)));
    case GNOMON__MIN:
        return square(e->value -
                      gnomon_quantile(s, fmin(1, ESTIMATE_MEMORY / n)));
    default:
        return quantile_variance(
            s, gnomon__quantiles[metric - GNOMON__METRIC_P50], independent);
    }
}

static int grows_with_calls(enum gnomon__metric metric)
{
    return metric == GNOMON__CALLS || metric == GNOMON__TOTAL ||
           metric == GNOMON__SELF;
}

double gnomon__estimate_value(const gnomon__diff *d,
                              const gnomon__diff_row *row,
                              enum gnomon__side side,
                              enum gnomon__metric metric)
{
    const gnomon__diff_half *half = &row->side[side];
    estimate e;
    if (half->all.s.count == 0)
        return (double)NAN;
    add_parts(&e, half, d->jobs[side].jobs, metric);
    return e.value;
}

/* The variance of a part's value, assumed and guessed, of n executions. */
static void assume(estimate *e, const gnomon__diff_row *row,
                   enum gnomon__side side, enum gnomon__metric metric,
                   const gnomon__assumptions *assumed)
{
    double n = e->executions / e->parts;
    double likeness = ESTIMATE_MEMORY / (n + ESTIMATE_MEMORY);
    double timed = metric == GNOMON__CALLS || row->kind >= GNOMON__DIFF_COUNTER
                       ? 0
                   : grows_with_calls(metric) ? n
                                              : 1;
    double drift =
        square(assumed->drift * e->value) + square(assumed->drift_ns * timed);
    double variance[2], independent[2] = {n, 1 / (1 / n + likeness)};
    for (int i = 0; i < 2; i++)
        variance[i] =
            row->kind == GNOMON__DIFF_MEMORY ? 0
            : row->kind == GNOMON__DIFF_COUNTER
                ? sampled_variance(&row->side[side], n, independent[i], metric)
                : value_variance(&row->side[side], e, n, independent[i],
                                 metric);
    int is_together = variance[1] > variance[0] + drift;
    e->known = is_together ? 0 : drift;
    e->guessed = variance[is_together];
}

/* `counts`: the relative variance of the number of calls, for what grows with it. */
static estimate estimate_of(const gnomon__diff *d, const gnomon__diff_row *row,
                            enum gnomon__side side, enum gnomon__metric metric,
                            double counts, const gnomon__assumptions *assumed)
{
    const gnomon__diff_half *half = &row->side[side];
    estimate e = {.value = (double)NAN,
                  .executions = (double)half->all.s.count};
    if (half->all.s.count == 0)
        return e;
    add_parts(&e, half, d->jobs[side].jobs, metric);
    if (row->kind < GNOMON__DIFF_COUNTER)
        e.relative = relative_variance(&half->all.s);
    else if (row->kind == GNOMON__DIFF_COUNTER)
        e.relative = half->all.s.count < 2
                         ? (double)NAN
                         : samples_variance(half) / square(e.value);
    assume(&e, row, side, metric, assumed);
    if (half->all.s.count < 2 && metric != GNOMON__CALLS &&
        row->kind != GNOMON__DIFF_MEMORY)
        e.guessed = (double)NAN;
    if (grows_with_calls(metric))
        e.known += counts * square(e.value);
    else if (metric >= GNOMON__METRIC_P50 && metric <= GNOMON__METRIC_P99)
        e.unseen = cell_variance(&half->all.s,
                                 gnomon__quantiles[metric - GNOMON__METRIC_P50],
                                 e.relative);
    return e;
}

/* ---- Student's t distribution ---------------------------------------------- */

/* From the incomplete beta function, and that by its continued fraction (NIST's Digital
 * Library of Mathematical Functions, 8.17.22) in Lentz's form. Both functions fall with t,
 * so the quantile is found by halving. */
#define T_NORMAL 1e5 /* degrees of freedom from which it is the normal one */

/* Lentz: a factor of 0 would end the recurrence, so it is replaced by a tiny one. */
static double t_not_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The fraction of I_x(a, b); converges fast where x < (a + 1) / (a + b + 2). */
static double t_beta_fraction(double x, double a, double b)
{
    double c = 1, f, d = 1 / t_not_zero(1 - (a + b) * x / (a + 1));
    f = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd =
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / t_not_zero(1 + even * d);
        c = t_not_zero(1 + even / c);
        f *= c * d;
        d = 1 / t_not_zero(1 + odd * d);
        c = t_not_zero(1 + odd / c);
        f *= c * d;
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return f;
}

/* The incomplete beta function I_x(a, b); `y` is 1 - x, without its rounding. */
static double t_beta(double x, double y, double a, double b)
{
    double front;
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * t_beta_fraction(x, a, b) / a;
    return 1 - front * t_beta_fraction(y, b, a) / b;
}

double gnomon__t_two_sided(double t, double df)
{
    double square = t * t;
    if (df >= T_NORMAL)
        return erfc(fabs(t) / sqrt(2));
    if (isinf(square))
        return 0;
    return t_beta(df / (df + square), square / (df + square), df / 2, 0.5);
}

double gnomon__t_quantile(double probability, double df)
{
    double low = 0, high = 1;
    while (high < 1e150 && gnomon__t_two_sided(high, df) > probability)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = low + (high - low) / 2;
        if (gnomon__t_two_sided(middle, df) > probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- The test --------------------------------------------------------------- */

#define COMPARE_PRIOR 2.0

/* The variances of both sides' values, and where they come from. */
typedef struct compare_sum {
    double side[2];
    double guessed;     /* of them, from executions */
    double measured[2]; /* and from the spread between the jobs of a side */
} compare_sum;

/* A side with one execution, or one job, takes the spread of the other side. */
static void compare_add(compare_sum *sum, const estimate *e, int side)
{
    const estimate *own = &e[side], *other = &e[!side], *from = own;
    double guessed = own->guessed, freedom, measured, weight;
    if (isnan(guessed))
        guessed = 2 * other->relative * square(own->value);
    if (own->parts < 2 && other->parts >= 2 && other->value != 0)
        from = other;
    freedom = from->parts - 1;
    measured = from->measured;
    if (from == other)
        measured *= square(own->value / other->value);
    weight = COMPARE_PRIOR / (COMPARE_PRIOR + freedom);
    guessed *= weight / own->parts;
    measured *= (1 - weight) / own->parts;
    sum->guessed += guessed;
    sum->measured[from == own ? side : !side] += measured;
    sum->side[side] =
        weight * own->known / own->parts + own->unseen + guessed + measured;
}

static double compare_freedom(const compare_sum *sum, const estimate *e)
{
    double least = fmin(e[0].executions, e[1].executions), parts = 0;
    if (least < 2)
        least = fmax(e[0].executions, e[1].executions);
    if (sum->guessed > 0)
        parts += square(sum->guessed) / (least - 1);
    for (int side = 0; side < 2; side++)
        if (sum->measured[side] > 0)
            parts += square(sum->measured[side]) / (e[side].parts - 1);
    return parts > 0 ? square(sum->side[0] + sum->side[1]) / parts : HUGE_VAL;
}

/* If the interval of a contains 0, the ratio has no bounds. The ratio of durations is
 * never negative. If a is negative, the bounds change their order. */
static void compare_interval(gnomon__change *c, const compare_sum *sum,
                             double t, int may_be_negative)
{
    double ratio = c->b / c->a, low, high;
    double g = square(t) * sum->side[0] / square(c->a), half;
    if (!(g < 1))
        return;
    half = t / fabs(c->a) *
           sqrt(sum->side[1] * (1 - g) + square(ratio) * sum->side[0]);
    low = (ratio - half) / (1 - g);
    high = (ratio + half) / (1 - g);
    if (!may_be_negative)
        low = fmax(low, 0);
    c->low = c->a < 0 ? 1 - high : low - 1;
    c->high = c->a < 0 ? 1 - low : high - 1;
}

/* The share of a by which b is more. */
static double compare_relative(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (a != 0)
        return (b - a) / fabs(a);
    return b > 0 ? HUGE_VAL : b < 0 ? -HUGE_VAL : 0;
}

/* The relative variance of the number of calls: that of a Poisson number, but at most
 * what the two sides differ by; and 0 where neither side has any, as of memory that is
 * held and was allocated before. */
static double compare_counts(const gnomon__diff *d, const gnomon__diff_row *row)
{
    double a = gnomon__estimate_value(d, row, GNOMON__SIDE_A, GNOMON__CALLS);
    double b = gnomon__estimate_value(d, row, GNOMON__SIDE_B, GNOMON__CALLS);
    return a + b <= 0 ? 0 : fmin(2 / (a + b), square((b - a) / (a + b)) * 2);
}

gnomon__change gnomon__compare(const gnomon__diff *d,
                               const gnomon__diff_row *row,
                               enum gnomon__metric metric, double confidence,
                               const gnomon__assumptions *assumed)
{
    gnomon__change c = {.low = -HUGE_VAL, .high = HUGE_VAL};
    double counts = compare_counts(d, row), df, variance;
    compare_sum sum = {0};
    estimate e[2];
    for (int side = 0; side < 2; side++)
        e[side] = estimate_of(d, row, (enum gnomon__side)side, metric, counts,
                              assumed);
    c.a = e[0].value;
    c.b = e[1].value;
    c.relative = compare_relative(c.a, c.b);
    c.confidence = (double)NAN;
    if (isnan(c.a) || isnan(c.b))
        return c;
    compare_add(&sum, e, GNOMON__SIDE_A);
    compare_add(&sum, e, GNOMON__SIDE_B);
    variance = sum.side[0] + sum.side[1];
    if (isnan(variance))
        return c;
    df = compare_freedom(&sum, e);
    c.confidence =
        c.a == c.b ? 0
                   : 1 - gnomon__t_two_sided((c.b - c.a) / sqrt(variance), df);
    compare_interval(&c, &sum, gnomon__t_quantile(1 - confidence, df),
                     row->kind >= GNOMON__DIFF_COUNTER);
    return c;
}

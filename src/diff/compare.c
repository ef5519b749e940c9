/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The test of a change. Pure functions.
 *
 * The independent samples are jobs. The variance between them is a mean, weighted by
 * degrees of freedom, of an assumed one (estimate.c), which counts as COMPARE_PRIOR
 * jobs, and of the measured one. So one job a side can be compared, and with more jobs
 * the assumption loses weight (Smyth 2004). The degrees
 * of freedom of the sum are Satterthwaite's (1946), as in Welch's test; those of
 * the spread of executions are the smaller side's, as executions that depend on
 * one another tell less of it. The interval of the ratio is Fieller's (1954); it
 * holds 1 exactly where the test sees no change. */
#include "diff/compare.h"

#include <math.h>

#include "diff/t_distribution.h"

#define COMPARE_PRIOR 2.0

/* The variances of both sides' values, and where they come from. */
typedef struct compare_sum {
    double side[2];
    double guessed;     /* of them, from executions */
    double measured[2]; /* and from the spread between the jobs of a side */
} compare_sum;

static double compare_square(double x)
{
    return x * x;
}

/* A side with one execution, or one job, takes the spread of the other side. */
static void compare_add(compare_sum *sum, const gnomon__estimate *e, int side)
{
    const gnomon__estimate *own = &e[side], *other = &e[!side], *from = own;
    double guessed = own->guessed, freedom, measured, weight;
    if (isnan(guessed))
        guessed = 2 * other->relative * compare_square(own->value);
    if (own->parts < 2 && other->parts >= 2 && other->value != 0)
        from = other;
    freedom = from->parts - 1;
    measured = from->measured;
    if (from == other)
        measured *= compare_square(own->value / other->value);
    weight = COMPARE_PRIOR / (COMPARE_PRIOR + freedom);
    guessed *= weight / own->parts;
    measured *= (1 - weight) / own->parts;
    sum->guessed += guessed;
    sum->measured[from == own ? side : !side] += measured;
    sum->side[side] =
        weight * own->known / own->parts + own->unseen + guessed + measured;
}

static double compare_freedom(const compare_sum *sum, const gnomon__estimate *e)
{
    double least = fmin(e[0].executions, e[1].executions), parts = 0;
    if (least < 2)
        least = fmax(e[0].executions, e[1].executions);
    if (sum->guessed > 0)
        parts += compare_square(sum->guessed) / (least - 1);
    for (int side = 0; side < 2; side++)
        if (sum->measured[side] > 0)
            parts += compare_square(sum->measured[side]) / (e[side].parts - 1);
    return parts > 0 ? compare_square(sum->side[0] + sum->side[1]) / parts
                     : HUGE_VAL;
}

/* If the interval of a contains 0, the ratio has no bounds. The ratio of durations is
 * never negative. If a is negative, the bounds change their order. */
static void compare_interval(gnomon__change *c, const compare_sum *sum,
                             double t, int may_be_negative)
{
    double ratio = c->b / c->a, low, high;
    double g = compare_square(t) * sum->side[0] / compare_square(c->a), half;
    if (!(g < 1))
        return;
    half = t / fabs(c->a) *
           sqrt(sum->side[1] * (1 - g) + compare_square(ratio) * sum->side[0]);
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
 * what the two sides differ by. */
static double compare_counts(const gnomon__diff *d, const gnomon__diff_row *row)
{
    double a = gnomon__estimate_value(d, row, GNOMON__SIDE_A, GNOMON__CALLS);
    double b = gnomon__estimate_value(d, row, GNOMON__SIDE_B, GNOMON__CALLS);
    return fmin(2 / (a + b), compare_square((b - a) / (a + b)) * 2);
}

gnomon__change gnomon__compare(const gnomon__diff *d,
                               const gnomon__diff_row *row,
                               enum gnomon__metric metric, double confidence,
                               const gnomon__assumptions *assumed)
{
    gnomon__change c = {.low = -HUGE_VAL, .high = HUGE_VAL};
    double counts = compare_counts(d, row), df, variance;
    compare_sum sum = {0};
    gnomon__estimate e[2];
    for (int side = 0; side < 2; side++)
        e[side] = gnomon__estimate_of(d, row, (enum gnomon__side)side, metric,
                                      counts, assumed);
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
                     row->kind == GNOMON__DIFF_COUNTER);
    return c;
}

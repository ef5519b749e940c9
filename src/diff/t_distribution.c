/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Student's t from the incomplete beta function, and that by its continued
 * fraction (NIST's Digital Library of Mathematical Functions, 8.17.22) in Lentz's
 * form. Both functions fall with t, so the quantile is found by halving. */
#include "diff/t_distribution.h"

#include <math.h>

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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Student's t distribution. Pure functions. */
#ifndef GNOMON_DIFF_T_DISTRIBUTION_H
#define GNOMON_DIFF_T_DISTRIBUTION_H

/* The probability of being further from 0 than `t`, to either side, with `df`
 * degrees of freedom, which need not be whole; INFINITY: the normal. */
double gnomon__t_two_sided(double t, double df);

/* The t >= 0 beyond which there is `probability`, of both sides together. */
double gnomon__t_quantile(double probability, double df);

#endif

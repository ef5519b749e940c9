/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels of a profile of gnomon's own, one by one: those that CUPTI recorded; without
 * any, what scopes took on their streams by a device's events, less those inside them.
 *
 * Kernels below one operation come together, execution by execution. Where the profile has
 * no single ones, the least, the longest and then the mean of the others stand for them, so
 * that counts and sums are exact. */
#ifndef GNOMON_NSYS_OWN_H
#define GNOMON_NSYS_OWN_H

#include "nsys/records.h"

typedef struct gnomon__own gnomon__own;

/* Whether a file that begins so is a profile. */
bool gnomon__own_is(const char *head, size_t size);
/* A gnomon__exit after one line; free in any case. */
int gnomon__own_open(gnomon__own **out, const char *path);
/* False at the end: then a gnomon__exit is in *status, of a file that is damaged. Without
 * memory the record says so. */
bool gnomon__own_next(gnomon__own *o, gnomon__nsys_record *r, int *status);
/* Step `i`, from 0. False: there is none. */
bool gnomon__own_step(const gnomon__own *o, size_t i,
                      gnomon__nsys_step_range *out);
void gnomon__own_free(gnomon__own *o);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Statistics that others are added to. */
#ifndef GNOMON_PROFILE_SUMS_H
#define GNOMON_PROFILE_SUMS_H

#include "gnomon/profile.h"
#include "profile/fields.h"
#include "profile/model.h"

/* Begins as zeroes. struct_size is set by the first addition, even one that counts
 * nothing. `s.cells` is its own. */
typedef struct gnomon__sum {
    gnomon_stats s; /* first: what readers see */
    size_t room;
    gnomon__model *m; /* has the cells; NULL: the heap */
} gnomon__sum;

/* An empty one in the model, on the heap where that is NULL. NULL: no memory. */
gnomon__sum *gnomon__sum_create(gnomon__model *m);

/* Adds all of `more`: counts, times, and cell by cell; NULL is nothing.
 * GNOMON_ENOMEM: the sum is as it was. */
int gnomon__sum_add(gnomon__sum *to, const gnomon_stats *more);

/* Becomes `other`. Likewise. */
int gnomon__sum_become(gnomon__sum *to, const gnomon_stats *other);

/* Below 0, 0 or above: by count, total, self, min, max, cells. If one path is
 * read twice, the later reading is never smaller. */
int gnomon__stats_compare(const gnomon_stats *a, const gnomon_stats *b);

/* Makes *out a copy that lives as long as the model. 0: no memory. */
int gnomon__sum_keep(const gnomon__sum *s, gnomon__model *m,
                     const gnomon_stats **out);
void gnomon__sum_free(gnomon__sum *s);

#endif

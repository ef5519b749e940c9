/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all runs of a merged profile share: regions, ops, views, each once. First
 * all are taken in, then they are put in order, and only then do they have
 * numbers. */
#ifndef GNOMON_MERGE_SHARED_H
#define GNOMON_MERGE_SHARED_H

#include "profile/fold.h"

/* Zeroes are an empty one. */
typedef gnomon__fold gnomon__shared;

/* Takes in those of `p`; copies what they point to. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__shared_add(gnomon__shared *s, const gnomon_profile *p);

/* Puts them in order; nothing is added after it. Likewise. */
int gnomon__shared_order(gnomon__shared *s);

/* Says that an input is no longer what was taken in: GNOMON_EINVAL. */
int gnomon__shared_changed(void);

/* Adds the numbers of a part's regions, ops and views in the whole, by its own, to
 * `out`, which is to be freed in any case. GNOMON_OK, GNOMON_ENOMEM, or
 * GNOMON_EINVAL: `p` was not taken in. */
int gnomon__shared_find(const gnomon__shared *s, const gnomon_profile *p,
                        gnomon__numbers *out);

/* Makes them the model's, which must not outlive them. Likewise. */
int gnomon__shared_lend(const gnomon__shared *s, gnomon__model *to);
void gnomon__shared_free(gnomon__shared *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all runs of a merged profile share: regions, ops, views, each once. First
 * all are taken in, then they are put in order, and only then do they have
 * numbers. */
#ifndef GNOMON_OFFLINE_SHARED_H
#define GNOMON_OFFLINE_SHARED_H

#include "offline/slots.h"
#include "profile/model.h"

/* Zeroes are an empty one. */
typedef struct gnomon__shared {
    gnomon__model *m;       /* of no runs */
    gnomon__slots slots[3]; /* of regions, ops, views */
} gnomon__shared;

/* A part's numbers in the whole, by its own; 0 stays 0. */
typedef struct gnomon__shared_map {
    uint32_t *region, *op, *view;
} gnomon__shared_map;

/* Takes in those of `p`; copies what they point to. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__shared_add(gnomon__shared *s, const gnomon_profile *p);

/* Puts them in order; nothing is added after it. Likewise. */
int gnomon__shared_order(gnomon__shared *s);

/* Says that an input is no longer what was taken in: GNOMON_EINVAL. */
int gnomon__shared_changed(void);

/* GNOMON_OK, GNOMON_ENOMEM, or GNOMON_EINVAL: `p` was not taken in. Free it. */
int gnomon__shared_find(const gnomon__shared *s, const gnomon_profile *p,
                        gnomon__shared_map *out);
void gnomon__shared_map_free(gnomon__shared_map *map);

/* Makes them the model's, which must not outlive them. Likewise. */
int gnomon__shared_lend(const gnomon__shared *s, gnomon__model *to);
void gnomon__shared_free(gnomon__shared *s);

#endif

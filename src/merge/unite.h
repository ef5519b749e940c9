/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One run of a merged profile, made of what several profiles say of it; or one
 * sum of many runs. Docs: docs/merging.md.
 *
 * Entities of one key are merged into one. Merging is commutative and associative, so any
 * order and grouping of the inputs gives the same. */
#ifndef GNOMON_MERGE_UNITE_H
#define GNOMON_MERGE_UNITE_H

#include "profile/fold.h"
#include "spec/filter.h"

/* ---- Names ---------------------------------------------------------------------------
 *
 * What all runs of a merged profile share: regions, ops, views, each once. First
 * all are taken in, then they are put in order, and only then do they have
 * numbers. */

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

/* ---- One run, or one sum -------------------------------------------------------------- */

#define GNOMON__ALL_VIEWS UINT32_MAX

/* Selects one stage; a NULL pointer to it: all. With GNOMON__UNITE_NAMES it selects by
 * name, and the result gets this ordinal. */
typedef struct gnomon__stage_filter {
    uint32_t ordinal;
    const char *name; /* NULL: what is of no stage */
    /* Nodes of that view alone, by its number in what is shared, and those of no
     * view; 0: these alone. */
    uint32_t view;
} gnomon__stage_filter;

typedef struct gnomon__unite gnomon__unite;

/* `shared` must live as long as the result. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__unite_create(gnomon__unite **out, const gnomon__shared *shared,
                         unsigned rules);

/* Of what is added from now on regions that the filter takes are in, as if it had been
 * recorded with filter=: what is inside a region that is left out, and its self time, is
 * of the scope around it. Its events, and what is open of it, are left out. Unlike there,
 * work that was submitted by what is left out, or in what is left out, stays below the
 * nearest scope that is kept. NULL: all are in. */
void gnomon__unite_filter(gnomon__unite *u, const gnomon__filter *filter);

/* Adds what `p` says of its run `run` (0 where it has none), of a stage as a
 * profiler's summary has it. `p` may go then, unless its events are in the result.
 * GNOMON_OK; GNOMON_ENOMEM; GNOMON_EINVAL: its regions are not in `shared`, or it has no
 * such run. */
int gnomon__unite_add(gnomon__unite *u, const gnomon_profile *p, uint32_t run,
                      const gnomon__stage_filter *only);

/* Whether any stage was added. */
int gnomon__unite_has_stages(const gnomon__unite *u);
/* Kinds, as bits, of which the filter has left out any: nodes with times, counters. */
uint32_t gnomon__unite_left_out(const gnomon__unite *u);

/* The result, in an order that its content alone decides; frees `u` in any case. The
 * caller frees the profile. `code`: what went wrong so far, which then is returned. Else
 * GNOMON_OK; GNOMON_ENOMEM; GNOMON_EIO: an event of a part cannot be read any more. */
int gnomon__unite_finish(gnomon__unite *u, int code, gnomon_profile **out);
void gnomon__unite_free(gnomon__unite *u);

#endif

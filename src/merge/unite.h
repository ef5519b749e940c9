/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One run of a merged profile, made of what several profiles say of it; or one
 * sum of many runs. Docs: docs/merging.md.
 *
 * Entities of one key are merged into one. Merging is commutative and associative, so any
 * order and grouping of the inputs gives the same. */
#ifndef GNOMON_MERGE_UNITE_H
#define GNOMON_MERGE_UNITE_H

#include "merge/shared.h"
#include "profile/fold.h"
#include "spec/filter.h"

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
 * profiler's summary has it. `p` may go then. GNOMON_OK; GNOMON_ENOMEM;
 * GNOMON_EINVAL: its regions are not in `shared`, or it has no such run; GNOMON_EIO: an
 * event of it cannot be read any more. */
int gnomon__unite_add(gnomon__unite *u, const gnomon_profile *p, uint32_t run,
                      const gnomon__stage_filter *only);

/* The numbers of a part's entities in the result. */
typedef struct gnomon__unite_map {
    gnomon__numbers of;
    size_t count[GNOMON__ENTITIES]; /* how many the part has */
    struct gnomon__unite_map *next;
} gnomon__unite_map;

/* `map` is to get the result's numbers of tracks, nodes and regions of the part that is
 * added next. It must live until the end; the caller frees it. */
void gnomon__unite_keep_map(gnomon__unite *u, gnomon__unite_map *map);

/* Whether any stage was added. */
int gnomon__unite_has_stages(const gnomon__unite *u);
/* Kinds, as bits, of which the filter has left out any: nodes with times, counters. */
uint32_t gnomon__unite_left_out(const gnomon__unite *u);

/* The result, in an order that its content alone decides; frees `u` in any case. The
 * caller frees the profile. */
int gnomon__unite_finish(gnomon__unite *u, gnomon_profile **out);
void gnomon__unite_free(gnomon__unite *u);

#endif

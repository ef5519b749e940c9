/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What unite*.c, merge_leaves.c and order.c work on. Leaves are entities that no other
 * refers to: open scopes, links, counters, losses, metadata, events, times of views. */
#ifndef GNOMON_MERGE_UNITED_H
#define GNOMON_MERGE_UNITED_H

#include "merge/unite.h"
#include "profile/texts.h"

struct gnomon__unite {
    gnomon__fold fold; /* first. All but shared ones, and leaves as they came */
    const gnomon__shared *shared;
    uint32_t parts; /* added so far */
    gnomon__unite_map
        *maps; /* those to fill in; the first is the next part's */
    int has_next_map;
    const gnomon__filter *filter; /* NULL: none */
    uint32_t left_out;            /* gnomon__unite_left_out */
    gnomon__text_table texts;
    size_t times_kept;                     /* when they were last pruned */
    size_t merged_count[GNOMON__ENTITIES]; /* leaves after the last merge */
};

/* A part that is being added. */
typedef struct gnomon__united_part {
    gnomon__unite *u;
    const gnomon_profile *p;
    uint32_t run;
    const gnomon__stage_filter *only;
    /* United numbers by the part's, 0: left out; and how many it has of each. */
    gnomon__numbers map;
    size_t count[GNOMON__ENTITIES];
    size_t last_stage;   /* of those that are in */
    uint32_t *view_time; /* unite_views.c: by stage, in the chosen view */
    int is_latest;       /* its run's record is the one that holds */
    /* unite_filter.c: by region and by node of the part; NULL: there is no filter. */
    unsigned char *is_taken, *state;
    uint32_t *submitter; /* gnomon__linked_parents, malloc's; NULL: no links */
} gnomon__united_part;

/* gnomon__fold's `keep`: each text is kept once. */
int gnomon__unite_keep(gnomon__fold *f, int entity, void *of);

/* Whether what is of that stage is wanted, 0 being none. */
int gnomon__united_has_stage(const gnomon__united_part *part, uint32_t stage);
/* Likewise: whether a node, by the part's numbers, is of the wanted stage and view. */
int gnomon__united_is_chosen(const gnomon__united_part *part,
                             const gnomon_node_info *n);

/* Says that the times of a node, by its united number, do not add up. */
void gnomon__united_partial(const gnomon__united_part *part, uint32_t node);

/* unite_leaves.c: adds a part's leaves. */
int gnomon__unite_leaves(gnomon__united_part *part);

/* merge_leaves.c: sorts leaves of a kind by the numbers they have now; and merges those
 * of one key. */
void gnomon__sort_leaves(gnomon__unite *u, int entity);
void gnomon__merge_leaves(gnomon__unite *u, int entity);

/* Puts events that began at one moment in order; of readings of one process it leaves out
 * those that several have. `reserved` is the reading. */
void gnomon__sort_moment(gnomon__table *events, int are_readings);

/* Puts the items of a kind in the order of their keys. *ordered, if it is asked for, gets
 * their new numbers by the old ones; the caller frees it in any case. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__order_items(gnomon__fold *f, int entity, uint32_t **ordered);

/* order.c: puts all in the order of its content. Nothing is added any more. Likewise. */
int gnomon__unite_order(gnomon__unite *u);

int gnomon__no_memory_to_merge(void);
/* A profile gave some of its events only. */
int gnomon__changed_while_merged(void);

#endif

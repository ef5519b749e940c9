/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What unite*.c, moments.c and order.c work on. */
#ifndef GNOMON_MERGE_UNITED_H
#define GNOMON_MERGE_UNITED_H

#include "merge/unite.h"
#include "merge/united_events.h"
#include "profile/texts.h"

struct gnomon__unite {
    gnomon__fold fold; /* first. All but shared ones */
    const gnomon__shared *shared;
    uint32_t parts;                /* added so far */
    gnomon__united_events *events; /* NULL: none */
    const gnomon__filter *filter;  /* NULL: none */
    uint32_t left_out;             /* gnomon__unite_left_out */
    gnomon__text_table texts;
    size_t times_kept; /* when they were last pruned */
    size_t opens_kept; /* likewise */
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
    size_t last_stage; /* of those that are in, by ordinal */
    uint32_t last_ordinal;
    uint32_t
        *view_time; /* by stage: its time in the view that is asked for, 0 if
                            none has one; NULL: no view is, or none has times */
    int has_view_times; /* any is in */
    int is_latest;      /* its run's record is the one that holds */
    /* unite_filter.c: by region and by node of the part; NULL: there is no filter. */
    unsigned char *is_taken, *state;
    uint32_t *submitter; /* gnomon__linked_parents, malloc's; NULL: no links */
} gnomon__united_part;

#define GNOMON__OF_OTHER_VIEWS UINT32_MAX /* all times of the stage */

/* gnomon__fold's `keep`: each text is kept once. */
int gnomon__unite_keep(gnomon__fold *f, int entity, void *of);

/* Whether what is of that stage is wanted, 0 being none. */
int gnomon__united_has_stage(const gnomon__united_part *part, uint32_t stage);
/* Likewise: whether a node, by the part's numbers, is of the wanted stage and view. */
int gnomon__united_is_chosen(const gnomon__united_part *part,
                             const gnomon_node_info *n);

/* Says that the times of a node, by its united number, do not add up. */
void gnomon__united_partial(const gnomon__united_part *part, uint32_t node);

/* Puts the items of a kind in the order of their keys. *ordered, if it is asked for, gets
 * their new numbers by the old ones; the caller frees it in any case. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__order_items(gnomon__fold *f, int entity, uint32_t **ordered);

/* order.c: puts all in the order of its content. Nothing is added any more. Likewise. */
int gnomon__unite_order(gnomon__unite *u);

int gnomon__no_memory_to_merge(void);
/* An event could not be read: GNOMON_ENOMEM, or else the file has changed. */
int gnomon__unread_while_merged(int code);

#endif

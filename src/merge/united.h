/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What unite.c and order.c work on. */
#ifndef GNOMON_MERGE_UNITED_H
#define GNOMON_MERGE_UNITED_H

#include "merge/unite.h"
#include "merge/united_events.h"
#include "print/links.h"
#include "profile/slots.h"

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
    size_t number;     /* of the entity that may be taken */
    size_t last_stage; /* of those that are in, by ordinal */
    uint32_t last_ordinal;
    uint32_t
        *view_time; /* by stage: its time in the view that is asked for, 0 if
                            none has one; NULL: no view is, or none has times */
    int has_view_times; /* any is in */
    int is_latest;      /* its run's record is the one that holds */
    /* The filter: by region and by node of the part; NULL: there is no filter. */
    unsigned char *is_taken, *state;
    gnomon__linked
        *linked; /* gnomon__linked_parents, malloc's; NULL: no links */
} gnomon__united_part;

/* Whether the filter takes the part's region. */
static inline int gnomon__filter_has(const gnomon__united_part *part,
                                     uint32_t region)
{
    return !part->is_taken || part->is_taken[region];
}

/* Puts the items of a kind in the order of their keys. *numbers gets their new numbers by
 * the old ones; the caller frees it in any case. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__order_items(gnomon__fold *f, int entity, uint32_t **numbers);
/* The same in the order of an array of structs that begin with an item's number. */
int gnomon__take_order(gnomon__fold *f, int entity, const void *keys,
                       size_t key_size, uint32_t **numbers);

/* order.c: which of a part's steps and of what they were made of are wanted, its stages being
 * united. `reserved` of a step: it is kept even if no time refers to it. */
int gnomon__unite_steps_begin(gnomon__united_part *part);
int gnomon__unite_steps_take(gnomon__united_part *part, gnomon__any *item);
int gnomon__unite_times_take(gnomon__united_part *part, gnomon__any *item);
int gnomon__unite_times_end(gnomon__united_part *part);
void gnomon__unite_steps_free(gnomon__unite *u);

/* Of readings: leaves out copies of open scopes, once there may be many. */
int gnomon__unite_opens_end(gnomon__united_part *part);

/* Puts all in the order of its content. Nothing is added any more. Likewise. */
int gnomon__unite_order(gnomon__unite *u);

int gnomon__no_memory_to_merge(void);
/* An event could not be read: GNOMON_ENOMEM, or else the file has changed. */
int gnomon__unread_while_merged(int code);

#endif

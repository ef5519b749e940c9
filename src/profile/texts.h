/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Texts, each once, with what their owner knows of each. */
#ifndef GNOMON_PROFILE_TEXTS_H
#define GNOMON_PROFILE_TEXTS_H

#include "profile/slots.h"

typedef struct gnomon__text_item {
    const char *text; /* the owner's; NULL: not set yet */
    uint32_t number;  /* whatever the owner keeps; 0 at first */
} gnomon__text_item;

/* Zeroes are an empty one. */
typedef struct gnomon__text_table {
    gnomon__slots slots;
    gnomon__text_item *items; /* as many as there are in `slots` */
    size_t room;
} gnomon__text_table;

/* NULL: it is not there. Items move when one is added. */
gnomon__text_item *gnomon__text_find(const gnomon__text_table *t,
                                     const char *text);

/* The same; where it is not there yet, its item is new: the caller sets its text,
 * to a copy that lives as long as `t` is used. NULL: no memory. */
gnomon__text_item *gnomon__text_intern(gnomon__text_table *t, const char *text);

/* All but the texts themselves; what is left is an empty one. */
void gnomon__text_table_free(gnomon__text_table *t);

#endif

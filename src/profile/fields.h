/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_FIELDS_H
#define GNOMON_PROFILE_FIELDS_H

#include "profile/entity.h"
#include "profile/model.h"

/* How many items are behind a pointer: a struct, or a list. 0 where it is NULL. */
size_t gnomon__field_count(const gnomon__field *f, const void *of);
void gnomon__field_count_set(const gnomon__field *f, void *of, size_t count);

/* Copies `from`, of `given` bytes, to `to`, of this release's size: missing fields are
 * zero. */
void gnomon__struct_take(const gnomon__struct *s, void *to, const void *from,
                         uint32_t given);

/* `part`, which may be of another release, as a struct of this release's size: itself if
 * it is as large, else copied to `room` with zeros added. */
const void *gnomon__struct_whole(const gnomon__struct *s, const void *part,
                                 gnomon__any *room);

/* Copies what structs point to into a model. */
typedef struct gnomon__copier {
    gnomon__model *m;
    /* A copy of a text that lives as long as the model, by the field's type;
     * NULL: `why`, else no memory. */
    const char *(*text)(struct gnomon__copier *c, const char *text, int type);
    void *context;   /* the text's */
    const char *why; /* what is wrong with the struct; NULL: nothing */
} gnomon__copier;

/* A `text` that keeps each text by itself. */
const char *gnomon__copy_text(gnomon__copier *c, const char *text, int type);

/* Replaces all that a struct points to by copies in the model, in this release's sizes.
 * A missing text becomes "". 0: `why`, else no memory. */
int gnomon__copy_inside(gnomon__copier *c, const gnomon__struct *s, void *of);

#endif

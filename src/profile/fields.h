/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_FIELDS_H
#define GNOMON_PROFILE_FIELDS_H

#include "profile/entity.h"
#include "profile/model.h"

/* How many items are behind a pointer: a struct, or a list. 0 where it is NULL. */
size_t gnomon__field_count(const gnomon__field *f, const void *of);
void gnomon__field_count_set(const gnomon__field *f, void *of, size_t count);

/* Makes `to` one of ours, of `from`, which has `given` bytes: what it lacks is
 * zero. */
void gnomon__struct_take(const gnomon__struct *s, void *to, const void *from,
                         uint32_t given);

/* The struct behind `part`, which may be of another release, as one of ours:
 * itself where it is as large, else completed in `room`. */
const void *gnomon__struct_whole(const gnomon__struct *s, const void *part,
                                 gnomon__any *room);

/* Who copies what structs point to, into a model. */
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

/* Replaces all that a struct of ours points to by copies, each of ours too. A
 * missing text becomes "". 0: `why`, else no memory. */
int gnomon__copy_inside(gnomon__copier *c, const gnomon__struct *s, void *of);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is done to entities by the rows of profile/entity.h, so by content alone: copying,
 * and what makes entities of two profiles the same, their order in a merged one, and how
 * two of them become one. Merging is commutative and associative. */
#ifndef GNOMON_PROFILE_FIELDS_H
#define GNOMON_PROFILE_FIELDS_H

#include "profile/model.h"

/* ---- Comparing: below 0, 0 or above ------------------------------------------ */

#define GNOMON__COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Returns the first difference. */
#define GNOMON__TRY(order) \
    do { \
        int gnomon__difference = (order); \
        if (gnomon__difference) \
            return gnomon__difference; \
    } while (0)

/* Compares the structs that `a` and `b` point to. */
#define GNOMON__TRY_NUMBER(field) \
    GNOMON__TRY(GNOMON__COMPARE(a->field, b->field))

/* The bytes that a field itself has. */
static inline size_t gnomon__field_size(const gnomon__field *f)
{
    return f->type < GNOMON__TYPE_U64 ? 4 : 8;
}

/* NULL comes before "". Each compares to below 0, 0 or above. */
int gnomon__compare_texts(const char *a, const char *b);

/* Maps doubles to integers with a total order, NaN too. */
uint64_t gnomon__real_bits(double value);

/* Fields that have one of these rules, and all that they lead to; 0: all fields. */
int gnomon__compare_fields(const gnomon__struct *s, const void *a,
                           const void *b, unsigned rules);

/* Those that are the key. */
int gnomon__compare_keys(int entity, const void *a, const void *b);
uint64_t gnomon__hash_key(int entity, const void *item);

/* Merges `from` into `to`, by the rules of their fields. With `readings` both describe
 * the same thing at two moments: fields are not added, the larger of the two is kept. */
void gnomon__merge_fields(const gnomon__struct *s, void *to, const void *from,
                          int readings);

/* The numbers that an entity names, by other ones: maps[kind][number], where there
 * is a map for the kind. */
typedef struct gnomon__numbers {
    uint32_t *of[GNOMON__ENTITIES];
} gnomon__numbers;

void gnomon__renumber(const gnomon__numbers *maps, int entity, void *item);
void gnomon__numbers_free(gnomon__numbers *maps);

/* The run of an entity; 0: none, as of shared ones. */
size_t gnomon__run_of(const gnomon_profile *p, int entity, size_t number);

/* The record of an unknown run. */
extern const gnomon_run_info gnomon__no_run;

/* Which of two records of one run says more: by when it was taken, then by all
 * that it says. */
int gnomon__compare_runs(const gnomon_run_info *a, const gnomon_run_info *b);

/* ---- Lists and copies -------------------------------------------------------- */

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

/* A `text` that keeps each text by itself; and one that keeps equal texts once, those of
 * the gnomon__text_table that its context is. */
const char *gnomon__copy_text(gnomon__copier *c, const char *text, int type);
const char *gnomon__copy_once(gnomon__copier *c, const char *text, int type);

/* Replaces all that a struct points to by copies in the model, in this release's sizes.
 * A missing text becomes "". 0: `why`, else no memory. */
int gnomon__copy_inside(gnomon__copier *c, const gnomon__struct *s, void *of);

#endif

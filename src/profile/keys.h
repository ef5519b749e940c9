/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What makes entities of two profiles the same, their order in a merged one, and
 * how two of them become one: by the rows of profile/entity.h, so by content
 * alone. Merging is commutative and associative. */
#ifndef GNOMON_PROFILE_KEYS_H
#define GNOMON_PROFILE_KEYS_H

#include "profile/entity.h"

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

/* The record of an unknown run. */
extern const gnomon_run_info gnomon__no_run;

/* Which of two records of one run says more: by when it was taken, then by all
 * that it says. */
int gnomon__compare_runs(const gnomon_run_info *a, const gnomon_run_info *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entities of several profiles as one set: those of one key become one, by the rules of
 * their fields (entity.h) and, where fields depend on one another, by a function of the
 * kind. Whoever folds chooses what is added, in the order of a file, and by which
 * numbers. */
#ifndef GNOMON_PROFILE_FOLD_H
#define GNOMON_PROFILE_FOLD_H

#include "profile/fields.h"
#include "profile/slots.h"
#include "profile/sums.h"

enum gnomon__unite_rules {
    /* One sum of many runs: their moments have no common zero, so stages last as
     * long as all of theirs together, and steps but the slowest, events, open scopes
     * and metadata go. Threads are kept apart by name alone. */
    GNOMON__UNITE_RANKS = 1,
    /* The result has no runs; nor has what is added. */
    GNOMON__UNITE_NO_RUN = 2,
    /* Stages of one name become one, which lasts as long as all of them
     * together. Kept are the steps of the last one, and the slowest steps of
     * all. */
    GNOMON__UNITE_NAMES = 4,
    /* The result borrows statistics of paths that only one part has: parts must outlive
     * it. */
    GNOMON__UNITE_LENDS = 8,
    /* Of a unite: gnomon__fold_readings is its way, not gnomon__fold_sums. */
    GNOMON__UNITE_READINGS = 16
};

typedef struct gnomon__fold gnomon__fold;

/* How two of one key become one. Without `join` the rules of their fields say it. */
typedef struct gnomon__fold_way {
    int takes_later;  /* the second of two, where it does not add up */
    int takes_larger; /* of counts and times too: nothing adds up */
    int (*join[GNOMON__ENTITIES])(gnomon__fold *f, void *to, const void *from);
} gnomon__fold_way;

/* Parts of a file: associative, in their order. */
extern const gnomon__fold_way gnomon__fold_parts;
/* Readings of one process at different moments: of two records of one path the larger,
 * which is the later, is kept. Commutative and associative, as sums are; an empty profile
 * changes nothing. */
extern const gnomon__fold_way gnomon__fold_readings;
extern const gnomon__fold_way gnomon__fold_sums;

/* Zeroes, and the first three fields, are an empty one. */
struct gnomon__fold {
    /* What was added, by numbers from 1 in the order of first additions. Sums of stages
     * and nodes live in it. */
    gnomon__model *m;
    const gnomon__fold_way *way;
    unsigned rules;                        /* gnomon__unite_rules */
    gnomon__slots slots[GNOMON__ENTITIES]; /* by key */
    const uint32_t *tracks; /* the fold's numbers, by those of pools in nodes */
    unsigned char *owns;    /* by node: whether its blocks may be added to */
    size_t owns_room;
    double *rounded; /* by counter, from 0: what its sum lacks */
    size_t rounded_room;
    /* Copies what a new item points to, but no sums; NULL: it lives long enough. 0: no
     * memory. */
    int (*keep)(gnomon__fold *f, int entity, void *item);
};

/* Adds an entity that names others by the fold's numbers, but pools of a node by its
 * own. The item may lie behind the end of its own table in f->m. Returns its number; 0:
 * no memory. */
uint32_t gnomon__fold_add(gnomon__fold *f, int entity, const void *item);

/* The number of the entity with the key of `item`; 0: none. */
uint32_t gnomon__fold_find(const gnomon__fold *f, int entity, const void *item);

/* Makes one of two that have the same key, for kinds other than nodes. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__fold_join(gnomon__fold *f, int entity, void *to, const void *from);

/* The node's own time grows; it has times. Likewise. */
int gnomon__fold_add_self(gnomon__fold *f, uint32_t node, uint64_t ns);

/* Numbers of entities have changed: finds all of a kind by their keys again. Likewise. */
int gnomon__fold_index(gnomon__fold *f, int entity);

/* Frees all but the model. */
void gnomon__fold_free(gnomon__fold *f);

/* ---- Parts ------------------------------------------------------------------------
 *
 * A file that was appended to: each of its parts is a profile of its own, of what was new,
 * by numbers that go on. docs/file-format.md, "Parts". */

/* Makes one profile of the parts, whose numbers were checked: entities of equal keys
 * become one. Open scopes are those of the last part: `open_count` from
 * `first_open` on. `maps` gets the new numbers by the old ones; the caller frees it in any
 * case. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count,
                        gnomon__numbers *maps);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of regions: static ones enter at their first mark, interned ones
 * when their name is first asked for. Ids are dense from 1 and never reused;
 * nothing is ever removed, since modules with regions stay mapped. */
#ifndef GNOMON_MARK_REGION_H
#define GNOMON_MARK_REGION_H

#include "gnomon.h"
#include "mark/node.h"
#include "platform/atomic.h"
#include "platform/utf8.h"

#define GNOMON__MAX_NAMES (1u << 17) /* interned ones; static ones always fit */

struct gnomon__op;

/* What the table keeps for each region, in addition to the region itself. */
typedef struct gnomon__entry {
    gnomon_region *region;
    const char *name;     /* valid UTF-8, at most GNOMON__MAX_NAME bytes */
    const char *category; /* never NULL */
    const struct gnomon__op *op; /* NULL: it is not of gnomon_op_region */
    uint32_t plain;  /* the id of the region that computes `op`, or its own */
    uint32_t wanted; /* bits whose filters let it pass */
} gnomon__entry;

/* Registers `region` if need be and returns its mask now. 0 for a region of
 * another generation; and for one of a module that is not pinned yet, where a signal
 * handler marks it first: it stays unseen. Takes the lock. */
uint32_t gnomon__region_enter(gnomon_region *region);

/* Registers it also where nothing is attached. Its entry, perhaps that of "(other)".
 * NULL: a region of another generation, or not now. Takes the lock. */
const gnomon__entry *gnomon__region_register(gnomon_region *region);

/* The region's entry; NULL: it has none, for example as it waits. */
const gnomon__entry *gnomon__entry_of(const gnomon_region *region);

/* waiting.c. If nothing is attached the region is switched off, without a
 * pin or an entry, until gnomon__regions_wake. 0: something is attached.
 * Safe in a signal handler; no system call. */
int gnomon__region_waits(gnomon_region *region);
/* Whether this is the link of a region that waits or waited. */
int gnomon__is_waiting(const void *link);
/* Makes all waiting regions unseen again, so that their next marks register
 * them; forgets those of modules that are gone. Takes the loader's lock of
 * the list. */
void gnomon__regions_wake(void);
/* Makes all regions of the table unseen again, as another copy of the
 * library owns them from now on. */
void gnomon__regions_hand_over(void);

/* gnomon_region_get with lengths. */
gnomon_region *gnomon__region_get_n(const char *name, size_t length,
                                    const char *category,
                                    size_t category_length, int kind);
/* gnomon_thread_name with a length. */
void gnomon__thread_name_n(const char *name, size_t length);

/* Adds it: its id, or 0 where the table is full or there is no memory. Under the
 * lock. */
uint32_t gnomon__region_append(gnomon_region *region, size_t name_length);
/* The same of a region that computes `op`; `plain` is the one that it stands for. */
uint32_t gnomon__region_append_op(gnomon_region *region,
                                  const struct gnomon__op *op,
                                  const gnomon__entry *plain);

/* "(other)", and its entry in the table if it has none. Under the lock. */
GNOMON__DATA gnomon_region gnomon__other_region;
void gnomon__region_enter_other(void);

/* intern.c: the region of a name, or gnomon__other_region where it is past a limit.
 * Takes the lock. The second one counts that in gnomon_health; callers of the first
 * one do, as a stop is no further loss. */
gnomon_region *gnomon__region_intern(gnomon__text name, gnomon__text category,
                                     int kind);
gnomon_region *gnomon__region_named(gnomon__text name, gnomon__text category,
                                    int kind);

/* Entry `id`, 1 .. gnomon__region_count(); without the lock, ids that a node
 * holds are always there. */
const gnomon__entry *gnomon__region_entry(uint32_t id);
uint32_t gnomon__region_count(void);
/* How many of them compute an operation. */
uint32_t gnomon__op_region_count(void);
/* Regions of lower ids compute none. */
GNOMON__DATA uint32_t gnomon__plain_ids;

/* The region "(other)"; its id is fixed. */
#define GNOMON__OTHER_ID 1u

/* The key of the region's paths. Regions past the end of the table have that
 * of "(other)". */
static inline uint32_t gnomon__key_of(const gnomon_region *region)
{
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_RELAXED);
    return id ? id : GNOMON__OTHER_ID;
}

/* The id of the region that a profile shows for this one: that of the plain region where
 * it computes an operation. */
static inline uint32_t gnomon__plain_id(uint32_t id)
{
    return unlikely(id >= load_relaxed(&gnomon__plain_ids))
               ? gnomon__region_entry(id)->plain
               : id;
}

/* Rewrites masks, wanted & armed: `count` of them from id `from`. Returns the
 * next id; 0: there is none. Under the lock. */
uint32_t gnomon__region_rewrite(uint32_t armed, uint32_t from, uint32_t count);

/* Sets or clears `bit` in every entry's `wanted`, by its filter. Under the
 * lock. */
void gnomon__region_filter(uint32_t bit);
void gnomon__region_unwant(uint32_t bit);

/* Nobody wants any region, and all have this mask. Under the lock. */
void gnomon__regions_forget(uint32_t mask);

/* How many plain regions the filter of `bit` excludes. Under the lock. */
uint32_t gnomon__region_excluded(uint32_t bit);

/* A region's name in the table, for callbacks: valid UTF-8. */
const char *gnomon__region_name(const gnomon_region *region);

#endif

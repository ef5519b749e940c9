/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile in memory: an array for each kind of entity, filled in once and then
 * immutable. Numbers are 1 .. count, so entity i lies at index i - 1. */
#ifndef GNOMON_PROFILE_MODEL_H
#define GNOMON_PROFILE_MODEL_H

#include "profile/entity.h"

typedef struct gnomon__table {
    char *items;
    size_t count, room, size; /* `size`: of one item */
} gnomon__table;

typedef struct gnomon__model_block gnomon__model_block;

/* From the first begin to the last end of a track's events; a begin after the end: it has
 * none. None is above GNOMON__TIMES_MOST, so that Unix times do not overflow. */
typedef struct gnomon__event_times {
    uint64_t begin_ns, end_ns;
} gnomon__event_times;

#define GNOMON__TIMES_MOST (UINT64_MAX >> 1)

/* Events that are decoded when they are read. `read` fills the events from `number` on
 * (1 .. count), as many as it has at hand but at most `room`, and returns how many; 0: it
 * cannot, as where a file is gone. Any number of threads may call it. `free` is called
 * with the model. */
typedef struct gnomon__event_source {
    size_t count;
    size_t (*read)(struct gnomon__event_source *s, size_t number,
                   gnomon_event_info *events, size_t room);
    void (*free)(struct gnomon__event_source *s);
    const gnomon__event_times *times; /* by track, 0 is none; NULL: not known */
    /* An error's code, negated, once a `read` has failed; any thread may set it. */
    uint32_t failed;
} gnomon__event_source;

typedef struct gnomon__model {
    gnomon_profile base;                    /* first: what the public sees */
    gnomon__table tables[GNOMON__ENTITIES]; /* by gnomon_entity */
    gnomon__model_block *blocks; /* texts, statistics, cells, shapes */
    size_t block_used, block_room;
    gnomon__event_source *events; /* NULL: they are in the table */
} gnomon__model;

/* An empty profile; NULL: no memory. Free with gnomon_profile_free(&m->base). */
gnomon__model *gnomon__model_create(void);

/* A zeroed item at the end of the table, its struct_size set; NULL: no memory.
 * Items move when one is added. */
void *gnomon__model_add(gnomon__model *m, int entity);
/* Room for so many of a kind. 0: no memory. */
int gnomon__model_reserve(gnomon__model *m, int entity, size_t count);

/* Its entities go; what they point to stays. */
void gnomon__model_drop_entities(gnomon__model *m);

static inline size_t gnomon__model_count(const gnomon__model *m, int entity)
{
    return entity == GNOMON_EVENTS && m->events ? m->events->count
                                                : m->tables[entity].count;
}

/* The model owns it from now on; its table of events is empty. */
void gnomon__model_set_events(gnomon__model *m, gnomon__event_source *events);

/* Why some event of a profile could not be read when it was asked for: GNOMON_ENOMEM or
 * GNOMON_EIO. A loop over its events then ended early. GNOMON_OK: all could. */
int gnomon__profile_failed(const gnomon_profile *p);

/* From the first begin to the last end of all events, in Unix ns, without reading one. 0:
 * not known, as of events in memory, or there are none. */
int gnomon__profile_span(const gnomon_profile *p, uint64_t *from_unix_ns,
                         uint64_t *until_unix_ns);

/* Item 1 .. count; of events only where they are in the table. */
static inline void *gnomon__model_at(const gnomon__model *m, int entity,
                                     size_t number)
{
    const gnomon__table *t = &m->tables[entity];
    return t->items + (number - 1) * t->size;
}

/* Zeroed memory that lives as long as the profile, for any type of its entities;
 * NULL: none. */
void *gnomon__model_room(gnomon__model *m, size_t bytes);

/* The same for a struct that begins with its struct_size, which is set. */
void *gnomon__model_sized(gnomon__model *m, size_t size);

/* A copy that lives as long as the profile; NULL: no memory. */
const char *gnomon__model_text(gnomon__model *m, const char *text);

/* Checks only that references are valid, and that a parent comes before its child;
 * returns as gnomon_profile_check. */
int gnomon__check_numbers(const gnomon_profile *p);

/* Writes all of a profile in one of the two forms that hold it (spec/names.h), as
 * gnomon_write. */
int gnomon__profile_write(const gnomon_profile *profile, int form,
                          const gnomon_writer *out);

#endif

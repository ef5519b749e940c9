/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What records of work name, each once and by a number from 1: names, tracks, operations,
 * and leaves, which are all of these together with the path that launched the work. Sums
 * and events have a leaf's number alone. All tables have a cap. Under the lock of
 * activities. */
#ifndef GNOMON_RECORD_ACTIVITY_TABLES_H
#define GNOMON_RECORD_ACTIVITY_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* The lock of activities: of these tables, the sums that wait and the events. Held for less
 * than 1 us a record, and by a profile's making for its nodes of work. No marking thread
 * takes it; under it come the heap, the ledger, and the lock of marks, for blocks of
 * events. */
void gnomon__activities_lock(void);
void gnomon__activities_unlock(void);

/* A region of a profile: its kind, category and name. */
typedef struct gnomon__activity_name {
    /* Its key: */
    uint64_t hash;   /* of the text as it was given, ... */
    uint64_t length; /* ... and its length: both together stand for the text */
    const char *category; /* one of a few constants: compared by address */
    uint32_t kind;
    /* The rest: */
    uint32_t ops; /* how many operations have it */
    char *text;   /* fit for reports; NULL: there was no memory yet */
} gnomon__activity_name;

enum gnomon__activity_lane {
    GNOMON__LANE_STREAM,
    GNOMON__LANE_TIMED,    /* a stream of timed scopes that no record names */
    GNOMON__LANE_CALLS,    /* of one of our threads, by its number */
    GNOMON__LANE_CALLS_OF, /* of another one, by the system's number */
    GNOMON__LANE_OVERHEAD,
    GNOMON__LANE_GRAPHS,
    GNOMON__LANE_COLLECTIVES
};

/* Keys have no padding: they are compared as bytes. */
typedef struct gnomon__activity_track {
    uint32_t lane;
    int32_t device; /* -1: the host */
    int64_t number; /* of the stream or thread */
} gnomon__activity_track;

typedef struct gnomon__activity_op {
    uint64_t bytes;
    uint64_t communicator;
    uint32_t name;
    uint32_t context;
    uint32_t grid[3], block[3]; /* grid[0] 0: it is no kernel */
    uint32_t registers;
    uint32_t shared;
} gnomon__activity_op;

typedef struct gnomon__activity_leaf {
    uint32_t generation;   /* of the view's tree */
    uint32_t thread, path; /* that launched it; path 0: none, and thread 0 */
    uint32_t track;        /* 0: of a scope, that of its node alone */
    uint32_t
        name;    /* 0: it is the scope of the path itself, as events timed it */
    uint32_t op; /* 0: not known */
} gnomon__activity_leaf;

/* The number of each, which is made where it is new. Where a table is full, of a name
 * that of "(other)" of its kind, of an operation 0, of a leaf that without its operation,
 * and then without its path. 0: no memory, or no room. `category` is static. */
uint32_t gnomon__activity_find_name(uint32_t kind, const char *category,
                                    const char *text);
uint32_t gnomon__activity_find_track(const gnomon__activity_track *track);
uint32_t gnomon__activity_find_op(const gnomon__activity_op *op);
uint32_t gnomon__activity_find_leaf(const gnomon__activity_leaf *leaf);
/* Of a scope, whose name is 0. Where there is no room for its track, sets leaf->track to 0
 * and finds the leaf without it. 0: no memory. */
uint32_t gnomon__activity_find_scope(gnomon__activity_leaf *leaf);

/* By number; valid until the next one is made. */
const gnomon__activity_name *gnomon__activity_name_at(uint32_t number);
const gnomon__activity_track *gnomon__activity_track_at(uint32_t number);
const gnomon__activity_op *gnomon__activity_op_at(uint32_t number);
const gnomon__activity_leaf *gnomon__activity_leaf_at(uint32_t number);

/* Empties all. */
void gnomon__activity_tables_clear(void);

#endif

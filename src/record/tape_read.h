/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies of tapes, taken while threads write. First each thread's records as they lie in
 * its blocks; then, in place, one entry for each event, in the order of their begins, and
 * apart from them links and steps. */
#ifndef GNOMON_RECORD_TAPE_READ_H
#define GNOMON_RECORD_TAPE_READ_H

#include <stddef.h>

#include "mark/tape.h"

/* Which events, and so by which cursor. */
enum gnomon__tape_which {
    GNOMON__TAPE_ALL,  /* all that are kept, up to now */
    GNOMON__TAPE_OVER, /* likewise, up to the last cut */
    GNOMON__TAPE_PART, /* of full blocks, which are given back */
    /* Those that began in a time; and that no other profile needs. */
    GNOMON__TAPE_CYCLE,
    GNOMON__TAPE_CYCLE_ALONE,
    /* Those of the stage that the last cut ended, as the tree counts it: by the cuts of
     * their threads, whatever the time. */
    GNOMON__TAPE_ON_TIME,
    /* Those that ended in that stage and began before it. A file gets them in several
     * parts, one for each earlier stage. The last part counts as lost those that were
     * overwritten before their part was read. */
    GNOMON__TAPE_LATE,
    GNOMON__TAPE_LATE_LAST
};

static inline int gnomon__tape_is_of_stage(enum gnomon__tape_which which)
{
    return which >= GNOMON__TAPE_ON_TIME;
}

static inline int gnomon__tape_is_late(enum gnomon__tape_which which)
{
    return which >= GNOMON__TAPE_LATE;
}

static inline int gnomon__tape_is_cycle(enum gnomon__tape_which which)
{
    return which == GNOMON__TAPE_CYCLE || which == GNOMON__TAPE_CYCLE_ALONE;
}

/* How many events are missing, and between which moments, in ticks. */
typedef struct gnomon__tape_loss {
    uint64_t count;
    uint64_t first, last;
} gnomon__tape_loss;

/* An event. While it is read: ticks and node's offset. In a profile: ns and the node's
 * number. */
typedef struct gnomon__tape_entry {
    uint64_t begin;
    uint32_t
        length; /* of an execution; with GNOMON__ENTRY_MORE an index of `more` */
    uint32_t what;
} gnomon__tape_entry;
_Static_assert(sizeof(gnomon__tape_entry) == sizeof(gnomon__tape_record),
               "entries replace records");

/* The parts of `what` of an entry: kind, whether it has more, and the number of its path
 * or node. */
#define GNOMON__ENTRY_KIND(what) ((what) >> 30) /* gnomon_event_kind */
#define GNOMON__ENTRY_MORE (1u << 29)
#define GNOMON__ENTRY_NUMBER(what) ((what) & ((1u << 29) - 1))

typedef struct gnomon__tape_more {
    uint64_t length;
    uint64_t instance;
    double value;
    uint32_t region; /* its id; in a profile its number */
    /* In which it began, where its stage does not have that moment; else 0. */
    uint32_t segment;
} gnomon__tape_more;

/* An execution that links name. */
typedef struct gnomon__tape_named {
    uint64_t token;
    uint64_t begin;
    uint64_t out; /* ticks: it was first linked from; 0: not known */
    uint32_t thread;
    uint32_t path;
    uint32_t segment; /* in which it began */
    uint32_t reserved;
} gnomon__tape_named;

typedef struct gnomon__tape_link {
    uint64_t to, from; /* tokens */
    uint64_t at;       /* ticks */
    uint32_t kind;
    uint32_t from_path, to_path; /* then: an execution may move to another */
    uint32_t segment;
} gnomon__tape_link;

typedef struct gnomon__tape_step_read {
    uint64_t number, begin, ticks;
} gnomon__tape_step_read;

typedef struct gnomon__tape_thread {
    gnomon__tape_entry *entries; /* first the records */
    size_t count, room;
    gnomon__tape_loss lost, overwritten;
    gnomon__tape_cursor cursor; /* where the reader is, and where it goes */
    gnomon__tape_place until;   /* it reads up to here, ... */
    int is_live;                /* ... or to the end of what was copied */
    int is_taped;               /* it has a tape, which ... */
    uint64_t began, cut_at; /* ... began, and was cut last, at these ticks */
    uint64_t gone;          /* as of the tape */
    uint32_t first_segment; /* of the stages that the cursor has not told */
    uint32_t thread;
    uint32_t track; /* in a profile */
    size_t first;   /* number of its first event there, from 1 */
} gnomon__tape_thread;

typedef struct gnomon__tape_events {
    gnomon__tape_thread *threads; /* by number */
    size_t thread_count;
    gnomon__tape_more *more;
    size_t more_count, more_room;
    gnomon__tape_named *named; /* by token, once all are there */
    size_t named_count, named_room;
    gnomon__tape_link *links;
    size_t link_count, link_room;
    gnomon__tape_step_read *steps; /* in any order */
    size_t step_count, step_room;
    /* What is asked for. Of a cycle: what began in this time, in ticks; of what is late:
     * what began in these segments. */
    enum gnomon__tape_which which;
    uint64_t from, until;
    uint32_t first_segment, last_segment;
    size_t most; /* of a PART: about so many bytes of blocks */
    uint32_t bit, generation;
    /* How it was: */
    uint64_t since; /* ticks: what began earlier is missing */
    uint64_t now;   /* ticks */
} gnomon__tape_events;

/* Reads what *e asks for, from the reader's cursor on. GNOMON_OK or GNOMON_ENOMEM, and then
 * *e is empty. Under the readers' lock; any thread; no marking thread waits for it. */
int gnomon__tape_read(gnomon__tape_events *e);
/* A profile has what was read: cycles and parts go on behind it. Takes the lock. */
void gnomon__tape_told(const gnomon__tape_events *e);
void gnomon__tape_events_free(gnomon__tape_events *e);
void gnomon__tape_lose(gnomon__tape_loss *loss, uint64_t count, uint64_t first,
                       uint64_t last);

/* The second half of _read: records become entries. 0: no memory. */
int gnomon__tape_decode(gnomon__tape_events *e);
/* Sorts by begin; of two that begin at one moment the longer first, and of equal ones the
 * one that ended last: tape_order.c. 0: no memory. */
int gnomon__tape_sort(const gnomon__tape_events *e, gnomon__tape_thread *t);
#ifdef GNOMON_TESTING
extern uint64_t gnomon__test_tape_moves; /* of entries by sorts, all together */
#endif

/* Begin and end of an execution, in the entry's unit. */
static inline uint64_t gnomon__entry_length(const gnomon__tape_events *e,
                                            const gnomon__tape_entry *entry)
{
    return entry->what & GNOMON__ENTRY_MORE ? e->more[entry->length].length
                                            : entry->length;
}

/* What the entry has more, made where it is not there yet. NULL: no memory. */
gnomon__tape_more *gnomon__entry_more(gnomon__tape_events *e,
                                      gnomon__tape_entry *entry);

/* NULL: no execution of this token is there. */
const gnomon__tape_named *gnomon__tape_find(const gnomon__tape_events *e,
                                            uint64_t token);

#endif

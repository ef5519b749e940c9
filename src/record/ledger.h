/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is kept of one view's call trees: which paths there are, what they came to in
 * the open stage, and in all stages of a name that are over. Under the readers'
 * lock. */
#ifndef GNOMON_RECORD_LEDGER_H
#define GNOMON_RECORD_LEDGER_H

#include "record/segments.h"
#include "record/totals.h"

/* A path of one thread, by its number. */
typedef struct gnomon__path {
    uint32_t key; /* 0: nothing is known of it */
    uint32_t parent;
    uint32_t flags; /* GNOMON__NODE_* */
    uint32_t note;  /* whoever's look at it, under the lock */
} gnomon__path;

typedef struct gnomon__paths {
    gnomon__path *of;
    size_t room;
} gnomon__paths;

/* An execution that was open when the trees were read. */
typedef struct gnomon__open_path {
    uint32_t thread, path;
    gnomon__stage_key stage; /* in which it began; ordinal 0: the open one */
    uint64_t begin;          /* ticks */
} gnomon__open_path;

/* What belongs to stages that were over when it was read. */
typedef struct gnomon__late_part {
    gnomon__stage_key stage;
    gnomon__totals totals;
} gnomon__late_part;

typedef struct gnomon__late_parts {
    gnomon__late_part *of;
    size_t count, room;
} gnomon__late_parts;

typedef struct gnomon__ledger {
    uint32_t ordinal; /* of the open stage */
    uint32_t closed_ordinal;
    gnomon__paths *paths; /* by thread */
    size_t path_threads;
    size_t name_room;
    gnomon__totals *names;       /* by number of the name: all that are over */
    gnomon__totals open, closed; /* the stage that is open; the last one */
    gnomon__late_parts late;     /* since the last one's end */
    gnomon__late_parts late_reported; /* what that was then */
    gnomon__open_path *opens;         /* when it was read last */
    size_t open_count, open_room;
} gnomon__ledger;

/* After a cut: takes what the trees of `bit` recorded up to it. Each is read once;
 * without memory what cannot be kept is lost: GNOMON_ENOMEM. In control calls. */
int gnomon__ledger_take(gnomon__ledger *l, uint32_t bit, uint32_t generation);
/* The same of what devices took, as far as it was read: also of the stage that was
 * closed last, until its report. */
int gnomon__ledger_take_devices(gnomon__ledger *l, uint32_t generation);

/* A copy, as if all were cut now; with the names as `with_names` says. Recording
 * goes on. GNOMON_ENOMEM, and *out is empty. */
int gnomon__ledger_copy(gnomon__ledger *out, const gnomon__ledger *l,
                        uint32_t bit, uint32_t generation, int with_names);

/* The open stage is over, one of `name`, and the next one is `next`. All of it is
 * added to what is kept of its name; what is late, to that of its own. GNOMON_ENOMEM:
 * not all of it. */
int gnomon__ledger_close(gnomon__ledger *l, uint32_t name, uint32_t next,
                         uint64_t recorded_ns);

/* What is late is told, and added; the open stage goes on. As above. */
int gnomon__ledger_settle(gnomon__ledger *l);

/* NULL: nothing is known of the path. */
gnomon__path *gnomon__ledger_path(const gnomon__ledger *l, uint32_t thread,
                                  uint32_t path);

void gnomon__ledger_free(gnomon__ledger *l);

#endif

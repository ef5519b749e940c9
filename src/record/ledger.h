/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is kept of one view's call trees: the paths, their sums in the open stage, and
 * their sums in all ended stages of each name. Under the readers' lock. */
#ifndef GNOMON_RECORD_LEDGER_H
#define GNOMON_RECORD_LEDGER_H

#include "record/segments.h"
#include "record/totals.h"

/* A path of one thread, by its number. */
typedef struct gnomon__path {
    uint32_t key; /* 0: unknown path */
    uint32_t parent;
    uint32_t flags; /* GNOMON__NODE_* */
    uint32_t note;  /* free for whoever reads it, under the lock */
} gnomon__path;

typedef struct gnomon__paths {
    gnomon__path *of;
    size_t room;
} gnomon__paths;

/* An execution that was open when the trees were read. */
typedef struct gnomon__open_path {
    uint32_t thread, path;
    gnomon__stage_key stage; /* where it began; ordinal 0: the open stage */
    uint64_t begin;          /* ticks */
} gnomon__open_path;

/* What was recorded for a stage after it was over. */
typedef struct gnomon__late_part {
    gnomon__stage_key stage;
    gnomon__totals totals;
} gnomon__late_part;

typedef struct gnomon__late_parts {
    gnomon__late_part *of;
    size_t count, room;
} gnomon__late_parts;

/* late_parts.c: the sums of a stage among them, made where there are none; NULL: no
 * memory. And all freed. */
gnomon__totals *gnomon__late_of(gnomon__late_parts *late,
                                gnomon__stage_key stage);
void gnomon__late_clear(gnomon__late_parts *late);

typedef struct gnomon__ledger {
    uint32_t ordinal; /* of the open stage */
    uint32_t closed_ordinal;
    int is_copy;
    gnomon__paths *paths; /* by thread; of a copy: the ledger's */
    size_t path_threads;
    size_t name_room;
    gnomon__totals *names;       /* sums of ended stages, by name's number */
    gnomon__totals open, closed; /* the open stage; the one before it */
    gnomon__late_parts late;     /* since the last stage's end */
    gnomon__late_parts late_reported; /* those before that */
    gnomon__open_path *opens;         /* at the last read */
    size_t open_count, open_room;
} gnomon__ledger;

/* After a cut: takes what the trees of `bit` recorded up to it. Each tree is read
 * once. GNOMON_ENOMEM: what there was no memory for is lost. In control calls. */
int gnomon__ledger_take(gnomon__ledger *l, uint32_t bit, uint32_t generation);

/* A copy of the ledger as if there were a cut now, with `names` if `with_names`.
 * Recording goes on. GNOMON_ENOMEM: *out is empty. Free it under the same lock. */
int gnomon__ledger_copy(gnomon__ledger *out, gnomon__ledger *l, uint32_t bit,
                        uint32_t generation, int with_names);

/* Ends the open stage, whose name is `name`; the next one is `next`. Its sums are
 * added to those of its name, and late ones to those of their stages' names.
 * GNOMON_ENOMEM: some are missing. */
int gnomon__ledger_close(gnomon__ledger *l, uint32_t name, uint32_t next,
                         uint64_t recorded_ns);

/* Moves `late` to `late_reported` and adds it to the sums of its stages' names. The
 * open stage goes on. Returns as above. */
int gnomon__ledger_settle(gnomon__ledger *l);

/* For a copy: the open stage counts among those of its name, and there is none open.
 * Returns as above. */
int gnomon__ledger_join(gnomon__ledger *l, uint32_t name, uint64_t recorded_ns);

/* The sums for executions that began in a segment. *is_late: their stage is over.
 * NULL: no memory. */
gnomon__totals *gnomon__ledger_segment(gnomon__ledger *l, uint32_t segment,
                                       int *is_late);

/* NULL: the path is unknown. */
gnomon__path *gnomon__ledger_path(const gnomon__ledger *l, uint32_t thread,
                                  uint32_t path);

void gnomon__ledger_free(gnomon__ledger *l);

#endif

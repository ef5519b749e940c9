/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds a profile of the running process from what a view's ledger has and what
 * the run knows of itself. */
#ifndef GNOMON_RECORD_SNAPSHOT_H
#define GNOMON_RECORD_SNAPSHOT_H

#include "profile/model.h"
#include "record/ledger.h"

/* A stage, or all of one name, and what was recorded in it. Borrowed. */
typedef struct gnomon__stage_record {
    const char *name;
    gnomon__stage_key key; /* of several: the last one's */
    uint32_t count;
    int32_t is_over;
    const gnomon__total *steps; /* NULL: none finished */
    const gnomon__totals *totals;
} gnomon__stage_record;

typedef struct gnomon__step_record {
    uint32_t ordinal; /* of its stage */
    int32_t phase;
    uint64_t number;
    uint64_t begin_ns, end_ns;
} gnomon__step_record;

typedef struct gnomon__run_record {
    gnomon_run_info run; /* but for the clock's part */
    const char
        *view; /* under which filter, schedule and ranks it was recorded */
    const gnomon__stage_record *stages; /* those that are wanted */
    size_t stage_count;
    uint32_t by_name; /* each is all of a name: else one */
    uint32_t open;    /* ordinal of the open one */
    const gnomon__step_record *steps;
    size_t step_count;
    const gnomon_metadata_info *metadata;
    size_t metadata_count;
} gnomon__run_record;

/* GNOMON_OK or GNOMON_ENOMEM. Under the readers' lock. */
int gnomon__snapshot(gnomon__model **out, const gnomon__ledger *ledger,
                     const gnomon__run_record *record);

#endif

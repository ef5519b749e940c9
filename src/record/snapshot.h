/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds a profile of the running process from a view's ledger and the run's own
 * records. */
#ifndef GNOMON_RECORD_SNAPSHOT_H
#define GNOMON_RECORD_SNAPSHOT_H

#include "gnomon/profile.h"
#include "record/ledger.h"
#include "record/whole_steps.h"

/* One stage, or all of one name, and what was recorded in it. Pointers are borrowed. */
typedef struct gnomon__stage_record {
    const char *name;
    gnomon__stage_key key; /* of several: the last one's */
    uint32_t count;
    int32_t is_over;
    const gnomon__whole_steps *steps; /* NULL: none finished */
    const gnomon__totals *totals;
    uint64_t from, until; /* ticks: of the one that is reported */
} gnomon__stage_record;

typedef struct gnomon__step_record {
    uint32_t ordinal; /* of its stage */
    int32_t phase;
    uint64_t number;
    uint64_t begin_ns, end_ns;
} gnomon__step_record;

struct gnomon__model;
struct gnomon__tape_events;
struct gnomon__activity_events;

typedef struct gnomon__run_record {
    gnomon_run_info run; /* without clock, anchors and now */
    const char *view;    /* the view's filter, schedule and ranks */
    const gnomon__stage_record *stages; /* those to put into the profile */
    size_t stage_count;
    uint32_t by_name; /* 1: each is all stages of a name; 0: one stage */
    uint32_t open;    /* ordinal of the open stage */
    /* Events of other stages are not in it. 0: those of no known stage are. */
    uint32_t has_some_stages;
    const gnomon__step_record *steps;
    size_t step_count;
    /* ns: the profile has the steps that began in this time. `steps_until` is UINT64_MAX
     * where it goes on, and 0 where the profile has all steps. */
    uint64_t steps_from, steps_until;
    const gnomon_metadata_info *metadata;
    size_t metadata_count;
    struct gnomon__tape_events *events; /* NULL: none; the profile takes them */
    struct gnomon__activity_events *work; /* likewise, of devices */
} gnomon__run_record;

/* GNOMON_OK or GNOMON_ENOMEM. Under the readers' lock. */
int gnomon__snapshot(struct gnomon__model **out, const gnomon__ledger *ledger,
                     const gnomon__run_record *record);

#endif

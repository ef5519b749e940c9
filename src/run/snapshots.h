/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What profiles of views are made of: which events they have, the cycles of schedules
 * and streams whose events are given to profilers, and snapshots. */
#ifndef GNOMON_RUN_SNAPSHOTS_H
#define GNOMON_RUN_SNAPSHOTS_H

#include "record/activity_events.h"
#include "record/snapshot.h"
#include "record/tape_read.h"
#include "run/run.h"

#define GNOMON__LAST_STEPS 64

/* What a snapshot is made of, with the memory for it. Used under the readers' lock. */
typedef struct gnomon__snapshot_input {
    gnomon__run_record run;
    gnomon__stage_record *stages;
    char *spec;
    gnomon__whole_steps open_steps;
    gnomon__ledger ledger; /* a copy, for a live snapshot */
    gnomon__tape_events events;
    gnomon__activity_events work;
    gnomon__step_record last_steps[GNOMON__LAST_STEPS];
} gnomon__snapshot_input;

/* ---- events.c ------------------------------------------------------------------------ */

/* Which events a profile has: those on the tape of a window that began in this time. */
typedef struct gnomon__event_range {
    const gnomon__view *window;
    uint64_t from, until; /* ticks */
    size_t most;          /* of a PART */
    /* ON_TIME: it is all of a stage, and of work what was launched in that. LATE: what
     * ended after its stage, and no work; LATE_LAST: the last part of such events. */
    enum gnomon__tape_which which;
    uint32_t first_segment, last_segment; /* of the stage of what is late */
} gnomon__event_range;

/* Whether its profiles have events. */
int gnomon__attachment_has_events(const gnomon__attachment *a);
/* The profiler has the callback `events`, and can write; it wants it called, as
 * on_trace_ready= is not none. */
int gnomon__has_ready(const gnomon__attachment *a);
int gnomon__wants_ready(const gnomon__attachment *a);
/* *out asks for these. */
void gnomon__events_ask(gnomon__tape_events *out,
                        const gnomon__event_range *range);
/* Those that `which` says. NULL: its profiles have none; else `room`. */
const gnomon__event_range *gnomon__events_of(const gnomon__attachment *a,
                                             enum gnomon__tape_which which,
                                             gnomon__event_range *room);
/* A step that began at this moment, in ticks, is over. Under the lock of steps. */
void gnomon__events_step(gnomon__view *v, uint64_t begin);
/* No profile needs what was before the last cut, at `until`, any more. */
void gnomon__events_over(const gnomon__view *v, uint64_t until);
/* The same of work of devices, until this moment; or no profile could have it: it is
 * missing. */
void gnomon__work_events_over(const gnomon__view *v, uint64_t until,
                              int is_told);
/* The stage was reported: windows whose profilers need its events no more forget them, and
 * the next stage has losses of its own. With `leaving` those of profilers that leave. */
void gnomon__events_reported(int leaving);

/* ---- cycles.c -------------------------------------------------------------------- */

/* Gives the events of cycles that are over to their profilers; `is_closed`: they are of
 * the stage that is reported. In control calls. */
void gnomon__cycles_deliver(int is_closed, int leaving);
/* The run ends, or profilers leave: before the last cut. Of ranges that are open the events
 * are lost, to the profiles that follow. */
void gnomon__ranges_over(int leaving);
/* The run is over: gives all events to profilers without a schedule. Returns up to when,
 * in ticks. */
uint64_t gnomon__run_deliver(int leaving);
/* After the reports of the run: what began before `until` is needed no more. */
void gnomon__run_delivered(int leaving, uint64_t until);

/* ---- streams.c -------------------------------------------------------------------- */

/* Gives full blocks of streams to their profilers, in parts; `all`: until none is left.
 * In control calls. */
void gnomon__streams_deliver(int all);
/* Calls the profiler's callback `events`. */
void gnomon__call_ready(gnomon__attachment *a, const struct gnomon__model *m);

/* ---- snapshots.c -------------------------------------------------------------------- */

/* The profile of the stage that is reported, with the events of `events` unless that is
 * NULL, as in the next ones. In control calls. GNOMON_ENOMEM and a text. */
int gnomon__snapshot_closed(struct gnomon__model **out, const gnomon__view *v,
                            const gnomon__event_range *events);
/* Late records of an earlier stage, as a profile of it; `which` is 0, 1, ...; *out is
 * NULL after the last. As above. */
int gnomon__snapshot_late(struct gnomon__model **out, const gnomon__view *v,
                          uint32_t which, const gnomon__view *window);
/* All of one name, or ALL_NAMES, that are over. As above. */
#define GNOMON__ALL_NAMES UINT32_MAX
int gnomon__snapshot_named(struct gnomon__model **out, const gnomon__view *v,
                           uint32_t name, const gnomon__event_range *events);
/* Of the open stage, or of all by their names. Under the readers' lock. */
int gnomon__snapshot_live(struct gnomon__model **out, gnomon__view *v,
                          int by_name, const gnomon__event_range *events);
void gnomon__snapshot_input_free(gnomon__snapshot_input *f);

/* The open stage up to `now`, in ticks, without its steps and totals. Under the readers'
 * lock. */
void gnomon__stage_describe(gnomon__stage_record *stage, uint64_t now);
/* Then, once trees were read: its end, until which its time is counted, also in ticks. A
 * stage that nobody opened ends with its last mark, unless something is open: what a
 * program does after that, up to its exit, is no part of what it marked. `copy`: the ledger
 * that was read; NULL: those of all views. Under the lock of steps too. */
uint64_t gnomon__stage_end(gnomon__stage_record *stage,
                           const gnomon__ledger *copy, uint64_t now);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state of a snapshot while it is built, shared by snapshot.c, which puts the run
 * into it, snapshot_steps.c, which puts its steps, and snapshot_nodes.c, which puts what
 * threads recorded. */
#ifndef GNOMON_RECORD_SNAPSHOT_PARTS_H
#define GNOMON_RECORD_SNAPSHOT_PARTS_H

#include "profile/model.h"
#include "record/snapshot.h"

/* A path in a stage. One without a stage is the parent of others or the end of a
 * link. */
typedef struct gnomon__snapshot_item {
    uint32_t path;
    uint32_t stage; /* number in the profile */
    uint32_t node;  /* its number in the profile */
    uint32_t depth;
    uint64_t first; /* order of the first end of it or of anything below it */
} gnomon__snapshot_item;

typedef struct gnomon__snapshot_thread {
    gnomon__snapshot_item *items;  /* by path, then stage */
    gnomon__snapshot_item **order; /* by first entry */
    size_t count, room;
    size_t sorted; /* how many items are in order */
    uint32_t track;
} gnomon__snapshot_thread;

typedef struct gnomon__snapshot_builder {
    gnomon__model *m;
    const gnomon__ledger *ledger;
    const gnomon__run_record *record;
    gnomon__snapshot_thread *threads;
    size_t thread_count;
    uint32_t serial;          /* number of this snapshot, noted in paths */
    uint32_t *region_numbers; /* by id; 0: not in the profile yet */
    size_t region_room;
    uint32_t *op_numbers; /* likewise, by number of the operation */
    size_t op_room;
    struct gnomon__event_links *links;  /* between executions; NULL: none */
    struct gnomon__work_rows *work;     /* events of devices; NULL: none */
    struct gnomon__tape_events *events; /* once the profile has them */
} gnomon__snapshot_builder;

/* ---- Events: snapshot_events.c; nothing where there are none ---- */

/* The paths of events are chosen too. */
int gnomon__snapshot_need_events(gnomon__snapshot_builder *b);
/* After all nodes: the events, the links between executions, the steps that are not
 * there, and what is lost. */
int gnomon__snapshot_put_events(gnomon__snapshot_builder *b);
/* The profile was made. Without this call, events that were taken off the tapes for it
 * count as lost when it is freed. */
void gnomon__snapshot_events_arrived(const gnomon__snapshot_builder *b);
/* The links between executions, before their events are put: snapshot_links.c, with those
 * from path to path. */
int gnomon__snapshot_event_links(gnomon__snapshot_builder *b);

/* Memory at the nodes of a stage, after all of these: snapshot_memory.c; and the track of a
 * pool, the id of whose region it is. 0: no memory. */
int gnomon__snapshot_memory(gnomon__snapshot_builder *b, uint32_t stage);
uint32_t gnomon__snapshot_pool(gnomon__snapshot_builder *b, uint32_t region);

/* After the nodes of threads: work of devices, with tracks of its own. activity_nodes.c. */
int gnomon__snapshot_activities(gnomon__snapshot_builder *b);

/* ---- Choice and nodes: snapshot_nodes.c ---- */

/* The stage's number in the profile; stage_count + 1: it is not in the profile. */
uint32_t gnomon__snapshot_stage(const gnomon__snapshot_builder *b,
                                gnomon__stage_key key);
/* Where a moment was found last, as moments ascend; all zero at first. */
typedef struct gnomon__stage_cursor {
    uint64_t until; /* ticks: earlier moments are of that stage too */
    uint32_t stage;
    uint32_t ordinal; /* in the run */
} gnomon__stage_cursor;
/* The stage of a segment by its number in the profile; 0: it is not there. */
uint32_t gnomon__snapshot_stage_in(const gnomon__snapshot_builder *b,
                                   uint32_t segment);
/* The same of an event of a tape. */
uint32_t gnomon__snapshot_stage_of(const gnomon__snapshot_builder *b,
                                   uint32_t segment);
uint32_t gnomon__snapshot_stage_after(const gnomon__snapshot_builder *b,
                                      uint64_t ticks, gnomon__stage_cursor *at);
/* The stage of a moment in ticks, by its number in the profile; 0: it is not in the
 * profile. */
static inline uint32_t
gnomon__snapshot_stage_at(const gnomon__snapshot_builder *b, uint64_t ticks,
                          gnomon__stage_cursor *at)
{
    return ticks < at->until ? at->stage
                             : gnomon__snapshot_stage_after(b, ticks, at);
}
/* The path and all above it are chosen, in the stage if it has it there, else without a
 * stage. 0: no memory. */
int gnomon__snapshot_need(gnomon__snapshot_builder *b, uint32_t thread,
                          uint32_t path, uint32_t stage);
/* The node of a path in a stage, or its node without a stage. 0: none. */
uint32_t gnomon__snapshot_node(const gnomon__snapshot_builder *b,
                               uint32_t thread, uint32_t path, uint32_t stage);

/* The sums as statistics of the profile; NULL: no memory. */
gnomon_stats *gnomon__snapshot_stats(gnomon__snapshot_builder *b,
                                     const gnomon__total *s);

/* The number of a region, of one that computes an operation that of its plain region; 0:
 * no memory. */
uint32_t gnomon__snapshot_region(gnomon__snapshot_builder *b, uint32_t id);

/* The number of what a region computes, 0: nothing, to *op. Returns 0: no memory. */
int gnomon__snapshot_op(gnomon__snapshot_builder *b, uint32_t id, uint32_t *op);

/* What `count` executions of a region computed. *work is NULL where it computes nothing,
 * or how much is not known. Returns 0: no memory. */
int gnomon__snapshot_work(gnomon__snapshot_builder *b, uint32_t id,
                          uint64_t count, const gnomon_work_stats **work);

/* Chooses the paths that the profile has, of all threads. This and the next return 0
 * when there is no memory. */
int gnomon__snapshot_choose(gnomon__snapshot_builder *b);
/* Then their order. */
int gnomon__snapshot_order(gnomon__snapshot_builder *b);
/* Nodes and counters of a thread, after its track; after all of these, links and open
 * scopes. */
int gnomon__snapshot_nodes(gnomon__snapshot_builder *b, uint32_t thread);
int gnomon__snapshot_counters(gnomon__snapshot_builder *b, uint32_t thread);
int gnomon__snapshot_links(gnomon__snapshot_builder *b);
int gnomon__snapshot_opens(gnomon__snapshot_builder *b);

/* The steps whose stage is in the profile; after the threads, how long regions took in
 * the steps of a stage, of which `sums` are gnomon__step_sums. */
int gnomon__snapshot_steps(gnomon__snapshot_builder *b);
int gnomon__snapshot_step_times(gnomon__snapshot_builder *b, uint32_t stage,
                                const void *sums);
/* `info` says of what the strip is; empty ones, and those of which the profile does not
 * have all steps, are left out. */
int gnomon__snapshot_strip(gnomon__snapshot_builder *b, gnomon_strip_info info,
                           const gnomon__strip *strip);
/* A step of a tape, unless it is among the first `kept` ones. */
int gnomon__snapshot_taped_step(gnomon__snapshot_builder *b, uint32_t stage,
                                const gnomon__step_record *f, size_t kept);
/* Once all steps are there: statistics of those alone, for stages of which the profile
 * does not have all. */
int gnomon__snapshot_own_steps(gnomon__snapshot_builder *b);

#endif

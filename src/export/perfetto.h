/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of the Perfetto export, each of which uses those before it:
 *
 *   perfetto_wire.c     protobuf messages, in perfetto_wire.h
 *   perfetto_packet.c   packets, and their times
 *   perfetto_links.c    which executions flows join
 *   perfetto_rows.c     what is read of a profile first: rows, first moments
 *   perfetto_tracks.c   tracks: processes, threads, streams, lanes, counters
 *   perfetto_values.c   annotations, from JSON too
 *   perfetto_names.c    names, categories, places and operations, interned
 *   perfetto_slices.c   begins and ends
 *   perfetto_events.c   executions, what is open, moments
 *   perfetto_steps.c    steps
 *   perfetto_pools.c    memory over time
 *   perfetto_runs.c     what a run is, and what it lost
 *   perfetto.c          the file, profile by profile
 *
 * A run is a sequence of packets of its own. Memory grows with runs, tracks, lanes,
 * names, operations, links, open executions and scopes that their work crosses. */
#ifndef GNOMON_EXPORT_PERFETTO_H
#define GNOMON_EXPORT_PERFETTO_H

#include "export/export.h"
#include "export/lanes.h"
#include "export/perfetto_proto.h"
#include "export/perfetto_wire.h"
#include "export/text.h"
#include "export/timeline.h"

/* The thread of a run's steps. Perfetto shows threads by their numbers, after the main
 * one; a process or thread of the system's that has this number gets another. */
#define GNOMON__PERFETTO_STEPS 1

/* ---- State -------------------------------------------------------------------- */

/* By the number of a run; 0 is what has no run. */
typedef struct gnomon__perfetto_run {
    uint64_t zero;         /* in Unix ns, as the next two */
    uint64_t first;        /* event that was taken; UINT64_MAX: none */
    uint64_t floor;        /* nothing is shown before it */
    uint64_t uuid;         /* of its process's track */
    uint64_t notices_uuid; /* of the track with what it is and lacks */
    uint32_t sequence;
    int32_t pid;
    int has_wrapped; /* its first events were overwritten */
    uint64_t undrawn_links, skipped_steps;
} gnomon__perfetto_run;

/* What has lanes: by number, the tracks of the profile, and after them the steps of
 * run 0, 1, ... */
typedef struct gnomon__perfetto_row {
    uint32_t run;
    int is_described; /* its own track: that of its first lane */
    uint64_t uuid;
    int64_t tid;
} gnomon__perfetto_row;

/* One end of a link between executions. */
typedef struct gnomon__perfetto_end {
    uint64_t instance;
    uint32_t run;
    uint32_t link; /* from 0 */
    size_t event;  /* its number; 0: it is not in this file */
    uint64_t begin;
    uint32_t number; /* of the link in its profile */
    uint8_t is_effect, is_drawn;
    uint8_t is_late; /* an effect that began before the link went out */
} gnomon__perfetto_end;

typedef struct gnomon__perfetto_links {
    gnomon__perfetto_end *ends; /* by run and instance */
    size_t count;
    uint64_t before; /* flows of the profiles before */
    /* Flows that lead to moments of slices that are open. */
    struct gnomon__perfetto_late *late;
    size_t late_count, late_room;
} gnomon__perfetto_links;

typedef struct gnomon__perfetto_late {
    size_t row;
    uint32_t lane, region;
    uint64_t ns, flow;
} gnomon__perfetto_late;

/* A track that was not known before: by kind and two numbers. */
typedef struct gnomon__perfetto_place {
    uint32_t kind, a, b; /* kind 0: this place is free */
    uint64_t uuid;
    double bytes; /* in a pool, so far */
} gnomon__perfetto_place;

typedef struct gnomon__perfetto_places {
    gnomon__perfetto_place *of;
    size_t used, room; /* room is a power of two */
} gnomon__perfetto_places;

typedef struct gnomon__perfetto_node {
    uint32_t region, op;
} gnomon__perfetto_node;

/* `sequence`: in which run's it was interned last; 0: it was not. */
typedef struct gnomon__perfetto_region {
    uint32_t sequence, has_source;
    uint64_t category; /* 0: none */
} gnomon__perfetto_region;

/* By number. What comes again in another run's sequence is interned again, with the same
 * words. */
typedef struct gnomon__perfetto_names {
    gnomon__perfetto_node *nodes;
    size_t node_count;
    gnomon__perfetto_region *regions;
    uint32_t *ops;     /* sequences */
    uint64_t *strings; /* of each op, the number of its first string */
} gnomon__perfetto_names;

/* A process's number, or a thread's in its run (`group`), and who has it. */
typedef struct gnomon__perfetto_id {
    uint64_t group;
    int64_t id;
    size_t owner;
} gnomon__perfetto_id;

typedef struct gnomon__perfetto {
    const gnomon__export *what;
    gnomon__export_text *t;
    gnomon__wire wire; /* the packet at hand */
    int has_no_memory;
    int has_memory; /* an event of the profile is an allocation */
    uint64_t uuids; /* given out so far */
    gnomon__perfetto_id *pids;
    size_t pid_count, runs_before;
    /* Of the profile at hand. */
    gnomon__timeline line;
    const gnomon_profile *p;
    gnomon__perfetto_run *runs;
    gnomon__perfetto_row *rows;
    size_t run_count, track_count, row_count;
    gnomon__perfetto_links links;
    gnomon__perfetto_places places;
    gnomon__perfetto_names names;
    gnomon__lanes lanes;
    uint32_t begun_lane; /* of the last slice */
    gnomon__crossed crossed;
} gnomon__perfetto;

/* ---- Packets: perfetto_packet.c -------------------------------------------------- */

/* A packet of the run's sequence: fields of TracePacket until _packet_end. */
gnomon__wire *gnomon__perfetto_packet(gnomon__perfetto *f, uint32_t run);
/* The same at a moment in Unix ns, with the event open; its end closes both. */
gnomon__wire *gnomon__perfetto_event(gnomon__perfetto *f, uint32_t run,
                                     uint64_t unix_ns, uint64_t uuid,
                                     uint32_t type, size_t *from);
void gnomon__perfetto_packet_end(gnomon__perfetto *f);
void gnomon__perfetto_event_end(gnomon__perfetto *f, size_t from);
/* A moment of a run, which never exceeds what readers can hold. */
uint64_t gnomon__perfetto_unix(const gnomon__perfetto_run *run, uint64_t ns);

/* ---- Links: perfetto_links.c ------------------------------------------------------- */

int gnomon__perfetto_links_begin(gnomon__perfetto *f);
void gnomon__perfetto_links_end(gnomon__perfetto *f);
/* Event `number` is in this file, and begins at this moment. */
void gnomon__perfetto_links_meet(gnomon__perfetto *f, uint32_t run,
                                 const gnomon_event_info *e, size_t number,
                                 uint64_t unix_ns);
/* After all were met: which links are drawn; counts those that are not. 0: no
 * memory. */
int gnomon__perfetto_links_join(gnomon__perfetto *f);
/* Writes the flows of a slice that begins, and notes those that lead into it. */
void gnomon__perfetto_flows(gnomon__perfetto *f, uint32_t run,
                            const gnomon_event_info *e, size_t number);
/* Writes the latter of a lane up to `until`. */
void gnomon__perfetto_late_flows(gnomon__perfetto *f, size_t row, uint32_t lane,
                                 uint64_t until);

/* ---- What is read first: perfetto_rows.c ------------------------------------------- */

void gnomon__perfetto_sort_ids(gnomon__perfetto_id *ids, size_t count);
/* Whether own->owner is the first of `ids`, which are sorted, with this id in its
 * group. */
int gnomon__perfetto_owns(const gnomon__perfetto_id *ids, size_t count,
                          const gnomon__perfetto_id *own);
/* Fills runs and rows but what events say. 0: no memory. */
int gnomon__perfetto_rows_begin(gnomon__perfetto *f);
void gnomon__perfetto_rows_end(gnomon__perfetto *f);
/* Reads all events, if it must: the ends of links, crossed scopes, and from where on
 * each run is shown. */
void gnomon__perfetto_look(gnomon__perfetto *f);

/* ---- Tracks: perfetto_tracks.c ------------------------------------------------------ */

/* Begins the run's sequence, and describes its process. */
void gnomon__perfetto_process(gnomon__perfetto *f, uint32_t run);
/* Those that follow return the uuid of a track, which they describe at the first
 * time. 0: no memory. */
uint64_t gnomon__perfetto_lane(gnomon__perfetto *f, size_t row, uint32_t lane);
uint64_t gnomon__perfetto_counter(gnomon__perfetto *f, uint32_t track,
                                  uint32_t region);
/* *place is valid until the next call of these. */
uint64_t gnomon__perfetto_pool(gnomon__perfetto *f, uint32_t pool,
                               gnomon__perfetto_place **place);
uint64_t gnomon__perfetto_notices(gnomon__perfetto *f, uint32_t run);
void gnomon__perfetto_places_end(gnomon__perfetto *f);

/* ---- Annotations: perfetto_values.c ------------------------------------------------- */

/* Names that all runs have, by number, from 1. */
#define GNOMON__PERFETTO_KEYS(X) \
    X(OPERATION, "operation") \
    X(DIMS, "Input Dims") \
    X(STRIDES, "Input Strides") \
    X(TYPES, "Input type") \
    X(BACKWARD, "backward") \
    X(FLOPS, "flops") \
    X(BYTES, "bytes") \
    X(BEGAN, "began at Unix ns") \
    X(VALUE, "value") \
    X(STAGE, "stage") \
    X(RANK, "rank")
enum {
    GNOMON__PERFETTO_NO_KEY,
#define GNOMON__PERFETTO_KEY(name, text) GNOMON__PERFETTO_##name,
    GNOMON__PERFETTO_KEYS(GNOMON__PERFETTO_KEY)
#undef GNOMON__PERFETTO_KEY
        GNOMON__PERFETTO_KEY_COUNT
};

/* Annotations of the event at hand, by a key's number or by name. */
void gnomon__perfetto_note(gnomon__wire *w, uint32_t key, uint64_t value);
void gnomon__perfetto_note_text(gnomon__wire *w, uint32_t key,
                                const char *text);
/* One whose text was interned. */
void gnomon__perfetto_note_interned(gnomon__wire *w, uint64_t key,
                                    uint64_t text);
void gnomon__perfetto_say(gnomon__wire *w, const char *name, int64_t value);
void gnomon__perfetto_say_text(gnomon__wire *w, const char *name,
                               const char *text);
/* A JSON value as what it is, where it is simple; else as its text. With `text`, what
 * would be a text is the one interned under this number. `key` 0: `name`. */
void gnomon__perfetto_say_json(gnomon__wire *w, const char *name, uint64_t key,
                               const char *json, uint64_t text);
/* Writes what a JSON value is as a text. */
void gnomon__perfetto_json_text(gnomon__wire *w, uint32_t field,
                                const char *json);

/* ---- Names: perfetto_names.c --------------------------------------------------------- */

int gnomon__perfetto_names_begin(gnomon__perfetto *f);
void gnomon__perfetto_names_end(gnomon__perfetto *f);
/* NULL: there is no such node. */
static inline const gnomon__perfetto_node *
gnomon__perfetto_node_at(const gnomon__perfetto *f, uint32_t node)
{
    return node && node <= f->names.node_count ? &f->names.nodes[node] : NULL;
}
/* Interns a region, and an op unless it is 0, where they are not yet. */
void gnomon__perfetto_intern(gnomon__perfetto *f, uint32_t run, uint32_t region,
                             uint32_t op);
/* Writes name, category and place of an event. The region was interned. */
void gnomon__perfetto_name(gnomon__perfetto *f, uint32_t region);
/* Writes what it computes. */
void gnomon__perfetto_op(gnomon__perfetto *f, uint32_t op);

/* ---- Slices: perfetto_slices.c --------------------------------------------------------- */

/* The end of what has not ended, in ns of its run: it is never written. */
#define GNOMON__PERFETTO_NEVER UINT64_MAX

uint64_t gnomon__perfetto_end_of(uint64_t begin, uint64_t duration);
/* Begins a slice on the first lane of the row, from `first_lane` on, where it nests,
 * after the ends of those that are over; gnomon__perfetto_event_end closes the event. A
 * row's begins come in order. 0: no memory. */
int gnomon__perfetto_begin(gnomon__perfetto *f, size_t row, uint32_t first_lane,
                           uint64_t begin, uint64_t end, size_t *from);
/* Writes the ends of what is over at `until`. */
void gnomon__perfetto_ends(gnomon__perfetto *f, size_t row, uint64_t until);

/* ---- All of a profile: perfetto_events.c and those after it ---------------------------- */

/* 0: no memory. */
int gnomon__perfetto_events(gnomon__perfetto *f);
int gnomon__perfetto_steps(gnomon__perfetto *f);
int gnomon__perfetto_pools(gnomon__perfetto *f);
/* What each run is, and what it lost. */
void gnomon__perfetto_about(gnomon__perfetto *f);

#endif

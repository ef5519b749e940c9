/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of the Perfetto export, each of which uses those before it:
 *
 *   perfetto_tracks.c   protobuf messages; packets, and tracks: processes, threads, lanes, counters;
 *                       annotations; names, places and operations, interned
 *   perfetto.c          the file, profile by profile: what happened, what a run is, and
 *                       what it lost
 *
 * A run is a sequence of packets of its own. Memory grows with runs, tracks, lanes,
 * names, operations, links, open executions and scopes that their work crosses. */
#ifndef GNOMON_EXPORT_PERFETTO_H
#define GNOMON_EXPORT_PERFETTO_H

#include "export/text.h"
#include "export/timeline.h"

/* ---- Messages ----------------------------------------------------------------- */

/* The wire format of Protocol Buffers, as far as traces need it. A message is made in
 * memory, field by field, because its length comes before it. */
#define GNOMON__WIRE_DEPTH 4 /* of messages inside messages */

/* Zeroes are an empty one. */
typedef struct gnomon__wire {
    char *bytes;
    size_t size, room;
    int has_failed; /* there was no memory: bytes are missing */
    uint32_t depth; /* of fields that are open, and where each begins */
    size_t open[GNOMON__WIRE_DEPTH];
} gnomon__wire;

/* How a field's value is written. */
enum {
    GNOMON__WIRE_VARINT = 0,
    GNOMON__WIRE_FIXED = 1,
    GNOMON__WIRE_BYTES = 2
};

/* What the largest number takes as a varint. */
#define GNOMON__VARINT_ROOM 10u

/* Room for `more` bytes at the end; NULL: no memory, now or before. */
char *gnomon__wire_grow(gnomon__wire *w, size_t more);
static inline char *gnomon__wire_room(gnomon__wire *w, size_t more)
{
    return more <= w->room - w->size ? w->bytes + w->size
                                     : gnomon__wire_grow(w, more);
}

static inline void gnomon__wire_put(gnomon__wire *w, const void *bytes,
                                    size_t size)
{
    char *to = gnomon__wire_room(w, size);
    if (!to)
        return;
    memcpy(to, bytes, size);
    w->size += size;
}

/* Writes a number as a varint; returns its size. */
static inline size_t gnomon__wire_varint(char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (char)(value | 0x80);
    to[n++] = (char)value;
    return n;
}

/* uint, bool and enum; int where it is cast from int64_t. Inline, as most of a trace is
 * made of these, and the field is a constant. */
static inline void gnomon__wire_number(gnomon__wire *w, uint32_t field,
                                       uint64_t value)
{
    char *to = gnomon__wire_room(w, 2 * (size_t)GNOMON__VARINT_ROOM);
    if (!to)
        return;
    size_t n =
        gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_VARINT);
    w->size += n + gnomon__wire_varint(to + n, value);
}

void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value);
void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value);
/* What is no UTF-8 becomes U+FFFD. */
void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text);

/* A field that holds a message, or a text in pieces: all that is written until
 * gnomon__wire_close. */
static inline void gnomon__wire_open(gnomon__wire *w, uint32_t field)
{
    char *to = gnomon__wire_room(w, GNOMON__VARINT_ROOM + 1);
    if (to) {
        size_t n =
            gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_BYTES);
        to[n] = 0; /* one byte for the length: nearly all are that short */
        w->size += n + 1;
    }
    w->open[w->depth++] = w->size;
}

void gnomon__wire_close(gnomon__wire *w);
/* A text by a form, in which %s is a text, and %d, %u, %jd and %ju are numbers; field 0: a
 * piece of the one that is open. */
__attribute__((format(printf, 3, 4))) void
gnomon__wire_form(gnomon__wire *w, uint32_t field, const char *form, ...);
void gnomon__wire_free(gnomon__wire *w);

/* ---- Perfetto's fields ------------------------------------------------------- */

/* The numbers of fields in Perfetto's messages that the export writes
 * (protos/perfetto/trace/perfetto_trace.proto). They never change. */
enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
       PACKET_TIME = 8,
       PACKET_SEQUENCE = 10,
       PACKET_EVENT = 11,
       PACKET_INTERNED = 12,
       PACKET_FLAGS = 13,
       PACKET_TRACK = 60,
       PACKET_IS_FIRST = 87
};

enum { FLAGS_CLEARED = 1, FLAGS_NEEDS_STATE = 2 };

enum { /* TrackEvent */
       EVENT_CATEGORY_IIDS = 3,
       EVENT_ANNOTATION = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK = 11,
       EVENT_CATEGORIES = 22,
       EVENT_NAME = 23,
       EVENT_SOURCE_IID = 34,
       EVENT_DOUBLE = 44,
       EVENT_FLOW = 47,
       EVENT_LAST_FLOW = 48
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum { /* InternedData, and what it holds */
       INTERNED_CATEGORY = 1,
       INTERNED_NAME = 2,
       INTERNED_KEY = 3,
       INTERNED_SOURCE = 4,
       INTERNED_STRING = 29,
       ENTRY_IID = 1,
       ENTRY_TEXT = 2,
       SOURCE_FUNCTION = 3,
       SOURCE_LINE = 4
};

enum { /* DebugAnnotation */
       ANNOTATION_KEY = 1,
       ANNOTATION_BOOL = 2,
       ANNOTATION_UINT = 3,
       ANNOTATION_INT = 4,
       ANNOTATION_DOUBLE = 5,
       ANNOTATION_TEXT = 6,
       ANNOTATION_NAME = 10,
       ANNOTATION_TEXT_IID = 17
};

enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_THREAD = 4,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_ORDERING = 11,
       TRACK_RANK = 12,
       TRACK_MERGE = 15
};

enum { ORDERING_BY_RANK = 3, MERGE_NEVER = 2 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABEL = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };

/* ---- State -------------------------------------------------------------------- */

/* By the number of a run; 0 is what has no run, where there is none. */
typedef struct gnomon__perfetto_run {
    uint64_t first;  /* event that was taken, Unix ns; UINT64_MAX: none */
    uint64_t floor;  /* nothing is shown before it, likewise */
    uint64_t uuid;   /* of its process's track */
    int has_wrapped; /* its first events were overwritten */
    uint64_t undrawn_links, skipped_steps;
} gnomon__perfetto_run;

/* What has lanes: by number, the tracks of the profile, and after them the steps of
 * run 0, 1, ... */
typedef struct gnomon__perfetto_row {
    uint32_t run;
    int is_described; /* its own track: that of its first lane */
    uint64_t uuid;
} gnomon__perfetto_row;

/* A link, drawn if both ends are in the file and in this order: with a single end it
 * would be an arrow from or to nowhere. */
typedef struct gnomon__perfetto_flow {
    size_t event[2]; /* of the cause and of the effect; 0: not in this file */
    uint64_t begin[2];
    uint8_t is_drawn;
    uint8_t is_late; /* it leads to a moment of an effect that began before */
} gnomon__perfetto_flow;

/* A flow that leads to a moment of a slice that is open. */
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

typedef struct gnomon__perfetto {
    const gnomon__export *what;
    gnomon__out *t;
    gnomon__wire wire; /* the packet at hand */
    int has_memory;    /* an event of the profile may be an allocation */
    uint64_t uuids;    /* given out so far */
    size_t runs_before;
    uint64_t flows_before;
    /* These belong to the profile that is written now. */
    gnomon__timeline line;
    gnomon__perfetto_run *runs;
    gnomon__perfetto_row *rows;
    size_t row_count;
    gnomon__perfetto_flow *flows; /* by number, from 0 */
    gnomon__perfetto_late *late;
    size_t late_count, late_room;
    gnomon__perfetto_places places;
    gnomon__perfetto_names names;
    uint32_t begun_lane; /* of the last slice */
} gnomon__perfetto;

/* ---- Packets and tracks: perfetto_tracks.c ---------------------------------------- */

/* A packet of the run's sequence at a moment in Unix ns, with its event open; its end
 * closes both. */
gnomon__wire *gnomon__perfetto_event(gnomon__perfetto *f, uint32_t run,
                                     uint64_t unix_ns, uint64_t uuid,
                                     uint32_t type);
void gnomon__perfetto_event_end(gnomon__perfetto *f);

/* A moment of a run, which never exceeds what readers can hold. */
static inline uint64_t gnomon__perfetto_unix(const gnomon__perfetto *f,
                                             uint32_t run, uint64_t ns)
{
    const uint64_t zero = f->line.runs[run].info.zero_unix_ns;
    const uint64_t most = INT64_MAX;
    return zero > most || ns > most - zero ? most : zero + ns;
}

/* Begins the run's sequence, and describes its process. */
void gnomon__perfetto_process(gnomon__perfetto *f, uint32_t run);
/* Those that follow return the uuid of a track, which they describe at the first
 * time. 0: no memory. */
uint64_t gnomon__perfetto_lane(gnomon__perfetto *f, size_t row, uint32_t lane);
uint64_t gnomon__perfetto_counter(gnomon__perfetto *f, uint32_t track,
                                  uint32_t region);
/* The track with what a run is and lacks. */
uint64_t gnomon__perfetto_notices(gnomon__perfetto *f, uint32_t run);
/* Likewise, valid until the next call of these. NULL: no memory. */
gnomon__perfetto_place *gnomon__perfetto_pool(gnomon__perfetto *f,
                                              uint32_t pool);

/* ---- Annotations and names ---------------------------------------------------------- */

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

/* Annotations of the event at hand, by a key's number or, where that is 0, by name: a
 * number, of the kind that `field` says; a text, unless it is empty; a JSON value, as what
 * it is, where it is simple, else as its text, which by a key is the one of its number. */
void gnomon__perfetto_note(gnomon__wire *w, uint64_t key, const char *name,
                           uint32_t field, uint64_t value);
void gnomon__perfetto_note_text(gnomon__wire *w, uint64_t key, const char *name,
                                const char *text);
void gnomon__perfetto_note_json(gnomon__wire *w, uint64_t key, const char *name,
                                const char *json);

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

#endif

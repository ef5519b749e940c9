/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The wire format of Protocol Buffers, as far as traces need it. A message is made in
 * memory, field by field, because its length comes before it. */
#ifndef GNOMON_EXPORT_PERFETTO_WIRE_H
#define GNOMON_EXPORT_PERFETTO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#endif

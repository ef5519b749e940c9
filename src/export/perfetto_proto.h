/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The numbers of fields in Perfetto's messages that the export writes
 * (protos/perfetto/trace/perfetto_trace.proto). They never change. */
#ifndef GNOMON_EXPORT_PERFETTO_PROTO_H
#define GNOMON_EXPORT_PERFETTO_PROTO_H

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

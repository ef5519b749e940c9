/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in a .gnomon file: blocks of up to 1024, each a section of its own, so that a
 * wrong bit costs one block, and that any block can be read alone. Inside, an event is the
 * difference to the one before it, in numbers of 7 bits a byte (docs/file-format.md). */
#ifndef GNOMON_PROFILE_EVENT_BLOCK_H
#define GNOMON_PROFILE_EVENT_BLOCK_H

#include "profile/entity.h"

#define GNOMON__BLOCK_KIND "EVBK"
#define GNOMON__BLOCK_EVENTS 1024u
#define GNOMON__BLOCK_HEAD 32u /* what a block says of all of its events */
#define GNOMON__EVENT_LEAST 3u /* bytes of the shortest event */
#define GNOMON__EVENT_MOST \
    256u /* of the longest, with fields of later releases */

/* The head of a block. */
typedef struct gnomon__block_bounds {
    uint64_t begin_ns, end_ns; /* the earliest begin, the latest end */
    uint32_t track[2];         /* the lowest number and the highest */
    uint32_t node[2];
} gnomon__block_bounds;

/* A block that is being written. */
typedef struct gnomon__block {
    char *bytes; /* of `room`, which the writer has; the head comes first */
    size_t used, room;
    uint32_t count;
    gnomon_event_info last;
    gnomon__block_bounds bounds;
} gnomon__block;

/* An empty block in `bytes`. */
void gnomon__block_begin(gnomon__block *b, char *bytes, size_t room);

/* Whether there is room for one more event. */
static inline int gnomon__block_is_full(const gnomon__block *b)
{
    return b->count == GNOMON__BLOCK_EVENTS ||
           b->room - b->used < GNOMON__EVENT_MOST;
}

/* Adds an event, which has the numbers of the file. */
void gnomon__block_add(gnomon__block *b, const gnomon_event_info *e);

/* Puts the head before the events. The block is b->used bytes. */
void gnomon__block_end(gnomon__block *b);

/* Reads all `count` events of a block into `out`, whose struct_size this sets. 0: these
 * bytes are no block of so many events. Nothing in them is trusted. */
int gnomon__block_read(const char *bytes, size_t size, uint32_t count,
                       gnomon_event_info *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in a .gnomon file: blocks of up to 1024, each a section of its own, so that a
 * wrong bit costs one block, and that any block can be read alone. Inside, an event is the
 * difference to the one before it, in numbers of 7 bits a byte (docs/file-format.md). */
#ifndef GNOMON_PROFILE_EVENT_BLOCKS_H
#define GNOMON_PROFILE_EVENT_BLOCKS_H

#include "profile/file_read.h"
#include "profile/fields.h"
#include "profile/model.h"
#include "profile/repair.h"

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

/* ---- The events of a file -------------------------------------------------------
 *
 * They stay in it: a profile reads a block of them when one is asked for. In memory are 40
 * bytes a block, 16 a track, and a few blocks. Small files, and what is not a file, are
 * kept as blocks in memory. */

#define GNOMON__BLOCK_SLOTS 16

typedef struct gnomon__stored_block {
    uint64_t at;  /* its bytes, in the file or in memory */
    size_t first; /* number of its first event in the profile */
    uint32_t size, crc;
    uint32_t count, kept; /* events; and those that the profile has */
    uint64_t number;      /* of its first event in the file */
} gnomon__stored_block;

/* A block that is decoded. Who has set `locked` owns the rest. */
typedef struct gnomon__block_slot {
    uint32_t locked;
    uint32_t reserved;
    size_t block_plus_one; /* 0: none; others read it to see what to lock */
    uint64_t used;         /* when, in loads; likewise */
    gnomon_event_info *events;
} gnomon__block_slot;

typedef struct gnomon__event_blocks {
    gnomon__event_source base;
    const gnomon__model *m;
    gnomon__numbers maps;              /* of the file's numbers, in parts */
    uint32_t mapped[GNOMON__ENTITIES]; /* how many numbers a map has */
    uint32_t before[GNOMON__ENTITIES]; /* the file's numbers begin above it */
    int fd;                            /* below 0: the blocks are in `bytes` */
    char *bytes;                       /* all blocks, one after the other */
    gnomon__stored_block *blocks;
    gnomon__event_times *times; /* of each track, by its number */
    size_t count, room;
    uint64_t total; /* bytes of all blocks */
    uint64_t loads; /* of blocks so far; any thread */
    size_t last;    /* block of the last event, as a hint; any thread */
    gnomon__block_slot slots[GNOMON__BLOCK_SLOTS];
} gnomon__event_blocks;

/* What _settle found. */
typedef struct gnomon__settled {
    uint64_t lost;       /* events of damaged blocks */
    uint64_t lost_bytes; /* of them */
    int is_unsorted; /* the events of a track are not in the order of their begins */
} gnomon__settled;

/* Makes `*s` if it is NULL, and adds a block; only what its header says is read. GNOMON_OK
 * or GNOMON_ENOMEM. The caller frees *s, or gives it to the model. */
int gnomon__blocks_add(gnomon__event_blocks **s, const gnomon__section *block);
void gnomon__blocks_free(gnomon__event_blocks *s);

/* Looks through all blocks once, when the model has all else: damaged ones are left out,
 * and events that do not fit to the model, which are counted in `dangling`. After it
 * they can be opened. GNOMON_OK, GNOMON_ENOMEM, or the source's error. */
int gnomon__blocks_settle(gnomon__event_blocks *s, const gnomon__source *from,
                          gnomon__dangling *dangling, gnomon__settled *out);

/* Makes settled blocks a source of events for the model. */
void gnomon__blocks_open(gnomon__event_blocks *s);

/* Likewise: moves all events into the model's table, in the order of tracks and begins. GNOMON_OK or
 * an error. */
int gnomon__blocks_to_table(gnomon__event_blocks *s, gnomon__model *m);

#endif

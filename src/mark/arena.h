/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The arena that all marks write to, and its chunks: arena.c. */
#ifndef GNOMON_MARK_ARENA_H
#define GNOMON_MARK_ARENA_H

#include "platform/memory.h"
#include "platform/atomic.h"

GNOMON__DATA gnomon__arena gnomon__marks_arena;

/* Dummy cell, in the arena's first piece: counting into it replaces a branch. */
#define GNOMON__NO_CELL 512u
/* Dummy index: an empty table of paths. */
#define GNOMON__NO_INDEX 768u

/* How far memory may be used up, by need. Single events leave a quarter of the
 * arena, new paths a sixteenth, sums of known paths half of that, and an
 * "(other)" may take all. What is for later paths is as for new ones.
 * Memory for the "(other)" of each parent is reserved besides. */
enum gnomon__need {
    GNOMON__FOR_EVENTS,
    GNOMON__FOR_LATER,
    GNOMON__FOR_PATHS,
    GNOMON__FOR_SUMS,
    GNOMON__FOR_OTHER
};

/* Zeroed memory of at least `bytes`, rounded up to a power of two; for events it may
 * hold anything, as nothing is read there before it is written, and zeroing a
 * block of 64 KiB would take 9 us inside a mark. 0: the arena is full. */
uint32_t gnomon__chunk_take(uint32_t bytes, enum gnomon__need need);
void gnomon__chunk_give(uint32_t offset, uint32_t bytes);

#ifdef GNOMON_TESTING
/* How many bytes events may still take; all other needs have what there is. */
extern uint64_t gnomon__test_event_bytes;
#endif

/* Tapes set it. With `bytes` it frees a chunk of that size or more, which held events; 0:
 * there is none. With 0 it tells whether free chunks may be taken: where memory is short,
 * callers that `can_do_without` leave them to others. Called under the lock. */
GNOMON__DATA int (*gnomon__chunks_short)(uint32_t bytes, int can_do_without);

/* Bytes of the arena that are kept so that each parent can have an "(other)". */
GNOMON__DATA uint32_t gnomon__reserved_bytes;

/* In a forked child, under the lock, outside of marks: forgets the arena,
 * which is the parent's. */
void gnomon__chunks_forget(void);

#endif

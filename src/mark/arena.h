/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The arena that all marks write to, and its chunks: arena.c. */
#ifndef GNOMON_MARK_ARENA_H
#define GNOMON_MARK_ARENA_H

#include "platform/memory.h"

extern gnomon__arena gnomon__marks_arena;

/* Dummy cell, in the arena's first piece: counting into it replaces a branch. */
#define GNOMON__NO_CELL 512u
/* Likewise: an index that has nothing. */
#define GNOMON__NO_INDEX 768u

/* Who may take memory, as it gets short: new paths leave a sixteenth, half of which
 * is for what keeps known ones exact, and all for "(other)". Parents have memory for
 * theirs kept apart. */
enum gnomon__need { GNOMON__FOR_PATHS, GNOMON__FOR_SUMS, GNOMON__FOR_OTHER };

/* Zeroed memory that owners recycle; a power of two >= 1024. 0: spent. */
uint32_t gnomon__chunk_take(uint32_t bytes, enum gnomon__need need);
void gnomon__chunk_give(uint32_t offset, uint32_t bytes);

/* Bytes of the arena that are kept so that each parent can have an "(other)". */
extern uint32_t gnomon__reserved_bytes;

/* In a forked child, under the lock, while the thread is not inside a mark: the arena
 * is the parent's. */
void gnomon__chunks_forget(void);

#endif

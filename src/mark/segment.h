/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: what lies between two cuts. A stage is one; what is marked after its
 * end is the next one's. */
#ifndef GNOMON_MARK_SEGMENT_H
#define GNOMON_MARK_SEGMENT_H

#include <stdint.h>

/* The number of the segment that marks belong to: 1, 2, ... Changed under the
 * lock. */
extern uint32_t gnomon__segment;
extern uint64_t gnomon__segment_begin; /* ticks: the cut that began it */

/* Ends the segment at `ticks`. When it returns, no thread records in it any more,
 * and what it recorded rests until the next cut. Threads that have been inside one
 * mark for a second are left where they are: how many is returned, and what they
 * recorded is there once their t->segment is gnomon__segment, too. In control
 * calls, one at a time; under no lock of marks. */
uint32_t gnomon__cut(uint64_t ticks);

/* The next one begins. Under the lock; for gnomon__cut alone. */
void gnomon__segment_next(uint64_t ticks);

/* A segment's first mark is kept: for the open segment alone, any thread. */
void gnomon__segment_mark(uint32_t segment, uint64_t ticks);
int gnomon__segment_first(uint64_t *ticks); /* 0: nothing was marked yet */

/* Tells in which segment each range began that is open, by whoever's look. Any
 * thread; one that ends meanwhile may be told of or not. */
void gnomon__ranges_open(void (*each)(uint32_t segment));

/* A new run: numbers begin anew. Nothing records. In a forked child, too. */
void gnomon__segments_forget(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one view recorded in one segment, of all threads, in ns. A segment is taken
 * as if all that is open ended with it and began anew in the next: so each has its
 * own share of an execution that lies in several. What such an execution is
 * counted for, once, belongs to the segment in which it began. */
#ifndef GNOMON_RECORD_SLICE_H
#define GNOMON_RECORD_SLICE_H

#include "mark/recorder.h"
#include "platform/clock.h"
#include "record/rows.h"

/* A row's share, as far as executions count that began in this segment. */
typedef struct gnomon__share {
    uint64_t self_ns;
    /* Of an execution that began earlier and is open still: its self time. */
    uint64_t earlier_self_ns;
    uint32_t is_partial; /* some of it, or of its children, lies elsewhere */
    uint32_t reserved;
} gnomon__share;

typedef struct gnomon__slice_thread {
    uint32_t thread; /* number */
    gnomon__rows rows;
    gnomon__share *shares; /* by row */
    uint64_t rate;         /* what its ticks are worth: gnomon__clock_rate */
} gnomon__slice_thread;

typedef struct gnomon__slice {
    uint32_t bit, generation; /* of the view's tree */
    gnomon__slice_thread *threads;
    size_t count;
} gnomon__slice;

/* The call tree. */
extern const gnomon__recorder gnomon__tree_recorder;

/* Of the segment that has just ended: takes it, so that it is read once, in a
 * control call. Or of the open one, which goes on. GNOMON_ENOMEM: it lacks some
 * threads. Under the readers' lock. */
int gnomon__slice_take(gnomon__slice *out, uint32_t bit, uint32_t generation);
int gnomon__slice_copy(gnomon__slice *out, uint32_t bit, uint32_t generation);
void gnomon__slice_free(gnomon__slice *slice);

static inline uint64_t gnomon__slice_ns(const gnomon__slice_thread *t,
                                        uint64_t ticks)
{
    return gnomon__line_scale(ticks, t->rate);
}

#endif

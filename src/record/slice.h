/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one view recorded in one segment, on all threads. Scopes that are open at the
 * end of a segment are treated as if they ended there and began anew in the next one,
 * so each segment has its share of such an execution. Its count of 1 belongs to the
 * segment in which it began. */
#ifndef GNOMON_RECORD_SLICE_H
#define GNOMON_RECORD_SLICE_H

#include "mark/recorder.h"
#include "platform/clock.h"
#include "record/rows.h"

/* A row's times of the executions that began in this segment. */
typedef struct gnomon__share {
    uint64_t self_ns;
    /* Self time of an execution that began earlier and is still open. */
    uint64_t earlier_self_ns;
    uint32_t is_partial; /* part of it or its children is in other segments */
    uint32_t reserved;
} gnomon__share;

typedef struct gnomon__slice_thread {
    uint32_t thread; /* number */
    gnomon__rows rows;
    gnomon__share *shares; /* by row */
    uint64_t rate;         /* ticks to ns: gnomon__clock_rate */
} gnomon__slice_thread;

typedef struct gnomon__slice {
    uint32_t bit, generation; /* of the view's tree */
    gnomon__slice_thread *threads;
    size_t count;
} gnomon__slice;

/* The recorder of call trees. */
GNOMON__DATA const gnomon__recorder gnomon__tree_recorder;

/* The segment that has just ended, which is cleared, in a control call; or, if `is_live`,
 * a copy of the open one, which goes on. GNOMON_ENOMEM: some threads are missing. Under
 * the readers' lock. */
int gnomon__slice_read(gnomon__slice *out, uint32_t bit, uint32_t generation,
                       int is_live);
void gnomon__slice_free(gnomon__slice *slice);

static inline uint64_t gnomon__slice_ns(const gnomon__slice_thread *t,
                                        uint64_t ticks)
{
    return gnomon__line_scale(ticks, t->rate);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that more than the hot tree sees: hooks with a slot each, several
 * trees, or a clock that is a call. A frame remembers who saw the begin, so that
 * the same see the end, whatever was attached or opened meanwhile. */
#ifndef GNOMON_MARK_FRAME_H
#define GNOMON_MARK_FRAME_H

#include "mark/sink.h"

/* On the thread's frame stack, which is an array of words; slots follow, one
 * for each hook in `hooks`, in the order of its bits. */
typedef struct gnomon__frame {
    uint64_t token; /* 0: over, not yet popped */
    uint64_t begin; /* ticks; 0 where nobody wants times */
    gnomon_region *region;
    uint32_t mask;  /* bits that saw the begin and are still attached */
    uint32_t hooks; /* whose slots there are */
    uint32_t below; /* word of the frame below + 1; 0: none */
    uint32_t flags; /* gnomon_frame_flags */
    uint64_t slots[];
} gnomon__frame;

#define GNOMON__FRAME_WORDS 8192u

/* Begins a scope for the bits `m`, on an entered thread. `token` is its name
 * without flags. Returns whether anybody took it. */
int gnomon__frame_begin(gnomon__thread *t, gnomon_region *region, uint32_t m,
                        uint64_t token, uint32_t flags);

/* Ends the scope of `token` if it has a frame: 1. Inner scopes that are no
 * actions end before it, counted as crossed unless it is an action. */
int gnomon__frame_end(gnomon__thread *t, uint64_t token, int is_action);

/* Ends all scopes with frames begun after `token`, but not actions. */
void gnomon__frames_end_inner(gnomon__thread *t, uint64_t token);

/* Calls start or stop of the hooks among `mask`; slots as in gnomon__frame. */
void gnomon__hooks_start(gnomon_frame *f, uint32_t mask, uint64_t *slots);
void gnomon__hooks_stop(gnomon_frame *f, uint32_t hooks, uint32_t mask,
                        uint64_t *slots);

/* Converts a tick for a callback. */
uint64_t gnomon__frame_ns(uint64_t ticks);

#endif

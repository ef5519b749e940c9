/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The frame of a scope or action that plain hooks see, and the calls of a hook that is
 * the only one. Inlined in hook.c and by_name.c, so that a start or stop by name, which
 * saves registers anyway, saves them once. */
#ifndef GNOMON_MARK_ONE_HOOK_H
#define GNOMON_MARK_ONE_HOOK_H

#include "mark/frame.h"
#include "mark/hot.h"

/* A frame on top of the stack. */
static inline ALWAYS gnomon__frame *
gnomon__hook_push(gnomon__thread *t, uint64_t token,
                  const gnomon_region *region, const uint32_t flags)
{
    uint32_t top = t->frame_top;
    gnomon__frame *frame = gnomon__frame_at(t, top);
    gnomon__frame_describe(t, &frame->seen, region, token, flags);
    frame->below = t->frame_last;
    fence_signal(); /* the thread may be cancelled at any instruction */
    t->frame_last = top;
    t->frame_top = top + t->frame_bytes;
    return frame;
}

/* Starts the only hook, `one`. */
static inline ALWAYS void gnomon__one_start(gnomon__thread *t, uint64_t token,
                                            const gnomon_region *region,
                                            uint64_t one, const uint32_t flags)
{
    gnomon__frame *frame = gnomon__hook_push(t, token, region, flags);
    memset(&frame->begin, 0, sizeof frame->begin + sizeof *frame->slots);
    memcpy(&frame->mask, &one, sizeof one);
    const gnomon__hook *h = t->hooks;
    GNOMON__KEEP_ERRNO(t, h->start(h->self, &frame->seen, frame->slots));
}

/* Whether exactly the hooks of `pair` saw it, and it has these flags: a plain scope has
 * none. */
static inline ALWAYS int gnomon__hook_saw(const gnomon__frame *frame,
                                          uint64_t pair, const uint32_t flags)
{
    uint64_t who = load_pair(&frame->mask), what = load_pair(&frame->seen);
    return who == pair && what == gnomon__frame_pair(sizeof frame->seen, flags);
}

/* Stops the only hook, of the frame on top, which is at `last`. */
static inline ALWAYS void gnomon__one_stop(gnomon__thread *t,
                                           gnomon__frame *frame, uint32_t last)
{
    t->frame_last = frame->below;
    t->frame_top = last;
    const gnomon__hook *h = t->hooks;
    GNOMON__KEEP_ERRNO(t, h->stop(h->self, &frame->seen, frame->slots));
    gnomon__turn_even(t);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of a thread's stack of frames: it grows with the scopes that are open, and
 * loses the frames that are over below one that is open. On an entered thread. */
#include "mark/frame.h"

#include <string.h>

#define FRAME_FIRST_BYTES 1024u

/* Offset of the first frame. States of threads and stacks of frames begin at
 * multiples of 1 KiB: without the offset a load from a state's first lines
 * would wait for a store to a frame with the same address within its page, 1
 * ns of a hook's 7. */
#define FRAME_FIRST_AT 256u

/* Removes frames that are over below one that is open, when the stack is
 * full: scopes that always overlap leave more and more of them. The frames
 * above move down. */
static void remove_dead_frames(gnomon__thread *t)
{
    uint32_t order[GNOMON__FRAME_BYTES / sizeof(gnomon__frame)] = {0};
    uint32_t n = 0;
    for (uint32_t at = t->frame_last; at; at = gnomon__frame_at(t, at)->below)
        order[n++] = at;
    uint32_t top = t->frames + FRAME_FIRST_AT, last = 0, end = t->frame_top;
    while (n--) {
        uint32_t at = order[n], next = n ? order[n - 1] : end;
        gnomon__frame *f = gnomon__frame_at(t, at);
        if (!f->seen.token)
            continue;
        f->below = last;
        memmove(gnomon__frame_at(t, top), f, next - at);
        last = top;
        top += next - at;
    }
    t->frame_last = last;
    t->frame_top = top;
    t->frame_dead = 0;
}

/* Moves the frames to a stack of twice the size. It starts small, as most
 * threads nest a few scopes only. Nobody has the address of a frame now. */
static void grow_frames(gnomon__thread *t)
{
    uint32_t size = t->frames ? 2 * t->frame_size : FRAME_FIRST_BYTES;
    uint32_t fresh = size <= GNOMON__FRAME_BYTES
                         ? gnomon__chunk_take(size, GNOMON__FOR_PATHS)
                         : 0;
    if (!fresh)
        return;
    if (t->frames) {
        uint32_t far = fresh - t->frames; /* unsigned, so it wraps */
        memcpy(gnomon__at(t, fresh), gnomon__at(t, t->frames),
               t->frame_top - t->frames);
        for (uint32_t *at = &t->frame_last; *at;) {
            *at += far;
            at = &gnomon__frame_at(t, *at)->below;
        }
        t->frame_top += far;
        gnomon__chunk_give(t->frames, t->frame_size);
    }
    t->frames = fresh;
    t->frame_size = size;
    gnomon__frames_fit(t);
}

void gnomon__frames_drop(gnomon__thread *t)
{
    if (t->frames)
        gnomon__chunk_give(t->frames, t->frame_size);
    t->frames = t->frame_size = 0;
    gnomon__frames_fit(t);
}

void gnomon__frames_make_room(gnomon__thread *t)
{
    gnomon__guard();
    if (!t->frames)
        grow_frames(t);
    if (t->frame_dead && t->frame_top > t->frame_room)
        remove_dead_frames(t);
    if (t->frame_top > t->frame_room)
        grow_frames(t);
    gnomon__unguard();
}

/* While there is no stack, frame_top is above all room (see frame.c). */
void gnomon__frames_fit(gnomon__thread *t)
{
    t->frame_bytes = (uint32_t)sizeof(gnomon__frame);
    for (uint32_t rest = load_relaxed(&t->attached) & ~t->recorder_bits; rest;
         rest &= rest - 1)
        t->frame_bytes += (uint32_t)sizeof(uint64_t);
    if (!t->frames)
        t->frame_top = UINT32_MAX;
    else if (t->frame_top == UINT32_MAX)
        t->frame_top = t->frames + FRAME_FIRST_AT;
    t->frame_room = t->frames ? t->frames + t->frame_size - t->frame_bytes : 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames, and the calls of their hooks: start in the order of attaching,
 * stop in reverse. The clock is read after the starts and before the stops,
 * so that the time of hooks counts for the parent and not for the scope. On
 * an entered thread. */
#include "mark/frame.h"

#include <string.h>

#include "mark/position.h"
#include "mark/tape.h"
#include "platform/ticks.h"

/* ---- Memory of frames ----------------------------------------------------------- */

/* The memory of a thread's stack of frames: it grows with the scopes that are open, and
 * loses the frames that are over below one that is open. On an entered thread. */

#define FRAME_FIRST_BYTES 1024u

/* Offset of the first frame. States of threads and stacks of frames begin at
 * multiples of 1 KiB: without the offset a load from a state's first lines
 * would wait for a store to a frame with the same address within its page, 1
 * ns of a hook's 7. */
#define FRAME_FIRST_AT 256u

/* Moves the frames that are not over to the begin of the stack at `to`, which may be
 * theirs. Nobody has the address of a frame now. */
static void move_frames(gnomon__thread *t, uint32_t to)
{
    uint32_t order[GNOMON__FRAME_BYTES / sizeof(gnomon__frame)] = {0};
    uint32_t n = 0;
    for (uint32_t at = t->frame_last; at; at = gnomon__frame_at(t, at)->below)
        order[n++] = at;
    uint32_t top = to + FRAME_FIRST_AT, last = 0, end = t->frame_top;
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

/* A stack of twice the size. It starts small, as most threads nest a few scopes only. */
static void grow_frames(gnomon__thread *t)
{
    uint32_t size = t->frames ? 2 * t->frame_size : FRAME_FIRST_BYTES;
    uint32_t fresh = size <= GNOMON__FRAME_BYTES
                         ? gnomon__chunk_take(size, GNOMON__FOR_PATHS)
                         : 0;
    if (!fresh)
        return;
    if (t->frames) {
        move_frames(t, fresh);
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

static void make_room_for_frames(gnomon__thread *t)
{
    gnomon__guard();
    if (!t->frames)
        grow_frames(t);
    /* Scopes that always overlap leave more and more that are over. */
    if (t->frame_dead && t->frame_top > t->frame_room)
        move_frames(t, t->frames);
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

/* ---- Begin and end ----------------------------------------------------------- */

/* Takes a new frame from the stack. NULL: too many are open. While there is
 * no stack, frame_top is above all room, so that one test covers both. */
static gnomon__frame *push_frame(gnomon__thread *t)
{
    if (t->frame_top > t->frame_room)
        make_room_for_frames(t);
    if (t->frame_top > t->frame_room)
        return NULL;
    uint32_t at = t->frame_top;
    gnomon__frame *f = gnomon__frame_at(t, at);
    store_relaxed(&f->seen.token, 0); /* no scope has it */
    f->below = t->frame_last;
    fence_signal();
    t->frame_last = at;
    t->frame_top = at + t->frame_bytes;
    return f;
}

static void pop_dead(gnomon__thread *t)
{
    while (t->frame_last && !gnomon__frame_at(t, t->frame_last)->seen.token) {
        uint32_t at = t->frame_last;
        store_relaxed(&t->frame_last, gnomon__frame_at(t, at)->below);
        store_relaxed(&t->frame_top, at);
        t->frame_dead--;
    }
}

/* Begins the scope in the trees of `m`; returns those that took it. */
static uint32_t begin_in_trees(gnomon__thread *t, uint32_t m,
                               const gnomon_region *region, uint64_t token,
                               uint32_t flags)
{
    uint32_t taken = 0;
    token |= GNOMON__TOKEN_SLOW |
             (flags & GNOMON_FRAME_ACTION ? GNOMON__TOKEN_ACTION : 0);
    gnomon__trees_inside(t, t->tree_bits & ~m);
    gnomon__each_bit(bit, m & t->tree_bits & load_relaxed(&t->attached))
        if (gnomon__tree_begin(t, bit, gnomon__key_of(region), token))
            taken |= 1u << bit;
    return taken;
}

/* Gives them the time, once all that want the scope took it. */
static void set_begin(gnomon__thread *t, uint32_t trees, uint64_t ticks)
{
    gnomon__each_bit(bit, trees)
        gnomon__tree_begun(t, bit, ticks);
}

/* Without memory for a frame: only trees take the scope, as they find it
 * again without one, and tapes lose it. */
static int begin_without(gnomon__thread *t, gnomon_region *region, uint32_t m,
                         uint64_t token, uint32_t flags)
{
    uint32_t trees = begin_in_trees(t, m, region, token, flags);
    if (trees)
        set_begin(t, trees, gnomon__ticks());
    gnomon__each_bit(bit, m & t->tape_bits) {
        gnomon__tape_gap(gnomon__tape_of(t, bit), gnomon__ticks());
    }
    return trees != 0;
}

int gnomon__frame_begin(gnomon__thread *t, gnomon_region *region, uint32_t m,
                        uint64_t token, uint32_t flags)
{
    uint32_t hooks = m & ~t->recorder_bits;
    gnomon__frame *frame = push_frame(t);
    if (!frame) {
        /* Trees take it all the same, and tapes count it themselves. */
        if (m & ~(t->tree_bits | t->tape_bits))
            gnomon__trouble(t, lost_frames);
        return begin_without(t, region, m, token, flags);
    }
    gnomon__frame_describe(t, &frame->seen, region, token, flags);
    frame->hooks = 0;
    frame->mask = m & ~hooks;
    if (hooks) {
        uint32_t live = gnomon__hooks_enter(t, &t->open_bits, hooks);
        frame->hooks = live;
        frame->mask |= live;
        gnomon__hooks_start(t, &frame->seen, live, frame->slots);
        gnomon__hooks_leave(t);
        gnomon__thread_keep_up(t); /* a cut may have come meanwhile */
    }
    uint32_t trees = begin_in_trees(t, m, region, token, flags);
    frame->mask = frame->hooks | trees |
                  (m & t->end_only_bits & load_relaxed(&t->attached));
    frame->begin = 0;
    if (m & t->time_bits) {
        frame->begin = gnomon__ticks();
        set_begin(t, trees, frame->begin);
    }
    return 1;
}

/* Ticks as ns for hooks; 0 where no hook wants times. */
static uint64_t ns_of_ticks(uint64_t ticks)
{
    return ticks ? gnomon__clock_ns(ticks) : 0;
}

/* Calls stop of the frame's hooks, with `flags` added to its own. */
static void stop_hooks(gnomon__thread *t, gnomon__frame *frame, uint32_t mask,
                       uint64_t now, uint32_t flags)
{
    frame->seen.flags |= flags;
    frame->seen.begin_ns = ns_of_ticks(frame->begin);
    frame->seen.end_ns = ns_of_ticks(now);
    uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
    gnomon__hooks_stop(t, &frame->seen, frame->hooks, live, frame->slots);
    gnomon__hooks_leave(t);
    gnomon__thread_keep_up(t); /* a cut may have come meanwhile */
}

/* Ends the frame's scope at `now`; hooks see `flags` added to its own. */
static void end_at(gnomon__thread *t, gnomon__frame *frame, uint64_t now,
                   uint32_t flags)
{
    uint32_t mask = frame->mask & load_relaxed(&t->attached);
    store_relaxed(&frame->mask, 0); /* each is called once only */
    gnomon__finished f = {.token = frame->seen.token,
                          .begin = frame->begin,
                          .end = now,
                          .key = gnomon__key_of(frame->seen.region)};
    gnomon__each_bit(bit, mask & t->tree_bits)
        gnomon__tree_end(t, bit, &f);
    gnomon__recorders_end(t, mask & t->end_only_bits, &f);
    if (mask & frame->hooks)
        stop_hooks(t, frame, mask, now, flags);
    frame->seen.token = 0;
    t->frame_dead++;
    pop_dead(t);
}

static void end_one(gnomon__thread *t, gnomon__frame *frame)
{
    end_at(t, frame, frame->mask & t->time_bits ? gnomon__ticks() : 0, 0);
}

void gnomon__frames_finish(gnomon__thread *t, uint32_t bits)
{
    for (uint32_t at = t->frame_last; at;) {
        gnomon__frame *frame = gnomon__frame_at(t, at);
        uint32_t mask = frame->mask & frame->hooks & bits;
        uint32_t flags = frame->seen.flags;
        at = frame->below;
        if (!frame->seen.token || !mask)
            continue;
        store_relaxed(&frame->mask, frame->mask & ~mask);
        stop_hooks(t, frame, mask, mask & t->time_bits ? gnomon__ticks() : 0,
                   GNOMON_FRAME_UNFINISHED);
        frame->seen.flags = flags; /* others see it to its end */
    }
    gnomon__frames_forget(t, bits);
}

uint32_t gnomon__frames_take(gnomon__thread *t, uint32_t bit,
                             gnomon__unfinished *out, uint32_t room)
{
    uint32_t n = 0, one = 1u << bit;
    for (uint32_t at = t->frame_last; at && n < room;) {
        gnomon__frame *frame = gnomon__frame_at(t, at);
        at = frame->below;
        if (!frame->seen.token || !(frame->mask & frame->hooks & one))
            continue;
        out[n++] = (gnomon__unfinished){
            frame->seen, frame->slots[gnomon__hook_slot(frame->hooks, one)],
            frame->begin};
        store_relaxed(&frame->mask, frame->mask & ~one);
    }
    if (n < room)
        gnomon__frames_forget(t, one);
    return n;
}

/* A frame whose token is the thread's word is of a scope in whose begin the
 * thread was cancelled: which hooks saw that begin is unknown. */
uint64_t gnomon__frames_abandon(gnomon__thread *t)
{
    uint64_t open = 0;
    while (t->frame_last) {
        gnomon__frame *frame = gnomon__frame_at(t, t->frame_last);
        uint32_t mask = frame->mask & load_relaxed(&t->attached);
        if (frame->seen.token == load_relaxed(&t->seq))
            mask = 0;
        open += frame->seen.token && mask; /* who saw it may be gone */
        if (frame->seen.token && (mask & frame->hooks))
            stop_hooks(t, frame, mask,
                       mask & t->time_bits ? gnomon__ticks() : 0,
                       GNOMON_FRAME_UNFINISHED);
        t->frame_last = frame->below;
    }
    t->frame_top = t->frames ? t->frames : UINT32_MAX;
    t->frame_dead = 0;
    return open;
}

void gnomon__frames_end_inner(gnomon__thread *t, uint64_t token)
{
    for (uint32_t at = t->frame_last; at;) {
        gnomon__frame *f = gnomon__frame_at(t, at);
        uint32_t below = f->below;
        if (f->seen.token && f->seen.token <= token)
            return; /* frames lie in the order of their tokens */
        if (f->seen.token && !(f->seen.flags & GNOMON_FRAME_ACTION)) {
            /* Newest first, also those without a frame. */
            if (load_relaxed(&t->attached) & t->tree_bits)
                gnomon__trees_close_inner(t, f->seen.token, gnomon__ticks());
            if (f->mask)
                gnomon__trouble(t, crossed);
            end_one(t, f);
        }
        at = below;
    }
}

/* NULL: there is none. Frames lie in the order of their tokens. */
static gnomon__frame *frame_by_token(gnomon__thread *t, uint64_t token)
{
    for (uint32_t at = t->frame_last; at;) {
        gnomon__frame *f = gnomon__frame_at(t, at);
        if (f->seen.token && f->seen.token <= token)
            return f->seen.token == token ? f : NULL;
        at = f->below;
    }
    return NULL;
}

/* NULL: there is none, or of the other kind. */
static gnomon__frame *frame_of_token(gnomon__thread *t, uint64_t token,
                                     int is_action)
{
    gnomon__frame *f = frame_by_token(t, token);
    return f && !!(f->seen.flags & GNOMON_FRAME_ACTION) == is_action ? f : NULL;
}

int gnomon__frame_end_foreign(gnomon__thread *t, uint64_t token, uint64_t now,
                              int on_owner)
{
    gnomon__frame *frame = frame_of_token(t, token, 0);
    if (!frame)
        return 0;
    if (!on_owner && (frame->mask & frame->hooks))
        return -1;
    end_at(t, frame, frame->mask & t->time_bits ? now : 0,
           GNOMON_FRAME_FOREIGN);
    return 1;
}

int gnomon__frame_end(gnomon__thread *t, uint64_t token, enum gnomon__end how)
{
    gnomon__frame *frame = frame_of_token(t, token, how == GNOMON__END_ACTION);
    if (!frame)
        return 0;
    /* A scope that no attached observer saw ends no scopes inside it. */
    if ((how == GNOMON__END_SCOPE && frame->mask) ||
        (how == GNOMON__END_ALONE && (frame->mask & frame->hooks))) {
        gnomon__frames_end_inner(t, token);
        /* If only hooks without times are attached, the clock is not read. */
        if (load_relaxed(&t->attached) & t->tree_bits)
            gnomon__trees_close_inner(t, token, gnomon__ticks());
    }
    end_one(t, frame);
    return 1;
}

int gnomon__frame_is_seen(gnomon__thread *t, uint64_t token)
{
    const gnomon__frame *f = frame_by_token(t, token);
    return f && f->mask;
}

void gnomon__frames_forget(gnomon__thread *t, uint32_t bits)
{
    for (uint32_t at = bits ? t->frame_last : 0; at;) {
        gnomon__frame *f = gnomon__frame_at(t, at);
        store_relaxed(&f->mask, f->mask & ~bits);
        if (!f->mask && f->seen.token) {
            store_relaxed(&f->seen.token, 0); /* nobody is left who saw it */
            t->frame_dead++;
        }
        at = f->below;
    }
    pop_dead(t);
}

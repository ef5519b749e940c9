/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames and the calls of hooks: an onion, start in the order of bits, stop in
 * reverse. The clock is read after the start hooks and before the stop hooks,
 * so that they cost the parent and not the scope. On an entered thread. */
#include "mark/frame.h"

#include <string.h>

#include "mark/tree.h"

uint64_t gnomon__frame_ns(uint64_t ticks)
{
    static gnomon__clock clock;
    static uint32_t known;
    if (!ticks)
        return 0;
    /* The frequency is taken once: hooks see one steady clock. */
    if (load_acquire(&known) != 2) {
        uint32_t none = 0;
        if (!cas_acq_rel(&known, &none, 1)) {
            gnomon__clock now = gnomon__clock_read();
            return gnomon__clock_since_zero_ns(&now, ticks);
        }
        clock = gnomon__clock_read();
        store_release(&known, 2);
    }
    return gnomon__clock_since_zero_ns(&clock, ticks);
}

/* Frames that are over below one that is not: what always overlaps leaves
 * more of them than there is room. Those above move down. */
static void squeeze(gnomon__thread *t)
{
    uint32_t order[GNOMON__FRAME_BYTES / sizeof(gnomon__frame)] = {0};
    uint32_t n = 0;
    for (uint32_t at = t->frame_last; at; at = gnomon__frame_at(t, at)->below)
        order[n++] = at;
    uint32_t top = t->frames, last = 0, end = t->frame_top;
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

/* Room for a frame; NULL: too many are open. */
static gnomon__frame *push_frame(gnomon__thread *t)
{
    if (!t->frames) {
        t->frames = gnomon__chunk_take(GNOMON__FRAME_BYTES, 0);
        gnomon__frames_fit(t);
    }
    if (t->frame_dead && t->frame_top > t->frame_room)
        squeeze(t);
    if (t->frame_top > t->frame_room)
        return NULL;
    uint32_t at = t->frame_top;
    gnomon__frame *f = gnomon__frame_at(t, at);
    f->below = t->frame_last;
    t->frame_last = at;
    t->frame_top = at + t->frame_bytes;
    return f;
}

/* While there is no stack, its top stands above the room that it has. */
void gnomon__frames_fit(gnomon__thread *t)
{
    t->frame_bytes = (uint32_t)sizeof(gnomon__frame);
    for (uint32_t rest = load_relaxed(&t->attached) & ~t->tree_bits; rest;
         rest &= rest - 1)
        t->frame_bytes += (uint32_t)sizeof(uint64_t);
    if (!t->frames)
        t->frame_top = UINT32_MAX;
    else if (t->frame_top == UINT32_MAX)
        t->frame_top = t->frames;
    t->frame_room = t->frames + GNOMON__FRAME_BYTES - t->frame_bytes;
}

static void pop_dead(gnomon__thread *t)
{
    while (t->frame_last && !gnomon__frame_at(t, t->frame_last)->seen.token) {
        uint32_t at = t->frame_last;
        t->frame_last = gnomon__frame_at(t, at)->below;
        t->frame_top = at;
        t->frame_dead--;
    }
}

int gnomon__frame_begin(gnomon__thread *t, gnomon_region *region, uint32_t m,
                        uint64_t token, uint32_t flags)
{
    uint32_t hooks = m & ~t->tree_bits;
    gnomon__frame *frame = push_frame(t);
    if (!frame) {
        gnomon__trouble(t, lost_frames);
        return 0;
    }
    if (!(m >> t->hot_bit & 1))
        gnomon__frame_inside_hot(t);
    gnomon__frame_describe(t, &frame->seen, region, token, flags);
    frame->hooks = 0;
    frame->mask = m;
    if (hooks) {
        uint32_t live = gnomon__hooks_enter(t, &t->gate, hooks);
        frame->hooks = live;
        frame->mask = (m & ~hooks) | live;
        gnomon__hooks_start(t, &frame->seen, live, frame->slots);
        gnomon__hooks_leave(t);
    }
    uint64_t stored = token | GNOMON__TOKEN_RARE;
    if (flags & GNOMON_FRAME_ACTION)
        stored |= GNOMON__TOKEN_ACTION;
    uint32_t key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t trees = m & ~hooks;
    for (uint32_t rest = trees; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        uint32_t node = gnomon__tree_child(t, bit, key);
        if (node)
            gnomon__tree_open(t, gnomon__cursor_of(t, bit), node, stored);
        else
            trees &= ~(1u << bit);
    }
    frame->mask = (frame->mask & hooks) | trees;
    frame->begin = 0;
    if (m & t->time_bits) {
        frame->begin = gnomon__ticks();
        for (; trees; trees &= trees - 1) {
            uint32_t bit = (uint32_t)__builtin_ctz(trees);
            uint32_t node = gnomon__cursor_of(t, bit)->current;
            store_relaxed(&gnomon__node_at(t, node)->begin, frame->begin);
        }
    }
    return 1;
}

static void end_one(gnomon__thread *t, gnomon__frame *frame)
{
    uint64_t now = frame->mask & t->time_bits ? gnomon__ticks() : 0;
    uint32_t mask = frame->mask & load_relaxed(&t->attached);
    uint32_t trees = mask & t->tree_bits;
    for (; trees; trees &= trees - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(trees);
        uint32_t node = gnomon__tree_find(t, bit, frame->seen.token);
        if (node)
            gnomon__tree_close(t, bit, node, now);
    }
    if (mask & frame->hooks) {
        frame->seen.begin_ns = gnomon__frame_ns(frame->begin);
        frame->seen.end_ns = gnomon__frame_ns(now);
        uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
        gnomon__hooks_stop(t, &frame->seen, frame->hooks, live, frame->slots);
        gnomon__hooks_leave(t);
    }
    frame->seen.token = 0;
    t->frame_dead++;
    pop_dead(t);
}

void gnomon__frames_end_inner(gnomon__thread *t, uint64_t token)
{
    for (uint32_t at = t->frame_last; at;) {
        gnomon__frame *f = gnomon__frame_at(t, at);
        uint32_t below = f->below;
        if (f->seen.token && f->seen.token <= token)
            return; /* frames lie in the order of their tokens */
        if (f->seen.token && !(f->seen.flags & GNOMON_FRAME_ACTION)) {
            if (f->mask)
                gnomon__trouble(t, crossed);
            end_one(t, f);
        }
        at = below;
    }
}

int gnomon__frame_end(gnomon__thread *t, uint64_t token, enum gnomon__end how)
{
    int is_action = how == GNOMON__END_ACTION;
    uint32_t at = t->frame_last;
    while (at && gnomon__frame_at(t, at)->seen.token != token) {
        if (gnomon__frame_at(t, at)->seen.token &&
            gnomon__frame_at(t, at)->seen.token < token)
            return 0;
        at = gnomon__frame_at(t, at)->below;
    }
    if (!at || !!(gnomon__frame_at(t, at)->seen.flags & GNOMON_FRAME_ACTION) !=
                   is_action)
        return 0;
    gnomon__frame *frame = gnomon__frame_at(t, at);
    /* Nothing ends with a scope whose observers are all gone. */
    if ((how == GNOMON__END_SCOPE && frame->mask) ||
        (how == GNOMON__END_ALONE && (frame->mask & frame->hooks))) {
        gnomon__frames_end_inner(t, token);
        /* No clock is read for hooks alone that want no times. */
        if (load_relaxed(&t->attached) & t->tree_bits)
            gnomon__trees_close_inner(t, token, gnomon__ticks());
    }
    end_one(t, frame);
    return 1;
}

int gnomon__frame_is_seen(gnomon__thread *t, uint64_t token)
{
    uint32_t at = t->frame_last;
    while (at && gnomon__frame_at(t, at)->seen.token != token)
        at = gnomon__frame_at(t, at)->below;
    return at && gnomon__frame_at(t, at)->mask;
}

void gnomon__frames_forget(gnomon__thread *t, uint32_t bits)
{
    for (uint32_t at = bits ? t->frame_last : 0; at;) {
        gnomon__frame *f = gnomon__frame_at(t, at);
        f->mask &= ~bits;
        if (!f->mask && f->seen.token) {
            f->seen.token = 0; /* nobody is left who saw it */
            t->frame_dead++;
        }
        at = f->below;
    }
    pop_dead(t);
}

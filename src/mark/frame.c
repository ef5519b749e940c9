/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames and the calls of hooks: an onion, start in the order of bits, stop in
 * reverse. The clock is read after the start hooks and before the stop hooks,
 * so that they cost the parent and not the scope. On an entered thread. */
#include "mark/frame.h"

#include "mark/region.h"
#include "mark/tree.h"

static gnomon__frame *frame_at(gnomon__thread *t, uint32_t word)
{
    return (gnomon__frame *)(void *)((uint64_t *)gnomon__at(t, t->frames) +
                                     word - 1);
}

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

void gnomon__hooks_start(gnomon_frame *f, uint32_t mask, uint64_t *slots)
{
    for (; mask; mask &= mask - 1, slots++) {
        const gnomon__sink *s = &gnomon__sinks[__builtin_ctz(mask)];
        *slots = 0;
        if (s->hook->start)
            s->hook->start(s->self, f, slots);
    }
}

void gnomon__hooks_stop(gnomon_frame *f, uint32_t hooks, uint32_t mask,
                        uint64_t *slots)
{
    slots += __builtin_popcount(hooks);
    while (hooks) {
        uint32_t bit = 31u - (uint32_t)__builtin_clz(hooks);
        hooks &= ~(1u << bit);
        slots--;
        if (!(mask >> bit & 1))
            continue;
        const gnomon__sink *s = &gnomon__sinks[bit];
        if (s->hook->stop)
            s->hook->stop(s->self, f, slots);
    }
}

static void describe(const gnomon__thread *t, gnomon_frame *f,
                     const gnomon_region *region, uint64_t token,
                     uint32_t flags)
{
    f->struct_size = sizeof *f;
    f->flags = flags;
    f->region = region;
    f->name = gnomon__region_name(region);
    f->token = token;
    f->begin_ns = 0;
    f->end_ns = 0;
    f->thread = t->number;
    f->reserved = 0;
}

/* Room for a frame with `slots` slots; NULL: too many are open. */
static gnomon__frame *push(gnomon__thread *t, uint32_t slots)
{
    if (!t->frames)
        t->frames = gnomon__chunk_take(8 * GNOMON__FRAME_WORDS, 0);
    uint32_t words = (uint32_t)sizeof(gnomon__frame) / 8 + slots;
    if (!t->frames || t->frame_top + words > GNOMON__FRAME_WORDS)
        return NULL;
    uint32_t word = t->frame_top + 1;
    gnomon__frame *f = frame_at(t, word);
    f->below = t->frame_last;
    t->frame_last = word;
    t->frame_top += words;
    return f;
}

static void pop_dead(gnomon__thread *t)
{
    while (t->frame_last && !frame_at(t, t->frame_last)->token) {
        uint32_t word = t->frame_last;
        t->frame_last = frame_at(t, word)->below;
        t->frame_top = word - 1;
    }
}

int gnomon__frame_begin(gnomon__thread *t, gnomon_region *region, uint32_t m,
                        uint64_t token, uint32_t flags)
{
    uint32_t hooks = m & ~load_relaxed(&gnomon__tree_bits);
    gnomon__frame *frame = push(t, (uint32_t)__builtin_popcount(hooks));
    if (!frame) {
        gnomon__trouble(t, lost_frames);
        return 0;
    }
    frame->token = token;
    frame->region = region;
    frame->flags = flags;
    frame->hooks = 0;
    frame->mask = m;
    if (hooks) {
        uint32_t live = gnomon__hooks_enter(t, &t->gate, hooks);
        frame->hooks = live;
        frame->mask = (m & ~hooks) | live;
        gnomon_frame f;
        describe(t, &f, region, token, flags);
        gnomon__hooks_start(&f, live, frame->slots);
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
    if (m & gnomon__time_bits) {
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
    uint64_t now = frame->mask & gnomon__time_bits ? gnomon__ticks() : 0;
    uint32_t mask = frame->mask & load_relaxed(&t->attached);
    uint32_t trees = mask & gnomon__tree_bits;
    for (; trees; trees &= trees - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(trees);
        uint32_t node = gnomon__tree_find(t, bit, frame->token);
        if (node)
            gnomon__tree_close(t, bit, node, now);
    }
    if (mask & frame->hooks) {
        gnomon_frame f;
        describe(t, &f, frame->region, frame->token, frame->flags);
        f.begin_ns = gnomon__frame_ns(frame->begin);
        f.end_ns = gnomon__frame_ns(now);
        uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
        gnomon__hooks_stop(&f, frame->hooks, live, frame->slots);
        gnomon__hooks_leave(t);
    }
    frame->token = 0;
    pop_dead(t);
}

void gnomon__frames_end_inner(gnomon__thread *t, uint64_t token)
{
    for (uint32_t word = t->frame_last; word;) {
        gnomon__frame *f = frame_at(t, word);
        uint32_t below = f->below;
        if (f->token && f->token <= token)
            return; /* frames lie in the order of their tokens */
        if (f->token && !(f->flags & GNOMON_FRAME_ACTION)) {
            gnomon__trouble(t, crossed);
            end_one(t, f);
        }
        word = below;
    }
}

int gnomon__frame_end(gnomon__thread *t, uint64_t token, int is_action)
{
    uint32_t word = t->frame_last;
    while (word && frame_at(t, word)->token != token) {
        if (frame_at(t, word)->token && frame_at(t, word)->token < token)
            return 0;
        word = frame_at(t, word)->below;
    }
    if (!word ||
        !!(frame_at(t, word)->flags & GNOMON_FRAME_ACTION) != is_action)
        return 0;
    gnomon__frame *frame = frame_at(t, word);
    if (!is_action) {
        gnomon__frames_end_inner(t, token);
        /* What only the hot tree saw has no frame. */
        for (uint32_t rest = frame->mask & gnomon__tree_bits; rest;
             rest &= rest - 1) {
            uint32_t n = gnomon__tree_close_inner(
                t, (uint32_t)__builtin_ctz(rest), token, gnomon__ticks());
            bump_relaxed(&t->health.crossed, n);
        }
    }
    end_one(t, frame);
    return 1;
}

void gnomon__frames_forget(gnomon__thread *t, uint32_t bits)
{
    for (uint32_t word = bits ? t->frame_last : 0; word;) {
        gnomon__frame *f = frame_at(t, word);
        f->mask &= ~bits;
        word = f->below;
    }
}

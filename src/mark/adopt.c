/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread takes the configuration that control calls have made: which bits are
 * trees and which hooks, whose trees are new, what the short ways serve. On the
 * owning thread, its word odd, under the lock. */
#include "mark/frame.h"
#include "mark/sink.h"
#include "mark/tree.h"
#include "platform/clock.h"

static void no_callback(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    (void)slot;
}

/* Bits are taken again and again: the order of hooks is that of generations. */
static void adopt_hooks(gnomon__thread *t, uint32_t bits)
{
    uint32_t n = 0;
    for (uint32_t rest = bits, rank = 0; rest; rest &= rest - 1, rank++) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest), at = n++;
        const gnomon__sink *s = &gnomon__sinks[bit];
        while (at && (int32_t)(t->trees[t->hooks[at - 1].index].generation -
                               s->generation) > 0) {
            t->hooks[at] = t->hooks[at - 1];
            at--;
        }
        t->hooks[at] = (gnomon__hook){1u << bit,
                                      (uint16_t)rank,
                                      (uint16_t)bit,
                                      s->start ? s->start : no_callback,
                                      s->stop ? s->stop : no_callback,
                                      s->self};
    }
    t->hook_count = n;
    t->hook_bits = bits;
    if (n < GNOMON__BITS)
        t->hooks[n].bit = 0; /* matches no scope */
}

/* The frames of scopes that hooks saw stop belonging to hooks that are gone;
 * trees that were remade know nothing of open scopes. */
void gnomon__thread_adopt(gnomon__thread *t)
{
    uint32_t changed = 0, ready = 0;
    gnomon__count_next(&gnomon__here, t, GNOMON__NO_CELL);
    uint32_t old_hot = t->hot_bit;
    if (old_hot < GNOMON__BITS)
        t->trees[old_hot].cursor = t->hot;
    t->hot_bit = GNOMON__BITS;
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++) {
        const gnomon__sink *s = &gnomon__sinks[bit];
        uint32_t generation = s->kind ? s->generation : 0;
        if (t->trees[bit].generation != generation) {
            changed |= 1u << bit;
            if (t->trees[bit].chunks)
                gnomon__tree_drop(t, bit);
            if (s->kind == GNOMON__SINK_TREE) {
                if (!gnomon__tree_make(t, bit, generation)) {
                    gnomon__trouble(t, lost_scopes);
                    continue;
                }
            } else {
                store_relaxed(&t->trees[bit].generation, generation);
            }
        }
        if (s->kind)
            ready |= 1u << bit;
    }
    gnomon__frames_forget(t, changed);
    t->stale = load_relaxed(&t->seq);
    t->tree_bits = gnomon__tree_bits;
    t->time_bits = gnomon__time_bits;
    uint32_t trees = ready & t->tree_bits;
    gnomon__cursor hot = {0, 0};
    if (trees) {
        t->hot_bit = (uint32_t)__builtin_ctz(trees);
        hot = t->trees[t->hot_bit].cursor;
    }
    gnomon__cursor_set(t, &t->hot, hot.current);
    t->hot.last = hot.last;
    uint32_t attached = ready & gnomon__sink_attached_bits();
    store_relaxed(&t->attached, attached);
    gnomon__frames_fit(t);
    store_relaxed(&t->gate, attached & gnomon__sink_open_bits());
    store_relaxed(&t->fast,
                  trees && gnomon__clock_kind() == GNOMON__CLOCK_COUNTER
                      ? 1u << t->hot_bit
                      : GNOMON__NEVER);
    adopt_hooks(t, attached & ~t->tree_bits);
    /* The short ways: hooks without times, beside one tree at most, and no
     * fences. */
    uint32_t hooks = attached & ~(t->tree_bits | t->time_bits);
    uint32_t tree = t->fast & ~GNOMON__NEVER;
    uint32_t all = hooks == attached && hooks ? hooks : GNOMON__NEVER;
    if (load_relaxed(&gnomon__needs_fence)) {
        hooks = tree = 0;
        all = GNOMON__NEVER;
    }
    store_relaxed(&t->plain, hooks | tree);
    store_relaxed(&t->all_hooks, all);
    store_relaxed(&t->one_hook, t->hook_count == 1
                                    ? gnomon__frame_pair(all, all)
                                    : GNOMON__NEVER);
    store_relaxed(&t->stage_key, gnomon__sink_stage_key());
    store_release(&t->epoch, load_relaxed(&gnomon__sink_epoch));
}

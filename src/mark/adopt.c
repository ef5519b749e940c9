/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread takes what control calls have changed: which bits are recorders
 * and which are hooks, which trees are new, in which segment it records, and
 * what the hot path serves. On the owning thread, its word odd, under the
 * lock. */
#include "mark/foreign.h"
#include "mark/frame.h"
#include "mark/recorder.h"
#include "mark/segment.h"
#include "mark/observer.h"
#include "mark/tape.h"
#include "platform/clock.h"

static void no_callback(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    (void)slot;
}

/* Bits are reused, so hooks are sorted by generation: that is the order of
 * attaching. */
static void adopt_hooks(gnomon__thread *t, uint32_t bits)
{
    uint32_t n = 0;
    for (uint32_t rest = bits, rank = 0; rest; rest &= rest - 1, rank++) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest), at = n++;
        const gnomon__observer *s = &gnomon__observers[bit];
        while (at && (int32_t)(t->generations[t->hooks[at - 1].index] -
                               s->generation) > 0) {
            t->hooks[at] = t->hooks[at - 1];
            at--;
        }
        t->hooks[at] =
            (gnomon__hook){1u << bit,
                           (uint16_t)rank,
                           (uint16_t)bit,
                           s->hook->start ? s->hook->start : no_callback,
                           s->hook->stop ? s->hook->stop : no_callback,
                           s->self};
    }
    t->hook_count = (uint16_t)n;
    t->hook_bits = bits;
}

/* ---- The hot tree ---------------------------------------------------------- */

static void park_hot_tree(gnomon__thread *t)
{
    if (t->hot_bit < GNOMON__BITS && t->states[t->hot_bit]) {
        gnomon__tree *tree = gnomon__tree_of(t, t->hot_bit);
        store_release(&tree->cursor.current, t->hot.current);
        tree->cursor.last = t->hot.last;
        tree->guess = 0; /* it is from before the tree was hot */
    }
    /* Reader: gnomon_thread_stack. The tree's own cursor is set before
     * hot_bit says that the tree is not hot. */
    store_release(&t->hot_bit, GNOMON__BITS);
    store_relaxed(&t->hot.current, 0);
    t->hot.last = 0;
}

uint32_t gnomon__thread_fast(const gnomon__thread *t)
{
    return t->hot_bit < GNOMON__BITS && !t->short_bits &&
                   gnomon__clock_kind() == GNOMON__CLOCK_COUNTER
               ? 1u << t->hot_bit
               : GNOMON__NEVER;
}

/* The hot tree is the only one with an open window. With several open there
 * is none; with none open it is any tree that has scopes to end. */
static void choose_hot_tree(gnomon__thread *t)
{
    uint32_t open = t->tree_bits & load_relaxed(&t->open_bits);
    uint32_t one = open ? open : t->tree_bits;
    int has_counter = gnomon__clock_kind() == GNOMON__CLOCK_COUNTER;
    uint32_t tree_only = 0;
    if (one && !(open & (open - 1))) {
        store_relaxed(&t->hot_bit, (uint16_t)__builtin_ctz(one));
        gnomon__tree *tree = gnomon__tree_of(t, t->hot_bit);
        t->hot.last = tree->cursor.last;
        store_release(&t->hot.current, tree->cursor.current);
        /* What begins in it begins inside what is open in others. */
        gnomon__trees_inside(t, t->tree_bits & ~(1u << t->hot_bit));
    } else if (open && has_counter && !t->short_bits) {
        tree_only = t->tree_bits | t->end_only_bits;
    }
    gnomon__index_use(t);
    store_relaxed(&t->tree_only, tree_only);
    store_relaxed(&t->fast, gnomon__thread_fast(t));
}

/* The tape beside the hot tree, of which the end of a scope writes the record itself:
 * the first one whose window is open. Else the recorder whose `ended` it calls. */
static void choose_end_only(gnomon__thread *t)
{
    uint32_t open = load_relaxed(&t->open_bits);
    t->taped = t->ender = 0;
    if (load_relaxed(&t->fast) == GNOMON__NEVER)
        return;
    gnomon__each_bit(bit, t->end_only_bits & open) {
        int is_tape = t->tape_bits >> bit & 1;
        if (t->taped || (is_tape ? gnomon__tape_pools[bit].tree != t->hot_bit
                                 : !gnomon__recorder_of(t, bit)->ended))
            continue;
        t->taped = is_tape ? 1u << bit : 0;
        t->ender = 1u << bit;
        t->beside = gnomon__at(t, t->states[bit]);
    }
}

/* What hook.c serves: hooks without times, with at most one tree, where no
 * fence is needed. */
static void choose_hook_ways(gnomon__thread *t)
{
    uint32_t attached = load_relaxed(&t->attached);
    uint32_t hooks = attached & ~(t->recorder_bits | t->time_bits);
    uint32_t tree = load_relaxed(&t->fast) & ~GNOMON__NEVER;
    uint32_t all = hooks == attached && hooks ? hooks : GNOMON__NEVER;
    if (load_relaxed(&gnomon__needs_fence) || t->short_bits) {
        hooks = tree = 0;
        all = GNOMON__NEVER;
    }
    uint32_t others = t->tree_bits & (t->tree_bits - 1) ? GNOMON__NEVER : 0;
    store_relaxed(&t->plain, hooks | tree | others);
    store_relaxed(&t->all_hooks, all);
    store_relaxed(&t->one_hook, t->hook_count == 1
                                    ? gnomon__frame_pair(all, all)
                                    : GNOMON__NEVER);
}

/* ---- The configuration ------------------------------------------------------- */

/* Clears `bits` in the open nodes of trees that stay: the observers that
 * have these bits now did not see those scopes begin. */
static void forget_seen(gnomon__thread *t, uint32_t bits)
{
    gnomon__each_bit(bit, bits ? t->tree_bits & ~bits : 0) {
        uint32_t node = gnomon__tree_of(t, bit)->cursor.current;
        for (; node; node = gnomon__front_at(t, node)->parent) {
            gnomon__front *n = gnomon__front_at(t, node);
            store_relaxed(&n->seen, n->seen & ~bits);
        }
    }
}

/* Makes the thread's copy of the configuration. Frames lose the bits of
 * hooks that are gone, and recorders that were made anew know no open scope. */
static void adopt(gnomon__thread *t)
{
    uint32_t changed = 0, ready = 0, recorders = 0, trees = 0, times = 0;
    t->short_bits = t->tape_bits = 0;
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++) {
        const gnomon__observer *s = &gnomon__observers[bit];
        const gnomon__recorder *r = s->recorder;
        const uint32_t generation = s->generation, one = 1u << bit;
        if (t->generations[bit] != generation) {
            changed |= one;
            store_relaxed(&t->generations[bit], 0);
            if (t->states[bit])
                gnomon__recorder_of(t, bit)->drop(t, bit);
            if (generation && r && !r->adopt(t, bit, generation)) {
                t->short_bits |= one;
                continue;
            }
            if (generation && r)
                ((gnomon__state *)gnomon__at(t, t->states[bit]))->recorder = r;
            store_release(&t->generations[bit], generation);
        }
        if (!generation)
            continue;
        ready |= one;
        recorders |= r ? one : 0;
        trees |= r && r->is_tree ? one : 0;
        t->tape_bits |= r && r->is_tape ? one : 0;
        times |= r || (s->hook->wants & GNOMON_WANT_TIMES) ? one : 0;
    }
    gnomon__frames_forget(t, changed);
    forget_seen(t, changed);
    t->stale = load_relaxed(&t->seq);
    store_relaxed(&t->recorder_bits, recorders);
    store_relaxed(&t->tree_bits, trees);
    store_relaxed(&t->end_only_bits, recorders & ~trees);
    store_relaxed(&t->time_bits, times);
    store_relaxed(&t->attached, ready & gnomon__attached_bits);
    gnomon__frames_fit(t);
    adopt_hooks(t, load_relaxed(&t->attached) & ~t->recorder_bits);
    t->epoch = load_relaxed(&gnomon__observer_epoch);
}

/* ---- Settling ---------------------------------------------------------------- */

void gnomon__thread_take_foreign_ends(gnomon__thread *t)
{
    gnomon__count_pending(t);
    park_hot_tree(t);
    if (gnomon__has_foreign_ends(t))
        gnomon__foreign_take(t, 0);
}

/* Tapes whose tree found no memory for this thread: they would lose each event, which is
 * counted as lost already. */
static uint32_t tapes_alone(const gnomon__thread *t)
{
    uint32_t alone = 0;
    gnomon__each_bit(bit, t->short_bits ? t->tape_bits : 0) {
        uint32_t tree = load_relaxed(&gnomon__tape_pools[bit].tree);
        alone |= (t->short_bits >> tree & 1) << bit;
    }
    return alone;
}

void gnomon__thread_take_changes(gnomon__thread *t)
{
    gnomon__thread_take_foreign_ends(t);
    if (t->segment != gnomon__segment)
        gnomon__thread_cut(t);
    store_relaxed(&t->shut, 0);
    t->was_shut = 0;
    if (t->epoch != load_relaxed(&gnomon__observer_epoch) || t->short_bits)
        adopt(t);
    store_relaxed(&t->open_bits, load_relaxed(&t->attached) &
                                     load_relaxed(&gnomon__open_bits) &
                                     ~tapes_alone(t));
    choose_hot_tree(t);
    choose_end_only(t);
    choose_hook_ways(t);
    gnomon__tls_set(t);
    if (gnomon__has_foreign_ends(t))
        gnomon__thread_shut(t);
}

static void settle_once(gnomon__thread *t)
{
    gnomon__lock();
    int is_served = t->leave_serial == gnomon__leave_serial;
    t->leave_serial = gnomon__leave_serial;
    gnomon__thread_take_changes(t);
    uint32_t leaving = is_served ? 0 : gnomon__leaving_bits & ~t->recorder_bits;
    gnomon__thread_watch(t);
    gnomon__unlock();
    if (leaving)
        gnomon__frames_finish(t, leaving);
}

/* Ends from other threads that hooks must see are made without the lock, as
 * hooks are never called under it. */
void gnomon__thread_settle_slow(gnomon__thread *t)
{
    settle_once(t);
    if (!gnomon__has_foreign_ends(t))
        return;
    gnomon__foreign_take(t, 1);
    settle_once(t);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cuts: from one moment on all that is marked belongs to the next segment.
 *
 * Each thread has two banks. A cut shuts the short ways of all threads, so that
 * each next mark takes the slow path, and waits until every thread was seen
 * outside a mark, or in a callback, where its recorders rest. A thread that comes
 * first goes on in its other bank by itself; for all others it is done here. So
 * nobody waits for a report, and the bank at rest is read without a copy in
 * motion. */
#include "mark/segment.h"

#include "mark/foreign.h"
#include "mark/sink.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/os.h"

#define PATIENCE_NS 1000000000ull
#define LOCKED_THREADS 64u

uint32_t gnomon__segment = 1;
uint64_t gnomon__segment_begin;

static uint64_t first_mark; /* of the open segment; one too high: 0 is "none" */

void gnomon__segment_mark(uint32_t segment, uint64_t ticks)
{
    uint64_t seen = load_relaxed(&first_mark);
    ticks++;
    if (segment != load_relaxed(&gnomon__segment))
        return; /* a mark beside a cut: the segment has ended */
    while ((!seen || ticks < seen) && !cas_acq_rel(&first_mark, &seen, ticks))
        ;
}

int gnomon__segment_first(uint64_t *ticks)
{
    uint64_t first = load_acquire(&first_mark);
    uint64_t begin = load_relaxed(&gnomon__segment_begin);
    *ticks = first - 1 > begin ? first - 1 : begin; /* a mark beside the cut */
    return first != 0;
}

void gnomon__segments_forget(void)
{
    store_relaxed(&gnomon__segment, 1);
    store_relaxed(&gnomon__segment_begin, 0);
    store_relaxed(&first_mark, 0);
}

void gnomon__thread_cut(gnomon__thread *t)
{
    uint32_t rest = t->recorder_bits;
    /* What is pending is the last of the bank that comes to rest. */
    gnomon__count_pending(t);
    for (; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        if (gnomon__recorder_of(t, bit)->cut)
            gnomon__recorder_of(t, bit)->cut(t, bit);
    }
    store_release(&t->bank, !t->bank); /* after what a reader finds there */
    fence_release(); /* and before the other one loses what is open */
    for (rest = t->tree_bits; rest; rest &= rest - 1)
        gnomon__tree_cut_over(t, (uint32_t)__builtin_ctz(rest));
    store_relaxed(&t->base, t->ground + t->bank * sizeof(gnomon__front));
    t->segment_begin = gnomon__segment_begin;
    for (rest = t->tree_bits; rest; rest &= rest - 1)
        gnomon__tree_shorten_at_cut(t, (uint32_t)__builtin_ctz(rest));
    store_release(&t->segment, gnomon__segment);
}

/* Outside a mark, or in a callback: nothing of its recorders changes until it has
 * settled, which takes the lock. After the barrier. */
static int is_resting(const gnomon__thread *t)
{
    return gnomon__is_outside(t) || (load_acquire(&t->in_hook) & 1);
}

/* Under the lock, but for its pauses. 0: it has been inside one mark for long. */
static int cut_thread(gnomon__thread *t, uint64_t deadline)
{
    uint64_t pause = 1000;
    while (t->segment != gnomon__segment && t->recorder_bits &&
           !is_resting(t)) {
        gnomon__unlock();
        int is_late = gnomon__os_monotonic_ns() > deadline;
        gnomon__os_sleep_ns(pause);
        pause = pause < 1000000 ? 2 * pause : pause;
        gnomon__lock();
        if (is_late)
            return 0;
    }
    if (t->segment != gnomon__segment) {
        if (gnomon__is_outside(t))
            gnomon__thread_take_told(t);
        gnomon__thread_cut(t);
    }
    return 1;
}

uint32_t gnomon__cut(uint64_t ticks)
{
    uint32_t left = 0;
    gnomon__lock();
    store_relaxed(&gnomon__segment, gnomon__segment + 1);
    store_relaxed(&gnomon__segment_begin, ticks);
    store_relaxed(&first_mark, 0);
    uint32_t total = gnomon__thread_total;
    for (uint32_t i = 0; i < total; i++)
        gnomon__thread_shut(gnomon__threads[i]);
    gnomon__unlock();
    if (!total)
        return 0;
    gnomon__sink_barrier();
    uint64_t deadline = gnomon__os_monotonic_ns() + PATIENCE_NS;
    for (uint32_t i = 0; i < total;) {
        gnomon__lock();
        do
            left += !cut_thread(gnomon__threads[i], deadline);
        while (++i < total && i % LOCKED_THREADS);
        gnomon__unlock();
    }
    return left;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A cut: the thread records in its other bank from now on. Under the lock. */
#include "mark/recorder.h"
#include "mark/segment.h"
#include "mark/tls.h"
#include "mark/tree.h"

void gnomon__thread_cut(gnomon__thread *t)
{
    /* The pending cell belongs to the bank that comes to rest. */
    gnomon__count_pending(t);
    gnomon__each_bit(bit, t->recorder_bits)
        if (gnomon__recorder_of(t, bit)->cut)
            gnomon__recorder_of(t, bit)->cut(t, bit);
    store_release(&t->bank, !t->bank); /* after what a reader finds there */
    store_relaxed(&t->base, t->ground + t->bank * sizeof(gnomon__front));
    t->segment_begin = gnomon__segment_begin;
    gnomon__each_bit(bit, t->tree_bits)
        gnomon__tree_shorten(t, bit, 0, GNOMON__MOST_CLOSED, 1);
    store_release(&t->segment, gnomon__segment);
}

void gnomon__thread_keep_up_slow(gnomon__thread *t)
{
    gnomon__lock();
    gnomon__count_pending(t);
    if (t->segment != gnomon__segment)
        gnomon__thread_cut(t);
    gnomon__index_use(t);
    gnomon__tls_set(t);
    gnomon__unlock();
}

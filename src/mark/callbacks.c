/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* Calls the hooks of a scope: start in the order of attaching, stop in
 * reverse. */
#include "mark/callbacks.h"

#include "mark/hot.h"

HOT void gnomon__hooks_start(const gnomon__thread *t, const gnomon_frame *f,
                             uint32_t live, uint64_t *slots)
{
    int all = live == t->hook_bits, kept = *t->error;
    for (uint32_t i = 0; i < t->hook_count; i++) {
        const gnomon__hook *h = &t->hooks[i];
        if (unlikely(!(live & h->bit)))
            continue;
        uint64_t *slot =
            slots + (likely(all) ? h->rank : gnomon__hook_slot(live, h->bit));
        *slot = 0;
        h->start(h->self, f, slot);
    }
    *t->error = kept;
}

HOT void gnomon__hooks_stop(const gnomon__thread *t, const gnomon_frame *f,
                            uint32_t hooks, uint32_t live, uint64_t *slots)
{
    int all = hooks == t->hook_bits, kept = *t->error;
    for (uint32_t i = t->hook_count; i-- > 0;) {
        const gnomon__hook *h = &t->hooks[i];
        if (live & hooks & h->bit)
            h->stop(h->self, f,
                    slots + (all ? h->rank : gnomon__hook_slot(hooks, h->bit)));
    }
    *t->error = kept;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls the hooks of a scope: start in the order of attaching, stop in
 * reverse. */
#include "mark/callbacks.h"

#include "mark/hot.h"

void gnomon__hooks_start(const gnomon__thread *t, const gnomon_frame *f,
                         uint32_t live, uint64_t *slots)
{
    int kept = *t->error;
    for (uint32_t i = 0; i < t->hook_count; i++) {
        const gnomon__hook *h = &t->hooks[i];
        uint64_t *slot = slots + gnomon__hook_slot(live, h->bit);
        if (!(live & h->bit))
            continue;
        *slot = 0;
        h->start(h->self, f, slot);
    }
    *t->error = kept;
}

void gnomon__hooks_stop(const gnomon__thread *t, const gnomon_frame *f,
                        uint32_t hooks, uint32_t live, uint64_t *slots)
{
    int kept = *t->error;
    for (uint32_t i = t->hook_count; i-- > 0;) {
        const gnomon__hook *h = &t->hooks[i];
        if (live & hooks & h->bit)
            h->stop(h->self, f, slots + gnomon__hook_slot(hooks, h->bit));
    }
    *t->error = kept;
}

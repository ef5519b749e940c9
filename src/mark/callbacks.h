/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calling hooks: the macro that calls one callback of each, and the word
 * that says that a callback may be running. */
#ifndef GNOMON_MARK_CALLBACKS_H
#define GNOMON_MARK_CALLBACKS_H

#include "mark/observer.h"
#include "platform/os.h"

/* Marks leave errno as it was, whatever callbacks do to it: */
#define GNOMON__KEEP_ERRNO(t, call) \
    do { \
        int gnomon__errno = *(t)->error; \
        call; \
        *(t)->error = gnomon__errno; \
    } while (0)

/* Turns in_hook odd and returns which of `bits` may be called: none in a child that was
 * made without the fork handlers. Either this sees that a hook is gone, or whoever
 * detaches it sees the odd word and waits. Pairs with the barrier in
 * gnomon__observer_detach. The value is new
 * each time, as one mark may call hooks several times and write to trees in
 * between. */
static inline uint32_t gnomon__hooks_enter(gnomon__thread *t,
                                           const uint32_t *live, uint32_t bits)
{
    store_release(&t->in_hook, (load_relaxed(&t->in_hook) + 1) | 1);
    fence_signal();
    if (unlikely(load_relaxed(&gnomon__needs_fence)))
        fence_full();
    int is_childs = gnomon__os_runs_in_copy() && gnomon__os_runs_in_child();
    return is_childs ? 0 : bits & load_relaxed(live);
}

static inline void gnomon__hooks_leave(gnomon__thread *t)
{
    store_relaxed(&t->in_hook, (load_relaxed(&t->in_hook) + 1) & ~1u);
    fence_release(); /* before what is written now, and before `shut` is read */
}

/* Calls `callback` of those hooks in `bits` that have one. `live` as above. */
#define GNOMON__HOOKS_CALL(t, live, bits, callback, event) \
    do { \
        uint32_t gnomon__rest = gnomon__hooks_enter(t, live, bits); \
        for (; gnomon__rest; gnomon__rest &= gnomon__rest - 1) { \
            const gnomon__observer *gnomon__to = \
                &gnomon__observers[__builtin_ctz(gnomon__rest)]; \
            if (gnomon__to->hook->callback) \
                GNOMON__KEEP_ERRNO( \
                    t, gnomon__to->hook->callback(gnomon__to->self, event)); \
        } \
        gnomon__hooks_leave(t); \
    } while (0)

/* Which slot belongs to a bit: how many of `hooks` are lower bits. */
static inline uint32_t gnomon__hook_slot(uint32_t hooks, uint32_t bit)
{
    uint32_t n = 0;
    for (hooks &= bit - 1; hooks; hooks &= hooks - 1)
        n++;
    return n;
}

/* Calls start of the hooks in `live`, in the order of their attaching; and stop,
 * in reverse, of those of `hooks` (which saw the start) that are in `live`. */
void gnomon__hooks_start(const gnomon__thread *t, const gnomon_frame *f,
                         uint32_t live, uint64_t *slots);
void gnomon__hooks_stop(const gnomon__thread *t, const gnomon_frame *f,
                        uint32_t hooks, uint32_t live, uint64_t *slots);

/* The time now in ns if a hook in `m` wants times, else 0. */
uint64_t gnomon__now_for(const gnomon__thread *t, uint32_t m);

/* The number of the step under way, for callbacks. Written under the lock of
 * steps. */
GNOMON__DATA uint64_t gnomon__step_under_way;
/* How many steps of the open stage are over. */
GNOMON__DATA uint64_t gnomon__steps_over;

#endif

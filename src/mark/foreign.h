/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that end on another thread than they began on, as those of a
 * coroutine that has moved. A tree has one writer, so the end is put on a
 * list of the thread of the begin, which ends the scope at its next mark,
 * with the time of the call. Only that scope ends, not those begun inside
 * it. */
#ifndef GNOMON_MARK_FOREIGN_H
#define GNOMON_MARK_FOREIGN_H

#include "mark/thread.h"
#include "mark/tls.h"

/* Puts the end of `token` on its thread's list. Any thread, also one without
 * a state, and in a signal handler. Takes the lock, and perhaps memory.
 * 0: not done, to be counted: there is no such thread, no memory, or the
 * list is full. 1 also where no end is needed: the thread has ended, or all
 * who saw the begin are gone. */
int gnomon__foreign_end(uint64_t token);

/* Whether ends wait on the thread's list. */
static inline int gnomon__has_foreign_ends(const gnomon__thread *t)
{
    return (load_relaxed(&t->foreign.ends) |
            load_relaxed(&t->foreign.below_other)) != 0;
}

/* Makes the ends on the list of `t`; an end of what is not open is counted.
 * On the owner, its word odd, without the lock; or for the owner
 * (gnomon__thread_take_foreign_ends), then ends that hooks or end-only
 * recorders saw stay on the list. */
void gnomon__foreign_take(gnomon__thread *t, int on_owner);

/* Makes the ends on the list that only trees saw. Under the lock, on the
 * owner, or while the owner is outside marks and its next mark takes the
 * lock. */
void gnomon__thread_take_foreign_ends(gnomon__thread *t);

/* Whether `t` is outside marks. Under the lock, with the hot path shut,
 * after the barrier: then nothing of it changes until its next mark, which
 * takes the lock. The caller's own word is odd only because of the lock, as
 * control calls are made outside of marks. */
static inline int gnomon__is_outside(const gnomon__thread *t)
{
    return !(load_acquire(&t->seq) & 1) || t == gnomon__tls_now()->thread;
}

/* Makes the waiting ends of all threads that are outside of marks, before
 * they are read. A control call; takes the lock. */
void gnomon__foreign_settle(void);

#endif

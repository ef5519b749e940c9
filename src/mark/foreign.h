/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that end on another thread than they began on, as those of a coroutine
 * that has moved. Trees have one writer each, so the thread of the begin is told,
 * and ends the scope at its next mark, as of the moment at which it was told: it
 * alone, whatever began inside it. */
#ifndef GNOMON_MARK_FOREIGN_H
#define GNOMON_MARK_FOREIGN_H

#include "mark/thread.h"

/* Tells the thread whose token this is. Any thread, also one that has no state, and
 * in a signal handler. Waits for nobody, but takes memory now and then. 0: it is
 * counted, as there is no such thread, no memory, or more waits for that thread than
 * it can have open. 1 also where nobody misses it: the thread has ended, or all who
 * saw the begin are gone. */
int gnomon__foreign_end(uint64_t token);

/* Whether something waits for the thread. */
static inline int gnomon__has_foreign_ends(const gnomon__thread *t)
{
    return (load_relaxed(&t->foreign.ends) |
            load_relaxed(&t->foreign.below_other)) != 0;
}

/* Ends what thread `t` was told of; what is not open is counted. On the owner, its
 * word odd, outside of the lock; or for it (gnomon__thread_take_foreign_ends), then but for
 * what hooks and end-only recorders saw begin, which stays. */
void gnomon__foreign_take(gnomon__thread *t, int on_owner);

/* Ends what other threads have ended of it, in trees alone. Under the lock, on the
 * owner, or while it is outside marks and its next one takes the lock. */
void gnomon__thread_take_foreign_ends(gnomon__thread *t);

/* Under the lock, the short ways shut, after the barrier: nothing of it changes until
 * its next mark has settled, which takes the lock. The caller's own word is odd for
 * the lock alone: control calls come from outside of marks. */
static inline int gnomon__is_outside(const gnomon__thread *t)
{
    return !(load_acquire(&t->seq) & 1) || t == gnomon__tls_now()->thread;
}

/* The same for all threads that are outside of marks: for who looks at them.
 * Control; takes the lock. */
void gnomon__foreign_settle(void);

/* In a forked child, under the lock. */
void gnomon__foreign_forget(void);

#endif

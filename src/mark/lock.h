/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of marks, and the guard against signal handlers: lock.c. */
#ifndef GNOMON_MARK_LOCK_H
#define GNOMON_MARK_LOCK_H

/* Refuses all marks of signal handlers on this thread until gnomon__unguard:
 * by the thread's odd word, or by gnomon__busy where it has no state. No
 * pthread_cancel acts on the thread meanwhile. Nests. */
void gnomon__guard(void);
void gnomon__unguard(void);
int gnomon__busy(void);

/* The one lock: regions, threads, bits, chunks. Nests. Short; never held over a
 * callback, a file, or the loading of a library. Guarded, so that no handler can
 * meet the lock it interrupted, or what is half written under it. */
void gnomon__lock(void);
void gnomon__unlock(void);
/* Around a fork, also one that a signal handler makes at any instruction. Once a
 * fork, however often its handlers are called: the second returns 0 for the others. */
void gnomon__lock_over_fork(void);
int gnomon__unlock_over_fork(void);

#endif

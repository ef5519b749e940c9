/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What marks, and scopes on devices, call in the run above them; `run/`
 * defines these functions. */
#ifndef GNOMON_MARK_UPCALL_H
#define GNOMON_MARK_UPCALL_H

#include <stdint.h>

/* At the first mark of the process: reads $GNOMON once. Any thread; no lock
 * held. 1: it is read; the mask says what the mark does. 0: it cannot be
 * read now, as a signal handler makes the mark, which may neither allocate
 * nor wait: the mark is refused, and the next one asks again. */
int gnomon__upcall_start(void);

/* At exit: waits for the control call under way, which may write a report,
 * and holds up others until _leave. 0: there is nothing to wait for, nor to
 * leave: this thread is inside a control call, or this is a copy or child
 * that makes none. */
int gnomon__upcall_exit_enter(void);
void gnomon__upcall_exit_leave(void);

/* Our thread has work: full blocks of a tape are to be given away, or pages are wanted.
 * On a marking thread; waits for nothing. */
void gnomon__upcall_wake(void);

/* Whether the filter of bit `bit` lets this region pass; without a name, whether its view
 * is of this rank. Under the lock. */
int gnomon__upcall_wants(uint32_t bit, const char *name, const char *category);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What marks, and scopes on devices, ask of the run above them; `run/` defines
 * these. */
#ifndef GNOMON_MARK_UPCALL_H
#define GNOMON_MARK_UPCALL_H

#include <stdint.h>

/* The first mark of the process: reads $GNOMON once. Any thread; no lock held.
 * 1: it is read, or there is nothing to start: the mask says what the mark does.
 * 0: not now, because a signal handler makes it, which may neither allocate nor
 * wait: the mark is to be refused, and the next one asks again. */
int gnomon__upcall_start(void);

/* At exit: waits for the control call that is under way, a report's perhaps, and
 * holds up others until the second. 0: this thread is inside one itself, or of a
 * copy or child that makes none: there is nothing to wait for, nor to leave. */
int gnomon__upcall_exit_enter(void);
void gnomon__upcall_exit_leave(void);

/* Whether the filter of bit `bit` lets this region pass. Under the lock. */
int gnomon__upcall_wants(uint32_t bit, const char *name, const char *category);

#endif

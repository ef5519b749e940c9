/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* step=: marks whose ends are steps. */
#ifndef GNOMON_RUN_STEP_MARKS_H
#define GNOMON_RUN_STEP_MARKS_H

#include "run/run.h"

/* Ends of marks that `pattern` matches are steps from now on, until the spec is
 * detached. Errors are complained of. In control calls, as the next. */
int gnomon__steps_attach(const char *pattern, gnomon__complaints *complaints);
/* Detaches it where a spec has attached nothing else. */
void gnomon__steps_drop_alone(void);

/* A step, in a callback of a mark, on the marking thread (step.c). */
void gnomon__step_in_mark(void);

#endif

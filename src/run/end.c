/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The end of the process: at exit, reports come out, of the process that
 * recorded and of no child that got a copy of it. */
#include <stdlib.h>

#include "platform/error.h"
#include "platform/os.h"
#include "run/run.h"

static int exit_watched;

/* A stage is over with it: what is marked later is not reported twice where the
 * program tears down after us. */
static void at_exit(void)
{
    if (!gnomon__os_is_owner() || gnomon__control_is_inside() ||
        !gnomon__attachments || gnomon__control_enter())
        return;
    gnomon__stage_over();
    gnomon__control_leave();
}

void gnomon__end_watch(void)
{
    if (exit_watched || !gnomon__attachments)
        return;
    exit_watched = 1;
    if (atexit(at_exit))
        gnomon__log("reports will not come at exit: call gnomon_teardown()");
}

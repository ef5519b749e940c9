/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all of the run reads: what is attached, and the views it records under. It lies
 * below the rest, so that who walks a list needs nothing of who changes it. */
#include "platform/process.h"
#include "run/run.h"

gnomon__attachment *gnomon__attachments GNOMON__OF_PROCESS;
gnomon__view *gnomon__views GNOMON__OF_PROCESS;

int gnomon__view_leaves(const gnomon__view *v)
{
    const gnomon__attachment *a = gnomon__attachments;
    while (a && ((a->view != v && a->window != v) || a->leaves))
        a = a->next;
    return a == NULL;
}

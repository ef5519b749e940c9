/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu: what devices did, for which scopes, and when they were idle. The report is in
 * print/gpu.c. */
#include "print/devices.h"

GNOMON__REPORT_PROFILER(
    gpu, gnomon__gpu,
    GNOMON_WANT_TREE | GNOMON_WANT_DEVICE_WORK | GNOMON_WANT_EVENTS,
    "what devices did for which scopes, and when they were idle",
    GNOMON__TEXT_OPTIONS("10", "how many scopes, gaps and steps",
                         "by stream (thread), rank or host"));

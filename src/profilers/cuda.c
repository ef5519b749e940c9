/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda: how long scopes on streams were on their stream. The report is in print/cuda.c. */
#include "print/devices.h"

/* `wait` is read by whoever calls summary: run/summary.c. */
GNOMON__REPORT_PROFILER(
    cuda, gnomon__stream_times, GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
    "what scopes on streams (GNOMON_SCOPE_ON) took on the device",
    GNOMON__PRESET_OPTION("wait", DURATION, "1s",
                          "at a stage's end, the longest wait for the device"),
    GNOMON__ORDER_OPTIONS,
    GNOMON__TABLE_OPTION("limit", INTEGER, "the most rows; else all"),
    GNOMON__FORMAT_OPTION, GNOMON__BY_ANY_OPTION);

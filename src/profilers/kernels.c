/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels: kernels, copies and calls by name. The report is in print/kernels.c. */
#include "print/devices.h"

GNOMON__REPORT_PROFILER(
    kernels, gnomon__kernels, GNOMON_WANT_TREE | GNOMON_WANT_DEVICE_WORK,
    "kernels, copies and calls of devices by name",
    GNOMON__TEXT_OPTIONS("20", "the most rows of each table",
                         "by stream (thread), rank or host"));

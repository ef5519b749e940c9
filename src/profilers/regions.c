/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* regions: the times of each region, with quantiles. The report is in print/regions.c. */
#include "print/regions.h"

GNOMON__REPORT_PROFILER(regions, gnomon__regions, GNOMON_WANT_TREE,
                        "calls, total, self and quantiles of each region",
                        GNOMON__TABLE_OPTIONS, GNOMON__BY_ANY_OPTION);

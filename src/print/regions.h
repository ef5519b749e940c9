/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions, added up over all nodes of the same name and category, for the
 * whole profile or for each group. */
#ifndef GNOMON_PRINT_REGIONS_H
#define GNOMON_PRINT_REGIONS_H

#include "gnomon/report.h"
#include "print/rows.h"

#define GNOMON__REGION_COLUMN_LIST(X) \
    X(GNOMON__REGION_NAME, "name", "Action", TEXT, SHOWN, KEY) \
    X(GNOMON__REGION_CATEGORY, "category", "Category", TEXT, TELLS, KEY) \
    X(GNOMON__REGION_CALLS, "calls", "Calls", COUNT, SHOWN, MADE) \
    X(GNOMON__REGION_TOTAL, "total", "Total", TIME, SHOWN, MADE) \
    X(GNOMON__REGION_PERCENT, "percent", "%", SHARE, SHOWN, MADE) \
    X(GNOMON__REGION_SELF, "self", "Self", TIME, SHOWN, MADE) \
    X(GNOMON__REGION_MEAN, "mean", "Mean", TIME, SHOWN, MADE) \
    X(GNOMON__REGION_MIN, "min", "Min", TIME, EXTRA, MADE) \
    X(GNOMON__REGION_P50, "p50", "p50", TIME, EXTRA, MADE) \
    X(GNOMON__REGION_P90, "p90", "p90", TIME, EXTRA, MADE) \
    X(GNOMON__REGION_P99, "p99", "p99", TIME, SHOWN, MADE) \
    X(GNOMON__REGION_MAX, "max", "Max", TIME, EXTRA, MADE) \
    X(GNOMON__REGION_DEVICE_CALLS, "device_calls", "Device calls", COUNT, \
      EXTRA, MADE) \
    X(GNOMON__REGION_DEVICE, "device", "Device", TIME, EXTRA, MADE) \
    X(GNOMON__REGION_FLOPS, "flops", "FLOPs", COUNT, EXTRA, SUM) \
    X(GNOMON__REGION_BY_DEFINITION, "by_definition", "by definition", COUNT, \
      EXTRA, SUM) \
    X(GNOMON__REGION_HOST_TIMES, "", "", TEXT, HIDDEN, TIMES) \
    X(GNOMON__REGION_DEVICE_TIMES, "", "", TEXT, HIDDEN, TIMES) \
    /* order of its first end; UINT64_MAX: unknown */ \
    X(GNOMON__REGION_FIRST, "", "", ID, HIDDEN, LEAST) \
    /* not 0: some are, so its self time is not known */ \
    X(GNOMON__REGION_RANGES, "", "", COUNT, HIDDEN, MOST)
GNOMON__COLUMN_NUMBERS(GNOMON__REGION_COLUMNS, GNOMON__REGION_COLUMN_LIST);

extern const gnomon__report gnomon__regions;

/* host->rows and host->rows_free. */
int gnomon__region_rows_make(gnomon_rows **out, const gnomon_profile *profile,
                             int by);
void gnomon__region_rows_free(gnomon_rows *rows);

/* Whether an execution of it ended, of which regions has a row. */
bool gnomon__region_has_ended(const gnomon__report_node *node);

/* By number of each node, what its operation computed less what operations below it did,
 * but at least 0: the sum over nodes counts each product once, where a layer, an operator
 * and a kernel all say what they compute. free() it; NULL: no memory. */
uint64_t *gnomon__own_flops(const gnomon_profile *profile);

#endif

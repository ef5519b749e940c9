/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions, added up over all nodes of the same name and category, for the
 * whole profile or for each group. */
#ifndef GNOMON_PRINT_REGIONS_H
#define GNOMON_PRINT_REGIONS_H

#include "gnomon/report.h"
#include "print/rows.h"

enum {
    GNOMON__REGION_NAME,
    GNOMON__REGION_CATEGORY,
    GNOMON__REGION_CALLS,
    GNOMON__REGION_TOTAL,
    GNOMON__REGION_PERCENT,
    GNOMON__REGION_SELF,
    GNOMON__REGION_MEAN,
    GNOMON__REGION_MIN,
    GNOMON__REGION_P50,
    GNOMON__REGION_P90,
    GNOMON__REGION_P99,
    GNOMON__REGION_MAX,
    GNOMON__REGION_DEVICE_CALLS,
    GNOMON__REGION_DEVICE,
    GNOMON__REGION_FLOPS,
    GNOMON__REGION_BY_DEFINITION, /* the part of them */
    GNOMON__REGION_HOST_TIMES, /* gnomon__times_of; hidden from here on */
    GNOMON__REGION_DEVICE_TIMES,
    GNOMON__REGION_FIRST,  /* order of its first end; UINT64_MAX: unknown */
    GNOMON__REGION_RANGES, /* not 0: some are, so its self time is not known */
    GNOMON__REGION_COLUMNS
};

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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Paths added up by name: the rows of `simple`, with more columns, of the whole
 * profile or of each track. */
#ifndef GNOMON_REPORT_ROWS_H
#define GNOMON_REPORT_ROWS_H

#include <stddef.h>

#include "gnomon/profile.h"

typedef struct gnomon__cli_row {
    const char *name; /* the profile's */
    uint32_t track;   /* 0: of all tracks */
    uint32_t reserved;
    uint64_t calls, total_ns, self_ns, mean_ns;
    uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    uint64_t first; /* order of its first end */
} gnomon__cli_row;

enum gnomon__cli_row_key {
    GNOMON__ROW_TOTAL = 0,
    GNOMON__ROW_SELF,
    GNOMON__ROW_MEAN,
    GNOMON__ROW_CALLS,
    GNOMON__ROW_NAME,
    GNOMON__ROW_MIN,
    GNOMON__ROW_P50,
    GNOMON__ROW_P90,
    GNOMON__ROW_P99,
    GNOMON__ROW_MAX
};
/* Their words, in that order; NULL at the end. */
extern const char *const gnomon__cli_row_keys[];

/* The rows of a profile, ordered by track, then by the key: descending, but
 * names. O(nodes) memory. GNOMON_OK, and the caller frees *rows with
 * gnomon__free; GNOMON_ENOMEM. */
int gnomon__cli_rows(const gnomon_profile *profile, int by_track, int key,
                     gnomon__cli_row **rows, size_t *count);

#endif

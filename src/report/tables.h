/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports that the program alone knows: of threads, and as JSON. All
 * are of a profile of one stage, as profilers' are. */
#ifndef GNOMON_REPORT_TABLES_H
#define GNOMON_REPORT_TABLES_H

#include <stddef.h>

#include "report/rank_table.h"
#include "gnomon/profile.h"

typedef struct gnomon__table_request {
    int key;      /* its place among gnomon__cli_row_keys */
    size_t limit; /* rows of each table; SIZE_MAX: all */
} gnomon__table_request;

/* Each returns GNOMON_OK or an error code: the writer's, or GNOMON_ENOMEM. */
int gnomon__table_threads(const gnomon_profile *stage,
                          const gnomon__table_request *request,
                          const gnomon_writer *out);

/* One object; `file` is a member of it, and in each row what `ranks` says. */
int gnomon__table_json(const gnomon_profile *stage, const char *file,
                       const gnomon__rank_table *ranks,
                       const gnomon__table_request *request,
                       const gnomon_writer *out);

#endif

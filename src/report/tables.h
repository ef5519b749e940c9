/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports that the program alone knows: of threads, of steps, and as JSON. All
 * are of a profile of one stage, as profilers' are. */
#ifndef GNOMON_REPORT_TABLES_H
#define GNOMON_REPORT_TABLES_H

#include <stddef.h>

#include "report/rank_table.h"
#include "gnomon/profile.h"

typedef struct gnomon__table_request {
    int key;      /* its place among the words of the table */
    size_t limit; /* rows of each table; SIZE_MAX: all */
} gnomon__table_request;

/* Words of --sort, NULL at the end; of the others gnomon__cli_row_keys. */
extern const char *const gnomon__step_keys[];

/* Each returns GNOMON_OK or an error code: the writer's, or GNOMON_ENOMEM. */
int gnomon__table_threads(const gnomon_profile *stage,
                          const gnomon__table_request *request,
                          const gnomon_writer *out);
int gnomon__table_steps(const gnomon_profile *stage,
                        const gnomon__table_request *request,
                        const gnomon_writer *out);

/* One object; `file` is a member of it, `view` too where it is not NULL, and in each
 * row what `ranks` says. */
int gnomon__table_json(const gnomon_profile *stage, const char *file,
                       const char *view, const gnomon__rank_table *ranks,
                       const gnomon__table_request *request,
                       const gnomon_writer *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several reports as one output: JSON objects become an array, each with its file;
 * csv has its first line once; texts stand apart. */
#ifndef GNOMON_REPORT_JOINED_H
#define GNOMON_REPORT_JOINED_H

#include "gnomon/profile.h"

typedef struct gnomon__joined {
    gnomon_writer base; /* what reports write to */
    gnomon_writer to;
    const char *path; /* of the file that is reported ... */
    const char *view; /* ... which of its views, NULL: the only one ... */
    uint32_t ranks;   /* ... and how many ranks are summed; 0: one alone */
    int is_text, is_csv, is_json;
    int count;     /* reports so far */
    int is_begin;  /* nothing of this one was written yet */
    int is_header; /* skip the first line: a further csv's */
} gnomon__joined;

/* `format` as in a table's options. It must stay where it is. */
void gnomon__joined_begin(gnomon__joined *j, const char *format,
                          const gnomon_writer *to);
/* The next report follows; `is_apart`: after an empty line. */
void gnomon__joined_next(gnomon__joined *j, const char *path, const char *view,
                         uint32_t ranks, int is_apart);
void gnomon__joined_end(gnomon__joined *j);

#endif

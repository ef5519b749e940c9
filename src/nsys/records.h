/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels of a database, of lines of `parse` or of a profile, one by one in their order.
 * None is left out: those without a call or a range say less, and are counted. */
#ifndef GNOMON_NSYS_RECORDS_H
#define GNOMON_NSYS_RECORDS_H

#include "nsys/database.h"
#include "nsys/record.h"

typedef struct gnomon__nsys_records gnomon__nsys_records;

typedef struct gnomon__nsys_records_sums {
    uint64_t kernels, without_call, without_range;
    uint64_t unclosed; /* ranges that have no end */
    uint64_t bad_lines;
} gnomon__nsys_records_sums;

typedef struct gnomon__nsys_asked {
    bool is_pyprofs; /* see chains.h */
    const char
        *domain; /* the only one whose ranges count, "default" that of NVTX's
                           plain calls; NULL: all do */
    const char *step; /* a pattern: which ranges are steps; NULL: none */
} gnomon__nsys_asked;

/* A range that is a step. All of its process that was launched while it was open is of
 * it, on any thread, as backward passes have threads of their own. */
typedef struct gnomon__nsys_step_range {
    int64_t process, begin_ns, end_ns;
    uint32_t number; /* in its process, from 1 */
} gnomon__nsys_step_range;

/* A database, lines or a profile; `path` NULL: lines from standard input. What is asked must live as
 * long. A gnomon__exit after one line; free in any case. */
int gnomon__nsys_records_open(gnomon__nsys_records **out, const char *path,
                              const gnomon__nsys_asked *asked);
/* Valid until the next. NULL at the end, or after an error, of which *status is, after one
 * line. */
gnomon__nsys_record *gnomon__nsys_records_next(gnomon__nsys_records *r,
                                               int *status);
gnomon__nsys_records_sums
gnomon__nsys_records_sum(const gnomon__nsys_records *r);
/* By record.step - 1; and how many processes have some. */
const gnomon__nsys_step_range *
gnomon__nsys_records_steps(const gnomon__nsys_records *r, size_t *processes);
/* Of a profile, which has its own steps. */
bool gnomon__nsys_records_are_own(const gnomon__nsys_records *r);
/* NULL: they are of no database. */
const gnomon__nsys *
gnomon__nsys_records_database(const gnomon__nsys_records *r);
void gnomon__nsys_records_free(gnomon__nsys_records *r);

#endif

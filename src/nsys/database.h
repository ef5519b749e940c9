/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An export of Nsight Systems (`nsys export --type sqlite`, any schema from 2021 on) or a
 * database of nvprof. It is read and never written, nor is anything beside it: no index,
 * no journal.
 *
 * Which tables and columns there are differs from release to release, and tables without
 * rows may be left out. So columns are asked for by name, and one that is not there reads
 * as NULL. */
#ifndef GNOMON_NSYS_DATABASE_H
#define GNOMON_NSYS_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsys/peaks.h"

struct sqlite3;
struct sqlite3_stmt;

typedef struct gnomon__nsys {
    struct sqlite3 *sql;
    const char *path; /* the caller's */
    bool is_nvprof;
    bool has_kernels, has_calls, has_ranges;
} gnomon__nsys;

/* A gnomon__exit: _UNREADABLE, also of what is no such database, after one line that says
 * what to do. */
int gnomon__nsys_open(gnomon__nsys *db, const char *path);
/* Its devices, if all of them are alike. */
gnomon__nsys_device gnomon__nsys_device_of(const gnomon__nsys *db);
/* A line that says why there may be none. GNOMON__EXIT_NOTHING. */
int gnomon__nsys_no_kernels(const gnomon__nsys *db);
void gnomon__nsys_close(gnomon__nsys *db);

/* A select of columns of a table, parted by commas, with `rest` behind, in which they are
 * called c0, c1, ... A column may be "a|b": the first that there is. NULL: no such table, or
 * it cannot be read, which has been logged. Finalized by the caller. */
struct sqlite3_stmt *gnomon__nsys_select(const gnomon__nsys *db,
                                         const char *table, const char *columns,
                                         const char *rest);
/* The text of such a select, in parentheses for others to read from; without the table, of
 * no rows. False: it does not fit. */
bool gnomon__nsys_source(const gnomon__nsys *db, const char *table,
                         const char *columns, char *text, size_t size);
/* The same of a whole select. */
struct sqlite3_stmt *gnomon__nsys_prepare(const gnomon__nsys *db,
                                          const char *text);
/* Whether there is such a table, with a row. */
bool gnomon__nsys_has(const gnomon__nsys *db, const char *table);
/* True at each row. At the end false: a gnomon__exit is in *status, unless it has one. */
bool gnomon__nsys_step(const gnomon__nsys *db, struct sqlite3_stmt *rows,
                       int *status);

/* The signed number of `bytes` bytes at `from`. False: it is not inside. */
bool gnomon__little_endian(const void *blob, size_t size, int64_t from,
                           int bytes, int64_t *out);

#endif

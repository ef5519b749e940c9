/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which ranges were open on the launching thread around each call that launched a kernel.
 *
 * A kernel and its call have a process and a correlation id in common; the id alone is
 * used again by each process. A range is around a call if it began at or before it and
 * ended at or after its end, on the same thread. O(n log n) time, in SQLite's sorter;
 * memory of kernels and of the ranges around them, and not of all ranges. */
#ifndef GNOMON_NSYS_CHAINS_H
#define GNOMON_NSYS_CHAINS_H

#include <stddef.h>

#include "nsys/database.h"
#include "profile/slots.h"

typedef struct gnomon__nsys_thread {
    int64_t process; /* 0 in nvprof's kernels, which do not say it */
    int64_t thread;
} gnomon__nsys_thread;

/* A range that is open inside another one, its `parent`; 0: in none. */
typedef struct gnomon__chain {
    int64_t row; /* of its table */
    uint32_t parent, depth;
} gnomon__chain;

typedef struct gnomon__launch {
    int64_t process, correlation;
    int64_t begin_ns; /* of the call */
    uint32_t chain;   /* the innermost range; 0: none */
    uint32_t thread;  /* from 1; 0: there is no such call */
} gnomon__launch;

typedef struct gnomon__chains {
    gnomon__chain *chains; /* from 1 */
    size_t chain_count, chain_room;
    gnomon__launch *launches; /* from 0 */
    size_t launch_count, launch_room;
    gnomon__slots by_key;         /* of launches */
    gnomon__nsys_thread *threads; /* from 1 */
    size_t thread_count, thread_room;
    uint64_t unclosed; /* ranges without an end, on threads that launched */
} gnomon__chains;

/* `is_pyprofs`: as PyProf, which takes no range that begins or ends with the call.
 * `has_copies`: of calls that copy or set memory, too. A gnomon__exit, after one line. Free
 * in any case. */
int gnomon__chains_make(gnomon__chains *c, const gnomon__nsys *db,
                        bool is_pyprofs, bool has_copies);
void gnomon__chains_free(gnomon__chains *c);

/* NULL: no call of that id is in the file. */
const gnomon__launch *gnomon__chains_find(const gnomon__chains *c,
                                          int64_t process, int64_t correlation);

#endif

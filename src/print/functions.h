/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cProfile's function table, made from a profile: of one action, or of all.
 *
 * A row is a function: file, line and name. Regions without a file, such as actions,
 * have the file "~" and the line 0, as cProfile's built-in functions. Regions that are
 * equal in all three are one row. Ranges, marks and work on a device are left out, as
 * they are on no thread's stack.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_FUNCTIONS_H
#define GNOMON_PRINT_FUNCTIONS_H

#include "print/groups.h"

struct gnomon_profile;

/* Reads all tracks and stages of the profile. Open scopes count as if they ended
 * now. */
typedef struct gnomon__function {
    const char *file;
    const char *name;
    uint32_t line;
    uint32_t caller_count;
    size_t first_caller; /* into `callers` */
    uint64_t nc;         /* calls */
    uint64_t cc;         /* primitive calls: not inside a call of the row */
    uint64_t tt_ns;      /* self */
    uint64_t ct_ns;      /* cumulative: total of the primitive calls */
    uint32_t group;      /* of regions: gnomon__calls_make_by */
    uint32_t reserved;
} gnomon__function;

/* The same of the calls that `caller` made. Here a call is primitive if it is not
 * inside another call from the same row to the same row. */
typedef struct gnomon__caller {
    uint32_t caller; /* rows, from 0 */
    uint32_t callee;
    size_t number; /* in the order of the walk */
    uint64_t nc;
    uint64_t cc;
    uint64_t tt_ns;
    uint64_t ct_ns;
} gnomon__caller;

/* Rows, and the callers of each, in the order in which a depth-first walk over the
 * nodes meets them; siblings are in the order of their first starts. */
typedef struct gnomon__functions {
    gnomon__function *rows;
    gnomon__caller *callers; /* in the order of their callees */
    size_t row_count;
    size_t caller_count;
} gnomon__functions;

/* A profile prepared for tables. It borrows the profile's texts. */
typedef struct gnomon__calls gnomon__calls;

/* O(nodes) memory, O(nodes log nodes) time. GNOMON_ENOMEM: *out is NULL. With groups,
 * which need not outlive the call, regions of several groups are different rows, and of
 * groups of tracks each has tables of its own: what is outermost on its tracks and all
 * below, also what that submitted to other tracks. The first group is chosen. NULL: there
 * are none. */
int gnomon__calls_make(gnomon__calls **out,
                       const struct gnomon_profile *profile,
                       const gnomon__groups *groups);
void gnomon__calls_free(gnomon__calls *calls);
/* From now on it is about this group of tracks. O(its nodes + names). */
void gnomon__calls_choose(gnomon__calls *calls, uint32_t group);

/* The number and names of the tables: one for each name of an action, or of an
 * outermost scope of a thread. Ordered by thread, then by first start. */
size_t gnomon__calls_count(const gnomon__calls *calls);
const char *gnomon__calls_name(const gnomon__calls *calls, size_t which);

#define GNOMON__CALLS_ALL ((size_t)-1)

/* Table number `which`, or the table of the whole profile. O(its nodes); takes no
 * memory. With `root`, a first row of that name is the caller of the outermost ones.
 * Valid until the next call. */
const gnomon__functions *gnomon__calls_table(gnomon__calls *calls, size_t which,
                                             const char *root);

/* ---- .prof files: prof.c --------------------------------------------------------- */

/* The size of a table's file as cProfile writes it, and its bytes. Rows must differ in
 * file, line or name, and every caller must be a row. pstats needs at least one row. */
size_t gnomon__prof_size(const gnomon__functions *table);
void gnomon__prof_write(const gnomon__functions *table, unsigned char *bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many bytes NCCL's kernels move, as its calls say in the payloads of their ranges, else
 * as the operation around them does. A group of calls launches its kernels when it ends, so
 * a kernel has the bytes of all calls of its thread since the launch of the one before. */
#ifndef GNOMON_NSYS_COLLECTIVES_H
#define GNOMON_NSYS_COLLECTIVES_H

#include "gnomon/profile.h"
#include "nsys/database.h"

/* By the conventions of nccl-tests: what algorithm and bus bandwidths are of. The second is
 * 0 where the number of ranks is not known. */
typedef struct gnomon__collective_bytes {
    double bytes, bus_bytes;
} gnomon__collective_bytes;

/* By thread and begin. */
typedef struct gnomon__collective_call {
    int64_t process, thread, begin_ns;
    gnomon__collective_bytes is;
} gnomon__collective_call;

typedef struct gnomon__collective_calls {
    gnomon__collective_call *at;
    size_t count, room;
} gnomon__collective_calls;

/* Begins as zeroes. A gnomon__exit. Free `at` in any case, by gnomon__free. */
int gnomon__collectives_read(gnomon__collective_calls *calls,
                             const gnomon__nsys *db);

/* Of an operation that launched a kernel of NCCL, by the bytes of its inputs; its attribute
 * `ranks` is how many take part. */
gnomon__collective_bytes gnomon__collective_of(const char *kernel,
                                               const gnomon_op_info *op,
                                               uint64_t inputs);

/* "AllReduce" of the name of a kernel of NCCL, into `out`. False: it is none. */
bool gnomon__collective_name(const char *kernel, char out[32]);

#endif

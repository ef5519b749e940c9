/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels that were asked for, one by one in their order, each with what it computes. */
#ifndef GNOMON_NSYS_KERNELS_H
#define GNOMON_NSYS_KERNELS_H

#include "nsys/records.h"
#include "nsys/work.h"

/* Which kernels. Of numbers -1, of texts NULL: any. */
typedef struct gnomon__nsys_filter {
    gnomon__nsys_asked asked;
    int64_t process, device, stream;
    const char
        *range; /* a pattern: a range around its launch has such a name */
} gnomon__nsys_filter;

#define GNOMON__NSYS_ALL \
    { \
        {false, NULL, NULL}, -1, -1, -1, NULL \
    }

/* One that gnomon__nsys_kernels_open has opened. */
typedef struct gnomon__nsys_kernels {
    const gnomon__nsys_filter *filter;
    gnomon__nsys_records *records;
    bool only_reads;   /* set once it is open: nobody asks what they compute */
    gnomon__work work; /* of the kernel at hand */
    uint64_t count, left_out;
    uint64_t ns, flops, bytes; /* of those that were not left out */
    uint64_t unknown;          /* their operation has no figures: "na" */
    uint64_t unsure;           /* on tensor cores or not: "?" */
    int status;                /* a gnomon__exit */
} gnomon__nsys_kernels;

/* As gnomon__nsys_records_open; `filter` must live as long. Free in any case. */
int gnomon__nsys_kernels_open(gnomon__nsys_kernels *k, const char *path,
                              const gnomon__nsys_filter *filter);
/* Valid until the next, as is k->work. NULL at the end, or after an error. */
gnomon__nsys_record *gnomon__nsys_kernel_next(gnomon__nsys_kernels *k);
/* On standard error: what is missing in them. */
void gnomon__nsys_kernels_tell(const gnomon__nsys_kernels *k);
void gnomon__nsys_kernels_free(gnomon__nsys_kernels *k);

#endif

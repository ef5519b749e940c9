/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operations as programs give them: op_contents.c. The table of those that are known:
 * op.c. */
#ifndef GNOMON_MARK_OP_H
#define GNOMON_MARK_OP_H

#include "gnomon.h"
#include "mark/region.h"

#define GNOMON__MAX_OPS (1u << 16)          /* of all regions together */
#define GNOMON__MAX_OPS_BYTES (64ull << 20) /* of their copies */
#define GNOMON__MAX_OP_BYTES (16u << 10)    /* of one copy */
#define GNOMON__MAX_OP_PARTS 256u           /* inputs, and attributes */
#define GNOMON__MAX_OP_RANK 64u
#define GNOMON__MAX_OP_JSON 4096u

/* An operation, which several regions may compute. Never changes, never freed. */
typedef struct gnomon__op {
    gnomon_op_info info;
    uint32_t number; /* 1, 2, ... */
    uint32_t reserved;
} gnomon__op;

/* An operation with what its structs are too short for as 0, and the lists that can be
 * read. The texts are still the caller's. */
typedef struct gnomon__op_view {
    gnomon_op_info info;
    uint32_t input_bytes, attribute_bytes; /* from item to item */
    uint32_t is_bad;                       /* something was left out */
} gnomon__op_view;

/* host->region_op. */
const gnomon_op_info *gnomon__region_op(const gnomon_region *region);

/* 0: there is no operation in it. */
int gnomon__op_view_of(gnomon__op_view *out, const gnomon_op_info *op);

/* Input and attribute `i`. An input whose shape cannot be has rank 0; returns whether it
 * can. */
int gnomon__op_input(gnomon_tensor *out, const gnomon__op_view *of, size_t i);
void gnomon__op_attribute(gnomon_attribute *out, const gnomon__op_view *of,
                          size_t i);

/* Of all that is in it. Also sets is_bad. */
uint64_t gnomon__op_hash(gnomon__op_view *of);
/* Whether `kept`, a copy, has the same contents; not where a part of them cannot be. */
int gnomon__op_is(const gnomon__op_view *of, const gnomon_op_info *kept);
/* The same of an operation as it was given, in less time. */
int gnomon__op_repeats(const gnomon_op_info *op, const gnomon_op_info *kept);

/* op_copy.c: makes a copy in `room`, in which all texts are fit for reports; bad ones are counted
 * in bad_names, and JSON that is none makes *is_bad 1. Returns its bytes. 0: it does not
 * fit. Under the lock. */
size_t gnomon__op_copy(void *room, size_t bytes, const gnomon__op_view *from,
                       uint32_t *is_bad);

#endif

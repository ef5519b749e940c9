/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a kernel computes: floating-point operations and bytes by the formulas of ops/, from
 * the shapes that its operation's marker has; and whether it ran on tensor cores, by its
 * name.
 *
 * An operation's figures stand once, with the first of its kernels; those of a product,
 * once for each product, with the kernels that multiply: a backward pass has two. */
#ifndef GNOMON_NSYS_WORK_H
#define GNOMON_NSYS_WORK_H

#include "gnomon.h"
#include "nsys/record.h"
#include "profile/slots.h"

#define GNOMON__OP_MOST_INPUTS 16
#define GNOMON__OP_MOST_DIMS 8
#define GNOMON__OP_MOST_ATTRIBUTES 12

/* An operation with room for what it is made of. */
typedef struct gnomon__operation {
    gnomon_op_info info;
    gnomon_tensor inputs[GNOMON__OP_MOST_INPUTS];
    gnomon_attribute attributes[GNOMON__OP_MOST_ATTRIBUTES];
    int64_t dims[GNOMON__OP_MOST_INPUTS][GNOMON__OP_MOST_DIMS];
    char json[GNOMON__OP_MOST_ATTRIBUTES][64];
    char name[64];
    bool has_types;        /* torch's sizes have none */
    uint64_t flops, bytes; /* as somebody said; 0: by formula */
} gnomon__operation;

/* Forward operations and what they lend: texts, in one block. Each may have so many of both. */
#define GNOMON__FORWARDS ((size_t)1 << 16)
#define GNOMON__FORWARD_BYTES ((size_t)16 << 20)

typedef struct gnomon__forwards {
    struct gnomon__forward *at;
    size_t count, room;
    char *texts;
    size_t used, text_room;
    gnomon__slots by_key;
} gnomon__forwards;

typedef struct gnomon__work {
    bool is_pyprofs; /* set before the first: it counts what PyProf counts */
    bool op_is_bias;
    const char *mod, *op;
    char *params; /* "M=2,N=3,K=4,fp32," or "na=na," */
    size_t params_room, params_used;
    uint64_t flops, bytes;
    uint64_t input_bytes; /* once for each operation, as those; 0: no types */
    bool is_known;
    const gnomon_op_info *info; /* in `operation`; NULL: nothing tells it */
    const char *tensor_cores;   /* "1", "0" it could have, "-", "?", "na" */
    gnomon__operation operation;
    struct gnomon__last_operation *lasts; /* by thread */
    size_t last_count, last_room;
    gnomon__marker marker;
    /* Forward operations by their number, for the kernels of their backward pass: those
     * of late, then those before; when the first are many the others go. */
    gnomon__forwards forwards[2];
    uint64_t
        without_forward; /* backward kernels of a number that is not there */
} gnomon__work;

/* Of the next kernel, and what is known of the ones before it; a backward kernel without
 * arguments of its own gets the texts of its forward operation. False: no memory. Begins
 * as zeroes. */
bool gnomon__work_of(gnomon__work *w, gnomon__nsys_record *r);
void gnomon__work_free(gnomon__work *w);

/* By the kernel's name alone: "1", "0" it did not, "?" it cannot be told. */
const char *gnomon__tensor_cores_of(const char *kernel);

#endif

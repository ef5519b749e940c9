/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a scope computes, for the profiler nvtx: texts of an operation, and its structured
 * payload. The payload is in nvtx_payload.h, which needs NVTX's headers.
 */
#ifndef GNOMON_PROFILERS_NVTX_OP_H
#define GNOMON_PROFILERS_NVTX_OP_H

#include "gnomon/tool.h"

/* The texts of an operation that the payload has. */
enum gnomon__nvtx_op_text {
    GNOMON__NVTX_OPERATION,
    GNOMON__NVTX_TYPES, /* of the inputs: one if all are alike, else "int8,int4" */
    GNOMON__NVTX_INPUTS,     /* a list as JSON */
    GNOMON__NVTX_ATTRIBUTES, /* an object as JSON */
    GNOMON__NVTX_OP_TEXTS
};

/* One of these, which the caller frees. NULL: no memory. */
char *gnomon__nvtx_op_text(const gnomon_op_info *op, int which);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The marks of gnomon.h. With NO_MARKS they are empty macros, to show what the sites cost
 * without marks. work, after and value are defined in opaque.c, marked_op too. */
#ifndef CODEGEN_MARKS_H
#define CODEGEN_MARKS_H

#ifndef NO_MARKS
#include "gnomon.h"
#ifdef __cplusplus
#include "gnomon/cpp/marks.hpp"
#define MARKED(type, name, given) type name(given)
#define MARKED_OP(name, size) \
    GNOMON_OP_SCOPE(name, gnomon::operation("relu").input("float32", {size}))
#else
#define MARKED_OP(name, size) \
    GNOMON_OP_SCOPE(name, .operation = "relu", \
                    GNOMON_INPUTS(GNOMON_TENSOR("float32", size)))
#endif
#else
#define MARKED_OP(name, size)
#define MARKED(type, name, given)
typedef int gnomon_token;
typedef int gnomon_range;
#define GNOMON_SCOPE(name)
#define GNOMON_FUNCTION()
#define GNOMON_REGION(variable, name, category)
#define GNOMON_MARK(name)
#define GNOMON_COUNTER(name, value)
#define gnomon_begin(region) 0
#define gnomon_begin_op(region, op) 0
#define gnomon_end(token) ((void)(token))
#define gnomon_start(name)
#define gnomon_stop(name)
#define gnomon_range_begin(region) 0
#define gnomon_range_end(range) ((void)(range))
#define gnomon_step()
#endif

#ifdef __cplusplus
extern "C" {
#endif
void work(void);
void after(void);
double value(void);
#ifndef NO_MARKS
extern const gnomon_op_info marked_op;
#endif
#ifdef __cplusplus
}
#endif

#endif

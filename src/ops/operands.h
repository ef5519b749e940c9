/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inputs and attributes of an operation, as formulas read them. */
#ifndef GNOMON_OPS_OPERANDS_H
#define GNOMON_OPS_OPERANDS_H

#include <stdbool.h>

#include "gnomon/profile.h"

#define GNOMON__OPERANDS 8
#define GNOMON__SPATIAL 3 /* the most dims of a kernel */

typedef struct gnomon__operands {
    const gnomon_op_info *op;
    gnomon_tensor at[GNOMON__OPERANDS]; /* the first inputs; rank 0: a number */
    size_t count;
    bool is_backward;
} gnomon__operands;

/* `skip`: how many inputs come before the first operand. False: a size is negative. */
bool gnomon__operands_of(gnomon__operands *out, const gnomon_op_info *op,
                         size_t skip);

/* Products and sums that stop at UINT64_MAX. */
uint64_t gnomon__times(uint64_t a, uint64_t b);
uint64_t gnomon__plus(uint64_t a, uint64_t b);

/* Dim `i`, negative from the last one on; 1 where there is none. */
uint64_t gnomon__dim(const gnomon_tensor *t, int i);
/* Of a number 1. */
uint64_t gnomon__elements(const gnomon_tensor *t);
/* The product of the dims up to `end`, which is negative from the last one on. */
uint64_t gnomon__elements_before(const gnomon_tensor *t, int end);
/* Whether `word` is one of those that blanks part. */
bool gnomon__op_word_in(const char *words, const char *word);
/* For the type names of torch and C; 4 if the name is not known. */
uint64_t gnomon__element_bytes(const char *dtype);
uint64_t gnomon__bytes(const gnomon_tensor *t);
/* Of all operands from `first` on that are tensors. */
uint64_t gnomon__bytes_from(const gnomon__operands *o, size_t first);
/* Of the result of operands that are broadcast. False: their shapes do not fit. */
bool gnomon__broadcast(const gnomon__operands *o, size_t count, int without,
                       uint64_t *elements);

/* An attribute that is a number, true or false, or a list of these, of which one stands
 * for all. `otherwise` where there is none. False: it is something else. */
bool gnomon__op_numbers(const gnomon_op_info *op, const char *key,
                        int64_t otherwise, int64_t *out, size_t count);
int64_t gnomon__op_number(const gnomon_op_info *op, const char *key,
                          int64_t otherwise);
/* How many numbers a list has, of which at most `room` are read; -1: it is none. */
int gnomon__op_list(const gnomon_op_info *op, const char *key, int64_t *out,
                    int room);
/* The JSON of an attribute; NULL: there is none. */
const char *gnomon__op_json(const gnomon_op_info *op, const char *key);

#endif

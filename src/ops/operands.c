/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* Sizes come from strangers: all products saturate, and attributes are read as JSON that
 * was checked where the operation was made, but may be of any kind. */
#include "ops/operands.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---------------------------------------------------------------------- */

uint64_t gnomon__times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t gnomon__plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- Shapes ----------------------------------------------------------------------- */

bool gnomon__operands_of(gnomon__operands *out, const gnomon_op_info *op,
                         size_t skip)
{
    *out = (gnomon__operands){.op = op,
                              .is_backward = op->flags & GNOMON_OP_BACKWARD};
    for (size_t i = skip; i < op->input_count && out->count < GNOMON__OPERANDS;
         i++) {
        gnomon_tensor *t = &out->at[out->count++];
        *t = *gnomon_input_at(op, i);
        for (uint32_t d = 0; d < t->rank; d++)
            if (!t->dims || t->dims[d] < 0)
                return false;
    }
    return true;
}

uint64_t gnomon__dim(const gnomon_tensor *t, int i)
{
    const int at = i < 0 ? (int)t->rank + i : i;
    return at < 0 || at >= (int)t->rank ? 1 : (uint64_t)t->dims[at];
}

uint64_t gnomon__elements_before(const gnomon_tensor *t, int end)
{
    uint64_t all = 1;
    const int stop = end < 0 ? (int)t->rank + end : end;
    for (int d = 0; d < stop && d < (int)t->rank; d++)
        all = gnomon__times(all, (uint64_t)t->dims[d]);
    return all;
}

uint64_t gnomon__elements(const gnomon_tensor *t)
{
    return gnomon__elements_before(t, (int)t->rank);
}

bool gnomon__op_word_in(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; length && (at = strstr(at, word)); at++)
        if ((at == words || at[-1] == ' ') &&
            (!at[length] || at[length] == ' '))
            return !strchr(word, ' ');
    return false;
}

uint64_t gnomon__element_bytes(const char *dtype)
{
    static const char *const types[][2] = {
        /* by size: 1, 2, 4, 8, 16 bytes */
        {"\1", "bool char signed_char unsigned_char int8 uint8 fp8"},
        {"\2", "half float16 fp16 bfloat16 bf16 short int16 uint16 c10::Half "
               "c10::BFloat16"},
        {"\4", "float float32 fp32 tf32 int int32 uint32"},
        {"\10", "double float64 fp64 long long_int int64 uint64 complex64 "
                "c10::complex<float>"},
        {"\20", "complex128 c10::complex<double>"}};
    char word[24];
    size_t length = 0;
    if (dtype && strncmp(dtype, "torch.", 6) == 0)
        dtype += 6;
    if (dtype && (strncmp(dtype, "float8", 6) == 0 ||
                  strncmp(dtype, "c10::Float8", 11) == 0))
        return 1;
    for (; dtype && dtype[length] && length < sizeof word - 1; length++)
        word[length] = dtype[length] == ' ' ? '_' : dtype[length];
    word[length] = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gnomon__op_word_in(types[i][1], word))
            return (uint64_t)*types[i][0];
    return 4;
}

uint64_t gnomon__bytes(const gnomon_tensor *t)
{
    return gnomon__times(gnomon__elements(t), gnomon__element_bytes(t->dtype));
}

uint64_t gnomon__bytes_from(const gnomon__operands *o, size_t first)
{
    uint64_t all = 0;
    for (size_t i = first; i < o->count; i++)
        if (o->at[i].rank)
            all = gnomon__plus(all, gnomon__bytes(&o->at[i]));
    return all;
}

bool gnomon__broadcast(const gnomon__operands *o, size_t count, int without,
                       uint64_t *elements)
{
    int most = 0;
    *elements = 1;
    if (count > o->count)
        count = o->count;
    for (size_t i = 0; i < count; i++)
        if ((int)o->at[i].rank > most)
            most = (int)o->at[i].rank;
    for (int d = 1 + without; d <= most; d++) {
        uint64_t size = 1;
        for (size_t i = 0; i < count; i++) {
            const uint64_t one = gnomon__dim(&o->at[i], -d);
            if (one != 1 && size != 1 && one != size)
                return false;
            size = size == 1 ? one : size;
        }
        *elements = gnomon__times(*elements, size);
    }
    return true;
}

/* ---- Attributes ------------------------------------------------------------------- */

const char *gnomon__op_json(const gnomon_op_info *op, const char *key)
{
    for (size_t i = 0; i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        if (a->key && a->json && strcmp(a->key, key) == 0)
            return a->json;
    }
    return NULL;
}

/* Reads a number and what may stand after it. NULL: it is none. */
static const char *number_of_json(const char *text, int64_t *out)
{
    char *end;
    if (strncmp(text, "true", 4) == 0 || strncmp(text, "false", 5) == 0) {
        *out = *text == 't';
        return text + (*text == 't' ? 4 : 5);
    }
    *out = strtoll(text, &end, 10);
    return end == text || strchr(".eE", *end ? *end : ' ') ? NULL : end;
}

int gnomon__op_list(const gnomon_op_info *op, const char *key, int64_t *out,
                    int room)
{
    const char *json = gnomon__op_json(op, key);
    int count = 0;
    if (!json || strcmp(json, "null") == 0)
        return 0;
    const bool is_list = *json == '[';
    json += is_list;
    while (*(json += strspn(json, " ,")) && *json != ']') {
        int64_t number;
        if (!(json = number_of_json(json, &number)))
            return -1;
        if (count < room)
            out[count] = number;
        count++;
    }
    return count;
}

bool gnomon__op_numbers(const gnomon_op_info *op, const char *key,
                        int64_t otherwise, int64_t *out, size_t count)
{
    const int have = gnomon__op_list(op, key, out, (int)count);
    if (have < 0 || (have > 1 && have != (int)count))
        return false;
    for (int i = have; i < (int)count; i++)
        out[i] = have ? out[0] : otherwise;
    return true;
}

int64_t gnomon__op_number(const gnomon_op_info *op, const char *key,
                          int64_t otherwise)
{
    int64_t number;
    return gnomon__op_numbers(op, key, otherwise, &number, 1) ? number
                                                              : otherwise;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Texts of operations for NVTX. They are made once for each region that computes one.
 */
#include "profilers/nvtx_op.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/report.h"

/* A text as a block of memory. */
typedef struct nvtx_block {
    char *text;
    size_t size, room;
    int is_full; /* no memory: nothing more is written */
} nvtx_block;

static int nvtx_grow(nvtx_block *b, size_t size)
{
    size_t room = 2 * (b->size + size);
    char *text = realloc(b->text, room);
    if (text) {
        b->text = text;
        b->room = room;
    }
    return text != NULL;
}

static int nvtx_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    nvtx_block *b = w->context;
    if (size > b->room - b->size && !b->is_full)
        b->is_full = !nvtx_grow(b, size);
    if (b->is_full || !b->text)
        return GNOMON_ENOMEM;
    memcpy(b->text + b->size, bytes, size);
    b->size += size;
    return GNOMON_OK;
}

/* For a number or a character. */
GNOMON_PRINTF(2, 3)
static int nvtx_print(const gnomon_writer *w, const char *format, ...)
{
    char text[32];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return nvtx_write(w, text, n < 0 ? 0 : (size_t)n);
}

static void nvtx_put(const gnomon_writer *w, const char *text)
{
    nvtx_write(w, text, strlen(text));
}

static void nvtx_put_types(const gnomon_writer *w, const gnomon_op_info *op)
{
    int are_alike = 1;
    for (size_t i = 1; i < op->input_count; i++)
        are_alike &= strcmp(gnomon_input_at(op, i)->dtype,
                            gnomon_input_at(op, 0)->dtype) == 0;
    for (size_t i = 0; i < op->input_count && (i == 0 || !are_alike); i++) {
        if (i)
            nvtx_put(w, ",");
        nvtx_put(w, gnomon_input_at(op, i)->dtype);
    }
}

static void nvtx_put_sizes(const gnomon_writer *w, const int64_t *of,
                           uint32_t count)
{
    nvtx_put(w, "[");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            nvtx_put(w, ", ");
        nvtx_print(w, "%" PRId64, of[i]);
    }
    nvtx_put(w, "]");
}

/* As the JSON form of a profile has them. */
static void nvtx_put_inputs(const gnomon_writer *w, const gnomon_op_info *op)
{
    nvtx_put(w, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        if (i)
            nvtx_put(w, ", ");
        nvtx_put(w, "{\"dtype\": ");
        gnomon_write_json(w, input->dtype);
        nvtx_put(w, ", \"dims\": ");
        nvtx_put_sizes(w, input->dims, input->rank);
        if (input->strides) {
            nvtx_put(w, ", \"strides\": ");
            nvtx_put_sizes(w, input->strides, input->rank);
        }
        nvtx_put(w, "}");
    }
    nvtx_put(w, "]");
}

static void nvtx_put_attributes(const gnomon_writer *w,
                                const gnomon_op_info *op)
{
    nvtx_put(w, "{");
    for (size_t i = 0; i < op->attribute_count; i++) {
        if (i)
            nvtx_put(w, ", ");
        gnomon_write_json(w, gnomon_attribute_at(op, i)->key);
        nvtx_put(w, ": ");
        nvtx_put(w, gnomon_attribute_at(op, i)->json);
    }
    nvtx_put(w, "}");
}

char *gnomon__nvtx_op_text(const gnomon_op_info *op, int which)
{
    nvtx_block b = {NULL, 0, 0, 0};
    const gnomon_writer w = {.struct_size = sizeof w,
                             .write = nvtx_write,
                             .print = nvtx_print,
                             .context = &b};
    if (which == GNOMON__NVTX_OPERATION)
        nvtx_put(&w, op->operation);
    else if (which == GNOMON__NVTX_TYPES)
        nvtx_put_types(&w, op);
    else if (which == GNOMON__NVTX_INPUTS)
        nvtx_put_inputs(&w, op);
    else
        nvtx_put_attributes(&w, op);
    nvtx_write(&w, "", 1); /* the final NUL */
    if (!b.is_full)
        return b.text;
    free(b.text);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The structured payload of a range that computes an operation. Its layout is registered
 * once for each domain. A payload is made once for each region of a domain and kept, so a
 * push has only a pointer to it. Included by nvtx_calls.c alone, as all headers of NVTX.
 *
 * Tools without NVTX's extension of payloads, and headers that are older than it, get
 * the range alone.
 */
#ifndef GNOMON_PROFILERS_NVTX_PAYLOAD_H
#define GNOMON_PROFILERS_NVTX_PAYLOAD_H

#include "profilers/nvtx_tool.h"

#if GNOMON_WITH_NVTX

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_V1) && \
    defined(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/report.h"

enum nvtx_op_text {
    NVTX_OPERATION,
    NVTX_TYPES,      /* of the inputs: one if all are alike, else "int8,int4" */
    NVTX_INPUTS,     /* a list as JSON */
    NVTX_ATTRIBUTES, /* an object as JSON */
    NVTX_OP_TEXTS
};

/* ---- Texts --------------------------------------------------------------------- */

/* `at` NULL: bytes are only counted. */
typedef struct nvtx_output {
    char *at;
    size_t size;
} nvtx_output;

static int nvtx_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    nvtx_output *to = w->context;
    if (to->at)
        memcpy(to->at + to->size, bytes, size);
    to->size += size;
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

static __attribute__((cold, noinline)) void nvtx_put(const gnomon_writer *w,
                                                     const char *text)
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

/* One of the texts, which the caller frees. NULL: no memory. Once for each region, so that
 * it is compiled for size. */
static __attribute__((cold, noinline)) char *
nvtx_op_text(const gnomon_op_info *op, int which)
{
    nvtx_output to = {NULL, 0};
    const gnomon_writer w = {.struct_size = sizeof w,
                             .write = nvtx_write,
                             .print = nvtx_print,
                             .context = &to};
    for (int i = 0; i < 2; i++) {
        if (i && !(to.at = calloc(to.size + 1, 1)))
            return NULL;
        to.size = 0;
        if (which == NVTX_OPERATION)
            nvtx_put(&w, op->operation);
        else if (which == NVTX_TYPES)
            nvtx_put_types(&w, op);
        else if (which == NVTX_INPUTS)
            nvtx_put_inputs(&w, op);
        else
            nvtx_put_attributes(&w, op);
    }
    return to.at;
}

/* ---- Payloads ------------------------------------------------------------------ */

/* What the tool gets. The texts are registered strings: a tool copies the handles. */
typedef struct nvtx_op_fields {
    nvtxStringHandle_t texts[NVTX_OP_TEXTS];
    uint64_t flops, bytes; /* of one execution */
    uint32_t backward;     /* 1: it is of a backward pass */
    uint32_t reserved;
} nvtx_op_fields;

/* Ids of layouts are of the domain, which is ours. */
#define NVTX_OP_LAYOUT (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1)

/* Which tools ask for, by the number of the type. */
#define NVTX_SIZES(type) \
    { \
        sizeof(type), _Alignof(type) \
    }
#define NVTX_TWICE(type) NVTX_SIZES(type), NVTX_SIZES(type) /* signed or not */
static const nvtxPayloadEntryTypeInfo_t
    nvtx_sizes[NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE] = {
        {NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE, sizeof *nvtx_sizes},
        NVTX_TWICE(char),
        NVTX_TWICE(short),
        NVTX_TWICE(int),
        NVTX_TWICE(long),
        NVTX_TWICE(long long),
        NVTX_TWICE(int8_t),
        NVTX_TWICE(int16_t),
        NVTX_TWICE(int32_t),
        NVTX_TWICE(int64_t),
        NVTX_SIZES(float),
        NVTX_SIZES(double),
        NVTX_SIZES(long double),
        NVTX_SIZES(size_t),
        NVTX_SIZES(void *),
        NVTX_SIZES(wchar_t),
        {0, 0}, /* char8_t */
        NVTX_SIZES(uint_least16_t),
        NVTX_SIZES(uint_least32_t)};

typedef uint64_t nvtx_register_schema(nvtxDomainHandle_t domain,
                                      const nvtxPayloadSchemaAttr_t *layout);

/* The id of the layout. 0: the tool knows no payloads. In control calls. */
static inline uint64_t nvtx_register_layout(nvtxDomainHandle_t domain)
{
    static intptr_t payload_slots[NVTX_SLOTS];
    static int is_asked;
#define NVTX_OP_FIELD(kind, word, at) \
    { \
        .type = NVTX_PAYLOAD_ENTRY_TYPE_##kind, .name = word, \
        .offset = offsetof(nvtx_op_fields, at) \
    }
    static const nvtxPayloadSchemaEntry_t fields[] = {
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "operation",
                      texts[NVTX_OPERATION]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "dtype",
                      texts[NVTX_TYPES]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "inputs",
                      texts[NVTX_INPUTS]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "attributes",
                      texts[NVTX_ATTRIBUTES]),
        NVTX_OP_FIELD(UINT64, "flops", flops),
        NVTX_OP_FIELD(UINT64, "bytes", bytes),
        NVTX_OP_FIELD(UINT32, "backward", backward),
    };
#undef NVTX_OP_FIELD
    const nvtxPayloadSchemaAttr_t layout = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
        .name = "gnomon.op",
        .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        .entries = fields,
        .numEntries = sizeof fields / sizeof *fields,
        .payloadStaticSize = sizeof(nvtx_op_fields),
        .schemaId = NVTX_OP_LAYOUT};
    if (domain && !is_asked)
        nvtx_extend(NVTX_EXT_PAYLOAD_MODULEID, NVTX_EXT_PAYLOAD_COMPATID,
                    nvtx_sizes, payload_slots);
    is_asked |= domain != NULL;
    intptr_t slot =
        domain ? payload_slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] : 0;
    return slot ? ((nvtx_register_schema *)slot)(domain, &layout) : 0;
}

typedef struct nvtx_op_payload {
    nvtxPayloadData_t data; /* points to the fields */
    nvtx_op_fields fields;
} nvtx_op_payload;

/* Adds the payload to an event that is to be kept. Without memory, or where the tool
 * registers no strings, the event stays as it is. */
static inline void nvtx_add_payload(nvtxEventAttributes_t *event,
                                    nvtxDomainHandle_t domain, uint64_t layout,
                                    const gnomon_op_info *op)
{
    nvtx_op_payload *p = layout && op ? calloc(1, sizeof *p) : NULL;
    int has_all = p != NULL;
    for (int i = 0; has_all && i < NVTX_OP_TEXTS; i++) {
        char *text = nvtx_op_text(op, i);
        p->fields.texts[i] = text ? nvtx_string(domain, text) : NULL;
        has_all = p->fields.texts[i] != NULL;
        free(text);
    }
    if (!has_all) {
        free(p);
        return;
    }
    p->fields.flops = op->flops;
    p->fields.bytes = op->bytes;
    p->fields.backward = (op->flags & GNOMON_OP_BACKWARD) != 0;
    p->data.schemaId = layout;
    p->data.size = sizeof p->fields;
    p->data.payload = &p->fields;
    event->payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event->reserved0 = 1; /* payloads */
    event->payload.ullValue = (uintptr_t)&p->data;
}

#else

static inline uint64_t nvtx_register_layout(nvtxDomainHandle_t domain)
{
    (void)domain;
    return 0;
}

static inline void nvtx_add_payload(nvtxEventAttributes_t *event,
                                    nvtxDomainHandle_t domain, uint64_t layout,
                                    const gnomon_op_info *op)
{
    (void)event, (void)domain, (void)layout, (void)op;
}

#endif
#endif
#endif

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

#include "profilers/nvtx_op.h"
#include "profilers/nvtx_tool.h"

#if GNOMON_WITH_NVTX

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_V1) && \
    defined(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)

/* What the tool gets. The texts are registered strings: a tool copies the handles. */
typedef struct nvtx_op_fields {
    nvtxStringHandle_t texts[GNOMON__NVTX_OP_TEXTS];
    uint64_t flops, bytes; /* of one execution */
    uint32_t backward;     /* 1: it is of a backward pass */
    uint32_t reserved;
} nvtx_op_fields;

/* Ids of layouts are of the domain, which is ours. */
#define NVTX_OP_LAYOUT (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1)

/* The id of the layout. 0: the tool knows no payloads. */
static inline uint64_t nvtx_register_layout(nvtxDomainHandle_t domain)
{
#define NVTX_OP_FIELD(kind, word, at) \
    { \
        .type = NVTX_PAYLOAD_ENTRY_TYPE_##kind, .name = word, \
        .offset = offsetof(nvtx_op_fields, at) \
    }
    static const nvtxPayloadSchemaEntry_t fields[] = {
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "operation",
                      texts[GNOMON__NVTX_OPERATION]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "dtype",
                      texts[GNOMON__NVTX_TYPES]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "inputs",
                      texts[GNOMON__NVTX_INPUTS]),
        NVTX_OP_FIELD(NVTX_REGISTERED_STRING_HANDLE, "attributes",
                      texts[GNOMON__NVTX_ATTRIBUTES]),
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
    return domain ? nvtxPayloadSchemaRegister(domain, &layout) : 0;
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
    for (int i = 0; has_all && i < GNOMON__NVTX_OP_TEXTS; i++) {
        char *text = gnomon__nvtx_op_text(op, i);
        p->fields.texts[i] =
            text ? nvtxDomainRegisterStringA(domain, text) : NULL;
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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counters that programs register (nvtx3/nvToolsExtCounters.h). Each is a counter of
 * gnomon in the category of its domain; a group has one for each field of its layout.
 * They are never freed, and their number is limited, as for layouts (nvtx_schema.c).
 * Versions before 0x0102 had handles instead of ids, which makes no difference
 * here. */
#include <stddef.h>

#include "inject/nvtx.h"
#include "platform/memory.h"

#if GNOMON__INJECT_EXTENSIONS

typedef struct registered_counter {
    gnomon__inject_entry known;
    gnomon__inject_name *name;
    uint64_t schema;
} registered_counter;

static gnomon__inject_table registered_counters = {
    .what = "counters are registered: the rest are not kept"};

/* Whether the attributes have the field: older ones are shorter. */
#define REACHES(a, field) \
    ((a)->structSize >= offsetof(nvtxCounterAttr_t, field) + sizeof((a)->field))

static uint64_t NVTX_API counter_register(nvtxDomainHandle_t handle,
                                          const nvtxCounterAttr_t *a)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    registered_counter *made = NULL;
    if (a && REACHES(a, name))
        made = gnomon__inject_alloc(sizeof *made);
    if (!made)
        return 0;
    made->name =
        gnomon__inject_name_of(domain, a->name ? a->name : "(null)", 0);
    made->schema = a->schemaId;
    gnomon__inject_entry *known =
        gnomon__inject_add(&registered_counters, &made->known, domain,
                           REACHES(a, counterId) ? a->counterId : 0);
    if (known == &made->known)
        return known->id;
    const registered_counter *there =
        (const registered_counter *)(const void *)known;
    uint64_t id =
        there && there->name == made->name && there->schema == made->schema
            ? known->id
            : 0;
    gnomon__free(made);
    return id;
}

/* NULL: the id is unknown, or gnomon is off. */
static registered_counter *find_registered_counter(nvtxDomainHandle_t handle,
                                                   uint64_t id)
{
    return GNOMON__INJECT_ON()
               ? (registered_counter *)(void *)gnomon__inject_find(
                     &registered_counters, gnomon__inject_domain_at(handle), id)
               : NULL;
}

static void NVTX_API counter_float64(nvtxDomainHandle_t handle, uint64_t id,
                                     double value)
{
    const registered_counter *m = find_registered_counter(handle, id);
    if (m)
        gnomon_counter(&gnomon__inject_regions_of(m->name, 0)->counter, value);
}

static void NVTX_API counter_int64(nvtxDomainHandle_t handle, uint64_t id,
                                   int64_t value)
{
    counter_float64(handle, id, (double)value);
}

static void NVTX_API counter_sample(nvtxDomainHandle_t handle, uint64_t id,
                                    const void *values, size_t size)
{
    const registered_counter *m = find_registered_counter(handle, id);
    if (!m)
        return;
    nvtxPayloadData_t payload = {m->schema, size, values};
    gnomon__inject_payload_sample(gnomon__inject_domain_at(handle),
                                  gnomon__inject_regions_of(m->name, 0),
                                  &payload, 1);
}

static void NVTX_API counter_no_value(nvtxDomainHandle_t handle, uint64_t id,
                                      uint8_t reason)
{
    static const gnomon__inject_field itself = {
        .name = "", .type = NVTX_PAYLOAD_ENTRY_TYPE_INT64};
    const registered_counter *m = reason == NVTX_COUNTER_SAMPLE_ZERO
                                      ? find_registered_counter(handle, id)
                                      : NULL;
    if (!m)
        return;
    gnomon__inject_regions *regions = gnomon__inject_regions_of(m->name, 0);
    const gnomon__inject_schema *group =
        gnomon__inject_schema_of(gnomon__inject_domain_at(handle), m->schema);
    const gnomon__inject_field *f = group ? group->fields : &itself;
    for (; f; f = f->next)
        if (gnomon__inject_is_number(f->type))
            gnomon__inject_field_sample(regions, f, 0);
}

const gnomon__inject_call gnomon__inject_counters[] = {
    GNOMON__INJECT_SLOT(nvtxCounterRegister, counter_register),
    GNOMON__INJECT_SLOT(nvtxCounterSampleInt64, counter_int64),
    GNOMON__INJECT_SLOT(nvtxCounterSampleFloat64, counter_float64),
    GNOMON__INJECT_SLOT(nvtxCounterSample, counter_sample),
    GNOMON__INJECT_SLOT(nvtxCounterSampleNoValue, counter_no_value),
    {.function = NULL}};

#endif

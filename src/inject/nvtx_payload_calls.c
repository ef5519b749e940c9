/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events that consist of structured payloads only, without attributes of the core. A
 * pop has the name of its push. */
#include "inject/nvtx.h"

#if GNOMON__INJECT_EXTENSIONS

static gnomon__inject_regions *take_payloads(gnomon__inject_domain *domain,
                                             gnomon__inject_regions *regions,
                                             const nvtxPayloadData_t *payloads,
                                             size_t count)
{
    if (!GNOMON__INJECT_ON())
        return NULL;
    regions = gnomon__inject_payload_regions(domain, regions, payloads, count);
    gnomon__inject_payload_sample(domain, regions, payloads, count);
    return regions;
}

static void NVTX_API payload_mark(nvtxDomainHandle_t handle,
                                  const nvtxPayloadData_t *payloads,
                                  size_t count)
{
    gnomon__inject_regions *p =
        take_payloads(gnomon__inject_domain_at(handle), NULL, payloads, count);
    if (p)
        gnomon_mark(&p->mark);
}

static int NVTX_API payload_push(nvtxDomainHandle_t handle,
                                 const nvtxPayloadData_t *payloads,
                                 size_t count)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    return gnomon__inject_push(domain,
                               take_payloads(domain, NULL, payloads, count));
}

static int NVTX_API payload_pop(nvtxDomainHandle_t handle,
                                const nvtxPayloadData_t *payloads, size_t count)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    take_payloads(domain, gnomon__inject_innermost(domain), payloads, count);
    return gnomon__inject_pop(domain);
}

static nvtxRangeId_t NVTX_API payload_start(nvtxDomainHandle_t handle,
                                            const nvtxPayloadData_t *payloads,
                                            size_t count)
{
    gnomon__inject_regions *p =
        take_payloads(gnomon__inject_domain_at(handle), NULL, payloads, count);
    return p ? gnomon_range_begin(p->scope) : 0;
}

static void NVTX_API payload_end(nvtxDomainHandle_t handle, nvtxRangeId_t id,
                                 const nvtxPayloadData_t *payloads,
                                 size_t count)
{
    take_payloads(gnomon__inject_domain_at(handle), NULL, payloads, count);
    gnomon_range_end(id);
}

static uint8_t NVTX_API payload_is_on(nvtxDomainHandle_t handle)
{
    (void)handle;
    return load_relaxed(&gnomon_enabled) != 0;
}

static const NvtxFunctionPointer payload_calls[] = {
    [NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        GNOMON__INJECT_CALL(gnomon__inject_schema_register),
    [NVTX3EXT_CBID_nvtxPayloadEnumRegister] =
        GNOMON__INJECT_CALL(gnomon__inject_enum_register),
    [NVTX3EXT_CBID_nvtxMarkPayload] = GNOMON__INJECT_CALL(payload_mark),
    [NVTX3EXT_CBID_nvtxRangePushPayload] = GNOMON__INJECT_CALL(payload_push),
    [NVTX3EXT_CBID_nvtxRangePopPayload] = GNOMON__INJECT_CALL(payload_pop),
    [NVTX3EXT_CBID_nvtxRangeStartPayload] = GNOMON__INJECT_CALL(payload_start),
    [NVTX3EXT_CBID_nvtxRangeEndPayload] = GNOMON__INJECT_CALL(payload_end),
    [NVTX3EXT_CBID_nvtxDomainIsEnabled] = GNOMON__INJECT_CALL(payload_is_on),
};

const gnomon__inject_extension gnomon__inject_payloads = {
    NVTX_EXT_PAYLOAD_MODULEID, sizeof payload_calls / sizeof *payload_calls,
    payload_calls};

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A minimal NVTX tool: it counts the pairs of each thread, also those without a
 * domain. It does not listen to the domain "off". */
#include <stdint.h>
#include <string.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#define EXPORT __attribute__((visibility("default")))

static __thread uint64_t pushes, pops;

static int count_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *e)
{
    (void)domain;
    pushes += e->version == NVTX_VERSION;
    return 0;
}

static int count_pop(nvtxDomainHandle_t domain)
{
    (void)domain;
    pops++;
    return 0;
}

static int count_plain_push(const char *message)
{
    pushes += message != NULL;
    return 0;
}

static int count_plain_pop(void)
{
    pops++;
    return 0;
}

static nvtxDomainHandle_t create(const char *name)
{
    static char handle;
    return strcmp(name, "off") == 0 ? NULL
                                    : (nvtxDomainHandle_t)(void *)&handle;
}

static nvtxStringHandle_t take(nvtxDomainHandle_t domain, const char *text)
{
    static char handle;
    (void)domain, (void)text;
    return (nvtxStringHandle_t)(void *)&handle;
}

EXPORT uint64_t bench_tool_pairs(void);

EXPORT uint64_t bench_tool_pairs(void)
{
    return pushes < pops ? pushes : pops;
}

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable domains, plain;
    unsigned size;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &domains,
                                           &size) ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &plain, &size))
        return 0;
    *domains[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *domains[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)take;
    *domains[NVTX_CBID_CORE2_DomainRangePushEx] =
        (NvtxFunctionPointer)count_push;
    *domains[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)count_pop;
    *plain[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)count_plain_push;
    *plain[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)count_plain_pop;
    return 1;
}

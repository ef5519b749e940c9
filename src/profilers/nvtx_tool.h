/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of NVTX to tools with domains and without. A tool sets the function pointers
 * of NVTX's core, and for NVTX 3 those of domains; the others stay NULL. A tool without
 * domains gets all marks in the default domain, which is NULL, and with inline texts,
 * as strings are registered in domains. One that takes no attributes gets names only.
 */
#ifndef GNOMON_PROFILERS_NVTX_TOOL_H
#define GNOMON_PROFILERS_NVTX_TOOL_H

#include "profilers/nvtx_calls.h"

#if GNOMON_WITH_NVTX

#include <nvtx3/nvToolsExt.h>

#define NVTX_TOOL(function) \
    NVTX_VERSIONED_IDENTIFIER(nvtxGlobals).function##_impl_fnptr

/* Then NULL from nvtxDomainCreateA is the tool's answer. */
static inline int nvtx_has_domains(void)
{
    return NVTX_TOOL(nvtxDomainCreateA) != NULL;
}

static inline int nvtx_has_core(void)
{
    return (NVTX_TOOL(nvtxRangePushEx) || NVTX_TOOL(nvtxRangePushA)) &&
           NVTX_TOOL(nvtxRangePop);
}

static inline void nvtx_push(nvtxDomainHandle_t domain,
                             const nvtxEventAttributes_t *event)
{
    if (__builtin_expect(domain != NULL, 1))
        nvtxDomainRangePushEx(domain, event);
    else if (NVTX_TOOL(nvtxRangePushEx))
        NVTX_TOOL(nvtxRangePushEx)(event);
    else
        NVTX_TOOL(nvtxRangePushA)(event->message.ascii);
}

static inline void nvtx_pop(nvtxDomainHandle_t domain)
{
    if (__builtin_expect(domain != NULL, 1))
        nvtxDomainRangePop(domain);
    else
        NVTX_TOOL(nvtxRangePop)();
}

static inline uint64_t nvtx_range_start(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *event)
{
    if (domain)
        return nvtxDomainRangeStartEx(domain, event);
    if (NVTX_TOOL(nvtxRangeStartEx))
        return NVTX_TOOL(nvtxRangeStartEx)(event);
    return NVTX_TOOL(nvtxRangeStartA)
               ? NVTX_TOOL(nvtxRangeStartA)(event->message.ascii)
               : 0;
}

static inline void nvtx_range_end(nvtxDomainHandle_t domain, uint64_t id)
{
    if (domain)
        nvtxDomainRangeEnd(domain, id);
    else if (NVTX_TOOL(nvtxRangeEnd))
        NVTX_TOOL(nvtxRangeEnd)(id);
}

static inline void nvtx_send_mark(nvtxDomainHandle_t domain,
                                  const nvtxEventAttributes_t *event)
{
    if (domain)
        nvtxDomainMarkEx(domain, event);
    else if (NVTX_TOOL(nvtxMarkEx))
        NVTX_TOOL(nvtxMarkEx)(event);
    else if (NVTX_TOOL(nvtxMarkA))
        NVTX_TOOL(nvtxMarkA)(event->message.ascii);
}

static inline void nvtx_send_category(nvtxDomainHandle_t domain, uint32_t id,
                                      const char *name)
{
    if (domain)
        nvtxDomainNameCategoryA(domain, id, name);
    else if (NVTX_TOOL(nvtxNameCategoryA))
        NVTX_TOOL(nvtxNameCategoryA)(id, name);
}

#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of NVTX to tools with domains and without. A tool sets the function pointers
 * of NVTX's core, and for NVTX 3 those of domains; the others stay NULL. A tool without
 * domains gets all marks in the default domain, which is NULL, and with inline texts,
 * as strings are registered in domains. One that takes no attributes gets names only.
 *
 * Of NVTX's headers only the types are used. Their own code, which is copied into each
 * program, has a function for each call of NVTX and a table of them that is linked: 11 KB.
 */
#ifndef GNOMON_PROFILERS_NVTX_TOOL_H
#define GNOMON_PROFILERS_NVTX_TOOL_H

#include "profilers/nvtx_calls.h"

#if GNOMON_WITH_NVTX

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif
#undef NVTX_NO_IMPL

/* ---- The tool ------------------------------------------------------------------ */

#define NVTX_CALLS 16 /* of a module, at most */

/* What the tool has set, by module and call. Changed when it is loaded, in a control
 * call. */
static NvtxFunctionPointer nvtx_set[NVTX_CB_MODULE_SIZE][NVTX_CALLS];
static void
    *nvtx_library; /* of the tool; NULL: none, or it is in the program */

/* NULL: the tool does not want this call. */
#define NVTX_TOOL(module, call) \
    ((nvtx##call##_impl_fntype) \
         nvtx_set[NVTX_CB_MODULE_##module][NVTX_CBID_##module##_##call])

static int nvtx_module_table(NvtxCallbackModule which, NvtxFunctionTable *table,
                             unsigned *size)
{
    static NvtxFunctionPointer *nvtx_slots[NVTX_CB_MODULE_SIZE][NVTX_CALLS + 1];
    static const unsigned char sizes[NVTX_CB_MODULE_SIZE] = {
        [NVTX_CB_MODULE_CORE] = NVTX_CBID_CORE_SIZE,
        [NVTX_CB_MODULE_CUDA] = NVTX_CBID_CUDA_SIZE,
        [NVTX_CB_MODULE_OPENCL] = NVTX_CBID_OPENCL_SIZE,
        [NVTX_CB_MODULE_CUDART] = NVTX_CBID_CUDART_SIZE,
        [NVTX_CB_MODULE_CORE2] = NVTX_CBID_CORE2_SIZE,
        [NVTX_CB_MODULE_SYNC] = NVTX_CBID_SYNC_SIZE};
    if ((unsigned)which >= NVTX_CB_MODULE_SIZE || !sizes[which])
        return 0;
    for (unsigned i = 1; i < sizes[which]; i++)
        nvtx_slots[which][i] = &nvtx_set[which][i];
    if (size)
        *size = sizes[which];
    if (table)
        *table = nvtx_slots[which];
    return 1;
}

static void nvtx_take_version(uint32_t version)
{
    (void)version;
}

static const void *nvtx_export_table(uint32_t id)
{
    static const NvtxExportTableCallbacks callbacks = {sizeof callbacks,
                                                       nvtx_module_table};
    static const NvtxExportTableVersionInfo version = {
        sizeof version, NVTX_VERSION, 0, nvtx_take_version};
    return id == NVTX_ETID_CALLBACKS     ? (const void *)&callbacks
           : id == NVTX_ETID_VERSIONINFO ? &version
                                         : NULL;
}

/* Set by a tool that is linked to the program, as NVTX names it. */
extern NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;
__attribute__((weak, visibility("hidden")))
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;

/* Loads the tool that $NVTX_INJECTION64_PATH names, once in the process. Before all other
 * calls, and while no other thread makes one. */
static __attribute__((cold, noinline)) void nvtx_load(void)
{
    static int is_tool_loaded;
    NvtxInitializeInjectionNvtxFunc_t begin = NULL;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    if (is_tool_loaded)
        return;
    is_tool_loaded = 1;
    if (path && (nvtx_library = dlopen(path, RTLD_LAZY))) {
        void *symbol = dlsym(nvtx_library, "InitializeInjectionNvtx2");
        memcpy(&begin, &symbol, sizeof begin); /* ISO C has no such cast */
    } else if (!path)
        begin = InitializeInjectionNvtx2_fnptr;
    if (begin && begin(nvtx_export_table)) {
        if (NVTX_TOOL(CORE2, Initialize))
            NVTX_TOOL(CORE2, Initialize)(NULL);
        return;
    }
    memset(nvtx_set, 0, sizeof nvtx_set);
    if (nvtx_library)
        (void)dlclose(nvtx_library);
    nvtx_library = NULL;
}

/* What a call of the tool returns; NULL or 0: there is none. */
#define NVTX_ASK(module, call, ...) \
    (NVTX_TOOL(module, call) ? NVTX_TOOL(module, call)(__VA_ARGS__) : 0)

#define NVTX_TELL(module, call, ...) \
    do { \
        if (NVTX_TOOL(module, call)) \
            NVTX_TOOL(module, call)(__VA_ARGS__); \
    } while (0)

/* ---- Extensions ---------------------------------------------------------------- */

#ifdef NVTXEXTTYPES_H

#define NVTX_SLOTS 63 /* of an extension, as NVTX has them */

extern NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr;
__attribute__((weak, visibility("hidden")))
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr;

/* The tool writes its functions of the extension to `slots`; 0: it does not have one.
 * Once for each extension. */
__attribute__((cold)) static inline void nvtx_extend(uint16_t which,
                                                     uint16_t compatible,
                                                     const void *about,
                                                     intptr_t slots[NVTX_SLOTS])
{
    nvtxExtModuleSegment_t segment = {0, NVTX_SLOTS, slots};
    nvtxExtModuleInfo_t info = {NVTX_VERSION, sizeof info, which, compatible, 1,
                                &segment,     NULL,        about};
    NvtxExtInitializeInjectionFunc_t begin = NULL;
    if (nvtx_library) {
        void *symbol = dlsym(nvtx_library, "InitializeInjectionNvtxExtension");
        memcpy(&begin, &symbol, sizeof begin);
    } else
        begin = InitializeInjectionNvtxExtension_fnptr;
    if (!begin || !begin(&info))
        memset(slots, 0, NVTX_SLOTS * sizeof *slots);
}

#endif

/* ---- Calls --------------------------------------------------------------------- */

/* Then NULL from nvtxDomainCreateA is the tool's answer. */
static inline int nvtx_has_domains(void)
{
    return NVTX_TOOL(CORE2, DomainCreateA) != NULL;
}

static inline int nvtx_has_core(void)
{
    return (NVTX_TOOL(CORE, RangePushEx) || NVTX_TOOL(CORE, RangePushA)) &&
           NVTX_TOOL(CORE, RangePop);
}

/* NULL: the tool registers no strings. */
static inline nvtxStringHandle_t nvtx_string(nvtxDomainHandle_t domain,
                                             const char *text)
{
    return NVTX_ASK(CORE2, DomainRegisterStringA, domain, text);
}

static inline void nvtx_push(nvtxDomainHandle_t domain,
                             const nvtxEventAttributes_t *event)
{
    if (__builtin_expect(domain != NULL, 1))
        (void)NVTX_ASK(CORE2, DomainRangePushEx, domain, event);
    else if (NVTX_TOOL(CORE, RangePushEx))
        NVTX_TOOL(CORE, RangePushEx)(event);
    else
        NVTX_TOOL(CORE, RangePushA)(event->message.ascii);
}

static inline void nvtx_pop(nvtxDomainHandle_t domain)
{
    if (__builtin_expect(domain != NULL, 1))
        (void)NVTX_ASK(CORE2, DomainRangePop, domain);
    else
        NVTX_TOOL(CORE, RangePop)();
}

static inline uint64_t nvtx_range_start(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *event)
{
    if (domain)
        return NVTX_ASK(CORE2, DomainRangeStartEx, domain, event);
    if (NVTX_TOOL(CORE, RangeStartEx))
        return NVTX_TOOL(CORE, RangeStartEx)(event);
    return NVTX_TOOL(CORE, RangeStartA)
               ? NVTX_TOOL(CORE, RangeStartA)(event->message.ascii)
               : 0;
}

static inline void nvtx_range_end(nvtxDomainHandle_t domain, uint64_t id)
{
    if (domain)
        NVTX_TELL(CORE2, DomainRangeEnd, domain, id);
    else if (NVTX_TOOL(CORE, RangeEnd))
        NVTX_TOOL(CORE, RangeEnd)(id);
}

static inline void nvtx_send_mark(nvtxDomainHandle_t domain,
                                  const nvtxEventAttributes_t *event)
{
    if (domain)
        NVTX_TELL(CORE2, DomainMarkEx, domain, event);
    else if (NVTX_TOOL(CORE, MarkEx))
        NVTX_TOOL(CORE, MarkEx)(event);
    else if (NVTX_TOOL(CORE, MarkA))
        NVTX_TOOL(CORE, MarkA)(event->message.ascii);
}

static inline void nvtx_send_category(nvtxDomainHandle_t domain, uint32_t id,
                                      const char *name)
{
    if (domain)
        NVTX_TELL(CORE2, DomainNameCategoryA, domain, id, name);
    else if (NVTX_TOOL(CORE, NameCategoryA))
        NVTX_TOOL(CORE, NameCategoryA)(id, name);
}

#endif
#endif

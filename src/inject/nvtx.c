/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry points of libgnomon-nvtx.so. Each module of a program that is built with
 * NVTX's headers calls InitializeInjectionNvtx2 once, at its first call of NVTX, with
 * a table of the addresses of its function pointers. The libraries of NVTX 1 and 2
 * call the older name. The headers of an extension call
 * InitializeInjectionNvtxExtension with a table of functions. Nothing of this is
 * kept, so any number of modules may call at once.
 *
 * Invariant: nothing is written past the size that a table states, so programs built
 * with older and newer headers both work. */
#include <stddef.h>

#include "inject/nvtx.h"

/* An older table may lack the field. */
#define HAS(table, field) \
    ((table) && \
     (table)->struct_size >= \
         offsetof(__typeof__(*(table)), field) + sizeof((table)->field))

GNOMON_API int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
GNOMON_API int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_table);

/* By this symbol others recognize that the tool is gnomon. */
extern GNOMON_API const char gnomon_nvtx_in[];
const char gnomon_nvtx_in[] = GNOMON_VERSION;

static void attach(const NvtxExportTableCallbacks *callbacks,
                   const gnomon__inject_call *call)
{
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (callbacks->GetModuleFunctionTable((NvtxCallbackModule)call->module,
                                          &table, &size) &&
        table && call->id < size && table[call->id])
        *table[call->id] = call->function;
}

/* Makes gnomon read $GNOMON now, by getting a region. */
static void read_environment(void)
{
    (void)gnomon_region_get("(other)", NULL, GNOMON_KIND_SCOPE);
    gnomon__inject_read_fold_option();
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    static const gnomon__inject_call *const calls[] = {
        gnomon__inject_marks, gnomon__inject_handles, gnomon__inject_resources};
    const NvtxExportTableCallbacks *callbacks =
        get_table ? get_table(NVTX_ETID_CALLBACKS) : NULL;
    if (!HAS(callbacks, GetModuleFunctionTable) ||
        !callbacks->GetModuleFunctionTable)
        return 0;
    const NvtxExportTableVersionInfo *version =
        get_table(NVTX_ETID_VERSIONINFO);
    if (HAS(version, SetInjectionNvtxVersion) &&
        version->SetInjectionNvtxVersion)
        version->SetInjectionNvtxVersion(NVTX_VERSION);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const gnomon__inject_call *c = calls[i]; c->function; c++)
            attach(callbacks, c);
    read_environment();
    return 1;
}

int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_table)
{
    return InitializeInjectionNvtx2(get_table);
}

#if GNOMON__INJECT_EXTENSIONS

#define GENERATION(compatibility) ((compatibility) >> 8)

GNOMON_API int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info);

/* gnomon's part of the extension, if the generation is the same; else NULL: the
 * extension's calls do nothing. */
static const gnomon__inject_call *calls_of(const nvtxExtModuleInfo_t *info)
{
    uint32_t id = info->moduleId, generation = GENERATION(info->compatId);
    if (id == NVTX_EXT_PAYLOAD_MODULEID &&
        generation == GENERATION(NVTX_EXT_PAYLOAD_COMPATID))
        return gnomon__inject_payloads;
    if (id == NVTX_EXT_COUNTERS_MODULEID &&
        generation == GENERATION(NVTX_EXT_COUNTERS_COMPATID))
        return gnomon__inject_counters;
    return NULL;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info)
{
    if (!info || info->structSize < offsetof(nvtxExtModuleInfo_t, segments) +
                                        sizeof info->segments)
        return 0;
    const gnomon__inject_call *c = calls_of(info);
    const nvtxExtModuleSegment_t *s = info->segments;
    if (!c || !info->segmentsCount || !s || !s->functionSlots)
        return 0;
    for (; c->function; c++)
        if (c->id < s->slotCount)
            s->functionSlots[c->id] = (intptr_t)c->function;
    read_environment();
    return 1;
}

#endif

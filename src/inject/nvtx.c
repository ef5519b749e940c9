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
                   const gnomon__inject_module *module)
{
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module->id, &table, &size) || !table)
        return;
    for (uint32_t i = 1; i < module->count && i < size; i++)
        if (module->functions[i] && table[i])
            *table[i] = module->functions[i];
}

/* Makes gnomon read $GNOMON now, by getting a region. */
static void read_environment(void)
{
    (void)gnomon_region_get("(other)", NULL, GNOMON_KIND_SCOPE);
    gnomon__inject_read_fold_option();
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    static const gnomon__inject_module *const modules[] = {
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
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        for (const gnomon__inject_module *m = modules[i]; m->count; m++)
            attach(callbacks, m);
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
static const gnomon__inject_extension *
extension_of(const nvtxExtModuleInfo_t *info)
{
    if (info->moduleId == NVTX_EXT_PAYLOAD_MODULEID)
        return GENERATION(info->compatId) ==
                       GENERATION(NVTX_EXT_PAYLOAD_COMPATID)
                   ? &gnomon__inject_payloads
                   : NULL;
    if (info->moduleId == NVTX_EXT_COUNTERS_MODULEID)
        return GENERATION(info->compatId) ==
                       GENERATION(NVTX_EXT_COUNTERS_COMPATID)
                   ? &gnomon__inject_counters
                   : NULL;
    return NULL;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info)
{
    if (!info || info->structSize < offsetof(nvtxExtModuleInfo_t, segments) +
                                        sizeof info->segments)
        return 0;
    const gnomon__inject_extension *e = extension_of(info);
    const nvtxExtModuleSegment_t *s = info->segments;
    if (!e || !info->segmentsCount || !s || !s->functionSlots)
        return 0;
    for (uint32_t i = 0; i < e->count && i < s->slotCount; i++)
        if (e->functions[i])
            s->functionSlots[i] = (intptr_t)e->functions[i];
    read_environment();
    return 1;
}

#endif

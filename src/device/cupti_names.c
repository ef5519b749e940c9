/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a call does is seen from its name, as CUPTI tells it. So calls of later versions
 * of CUDA are known too, and no list of numbers is needed. */
#include "device/cupti_names.h"

#include <stdio.h>
#include <string.h>

#include "device/cupti_driver.h"

#define UNUSED_IDS 64u /* so many without a name: there are no more */

static uint8_t cupti_classes[2][GNOMON__CUPTI_IDS];

/* ---- Names ----------------------------------------------------------------------- */

static int begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Without cuda, cu or cu64. */
static const char *cupti_stem(const char *name)
{
    static const char *const heads[] = {"cuda", "cu64", "cu"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (begins_with(name, heads[i]))
            return name + strlen(heads[i]);
    return name;
}

/* Calls whose stem begins so only ask for something, or choose a context: a framework
 * makes several of them for each launch. */
static int is_noise(const char *stem)
{
    static const char *const stems[] = {"CtxGet",
                                        "CtxPopCurrent",
                                        "CtxPushCurrent",
                                        "CtxSetCurrent",
                                        "DeviceGet",
                                        "DevicePrimaryCtxGetState",
                                        "DriverGetVersion",
                                        "EventQuery",
                                        "FuncGet",
                                        "GetDevice",
                                        "GetDriverEntryPoint",
                                        "GetError",
                                        "GetExportTable",
                                        "GetFuncBySymbol",
                                        "GetKernel",
                                        "GetLastError",
                                        "GetProcAddress",
                                        "KernelGet",
                                        "Occupancy",
                                        "PeekAtLastError",
                                        "PointerGetAttribute",
                                        "RuntimeGetVersion",
                                        "StreamGet",
                                        "StreamIsCapturing",
                                        "StreamQuery",
                                        "ThreadExchangeStreamCaptureMode"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (begins_with(stem, stems[i]))
            return 1;
    return 0;
}

enum gnomon__cupti_class gnomon__cupti_class_of_name(const char *name)
{
    static const char *const launches[] = {"Launch",      "GraphLaunch",
                                           "Memcpy",      "Memset",
                                           "MemPrefetch", "MemBatchDecompress"};
    const char *stem = cupti_stem(name);
    if (begins_with(stem, "LaunchKernel") ||
        begins_with(stem, "LaunchCooperativeKernel"))
        return strstr(stem, "MultiDevice") ? GNOMON__CUPTI_LAUNCH
                                           : GNOMON__CUPTI_KERNEL_LAUNCH;
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        if (begins_with(stem, launches[i]))
            return GNOMON__CUPTI_LAUNCH;
    if (begins_with(stem, "StreamBeginCapture"))
        return GNOMON__CUPTI_CAPTURE_BEGINS;
    if (begins_with(stem, "StreamEndCapture"))
        return GNOMON__CUPTI_CAPTURE_ENDS;
    if (is_noise(stem))
        return GNOMON__CUPTI_NOISE;
    if (!begins_with(stem, "Graph") &&
        (strstr(stem, "Synchronize") || strstr(stem, "WaitEvent")))
        return GNOMON__CUPTI_WAIT;
    return GNOMON__CUPTI_OTHER;
}

/* ---- Numbers --------------------------------------------------------------------- */

static const char *cupti_raw_name(int is_driver, uint32_t id)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *name = NULL;
    if (!cupti ||
        cupti->GetCallbackName(is_driver ? CUPTI_DRIVER_API : CUPTI_RUNTIME_API,
                               id, &name))
        return NULL;
    return name;
}

void gnomon__cupti_names_read(void)
{
    for (int is_driver = 0; is_driver < 2; is_driver++) {
        uint32_t unused = 0;
        for (uint32_t id = 1; id < GNOMON__CUPTI_IDS && unused < UNUSED_IDS;
             id++) {
            const char *name = cupti_raw_name(is_driver, id);
            unused = name ? 0 : unused + 1;
            cupti_classes[is_driver][id] =
                (uint8_t)(name ? gnomon__cupti_class_of_name(name)
                               : GNOMON__CUPTI_UNKNOWN);
        }
    }
}

enum gnomon__cupti_class gnomon__cupti_class_of(int is_driver, uint32_t id)
{
    return id < GNOMON__CUPTI_IDS
               ? (enum gnomon__cupti_class)cupti_classes[is_driver != 0][id]
               : GNOMON__CUPTI_UNKNOWN;
}

/* The runtime's names end in the version of CUDA that brought the call, as _v7000.
 * The driver's _v2 is a part of the name. */
static size_t cupti_name_length(const char *name)
{
    size_t n = strlen(name);
    const char *version = strrchr(name, '_');
    if (version && version[1] == 'v' &&
        strspn(version + 2, "0123456789") >= 4 &&
        version[2 + strspn(version + 2, "0123456789")] == 0)
        n = (size_t)(version - name);
    if (n > 5 && (strncmp(name + n - 5, "_ptsz", 5) == 0 ||
                  strncmp(name + n - 5, "_ptds", 5) == 0))
        n -= 5;
    return n;
}

int gnomon__cupti_name(int is_driver, uint32_t id, char *text, size_t size)
{
    const char *name = cupti_raw_name(is_driver, id);
    if (!name)
        return 0;
    snprintf(text, size, "%.*s", (int)cupti_name_length(name), name);
    return 1;
}

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

/* Without cuda, cu or cu64. */
static const char *cupti_stem(const char *name)
{
    static const char *const heads[] = {"cuda", "cu64", "cu"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(name, heads[i], strlen(heads[i])) == 0)
            return name + strlen(heads[i]);
    return name;
}

/* Whether the stem begins with one of these words, each of which ends in a blank. */
static int is_of(const char *words, const char *stem)
{
    for (size_t n; (n = strcspn(words, " ")) != 0; words += n + 1)
        if (strncmp(stem, words, n) == 0)
            return 1;
    return 0;
}

/* Calls that only ask for something, or choose a context: a framework makes several of them
 * for each launch. */
static const char cupti_noise[] =
    "CtxGet CtxPopCurrent CtxPushCurrent CtxSetCurrent DeviceGet "
    "DevicePrimaryCtxGetState DriverGetVersion EventQuery FuncGet GetDevice "
    "GetDriverEntryPoint GetError GetExportTable GetFuncBySymbol GetKernel "
    "GetLastError GetProcAddress KernelGet Occupancy PeekAtLastError "
    "PointerGetAttribute RuntimeGetVersion StreamGet StreamIsCapturing "
    "StreamQuery ThreadExchangeStreamCaptureMode ";

enum gnomon__cupti_class gnomon__cupti_class_of_name(const char *name)
{
    const char *stem = cupti_stem(name);
    if (is_of("LaunchKernel LaunchCooperativeKernel ", stem))
        return strstr(stem, "MultiDevice") ? GNOMON__CUPTI_LAUNCH
                                           : GNOMON__CUPTI_KERNEL_LAUNCH;
    if (is_of("Launch GraphLaunch Memcpy Memset MemPrefetch "
              "MemBatchDecompress ",
              stem))
        return GNOMON__CUPTI_LAUNCH;
    if (is_of("StreamBeginCapture ", stem))
        return GNOMON__CUPTI_CAPTURE_BEGINS;
    if (is_of("StreamEndCapture ", stem))
        return GNOMON__CUPTI_CAPTURE_ENDS;
    if (is_of(cupti_noise, stem))
        return GNOMON__CUPTI_NOISE;
    if (!is_of("Graph ", stem) &&
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

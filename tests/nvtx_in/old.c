/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library as NVTX 1's was: functions that programs link to, which lead to a
 * tool that it loads at the first call, asks by the first name, and gives the
 * table of its one module. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_NO_IMPL
#define NVTX_DECLSPEC __attribute__((visibility("default")))
#include <nvtx3/nvToolsExt.h>

static int (*push_a)(const char *);
static int (*pop)(void);
static void (*mark_a)(const char *);
static NvtxFunctionPointer *functions[] = {
    [NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer *)(void *)&mark_a,
    [NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer *)(void *)&push_a,
    [NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer *)(void *)&pop};

static int table_of(NvtxCallbackModule module, NvtxFunctionTable *table,
                    unsigned *size)
{
    if (module != NVTX_CB_MODULE_CORE)
        return 0;
    *table = functions;
    *size = sizeof functions / sizeof *functions;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const NvtxExportTableCallbacks callbacks = {sizeof callbacks,
                                                       table_of};
    return id == NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
    void *symbol = tool ? dlsym(tool, "InitializeInjectionNvtx") : NULL;
    NvtxInitializeInjectionNvtxFunc_t start;
    memcpy(&start, &symbol, sizeof start);
    if (!start || !start(export_table))
        abort();
}

static void loaded(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

int nvtxRangePushA(const char *message)
{
    loaded();
    return push_a ? push_a(message) : -1;
}

int nvtxRangePop(void)
{
    loaded();
    return pop ? pop() : -1;
}

void nvtxMarkA(const char *message)
{
    loaded();
    if (mark_a)
        mark_a(message);
}

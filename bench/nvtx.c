/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiler nvtx and, as its floor, the same calls of NVTX by hand, both heard
 * by a tool that counts (nvtx/tool.c). Without headers of NVTX there are no such
 * rows. */
#include "bench.h"

#if GNOMON_WITH_NVTX

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t name;
static uint64_t (*tool_pairs)(void);

void bench_nvtx_listen(void)
{
    setenv("NVTX_INJECTION64_PATH", BENCH_NVTX_TOOL, 1);
    domain = nvtxDomainCreateA("bench");
    name = nvtxDomainRegisterStringA(domain, "bench");
    void *tool = dlopen(BENCH_NVTX_TOOL, RTLD_NOW);
    void *symbol = tool ? dlsym(tool, "bench_tool_pairs") : NULL;
    memcpy(&tool_pairs, &symbol, sizeof tool_pairs);
}

uint64_t bench_nvtx_pairs(void)
{
    return tool_pairs ? tool_pairs() : 0;
}

/* As the documentation of NVTX writes it. */
#define BY_HAND_PAIR \
    { \
        nvtxEventAttributes_t event = {0}; \
        event.version = NVTX_VERSION; \
        event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE; \
        event.category = 1; \
        event.colorType = NVTX_COLOR_ARGB; \
        event.color = 0xff4e79a7; \
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED; \
        event.message.registered = name; \
        nvtxDomainRangePushEx(domain, &event); \
        BENCH_FENCE(); \
        nvtxDomainRangePop(domain); \
    }
BENCH_PAIRS(hand, 1, BY_HAND_PAIR, BY_HAND_PAIR)

void by_hand_pairs(uint64_t n)
{
    hand_pairs(n);
}

uint64_t by_hand_once(void)
{
    return hand_once();
}

#else

void bench_nvtx_listen(void)
{
}

uint64_t bench_nvtx_pairs(void)
{
    return 0;
}

#endif

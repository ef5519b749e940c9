/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiler nvtx. Its floor is the same NVTX calls by hand, with a tool that
 * counts them (nvtx/tool.c). Without NVTX's headers these rows are left out. */
#include "bench.h"

#if GNOMON_WITH_NVTX

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t name;
static nvtxEventAttributes_t made;
static floor_nvtx target;
static uint64_t (*tool_pairs)(void);

static void fill(nvtxEventAttributes_t *event)
{
    event->version = NVTX_VERSION;
    event->size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event->category = 1;
    event->colorType = NVTX_COLOR_ARGB;
    event->color = 0xff4e79a7;
    event->messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event->message.registered = name;
}

void bench_nvtx_listen(void)
{
    setenv("NVTX_INJECTION64_PATH", BENCH_NVTX_TOOL, 1);
    domain = nvtxDomainCreateA("bench");
    name = nvtxDomainRegisterStringA(domain, "bench");
    fill(&made);
    target = (floor_nvtx){domain, &made};
    void *tool = dlopen(BENCH_NVTX_TOOL, RTLD_NOW);
    void *symbol = tool ? dlsym(tool, "bench_tool_pairs") : NULL;
    memcpy(&tool_pairs, &symbol, sizeof tool_pairs);
}

uint64_t bench_nvtx_pairs(void)
{
    return tool_pairs ? tool_pairs() : 0;
}

/* As in the documentation of NVTX. */
#define BY_HAND_PAIR \
    { \
        nvtxEventAttributes_t event = {0}; \
        fill(&event); \
        nvtxDomainRangePushEx(domain, &event); \
        BENCH_FENCE(); \
        nvtxDomainRangePop(domain); \
    }
BENCH_PAIRS(hand, 1, BY_HAND_PAIR, BY_HAND_PAIR)

#define OUT_PAIR(where) \
    { \
        uint64_t token = where##_n_begin(&target); \
        BENCH_FENCE(); \
        where##_n_end(token); \
    }
BENCH_PAIRS(near, 1, OUT_PAIR(near), OUT_PAIR(near))
BENCH_PAIRS(far, 1, OUT_PAIR(far), OUT_PAIR(far))

#define SHOW(id, of) \
    void id##_pairs(uint64_t n) \
    { \
        of##_pairs(n); \
    } \
    uint64_t id##_once(void) \
    { \
        return of##_once(); \
    }
SHOW(by_hand, hand)
SHOW(nvtx_near, near)
SHOW(nvtx_far, far)

#else

void bench_nvtx_listen(void)
{
}

uint64_t bench_nvtx_pairs(void)
{
    return 0;
}

#endif

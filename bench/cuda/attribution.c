/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench_attribution CUPTI: what it costs a marking thread to say which scope launched
 * work. With CUPTI's external ids each scope is pushed and popped, whether it launches or
 * not. gnomon notes where the thread is at each launch. CUPTI is the file of any version:
 * the calls work without a GPU up to that of CUDA 11.2. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gnomon.h"
#include "gnomon/tool.h"

enum { CUSTOM_IDS = 3, TIMES = 200000, ROUNDS = 7 };

static int (*push)(int kind, uint64_t id);
static int (*pop)(int kind, uint64_t *id);
static uint32_t source;

static int open_source(void *self, uint32_t number, uint32_t kinds,
                       const char **why)
{
    (void)self, (void)kinds, (void)why;
    source = number;
    return GNOMON_OK;
}

static const gnomon_device_source tool = {.struct_size = sizeof tool,
                                          .abi = GNOMON_ABI,
                                          .name = "bench",
                                          .open = open_source};

static void find(void *library, const char *name, void *call)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        fprintf(stderr, "bench_attribution: no %s\n", name);
        exit(2);
    }
    memcpy(call, &symbol, sizeof symbol);
}

static int push_and_pop(uint64_t id)
{
    uint64_t popped = 0;
    return push(CUSTOM_IDS, id) || pop(CUSTOM_IDS, &popped) || popped != id;
}

static int note(uint64_t id)
{
    gnomon_host_get()->device_launched(source, id);
    return 0;
}

/* The shortest of some rounds. */
static double ns_of(int (*once)(uint64_t id))
{
    double least = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (uint64_t i = 1; i <= TIMES; i++)
            if (once(i))
                exit(2);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 +
                     (double)(b.tv_nsec - a.tv_nsec)) /
                    TIMES;
        least = !round || ns < least ? ns : least;
    }
    return least;
}

int main(int count, char **arguments)
{
    void *cupti = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    find(cupti, "cuptiActivityPushExternalCorrelationId", &push);
    find(cupti, "cuptiActivityPopExternalCorrelationId", &pop);
    setenv("GNOMON_CUPTI_LIBRARY", "/none", 1);
    gnomon_host_get()->source_add(&tool);
    if (gnomon_attach(NULL, NULL, "kernels(file=/dev/null)") || !source)
        return 2;
    GNOMON_SCOPE("scope");
    printf("a note of each launch: %.1f ns\n", ns_of(note));
    if (push_and_pop(1))
        return puts("external ids: this CUPTI wants a GPU"), 0;
    printf("an external id for each scope: %.1f ns\n", ns_of(push_and_pop));
    return 0;
}

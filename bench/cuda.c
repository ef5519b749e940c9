/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A scope on a stream. Its floor is the two calls of cuEventRecord that it needs,
 * through a pointer, on a driver that does almost nothing (cuda/driver.c). bench/gpu
 * measures with a real driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "gnomon/cuda.h"

#define AHEAD 480u /* scopes that the reader may lag: of 1024 timers */

static int (*event_create)(void **event, unsigned flags);
static int (*event_destroy)(void *event);
static int (*event_record)(void *event, void *stream);
static uint64_t (*timers_read)(void);
static __thread void *events[2];
static char a_stream[8];
static uint64_t scopes_made;

static void find(void *driver, const char *name, void *call)
{
    void *symbol = driver ? dlsym(driver, name) : NULL;
    if (!symbol)
        exit(2);
    memcpy(call, &symbol, sizeof symbol);
}

void bench_cuda_use(void)
{
    void *driver = dlopen(BENCH_CUDA_DRIVER, RTLD_NOW);
    setenv("GNOMON_CUDA_LIBRARY", BENCH_CUDA_DRIVER, 1);
    find(driver, "cuEventRecord", &event_record);
    find(driver, "bench_cuda_read", &timers_read);
    find(driver, "cuEventCreate", &event_create);
    find(driver, "cuEventDestroy_v2", &event_destroy);
}

static void make_events(void)
{
    for (int i = 0; i < 2; i++)
        event_create(&events[i], 0);
}

static void drop_events(void)
{
    for (int i = 0; i < 2; i++)
        event_destroy(events[i]);
}

#define RECORDS_PAIR \
    { \
        event_record(events[0], a_stream); \
        BENCH_FENCE(); \
        event_record(events[1], a_stream); \
    }
BENCH_PAIRS(two_records, 1, RECORDS_PAIR, RECORDS_PAIR)

void records_pairs(uint64_t n)
{
    make_events();
    two_records_pairs(n);
    drop_events();
}

uint64_t records_once(void)
{
    make_events();
    uint64_t ticks = two_records_once();
    drop_events();
    return ticks;
}

#define SCOPE_ON_PAIR \
    { \
        GNOMON_SCOPE_ON("scope_on", (gnomon_cuda_stream)(void *)a_stream); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(scopes, 1, SCOPE_ON_PAIR, SCOPE_ON_PAIR)

/* Waits for the reader, as a host that launches kernels would: past 1024 scopes
 * losses would be measured instead. Sleeping costs about 10 ns of CPU time for each
 * scope. */
static void let_read(uint64_t made)
{
    uint64_t all = __atomic_add_fetch(&scopes_made, made, __ATOMIC_RELAXED);
    for (int i = 0; timers_read() + AHEAD < all; i++) {
        if (i == 4000) {
            fprintf(stderr, "bench: no thread reads the timers of scope_on\n");
            exit(2);
        }
        usleep(2500);
    }
}

void scope_on_pairs(uint64_t n)
{
    for (; n > AHEAD; n -= AHEAD) {
        scopes_pairs(AHEAD);
        let_read(AHEAD);
    }
    scopes_pairs(n);
    let_read(n);
}

uint64_t scope_on_once(void)
{
    uint64_t ticks = scopes_once();
    let_read(1);
    return ticks;
}

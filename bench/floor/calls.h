/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The floors' out-of-line halves, twice: near_* in the program itself, far_* in
 * a small shared library. */
#ifndef GNOMON_BENCH_FLOOR_CALLS_H
#define GNOMON_BENCH_FLOOR_CALLS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t floor_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* The least that an aggregating profiler stores for a site. */
typedef struct floor_slot {
    uint64_t begin, count, total, min, max;
} floor_slot;

static inline void floor_add(floor_slot *s, uint64_t d)
{
    s->count++;
    s->total += d;
    if (d < s->min)
        s->min = d;
    if (d > s->max)
        s->max = d;
}

/* What a site passes to NVTX: a domain and attributes, made in advance. */
typedef struct floor_nvtx {
    void *domain;
    const void *event;
} floor_nvtx;

#define FLOOR_CALLS(where) \
    /* Each thread calls enter first and leave last. */ \
    void where##_enter(void); \
    void where##_leave(void); \
    uint64_t where##_off_begin(const uint32_t *mask); \
    void where##_off_end(uint64_t token); \
    void where##_do_begin(void); \
    void where##_do_end(void); \
    void where##_w_begin(void); \
    void where##_w_end(void); \
    uint64_t where##_n_begin(const floor_nvtx *target); \
    void where##_n_end(uint64_t token);

FLOOR_CALLS(near)
#pragma GCC visibility push(default)
FLOOR_CALLS(far)
#pragma GCC visibility pop

#endif

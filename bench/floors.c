/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The floors: the least that any design must cost, measured together with gnomon. All
 * of them are built into the program; Fa3 and those that end in _so call a
 * shared library, as a mark of a shared gnomon does. */
#include <string.h>

#include "bench.h"

/* ---- Fa: off. 64 sites, since a single one in a loop costs nothing ------- */

__attribute__((noinline, cold)) static uint64_t fa_slow(uint32_t *mask)
{
    return ++*mask;
}

static inline __attribute__((always_inline)) uint64_t fa_begin(uint32_t *mask)
{
    if (__builtin_expect(__atomic_load_n(mask, __ATOMIC_RELAXED) == 0, 1))
        return 0;
    return fa_slow(mask);
}

#define FA_PAIR(a, b) \
    { \
        static uint32_t mask; \
        uint64_t token = fa_begin(&mask); \
        BENCH_FENCE(); \
        if (__builtin_expect(token != 0, 0)) \
            fa_slow(&mask); \
    }
BENCH_PAIRS(fa, 64, BENCH_64(FA_PAIR), FA_PAIR(8, 0))

#define FA3_PAIR(a, b) \
    { \
        static uint32_t mask; \
        uint64_t token = far_off_begin(&mask); \
        BENCH_FENCE(); \
        far_off_end(token); \
    }
BENCH_PAIRS(fa3, 64, BENCH_64(FA3_PAIR), FA3_PAIR(8, 0))

/* ---- Fb: tracing; Fc: the system's clock; Fd: aggregating ---------------- */

typedef struct record {
    uint64_t begin;
    uint32_t length;
    uint32_t what;
} record;

#define RING 4096u /* of 16 bytes: 64 KiB */
static __thread record ring[RING];
static __thread uint32_t ring_at;

#define FB_PAIR \
    { \
        uint64_t begin = floor_ticks(); \
        BENCH_FENCE(); \
        uint64_t now = floor_ticks(); \
        record *r = &ring[ring_at++ & (RING - 1)]; \
        *r = (record){begin, (uint32_t)(now - begin), 1}; \
        __asm__ volatile("" ::"r"(r) : "memory"); /* keep it */ \
    }
BENCH_PAIRS(fb, 1, FB_PAIR, FB_PAIR)

static __thread uint64_t fc_ns;

#define FC_PAIR \
    { \
        uint64_t begin = bench_now_ns(CLOCK_MONOTONIC); \
        BENCH_FENCE(); \
        fc_ns = bench_now_ns(CLOCK_MONOTONIC) - begin; \
    }
BENCH_PAIRS(fc, 1, FC_PAIR, FC_PAIR)

static __thread floor_slot fd_slot = {0, 0, 0, UINT64_MAX, 0};

#define FD_PAIR \
    { \
        uint64_t begin = floor_ticks(); \
        BENCH_FENCE(); \
        floor_add(&fd_slot, floor_ticks() - begin); \
    }
BENCH_PAIRS(fd, 1, FD_PAIR, FD_PAIR)

/* ---- Out of line --------------------------------------------------------- */

#define CALL_PAIR(name) \
    { \
        name##_begin(); \
        BENCH_FENCE(); \
        name##_end(); \
    }
BENCH_PAIRS(fdo, 1, CALL_PAIR(near_do), CALL_PAIR(near_do))
BENCH_PAIRS(fw, 1, CALL_PAIR(near_w), CALL_PAIR(near_w))
BENCH_PAIRS(fdo_so, 1, CALL_PAIR(far_do), CALL_PAIR(far_do))
BENCH_PAIRS(fw_so, 1, CALL_PAIR(far_w), CALL_PAIR(far_w))

/* ---- Fi: two clock reads and k bare calls -------------------------------- */

static __attribute__((noinline)) void bare(void *self, uint64_t *slot)
{
    __asm__ volatile("" ::"r"(self), "r"(slot));
}

/* volatile, so that the compiler does not know the callee. */
static void (*volatile const fi_call[4])(void *, uint64_t *) = {bare, bare,
                                                                bare, bare};

#define FI_1(i) fi_call[i](&fd_slot, slot + i);
#define FI_2 FI_1(0) FI_1(1)
#define FI_4 FI_2 FI_1(2) FI_1(3)
#define FI_PAIR(calls) \
    { \
        uint64_t slot[4]; \
        calls uint64_t begin = floor_ticks(); \
        BENCH_FENCE(); \
        fd_slot.total += floor_ticks() - begin; \
        calls \
    }

/* Only the calls: Fi does not show their cost if they overlap with clock reads. */
#define CALLS_PAIR \
    { \
        uint64_t slot; \
        fi_call[0](&fd_slot, &slot); \
        BENCH_FENCE(); \
        fi_call[0](&fd_slot, &slot); \
    }
BENCH_PAIRS(calls, 1, CALLS_PAIR, CALLS_PAIR)

BENCH_PAIRS(fi1, 1, FI_PAIR(FI_1(0)), FI_PAIR(FI_1(0)))
BENCH_PAIRS(fi2, 1, FI_PAIR(FI_2), FI_PAIR(FI_2))
BENCH_PAIRS(fi4, 1, FI_PAIR(FI_4), FI_PAIR(FI_4))

#define FLOOR(name, id, sites) \
    { \
        name, NULL, BENCH_OFF, BENCH_NO_RECORD, sites, id##_pairs, id##_once, \
            NULL \
    }
#define FLOOR_TOLD(name, id) \
    { \
        name, NULL, BENCH_OFF, BENCH_TOLD, 1, id##_pairs, id##_once, NULL \
    }
const bench_row bench_floors[] = {
    FLOOR("Fa", fa, 64),
    FLOOR("Fa3", fa3, 64),
    FLOOR("Fb", fb, 1),
    FLOOR("Fc", fc, 1),
    FLOOR("Fd", fd, 1),
    FLOOR("Fdo", fdo, 1),
    FLOOR("Fdo_so", fdo_so, 1),
    FLOOR("Fw", fw, 1),
    FLOOR("Fw_so", fw_so, 1),
    FLOOR("Fi1", fi1, 1),
    FLOOR("Fi2", fi2, 1),
    FLOOR("Fi4", fi4, 1),
    FLOOR("calls", calls, 1),
    FLOOR("Fr", records, 1),
#if GNOMON_WITH_NVTX
    /* NVTX called directly, and through a library. The tool must receive each call. */
    FLOOR_TOLD("Fn", by_hand),
    FLOOR_TOLD("Fno", nvtx_near),
    FLOOR_TOLD("Fno_so", nvtx_far),
#endif
};
const size_t bench_floor_count = sizeof bench_floors / sizeof *bench_floors;

const bench_row *bench_floor(const char *name)
{
    for (size_t i = 0; i < bench_floor_count; i++)
        if (strcmp(bench_floors[i].name, name) == 0)
            return &bench_floors[i];
    return NULL;
}

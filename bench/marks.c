/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon's marks as a user writes them, one row each, and the same with planted
 * faults. A row's regions have its name or its category, by which the profile is
 * searched for what it recorded. */
#include <pthread.h>
#include <string.h>

#include "bench.h"
#include "gnomon.h"
#include "gnomon/tool.h"

/* ---- Off ----------------------------------------------------------------- */

#define OFF_PAIR(a, b) \
    { \
        GNOMON_SCOPE_IN("off_scope", "site " #a #b); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(off_scope, 64, BENCH_64(OFF_PAIR), OFF_PAIR(8, 0))

#define OFF_NAME_PAIR(a, b) \
    { \
        gnomon_start("off_byname"); \
        BENCH_FENCE(); \
        gnomon_stop("off_byname"); \
    }
BENCH_PAIRS(off_byname, 64, BENCH_64(OFF_NAME_PAIR), OFF_NAME_PAIR(8, 0))

#define PASS_PAIR(a, b) \
    { \
        GNOMON_SCOPE_IN("passthrough", "site " #a #b); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(passthrough, 64, BENCH_64(PASS_PAIR), PASS_PAIR(8, 0))

/* ---- On ------------------------------------------------------------------ */

#define SIMPLE_PAIR \
    { \
        GNOMON_SCOPE("simple_scope"); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(simple_scope, 1, SIMPLE_PAIR, SIMPLE_PAIR)

/* A product, whose shapes are found again each time. */
static int64_t op_rows = 32;
#define OP_PAIR \
    { \
        GNOMON_OP_SCOPE("op_scope", .operation = "mm", \
                        GNOMON_INPUTS(GNOMON_TENSOR("float32", op_rows, 512), \
                                      GNOMON_TENSOR("float32", 512, 128))); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(op_scope, 1, OP_PAIR, OP_PAIR)

#define ADVANCED_PAIR \
    { \
        GNOMON_SCOPE("advanced_scope"); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(advanced_scope, 1, ADVANCED_PAIR, ADVANCED_PAIR)

#define NAME_PAIR(name) \
    { \
        gnomon_start(name); \
        BENCH_FENCE(); \
        gnomon_stop(name); \
    }
/* glibc's strcmp takes ten instructions more for some pairs of addresses. None of these
 * is in such a pair, as they are at the start of a page. */
static const struct {
    char simple[32], trace[32], steps[32], hook[32], both[32], views[32];
} names __attribute__((aligned(4096))) = {"simple_byname", "trace_byname",
                                          "steps_byname",  "hook_byname",
                                          "both_byname",   "views_byname"};
BENCH_PAIRS(simple_byname, 1, NAME_PAIR(names.simple),
            NAME_PAIR("simple_byname cold"))
BENCH_PAIRS(trace_byname, 1, NAME_PAIR(names.trace), NAME_PAIR(names.trace))
BENCH_PAIRS(steps_byname, 1, NAME_PAIR(names.steps), NAME_PAIR(names.steps))
BENCH_PAIRS(hook_byname, 1, NAME_PAIR(names.hook), NAME_PAIR(names.hook))
BENCH_PAIRS(both_byname, 1, NAME_PAIR(names.both), NAME_PAIR(names.both))
BENCH_PAIRS(views_byname, 1, NAME_PAIR(names.views), NAME_PAIR(names.views))

/* One buffer, whose text changes with each pair, as with a layer's number. */
static __thread char buffer_text[] = "changing_buffer#0";
#define BUFFER_PAIR \
    { \
        char *number = &buffer_text[sizeof buffer_text - 2]; \
        *number = *number == '9' ? '0' : (char)(*number + 1); \
        gnomon_start(buffer_text); \
        BENCH_FENCE(); \
        gnomon_stop(buffer_text); \
    }
BENCH_PAIRS(buffer, 1, BUFFER_PAIR, BUFFER_PAIR)

#define HUNDRED_PAIR(a, b) \
    { \
        GNOMON_SCOPE_IN("simple_100_names", "name " #a #b); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(hundred, 100, BENCH_100(HUNDRED_PAIR), HUNDRED_PAIR(10, 0))

/* 64 names in an order that the processor cannot predict. */
#define RANDOM_REGION(a, b) \
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "name " #a #b, "random_64_names", \
                       "marks"),
static gnomon_region random_regions[64] = {BENCH_64(RANDOM_REGION)};
static __thread uint32_t random_state = 1;

static inline gnomon_region *random_region(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return &random_regions[random_state >> 26];
}

#define RANDOM_PAIR \
    { \
        gnomon_token token = gnomon_begin(random_region()); \
        BENCH_FENCE(); \
        gnomon_end(token); \
    }
BENCH_PAIRS(random_names, 1, RANDOM_PAIR, RANDOM_PAIR)

/* A layer of a GPT: some names occur more than once in their parent. */
static gnomon_region layer_regions[] = {
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "layer", "repeated_names", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "layernorm", "repeated_names", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "matmul", "repeated_names", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "attention", "repeated_names", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "residual", "repeated_names", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "gelu", "repeated_names", NULL),
};

#define LAYER_PART(i) \
    { \
        gnomon_token token = gnomon_begin(&layer_regions[i]); \
        BENCH_FENCE(); \
        gnomon_end(token); \
    }
/* clang-format never ends on these lines. */
/* clang-format off */
#define LAYER_PAIRS \
    { \
        gnomon_token layer = gnomon_begin(&layer_regions[0]); \
        LAYER_PART(1) LAYER_PART(2) LAYER_PART(3) LAYER_PART(2) LAYER_PART(4) \
        LAYER_PART(1) LAYER_PART(2) LAYER_PART(5) LAYER_PART(2) LAYER_PART(4) \
        gnomon_end(layer); \
    }
/* clang-format on */
BENCH_PAIRS(repeated_names, 11, LAYER_PAIRS, LAYER_PART(1))

#define VIEWS_PAIR(name) \
    { \
        GNOMON_SCOPE(name); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(two_views, 1, VIEWS_PAIR("two_views"), VIEWS_PAIR("two_views"))
#ifdef BENCH_RING
BENCH_PAIRS(window, 1, VIEWS_PAIR("tree_and_window"),
            VIEWS_PAIR("tree_and_window"))
#endif

BENCH_PAIRS(trace_scope, 1, VIEWS_PAIR("trace_scope"),
            VIEWS_PAIR("trace_scope"))
BENCH_PAIRS(simple_and_trace, 1, VIEWS_PAIR("simple_and_trace"),
            VIEWS_PAIR("simple_and_trace"))
BENCH_PAIRS(trace_closed, 1, VIEWS_PAIR("trace_closed"),
            VIEWS_PAIR("trace_closed"))

#define HOOK_PAIR \
    { \
        GNOMON_SCOPE("hook"); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(hook, 1, HOOK_PAIR, HOOK_PAIR)

#define RANGE_PAIR \
    { \
        GNOMON_REGION(region, "range", NULL); \
        gnomon_range r = gnomon_range_begin(&region); \
        BENCH_FENCE(); \
        gnomon_range_end(r); \
    }
BENCH_PAIRS(range, 1, RANGE_PAIR, RANGE_PAIR)

BENCH_PAIRS(step, 1, gnomon_step();, gnomon_step();)

#define STEPS_PAIR \
    { \
        GNOMON_SCOPE("steps_scope"); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(steps_scope, 1, STEPS_PAIR, STEPS_PAIR)

/* A scope in each step, so that each step has times. */
#define STEPS_STEP \
    { \
        GNOMON_SCOPE("steps_step"); \
        BENCH_FENCE(); \
    } \
    gnomon_step();
BENCH_PAIRS(steps_step, 1, STEPS_STEP, STEPS_STEP)

/* The scope is recorded in every other step, which shows that windows are exact. */
#define FLIP_PAIR \
    { \
        gnomon_step(); \
        GNOMON_SCOPE("step_flip"); \
    }
BENCH_PAIRS(flip, 2, FLIP_PAIR FLIP_PAIR, FLIP_PAIR FLIP_PAIR)

#if GNOMON_WITH_NVTX
#define NVTX_PAIR \
    { \
        GNOMON_SCOPE_IN("bench", "nvtx_out"); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(nvtx_out, 1, NVTX_PAIR, NVTX_PAIR)

#define NVTX_OFF_PAIR(a, b) \
    { \
        GNOMON_SCOPE_IN("nvtx_out_off", "site " #a #b); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(nvtx_out_off, 64, BENCH_64(NVTX_OFF_PAIR), NVTX_OFF_PAIR(8, 0))
#endif

/* ---- Memory --------------------------------------------------------------- */

/* With 10^6 blocks in use, a pair frees one and allocates that pointer again: one of the
 * thread's last 16, or any one at all. Of two threads, a quarter of the frees are of what
 * the other one allocated. */
#define POOL_LIVE 1000000u
#define POOL_RECENT 16u
#define POOL(name) GNOMON_REGION_INIT(GNOMON_KIND_POOL, name, NULL, NULL)
static gnomon_region live_pool = POOL("live"), pair_pool = POOL("memory_pair"),
                     random_pool = POOL("memory_random");
static struct {
    uint32_t owner; /* 0: nobody yet; UINT32_MAX: at work */
    char line[60];
} handed[POOL_RECENT] __attribute__((aligned(64)));
static uint32_t pool_threads;
static __thread uint32_t pool_own, pool_random;

static inline const void *pool_block(size_t number)
{
    return (const void *)(uintptr_t)(0x10000000u + 448 * number);
}

static inline uint32_t pool_next(void)
{
    if (!pool_own)
        pool_own = __atomic_add_fetch(&pool_threads, 1, __ATOMIC_RELAXED);
    return pool_random = pool_random * 1664525u + 1013904223u;
}

void bench_fill_pool(void)
{
    GNOMON_SCOPE("fill");
    for (size_t i = 0; i < POOL_LIVE + 8 * POOL_RECENT; i++)
        gnomon_pool_allocated(&live_pool, pool_block(i), 64);
    memset(handed, 0, sizeof handed);
}

static inline void pool_again(gnomon_region *pool, const void *block)
{
    gnomon_pool_freed(pool, block);
    BENCH_FENCE();
    gnomon_pool_allocated(pool, block, 64);
}

static inline int pool_from_other(gnomon_region *pool, uint32_t number)
{
    uint32_t *owner = &handed[number % POOL_RECENT].owner;
    uint32_t was = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
    if (was == pool_own || was == UINT32_MAX ||
        !__atomic_compare_exchange_n(owner, &was, UINT32_MAX, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    pool_again(pool, pool_block(POOL_LIVE + number % POOL_RECENT));
    __atomic_store_n(owner, pool_own, __ATOMIC_RELEASE);
    return 1;
}

/* Each thread has a half of the blocks, and 16 of its own. */
#define POOL_PAIR \
    { \
        const uint32_t random = pool_next(); \
        if (random >> 30 || !pool_from_other(&pair_pool, random >> 8)) \
            pool_again(&pair_pool, \
                       pool_block(POOL_LIVE + \
                                  (1 + pool_own % 7) * POOL_RECENT + \
                                  (random >> 8) % POOL_RECENT)); \
    }
BENCH_PAIRS(memory_pair, 1, POOL_PAIR, POOL_PAIR)

#define POOL_RANDOM_PAIR \
    { \
        const uint32_t random = pool_next(); \
        const uint32_t half = POOL_LIVE / 2; \
        if (random >> 30 || !pool_from_other(&random_pool, random >> 8)) \
            pool_again(&random_pool, \
                       pool_block(pool_own % 2 * half + \
                                  (uint32_t)((uint64_t)random * half >> 32))); \
    }
BENCH_PAIRS(memory_random, 1, POOL_RANDOM_PAIR, POOL_RANDOM_PAIR)

#define MARK(name, floor, mode, record, sites, id) \
    { \
        name, floor, mode, record, sites, id##_pairs, id##_once, NULL \
    }
const bench_row bench_marks[] = {
    MARK("off_scope", "Fa", BENCH_OFF, BENCH_SWITCHED, 64, off_scope),
    MARK("off_byname", "Fa", BENCH_OFF, BENCH_SWITCHED, 64, off_byname),
    MARK("passthrough", "Fa", BENCH_PASSTHROUGH, BENCH_SWITCHED, 64,
         passthrough),
    MARK("simple_scope", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 1, simple_scope),
    MARK("op_scope", "Fb", BENCH_SIMPLE, BENCH_BY_NAME, 1, op_scope),
    MARK("simple_byname", "Fd", BENCH_SIMPLE, BENCH_BY_NAME, 1, simple_byname),
    MARK("changing_buffer", "Fd", BENCH_SIMPLE, BENCH_BY_NAME, 1, buffer),
    MARK("simple_100_names", "Fd", BENCH_SIMPLE, BENCH_BY_NAME, 100, hundred),
    MARK("random_64_names", "Fd", BENCH_SIMPLE, BENCH_BY_NAME, 1, random_names),
    MARK("repeated_names", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 11,
         repeated_names),
    MARK("two_views", "Fw", BENCH_TWO_VIEWS, BENCH_BY_NAME, 1, two_views),
    MARK("views_byname", "Fw", BENCH_TWO_VIEWS, BENCH_BY_NAME, 1, views_byname),
#ifdef BENCH_RING
    {"tree_and_window", "Fw", BENCH_RING_OPEN, BENCH_BY_NAME, 1, window_pairs,
     window_once, NULL},
    {"tree_and_closed", "Fw", BENCH_RING_CLOSED, BENCH_BY_NAME, 1, window_pairs,
     window_once, "tree_and_window"},
#endif
    MARK("trace_scope", "Fw", BENCH_TRACE, BENCH_TAPED, 1, trace_scope),
    MARK("simple_and_trace", "Fw", BENCH_TREE_AND_TRACE, BENCH_TAPED, 1,
         simple_and_trace),
    MARK("trace_byname", "Fd", BENCH_TRACE, BENCH_TAPED, 1, trace_byname),
    MARK("trace_closed", "Fw", BENCH_TRACE_CLOSED, BENCH_BY_NAME, 1,
         trace_closed),
    MARK("range", "Fd", BENCH_SIMPLE, BENCH_BY_NAME, 1, range),
    MARK("step", "Fd", BENCH_SIMPLE, BENCH_STEPS, 1, step),
    MARK("steps_scope", "Fw", BENCH_TREE_AND_STEPS, BENCH_BY_NAME, 1,
         steps_scope),
    MARK("steps_byname", "Fd", BENCH_TREE_AND_STEPS, BENCH_BY_NAME, 1,
         steps_byname),
    MARK("steps_step", "Fd", BENCH_TREE_AND_STEPS, BENCH_BY_NAME, 1,
         steps_step),
    MARK("advanced_scope", "Fw", BENCH_ADVANCED, BENCH_BY_NAME, 1,
         advanced_scope),
    MARK("memory_pair", "Fd", BENCH_MEMORY, BENCH_POOLED, 1, memory_pair),
    MARK("memory_random", "Fd", BENCH_MEMORY, BENCH_POOLED, 1, memory_random),
    MARK("one_hook", "Fd", BENCH_ONE_HOOK, BENCH_HOOKS, 1, hook),
    MARK("hook_byname", "Fd", BENCH_ONE_HOOK, BENCH_HOOKS, 1, hook_byname),
    MARK("buffer_and_hook", "Fd", BENCH_ONE_HOOK, BENCH_HOOKS, 1, buffer),
    MARK("two_hooks", "Fd", BENCH_TWO_HOOKS, BENCH_HOOKS, 1, hook),
    MARK("scope_on", "Fr", BENCH_CUDA, BENCH_BY_NAME, 1, scope_on),
    MARK("four_hooks", "Fd", BENCH_FOUR_HOOKS, BENCH_HOOKS, 1, hook),
    {"tree_and_hook", "Fw", BENCH_TREE_AND_HOOK, BENCH_BY_NAME, 1, hook_pairs,
     hook_once, "hook"},
    MARK("both_byname", "Fw", BENCH_TREE_AND_HOOK, BENCH_BY_NAME, 1,
         both_byname),
#if GNOMON_WITH_NVTX
    MARK("nvtx_out", "Fn", BENCH_NVTX, BENCH_TOLD, 1, nvtx_out),
    MARK("nvtx_out_off", "Fa", BENCH_NVTX_OFF, BENCH_SWITCHED, 64,
         nvtx_out_off),
#endif
};
const size_t bench_mark_count = sizeof bench_marks / sizeof *bench_marks;

/* These rows run after 10^5 regions were registered. */
const bench_row bench_late[] = {
    MARK("step_flip", "Fd", BENCH_FLIP, BENCH_HALF, 2, flip),
};
const size_t bench_late_count = sizeof bench_late / sizeof *bench_late;

/* ---- Planted faults ------------------------------------------------------ */

/* Each is a row above with a fault that a mistake in gnomon could cause. */
static volatile uint64_t plant_sink;
static pthread_mutex_t plant_mutex = PTHREAD_MUTEX_INITIALIZER;

#define CLOCK_PAIR \
    { \
        plant_sink = floor_ticks(); \
        SIMPLE_PAIR \
    }
BENCH_PAIRS(plant_clock, 1, CLOCK_PAIR, CLOCK_PAIR)

#define LOCK_PAIR \
    { \
        pthread_mutex_lock(&plant_mutex); \
        GNOMON_SCOPE("simple_scope"); \
        pthread_mutex_unlock(&plant_mutex); \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(plant_lock, 1, LOCK_PAIR, LOCK_PAIR)

/* Leaves out one pair in a thousand. */
#define LOSE_PAIR \
    if (i % 1000 != 1) \
    SIMPLE_PAIR
BENCH_PAIRS(plant_loss, 1, LOSE_PAIR, SIMPLE_PAIR)

#define LOSE_EVENT \
    if (i % 1000 != 1) \
    VIEWS_PAIR("trace_scope")
BENCH_PAIRS(plant_event, 1, LOSE_EVENT, VIEWS_PAIR("trace_scope"))

#define EMPTY_PAIR(a, b) \
    { \
        BENCH_FENCE(); \
    }
BENCH_PAIRS(plant_empty, 64, BENCH_64(EMPTY_PAIR), EMPTY_PAIR(8, 0))

#define PLANT(name, floor, mode, record, sites, id, label) \
    { \
        name, floor, mode, record, sites, id##_pairs, id##_once, label \
    }
const bench_row bench_plants[] = {
    MARK("simple_scope", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 1, simple_scope),
    MARK("off_scope", "Fa", BENCH_OFF, BENCH_SWITCHED, 64, off_scope),
    MARK("trace_scope", "Fw", BENCH_TRACE, BENCH_TAPED, 1, trace_scope),
    PLANT("second_clock", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 1, plant_clock,
          "simple_scope"),
    PLANT("lock", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 1, plant_lock,
          "simple_scope"),
    PLANT("lost_scope", "Fw", BENCH_SIMPLE, BENCH_BY_NAME, 1, plant_loss,
          "simple_scope"),
    PLANT("lost_event", "Fw", BENCH_TRACE, BENCH_TAPED, 1, plant_event,
          "trace_scope"),
    PLANT("emptied_mark", "Fa", BENCH_OFF, BENCH_SWITCHED, 64, plant_empty,
          "off_scope"),
};
const size_t bench_plant_count = sizeof bench_plants / sizeof *bench_plants;

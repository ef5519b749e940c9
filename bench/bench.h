/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the files of the benchmark share. A row is measured in pairs
 * of begin and end: it is a floor, or a mark of gnomon in some mode. Results of
 * both linkages are lines of one table. The programs pass them to each other as a
 * file of that table. */
#ifndef GNOMON_BENCH_H
#define GNOMON_BENCH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "floor/calls.h"

#ifndef GNOMON_WITH_NVTX
#define GNOMON_WITH_NVTX 0
#endif

/* A cell without a value. */
#define BENCH_EMPTY ((double)NAN)

/* The compiler must not move or merge the code around it. */
#define BENCH_FENCE() __asm__ volatile("" ::: "memory")
#define BENCH_ALIGNED __attribute__((noinline, aligned(64)))

/* X(a, b) with a and b from 0 to 7, or to 9: each site gets its own name. */
/* clang-format off */
#define BENCH_EIGHT(X, a) \
    X(a, 0) X(a, 1) X(a, 2) X(a, 3) X(a, 4) X(a, 5) X(a, 6) X(a, 7)
#define BENCH_64(X) \
    BENCH_EIGHT(X, 0) BENCH_EIGHT(X, 1) BENCH_EIGHT(X, 2) BENCH_EIGHT(X, 3) \
    BENCH_EIGHT(X, 4) BENCH_EIGHT(X, 5) BENCH_EIGHT(X, 6) BENCH_EIGHT(X, 7)
#define BENCH_TEN(X, a) BENCH_EIGHT(X, a) X(a, 8) X(a, 9)
#define BENCH_100(X) \
    BENCH_TEN(X, 0) BENCH_TEN(X, 1) BENCH_TEN(X, 2) BENCH_TEN(X, 3) \
    BENCH_TEN(X, 4) BENCH_TEN(X, 5) BENCH_TEN(X, 6) BENCH_TEN(X, 7) \
    BENCH_TEN(X, 8) BENCH_TEN(X, 9)
/* clang-format on */

/* name_pairs(n): runs n pairs, a multiple of `sites`; `body` runs `sites` pairs.
 * name_once(): the ticks of one cold run of `pair`. */
#define BENCH_PAIRS(name, sites, body, pair) \
    static BENCH_ALIGNED void name##_pairs(uint64_t n) \
    { \
        for (uint64_t i = n / (sites); i; i--) { \
            body \
        } \
    } \
    static BENCH_ALIGNED uint64_t name##_once(void) \
    { \
        uint64_t before = bench_ticks_alone(); \
        pair return bench_ticks_alone() - before; \
    }

/* What is attached while a row runs. */
enum bench_mode {
    BENCH_OFF,
    BENCH_PASSTHROUGH,
    BENCH_SIMPLE,
    BENCH_ADVANCED,
    BENCH_ONE_HOOK,
    BENCH_TWO_HOOKS,
    BENCH_FOUR_HOOKS,
    BENCH_TREE_AND_HOOK,
    BENCH_NVTX,      /* nvtx, and a tool that counts */
    BENCH_CUDA,      /* cuda, and a driver that does nothing */
    BENCH_NVTX_OFF,  /* nvtx, and a tool that does not listen */
    BENCH_FLIP,      /* simple, with a window that opens at every other step */
    BENCH_TWO_VIEWS, /* simple, and advanced with a filter */
    BENCH_TREE_AND_STEPS, /* simple, and what steps are made of */
    BENCH_RING_OPEN,      /* simple, and a recorder that is not a tree, ... */
    BENCH_RING_CLOSED,    /* ... with its own window, open or closed */
    BENCH_TRACE,          /* trace */
    BENCH_TREE_AND_TRACE, /* simple, and trace */
    BENCH_TRACE_CLOSED,   /* simple, and trace outside its window */
    BENCH_MEMORY,         /* memory, with many blocks in use */
    BENCH_MODES
};

/* How it is checked that everything that ran was recorded. */
enum bench_record {
    BENCH_NO_RECORD, /* a floor */
    BENCH_BY_NAME,   /* nodes whose region's name or category is the row's */
    BENCH_HALF,      /* the same; a window is open for every other one */
    BENCH_TAPED,     /* events of such nodes, and those that are missing */
    BENCH_HOOKS,     /* what the hooks counted */
    BENCH_TOLD,      /* what the tool of NVTX counted */
    BENCH_STEPS,     /* steps of the stage */
    BENCH_POOLED,    /* allocations from the pool of the row's name */
    BENCH_SWITCHED   /* off: the same code records once it is switched on */
};

typedef struct bench_row {
    const char *name;
    const char *floor; /* NULL: this row is a floor */
    int mode;
    int record;
    uint32_t sites; /* how many pairs it runs at least */
    void (*pairs)(uint64_t n);
    uint64_t (*once)(void); /* NULL: not measured cold */
    const char *label;      /* what its regions are called; NULL: its name */
} bench_row;

extern const bench_row bench_floors[], bench_marks[], bench_late[];
extern const bench_row bench_plants[];
extern const size_t bench_floor_count, bench_mark_count, bench_late_count;
extern const size_t bench_plant_count;
const bench_row *bench_floor(const char *name);
void bench_fill_pool(void);

/* A line of the table. BENCH_EMPTY is an empty cell, as is -1 in `recorded`. The
 * floor is measured just before the row each time; ratio_min divides the least
 * times, ratio_median is the median of the ratios. */
typedef struct bench_result {
    char measure[32];
    int threads;
    double ns_min, ns_median;
    char floor[16];
    double ratio_min, ratio_median, instructions, cold_ns;
    char linkage[16];
    int64_t recorded;
    int64_t ran; /* what `recorded` must be; not in the file */
} bench_result;

typedef struct bench_table {
    bench_result line[288];
    size_t count;
} bench_table;

/* How much is measured; smoke: very little, to see that it works. */
typedef struct bench_effort {
    int repetitions;
    int cold_samples;
    double segment_ns;
    int smoke;
} bench_effort;
extern bench_effort bench_effort_now;

/* The line of this name. If there is none: a new one if `make`, else NULL. */
bench_result *bench_line(bench_table *t, const char *measure, int threads,
                         const char *linkage, int make);
bench_result *bench_own(bench_table *t, const char *measure, int threads);
int bench_write(const bench_table *t, const char *path);
int bench_read(bench_table *t, const char *path); /* adds; 0: well formed */
void bench_print(const bench_table *t);
void bench_print_goals(bench_table *t);

/* Each fills its columns, and names and counts the rows that did not record
 * everything that ran. */
int bench_measure(bench_table *t, const bench_row *rows, size_t count);
void bench_measure_cold(bench_table *t, const bench_row *rows, size_t count);
void bench_measure_lone(bench_table *t);
void bench_measure_far_flips(bench_table *t);
void bench_register_many(void);

/* Counts instructions by callgrind: 0, or -1 without valgrind. `what`: "all",
 * "plants", or "few", which are those of bench_guard. */
int bench_count(bench_table *t, const char *what);
int bench_count_inside(const char *what, const char *list);
int bench_guard(bench_table *t);
/* Runs the planted faults: 0 if each of them is found. */
int bench_selftest(void);
int bench_rss(uint64_t scopes);
int bench_stages(uint32_t rounds);
void bench_measure_stages(bench_table *t);
void bench_measure_footer(bench_table *t);
void bench_measure_snapshots(bench_table *t);
void bench_measure_ends(bench_table *t);
double bench_resident_bytes(void);

/* ring.c, only in the static program: attaches and detaches the recorder. */
void bench_ring_attach(int is_open);
void bench_ring_detach(void);

/* Call it first: makes a tool that counts NVTX calls, for each thread. */
void bench_nvtx_listen(void);
uint64_t bench_nvtx_pairs(void);
/* Call it first too: uses a CUDA driver whose calls cost almost nothing. */
void bench_cuda_use(void);
/* Of cuda.c, for the tables of rows. */
void records_pairs(uint64_t n);
uint64_t records_once(void);
void scope_on_pairs(uint64_t n);
uint64_t scope_on_once(void);
/* Of nvtx.c. */
void by_hand_pairs(uint64_t n);
uint64_t by_hand_once(void);
void nvtx_near_pairs(uint64_t n);
uint64_t nvtx_near_once(void);
void nvtx_far_pairs(uint64_t n);
uint64_t nvtx_far_once(void);

void bench_mode_enter(int mode);
uint64_t bench_recorded(const bench_row *row); /* so far, by the profile */
uint64_t bench_hooked(void);                   /* so far, on this thread */
int bench_hooks(int mode);

int bench_cpu(int index); /* the index-th we may run on; -1: none */
void bench_pin(int index);
double bench_ns_per_tick(void);
double bench_median(double *values, size_t count);
const char *bench_self(void);
int bench_run_program(const char *const argv[], int quiet); /* exit status */

static inline uint64_t bench_now_ns(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ticks; no instruction before or after it overlaps with the read. */
static inline uint64_t bench_ticks_alone(void)
{
#ifdef __x86_64__
    uint32_t low, high;
    __asm__ volatile("mfence; lfence; rdtsc; lfence"
                     : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#else
    BENCH_FENCE();
    return floor_ticks();
#endif
}

#endif

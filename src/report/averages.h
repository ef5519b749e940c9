/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table that torch.profiler prints of key_averages(), byte for byte as torch 2.13 does
 * (torch/autograd/profiler_util.py), but where that contradicts itself: cells stand below
 * their titles where there are stacks and flops, and a share of nothing is "NaN". */
#ifndef GNOMON_REPORT_AVERAGES_H
#define GNOMON_REPORT_AVERAGES_H

#include "print/rows.h"

/* The cells, with the names of torch's attributes, by which tables are sorted and Python has
 * them; others begin with '_'. Times are us, as torch has them, sizes bytes. The four sums
 * of an event follow one another, and then those of it without its children. */
#define GNOMON__AVERAGE_LIST(X) \
    X(GNOMON__AVERAGE_NAME, "key", "", TEXT, SHOWN, KEY) \
    /* 2: it ran on the device; 1: a label, whose time is that of what is below it; \
     * their sum. Other bits tell rows apart */ \
    X(GNOMON__AVERAGE_KIND, "_kind", "", ID, SHOWN, KEY) \
    X(GNOMON__AVERAGE_OVERLOAD, "overload_name", "", TEXT, SHOWN, KEY) \
    X(GNOMON__AVERAGE_SHAPES, "_shapes", "", TEXT, SHOWN, KEY) \
    /* what it is inside; "": nothing */ \
    X(GNOMON__AVERAGE_LAYER, "_layer", "", TEXT, SHOWN, KEY) \
    /* a line for each frame, the innermost first */ \
    X(GNOMON__AVERAGE_STACK, "_stack", "", TEXT, SHOWN, KEY) \
    X(GNOMON__AVERAGE_NODE, "node_id", "", NUMBER, SHOWN, KEY) /* -1: none */ \
    X(GNOMON__AVERAGE_CPU, "cpu_time_total", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_DEVICE, "device_time_total", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_CPU_BYTES, "cpu_memory_usage", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_DEVICE_BYTES, "device_memory_usage", "", NUMBER, SHOWN, \
      SUM) \
    X(GNOMON__AVERAGE_SELF_CPU, "self_cpu_time_total", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_SELF_DEVICE, "self_device_time_total", "", NUMBER, \
      SHOWN, SUM) \
    X(GNOMON__AVERAGE_SELF_CPU_BYTES, "self_cpu_memory_usage", "", NUMBER, \
      SHOWN, SUM) \
    X(GNOMON__AVERAGE_SELF_DEVICE_BYTES, "self_device_memory_usage", "", \
      NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_COUNT, "count", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_FLOPS, "flops", "", NUMBER, SHOWN, SUM) \
    X(GNOMON__AVERAGE_CPU_MEAN, "cpu_time", "", NUMBER, SHOWN, MADE) \
    X(GNOMON__AVERAGE_DEVICE_MEAN, "device_time", "", NUMBER, SHOWN, MADE) \
    /* gnomon__average_order */ \
    X(GNOMON__AVERAGE_ORDER, "_order", "", ID, SHOWN, LEAST)
GNOMON__COLUMN_NUMBERS(GNOMON__AVERAGE_CELLS, GNOMON__AVERAGE_LIST);
extern const gnomon__column gnomon__average_columns[GNOMON__AVERAGE_CELLS];
extern const char *const gnomon__average_names[GNOMON__AVERAGE_CELLS];

/* Where a row stands: by the first one that makes it, which also says whether it ended on
 * another thread, and whether something was open around it. */
static inline uint64_t gnomon__average_order(uint64_t order, bool is_async,
                                             bool is_inner)
{
    return order << 2 | (uint64_t)is_async << 1 | (uint64_t)is_inner;
}

/* The arguments of torch's table(), and what its profiler was asked for. */
typedef struct gnomon__averages_choice {
    gnomon__table_choice table; /* the first */
    const char *sort_by;        /* NULL: rows stay in their order */
    const char *header;         /* NULL: none */
    const char *time_unit;      /* "s", "ms", "us"; else as each time is */
    const char *device;         /* "CUDA"; NULL: there is none */
    int64_t row_limit;          /* -1: all */
    int64_t name_width, shapes_width, source_width; /* -1: no limit */
    int64_t frames;    /* by so many of the innermost frames; 0: by none */
    bool is_top_level; /* rows of what nothing was open around */
    bool is_apart;     /* a row for each event */
    bool has_memory, has_flops, has_shapes, has_stacks, has_overloads;
    bool has_layers;
} gnomon__averages_choice;

/* torch's defaults: 100 rows, widths of 55, 80 and 75. */
extern const gnomon__averages_choice gnomon__averages_preset;

/* Single executions, or paths, of a profile. `choice` of the rows is a
 * gnomon__averages_choice. */
extern const gnomon__report gnomon__averages;
void gnomon__averages_choose(gnomon__report_rows *rows);
/* GNOMON_OK, GNOMON_EINVAL where nothing has the name sort_by, or the writer's code. */
int gnomon__averages_text(const gnomon__report_rows *rows,
                          const gnomon_writer *out);

/* ---- Rows of single events ---------------------------------------------------------- */

/* An event as the profiler delivered it, and from `parent` on what is found out. */
typedef struct gnomon__average_event {
    const char *name;
    const char *overload, *shapes, *stack; /* as the cells; NULL: none */
    const char *layer;
    uint64_t begin_ns, end_ns, flops;
    uint64_t thread, end_thread; /* they differ: it is asynchronous */
    uint64_t id;                 /* that others are linked to */
    uint64_t linked;             /* the operation that launched it; 0: none */
    int64_t bytes;               /* of "[memory]" and "[OutOfMemory]" */
    int64_t node;                /* -1: none */
    bool is_device, is_annotation;
    bool is_async, is_merged;             /* into its parent */
    uint8_t use;                          /* what it is for */
    struct gnomon__average_event *parent; /* NULL: none */
    size_t children, order;
    double kernels;  /* us of its own ones */
    double all[4];   /* as the cells from CPU on */
    double below[4]; /* of its children */
} gnomon__average_event;

/* What tells rows apart beside names. */
typedef struct gnomon__averages_by {
    bool shapes, overloads;
    bool is_apart; /* each is a row of its own */
    size_t frames; /* the innermost ones of the stack; 0: none */
} gnomon__averages_by;

/* Adds the rows by the rules of torch (torch/autograd/profiler.py): who contains whom is
 * found by time, and memory is of every operation at whose time it was taken, on any
 * thread. Times are added up as torch does, in us and in its order, for a mean of two is
 * often a tie of what is printed. Changes the events. O(n log n). */
void gnomon__averages_add(gnomon__report_rows *rows,
                          const gnomon__averages_by *by,
                          gnomon__average_event *events, size_t count);

/* The rows of a profile, as `choice` has them, in which it sets what the profile has.
 * *is_of_events: from single executions, and not from sums by path. GNOMON_OK or
 * GNOMON_ENOMEM; free the rows in any case. */
int gnomon__averages_make(gnomon__report_rows *rows,
                          gnomon__averages_choice *choice, bool *is_of_events,
                          const gnomon_profile *profile);

/* --as averages */
extern const gnomon_profiler gnomon__averages_report;

#endif

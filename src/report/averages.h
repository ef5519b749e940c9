/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table that torch.profiler prints of key_averages(), byte for byte as torch 2.13 does
 * (torch/autograd/profiler_util.py), but where that contradicts itself: cells stand below
 * their titles where there are stacks and flops, and a share of nothing is "NaN".
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_REPORT_AVERAGES_H
#define GNOMON_REPORT_AVERAGES_H

#include <stdbool.h>

#include "gnomon/writer.h"

/* A row. Times are ns, sizes bytes. Texts may be NULL. */
typedef struct gnomon__average {
    const char *name, *overload, *shapes;
    const char *const *stack; /* the innermost frame first */
    size_t stack_count;
    uint64_t count, flops;
    int64_t cpu_ns, self_cpu_ns, device_ns, self_device_ns;
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes;
    int64_t node;       /* -1: none */
    bool is_device;     /* it ran on the device */
    bool is_annotation; /* a label, whose time is that of what is below it */
    bool is_async;      /* it ended on another thread */
    bool is_inner;      /* something was open around it */
} gnomon__average;

/* The arguments of torch's table(), and what its profiler was asked for. */
typedef struct gnomon__averages_choice {
    const char *sort_by;   /* NULL: rows stay in their order */
    const char *header;    /* NULL: none */
    const char *time_unit; /* "s", "ms", "us"; else as each time is */
    const char *device;    /* "CUDA"; NULL: there is none */
    int64_t row_limit;     /* -1: all */
    int64_t name_width, shapes_width, source_width; /* -1: no limit */
    bool is_top_level; /* rows of what nothing was open around */
    bool has_memory, has_flops, has_shapes, has_stacks, has_overloads;
} gnomon__averages_choice;

/* torch's defaults: 100 rows, widths of 55, 80 and 75. */
extern const gnomon__averages_choice gnomon__averages_preset;

/* Prints the rows. GNOMON_OK, GNOMON_EINVAL where there is nothing of the name sort_by,
 * GNOMON_ENOMEM, or the writer's code. */
int gnomon__averages_print(const gnomon__average *rows, size_t count,
                           const gnomon__averages_choice *choice,
                           const gnomon_writer *out);

#endif

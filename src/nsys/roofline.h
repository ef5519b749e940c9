/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How fast a device can be, as the user says, and how near to it something was. No peak
 * is built in: what a datasheet says differs by board, clock and sparsity. */
#ifndef GNOMON_NSYS_ROOFLINE_H
#define GNOMON_NSYS_ROOFLINE_H

#include "nsys/work.h"

enum gnomon__peak_kind {
    GNOMON__PEAK_FP64,
    GNOMON__PEAK_FP32, /* of the ordinary cores */
    GNOMON__PEAK_TF32,
    GNOMON__PEAK_FP16,
    GNOMON__PEAK_BF16,
    GNOMON__PEAK_FP8,
    GNOMON__PEAK_INT8,
    GNOMON__PEAK_KINDS
};

/* 0: not known. */
typedef struct gnomon__peaks {
    double tflops[GNOMON__PEAK_KINDS]; /* dense */
    double gbs;                        /* of memory, 10^9 bytes a second */
} gnomon__peaks;

/* Reads "bf16=989.4,fp32=66.9,GB/s=3350". A gnomon__exit, after one line. */
int gnomon__peaks_read(gnomon__peaks *p, const char *words);
/* TFLOP/s that the operation could have on the cores that it ran on; 0: not known. */
double gnomon__peak_of(const gnomon__peaks *p, const gnomon__work *w);

typedef struct gnomon__roofline_point {
    const char *name;
    double intensity, tflops; /* flops a byte; achieved */
    uint64_t ns;
} gnomon__roofline_point;

/* Draws points into an SVG file, with a roof for each peak, and names the ten that took
 * the most time. Sorts them. A gnomon__exit, after one line. */
int gnomon__roofline_draw(const char *path, const gnomon__peaks *peaks,
                          gnomon__roofline_point *points, size_t count);

#endif

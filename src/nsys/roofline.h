/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was achieved beside what a device can, as a picture. */
#ifndef GNOMON_NSYS_ROOFLINE_H
#define GNOMON_NSYS_ROOFLINE_H

#include <stddef.h>

#include "nsys/peaks.h"

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

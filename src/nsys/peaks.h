/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How fast a device can be: as the user says, else as its maker does. A peak whose source
 * was not read is none. */
#ifndef GNOMON_NSYS_PEAKS_H
#define GNOMON_NSYS_PEAKS_H

#include "nsys/work.h"

enum gnomon__peak_kind {
    GNOMON__PEAK_FP64, /* of the ordinary cores */
    GNOMON__PEAK_FP64_TENSOR,
    GNOMON__PEAK_FP32, /* of the ordinary cores */
    GNOMON__PEAK_TF32,
    GNOMON__PEAK_FP16,
    GNOMON__PEAK_BF16,
    GNOMON__PEAK_FP8,
    GNOMON__PEAK_INT8,
    GNOMON__PEAK_KINDS
};

/* Their words, then that of memory, then NULL. */
extern const char *const gnomon__peak_words[];

/* 0: not known. */
typedef struct gnomon__peaks {
    double tflops[GNOMON__PEAK_KINDS]; /* dense */
    double gbs;                        /* of memory, 10^9 bytes a second */
} gnomon__peaks;

/* A device, as its driver described it; zeroes: not known. */
typedef struct gnomon__nsys_device {
    char name[64];
    double bandwidth; /* bytes a second */
    int64_t processors, clock_hz;
    int64_t capability; /* 0x90: 9.0 */
} gnomon__nsys_device;

/* Reads "bf16=989.4,fp32=66.9,GB/s=3350". A gnomon__exit, after one line. */
int gnomon__peaks_read(gnomon__peaks *p, const char *words);
/* Those of a device. Returns what says so; NULL: nothing but its memory is known. */
const char *gnomon__peaks_of_device(gnomon__peaks *p,
                                    const gnomon__nsys_device *device);
/* TFLOP/s that the operation could have on the cores that it ran on; 0: not known. */
double gnomon__peak_of(const gnomon__peaks *p, const gnomon__work *w);

#endif

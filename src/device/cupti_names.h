/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of CUDA's two interfaces, by the numbers that CUPTI has for them. */
#ifndef GNOMON_DEVICE_CUPTI_NAMES_H
#define GNOMON_DEVICE_CUPTI_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define GNOMON__CUPTI_IDS 2048u /* 13.0 has less than 900 in each interface */

enum gnomon__cupti_class {
    GNOMON__CUPTI_UNKNOWN = 0, /* there is no such call */
    GNOMON__CUPTI_OTHER = 1,
    GNOMON__CUPTI_LAUNCH = 2, /* it launches a copy, a set, a graph or others */
    GNOMON__CUPTI_WAIT = 3,   /* the thread or a stream waits */
    GNOMON__CUPTI_NOISE = 4,  /* it only asks, and often: not told about */
    GNOMON__CUPTI_CAPTURE_BEGINS = 5,
    GNOMON__CUPTI_CAPTURE_ENDS = 6,
    GNOMON__CUPTI_KERNEL_LAUNCH = 7 /* it launches one kernel */
};

/* What a call of this name does. */
enum gnomon__cupti_class gnomon__cupti_class_of_name(const char *name);

/* Classifies all calls of the CUPTI that is loaded. In control calls, once. */
void gnomon__cupti_names_read(void);

/* The class of a call, after gnomon__cupti_names_read. One load. */
enum gnomon__cupti_class gnomon__cupti_class_of(int is_driver, uint32_t id);

/* The call's name as programs write it: cudaLaunchKernel, not
 * cudaLaunchKernel_ptsz_v7000. 0: it is not known. */
int gnomon__cupti_name(int is_driver, uint32_t id, char *text, size_t size);

#endif

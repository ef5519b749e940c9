/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI's moments by gnomon's clock. CUPTI is given gnomon's clock, where it takes one.
 * Else both clocks are read at one moment again and again, and moments between two such
 * readings lie on the line through them. */
#ifndef GNOMON_DEVICE_CUPTI_CLOCK_H
#define GNOMON_DEVICE_CUPTI_CLOCK_H

#include <stdint.h>

/* Before any kind of record is enabled. Gives CUPTI gnomon's clock: where it is that of the
 * whole process once, as giving it anew made later records wrong in some versions; of one
 * of several subscribers each time. */
void gnomon__cupti_clock_start(int is_one_of_several);

/* Reads both clocks. Where CUPTI's is gnomon's no more, as another profiler has given it
 * one, which stays after it has gone, it is CUPTI's own from then on. Before records are
 * read. Of one thread at a time, as all below. */
void gnomon__cupti_clock_anchor(void);

/* A moment of a record in ns of gnomon_now_ns; 0: before the run's zero. */
uint64_t gnomon__cupti_clock_time(uint64_t moment);

/* The most that a time may be wrong by; 0: CUPTI has gnomon's clock. Of any thread. */
uint64_t gnomon__cupti_clock_error(void);

#endif

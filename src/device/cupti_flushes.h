/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread that reads CUPTI's records, and flushes. In control calls, if not said
 * otherwise. */
#ifndef GNOMON_DEVICE_CUPTI_FLUSHES_H
#define GNOMON_DEVICE_CUPTI_FLUSHES_H

#include <stdint.h>

/* Records are told as work of source `number` from now on. Where no thread can be
 * started, flushes alone read them, and a line says so. */
void gnomon__cupti_flushes_start(uint32_t number, int has_system_threads);

/* Tells what CUPTI has, also unfinished work, which is counted as lost. Nothing is told
 * after it returns. */
void gnomon__cupti_flushes_stop(void);

/* Tells all that is over. Waits for the device at most so long, and a second for CUPTI. */
void gnomon__cupti_flush(uint64_t patience_ns);

/* A buffer is full; or records should be read before many more are made. Any thread. */
void gnomon__cupti_on_full_buffer(void);
void gnomon__cupti_flush_soon(void);

/* The last flush: after it nothing of CUPTI or CUDA is called any more. */
void gnomon__cupti_end(void);
/* Whether that was, or CUPTI has ended itself. */
int gnomon__cupti_is_at_end(void);

/* In a forked child. */
void gnomon__cupti_flushes_forget(void);

#endif

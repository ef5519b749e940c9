/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory that CUPTI writes its records to: a fixed number of buffers, which it
 * takes and gives back by two callbacks. It makes them on any thread, the host's too, so
 * they take no lock and no memory. Buffers are in one of four states:
 *
 *     free -> CUPTI's -> full -> read by us -> free
 */
#ifndef GNOMON_DEVICE_CUPTI_BUFFERS_H
#define GNOMON_DEVICE_CUPTI_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define GNOMON__CUPTI_BUFFER (1u << 20) /* NVIDIA advises 1 to 10 MB */
/* 64 MB hold 300,000 kernels, or what some 0.1 s of the shortest ones launch. */
#define GNOMON__CUPTI_BUFFERS 64u

typedef struct gnomon__cupti_buffer {
    uint32_t state;
    uint32_t stream;
    uint64_t order; /* of completion, from 1 */
    size_t valid;   /* bytes */
    void *context;
    uint8_t *memory;
} gnomon__cupti_buffer;

/* Reserves the memory, once in a process; pages are used when CUPTI writes to them, and
 * never given back, as CUPTI may still have some. `completed` is called when a buffer
 * is full. 0: there is no memory. */
int gnomon__cupti_buffers_make(void (*completed)(void));

/* CUPTI's two callbacks. */
void gnomon__cupti_buffer_requested(uint8_t **buffer, size_t *size,
                                    size_t *most);
void gnomon__cupti_buffer_completed(void *context, uint32_t stream,
                                    uint8_t *buffer, size_t size, size_t valid);

/* The full buffer that was completed first, or NULL; it is the caller's until it is
 * given back. */
gnomon__cupti_buffer *gnomon__cupti_buffers_next(void);
void gnomon__cupti_buffers_give(gnomon__cupti_buffer *buffer);

/* The records that were in buffers which had to be used again unread, since the last
 * call. */
uint64_t gnomon__cupti_buffers_lost(void);

#endif

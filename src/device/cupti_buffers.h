/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory that CUPTI writes its records to: buffers, which it takes and gives back by
 * two callbacks. It makes them on any thread, the host's too, so they take no lock and no
 * memory. Buffers are in one of four states, and zeroed when CUPTI takes them:
 *
 *     free -> CUPTI's -> full -> read by us -> free
 */
#ifndef GNOMON_DEVICE_CUPTI_BUFFERS_H
#define GNOMON_DEVICE_CUPTI_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define GNOMON__CUPTI_BUFFER (1u << 20) /* NVIDIA advises 1 to 10 MB */
/* CUPTI may have one for each thread that launches: pages are used when it writes. */
#define GNOMON__CUPTI_BUFFERS 256u
/* So many bytes of records may wait to be read, and no more are taken: 300,000 kernels, or
 * what some 0.1 s of the shortest ones launch. */
#define GNOMON__CUPTI_WAITING (64ull << 20)

typedef struct gnomon__cupti_buffer {
    uint32_t state;
    uint64_t order; /* of completion, from 1 */
    size_t valid;   /* bytes */
    uint8_t *memory;
} gnomon__cupti_buffer;

/* Reserves the memory, once in a process; it is never given back, as CUPTI may still have
 * some. `completed` is called when a buffer is full. 0: there is no memory. */
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

/* The record after *record, or the first one if that is NULL; 0: there is none. What CUPTI
 * cannot read is passed over and added to *lost: a slot that was never filled as one record,
 * and from a kind that it does not know on as many as there is room for. */
int gnomon__cupti_buffer_step(const gnomon__cupti_buffer *buffer, void **record,
                              uint64_t *lost);

/* The records that were thrown away, as too many waited, since the last call. */
uint64_t gnomon__cupti_buffers_lost(void);

/* Whether CUPTI has one of them: where it records, it has. */
int gnomon__cupti_buffers_out(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory to which CUPTI writes its records, and passing these records to the
 * recorder of work.
 *
 * CUPTI takes buffers and gives them back by two callbacks, on any thread, the host's too:
 * they take no lock and no memory. Buffers are in one of four states, and zeroed when CUPTI
 * takes them:
 *
 *     free -> CUPTI's -> full -> read by us -> free
 *
 * They are read by one thread at a time: the source's, or a control call where that thread
 * could not be started. */
#ifndef GNOMON_DEVICE_CUPTI_READING_H
#define GNOMON_DEVICE_CUPTI_READING_H

#include <stddef.h>
#include <stdint.h>

#include "gnomon/tool.h"
#include "record/activity_notes.h"

/* ---- Buffers --------------------------------------------------------------------------- */

#define GNOMON__CUPTI_BUFFER (1u << 20) /* NVIDIA advises 1 to 10 MB */
/* CUPTI may have one for each thread that launches: pages are used when it writes. */
#define GNOMON__CUPTI_BUFFERS 256u
/* So many bytes of records may wait to be read, and no more are taken: 300,000 kernels, or
 * what some 0.1 s of the shortest ones launch. */
#define GNOMON__CUPTI_WAITING (64ull << 20)

/* Reserves the memory, once in a process; it is never given back, as CUPTI may still have
 * some. `completed` is called when a buffer is full. 0: there is no memory. */
int gnomon__cupti_buffers_make(void (*completed)(void));

/* CUPTI's two callbacks. */
void gnomon__cupti_buffer_requested(uint8_t **buffer, size_t *size,
                                    size_t *most);
void gnomon__cupti_buffer_completed(void *context, uint32_t stream,
                                    uint8_t *buffer, size_t size, size_t valid);

/* Whether CUPTI has one of them: where it records, it has. */
int gnomon__cupti_buffers_out(void);

/* ---- Moments --------------------------------------------------------------------------- */

/* Before any kind of record is enabled. Gives CUPTI gnomon's clock: where it is that of the
 * whole process once, as giving it anew made later records wrong in some versions; of one
 * of several subscribers each time. */
void gnomon__cupti_clock_start(int is_one_of_several);

/* The most that a time may be wrong by; 0: CUPTI has gnomon's clock. Of any thread. */
uint64_t gnomon__cupti_clock_error(void);

/* ---- Reading --------------------------------------------------------------------------- */

/* Whom the source tells: gnomon/tool.h. Tests put others in place. */
typedef struct gnomon__cupti_listener {
    void (*launched)(uint32_t source, uint64_t correlation, int is_own);
    enum gnomon__activity_noted (*noted)(uint32_t source, uint64_t correlation);
    void (*put)(uint32_t source, const gnomon_device_work *records,
                size_t count);
    void (*lost)(uint32_t source, uint64_t count);
} gnomon__cupti_listener;
extern const gnomon__cupti_listener *gnomon__cupti_listens;

/* Reads what is full, oldest first, and tells it to the recorder as work of source
 * `number`, with what was lost; 0: it is thrown away. Returns how many records were read. */
uint64_t gnomon__cupti_read_full(uint32_t number, int has_system_threads);

/* How often records were passed on: it shows that reading goes on. */
extern uint64_t gnomon__cupti_rows_told;

/* Whether some of so many kernels have no record yet. */
int gnomon__cupti_misses(uint64_t launched);

/* Call it when all `launched` kernels are over and all of CUPTI's records were read.
 * Kernels without a record are reported as lost, because another user of CUPTI took its
 * buffers, and a line gives both numbers. If graphs are launched too, the records of
 * their kernels hide as many losses. `number` 0: starts to count now. In control calls. */
void gnomon__cupti_balance(uint32_t number, uint64_t launched);

#endif

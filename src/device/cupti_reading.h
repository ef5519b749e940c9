/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Full buffers become work that is told to the recorder. Of one thread at a time: the
 * source's, or a control call where that thread could not be started. */
#ifndef GNOMON_DEVICE_CUPTI_READING_H
#define GNOMON_DEVICE_CUPTI_READING_H

#include <stdint.h>

#include "gnomon/tool.h"
#include "record/activity_notes.h"

/* Whom the source tells: gnomon/tool.h. Tests put others in place. */
typedef struct gnomon__cupti_listener {
    void (*launched)(uint32_t source, uint64_t correlation, int is_own);
    enum gnomon__activity_noted (*noted)(uint32_t source, uint64_t correlation);
    void (*put)(uint32_t source, const gnomon_activity *records, size_t count);
    void (*lost)(uint32_t source, uint64_t count);
} gnomon__cupti_listener;
extern const gnomon__cupti_listener *gnomon__cupti_listens;

/* Reads what is full, oldest first, and tells it to the recorder as work of source
 * `number`; 0: it is thrown away. Returns how many records were read. */
uint64_t gnomon__cupti_read_full(uint32_t number, int has_system_threads);

/* How often records were told: it shows that reading goes on. */
extern uint64_t gnomon__cupti_rows_told;

/* Records that CUPTI dropped, as there was no buffer, since the last call. */
void gnomon__cupti_count_dropped(uint32_t number);

/* Whether some of so many kernels have no record yet. */
int gnomon__cupti_misses(uint64_t launched);

/* All of `launched` kernels are over, and what CUPTI has is read: those without a record
 * are told to be lost, as another user of CUPTI took its buffers, and a line gives both
 * numbers. Where graphs are launched too, their kernels' records hide as many. `number`
 * 0: counts from here on. In control calls. */
void gnomon__cupti_balance(uint32_t number, uint64_t launched);

#endif

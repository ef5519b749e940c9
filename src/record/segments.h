/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The stage of each segment. Kept for the last few segments, and for an earlier one as
 * long as something that began in it is open. Under the readers' lock. */
#ifndef GNOMON_RECORD_SEGMENTS_H
#define GNOMON_RECORD_SEGMENTS_H

#include <stdint.h>

/* A stage of the run, and the number of its name; its times, once it is over. */
typedef struct gnomon__stage_key {
    uint32_t ordinal; /* 0: unknown */
    uint32_t name;
    uint64_t begin_ns, end_ns;
} gnomon__stage_key;

/* Adds the newest segment, which is of stage `ordinal`. _name sets the rest of the
 * stage when it ends. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__segments_add(uint32_t segment, uint32_t ordinal);
void gnomon__segments_name(const gnomon__stage_key *stage);

gnomon__stage_key gnomon__segments_stage(uint32_t segment);

/* _hold: something that began in the segment is open at this cut. _sweep removes what
 * was held neither at this cut nor at the last one. */
void gnomon__segments_hold(uint32_t segment);
void gnomon__segments_sweep(void);

/* Removes all, for a new run. */
void gnomon__segments_clear(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which stage a segment belongs to. Known of the last few segments, and of earlier
 * ones as long as something that began in them is open. Under the readers'
 * lock. */
#ifndef GNOMON_RECORD_SEGMENTS_H
#define GNOMON_RECORD_SEGMENTS_H

#include <stdint.h>

/* A stage of the run, and the number of its name; its times, once it is over. */
typedef struct gnomon__stage_key {
    uint32_t ordinal; /* 0: none is known */
    uint32_t name;
    uint64_t begin_ns, end_ns;
} gnomon__stage_key;

/* Segment `segment`, the newest, is of stage `ordinal`, whose name is known when it
 * ends. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__segments_add(uint32_t segment, uint32_t ordinal);
void gnomon__segments_name(const gnomon__stage_key *stage);

gnomon__stage_key gnomon__segments_stage(uint32_t segment);

/* Something of it is open at this cut; and what was held neither at this cut nor at
 * the last one is forgotten. */
void gnomon__segments_hold(uint32_t segment);
void gnomon__segments_sweep(void);

/* A new run, or a forked child: there are none. */
void gnomon__segments_clear(void);
void gnomon__segments_inherit(void);

#endif

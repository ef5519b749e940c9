/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The segments that are over: the stage of each, and when it was. Kept for the last ones,
 * and for an earlier one as long as something that began in it is open. Under the readers'
 * lock. */
#ifndef GNOMON_RECORD_SEGMENTS_H
#define GNOMON_RECORD_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

/* A stage of the run, and the number of its name; its times, once it is over. */
typedef struct gnomon__stage_key {
    uint32_t ordinal; /* 0: unknown */
    uint32_t name;
    uint64_t begin_ns, end_ns;
} gnomon__stage_key;

typedef struct gnomon__past_segment {
    gnomon__stage_key stage;
    uint64_t from, until; /* ticks */
    uint32_t number;
    uint32_t held; /* number of the last cut that held it */
} gnomon__past_segment;

typedef struct gnomon__past_segments {
    gnomon__past_segment *at; /* ascending */
    size_t count, room;
    uint32_t cuts; /* so many before this one */
} gnomon__past_segments;
extern gnomon__past_segments gnomon__segments_over;

/* The open segment ends at these ticks, and is of this stage. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__segments_add(uint64_t until, const gnomon__stage_key *stage);
/* Sets the rest of the stage where it is known. */
void gnomon__segments_name(const gnomon__stage_key *stage);

/* NULL: it is open, or not known any more. */
gnomon__past_segment *gnomon__segments_find(uint32_t segment);
gnomon__stage_key gnomon__segments_stage(uint32_t segment);

/* _hold: something that began in the segment is open at this cut. _sweep removes what
 * was held neither at this cut nor at the last one, but for the last `least`. */
void gnomon__segments_hold(uint32_t segment);
void gnomon__segments_sweep(size_t least);

/* Removes all, for a new run. */
void gnomon__segments_clear(void);

#endif

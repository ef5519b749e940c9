/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the two halves of a snapshot share: snapshot.c, the run and the whole;
 * nodes.c, what threads recorded. */
#ifndef GNOMON_PROFILE_TAKE_H
#define GNOMON_PROFILE_TAKE_H

#include "mark/node.h"
#include "platform/clock.h"
#include "profile/model.h"
#include "record/collect.h"
#include "record/device_stats.h"

#define GNOMON__NS_CELLS 1024 /* all there are: 16 * 59 + 32 */

/* A stage that is over keeps the worth that its ticks had then, so that its
 * report and a file that is written later say the same to the last digit. */
typedef struct gnomon__take {
    gnomon__model *m;
    gnomon__clock clock;                   /* with the worth that is in use */
    uint64_t mult[GNOMON__MAX_STAGES + 1]; /* by ordinal; 0: as of now */
    uint32_t bit, generation;
    uint32_t *region_numbers; /* by id; 0: not in the profile yet */
    uint32_t stage_numbers[GNOMON__MAX_STAGES + 1]; /* 0: left out */
    gnomon__rows *tracks;                           /* by thread */
    uint32_t track_count;
    uint32_t **node_numbers; /* by thread and row; 0: left out */
    size_t node_count;
    uint64_t scratch[GNOMON__NS_CELLS]; /* zero between uses */
    gnomon__row_cell step_cells[GNOMON__NS_CELLS];
    gnomon_cell device_cells[GNOMON__DEVICE_CELLS];
} gnomon__take;

/* From here on ticks are worth what they were in that stage; 0: what they are. */
void gnomon__take_use(gnomon__take *b, uint32_t ordinal);

/* A duration, and a moment (0: none), in ns. */
uint64_t gnomon__take_ns(const gnomon__take *b, uint64_t ticks);
uint64_t gnomon__take_when(const gnomon__take *b, uint64_t ticks);

/* Moves cells of ticks to those of ns in which their middles lie. 0: no memory. */
int gnomon__take_cells(gnomon__take *b, gnomon_stats *s,
                       const gnomon__row_cell *cells, size_t n);

/* The number of a region; 0: no memory. */
uint32_t gnomon__take_region(gnomon__take *b, uint32_t id);

/* Numbers the rows that the profile takes: call for all threads, then put. */
void gnomon__take_choose(gnomon__take *b, uint32_t thread);

/* Each returns 0 when there is no memory. */
int gnomon__take_nodes(gnomon__take *b, uint32_t thread, uint32_t track);
int gnomon__take_links(gnomon__take *b);
int gnomon__take_counters(gnomon__take *b, uint32_t thread, uint32_t track);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inside of a merge: scan.c finds the runs, merge.c puts them in order,
 * merge_run.c merges the readings of one. */
#ifndef GNOMON_MERGE_MERGING_H
#define GNOMON_MERGE_MERGING_H

#include "merge/merge.h"
#include "merge/united.h"

/* A run as one part of one input has it. */
typedef struct gnomon__reading {
    gnomon_run_info info; /* texts are the merge's */
    uint32_t input;
    uint32_t part;
    uint32_t run;      /* in the part; 0: it has none */
    uint32_t is_apart; /* from those of other inputs */
} gnomon__reading;

struct gnomon__merge {
    gnomon__merge_inputs inputs;
    uint32_t kinds;
    gnomon__file_index *index; /* by input */
    gnomon__shared shared;
    gnomon__model *texts; /* of readings; and losses of no run */
    gnomon__reading *readings;
    size_t reading_count, reading_room;
    size_t *first; /* reading of each run; one more at the end */
    size_t run_count;
    int has_runs; /* any input has */

    gnomon__source source; /* of the input that is open */
    size_t open;           /* which; SIZE_MAX: none */
    gnomon_profile *part;  /* the last that was read */
    size_t part_input, part_number;
    unsigned char **was_read; /* by input and part: its own losses are taken */
};

#define GNOMON__RUN_KINDS (1u << GNOMON_RUNS)
#define GNOMON__SHARED_KINDS \
    (1u << GNOMON_REGIONS | 1u << GNOMON_OPS | 1u << GNOMON_VIEWS)

/* Makes it the input that is open. */
int gnomon__merge_open(gnomon__merge *m, size_t input);

/* Notes the losses of an input's part that are of none of its runs. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__merge_take_losses(gnomon__merge *m, const gnomon_profile *p,
                              size_t input);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many profiles as one: run after run, in the memory of one run and of what all
 * runs share. First each input is looked through for its runs, then each run is
 * read where it lies. docs/merging.md has the rules. */
#ifndef GNOMON_MERGE_MERGE_H
#define GNOMON_MERGE_MERGE_H

#include "merge/unite.h"
#include "profile/file_read.h"

/* Where inputs come from, as bytes of .gnomon files. One is open at a time. */
typedef struct gnomon__merge_inputs {
    size_t count;
    /* GNOMON_OK, or an error code, its text told. */
    int (*open)(void *context, size_t input, gnomon__source *out);
    void (*close)(void *context, gnomon__source *source);
    void *context;
    int apart; /* runs of no known rank and life are one for each input */
} gnomon__merge_inputs;

typedef struct gnomon__merge gnomon__merge;

/* `kinds`: bits, which entities are wanted; with nodes whatever they name. GNOMON_OK
 * or GNOMON_ENOMEM. */
int gnomon__merge_create(gnomon__merge **out,
                         const gnomon__merge_inputs *inputs, uint32_t kinds);
void gnomon__merge_free(gnomon__merge *m);

/* Looks through an input; each once. An error leaves it out: the rest goes on
 * without it. */
int gnomon__merge_scan(gnomon__merge *m, size_t input);

/* Closes the input that is open, if one is: it is opened again when it is needed.
 * For callers that open inputs of their own meanwhile. */
void gnomon__merge_close(gnomon__merge *m);

/* After the last one: puts runs and all that they share in order. */
int gnomon__merge_order(gnomon__merge *m);

/* The runs, from 0; and what says of each: its readings, from 0. The last one's
 * record holds. */
size_t gnomon__merge_count(const gnomon__merge *m);
size_t gnomon__merge_readings(const gnomon__merge *m, size_t run);
const gnomon_run_info *gnomon__merge_reading(const gnomon__merge *m, size_t run,
                                             size_t reading, size_t *input);

/* The run as a profile, which the caller frees before another run is read, or the
 * merge freed: it may be lent what was read. Its regions, ops and views are numbered
 * as in all others. In the order of runs it reads least. */
int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out);

/* The run as it was read, with numbers of its own, where one reading says all of it:
 * alone in its part, and each of its stages once. Else *out is NULL, and
 * gnomon__merge_run puts it together. It is the merge's, until another run is read.
 * GNOMON_OK or an error. */
int gnomon__merge_run_read(gnomon__merge *m, size_t run,
                           const gnomon_profile **out);

/* Of that one: its entities go, what they point to stays as long. */
void gnomon__merge_drop_entities(gnomon__merge *m);

/* A loss of an input itself, of what was read so far, from 0; NULL: no more. */
const gnomon_loss_info *gnomon__merge_loss(const gnomon__merge *m, size_t which,
                                           size_t *input);

/* When all runs were read: what is of none, losses of the inputs themselves.
 * Likewise. */
int gnomon__merge_rest(gnomon__merge *m, gnomon_profile **out);

/* What all runs share; as long as the merge. */
const gnomon__shared *gnomon__merge_shared(const gnomon__merge *m);

#endif

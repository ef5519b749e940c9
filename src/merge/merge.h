/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many profiles as one: run after run, in the memory of one run and of what all
 * runs share. First each input is scanned for its runs, then each run is
 * read from its input. docs/merging.md has the rules. */
#ifndef GNOMON_MERGE_MERGE_H
#define GNOMON_MERGE_MERGE_H

#include "merge/unite.h"
#include "profile/file_read.h"

/* Which runs are not merged across inputs. */
enum gnomon__merge_apart {
    GNOMON__APART_NONE,
    GNOMON__APART_UNKNOWN, /* those without rank and uuid */
    GNOMON__APART_WITHOUT_UUID
};

/* Where inputs come from, as bytes of .gnomon files. One is open at a time. */
typedef struct gnomon__merge_inputs {
    size_t count;
    /* GNOMON_OK, or an error code and a text. */
    int (*open)(void *context, size_t input, gnomon__source *out);
    void (*close)(void *context, gnomon__source *source);
    void *context;
    int apart; /* gnomon__merge_apart */
} gnomon__merge_inputs;

typedef struct gnomon__merge gnomon__merge;

/* `kinds`: bits of the wanted kinds; with nodes all kinds that they refer to. GNOMON_OK
 * or GNOMON_ENOMEM. */
int gnomon__merge_create(gnomon__merge **out,
                         const gnomon__merge_inputs *inputs, uint32_t kinds);
void gnomon__merge_free(gnomon__merge *m);

/* Scans an input; each once. After an error the input is left out, and the merge goes on
 * without it. */
int gnomon__merge_scan(gnomon__merge *m, size_t input);

/* Closes the input that is open, if one is: it is opened again when it is needed.
 * For callers that open inputs of their own meanwhile. */
void gnomon__merge_close(gnomon__merge *m);

/* After the last one: puts runs and all that they share in order. */
int gnomon__merge_order(gnomon__merge *m);

/* The runs, from 0, and the readings of each, from 0. */
size_t gnomon__merge_count(const gnomon__merge *m);
size_t gnomon__merge_readings(const gnomon__merge *m, size_t run);
const gnomon_run_info *gnomon__merge_reading(const gnomon__merge *m, size_t run,
                                             size_t reading, size_t *input);

/* The run's record, that of its last reading. */
const gnomon_run_info *gnomon__merge_info(const gnomon__merge *m, size_t run);

/* Whether it is a process's, and not what an input has of none. */
int gnomon__merge_is_run(const gnomon__merge *m, size_t run);

/* The run as a profile, which the caller frees before another run is read, or the
 * merge freed: it may borrow from what was read. Its regions, ops and views are numbered
 * as in all others. In the order of runs it reads least. */
int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out);

/* The run without a copy, with its part's numbers, if it has one reading, is alone in its
 * part, and has each stage once. Else *out is NULL: use gnomon__merge_run. It belongs to
 * the merge, until another run is read. GNOMON_OK or an error. */
int gnomon__merge_run_read(gnomon__merge *m, size_t run,
                           const gnomon_profile **out);

/* Of that one: its entities go, if it has no events, and what they point to stays as long. */
void gnomon__merge_drop_entities(gnomon__merge *m);

/* A loss of an input itself, of what was read so far, from 0; NULL: no more. */
const gnomon_loss_info *gnomon__merge_loss(const gnomon__merge *m, size_t which,
                                           size_t *input);

/* After all runs were read: entities of no run, which are losses of the inputs. The
 * caller frees it. */
int gnomon__merge_rest(gnomon__merge *m, gnomon_profile **out);

/* What all runs share; as long as the merge. */
const gnomon__shared *gnomon__merge_shared(const gnomon__merge *m);

#endif

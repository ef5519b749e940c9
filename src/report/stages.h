/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What reports are made of. Each stage of a group of runs, or all stages of one name, in
 * one view, is one report: of one run as its profilers got it, of several ranks their
 * sum, or rows of each rank or host, of which one is in memory. */
#ifndef GNOMON_REPORT_STAGES_H
#define GNOMON_REPORT_STAGES_H

#include "command/inputs.h"
#include "merge/unite.h"
#include "report/profiler.h"
#include "report/run_groups.h"

typedef struct gnomon__cli_stage {
    gnomon__stage_filter key; /* name NULL: of what is of no stage */
    uint64_t begin_ns; /* of the first run's, where it is all of a name */
    size_t first_run;  /* of those that have it, by their order in the inputs */
    gnomon__unite *sum;
    uint32_t left_out; /* by the filter: gnomon__unite_left_out */
    /* Of several runs: */
    gnomon__unite *one; /* the rank or host at hand; NULL: none */
    /* The report's, where ranks or hosts have rows of their own; then the sum has no more
     * than its stages. Else how the ranks compare. `of` NULL: not begun. */
    gnomon__report_rows rows;
    int32_t *ranks; /* attempts of a rank are one */
    size_t rank_count, rank_room;
    int has_rows, has_times; /* of these; of steps */
} gnomon__cli_stage;

/* The name of a stage that is most like one that is asked for; "": none is. */
typedef struct gnomon__near_stage {
    char name[128];
    size_t distance;
} gnomon__near_stage;

typedef struct gnomon__stages_choice {
    const char *name;         /* stages of that name alone; NULL: all */
    gnomon__near_stage *near; /* where a name is asked for */
    int each;                 /* by itself, not those of a name as one */
    const gnomon__cli_profiler *of;
} gnomon__stages_choice;

typedef struct gnomon__cli_stages {
    gnomon__cli_stage *at; /* in the order in which they came */
    size_t count, room;
    size_t runs;
    gnomon__stages_choice choice;
    size_t run;              /* that is being added, and ... */
    size_t first;            /* ... the first one of its rank or host ... */
    int is_one;              /* ... which has no other run */
    int has_views;           /* more than one */
    gnomon__cli_notes notes; /* of all runs */
    gnomon_profile *made;    /* the only one, if its events are still read */
} gnomon__cli_stages;

/* Reads the runs of a group: its stages, each view by itself. GNOMON_OK, or an error code
 * and a text. Free in any case. */
int gnomon__cli_stages_read(gnomon__cli_stages *s, gnomon__gather *g,
                            const gnomon__cli_group *group,
                            const gnomon__stages_choice *choice);
void gnomon__cli_stages_free(gnomon__cli_stages *s);

/* The profile of a stage; call it once. The caller frees it before another run is read,
 * because it may borrow from what was read. */
int gnomon__cli_stage_take(gnomon__cli_stage *stage, gnomon_profile **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiles that reports are made of. Each stage of a group of runs, or all stages of
 * one name, is one profile: of one run as its profilers got it, of several ranks their
 * sum. */
#ifndef GNOMON_REPORT_STAGES_H
#define GNOMON_REPORT_STAGES_H

#include "command/notes.h"
#include "report/apart.h"
#include "report/rank_table.h"
#include "report/run_groups.h"
#include "spec/filter.h"

typedef struct gnomon__cli_stage {
    gnomon__stage_filter key; /* name NULL: of what is of no stage */
    uint64_t begin_ns; /* of the first run's, where it is all of a name */
    size_t first_run;  /* of those that have it, by their order in the inputs */
    gnomon__unite *sum;
    uint32_t left_out;        /* by the filter: gnomon__unite_left_out */
    gnomon__rank_table ranks; /* where there are several */
    gnomon__apart apart;      /* likewise */
} gnomon__cli_stage;

/* What the report is about. Steps are the same in all views. Records of no stage get a
 * report, too, if there are any. */
enum gnomon__stages_of {
    GNOMON__STAGES_OF_HOST,
    GNOMON__STAGES_OF_DEVICES,
    GNOMON__STAGES_OF_STEPS
};

typedef struct gnomon__cli_stages {
    gnomon__cli_stage *at; /* in the order in which they came */
    size_t count, room;
    size_t runs;
    unsigned names_rule; /* GNOMON__UNITE_NAMES, or 0: each stage by itself */
    enum gnomon__stages_of of;
    enum gnomon__stages_by by;
    int ranks_by; /* of their table: gnomon__rank_table.by */
    const gnomon__filter *filter;
    size_t run;   /* that is being added */
    char **names; /* of all stages there are */
    size_t name_count, name_room;
    int has_views;           /* more than one */
    gnomon__cli_notes notes; /* of all runs */
} gnomon__cli_stages;

typedef struct gnomon__stages_choice {
    const char *name; /* stages of that name alone; NULL: all */
    int each;         /* by itself, not those of a name as one */
    enum gnomon__stages_of of;
    enum gnomon__stages_by by;
    int ranks_by;                 /* gnomon__rank_table.by */
    const gnomon__filter *filter; /* of regions; NULL: all */
} gnomon__stages_choice;

/* Reads the runs of a group: its stages, each view by itself; of several runs their sum.
 * GNOMON_OK, or an error code and a text. Free in any case. */
int gnomon__cli_stages_read(gnomon__cli_stages *s, gnomon__gather *g,
                            const gnomon__cli_group *group,
                            const gnomon__stages_choice *choice);
void gnomon__cli_stages_free(gnomon__cli_stages *s);

/* The profile of a stage; call it once. The caller frees it before another run is read,
 * because it may borrow from what was read. */
int gnomon__cli_stage_take(gnomon__cli_stage *stage, gnomon_profile **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grouping of a report's rows, by the thread, rank or host of their track, or by the
 * category or file of their region. */
#ifndef GNOMON_PRINT_GROUPS_H
#define GNOMON_PRINT_GROUPS_H

#include "print/table.h"

enum gnomon__group_by {
    GNOMON__BY_NOTHING,
    GNOMON__BY_THREAD,
    GNOMON__BY_RANK,
    GNOMON__BY_HOST,
    GNOMON__BY_CATEGORY,
    GNOMON__BY_FILE
};

typedef struct gnomon__groups {
    int by;              /* gnomon__group_by */
    const char *word;    /* "thread"; NULL: no groups */
    const char **texts;  /* the groups' names, in their order */
    uint32_t count;      /* of groups; 1 without any */
    uint32_t *of_number; /* by the number of a track, region or run */
    uint32_t *of_track;  /* of_number, if it is of tracks; else NULL */
    uint32_t *of_region; /* likewise */
} gnomon__groups;

/* GNOMON_OK, or GNOMON_ENOMEM. `table` keeps the texts. Free in any case. */
int gnomon__groups_make(gnomon__groups *groups, int by,
                        const gnomon_profile *profile,
                        gnomon__report_table *table);
/* The same for what is of a run and no track: by rank or host. */
int gnomon__groups_of_runs(gnomon__groups *groups, int by,
                           const gnomon_profile *profile,
                           gnomon__report_table *table);
void gnomon__groups_free(gnomon__groups *groups);

/* The group of a node or counter. */
uint32_t gnomon__group_of(const gnomon__groups *groups, uint32_t track,
                          uint32_t region);

/* Reads the option `by` of a report that knows the groups from `first` to `last`. A
 * wrong word is logged, with the right ones. */
int gnomon__groups_choose(const char *report, int first, int last,
                          const gnomon_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grouping of a report's rows, by the thread, rank or host of their track, or by the
 * category or file of their region. */
#ifndef GNOMON_PRINT_GROUPS_H
#define GNOMON_PRINT_GROUPS_H

#include "gnomon/profile.h"
#include "print/table.h"

enum gnomon__group_by {
    GNOMON__BY_NOTHING,
    GNOMON__BY_THREAD,
    GNOMON__BY_RANK,
    GNOMON__BY_HOST,
    GNOMON__BY_CATEGORY,
    GNOMON__BY_FILE
};

/* Groups are in the order of `order`, then of their text, then as they came. */
typedef struct gnomon__group {
    int64_t order;
    const char *text, *inner; /* inner NULL: it is not a group inside another */
    size_t number;            /* as they came */
} gnomon__group;

typedef struct gnomon__groups {
    int by;           /* gnomon__group_by */
    const char *word; /* "thread"; NULL: no groups */
    gnomon__group *at;
    uint32_t count;      /* 1 without any */
    uint32_t of_all;     /* the profile's only one, where it has no numbers */
    uint32_t *of_number; /* by the number of a track, region or run */
    uint32_t *of_track;  /* of_number, if it is of tracks; else NULL */
    uint32_t *of_region; /* likewise */
    uint32_t *of_run;
    const char *
        *texts; /* at the end, in their order; then those of inner ones */
    size_t room;
} gnomon__groups;

/* `table` keeps the texts, and has the groups at the end. */
void gnomon__groups_begin(gnomon__groups *groups, int by,
                          gnomon__report_table *table);
/* Those of a profile: with `run` it is all of one rank or host; with `is_of_runs` what is
 * grouped is of a run and no track. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__groups_read(gnomon__groups *groups, const gnomon_profile *profile,
                        const gnomon_run_info *run, bool is_of_runs,
                        gnomon__report_table *table);
/* One more inside the group `outer`, whatever its text; without groups it is one itself.
 * Its number; UINT32_MAX: no memory. */
uint32_t gnomon__groups_add(gnomon__groups *groups, uint32_t outer,
                            const char *text);
/* Sorts the groups, and gives rows the new numbers of theirs. Likewise. */
int gnomon__groups_end(gnomon__groups *groups, gnomon__report_table *table);
void gnomon__groups_free(gnomon__groups *groups);

/* The group of a node or counter. */
uint32_t gnomon__group_of(const gnomon__groups *groups, uint32_t track,
                          uint32_t region);
/* The group of what is of a run and no track. */
uint32_t gnomon__group_of_run(const gnomon__groups *groups, uint32_t run);

/* Reads the option `by` of a report that knows the groups from `first` to `last`. A
 * wrong word is logged, with the right ones. */
int gnomon__groups_choose(const char *report, int first, int last,
                          const gnomon_options *options);

#endif

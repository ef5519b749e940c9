/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lines after a report: why it has no rows, what gnomon itself cost, and what was
 * lost. Each begins with "gnomon: ". There may be none. */
#ifndef GNOMON_PRINT_FOOTER_H
#define GNOMON_PRINT_FOOTER_H

#include "gnomon/tool.h"

/* What is not in the profile. Steps count from the stage's begin. */
typedef struct gnomon__footer_input {
    int rank_excluded;         /* the rank is not in ranks= */
    int scheduled;             /* the view has a schedule */
    uint64_t regions_seen;     /* of all views, with excluded ones */
    uint64_t regions_excluded; /* by the view's filter */
    uint64_t steps_made;
    uint64_t first_active_step; /* by number; UINT64_MAX: there is none */
    int64_t pid;
    int64_t forked_from;  /* the process; 0: not known to be a child */
    double pair_ns;       /* of a begin and its end; 0: not known */
    int own_opens;        /* list only open scopes of the profile's stages */
    char memory[16];      /* the limit of recorders' memory, as in mem= */
    gnomon_health before; /* at the stage's begin */
    gnomon_health after;
} gnomon__footer_input;

/* One line on the scopes of a stage that ended after its report. `profile` holds only
 * those. */
int gnomon__footer_late(const gnomon_profile *profile,
                        const gnomon_writer *out);

/* Writes the lines for `profile`; if it is NULL, only those on losses. Returns the
 * writer's code. */
int gnomon__footer(const gnomon_profile *profile,
                   const gnomon__footer_input *input, const gnomon_writer *out);

/* The text after a count ("2 links lost: too many", "1 link lost: ..."). `several` is the
 * text for all counts but 1: a text of GNOMON_HEALTH, or of events. The text for 1 is made
 * from it in `room`. */
#define GNOMON__LOSS_WORDS 128
const char *gnomon__loss_words(char room[GNOMON__LOSS_WORDS],
                               const char *several, uint64_t count);

/* The text for several of a loss of events (gnomon_loss_info.kind); NULL: it is another
 * loss. */
const char *gnomon__event_loss(const char *kind);

#endif

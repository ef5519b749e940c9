/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All runs of the files that a command is given, as one merge of them. */
#ifndef GNOMON_MERGE_GATHER_H
#define GNOMON_MERGE_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "command/inputs.h"
#include "export/text.h"
#include "merge/merge.h"

typedef struct gnomon__gather {
    const gnomon__cli_inputs *in;
    gnomon__merge *merge;
    gnomon__export_memory
        *kept; /* by input: of files that cannot be read twice */
    gnomon__export_memory loaded; /* of the one that is open, if it is JSON */
    int fd;
    char *was_loaded; /* by input: its messages were logged */
    int was_logged;   /* why the last input did not open */
} gnomon__gather;

/* Scans all files of `in`, which must outlive `g`; `kinds` and `apart` as those of
 * gnomon__merge. Returns a gnomon__exit: a file that cannot be read is logged and left
 * out. _UNREADABLE without a merge: no memory. Call gnomon__gather_end in any case. */
int gnomon__gather_begin(gnomon__gather *g, const gnomon__cli_inputs *in,
                         uint32_t kinds, int apart);
void gnomon__gather_end(gnomon__gather *g);

/* One input as a profile without its events, which may be many; *events is their number.
 * GNOMON_OK, and the caller frees *out; else *out is NULL, and the error is logged. */
int gnomon__gather_whole(gnomon__gather *g, size_t input, gnomon_profile **out,
                         uint64_t *events);

/* Lines on standard error: which ranks are missing, came twice, were restarted. */
void gnomon__gather_notes(const gnomon__gather *g);
/* Likewise, of what was read so far: what could not be read of which file. A
 * gnomon__exit: _UNREADABLE where there is damage. */
int gnomon__gather_damage(const gnomon__gather *g);

/* ---- Ranks as text: "3, 5-7" ------------------------------------------------------ */

/* Zeroes are an empty one. */
typedef struct gnomon__rank_list {
    char text
        [512]; /* the first of them; it ends in "..." where there are more */
    size_t used;
    unsigned ranges;
    uint64_t count; /* of ranks in it */
    int32_t
        next; /* for lists of missing ranks: the first that may be missing */
} gnomon__rank_list;

/* Adds `from` to `to`. */
void gnomon__rank_list_add(gnomon__rank_list *list, int32_t from, int32_t to);

/* For a list of missing ranks: call _met with the present ranks, ascending, of a world of
 * that size (-1: not known), then _end. */
void gnomon__rank_list_met(gnomon__rank_list *list, int32_t rank,
                           int32_t world);
void gnomon__rank_list_end(gnomon__rank_list *list, int32_t world);

#endif

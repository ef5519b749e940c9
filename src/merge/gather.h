/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All runs of the files that a command is given, as one merge of them. */
#ifndef GNOMON_MERGE_GATHER_H
#define GNOMON_MERGE_GATHER_H

#include "command/inputs.h"
#include "command/memory.h"
#include "merge/merge.h"

typedef struct gnomon__gather {
    const gnomon__cli_inputs *in;
    gnomon__merge *merge;
    gnomon__cli_memory *kept;  /* by input: what can be read but once */
    gnomon__cli_memory loaded; /* of the one that is open, if it is JSON */
    int fd;
    char *was_loaded; /* by input: what there is to say of it has been said */
    int was_logged;   /* what is wrong with the one that did not open */
} gnomon__gather;

/* Looks through all files of `in`, which must live as long; `kinds` and
 * `apart` as those of gnomon__merge_inputs. A gnomon__exit: what cannot be read is said in a line and
 * left out. Where it is _UNREADABLE and there is no merge, memory ended. End it in
 * any case. */
int gnomon__gather_begin(gnomon__gather *g, const gnomon__cli_inputs *in,
                         uint32_t kinds, int apart);
void gnomon__gather_end(gnomon__gather *g);

/* One input as it is, but for its events, which may be many: how many there are.
 * GNOMON_OK, and the caller frees *out; else it is NULL, and a line has said
 * why. */
int gnomon__gather_whole(gnomon__gather *g, size_t input, gnomon_profile **out,
                         uint64_t *events);

/* Lines on standard error: which ranks are missing, came twice, were restarted. */
void gnomon__gather_notes(const gnomon__gather *g);
/* Likewise, of what was read so far: what could not be read of which file. A
 * gnomon__exit: _UNREADABLE where there is damage. */
int gnomon__gather_damage(const gnomon__gather *g);

#endif

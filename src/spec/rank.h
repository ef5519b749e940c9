/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which rank this process is, from what launchers leave in the environment, and
 * the lists of ranks in specs. The host's name is the system's (os.h). */
#ifndef GNOMON_SPEC_RANK_H
#define GNOMON_SPEC_RANK_H

#include <stddef.h>
#include <stdint.h>

/* Who this process is. -1: not known. A plain value. */
typedef struct gnomon__rank {
    int32_t rank;
    int32_t local_rank; /* may be unknown where the others are known */
    int32_t world_size;
    int32_t attempt;       /* how often the launcher restarted the job */
    char job[64];          /* what it calls the job; else "" */
    const char *source;    /* "torchrun", ...; NULL: no launcher. Static */
    char passed_over[160]; /* the first set that was there and not valid,
                              and why; else "" */
} gnomon__rank;

/* Whether files of other ranks are to be expected. Some launchers set no size. */
static inline int gnomon__rank_has_others(int32_t rank, int32_t world_size)
{
    return world_size > 1 || (world_size < 0 && rank >= 0);
}

/* Looks for GNOMON_RANK, then for the variables of launchers (docs/environment.md), and
 * takes the first set that is whole and agrees with itself. */
void gnomon__rank_find(gnomon__rank *out);

/* Whether `text` is "all" or ranks and spans as "0|3|8-15". GNOMON_OK, or
 * GNOMON_EINVAL and `why`. */
int gnomon__ranks_check(const char *text, char *why, size_t size);

/* Whether a checked list (NULL: all) holds the rank; an unknown one is 0. */
int gnomon__ranks_hold(const char *text, int32_t rank);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The line from ticks to ns: pieces of one slope each, drawn through anchors.
 * An anchor is a moment at which the counter and CLOCK_MONOTONIC were read
 * together. Plain arithmetic on a value, so that tests can use anchors of their
 * own; clock.c has the one line of the process.
 *
 * Guarantees:
 *
 *   - Ticks below `limit` are fixed: no later anchor changes their ns. Only
 *     such ticks are converted, so a moment always has one value.
 *   - Later ticks never have smaller ns, from one start of the counter to the
 *     next.
 *   - No slope is more than 500 ppm off the rate that the anchors show, so that
 *     durations stay right while the line is led back to CLOCK_MONOTONIC.
 *   - Where the machine slept there is a flat piece. The slopes next to it are
 *     the known rate, so time awake is not measured too short.
 *   - When a counter begins again it opens an epoch. Pieces from `epoch` on are
 *     of the present one.
 *
 * Memory is bounded: when it is full, two old neighbours become one piece,
 * where that changes values least. `error` says by how much at most. */
#ifndef GNOMON_PLATFORM_CLOCK_LINE_H
#define GNOMON_PLATFORM_CLOCK_LINE_H

#include <stdint.h>

#define GNOMON__CLOCK_SHIFT 48
#define GNOMON__LINE_PIECES 96
#define GNOMON__LINE_RECENT 16 /* the last ones, which are never merged */

/* The limit is so far ahead of the anchor where the rate is known well. */
#define GNOMON__LINE_AHEAD_NS 250000000u
/* A slope is kept while it leads no further away from CLOCK_MONOTONIC. */
#define GNOMON__LINE_NEAR_NS 250u
/* Two anchors so far apart give the rate, whatever their errors. */
#define GNOMON__LINE_FAR_NS 10000000u
/* A counter that is further behind began again. One that is less behind was
 * read on a core whose counter is behind the others. */
#define GNOMON__LINE_BACK_NS 10000000u

/* `error`: ticks by which the two may be apart; UINT64_MAX: of no use. */
typedef struct gnomon__anchor {
    uint64_t ticks;
    uint64_t ns; /* by CLOCK_MONOTONIC, since the line's zero */
    uint64_t error;
} gnomon__anchor;

/* From `ticks` to the next piece's. */
typedef struct gnomon__line_piece {
    uint64_t ticks;
    uint64_t ns;
    uint64_t mult;  /* ns per tick, times 2^48; 0: the machine slept */
    uint64_t error; /* ns by which values changed since their first use */
} gnomon__line_piece;

typedef struct gnomon__line {
    _Alignas(64) uint64_t limit; /* ticks below it are fixed */
    gnomon__line_piece end;      /* a copy of the last piece, near the limit */
    uint64_t count;              /* of pieces; at least 1 */
    uint64_t epoch;        /* the first piece of the counter's present run */
    uint64_t rate;         /* ns per tick, times 2^48; 0: not known yet */
    uint64_t rate_error;   /* the rate may be off by this many ticks ... */
    uint64_t rate_span;    /* ... in so many */
    uint64_t outlier_rate; /* what the last outliers would say it is, */
    uint64_t outliers;     /* and how many of them agreed */
    gnomon__anchor last;   /* the last one that was used */
    gnomon__anchor base;   /* the rate is measured from here on */
    gnomon__line_piece pieces[GNOMON__LINE_PIECES];
} gnomon__line;

/* A line whose zero is `first`, at 0 ns; its rate is not known yet. */
void gnomon__line_begin(gnomon__line *line, const gnomon__anchor *first);

/* The line of a clock whose ticks are ns: all of it is fixed. */
void gnomon__line_begin_exact(gnomon__line *line, uint64_t zero_ticks);

/* Extends the line to the anchor. With `until`, not 0, the limit moves
 * beyond these ticks, by up to AHEAD_NS, so that fewer anchors are needed.
 * An unusable anchor extends it with the slope it has. Returns 0 and changes
 * nothing if the limit is far enough already, or the rate is not known well
 * enough. */
int gnomon__line_add(gnomon__line *line, const gnomon__anchor *anchor,
                     uint64_t until);

/* Appends a piece; it replaces one of no length. */
void gnomon__line_append(gnomon__line *line, uint64_t ticks, uint64_t ns,
                         uint64_t mult);

/* Whether a counter that shows `now` began again since the last anchor. */
int gnomon__line_began_again(const gnomon__line *line, uint64_t now);

/* This function and those below may read a line that is being overwritten:
 * they return, and read nothing else, but the value is then invalid. */

/* ns since the zero of ticks below the limit. Ticks before the zero give 0.
 * Ticks above the limit belong to the last epoch that reached them, if one
 * is over; else they are taken for the limit. So a tick of an earlier epoch
 * is taken for one of the present epoch once the counter is as far again. */
uint64_t gnomon__line_ns(const gnomon__line *line, uint64_t ticks);

/* A part of the line with one slope, from `ticks` on for `length`: moments in it are
 * converted without a search. */
typedef struct gnomon__line_part {
    uint64_t ticks, length;
    uint64_t ns, mult;
} gnomon__line_part;

/* The part that has these ticks. Its length is 0 where they are not below the limit, or
 * of an epoch that is over. */
gnomon__line_part gnomon__line_part_of(const gnomon__line *line,
                                       uint64_t ticks);

/* ns per tick, times 2^48, from one moment below the limit to another,
 * without sleep. Durations in that span that are converted by it add up to
 * no more than the ns between both. */
uint64_t gnomon__line_rate(const gnomon__line *line, uint64_t from,
                           uint64_t to);

/* Rounds down. */
static inline uint64_t gnomon__line_scale(uint64_t ticks, uint64_t mult)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)ticks * mult >> GNOMON__CLOCK_SHIFT);
}

#endif

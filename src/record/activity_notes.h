/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where each launch came from: the innermost open scope of the launching thread, by the
 * launch's correlation, until a record of the work asks for it. */
#ifndef GNOMON_RECORD_ACTIVITY_NOTES_H
#define GNOMON_RECORD_ACTIVITY_NOTES_H

#include <stdint.h>

#include "platform/atomic.h"

#define GNOMON__ACTIVITY_VIEWS 4u
#define GNOMON__ACTIVITY_SOURCES 4u

/* A view that wants work, or times of scopes on streams. Control calls write it, any
 * thread reads it. */
typedef struct gnomon__activity_view {
    uint32_t generation; /* of its tree; 0: free */
    uint32_t timed;      /* the same where it wants these times; else 0 */
    uint32_t bit;        /* of its tree */
    uint32_t tapes;      /* bits of its tapes: it wants events too */
} gnomon__activity_view;
GNOMON__DATA gnomon__activity_view
    gnomon__activity_views[GNOMON__ACTIVITY_VIEWS];
GNOMON__DATA uint32_t gnomon__activity_bits; /* of their trees; 0: nobody */

#define GNOMON__NO_LAUNCHER UINT32_MAX

typedef struct gnomon__activity_note {
    uint64_t ticks;   /* of the launch */
    uint32_t thread;  /* GNOMON__NO_LAUNCHER: it never marked */
    uint32_t segment; /* in which it launched */
    uint32_t events;  /* by view, as a mask: the work is wanted as an event */
    uint32_t generation[GNOMON__ACTIVITY_VIEWS]; /* 0: its window was closed */
    uint32_t path[GNOMON__ACTIVITY_VIEWS];       /* 0: no scope was open */
} gnomon__activity_note;

/* A source and its correlation in one word. */
static inline uint64_t gnomon__note_key(uint32_t source, uint64_t correlation)
{
    return (uint64_t)source << 56 | (correlation & (UINT64_MAX >> 8));
}

/* Its index; GNOMON__ACTIVITY_VIEWS: it has no work. */
uint32_t gnomon__activity_view_of(uint32_t generation);

/* 0: no memory. In control calls. */
int gnomon__activity_notes_make(void);
/* Notes where the calling thread is. Any thread; what it takes, a mark would. `is_own`: it
 * is a call of gnomon's own, of which nothing is to be told. */
void gnomon__activity_note_launch(uint32_t source, uint64_t correlation,
                                  int is_own);
/* What was noted of it, for as long as nobody took its place. */
enum gnomon__activity_noted {
    GNOMON__NOT_NOTED,
    GNOMON__NOTED,
    GNOMON__NOTED_OWN
};
enum gnomon__activity_noted gnomon__activity_noted(uint32_t source,
                                                   uint64_t correlation);
/* 0: there is no note, or another one took its place. *out is then of no scope, and of
 * the segment in which the work began if that is this one or the one before. */
int gnomon__activity_note_find(gnomon__activity_note *out, uint32_t source,
                               uint64_t correlation, uint64_t begin_ns);
#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing a .gnomon file piece by piece: what all runs share, then run after run, so
 * that writing and reading many runs takes the memory of one. */
#ifndef GNOMON_PROFILE_FILE_WRITE_H
#define GNOMON_PROFILE_FILE_WRITE_H

#include "gnomon/profile.h"
#include "profile/event_blocks.h"
#include "profile/model.h"
#include "profile/slots.h"

/* What a file has so far. All zero: nothing, not even its header. */
typedef struct gnomon__file_counts {
    uint64_t written[GNOMON__ENTITIES];
    uint64_t texts; /* bytes */
    int is_begun;
} gnomon__file_counts;

typedef struct gnomon__file_buffer {
    char *bytes;
    size_t used, room;
} gnomon__file_buffer;

/* Which entities of a kind: from `first` on, `count` of them. */
typedef struct gnomon__file_range {
    size_t first, count;
} gnomon__file_range;

typedef struct gnomon__file_writer {
    const gnomon_writer *out;
    const gnomon_profile *p;                  /* what is being written */
    gnomon__file_buffer records, tail, texts; /* of the current section */
    uint64_t first;                           /* its first item */
    uint32_t count;                           /* and how many */
    uint64_t texts_written;                   /* bytes, in sections before */
    gnomon__text_table shared,
        own;                 /* of all runs; of the one at hand: 1 + offset */
    gnomon__text_table *set; /* the one of these that grows */
    gnomon__block block;     /* of events; it has no bytes at first */
    uint64_t written[GNOMON__ENTITIES];
    uint32_t shift[GNOMON__ENTITIES]; /* from p's numbers to the file's */
    int code;
} gnomon__file_writer;

/* Fills in `w`, which finish empties, and writes the file's header. Errors stay
 * in it until then. */
void gnomon__file_start(gnomon__file_writer *w, const gnomon_writer *out);

/* Writes all of `p` as one more part of a file that has `so_far`, which is updated:
 * docs/file-format.md, "Parts". */
int gnomon__file_add_part(const gnomon_profile *p, const gnomon_writer *out,
                          gnomon__file_counts *so_far);

/* The regions, ops and views of `p`, which must live until finish. Once, first. */
void gnomon__file_shared(gnomon__file_writer *w, const gnomon_profile *p);

/* Writes the other entities of `p`: all, or `ranges` of them, by kind. Its shared
 * entities must have the numbers of those that were written. Entities may refer only
 * to ones that are written with them, or shared. */
void gnomon__file_runs(gnomon__file_writer *w, const gnomon_profile *p,
                       const gnomon__file_range *ranges);

/* One more event of the runs that were written last, which has their profile's numbers.
 * _end after the last of them. */
void gnomon__file_event(gnomon__file_writer *w, gnomon_event_info *e);
void gnomon__file_events_end(gnomon__file_writer *w);

/* GNOMON_OK, GNOMON_ENOMEM, GNOMON_EFULL, or the writer's first error. */
int gnomon__file_finish(gnomon__file_writer *w);

#endif

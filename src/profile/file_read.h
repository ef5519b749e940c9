/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading .gnomon files, docs/file-format.md. Nothing in a file is trusted: damage is
 * skipped and counted, and no more memory is allocated than the file's size allows. */
#ifndef GNOMON_PROFILE_FILE_READ_H
#define GNOMON_PROFILE_FILE_READ_H

#include "gnomon/profile.h"
#include "profile/layout.h"

/* Where a file's bytes come from. */
typedef struct gnomon__source {
    uint64_t size;
    /* All `size` bytes from `at`, which are there: GNOMON_OK or an error. */
    int (*read)(void *context, uint64_t at, void *bytes, size_t size);
    void *context;
    /* A descriptor of the same file, for a profile that reads events later and closes
     * it; below 0: none. NULL: this is no file. */
    int (*hold)(void *context);
} gnomon__source;

/* Of bytes, or of a file, whose descriptor is read where it is; both must outlive it. */
gnomon__source gnomon__memory_source(const void *bytes, size_t size);
gnomon__source gnomon__file_source(const int *fd, uint64_t size);

/* A section; where it is wanted, its checksums are right and its payload lives
 * until the next. */
typedef struct gnomon__section {
    char kind[5];
    int entity;   /* a gnomon_entity, or gnomon__section_sort */
    int is_block; /* of events (event_blocks.h), not their records */
    uint32_t item_size;
    uint64_t first;
    uint32_t count; /* of items, all within the payload */
    uint64_t bytes;
    uint32_t crc;        /* of the payload */
    const char *payload; /* NULL: not wanted, or a block of events */
    uint64_t at;         /* where its header lies */
} gnomon__section;

/* What a section holds, beside the kinds of entities. */
enum gnomon__section_sort {
    GNOMON__SECTION_TEXT = GNOMON__ENTITIES,
    GNOMON__SECTION_END,
    GNOMON__SECTION_UNKNOWN
};
#define GNOMON__EVERY_SECTION UINT32_MAX
#define GNOMON__EVERY_KIND ((1u << GNOMON__ENTITIES) - 1)

typedef struct gnomon__sections {
    const gnomon__source *from;
    uint64_t at;     /* of the next header */
    uint64_t end;    /* of the last section */
    uint32_t wanted; /* bits: those whose payload is read */
    char *payload;
    uint64_t room;
    uint64_t damaged; /* sections, or stretches without one */
    uint64_t unread;  /* bytes of them; not 0 if `damaged` is not */
} gnomon__sections;

/* Begins with the file's header, to read all. GNOMON_OK; GNOMON_EINVAL: this is
 * no .gnomon file, or one of a later format; or the source's error. */
int gnomon__sections_open(gnomon__sections *s, const gnomon__source *from);

/* Sets that error, and returns it. */
int gnomon__no_memory_to_read(void);

/* The next whole section: 1; the end: 0; or an error. */
int gnomon__sections_next(gnomon__sections *s, gnomon__section *out);
void gnomon__sections_close(gnomon__sections *s);

/* ---- A file, or a part of it ------------------------------------------------ */

/* The sections of one run, or of runs that cannot be read apart. */
typedef struct gnomon__file_part {
    uint64_t begin, end;
    uint32_t before[GNOMON__ENTITIES]; /* entities in the parts before it */
    uint32_t count[GNOMON__ENTITIES];  /* in it, with the shared ones */
    uint64_t about[GNOMON__ENTITIES];  /* by the headers, which may be wrong */
    int is_whole; /* the whole file: its END section has the counts */
    int is_known; /* a mark for whoever has the index; 0 at first */
} gnomon__file_part;

typedef struct gnomon__file_index {
    uint64_t shared_end;             /* of the sections that all parts share */
    uint64_t seen[GNOMON__ENTITIES]; /* in the whole file, as its headers say */
    gnomon__file_part *parts;
    size_t count, room;
} gnomon__file_index;

/* Finds the parts by reading headers alone. A file that has none, or that is
 * damaged between its sections, is one part. Free it in any case. GNOMON_OK,
 * GNOMON_EINVAL, GNOMON_ENOMEM, or the source's error. */
int gnomon__index_file(gnomon__file_index *out, const gnomon__source *from);
void gnomon__index_free(gnomon__file_index *index);

/* A part as a profile, of the kinds of entities in the bits of `kinds`, which must
 * include all kinds that these refer to. All but shared entities are numbered within
 * the part. What could not be read is in losses of no run. The caller frees the
 * profile. GNOMON_EINVAL: no such file, or its content contradicts itself. */
int gnomon__read_part(gnomon_profile **out, const gnomon__source *from,
                      const gnomon__file_part *part, uint64_t shared_end,
                      uint32_t kinds);

/* All of a file. */
int gnomon__read_file(gnomon_profile **out, const gnomon__source *from);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading .gnomon files, docs/file-format.md. Nothing in a file is trusted: what
 * is damaged is passed over and counted, and no size in it is allocated that the
 * file has not. */
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
} gnomon__source;

/* A section whose checksums are right; its payload lives until the next. */
typedef struct gnomon__section {
    char kind[5];
    uint32_t item_size;
    uint64_t first;
    uint32_t count; /* of items, all of which the payload has */
    uint64_t bytes;
    const char *payload;
} gnomon__section;

typedef struct gnomon__sections {
    const gnomon__source *from;
    uint64_t at; /* of the next header */
    char *payload;
    uint64_t room;
    uint64_t damaged; /* sections, or stretches without one */
    uint64_t unread;  /* bytes of them */
} gnomon__sections;

/* Begins with the file's header. GNOMON_OK; GNOMON_EINVAL: this is no .gnomon
 * file, or one of a later format; or the source's error. */
int gnomon__sections_open(gnomon__sections *s, const gnomon__source *from);

/* The next whole section: 1; the end: 0; or an error. */
int gnomon__sections_next(gnomon__sections *s, gnomon__section *out);
void gnomon__sections_close(gnomon__sections *s);

/* All of a file; what could not be read is told in losses of no run. The caller
 * frees the profile. GNOMON_EINVAL: it is no such file, or it lies. */
int gnomon__read_file(gnomon_profile **out, const gnomon__source *from);

#endif

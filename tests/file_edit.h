/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* .gnomon files as bytes: finds and changes parts of them, and corrects
 * their checksums. */
#ifndef GNOMON_TESTS_FILE_EDIT_H
#define GNOMON_TESTS_FILE_EDIT_H

#include "profile_bytes.h"
#include "platform/crc32.h"
#include "profile/layout.h"

static inline gnomon_profile *read_back(const bytes *b)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_profile_read(&p, b->at, b->size), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static inline uint64_t loss_of(const gnomon_profile *p, const char *kind)
{
    gnomon_loss_info l;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++)
        if (!l.run && strcmp(l.kind, kind) == 0)
            return l.count;
    return 0;
}

/* Where the n-th section of a kind begins, from 1; 0: there is none. */
static inline size_t nth_section(const bytes *b, const char *kind, int n)
{
    for (size_t at = GNOMON__FILE_HEADER; at < b->size;) {
        if (memcmp(b->at + at, kind, 4) == 0 && --n == 0)
            return at;
        at += GNOMON__SECTION_HEADER +
              ((gnomon__get_64(b->at + at + 8) + 7) & ~7ull);
    }
    return 0;
}

static inline size_t find_section(const bytes *b, const char *kind)
{
    return nth_section(b, kind, 1);
}

/* Changes a section's header, and corrects its checksum. */
static inline void forge(bytes *b, size_t section, size_t field, uint32_t value)
{
    char *header = b->at + section;
    gnomon__put_32(header + field, value);
    gnomon__put_32(header + 36, gnomon__crc32(0, header, 36));
}

/* Changes a section's content at `at`, and corrects its checksum. */
static inline void forge_inside(bytes *b, size_t section, size_t at,
                                uint32_t value)
{
    char *header = b->at + section, *payload = header + GNOMON__SECTION_HEADER;
    size_t size = (size_t)gnomon__get_64(header + 8);
    gnomon__put_32(payload + at, value);
    forge(b, section, 28, gnomon__crc32(0, payload, size));
}

#endif

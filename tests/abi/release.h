/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program and a library of a release, this one or the next (next.cmake): each
 * program builds and reads profiles with each library. test_next.c. */
#ifndef GNOMON_TESTS_ABI_RELEASE_H
#define GNOMON_TESTS_ABI_RELEASE_H

#include "gnomon/profile.h"

/* What a library exports. */
typedef struct release_library {
    int (*create)(gnomon_builder **out);
    uint32_t (*add)(gnomon_builder *builder, int entity, const void *info);
    int (*finish)(gnomon_builder *builder, gnomon_profile **out);
    int (*check)(const gnomon_profile *profile);
    int (*write)(const gnomon_profile *profile, const char *form,
                 const gnomon_writer *out);
    int (*read)(gnomon_profile **out, const void *bytes, size_t size);
    int (*read_json)(gnomon_profile **out, const char *text, size_t size);
    const char *(*error)(void);
} release_library;

typedef struct release_program {
    /* The same profile in each release, by a library, with a value in all that
     * the program's release has. */
    gnomon_profile *(*build)(const release_library *by);
    /* The number of differences in the release's fields; printed on stderr. */
    int (*differ)(const gnomon_profile *p, const gnomon_profile *q);
    /* How many structs have the value of the field that is new in the next
     * release, as the program sees them, and how many structs there are; -1: one
     * has another value than that and 0. */
    size_t (*news)(const gnomon_profile *p, size_t *structs);
} release_program;

/* What program.c and library.c export. */
typedef const release_program *release_program_get(void);
typedef const release_library *release_library_get(void);

#endif

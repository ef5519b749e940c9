/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a file has so far, for those who keep files and never look into profiles. */
#ifndef GNOMON_PROFILE_FILE_COUNTS_H
#define GNOMON_PROFILE_FILE_COUNTS_H

#include <stdint.h>

/* Kinds of them: gnomon_entity. */
#define GNOMON__ENTITIES 16

/* All zero: nothing, not even its header. */
typedef struct gnomon__file_counts {
    uint64_t written[GNOMON__ENTITIES];
    uint64_t texts; /* bytes */
    int is_begun;
} gnomon__file_counts;

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which texts a file has already, and where. */
#ifndef GNOMON_PROFILE_FILE_TEXTS_H
#define GNOMON_PROFILE_FILE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gnomon__file_text {
    const char *text; /* the caller's: as long as the set is used */
    uint32_t at;      /* 1 + its offset; 0: a free slot */
} gnomon__file_text;

/* Zeroes are an empty one. */
typedef struct gnomon__text_set {
    gnomon__file_text *slots;
    size_t count, room;
} gnomon__text_set;

/* 1 + its offset; 0: the set has it not. */
uint32_t gnomon__text_find(const gnomon__text_set *s, const char *text);

/* Adds one that is not there. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__text_add(gnomon__text_set *s, const char *text, uint32_t at);

void gnomon__text_clear(gnomon__text_set *s);
void gnomon__text_free(gnomon__text_set *s);

#endif

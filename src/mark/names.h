/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The texts of regions: copied once, fit for reports, never freed. */
#ifndef GNOMON_MARK_NAMES_H
#define GNOMON_MARK_NAMES_H

#include "platform/utf8.h"

#define GNOMON__MAX_NAME 1024 /* bytes; longer ones are cut, with a hash */

/* Zeroed memory for regions and their texts, in pages of their own, so that
 * a program with gnomon off loads no allocator. Under the lock; NULL: none. */
void *gnomon__name_room(size_t bytes);

/* FNV-1a, going on from `hash`: names are short, and each is hashed once. */
uint64_t gnomon__name_hash(uint64_t hash, gnomon__text text);

/* A text that can be a name: without NUL inside, or `is_shown`, as in reports, valid
 * UTF-8. What cannot be in it becomes U+FFFD, and it is cut to GNOMON__MAX_NAME bytes with
 * a hash of the whole, so that longer ones stay different. `room` holds it where it must
 * change, which is counted. */
gnomon__text gnomon__name_fit(gnomon__text text,
                              char room[GNOMON__MAX_NAME + 1], int is_shown);

/* A name as reports show it: valid UTF-8. Returns `text` itself if it is
 * valid already. Under the lock. */
const char *gnomon__name_clean(const char *text, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file that was appended to: each of its parts is a profile of its own, of what
 * was new, by numbers that go on. docs/file-format.md, "Parts". */
#ifndef GNOMON_PROFILE_PARTS_H
#define GNOMON_PROFILE_PARTS_H

#include "profile/keys.h"
#include "profile/model.h"

/* Checks only that references are valid, and that a parent comes before its child;
 * returns as gnomon_profile_check. */
int gnomon__check_numbers(const gnomon_profile *p);

/* Makes one profile of the parts, whose numbers were checked: entities of equal keys
 * become one. Open scopes are those of the last part: `open_count` from
 * `first_open` on. `maps` gets the new numbers by the old ones; the caller frees it in any
 * case. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count,
                        gnomon__numbers *maps);

#endif

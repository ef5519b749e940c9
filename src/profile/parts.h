/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file that was appended to: each of its parts is a profile of its own, of what
 * was new, by numbers that go on. docs/file-format.md, "Parts". */
#ifndef GNOMON_PROFILE_PARTS_H
#define GNOMON_PROFILE_PARTS_H

#include "profile/model.h"

/* Whether each number of another entity is one, and a node's parent before it: else
 * as gnomon_profile_check. */
int gnomon__check_numbers(const gnomon_profile *p);

/* Makes one profile of the parts, whose numbers were checked: entities of equal keys
 * become one. What is open is what was in the last part: `first_open` and so many. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count);

#endif

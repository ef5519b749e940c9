/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PROFILE_FIELDS_H
#define GNOMON_PROFILE_FIELDS_H

#include "profile/entity.h"
#include "profile/model.h"

/* How many items are behind a pointer: a struct, or a list. 0 where it is NULL. */
size_t gnomon__field_count(const gnomon__field *f, const void *of);
void gnomon__field_count_set(const gnomon__field *f, void *of, size_t count);

/* Makes `to` one of ours, of `from`, which has `given` bytes: what it lacks is
 * zero. */
void gnomon__struct_take(const gnomon__struct *s, void *to, const void *from,
                         uint32_t given);

/* The struct behind `part`, which may be of another release, as one of ours:
 * itself where it is as large, else completed in `room`. */
const void *gnomon__struct_whole(const gnomon__struct *s, const void *part,
                                 gnomon__any *room);

#endif

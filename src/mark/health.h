/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of what went wrong in marks, printed after the report: health.c. */
#ifndef GNOMON_MARK_HEALTH_H
#define GNOMON_MARK_HEALTH_H

#include <stddef.h>

#include "gnomon/tool.h"
#include "platform/atomic.h"

struct gnomon__thread;

/* Each thread has its own of marks; those of work are the process's. */
#define GNOMON__COUNT(field, text) uint64_t field;
typedef struct gnomon__mark_counts {
    GNOMON__HEALTH_OF_MARKS(GNOMON__COUNT)
    GNOMON__HEALTH_OF_OPS(GNOMON__COUNT)
} gnomon__mark_counts;
typedef struct gnomon__work_counts {
    GNOMON__HEALTH_OF_WORK(GNOMON__COUNT)
    GNOMON__HEALTH_OF_MEMORY(GNOMON__COUNT)
} gnomon__work_counts;
#undef GNOMON__COUNT
GNOMON__DATA gnomon__work_counts gnomon__work_health;

/* Counts trouble; any thread, `t` may be the dummy. A handler may be counting
 * the same. */
#define gnomon__trouble(t, field) \
    gnomon__trouble_add(t, offsetof(gnomon__mark_counts, field))
void gnomon__trouble_add(struct gnomon__thread *t, size_t field);
/* Trouble with records of work, or of memory. Any thread. */
#define gnomon__work_trouble(field, more) \
    add_relaxed(&gnomon__work_health.field, more)

#endif

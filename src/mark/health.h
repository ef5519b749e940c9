/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of what went wrong in marks, printed after the report: health.c. */
#ifndef GNOMON_MARK_HEALTH_H
#define GNOMON_MARK_HEALTH_H

#include <stddef.h>

#include "gnomon.h"

struct gnomon__thread;

/* Counts trouble; any thread, `t` may be the dummy. A handler may be counting
 * the same. */
#define gnomon__trouble(t, field) \
    gnomon__trouble_add(t, offsetof(gnomon_health, field))
void gnomon__trouble_add(struct gnomon__thread *t, size_t field);

#endif

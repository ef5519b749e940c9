/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which steps are recorded: torch.profiler.schedule, as a pure function.
 *
 * The first `skip_first` steps record nothing. Then come cycles of `wait` steps
 * without recording, `warmup` steps that are thrown away, and `active` steps
 * that are kept; the last active one closes the window. After `repeat` cycles
 * (0: no end) nothing more is recorded. skip_first_wait leaves out the wait of
 * the first cycle. */
#ifndef GNOMON_SPEC_SCHEDULE_H
#define GNOMON_SPEC_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "gnomon/profile.h"

/* A plain value without padding: equal when its bytes are. All zero: no
 * schedule, every step is recorded. */
typedef struct gnomon__schedule {
    uint64_t wait;
    uint64_t warmup;
    uint64_t active;
    uint64_t repeat;
    uint64_t skip_first;
    uint64_t skip_first_wait; /* 0 or 1 */
} gnomon__schedule;

/* Parses "wait:1/warmup:1/active:3/repeat:2", or with '=', in any order. A part that is
 * not given is 0; active is required. GNOMON_OK, or GNOMON_EINVAL: `why`
 * says it in a line and *out is zeroes. */
int gnomon__schedule_parse(gnomon__schedule *out, const char *text, char *why,
                           size_t size);

/* Whether this is the name of a part of it. */
int gnomon__schedule_has(const char *key);

/* The phase of a step. Steps count from 0, from where the schedule began. */
enum gnomon_phase gnomon__schedule_phase(const gnomon__schedule *s,
                                         uint64_t step);

/* The number of the cycle that a step is in, from 0; 0 before the first. */
uint64_t gnomon__schedule_cycle(const gnomon__schedule *s, uint64_t step);

/* The first step from `step` on whose phase is not NONE; UINT64_MAX: there is
 * none any more. O(1). */
uint64_t gnomon__schedule_next_active(const gnomon__schedule *s, uint64_t step);

#endif

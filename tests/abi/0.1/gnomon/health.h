/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Health and footprint: what marks, which cannot fail, count instead. Included
 * by gnomon.h. */
#ifndef GNOMON_HEALTH_H
#define GNOMON_HEALTH_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* Each cause of trouble that marks count: field, and what it says in reports. */
#define GNOMON_HEALTH(X) \
    X(unmatched, "ends of scopes that were not open on the thread") \
    X(crossed, "scopes ended by the end of one around them") \
    X(foreign, "ends on another thread than the begin's that ended nothing") \
    X(twice, "starts of actions that were open") \
    X(never_started, "stops of actions that were not open") \
    X(left_open, "scopes that were open when their thread ended") \
    X(too_deep, "scopes past the depth limit, counted under (other)") \
    X(reentered, "marks made inside gnomon, by a callback or a signal") \
    X(other_nodes, "paths past the memory limit, counted under (other)") \
    X(other_names, "names past the limit, counted under (other)") \
    X(bad_names, "names that were NULL, too long or not UTF-8") \
    X(bad_regions, "regions of another generation, or NULL") \
    X(lost_scopes, "marks lost: no memory for the thread (raise mem=)") \
    X(lost_ranges, "ranges lost: too many open") \
    X(lost_links, "links lost: too many") \
    X(lost_counters, "counter samples lost: too many counters") \
    X(lost_frames, "scopes that hooks did not see: too many open, or no " \
                   "memory (raise mem=)") \
    X(bad_stages, "stages of too many names, added up under (other)") \
    X(timers_full, "device times lost: too many scopes waited for the device") \
    X(timers_captured, "device times not taken: captured into a graph") \
    X(timers_failed, "device times lost: the device refused a call") \
    X(timers_late, "device times lost: not over when the report was due") \
    X(timers_unended, \
      "device times lost: scopes that were crossed or left open") \
    X(clock_back, "ends before their begins: the clock stepped back") \
    X(late_lost, \
      "ends after their stage, counted in a later one: no memory to tell")

typedef struct gnomon_health {
    uint32_t struct_size;
    uint32_t threads;      /* that marked so far and are alive */
    uint64_t mapped_bytes; /* our arena: what recorders may touch so far */
    uint64_t heap_bytes;   /* our heap */
#define GNOMON_HEALTH_FIELD(field, text) uint64_t field;
    GNOMON_HEALTH(GNOMON_HEALTH_FIELD)
#undef GNOMON_HEALTH_FIELD
} gnomon_health;

/* Fills `health`, whose struct_size the caller has set. Counts since the start
 * of the process. */
GNOMON__CALL void gnomon_health_get(gnomon_health *health);

GNOMON_END_DECLS

#endif

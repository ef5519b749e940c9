/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Health: what went wrong in marks, which cannot fail, and how much memory gnomon
 * has. Included by gnomon.h.
 *
 * Marks return no codes and print nothing. Whatever one could not do is counted
 * by its cause. Reports end with a line for each cause whose count is not 0, and
 * profiles keep the counts as losses (gnomon_loss_info).
 */
#ifndef GNOMON_H
#include "../gnomon.h" /* includes this header where it is needed */
#elif !defined GNOMON_HEALTH_H
#define GNOMON_HEALTH_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* The causes, each with its field in gnomon_health and its text in reports:
 *
 * Mistakes of the program that marks: unmatched, crossed, foreign, twice,
 * never_started, left_open, reentered, bad_names, bad_regions.
 * Limits: too_deep (1024 open scopes on a thread), other_nodes and other_names
 * (what does not fit counts under "(other)", so that sums stay true), lost_links,
 * lost_counters, lost_ranges, bad_stages. other_names counts starts by name, calls of
 * gnomon_region_get and records of devices' work; a stop is not counted beside its start.
 * Memory: lost_scopes, lost_frames; $GNOMON's mem= gives more.
 * Devices: timers_..., each a scope whose time on the device is missing while its
 * time on the host is there; activities_..., of gnomon/activity.h.
 * Clocks: clock_back. Stages: late_lost. Operations: bad_ops, lost_ops, of
 * gnomon/op.h. */
/* Of marks; of records of work, which come from elsewhere; of operations. */
#define GNOMON__HEALTH_OF_MARKS(X) \
    X(unmatched, "ends of scopes that were not open on the thread") \
    X(crossed, "scopes ended by the end of one around them") \
    X(foreign, "ends on another thread than the begin's that ended nothing") \
    X(twice, "starts of actions that were open") \
    X(never_started, "stops of actions that were not open") \
    X(left_open, "scopes that were open when their thread ended") \
    X(too_deep, "scopes past the depth limit, counted under (other)") \
    X(reentered, \
      "marks made inside gnomon, by a callback or a signal, or after the end " \
      "of their thread") \
    X(other_nodes, "paths past the memory limit, counted under (other)") \
    X(other_names, \
      "marks whose name is past the limit, counted under (other)") \
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
#define GNOMON__HEALTH_OF_WORK(X) \
    X(activities_lost, "records of device work lost") \
    X(activities_unlinked, "records of device work whose launch was not seen") \
    X(activities_late, \
      "records of device work that came after their stage's report") \
    X(activities_odd, "records of device work that cannot be")
#define GNOMON__HEALTH_OF_OPS(X) \
    X(bad_ops, "operations, or parts of them, that cannot be") \
    X(lost_ops, "scopes without their operation: too many operations")
#define GNOMON_HEALTH(X) \
    GNOMON__HEALTH_OF_MARKS(X) \
    GNOMON__HEALTH_OF_WORK(X) \
    GNOMON__HEALTH_OF_OPS(X)

/* The counts, since the start of the process, of all threads together. */
typedef struct gnomon_health {
    /* sizeof(gnomon_health), set by the caller. */
    uint32_t struct_size;
    /* How many threads have marked and have not ended. */
    uint32_t threads;
    /* Bytes of the memory that is mapped for recording, as far as it is in use. */
    uint64_t mapped_bytes;
    /* Bytes of gnomon's own heap. */
    uint64_t heap_bytes;
    /* One count for each cause. */
#define GNOMON_HEALTH_FIELD(field, text) uint64_t field;
    GNOMON_HEALTH(GNOMON_HEALTH_FIELD)
#undef GNOMON_HEALTH_FIELD
} gnomon_health;

/* Fills `health`, up to the struct_size that the caller has set in it; what this
 * library does not know is 0. NULL is ignored. Any thread; takes no lock. The
 * counts of threads that mark meanwhile may be a moment old. */
GNOMON__CALL void gnomon_health_get(gnomon_health *health);

GNOMON_END_DECLS

#endif

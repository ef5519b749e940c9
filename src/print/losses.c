/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The texts for one are here, those for several in GNOMON_HEALTH, which programs use as
 * well. A field that has none here would not compile. */
#include "print/losses.h"

#include <stddef.h>
#include <string.h>

#include "gnomon.h"

#define LOSS_ONE_unmatched "end of a scope that was not open on the thread"
#define LOSS_ONE_crossed "scope ended by the end of one around it"
#define LOSS_ONE_foreign \
    "end on another thread than the begin's that ended nothing"
#define LOSS_ONE_twice "start of an action that was open"
#define LOSS_ONE_never_started "stop of an action that was not open"
#define LOSS_ONE_left_open "scope that was open when its thread ended"
#define LOSS_ONE_too_deep "scope past the depth limit, counted under (other)"
#define LOSS_ONE_reentered "mark made inside gnomon, by a callback or a signal"
#define LOSS_ONE_other_nodes "path past the memory limit, counted under (other)"
#define LOSS_ONE_other_names \
    "mark of a name past the limit, counted under (other)"
#define LOSS_ONE_bad_names "name that was NULL, too long or not UTF-8"
#define LOSS_ONE_bad_regions "region of another generation, or NULL"
#define LOSS_ONE_lost_scopes "mark lost: no memory for the thread (raise mem=)"
#define LOSS_ONE_lost_ranges "range lost: too many open"
#define LOSS_ONE_lost_links "link lost: too many"
#define LOSS_ONE_lost_counters "counter sample lost: too many counters"
#define LOSS_ONE_lost_frames \
    "scope that hooks did not see: too many open, or no memory (raise mem=)"
#define LOSS_ONE_bad_stages "stage of too many names, added up under (other)"
#define LOSS_ONE_timers_full \
    "device time lost: too many scopes waited for the device"
#define LOSS_ONE_timers_captured "device time not taken: captured into a graph"
#define LOSS_ONE_timers_failed "device time lost: the device refused a call"
#define LOSS_ONE_timers_late \
    "device time lost: not over when the report was due"
#define LOSS_ONE_timers_unended \
    "device time lost: a scope that was crossed or left open"
#define LOSS_ONE_clock_back "end before its begin: the clock stepped back"
#define LOSS_ONE_late_lost \
    "end after its stage, counted in a later one: no memory to tell"
#define LOSS_ONE_activities_lost "record of device work lost"
#define LOSS_ONE_activities_unlinked \
    "record of device work whose launch was not seen"
#define LOSS_ONE_activities_late \
    "record of device work that came after its stage's report"
#define LOSS_ONE_activities_odd "record of device work that cannot be"
#define LOSS_ONE_bad_ops "operation, or part of one, that cannot be"
#define LOSS_ONE_lost_ops "scope without its operation: too many operations"

const char *gnomon__loss_words(const char *kind, uint64_t count)
{
    static const struct {
        const char *kind, *one, *several;
    } losses[] = {
#define LOSS_WORDS(field, words) {#field, LOSS_ONE_##field, words},
        GNOMON_HEALTH(LOSS_WORDS)
#undef LOSS_WORDS
            {"events_lost",
             "event lost: no memory, or no path of its own (raise mem=)",
             "events lost: no memory, or no path of their own (raise mem=)"},
        {"events_overwritten", "event overwritten by a later one (raise mem=)",
         "events overwritten by later ones (raise mem=)"},
        {"activities_overwritten",
         "event of device work overwritten by a later one (raise mem=)",
         "events of device work overwritten by later ones (raise mem=)"}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (strcmp(losses[i].kind, kind) == 0)
            return count == 1 ? losses[i].one : losses[i].several;
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Walks all kinds until the first error, as docs/profile.md shows it, and says how many
 * of each there are; of regions, whose numbers others name, nothing. */
#include <gnomon/profile.h>
#include <gnomon/tool.h>

static int walked(void *self, const gnomon_profile *p, const gnomon_writer *out)
{
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {
        {"nodes", GNOMON_NODES},   {"opens", GNOMON_OPENS},
        {"links", GNOMON_LINKS},   {"counters", GNOMON_COUNTERS},
        {"events", GNOMON_EVENTS}, {"times of steps", GNOMON_STEP_TIMES}};
    union {
        uint32_t struct_size;
        gnomon_node_info node;
        gnomon_open_info open;
        gnomon_link_info link;
        gnomon_counter_info counter;
        gnomon_event_info event;
        gnomon_step_time_info time;
    } any;
    (void)self;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t seen = 0;
        any.struct_size = sizeof any;
        while (p->api->get(p, kinds[i].kind, seen + 1, &any) == GNOMON_OK &&
               (kinds[i].kind != GNOMON_NODES || any.node.region))
            seen++;
        out->print(out, "%lu of %lu %s\n", (unsigned long)seen,
                   (unsigned long)gnomon_profile_count(p, kinds[i].kind),
                   kinds[i].name);
    }
    return GNOMON_OK;
}

static const gnomon_profiler walked_profiler = {
    .struct_size = sizeof walked_profiler,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "walked",
    .summary = walked,
};

GNOMON_PLUGIN(walked_profiler);

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin of a release, which calls what the host table of either has. In the
 * environment LIBRARY is the release of the host's library, as for every.c. */
#include "gnomon/tool.h"

#include "every.h"

static unsigned stops;
static const gnomon_host *the_host;

static void plugin_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)slot;
    GOT(gnomon_frame, frame);
    __atomic_add_fetch(&stops, 1, __ATOMIC_RELAXED);
}

static int plugin_summary(void *self, const gnomon_profile *profile,
                          const gnomon_writer *out)
{
    ROOM(gnomon_health, health);
    (void)self, (void)profile;
    the_host->health(&health.it);
    FILLED(gnomon_health, health);
    print_seen();
    return out->print(out, "plugin: %u stops, %d unmatched\n", stops,
                      (int)health.it.unmatched);
}

static const gnomon_profiler plugin = {
    NEWS.struct_size = sizeof plugin, .abi = GNOMON_ABI,
    .name = "every_plugin",           .stop = plugin_stop,
    .summary = plugin_summary,
};

GNOMON_API gnomon_plugin_entry gnomon_plugin_v1;
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *host)
{
    library_growth = growth_of(getenv("LIBRARY"));
    GOT(gnomon_host, host);
    the_host = host;
    return &plugin;
}

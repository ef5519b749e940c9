/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin that calls gnomon through the host table only. */
#include <stdio.h>
#include <string.h>

#include <gnomon/tool.h>

static const gnomon_host *the_host;
static gnomon_region *own;

static int user_create(const gnomon_options *options, void **self)
{
    (void)options;
    *self = the_host->allocate(64);
    own = the_host->region_get("of the plugin and more", 13, "own",
                               GNOMON_TO_NUL, GNOMON_KIND_SCOPE);
    return *self ? GNOMON_OK : GNOMON_ENOMEM;
}

/* Refused: inside a callback nothing is recorded. */
static void user_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    ++*(uint64_t *)self;
    *slot = the_host->begin(own, 1);
    the_host->end(*slot);
    (void)frame;
}

static int user_summary(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    gnomon_health health = {.struct_size = sizeof health};
    gnomon_profile *p = NULL;
    the_host->health(&health);
    the_host->log("a line of the plugin");
    int code = the_host->snapshot(&p, "host_user", GNOMON_TO_NUL, 0);
    out->print(out, "%d starts, %d marks refused, %s, %s, clock %s\n",
               (int)*(uint64_t *)self, (int)health.reentered, own->name,
               code == GNOMON_OK && p ? "looked" : "not looked",
               the_host->now_ns() > 0 ? "runs" : "stands");
    the_host->profile_free(p);
    (void)profile;
    return GNOMON_OK;
}

static void user_destroy(void *self)
{
    the_host->release(self);
}

static const gnomon_profiler user = {
    .struct_size = sizeof user,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "host_user",
    .help = "calls the host table",
    .create = user_create,
    .start = user_start,
    .summary = user_summary,
    .destroy = user_destroy,
};

GNOMON_API gnomon_plugin_entry gnomon_plugin_v1;
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *host)
{
    if (host->abi != GNOMON_ABI || host->struct_size < sizeof *host ||
        !host->version)
        return NULL;
    the_host = host;
    return &user;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocations and frees. Each row says how much its pool has allocated since the first
 * of them, so those of all tracks are written in the order of their time. */
#include "export/chrome.h"

#include <stdlib.h>

/* Bytes; what no memory has is 0. */
static int64_t whole(double bytes)
{
    return bytes > -1e18 && bytes < 1e18 ? (int64_t)bytes : 0;
}

static void put_memory(gnomon__chrome *c, const gnomon_event_info *e,
                       uint64_t at, int64_t allocated)
{
    gnomon_track_info pool = {.device = -1};
    (void)gnomon_profile_track(c->p, e->region, &pool);
    gnomon__chrome_moment(c, e->track, at,
                          "\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\"",
                          "[memory]");
    gnomon__export_literal(c->t, "\"Device Type\":");
    gnomon__export_number(c->t, pool.device >= 0);
    gnomon__export_literal(c->t, ",\"Device Id\":");
    gnomon__export_signed(c->t, pool.device);
    gnomon__export_literal(c->t, ",\"Bytes\":");
    gnomon__export_signed(c->t, whole(e->value));
    gnomon__export_literal(c->t, ",\"Addr\":");
    gnomon__export_number(c->t, e->instance);
    gnomon__export_literal(c->t, ",\"Total Allocated\":");
    gnomon__export_signed(c->t, allocated);
    gnomon__export_literal(c->t, ",\"Total Reserved\":0}}");
}

int gnomon__chrome_memory(gnomon__chrome *c)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    if (!c->has_memory)
        return 1;
    int64_t *allocated = calloc(gnomon_profile_count(c->p, GNOMON_TRACKS) + 1,
                                sizeof *allocated);
    const int ok = gnomon__memory_begin(&memory, c->p) && allocated;
    while (ok && !c->t->code && gnomon__memory_next(&memory, &e, &at)) {
        int64_t *pool = &allocated[e.region];
        *pool = whole((double)*pool + e.value);
        if (gnomon__export_takes(c->what, at))
            put_memory(c, &e, at - c->base, *pool);
    }
    gnomon__memory_end(&memory);
    free(allocated);
    return ok;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles with many events, on a few threads. */
#ifndef GNOMON_TESTS_MANY_EVENTS_H
#define GNOMON_TESTS_MANY_EVENTS_H

#include "random_profile.h"

enum { TRACKS = 3, PATHS = 40 };

/* Tracks 1 .. TRACKS with PATHS paths each, of region 1; no times. */
static inline gnomon_builder *paths_of_threads(void)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .uuid = "u"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "forward"});
    for (uint32_t t = 1; t <= TRACKS; t++) {
        gnomon_add_track(
            b, &(gnomon_track_info){.run = 1, .index = t, .device = -1});
        for (uint32_t i = 0; i < PATHS; i++)
            gnomon_add_node(
                b, &(gnomon_node_info){.track = t,
                                       .parent = i ? (t - 1) * PATHS + i : 0,
                                       .region = 1});
    }
    return b;
}

static inline gnomon_profile *finished(gnomon_builder *b)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* As in a training step: scopes of 1 us to 1 ms, each a few us after the last. */
static inline gnomon_profile *plain_scopes(uint32_t of_thread)
{
    gnomon_builder *b = paths_of_threads();
    for (uint32_t t = 1; t <= TRACKS; t++) {
        uint64_t at = 1000000000;
        for (uint32_t i = 0; i < of_thread; i++) {
            at += 200 + random_below(20000);
            gnomon_add_event(
                b, &(gnomon_event_info){.track = t,
                                        .node = (t - 1) * PATHS + 1 +
                                                random_below(PATHS),
                                        .begin_ns = at,
                                        .duration_ns = random_below(1000000)});
        }
    }
    return finished(b);
}

#endif

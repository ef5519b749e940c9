/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events that are read many at a time are those that are read one by one. */
#ifndef GNOMON_TESTS_EVENT_RUNS_H
#define GNOMON_TESTS_EVENT_RUNS_H

#include "gnomon/profile.h"
#include "test.h"

#define EVENT_RUNS_MOST 3000

static inline size_t event_run(const gnomon_profile *p, size_t first,
                               size_t room)
{
    static gnomon_event_info many[EVENT_RUNS_MOST + 1];
    memset(many, 0x5a, sizeof many);
    const size_t count = gnomon_profile_events(p, first, many, room);
    CHECK(count <= room);
    for (size_t i = 0; i < count; i++) {
        gnomon_event_info one;
        CHECK_EQ(gnomon_profile_event(p, first + i, &one), GNOMON_OK);
        if (!CHECK(memcmp(&one, &many[i], sizeof one) == 0))
            break;
    }
    CHECK_EQ(many[room].begin_ns, 0x5a5a5a5a5a5a5a5a);
    return count;
}

/* Reads all events of a profile that way, with room for so many. */
static inline void check_event_runs(const gnomon_profile *p)
{
    static const size_t rooms[] = {1, 2, 63, 64, 1024, EVENT_RUNS_MOST};
    const size_t count = gnomon_profile_count(p, GNOMON_EVENTS);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        size_t first = 1;
        while (first <= count) {
            size_t read = event_run(p, first, rooms[i]);
            if (!CHECK(read > 0))
                break;
            first += read;
        }
        CHECK_EQ(first, count + 1);
    }
    CHECK_EQ(event_run(p, 1, 0), 0);
    CHECK_EQ(event_run(p, 0, 2), 0);
    CHECK_EQ(event_run(p, count + 1, 2), 0);
    CHECK_EQ(event_run(p, SIZE_MAX, 2), 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of events: profilers that take them, and what a profile has of them
 * and counts as missing. */
#ifndef GNOMON_TESTS_TAPING_H
#define GNOMON_TESTS_TAPING_H

#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "test.h"

/* Fields of a profiler that takes events. */
#define TAPES(word) \
    .struct_size = sizeof(gnomon_profiler), .abi = GNOMON_ABI, \
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS, .name = (word)

/* Its option keep=, with that preset. */
#define KEEPS(preset) \
    .options = (const gnomon_option_info[]) \
    { \
        {sizeof(gnomon_option_info), GNOMON_OPTION_TEXT, "keep", (preset), \
         NULL}, \
        { \
            .key = NULL \
        } \
    }

static const gnomon_profiler taper = {TAPES("taper")};
static const gnomon_profiler first_taper = {TAPES("taper"), KEEPS("first")};

static inline size_t events(const gnomon_profile *p)
{
    return gnomon_profile_count(p, GNOMON_EVENTS);
}

/* Events that are missing, of that kind; NULL: of all kinds. */
static inline uint64_t missing(const gnomon_profile *p, const char *kind)
{
    uint64_t count = 0;
    gnomon_loss_info l;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++)
        if (kind ? strcmp(l.kind, kind) == 0
                 : strncmp(l.kind, "events_", 7) == 0) {
            count += l.count;
            CHECK(l.track != 0);
            CHECK(l.begin_ns <= l.end_ns);
        }
    return count;
}

#endif

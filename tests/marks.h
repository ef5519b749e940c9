/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of marks: a profiler that only wants a call tree, the test
 * clock, health before and after, and threads. probe_profile.h reads what was
 * recorded. For programs with the test clock. */
#ifndef GNOMON_TESTS_MARKS_H
#define GNOMON_TESTS_MARKS_H

#include <pthread.h>

#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "test.h"

/* Attached under their own names; each has its own tree. */
static const gnomon_profiler probe = {.struct_size = sizeof probe,
                                      .abi = GNOMON_ABI,
                                      .wants = GNOMON_WANT_TREE,
                                      .name = "probe"};
static const gnomon_profiler other_probe = {.struct_size = sizeof other_probe,
                                            .abi = GNOMON_ABI,
                                            .wants = GNOMON_WANT_TREE,
                                            .name = "other_probe"};

static inline void pass(uint64_t ns)
{
    gnomon__test_pass(ns);
}

static inline int attach_probe(void)
{
    return CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
}

/* ---- Health ------------------------------------------------------------------ */

static inline gnomon_health health_now(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return h;
}

static inline void check_health(const gnomon_health *before,
                                const gnomon_health *expected, const char *file,
                                int line)
{
    gnomon_health now = health_now();
#define CHECK_FIELD(field, text) \
    test_eq((long long)(now.field - before->field), \
            (long long)expected->field, file, line, #field);
    GNOMON_HEALTH(CHECK_FIELD)
#undef CHECK_FIELD
}

/* The health counters that rose since `before` are these, for instance
 * .crossed = 2, and no others. */
#define CHECK_HEALTH(before, ...) \
    do { \
        gnomon_health expected_ = {.struct_size = 0, __VA_ARGS__}; \
        check_health(&(before), &expected_, __FILE__, __LINE__); \
    } while (0)

/* ---- Threads ------------------------------------------------------------------ */

static inline void on_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (CHECK_EQ(pthread_create(&thread, NULL, run, argument), 0))
        pthread_join(thread, NULL);
}

static inline void *end_given_range(void *range)
{
    gnomon_range_end(*(gnomon_range *)range);
    return NULL;
}

/* Ends it on another thread. */
static inline void end_range_there(gnomon_range range)
{
    on_thread(end_given_range, &range);
}

#endif

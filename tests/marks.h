/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of marks: a profiler that only wants a call tree, its
 * profile, a node by its path, and health before and after. For programs
 * with the test clock. */
#ifndef GNOMON_TESTS_MARKS_H
#define GNOMON_TESTS_MARKS_H

#include <pthread.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
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

/* A checked profile; the caller frees it. NULL fails the test. */
static inline gnomon_profile *profile_of(const char *profiler, int all_stages)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_snapshot(&p, profiler, all_stages), GNOMON_OK))
        return NULL;
    if (!CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* ---- Nodes by path ---------------------------------------------------------- */

static inline const char *node_name(const gnomon_profile *p,
                                    const gnomon_node_info *n)
{
    gnomon_region_info r;
    return gnomon_profile_region(p, n->region, &r) ? "" : r.name;
}

/* Whether `path` ("outer>inner") is the path of node `number`, from its
 * outermost node on. */
static inline int path_is(const gnomon_profile *p, size_t number,
                          const char *path)
{
    size_t length = strlen(path);
    while (number) {
        gnomon_node_info n;
        if (gnomon_profile_node(p, number, &n))
            return 0;
        const char *name = node_name(p, &n);
        size_t size = strlen(name);
        if (size > length || memcmp(path + length - size, name, size) != 0)
            return 0;
        length -= size;
        if (n.parent && (!length || path[--length] != '>'))
            return 0;
        number = n.parent;
    }
    return length == 0;
}

/* The number of the node of `path` on `track` (0: any) in `stage` (0: any); 0:
 * there is none. */
static inline size_t node_at(const gnomon_profile *p, uint32_t track,
                             uint32_t stage, const char *path)
{
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        if (!gnomon_profile_node(p, i, &n) && (!track || n.track == track) &&
            (!stage || n.stage == stage) && path_is(p, i, path))
            return i;
    }
    return 0;
}

static inline gnomon_stats stats_at(const gnomon_profile *p, const char *path)
{
    gnomon_node_info n = {.struct_size = sizeof n};
    size_t number = node_at(p, 0, 0, path);
    if (!number || gnomon_profile_node(p, number, &n) || !n.host) {
        fprintf(stderr, "no node %s\n", path);
        return (gnomon_stats){.count = UINT64_MAX};
    }
    return *n.host;
}

/* Of a region, over all paths and tracks. */
static inline uint64_t calls_of(const gnomon_profile *p, const char *name)
{
    uint64_t calls = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        if (!gnomon_profile_node(p, i, &n) && n.host &&
            strcmp(node_name(p, &n), name) == 0)
            calls += n.host->count;
    }
    return calls;
}

#define CHECK_NODE(p, path, calls, total, self) \
    do { \
        gnomon_stats s_ = stats_at(p, path); \
        CHECK_EQ(s_.count, calls); \
        CHECK_EQ(s_.total_ns, total); \
        CHECK_EQ(s_.self_ns, self); \
    } while (0)

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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile of an attached profiler, as marks.h has them, and its nodes by
 * their paths. */
#ifndef GNOMON_TESTS_PROBE_PROFILE_H
#define GNOMON_TESTS_PROBE_PROFILE_H

#include "gnomon/profile.h"
#include "test.h"

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

/* The device statistics of the node at `path`; all zero: none. */
static inline gnomon_stats device_of(const gnomon_profile *p, const char *path)
{
    gnomon_stats none = {.struct_size = sizeof none};
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        if (!gnomon_profile_node(p, i, &n) && path_is(p, i, path))
            return n.device ? *n.device : none;
    }
    return none;
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

#define CHECK_DEVICE(p, path, n, total, self, least, most) \
    do { \
        gnomon_stats s_ = device_of(p, path); \
        CHECK_EQ(s_.count, n); \
        CHECK_EQ(s_.total_ns, total); \
        CHECK_EQ(s_.self_ns, self); \
        CHECK_EQ(s_.min_ns, least); \
        CHECK_EQ(s_.max_ns, most); \
    } while (0)

#endif

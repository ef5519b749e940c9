/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The invariants of a profile, checked through its public readers, so that any
 * profile can be checked, whoever made it. docs/profile.md lists them. */
#include <string.h>

#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/owner.h"

typedef struct sums {
    uint64_t children; /* of a node: its children's totals */
} sums;

typedef struct track_sums {
    uint64_t self, roots;
    int loose; /* something open, crossed, partial or inexact: no equality */
} track_sums;

#define VIOLATED(...) gnomon__fail(GNOMON_EINVAL, __VA_ARGS__)

static int check_stats(const gnomon_host_stats *s, const char *what,
                       unsigned long long number)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->cell_count; i++) {
        if (!s->cells[i].count ||
            (i && s->cells[i].cell <= s->cells[i - 1].cell))
            return VIOLATED("%s %llu: histogram cells are empty or not "
                            "ascending at %zu",
                            what, number, i);
        n += s->cells[i].count;
    }
    if (n != s->count)
        return VIOLATED("%s %llu: histogram counts %llu, count is %llu", what,
                        number, (unsigned long long)n,
                        (unsigned long long)s->count);
    uint64_t at[5] = {s->min_ns, gnomon_quantile_ns(s, 0.5),
                      gnomon_quantile_ns(s, 0.9), gnomon_quantile_ns(s, 0.99),
                      s->max_ns};
    for (int i = 0; s->count && i < 4; i++)
        if (at[i] > at[i + 1])
            return VIOLATED("%s %llu: min, p50, p90, p99, max do not ascend",
                            what, number);
    if (!s->count && (s->total_ns || s->min_ns || s->max_ns))
        return VIOLATED("%s %llu: no executions, but times", what, number);
    if (s->count && s->total_ns < s->max_ns)
        return VIOLATED("%s %llu: total is below max", what, number);
    return GNOMON_OK;
}

static int check_node(const gnomon_profile *p, size_t number,
                      const gnomon_node_info *n, sums *nodes)
{
    unsigned long long id = number;
    if (n->track < 1 || n->track > gnomon_profile_count(p, GNOMON_TRACKS) ||
        n->region < 1 || n->region > gnomon_profile_count(p, GNOMON_REGIONS) ||
        n->stage > gnomon_profile_count(p, GNOMON_STAGES))
        return VIOLATED("node %llu: names a track, region or stage that is "
                        "not there",
                        id);
    if (n->parent >= number)
        return VIOLATED("node %llu: parent %u is not before it", id,
                        (unsigned)n->parent);
    if (!n->parent)
        return GNOMON_OK;
    gnomon_node_info parent;
    if (gnomon_profile_node(p, n->parent, &parent) || parent.track != n->track)
        return VIOLATED("node %llu: parent is on another track", id);
    if (n->host && !(n->flags & GNOMON_NODE_RANGE))
        nodes[n->parent].children += n->host->total_ns;
    return GNOMON_OK;
}

static int check_nodes(const gnomon_profile *p, sums *nodes, track_sums *tracks)
{
    size_t count = gnomon_profile_count(p, GNOMON_NODES);
    gnomon_node_info n;
    int code = GNOMON_OK;
    for (size_t i = 1; !code && i <= count; i++) {
        code = gnomon_profile_node(p, i, &n);
        if (!code)
            code = check_node(p, i, &n, nodes);
        if (!code && n.host)
            code = check_stats(n.host, "node", i);
    }
    /* Below an execution that is open, its children are ahead of it. */
    for (size_t i = count; !code && i >= 1; i--) {
        gnomon_profile_node(p, i, &n);
        track_sums *t = &tracks[n.track];
        int loose = n.open || !n.host ||
                    (n.flags & (GNOMON_NODE_CROSSED | GNOMON_NODE_PARTIAL));
        t->loose |= loose;
        if (!n.host || (n.flags & GNOMON_NODE_RANGE))
            continue;
        t->self += n.host->self_ns;
        if (!n.parent)
            t->roots += n.host->total_ns;
        gnomon_track_info track;
        gnomon_profile_track(p, n.track, &track);
        t->loose |= track.inexact;
        if (!loose && !track.inexact &&
            n.host->total_ns != n.host->self_ns + nodes[i].children) {
            gnomon_region_info r;
            gnomon_profile_region(p, n.region, &r);
            return VIOLATED(
                "node %zu (%s): total %llu is not self %llu + children %llu", i,
                r.name, (unsigned long long)n.host->total_ns,
                (unsigned long long)n.host->self_ns,
                (unsigned long long)nodes[i].children);
        }
    }
    return code;
}

static int check_others(const gnomon_profile *p)
{
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    gnomon_open_info o;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_OPENS); i++) {
        gnomon_node_info n;
        gnomon_profile_open(p, i, &o);
        if (o.node < 1 || o.node > nodes ||
            gnomon_profile_node(p, o.node, &n) || !n.open)
            return VIOLATED("open scope %zu: its node is not open", i);
    }
    gnomon_link_info l;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        gnomon_profile_link(p, i, &l);
        if (l.from < 1 || l.from > nodes || l.to < 1 || l.to > nodes ||
            !l.count)
            return VIOLATED("link %zu: leads nowhere", i);
    }
    gnomon_counter_info c;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        gnomon_profile_counter(p, i, &c);
        if (!c.count || c.min > c.max)
            return VIOLATED("counter %zu: min is above max", i);
    }
    gnomon_stage_info s;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_profile_stage(p, i, &s);
        if (s.begin_ns > s.end_ns)
            return VIOLATED("stage %zu: ends before it begins", i);
        int code = check_stats(&s.steps, "the steps of stage", i);
        if (code)
            return code;
    }
    return GNOMON_OK;
}

int gnomon_profile_check(const gnomon_profile *p)
{
    GNOMON__FORWARD(profile_check(p));
    gnomon__fail_clear();
    if (!p)
        return VIOLATED("no profile");
    size_t n = gnomon_profile_count(p, GNOMON_NODES);
    size_t t = gnomon_profile_count(p, GNOMON_TRACKS);
    sums *nodes = gnomon__alloc((n + 1) * sizeof *nodes);
    track_sums *tracks = gnomon__alloc((t + 1) * sizeof *tracks);
    if (!nodes || !tracks) {
        gnomon__free(nodes);
        gnomon__free(tracks);
        return gnomon__fail(GNOMON_ENOMEM, "no memory to check a profile");
    }
    int code = check_nodes(p, nodes, tracks);
    for (size_t i = 1; !code && i <= t; i++)
        if (!tracks[i].loose && tracks[i].self != tracks[i].roots)
            code = VIOLATED("track %zu: selfs add up to %llu, a scope was "
                            "open for %llu",
                            i, (unsigned long long)tracks[i].self,
                            (unsigned long long)tracks[i].roots);
    if (!code)
        code = check_others(p);
    gnomon__free(nodes);
    gnomon__free(tracks);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The invariants of a profile, checked through its public readers, so that any
 * profile can be checked, whoever made it. docs/profile.md lists them. */
#include <string.h>

#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/memory.h"

typedef struct sums {
    uint64_t children; /* of a node: its children's totals */
} sums;

typedef struct track_sums {
    uint64_t self, roots;
    int loose; /* something open, crossed, partial or inexact: no equality */
} track_sums;

#define VIOLATED(...) gnomon__fail(GNOMON_EINVAL, __VA_ARGS__)

static int check_stats(const gnomon_stats *s, const char *what,
                       unsigned long long number)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->cell_count; i++) {
        if (!s->cells[i].count ||
            s->cells[i].cell > gnomon_cell_of(UINT64_MAX) ||
            (i && s->cells[i].cell <= s->cells[i - 1].cell))
            return VIOLATED("%s %llu: histogram cells are empty, not ascending "
                            "or of no duration at %zu",
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

/* Whether `number` is one of the entities; 0, none, where `may_be_none`. */
static int is_there(const gnomon_profile *p, int entity, size_t number,
                    int may_be_none)
{
    return number ? number <= gnomon_profile_count(p, entity) : may_be_none;
}

/* Of a profile of no run nothing names one. */
static int names_a_run(const gnomon_profile *p, uint32_t run)
{
    return is_there(p, GNOMON_RUNS, run,
                    gnomon_profile_count(p, GNOMON_RUNS) == 0);
}

static uint32_t run_of(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    gnomon_profile_track(p, track, &t);
    return t.run;
}

static int check_memory(const gnomon_profile *p, unsigned long long id,
                        const gnomon_node_info *n)
{
    uint32_t run = run_of(p, n->track);
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        gnomon_track_info pool;
        if (gnomon_profile_track(p, m->pool, &pool) ||
            pool.kind != GNOMON_TRACK_POOL || pool.run != run ||
            (i && m->pool <= gnomon_memory_at(n, i - 1)->pool))
            return VIOLATED("node %llu: its memory is of no pool of its run, "
                            "or pools do not ascend",
                            id);
        if ((uint64_t)m->live_bytes != m->allocated_bytes - m->freed_bytes ||
            m->peak_bytes > m->allocated_bytes)
            return VIOLATED("node %llu: live is not allocated less freed, or "
                            "peak is above allocated",
                            id);
    }
    return GNOMON_OK;
}

static int check_node(const gnomon_profile *p, size_t number,
                      const gnomon_node_info *n, sums *nodes)
{
    unsigned long long id = number;
    gnomon_track_info track;
    gnomon_stage_info stage;
    if (gnomon_profile_track(p, n->track, &track) ||
        !is_there(p, GNOMON_REGIONS, n->region, 0) ||
        !is_there(p, GNOMON_STAGES, n->stage, 1) ||
        !is_there(p, GNOMON_OPS, n->op, 1) ||
        !is_there(p, GNOMON_VIEWS, n->view, 1))
        return VIOLATED("node %llu: names a track, region, stage, op or view "
                        "that is not there",
                        id);
    if (n->stage &&
        (gnomon_profile_stage(p, n->stage, &stage) || stage.run != track.run))
        return VIOLATED("node %llu: its stage is of another run", id);
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
        if (!code && n.device)
            code = check_stats(n.device, "the device's part of node", i);
        if (!code)
            code = check_memory(p, i, &n);
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

static int check_stages(const gnomon_profile *p)
{
    gnomon_stage_info s;
    gnomon_step_info step;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_profile_stage(p, i, &s);
        if (!names_a_run(p, s.run))
            return VIOLATED("stage %zu: names no run", i);
        if (s.begin_ns > s.end_ns)
            return VIOLATED("stage %zu: ends before it begins", i);
        int code =
            s.steps ? check_stats(s.steps, "the steps of stage", i) : GNOMON_OK;
        if (code)
            return code;
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STEPS); i++) {
        gnomon_profile_step(p, i, &step);
        if (!is_there(p, GNOMON_STAGES, step.stage, 0) ||
            (step.end_ns && step.end_ns < step.begin_ns))
            return VIOLATED("step %zu: is of no stage, or ends before it "
                            "begins",
                            i);
    }
    return GNOMON_OK;
}

static int check_links(const gnomon_profile *p)
{
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    gnomon_open_info o;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_OPENS); i++) {
        gnomon_node_info n;
        gnomon_profile_open(p, i, &o);
        if (o.node < 1 || o.node > nodes ||
            gnomon_profile_node(p, o.node, &n) || !n.open || n.track != o.track)
            return VIOLATED("open scope %zu: its node is not open", i);
    }
    gnomon_link_info l;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        gnomon_profile_link(p, i, &l);
        gnomon_node_info from, to;
        if (gnomon_profile_node(p, l.from, &from) ||
            gnomon_profile_node(p, l.to, &to) || !l.count)
            return VIOLATED("link %zu: leads nowhere", i);
        if (run_of(p, from.track) != run_of(p, to.track))
            return VIOLATED("link %zu: leads to another run", i);
    }
    return GNOMON_OK;
}

static int check_facts(const gnomon_profile *p)
{
    gnomon_counter_info c;
    gnomon_track_info t;
    gnomon_loss_info l;
    gnomon_metadata_info d;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_profile_track(p, i, &t);
        if (!names_a_run(p, t.run))
            return VIOLATED("track %zu: names no run", i);
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        gnomon_profile_counter(p, i, &c);
        if (!is_there(p, GNOMON_TRACKS, c.track, 0) ||
            !is_there(p, GNOMON_REGIONS, c.region, 0) ||
            !is_there(p, GNOMON_STAGES, c.stage, 1))
            return VIOLATED("counter %zu: names a track, region or stage that "
                            "is not there",
                            i);
        if (!c.count || c.min > c.max)
            return VIOLATED("counter %zu: min is above max", i);
        gnomon_stage_info s;
        if (c.stage && (gnomon_profile_stage(p, c.stage, &s) ||
                        s.run != run_of(p, c.track)))
            return VIOLATED("counter %zu: its stage is of another run", i);
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LOSSES); i++) {
        gnomon_profile_loss(p, i, &l);
        if (!is_there(p, GNOMON_TRACKS, l.track, 1) ||
            !is_there(p, GNOMON_RUNS, l.run, 1) || !l.count)
            return VIOLATED("loss %zu: is nobody's, or nothing", i);
        if (l.track && run_of(p, l.track) != l.run)
            return VIOLATED("loss %zu: its track is of another run", i);
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_METADATA); i++) {
        gnomon_profile_metadata(p, i, &d);
        if (!names_a_run(p, d.run))
            return VIOLATED("metadata %zu: names no run", i);
    }
    return GNOMON_OK;
}

/* `last`: for each track, room for the begin of its last event. */
static int check_events(const gnomon_profile *p, uint64_t *last)
{
    gnomon_event_info e;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_EVENTS); i++) {
        gnomon_node_info n;
        gnomon_profile_event(p, i, &e);
        if (!is_there(p, GNOMON_TRACKS, e.track, 0) ||
            !is_there(p, GNOMON_NODES, e.node,
                      e.kind != GNOMON_EVENT_EXECUTION) ||
            !is_there(p,
                      e.kind == GNOMON_EVENT_MEMORY ? GNOMON_TRACKS
                                                    : GNOMON_REGIONS,
                      e.region, e.kind == GNOMON_EVENT_EXECUTION))
            return VIOLATED("event %zu: names a track, node or region that is "
                            "not there",
                            i);
        if (e.node &&
            (gnomon_profile_node(p, e.node, &n) ||
             (e.kind == GNOMON_EVENT_EXECUTION && n.track != e.track)))
            return VIOLATED("event %zu: its node is on another track", i);
        uint32_t run = run_of(p, e.track);
        if ((e.node && run_of(p, n.track) != run) ||
            (e.kind == GNOMON_EVENT_MEMORY && run_of(p, e.region) != run))
            return VIOLATED("event %zu: its node or pool is of another run", i);
        if (e.begin_ns < last[e.track])
            return VIOLATED("event %zu: begins before the one before it", i);
        last[e.track] = e.begin_ns;
    }
    return GNOMON_OK;
}

int gnomon_profile_check(const gnomon_profile *p)
{
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
        code = check_stages(p);
    if (!code)
        code = check_links(p);
    if (!code)
        code = check_facts(p);
    /* The sums are used: now their room holds moments. */
    memset(tracks, 0, (t + 1) * sizeof *tracks);
    if (!code)
        code = check_events(p, (uint64_t *)(void *)tracks);
    gnomon__free(nodes);
    gnomon__free(tracks);
    return code;
}

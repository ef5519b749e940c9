/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The invariants of a profile, checked through its public readers, so that any
 * profile can be checked, whoever made it. docs/profile.md lists them. References
 * are checked first, by the rows of entity.h: later checks may follow them. */
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"
#include "profile/model.h"
#include "profile/strip.h"

typedef struct track_sums {
    uint64_t self, roots;
    uint64_t last; /* when its last event began */
    int loose;     /* something open, flagged or inexact: no equality */
} track_sums;

typedef struct checker {
    const gnomon_profile *p;
    int numbers_alone; /* check references only: parts are not merged yet */
    size_t count[GNOMON__ENTITIES];
    uint32_t *run
        [GNOMON__ENTITIES]; /* by entity of a kind that others name: its run; else NULL */
    uint64_t *children;       /* of nodes: their children's totals */
    unsigned char *is_inside; /* of nodes: one above it has times on the host */
    track_sums *tracks;
} checker;

#define VIOLATED(...) gnomon__fail(GNOMON_EINVAL, __VA_ARGS__)

/* ---- References ------------------------------------------------------------- */

static int may_be_none(const checker *c, const gnomon__field *f)
{
    return f->rules & GNOMON__OWNED ? c->count[GNOMON_RUNS] == 0
                                    : !(f->rules & GNOMON__NEEDED);
}

/* Whether structs behind a pointer can be read at all. */
static int has_size(const gnomon__field *f, const void *of)
{
    uint32_t size;
    if (!gnomon__field_count(f, of))
        return 1;
    memcpy(&size, gnomon__field_pointer(f, of), sizeof size);
    return size >= gnomon__structs[f->of].first_size;
}

/* Checks that all entities that this one refers to exist, and are of the run of the
 * first of them. */
static int check_fields(checker *c, int entity, size_t i, const void *of)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    uint32_t run = 0;
    int is_first = 1;
    for (unsigned k = 0; k < s->field_count; k++) {
        const gnomon__field *f = &s->fields[k];
        if ((f->type == GNOMON__TYPE_STRUCT ||
             f->type == GNOMON__TYPE_STRUCTS) &&
            !has_size(f, of))
            return VIOLATED("%s %zu: the struct_size of its %s is not set",
                            s->one, i, f->name);
        if (f->type != GNOMON__TYPE_NUMBER)
            continue;
        uint32_t number = gnomon__field_32(f, of);
        int kind = gnomon__number_of(f, of);
        if (number ? number > c->count[kind] : !may_be_none(c, f))
            return VIOLATED("%s %zu: %s %u is not there", s->one, i, f->name,
                            (unsigned)number);
        if (!is_first && number && c->run[kind] && c->run[kind][number] != run)
            return VIOLATED("%s %zu: %s %u is of another run", s->one, i,
                            f->name, (unsigned)number);
        if (is_first && c->run[kind])
            run = c->run[kind][number];
        is_first = 0;
    }
    if (c->run[entity])
        c->run[entity][i] = entity == GNOMON_RUNS ? (uint32_t)i : run;
    return GNOMON_OK;
}

/* ---- Statistics and memory -------------------------------------------------- */

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
    /* Ascending cells have ascending quantiles, which are clamped to min and max. */
    if (s->count && s->min_ns > s->max_ns)
        return VIOLATED("%s %llu: min, p50, p90, p99, max do not ascend", what,
                        number);
    if (!s->count && (s->total_ns || s->min_ns || s->max_ns))
        return VIOLATED("%s %llu: no executions, but times", what, number);
    if (s->count && s->total_ns < s->max_ns)
        return VIOLATED("%s %llu: total is below max", what, number);
    return GNOMON_OK;
}

static int check_memory(const checker *c, size_t id, const gnomon_node_info *n)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        gnomon_track_info pool;
        if (gnomon_profile_track(c->p, m->pool, &pool) ||
            pool.kind != GNOMON_TRACK_POOL ||
            pool.run != c->run[GNOMON_NODES][id] || m->pool <= last)
            return VIOLATED("node %zu: its memory is of no pool of its run, or "
                            "pools do not ascend",
                            id);
        last = m->pool;
        if ((uint64_t)m->live_bytes != m->allocated_bytes - m->freed_bytes ||
            m->peak_bytes > m->allocated_bytes)
            return VIOLATED("node %zu: live is not allocated less freed, or "
                            "peak is above allocated",
                            id);
    }
    return GNOMON_OK;
}

/* ---- Entities --------------------------------------------------------------- */

static int check_part(const checker *c, size_t i, const gnomon_node_info *n)
{
    gnomon_track_info track;
    if (n->host || gnomon_profile_track(c->p, n->track, &track) ||
        track.kind != GNOMON_TRACK_STREAM)
        return VIOLATED("node %zu: a part of a scope's times on devices is "
                        "not on a stream alone",
                        i);
    return GNOMON_OK;
}

static int check_node(checker *c, size_t i, const gnomon_node_info *n)
{
    gnomon_node_info parent;
    if (n->parent && (gnomon_profile_node(c->p, n->parent, &parent) ||
                      parent.track != n->track))
        return VIOLATED("node %zu: parent is on another track", i);
    c->is_inside[i] =
        n->parent && (parent.host || c->is_inside[n->parent] != 0);
    if (n->parent && n->host && !(n->flags & GNOMON_NODE_RANGE))
        c->children[n->parent] += n->host->total_ns;
    int code = n->host ? check_stats(n->host, "node", i) : GNOMON_OK;
    if (!code && n->device)
        code = check_stats(n->device, "the device's part of node", i);
    if (!code && n->flags & GNOMON_NODE_PART)
        code = check_part(c, i, n);
    return code ? code : check_memory(c, i, n);
}

static int check_open(const checker *c, size_t i, const gnomon_open_info *o)
{
    gnomon_node_info n;
    if (gnomon_profile_node(c->p, o->node, &n) || !n.open ||
        n.track != o->track)
        return VIOLATED("open scope %zu: its node is not open", i);
    return GNOMON_OK;
}

static int check_counter(size_t i, const gnomon_counter_info *c)
{
    if (!c->count && !c->nans)
        return VIOLATED("counter %zu: counts nothing", i);
    if (c->min > c->max)
        return VIOLATED("counter %zu: min is above max", i);
    if (!c->count && (c->min < 0 || c->max > 0 || c->last < 0 || c->last > 0 ||
                      c->sum < 0 || c->sum > 0))
        return VIOLATED("counter %zu: no samples, but values", i);
    return GNOMON_OK;
}

static int check_step_time(const checker *c, size_t i,
                           const gnomon_step_time_info *t)
{
    gnomon_step_info step;
    if (!t->time)
        return VIOLATED("time in steps %zu: there is no time", i);
    if (t->step && (gnomon_profile_step(c->p, t->step, &step) ||
                    step.stage != t->stage || t->time->count != 1))
        return VIOLATED("time in steps %zu: its step is of another stage, or "
                        "its time not of one step",
                        i);
    if (t->own_ns > t->time->total_ns)
        return VIOLATED("time in steps %zu: own_ns is above total_ns", i);
    return check_stats(t->time, "time in steps", i);
}

static int check_strip(size_t i, const gnomon_strip_info *s)
{
    int ok = gnomon__strip_is_sound(s);
    for (size_t k = 0; ok && k < s->bin_count; k++) {
        const gnomon_bin *b = gnomon_bin_at(s, k);
        ok = b->min <= b->max && (b->count || (b->min >= 0 && b->max <= 0 &&
                                               b->sum >= 0 && b->sum <= 0));
    }
    for (size_t k = 1; ok && k < s->slow_count; k++)
        ok = gnomon_slow_at(s, k - 1)->ns >= gnomon_slow_at(s, k)->ns;
    return ok ? GNOMON_OK
              : VIOLATED("strip %zu: its width, its bins or the order of its "
                         "slow steps is wrong",
                         i);
}

static int check_event(checker *c, size_t i, const gnomon_event_info *e)
{
    int is_execution = e->kind == GNOMON_EVENT_EXECUTION;
    gnomon_node_info n;
    if (is_execution ? !e->node : !e->region)
        return VIOLATED("event %zu: names no %s", i,
                        is_execution ? "node" : "region or pool");
    if (is_execution &&
        (gnomon_profile_node(c->p, e->node, &n) || n.track != e->track))
        return VIOLATED("event %zu: its node is on another track", i);
    if (e->begin_ns < c->tracks[e->track].last)
        return VIOLATED("event %zu: begins before the one before it", i);
    c->tracks[e->track].last = e->begin_ns;
    return GNOMON_OK;
}

/* Checks of one kind; its references are checked already. */
static int check_entity(checker *c, int entity, size_t i, const gnomon__any *a)
{
    switch (entity) {
    case GNOMON_STAGES:
        if (a->stage.begin_ns > a->stage.end_ns)
            return VIOLATED("stage %zu: ends before it begins", i);
        return a->stage.steps
                   ? check_stats(a->stage.steps, "the steps of stage", i)
                   : GNOMON_OK;
    case GNOMON_STEPS:
        return a->step.end_ns && a->step.end_ns < a->step.begin_ns
                   ? VIOLATED("step %zu: ends before it begins", i)
                   : GNOMON_OK;
    case GNOMON_NODES:
        return check_node(c, i, &a->node);
    case GNOMON_OPENS:
        return check_open(c, i, &a->open);
    case GNOMON_LINKS:
        return a->link.count ? GNOMON_OK
                             : VIOLATED("link %zu: counts nothing", i);
    case GNOMON_COUNTERS:
        return check_counter(i, &a->counter);
    case GNOMON_LOSSES:
        return a->loss.count ? GNOMON_OK
                             : VIOLATED("loss %zu: counts nothing", i);
    case GNOMON_EVENTS:
        return check_event(c, i, &a->event);
    case GNOMON_STEP_TIMES:
        return check_step_time(c, i, &a->step_time);
    case GNOMON_STRIPS:
        return check_strip(i, &a->strip);
    default:
        return GNOMON_OK;
    }
}

static int check_kind(checker *c, int entity)
{
    int code = GNOMON_OK;
    gnomon__any a;
    for (size_t i = 1; !code && i <= c->count[entity]; i++) {
        a.struct_size = gnomon__structs[entity].size;
        code = c->p->api->get(c->p, entity, i, &a);
        if (!code && entity == GNOMON_NODES && a.node.parent >= i)
            code = VIOLATED("node %zu: parent %u is not before it", i,
                            (unsigned)a.node.parent);
        if (!code)
            code = check_fields(c, entity, i, &a);
        if (!code && !c->numbers_alone)
            code = check_entity(c, entity, i, &a);
    }
    return code;
}

/* ---- Sums ------------------------------------------------------------------- */

/* Whether the sums of the node's track cannot be checked: while an execution is open,
 * its children's totals may exceed its own. A path that only leads to others, as those
 * of work on a device do, takes part in no sum where nothing above it has times. */
static int is_loose(const checker *c, size_t i, const gnomon_node_info *n)
{
    return n->open || (!n->host && c->is_inside[i]) ||
           (n->flags &
            (GNOMON_NODE_CROSSED | GNOMON_NODE_PARTIAL | GNOMON_NODE_CLOCK));
}

static int check_sums(checker *c)
{
    for (size_t i = c->count[GNOMON_NODES]; i >= 1; i--) {
        gnomon_node_info n;
        gnomon_track_info track;
        gnomon_profile_node(c->p, i, &n);
        track_sums *t = &c->tracks[n.track];
        int loose = is_loose(c, i, &n);
        t->loose |= loose;
        if (!n.host || (n.flags & GNOMON_NODE_RANGE))
            continue;
        t->self += n.host->self_ns;
        if (!c->is_inside[i])
            t->roots += n.host->total_ns;
        gnomon_profile_track(c->p, n.track, &track);
        t->loose |= track.inexact;
        if (!loose && !track.inexact &&
            n.host->total_ns != n.host->self_ns + c->children[i]) {
            gnomon_region_info r;
            gnomon_profile_region(c->p, n.region, &r);
            return VIOLATED(
                "node %zu (%s): total %llu is not self %llu + children %llu", i,
                r.name, (unsigned long long)n.host->total_ns,
                (unsigned long long)n.host->self_ns,
                (unsigned long long)c->children[i]);
        }
    }
    for (size_t i = 1; i <= c->count[GNOMON_TRACKS]; i++)
        if (!c->tracks[i].loose && c->tracks[i].self != c->tracks[i].roots)
            return VIOLATED("track %zu: selfs add up to %llu, a scope was "
                            "open for %llu",
                            i, (unsigned long long)c->tracks[i].self,
                            (unsigned long long)c->tracks[i].roots);
    return GNOMON_OK;
}

/* ---- The whole -------------------------------------------------------------- */

static const int named_kinds[] = {GNOMON_RUNS, GNOMON_STAGES, GNOMON_TRACKS,
                                  GNOMON_NODES};

static int check_begin(checker *c)
{
    int ok = 1;
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        c->count[k] = gnomon_profile_count(c->p, k);
    for (size_t k = 0; k < sizeof named_kinds / sizeof *named_kinds; k++) {
        int kind = named_kinds[k];
        c->run[kind] =
            gnomon__alloc((c->count[kind] + 1) * sizeof *c->run[kind]);
        ok &= c->run[kind] != NULL;
    }
    c->children =
        gnomon__alloc((c->count[GNOMON_NODES] + 1) * sizeof *c->children);
    c->is_inside = gnomon__alloc(c->count[GNOMON_NODES] + 1);
    c->tracks =
        gnomon__alloc((c->count[GNOMON_TRACKS] + 1) * sizeof *c->tracks);
    if (ok && c->children && c->is_inside && c->tracks)
        return GNOMON_OK;
    return gnomon__fail(GNOMON_ENOMEM, "no memory to check a profile");
}

static int check(const gnomon_profile *p, int numbers_alone)
{
    checker c = {.p = p, .numbers_alone = numbers_alone};
    int code = check_begin(&c);
    for (int i = 0; !code && i < GNOMON__ENTITIES; i++)
        code = check_kind(&c, gnomon__file_order[i]);
    if (!code && !numbers_alone)
        code = check_sums(&c);
    for (size_t k = 0; k < sizeof named_kinds / sizeof *named_kinds; k++)
        gnomon__free(c.run[named_kinds[k]]);
    gnomon__free(c.children);
    gnomon__free(c.is_inside);
    gnomon__free(c.tracks);
    return code;
}

int gnomon__check_numbers(const gnomon_profile *p)
{
    return check(p, 1);
}

int gnomon_profile_check(const gnomon_profile *p)
{
    gnomon__fail_clear();
    return p ? check(p, 0) : VIOLATED("no profile");
}

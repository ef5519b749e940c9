/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What profiles say, as a flat list of facts: a key, which is a path of names and no
 * number; a field; a value. A rule says how two values of one field become one. So what
 * must come out of a merge, of parts or of a sum is the list of all that went in, with
 * each rule applied: a model of a few lines, to compare the library with. */
#ifndef GNOMON_TESTS_FACTS_H
#define GNOMON_TESTS_FACTS_H

#include <stdlib.h>

#include "gnomon/profile.h"
#include "test.h"

enum facts_way {
    FACTS_OF_PARTS, /* of a file, in their order */
    FACTS_OF_RUNS,  /* those that are one run add up */
    FACTS_OF_RANKS  /* all runs are one sum: without moments */
};

enum fact_rule { FACT_SUM, FACT_LEAST, FACT_MOST, FACT_ANY, FACT_LAST };

typedef struct fact {
    uint64_t key;
    const char *kind, *field;
    double value;    /* whole numbers here are below 2^53, so they are exact */
    uint32_t number; /* in its profile, to find it */
    uint32_t order;
    int rule;
} fact;

typedef struct facts {
    fact *at;
    size_t count, room;
    int way;
    int is_before; /* a later part follows, which says what is open */
    /* Regions of these first letters, as a filter takes them; one stage, by its name;
     * one view, by its words. NULL: all. */
    const char *taken, *stage, *view;
    /* Of the entity at hand. */
    const char *kind;
    uint32_t number;
} facts;

/* ---- Keys --------------------------------------------------------------------- */

static inline uint64_t fact_key(uint64_t key, uint64_t more)
{
    key = (key ^ more ^ more >> 31) * 0x9E3779B97F4A7C15u;
    return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u + 1;
}

static inline uint64_t fact_text(uint64_t key, const char *text)
{
    for (const char *c = text; c && *c; c++)
        key = fact_key(key, (unsigned char)*c);
    return fact_key(key, text ? 1 : 2);
}

typedef struct fact_keys {
    uint64_t *of[GNOMON_STRIPS + 1]; /* by kind and number; [0] is none */
} fact_keys;

static inline uint64_t *fact_keys_for(fact_keys *k, const gnomon_profile *p,
                                      int kind)
{
    return k->of[kind] =
               calloc(gnomon_profile_count(p, kind) + 1, sizeof **k->of);
}

static inline int fact_is_taken(const facts *f, const gnomon_profile *p,
                                uint32_t region)
{
    gnomon_region_info r;
    return !f->taken || (!gnomon_profile_region(p, region, &r) &&
                         strchr(f->taken, r.name[0]) != NULL);
}

static inline void fact_keys_free(fact_keys *k)
{
    for (int i = 0; i <= GNOMON_STRIPS; i++)
        free(k->of[i]);
}

/* ---- The list ----------------------------------------------------------------- */

static inline void fact_add(facts *f, uint64_t key, const char *field, int rule,
                            double value)
{
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 256;
        f->at = realloc(f->at, f->room * sizeof *f->at);
    }
    f->at[f->count] =
        (fact){key, f->kind, field, value, f->number, (uint32_t)f->count, rule};
    f->count++;
}

static inline int fact_order(const void *left, const void *right)
{
    const fact *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    int order = strcmp(a->field, b->field);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static inline double fact_join(int rule, double a, double b)
{
    switch (rule) {
    case FACT_SUM:
        return a + b;
    case FACT_LEAST:
        return a < b ? a : b;
    case FACT_MOST:
        return a > b ? a : b;
    case FACT_ANY:
        return (double)((uint32_t)a | (uint32_t)b);
    default:
        return b;
    }
}

/* Facts of one key and field become one. */
static inline void facts_join(facts *f)
{
    size_t kept = 0;
    if (f->count)
        qsort(f->at, f->count, sizeof *f->at, fact_order);
    for (size_t i = 0; i < f->count; i++) {
        fact *last = kept ? &f->at[kept - 1] : NULL;
        if (last && last->key == f->at[i].key &&
            strcmp(last->field, f->at[i].field) == 0)
            last->value = fact_join(last->rule, last->value, f->at[i].value);
        else
            f->at[kept++] = f->at[i];
    }
    f->count = kept;
}

static inline int fact_fail(const fact *f, const char *what, double other)
{
    const int facts_are_equal = 0;
    CHECK(facts_are_equal);
    fprintf(stderr, "    %s %u: %s is %.17g, %s %.17g\n", f->kind,
            (unsigned)f->number, f->field, f->value, what, other);
    return 0;
}

/* Both are joined. Says the first few differences: what is there against what must be. */
static inline int facts_equal(facts *is, facts *must)
{
    facts_join(is);
    facts_join(must);
    size_t i = 0, k = 0;
    int wrong = 0;
    while (wrong < 4 && (i < is->count || k < must->count)) {
        const fact *a = i < is->count ? &is->at[i] : NULL;
        const fact *b = k < must->count ? &must->at[k] : NULL;
        int order = !a ? 1 : !b ? -1 : a->key < b->key ? -1 : a->key > b->key;
        order = order ? order : strcmp(a->field, b->field);
        if (order < 0)
            wrong += !fact_fail(a, "which must not be there:", 0);
        else if (order > 0)
            wrong += !fact_fail(b, "which is not there:", 0);
        else if (a->value < b->value || a->value > b->value)
            wrong += !fact_fail(a, "not", b->value);
        i += order <= 0;
        k += order >= 0;
    }
    return !wrong;
}

static inline void facts_free(facts *f)
{
    free(f->at);
    *f = (facts){0};
}

/* ---- What is shared ------------------------------------------------------------- */

static inline void facts_shared(facts *f, fact_keys *keys,
                                const gnomon_profile *p)
{
    gnomon_region_info r;
    gnomon_op_info o;
    gnomon_view_info v;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_REGIONS);
    f->kind = "region";
    for (uint32_t i = 1; !gnomon_profile_region(p, i, &r); i++) {
        of[i] = fact_key(fact_text(fact_text(1, r.name), r.category), r.kind);
        of[i] = fact_key(fact_text(fact_text(of[i], r.file), r.function),
                         (uint64_t)r.line);
        f->number = i;
        fact_add(f, of[i], "is", FACT_ANY, 1);
    }
    of = fact_keys_for(keys, p, GNOMON_OPS);
    for (uint32_t i = 1; !gnomon_profile_op(p, i, &o); i++)
        of[i] = fact_key(fact_text(2, o.operation), o.flags);
    of = fact_keys_for(keys, p, GNOMON_VIEWS);
    for (uint32_t i = 1; !gnomon_profile_view(p, i, &v); i++)
        of[i] = fact_text(3, v.words);
}

/* ---- Runs, stages, tracks --------------------------------------------------------- */

static inline void facts_stats(facts *f, uint64_t key, const gnomon_stats *s)
{
    if (!s)
        return;
    fact_add(f, key, "count", FACT_SUM, (double)s->count);
    fact_add(f, key, "total_ns", FACT_SUM, (double)s->total_ns);
    fact_add(f, key, "self_ns", FACT_SUM, (double)s->self_ns);
    if (s->count) {
        fact_add(f, key, "min_ns", FACT_LEAST, (double)s->min_ns);
        fact_add(f, key, "max_ns", FACT_MOST, (double)s->max_ns);
    }
    for (size_t i = 0; i < s->cell_count; i++)
        fact_add(f, fact_key(key, s->cells[i].cell), "cell", FACT_SUM,
                 (double)s->cells[i].count);
}

static inline void facts_runs(facts *f, fact_keys *keys,
                              const gnomon_profile *p)
{
    const int last = f->way == FACTS_OF_PARTS ? FACT_LAST : -1;
    gnomon_run_info r;
    gnomon_metadata_info m;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_RUNS);
    f->kind = "run";
    for (uint32_t i = 1; !gnomon_profile_run(p, i, &r); i++) {
        of[i] = 4;
        if (f->way == FACTS_OF_RANKS)
            continue;
        of[i] = fact_key(fact_text(of[i], r.job), (uint64_t)r.rank);
        of[i] = fact_text(fact_text(of[i], r.attempt), r.uuid);
        f->number = i;
        fact_add(f, of[i], "is", FACT_ANY, 1);
        fact_add(f, of[i], "world_size", FACT_MOST, r.world_size);
        if (last < 0)
            continue;
        fact_add(f, of[i], "now_ns", last, (double)r.now_ns);
        fact_add(f, of[i], "host", last, r.host[0]);
    }
    f->kind = "metadata";
    for (uint32_t i = 1; last >= 0 && !gnomon_profile_metadata(p, i, &m); i++) {
        f->number = i;
        fact_add(f, fact_text(fact_key(of[m.run], 5), m.key), "json", last,
                 m.json[0]);
    }
}

static inline int fact_is_view(const facts *f, const gnomon_profile *p,
                               uint32_t view)
{
    gnomon_view_info v;
    return !f->view ||
           (!gnomon_profile_view(p, view, &v) && strcmp(v.words, f->view) == 0);
}

/* A view did not record a stage if only others say how long they did, and have all its
 * paths. */
static inline int fact_was_recorded(const facts *f, const gnomon_profile *p,
                                    uint32_t stage)
{
    gnomon_view_time_info t;
    gnomon_node_info n;
    int has_times = 0;
    for (uint32_t i = 1; !gnomon_profile_view_time(p, i, &t); i++) {
        if (t.stage == stage && fact_is_view(f, p, t.view))
            return 1;
        has_times |= t.stage == stage;
    }
    for (uint32_t i = 1; has_times && !gnomon_profile_node(p, i, &n); i++)
        if (n.stage == stage && n.view && fact_is_view(f, p, n.view))
            return 1;
    return !has_times;
}

static inline void facts_stages(facts *f, fact_keys *keys,
                                const gnomon_profile *p)
{
    const int parts = f->way == FACTS_OF_PARTS;
    gnomon_stage_info s;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_STAGES);
    f->kind = "stage";
    for (uint32_t i = 1; !gnomon_profile_stage(p, i, &s); i++) {
        if (f->stage && (strcmp(s.name, f->stage) != 0 ||
                         (f->view && !fact_was_recorded(f, p, i))))
            continue; /* then its paths are of no stage */
        const double lasted = (double)(s.end_ns - s.begin_ns);
        const double recorded = (double)s.recorded_ns;
        of[i] = fact_text(fact_key(keys->of[GNOMON_RUNS][s.run], 6 + s.ordinal),
                          s.name);
        f->number = i;
        fact_add(f, of[i], "late", FACT_SUM, (double)s.late);
        fact_add(f, of[i], "count", FACT_MOST, s.count);
        fact_add(f, of[i], "ended", parts ? FACT_ANY : FACT_LEAST, s.ended);
        fact_add(f, of[i], "recorded_ns", parts ? FACT_MOST : FACT_SUM,
                 parts || recorded > 0 ? recorded : lasted);
        if (parts)
            fact_add(f, of[i], "end_ns", FACT_MOST, (double)s.end_ns);
        else
            fact_add(f, of[i], "lasted", FACT_SUM, lasted);
        if (f->way != FACTS_OF_RANKS)
            fact_add(f, of[i], "begin_ns", FACT_LEAST, (double)s.begin_ns);
        facts_stats(f, fact_key(of[i], 7), s.steps);
    }
}

static inline void facts_tracks(facts *f, fact_keys *keys,
                                const gnomon_profile *p)
{
    const int parts = f->way == FACTS_OF_PARTS;
    gnomon_track_info t;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_TRACKS);
    f->kind = "track";
    for (uint32_t i = 1; !gnomon_profile_track(p, i, &t); i++) {
        of[i] = fact_key(fact_key(keys->of[GNOMON_RUNS][t.run], 8), t.kind);
        of[i] = fact_key(of[i], f->way == FACTS_OF_RANKS ? 0 : t.index);
        of[i] = fact_text(fact_key(of[i], (uint64_t)t.device), t.name);
        f->number = i;
        fact_add(f, of[i], "os_id", parts ? FACT_LAST : FACT_MOST,
                 (double)t.os_id);
        fact_add(f, of[i], "threads", parts ? FACT_LAST : FACT_SUM,
                 t.thread_count);
        fact_add(f, of[i], "alive", parts ? FACT_LAST : FACT_ANY, t.alive);
        fact_add(f, of[i], "inexact", FACT_ANY, t.inexact);
    }
}

/* ---- Paths ------------------------------------------------------------------------- */

static inline void facts_memory(facts *f, uint64_t key,
                                const gnomon_node_info *n,
                                const uint64_t *tracks)
{
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        const uint64_t of = fact_key(key, tracks[m->pool]);
        fact_add(f, of, "allocations", FACT_SUM, (double)m->allocations);
        fact_add(f, of, "frees", FACT_SUM, (double)m->frees);
        fact_add(f, of, "allocated", FACT_SUM, (double)m->allocated_bytes);
        fact_add(f, of, "freed", FACT_SUM, (double)m->freed_bytes);
        fact_add(f, of, "live", FACT_SUM, (double)m->live_bytes);
        fact_add(f, of, "peak", FACT_MOST, (double)m->peak_bytes);
    }
}

static inline uint64_t fact_node_key(const fact_keys *keys,
                                     const gnomon_node_info *n)
{
    uint64_t key = fact_key(n->parent ? keys->of[GNOMON_NODES][n->parent] : 9,
                            keys->of[GNOMON_TRACKS][n->track]);
    key = fact_key(key, keys->of[GNOMON_STAGES][n->stage]);
    key = fact_key(key, keys->of[GNOMON_VIEWS][n->view]);
    key = fact_key(key, keys->of[GNOMON_OPS][n->op]);
    return fact_key(key, keys->of[GNOMON_REGIONS][n->region]);
}

/* The scope around it has its self time. Its children go there, too. */
static inline void facts_left_out(facts *f, fact_keys *keys,
                                  const gnomon_profile *p, uint32_t number,
                                  const gnomon_node_info *n)
{
    uint32_t around = n->parent;
    gnomon_node_info a = {.region = 0};
    uint64_t *of = keys->of[GNOMON_NODES];
    of[number] = around ? of[around] : 9;
    while (around && !gnomon_profile_node(p, around, &a) &&
           !fact_is_taken(f, p, a.region))
        around = a.parent;
    if (around && a.host && n->host && !(n->flags & GNOMON_NODE_RANGE))
        fact_add(f, fact_key(of[around], 10), "self_ns", FACT_SUM,
                 (double)n->host->self_ns);
}

/* Whether it counts; others may be around it. */
static inline int fact_is_chosen(const facts *f, const fact_keys *keys,
                                 const gnomon_profile *p,
                                 const gnomon_node_info *n)
{
    return (!f->stage || keys->of[GNOMON_STAGES][n->stage]) &&
           (!n->view || fact_is_view(f, p, n->view));
}

static inline void facts_nodes(facts *f, fact_keys *keys,
                               const gnomon_profile *p)
{
    gnomon_node_info n;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_NODES);
    f->kind = "node";
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        f->number = i;
        if (!fact_is_taken(f, p, n.region)) {
            facts_left_out(f, keys, p, i, &n);
            continue;
        }
        of[i] = fact_node_key(keys, &n);
        fact_add(f, of[i], "is", FACT_ANY, 1);
        fact_add(f, of[i], "flags", FACT_ANY,
                 n.flags & ~(unsigned)GNOMON_NODE_PARTIAL);
        fact_add(f, of[i], "open", FACT_SUM, f->is_before ? 0 : n.open);
        if (n.first)
            fact_add(f, of[i], "first", FACT_LEAST, (double)n.first);
        if (!fact_is_chosen(f, keys, p, &n))
            continue;
        facts_stats(f, fact_key(of[i], 10), n.host);
        facts_stats(f, fact_key(of[i], 11), n.device);
        facts_memory(f, of[i], &n, keys->of[GNOMON_TRACKS]);
        if (n.work) {
            fact_add(f, of[i], "flops", FACT_SUM, (double)n.work->flops);
            fact_add(f, of[i], "bytes", FACT_SUM, (double)n.work->bytes);
        }
    }
}

/* ---- Leaves ------------------------------------------------------------------------ */

static inline void facts_counters(facts *f, const fact_keys *keys,
                                  const gnomon_profile *p)
{
    gnomon_counter_info c;
    f->kind = "counter";
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        if (gnomon_profile_counter(p, i, &c) ||
            !fact_is_taken(f, p, c.region) ||
            (f->stage && !keys->of[GNOMON_STAGES][c.stage]))
            continue;
        uint64_t key = fact_key(keys->of[GNOMON_TRACKS][c.track],
                                keys->of[GNOMON_REGIONS][c.region]);
        key = fact_key(fact_key(key, 12), keys->of[GNOMON_STAGES][c.stage]);
        f->number = i;
        fact_add(f, key, "nans", FACT_SUM, (double)c.nans);
        fact_add(f, key, "count", FACT_SUM, (double)c.count);
        fact_add(f, key, "sum", FACT_SUM, c.sum);
        if (!c.count) /* then these are no values */
            continue;
        fact_add(f, key, "last",
                 f->way == FACTS_OF_PARTS ? FACT_LAST : FACT_MOST, c.last);
        fact_add(f, key, "min", FACT_LEAST, c.min);
        fact_add(f, key, "max", FACT_MOST, c.max);
    }
}

static inline void facts_links(facts *f, const fact_keys *keys,
                               const gnomon_profile *p)
{
    gnomon_link_info l;
    f->kind = "link";
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        if (gnomon_profile_link(p, i, &l))
            continue;
        uint64_t key = fact_key(keys->of[GNOMON_NODES][l.from],
                                keys->of[GNOMON_NODES][l.to]);
        f->number = i;
        fact_add(f, fact_key(key, l.kind), "count", FACT_SUM, (double)l.count);
    }
}

static inline void facts_losses(facts *f, const fact_keys *keys,
                                const gnomon_profile *p)
{
    gnomon_loss_info l;
    f->kind = "loss";
    for (uint32_t i = 1; !gnomon_profile_loss(p, i, &l); i++) {
        /* All but the events of a part are counted since the process began. */
        const int last =
            f->way == FACTS_OF_PARTS && strncmp(l.kind, "events_", 7) != 0;
        uint64_t key = fact_key(keys->of[GNOMON_RUNS][l.run], 13);
        f->number = i;
        fact_add(f, fact_text(key, l.kind), "count",
                 last ? FACT_LAST : FACT_SUM, (double)l.count);
    }
}

static inline void facts_moments(facts *f, const fact_keys *keys,
                                 const gnomon_profile *p)
{
    gnomon_open_info o;
    gnomon_node_info n;
    gnomon_event_info e;
    f->kind = "open scope";
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_OPENS); i++) {
        if (f->is_before || gnomon_profile_open(p, i, &o) ||
            gnomon_profile_node(p, o.node, &n) ||
            !fact_is_taken(f, p, n.region))
            continue;
        f->number = i;
        fact_add(f, fact_key(keys->of[GNOMON_NODES][o.node], 14 + o.begin_ns),
                 "opens", FACT_SUM, 1);
    }
    f->kind = "event";
    for (uint32_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        if (e.node && !gnomon_profile_node(p, e.node, &n) &&
            !fact_is_taken(f, p, n.region))
            continue;
        if (!e.node && e.kind != GNOMON_EVENT_MEMORY &&
            !fact_is_taken(f, p, e.region))
            continue;
        uint64_t key = fact_key(keys->of[GNOMON_TRACKS][e.track], e.begin_ns);
        key = fact_key(key, keys->of[GNOMON_NODES][e.node]);
        key = fact_key(key, keys->of[GNOMON_REGIONS][e.region]);
        f->number = i;
        fact_add(f, fact_key(key, e.duration_ns), "events", FACT_SUM, 1);
    }
}

/* ---- Steps ------------------------------------------------------------------------- */

static inline void facts_steps(facts *f, fact_keys *keys,
                               const gnomon_profile *p)
{
    const int rule = f->way == FACTS_OF_PARTS ? FACT_LAST : FACT_MOST;
    gnomon_step_info s;
    uint64_t *of = fact_keys_for(keys, p, GNOMON_STEPS);
    f->kind = "step";
    for (uint32_t i = 1; !gnomon_profile_step(p, i, &s); i++) {
        of[i] = fact_key(fact_key(keys->of[GNOMON_STAGES][s.stage], s.number),
                         s.begin_ns);
        f->number = i;
        if (f->way == FACTS_OF_RANKS)
            continue;
        fact_add(f, of[i], "end_ns", rule, (double)s.end_ns);
        fact_add(f, of[i], "phase", rule, s.phase);
    }
}

static inline void facts_times(facts *f, const fact_keys *keys,
                               const gnomon_profile *p)
{
    const int parts = f->way == FACTS_OF_PARTS;
    gnomon_step_time_info t;
    gnomon_view_time_info v;
    f->kind = "time in steps";
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_STEP_TIMES); i++) {
        if (gnomon_profile_step_time(p, i, &t) ||
            (t.region && !fact_is_taken(f, p, t.region)))
            continue;
        uint64_t key = fact_key(keys->of[GNOMON_STAGES][t.stage],
                                keys->of[GNOMON_VIEWS][t.view]);
        key = fact_key(key, keys->of[GNOMON_REGIONS][t.region]);
        f->number = i;
        if (!t.step) {
            facts_stats(f, key, t.time);
            fact_add(f, key, "own_ns", FACT_SUM, (double)t.own_ns);
            fact_add(f, key, "calls", FACT_SUM, (double)t.calls);
        } else if (f->way != FACTS_OF_RANKS)
            fact_add(f, fact_key(key, keys->of[GNOMON_STEPS][t.step]),
                     "total_ns", parts ? FACT_LAST : FACT_MOST,
                     (double)t.time->total_ns);
    }
    f->kind = "time of a view";
    for (uint32_t i = 1; parts && !gnomon_profile_view_time(p, i, &v); i++) {
        uint64_t key = fact_key(keys->of[GNOMON_STAGES][v.stage],
                                keys->of[GNOMON_VIEWS][v.view]);
        f->number = i;
        fact_add(f, key, "recorded_ns", FACT_LAST, (double)v.recorded_ns);
    }
}

/* Adds all that a profile says. */
static inline void facts_add(facts *f, const gnomon_profile *p)
{
    fact_keys keys = {{0}};
    facts_shared(f, &keys, p);
    facts_runs(f, &keys, p);
    facts_stages(f, &keys, p);
    facts_tracks(f, &keys, p);
    facts_nodes(f, &keys, p);
    facts_counters(f, &keys, p);
    facts_links(f, &keys, p);
    facts_losses(f, &keys, p);
    facts_steps(f, &keys, p);
    facts_times(f, &keys, p);
    if (f->way != FACTS_OF_RANKS)
        facts_moments(f, &keys, p);
    fact_keys_free(&keys);
}

/* Leaves out facts of these fields, each between two bars. */
static inline void facts_but_fields(facts *f, const char *fields)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        char field[32];
        snprintf(field, sizeof field, "|%s|", f->at[i].field);
        if (!strstr(fields, field))
            f->at[kept++] = f->at[i];
    }
    f->count = kept;
}

/* Leaves out all but facts of these kinds, each between two bars, as "|node|link|"; with
 * `but` all but those. */
static inline void facts_of_kinds(facts *f, const char *kinds, int but)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "|%s|", f->at[i].kind);
        if ((strstr(kinds, kind) == NULL) == but)
            f->at[kept++] = f->at[i];
    }
    f->count = kept;
}

#endif

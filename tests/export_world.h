/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles with events, for tests of exports: what nests and what overlaps, marks,
 * samples, memory and losses; a tree that adds up to the events; and, as a view of such
 * a profile, names that no recorder would let in. */
#ifndef GNOMON_TESTS_EXPORT_WORLD_H
#define GNOMON_TESTS_EXPORT_WORLD_H

#include <math.h>
#include <stdlib.h>

#include "export/export.h"
#include "gnomon.h"
#include "test.h"

/* ---- Chance ---------------------------------------------------------------------- */

static uint64_t world_seed = 88172645463325252u;

static inline uint32_t world_below(uint32_t below)
{
    world_seed ^= world_seed << 13;
    world_seed ^= world_seed >> 7;
    world_seed ^= world_seed << 17;
    return (uint32_t)(world_seed >> 32) % below;
}

/* ---- The tree, and what runs in it ------------------------------------------------- */

enum { WORLD_PATHS = 7, WORLD_REGIONS = 8, WORLD_TIMES = 4096 };

static const struct world_path {
    int parent; /* -1: none */
    uint32_t region;
} world_paths[WORLD_PATHS] = {{-1, 0}, {0, 1}, {0, 2}, {1, 3},
                              {3, 3},  {2, 4}, {-1, 5}};

typedef struct world_times {
    uint64_t *ns;
    size_t count;
    uint64_t total, self;
} world_times;

typedef struct world_thread {
    gnomon_builder *b;
    uint32_t track, first_region, pool;
    uint32_t nodes[WORLD_PATHS];
    world_times times[WORLD_PATHS];
    gnomon_event_info *events;
    size_t count, room;
    uint64_t ns;
} world_thread;

static inline size_t world_event(world_thread *w, const gnomon_event_info *e)
{
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->events = realloc(w->events, w->room * sizeof *w->events);
    }
    w->events[w->count] = *e;
    w->events[w->count].track = w->track;
    w->events[w->count].begin_ns = w->ns;
    return w->count++;
}

/* A moment of some kind, inside the path. */
static inline void world_moment(world_thread *w, int path)
{
    static const double samples[] = {
        0.1, -3, 1e300, (double)NAN, (double)INFINITY, -(double)INFINITY};
    gnomon_event_info e = {.kind = GNOMON_EVENT_MARK + world_below(3)};
    e.node = world_below(4) ? (uint32_t)path + 1 : 0; /* renumbered below */
    e.region = w->first_region + (e.kind == GNOMON_EVENT_MARK ? 6 : 7);
    if (e.kind == GNOMON_EVENT_COUNTER)
        e.value = samples[world_below(6)];
    if (e.kind == GNOMON_EVENT_MEMORY) {
        e.region = w->pool;
        e.value = 4096.0 * (1 + world_below(9)) * (world_below(2) ? 1 : -1);
    }
    world_event(w, &e);
}

/* Runs the path once, and what is below it. Returns its duration. */
static inline uint64_t world_run(world_thread *w, int path)
{
    const gnomon_event_info e = {.kind = GNOMON_EVENT_EXECUTION,
                                 .node = (uint32_t)path + 1,
                                 .instance =
                                     world_below(3) ? 0 : world_seed | 1};
    const size_t at = world_event(w, &e);
    const uint64_t begin = w->ns;
    uint64_t inside = 0;
    world_times *t = &w->times[path];
    w->ns += world_below(3) * world_below(500);
    for (int i = 1; i < WORLD_PATHS; i++)
        for (uint32_t n = world_below(3); world_paths[i].parent == path && n;
             n--) {
            if (!world_below(4))
                world_moment(w, path);
            inside += world_run(w, i);
            w->ns += world_below(2) * world_below(500);
        }
    w->events[at].duration_ns = w->ns - begin;
    t->ns = realloc(t->ns, (t->count + 1) * sizeof *t->ns);
    t->ns[t->count++] = w->ns - begin;
    t->total += w->ns - begin;
    t->self += w->ns - begin - inside;
    return w->ns - begin;
}

static inline int world_by_ns(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Statistics of what ran; `cells` has room for as many. */
static inline gnomon_stats world_stats(world_times *t, gnomon_cell *cells)
{
    gnomon_stats s = {.struct_size = sizeof s,
                      .count = t->count,
                      .total_ns = t->total,
                      .self_ns = t->self,
                      .cells = cells};
    if (t->count)
        qsort(t->ns, t->count, sizeof *t->ns, world_by_ns);
    s.min_ns = t->count ? t->ns[0] : 0;
    s.max_ns = t->count ? t->ns[t->count - 1] : 0;
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t cell = gnomon_cell_of(t->ns[i]);
        if (!s.cell_count || cells[s.cell_count - 1].cell != cell)
            cells[s.cell_count++] = (gnomon_cell){cell, 0, 0};
        cells[s.cell_count - 1].count++;
    }
    return s;
}

static inline void world_add_nodes(world_thread *w, uint32_t stage,
                                   int of_device)
{
    for (int i = 0; i < WORLD_PATHS; i++) {
        world_times *t = &w->times[i];
        gnomon_cell *cells = calloc(t->count + 1, sizeof *cells);
        const gnomon_stats s = world_stats(t, cells);
        const int above = world_paths[i].parent;
        gnomon_node_info n = {.track = w->track,
                              .stage = stage,
                              .parent = above < 0 ? 0 : w->nodes[above],
                              .region =
                                  w->first_region + world_paths[i].region};
        if (s.count)
            *(of_device ? &n.device : &n.host) = &s;
        w->nodes[i] = gnomon_add_node(w->b, &n);
        free(cells);
    }
}

static inline void world_add_events(world_thread *w)
{
    for (size_t i = 0; i < w->count; i++) {
        gnomon_event_info e = w->events[i];
        e.node = e.node ? w->nodes[e.node - 1] : 0;
        gnomon_add_event(w->b, &e);
    }
    for (int i = 0; i < WORLD_PATHS; i++)
        free(w->times[i].ns);
    free(w->events);
}

/* Kernels that overlap partly: of path 6. */
static inline void world_overlap(world_thread *w, int count)
{
    world_times *t = &w->times[6];
    for (int i = 0; i < count; i++) {
        const gnomon_event_info e = {.node = 7,
                                     .duration_ns = world_below(1000)};
        world_event(w, &e);
        t->ns = realloc(t->ns, (t->count + 1) * sizeof *t->ns);
        t->ns[t->count++] = e.duration_ns;
        t->total += e.duration_ns;
        w->ns += world_below(400);
    }
    t->self = t->total;
}

/* ---- Profiles ------------------------------------------------------------------------ */

typedef struct world_choice {
    int ranks;
    int steps; /* of each thread */
    int has_events;
} world_choice;

static inline void world_add_rank(gnomon_builder *b, uint32_t first_region,
                                  const world_choice *c, int rank)
{
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank,
                              .local_rank = rank,
                              .world_size = c->ranks,
                              .host = "node",
                              .now_ns = UINT64_MAX,
                              .zero_unix_ns = 1700000000000000000u +
                                              1000003u * (uint64_t)rank});
    const uint32_t stage =
        gnomon_add_stage(b, &(gnomon_stage_info){.run = run,
                                                 .ordinal = 1,
                                                 .name = "fit, \"1\"",
                                                 .end_ns = UINT64_MAX});
    const uint32_t pool = gnomon_add_track(
        b, &(gnomon_track_info){
               .run = run, .kind = GNOMON_TRACK_POOL, .name = "HBM"});
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"main", "worker;1", "stream 7"};
        const int is_stream = i == 2;
        world_thread w = {.b = b,
                          .first_region = first_region,
                          .pool = pool,
                          .ns = 1000 + (uint64_t)i};
        w.track = gnomon_add_track(
            b, &(gnomon_track_info){.run = run,
                                    .kind = is_stream ? GNOMON_TRACK_STREAM
                                                      : GNOMON_TRACK_THREAD,
                                    .index = (uint32_t)i,
                                    .device = is_stream ? 0 : -1,
                                    .name = names[i]});
        for (int k = 0; k < c->steps && !is_stream; k++) {
            world_run(&w, 0);
            w.ns += world_below(2) * world_below(90);
        }
        if (is_stream)
            world_overlap(&w, 5 * c->steps);
        world_add_nodes(&w, stage, is_stream);
        w.count = c->has_events ? w.count : 0;
        world_add_events(&w);
        gnomon_add_loss(b, &(gnomon_loss_info){.run = run,
                                               .track = i ? w.track : 0,
                                               .kind = "events_lost",
                                               .count = UINT64_MAX - 1,
                                               .begin_ns = i == 2 ? 7 : 0,
                                               .end_ns = i == 2 ? 9 : 0});
    }
}

static inline gnomon_profile *world_make(const world_choice *c)
{
    static const char *const names[WORLD_REGIONS] = {
        "train_step", "forward", "backward", "attention",
        "a/b, \"c\"", "gemm",    "tick",     "loss"};
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    uint32_t first = 0;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
        const gnomon_region_info r = {.name = names[i],
                                      .category = i % 2 ? "cat" : "",
                                      .kind = i == 5   ? GNOMON_KIND_KERNEL
                                              : i == 6 ? GNOMON_KIND_MARK
                                              : i == 7 ? GNOMON_KIND_COUNTER
                                                       : GNOMON_KIND_SCOPE,
                                      .file = i == 3 ? "model.py" : NULL,
                                      .line = i == 3 ? 12 : 0};
        const uint32_t number = gnomon_add_region(b, &r);
        first = i ? first : number;
    }
    for (int rank = 0; rank < c->ranks; rank++)
        world_add_rank(b, first, c, rank);
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* ---- Hostile names --------------------------------------------------------------------- */

/* The profile with other names of regions, tracks, stages and losses. */
typedef struct world_hostile {
    gnomon_profile base; /* first */
    const gnomon_profile *of;
    size_t shift;
} world_hostile;

#define WORLD_LONG 60000
static char world_long[WORLD_LONG + 1];

static inline const char *world_name(size_t number)
{
    static const char *const names[] = {"",
                                        "\xff\xfe",
                                        "a\x80z",
                                        "\xc3",
                                        "cut\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xc0\xaf",
                                        "\"",
                                        "\"\"",
                                        "a\"b\",\"c",
                                        "\\",
                                        "a\\/b",
                                        "line\nfeed",
                                        "\r\n",
                                        "\r",
                                        "tab\there",
                                        ";a;b",
                                        " 12",
                                        "trail ",
                                        "x 34",
                                        "NA",
                                        "null",
                                        "nan",
                                        "-1",
                                        "=1+1",
                                        "#comment",
                                        "\x01\x1b[2J\x7f",
                                        "\xe2\x80\xa8\xe2\x80\xae",
                                        "\xf0\x9f\x94\xa5 \xc3\xa9",
                                        "]}\n{\"a\":",
                                        "\xef\xbb\xbf"
                                        "bom",
                                        "<gnomon>",
                                        world_long};
    size_t i = number % (sizeof names / sizeof *names);
    memset(world_long, 'w', WORLD_LONG);
    return names[i];
}

static inline size_t world_hostile_count(const gnomon_profile *p, int entity)
{
    return gnomon_profile_count(((const world_hostile *)(const void *)p)->of,
                                entity);
}

static inline int world_hostile_get(const gnomon_profile *p, int entity,
                                    size_t number, void *info)
{
    const world_hostile *h = (const world_hostile *)(const void *)p;
    int code = h->of->api->get(h->of, entity, number, info);
    size_t n = number + h->shift;
    if (code)
        return code;
    if (entity == GNOMON_REGIONS) {
        gnomon_region_info *r = info;
        r->name = world_name(n);
        r->category = world_name(n + 3);
        r->file = world_name(n + 5);
    } else if (entity == GNOMON_TRACKS) {
        ((gnomon_track_info *)info)->name = world_name(n + 7);
    } else if (entity == GNOMON_STAGES) {
        ((gnomon_stage_info *)info)->name = world_name(n + 11);
    } else if (entity == GNOMON_LOSSES) {
        ((gnomon_loss_info *)info)->kind = world_name(n + 13);
    }
    return code;
}

static inline world_hostile world_with_names(const gnomon_profile *of,
                                             size_t shift)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = world_hostile_count,
                                           .get = world_hostile_get};
    return (world_hostile){.base.api = &api, .of = of, .shift = shift};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Valid profiles of random content. Names and keys are few, so that two
 * profiles have many in common. */
#ifndef GNOMON_TESTS_RANDOM_PROFILE_H
#define GNOMON_TESTS_RANDOM_PROFILE_H

#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "test.h"

static uint64_t random_word = 1;

/* 0 .. below - 1. */
static inline uint32_t random_below(uint32_t below)
{
    random_word ^= random_word << 13;
    random_word ^= random_word >> 7;
    random_word ^= random_word << 17;
    return (uint32_t)(random_word >> 32) % below;
}

/* What a test may set for another kind of profile. */
static uint32_t random_nodes_most = 24; /* of a rank */
static uint32_t random_regions = 5;
static uint32_t random_leaves = 1; /* so many times the counters, links, ... */
static int random_is_part; /* as the recorder writes the parts of a file */
static int random_is_odd;  /* a stage without a name, attempts, lost events */

typedef struct random_stats {
    gnomon_stats s;
    gnomon_cell cells[4];
} random_stats;

/* Of `n` executions, four at most, so that total >= max. */
static inline void random_times(random_stats *r, uint32_t n)
{
    uint64_t ns[4], total = 0;
    memset(r, 0, sizeof *r);
    r->s.struct_size = sizeof r->s;
    r->s.cells = r->cells;
    for (uint32_t i = 0; i < n; i++) {
        ns[i] = 1 + random_below(1000) * (uint64_t)random_below(1000);
        r->s.min_ns = i && r->s.min_ns < ns[i] ? r->s.min_ns : ns[i];
        r->s.max_ns = r->s.max_ns > ns[i] ? r->s.max_ns : ns[i];
        total += ns[i];
    }
    for (uint64_t last = 0;;) { /* the cells in their order */
        uint64_t next = UINT64_MAX;
        for (uint32_t i = 0; i < n; i++)
            if (gnomon_cell_of(ns[i]) + 1u > last &&
                gnomon_cell_of(ns[i]) < next)
                next = gnomon_cell_of(ns[i]);
        if (next == UINT64_MAX)
            break;
        gnomon_cell *c = &r->cells[r->s.cell_count++];
        c->cell = (uint32_t)next;
        for (uint32_t i = 0; i < n; i++)
            c->count += gnomon_cell_of(ns[i]) == next;
        last = next + 1;
    }
    r->s.count = n;
    r->s.total_ns = total;
    r->s.self_ns = total;
}

static inline void random_host(random_stats *r)
{
    random_times(r, random_below(5));
}

typedef struct random_run {
    uint32_t run, stage[2], track[3], pool[2];
} random_run;

typedef struct random_node {
    gnomon_node_info n;
    random_stats host, device;
    gnomon_memory_stats memory[2];
    gnomon_work_stats work;
    uint32_t number, order;
} random_node;

static inline void random_blocks(random_node *of, const random_run *r)
{
    if (!random_below(3))
        of->n.device = &of->device.s;
    of->work = (gnomon_work_stats){sizeof of->work, 0, random_below(9),
                                   random_below(9)};
    if (!random_below(3))
        of->n.work = &of->work;
    if (!random_below(4))
        of->n.open = 1 + random_below(2);
    for (int k = 0; k < 2; k++) {
        uint64_t took = random_below(100), gave = random_below(100);
        of->memory[k] =
            (gnomon_memory_stats){.struct_size = sizeof of->memory[k],
                                  .pool = r->pool[k],
                                  .allocations = took,
                                  .frees = gave,
                                  .allocated_bytes = took,
                                  .freed_bytes = gave,
                                  .live_bytes = (int64_t)took - (int64_t)gave,
                                  .peak_bytes = took};
    }
    uint32_t pools = random_below(6); /* the first, the second, both, none */
    of->n.memory = &of->memory[pools == 1];
    of->n.memory_count = pools < 2 ? 1 : pools == 2 ? 2 : 0;
}

/* Leaves their order of first ends, and totals that add up. */
static inline void random_sums(random_node *nodes, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = random_below(i), swap = nodes[i - 1].order;
        nodes[i - 1].order = nodes[k].order;
        nodes[k].order = swap;
    }
    for (uint32_t i = count; i-- > 0;) {
        random_node *of = &nodes[i];
        random_node *above = of->n.parent ? &nodes[of->n.parent - 1] : NULL;
        if (of->host.s.count || of->host.s.total_ns)
            of->n.first = of->order + 1;
        if (random_is_part) /* a later part has what began in this one */
            of->n.flags |= GNOMON_NODE_PARTIAL;
        if (!of->host.s.count) /* no execution ended: it only has children */
            of->n.host = NULL;
        else if (above && above->host.s.count)
            above->host.s.total_ns += of->host.s.total_ns;
    }
}

static inline void random_nodes_links(gnomon_builder *b, const random_run *r,
                                      const random_node *nodes, uint32_t count)
{
    for (uint32_t i = 0; count && i < random_below(6 * random_leaves); i++)
        gnomon_add_link(
            b, &(gnomon_link_info){.from = nodes[random_below(count)].number,
                                   .to = nodes[random_below(count)].number,
                                   .kind = random_below(2),
                                   .count = 1 + random_below(9),
                                   .from_ns = random_below(3),
                                   .to_ns = random_below(3)});
    for (uint32_t i = 0, at = 0; count && i < random_below(6 * random_leaves);
         i++)
        gnomon_add_event(
            b, &(gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                                    .track = r->track[0],
                                    .region = 1 + random_below(random_regions),
                                    .begin_ns = at += random_below(3)});
}

/* Parents of nodes are before them and of one track. */
static inline void random_nodes(gnomon_builder *b, const random_run *r)
{
    uint32_t count = random_below(random_nodes_most + 1);
    random_node *nodes = calloc(count + 1, sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = random_below(i + 1);
        random_node *of = &nodes[i];
        random_host(&of->host);
        random_host(&of->device);
        of->order = i;
        of->n = (gnomon_node_info){.track = r->track[random_below(3)],
                                   .stage = r->stage[random_below(2)],
                                   .region = 1 + random_below(random_regions),
                                   .op = random_below(3),
                                   .view = random_below(3),
                                   .host = &of->host.s};
        if (parent < i && random_below(4)) {
            of->n.parent = parent + 1; /* renumbered below */
            of->n.track = nodes[parent].n.track;
        }
        random_blocks(of, r);
    }
    random_sums(nodes, count);
    for (uint32_t i = 0; i < count; i++) {
        gnomon_node_info *n = &nodes[i].n;
        if (n->parent)
            n->parent = nodes[n->parent - 1].number;
        nodes[i].number = gnomon_add_node(b, n);
        for (uint32_t k = 0; k < n->open; k++)
            gnomon_add_open(b,
                            &(gnomon_open_info){.track = n->track,
                                                .node = nodes[i].number,
                                                .begin_ns = random_below(2)});
    }
    random_nodes_links(b, r, nodes, count);
    free(nodes);
}

/* Of steps, or of a counter. Sums are whole, and so the same in any order. */
static inline void random_strip(gnomon_builder *b, const random_run *r)
{
    gnomon_bin bins[12];
    gnomon_slow_step slow[16];
    gnomon_strip_info s = {.stage = r->stage[random_below(2)],
                           .width = 1u << random_below(4),
                           .bins = bins,
                           .bin_count = random_below(13),
                           .slow = slow};
    if (random_below(2)) {
        s.track = r->track[random_below(3)];
        s.region = 1 + random_below(random_regions);
    } else {
        s.slow_count = random_below(17);
    }
    for (size_t i = 0; i < s.bin_count; i++) {
        const uint32_t count = random_below(4);
        const double least = count ? random_below(100) : 0;
        const double most = count ? least + random_below(100) : 0;
        bins[i] = (gnomon_bin){sizeof *bins, count, least, most, most * count};
    }
    for (size_t i = 0; i < s.slow_count; i++)
        slow[i] = (gnomon_slow_step){.struct_size = sizeof *slow,
                                     .at = random_below(1000),
                                     .number = random_below(1000),
                                     .ns = 1000 - 20 * i - random_below(20)};
    gnomon_add_strip(b, &s);
}

static inline void random_facts(gnomon_builder *b, const random_run *r)
{
    const char *const kinds[] = {random_is_odd ? "events_lost" : "lost_scopes",
                                 "too_deep", "crossed"};
    for (uint32_t i = 0; i < random_below(4 * random_leaves); i++) {
        double last = random_below(100) / 4.0;
        gnomon_counter_info c = {.track = r->track[random_below(3)],
                                 .region = 1 + random_below(random_regions),
                                 .stage = r->stage[random_below(2)],
                                 .nans = 1 + random_below(3)};
        if (random_below(4)) {
            c.count = 1 + random_below(9);
            c.last = last;
            c.min = last - random_below(9);
            c.max = last + random_below(9);
            c.sum = random_below(1000) / 8.0;
            c.nans--;
        }
        gnomon_add_counter(b, &c);
    }
    for (uint32_t i = 0; i < random_below(4); i++)
        gnomon_add_loss(b,
                        &(gnomon_loss_info){.run = r->run,
                                            .kind = kinds[random_below(3)],
                                            .count = 1 + random_below(9),
                                            .begin_ns = random_below(5),
                                            .end_ns = random_below(2) *
                                                      (5 + random_below(9))});
    for (uint32_t i = 0; i < random_below(3); i++) {
        random_stats time;
        /* Two begin at different times, unless they are readings of one. */
        uint64_t begin = 1 + (uint64_t)random_below(1u << 30);
        uint32_t step = gnomon_add_step(
            b, &(gnomon_step_info){.stage = r->stage[i],
                                   .number = random_below(3),
                                   .phase = (int32_t)random_below(3),
                                   .begin_ns = begin,
                                   .end_ns = begin + random_below(9),
                                   .rank = -1});
        for (uint32_t k = 0; k < random_below(4); k++) {
            const int of_all = !random_below(2);
            random_times(&time, of_all ? random_below(5) : 1);
            gnomon_add_step_time(
                b, &(gnomon_step_time_info){
                       .stage = r->stage[i],
                       .view = random_below(3),
                       .step = of_all ? 0 : step,
                       .region = random_below(1 + random_regions),
                       .time = &time.s,
                       .own_ns = random_below(2) * time.s.total_ns,
                       .calls = random_below(3)});
        }
    }
    for (uint32_t i = 0; i < random_below(5); i++)
        gnomon_add_view_time(
            b, &(gnomon_view_time_info){.stage = r->stage[random_below(2)],
                                        .view = 1 + random_below(2),
                                        .recorded_ns = random_below(100)});
    for (uint32_t i = 0; i < random_below(3); i++)
        random_strip(b, r);
    if (random_below(2))
        gnomon_add_metadata(
            b, &(gnomon_metadata_info){.run = r->run,
                                       .key = random_below(2) ? "lr" : "model",
                                       .json = random_below(2) ? "1" : "2"});
}

/* One rank. `uuid`: NULL, or the run's. */
static inline void random_rank(gnomon_builder *b, int32_t rank,
                               const char *uuid)
{
    const char *const stages[] = {"fit", random_is_odd ? "" : "validate"};
    static const char *const names[] = {"main", "worker"};
    random_run r;
    random_stats steps;
    uint32_t turn = random_below(2); /* the order of what has none */
    r.run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank,
                              .local_rank = -1,
                              .world_size = 4,
                              .attempt =
                                  random_is_odd && random_below(2) ? "1" : NULL,
                              .host = random_below(2) ? "a" : "b",
                              .now_ns = random_below(3),
                              .uuid = uuid});
    for (uint32_t i = 0; i < 2; i++) {
        random_host(&steps);
        uint64_t begin = random_below(100);
        r.stage[i] = gnomon_add_stage(
            b, &(gnomon_stage_info){.run = r.run,
                                    .ordinal = i + 1,
                                    .name = stages[i],
                                    .begin_ns = begin,
                                    .end_ns = begin + random_below(100),
                                    .ended = (int32_t)random_below(2),
                                    .steps = &steps.s,
                                    .count = random_below(3),
                                    .recorded_ns = random_below(100),
                                    .late = random_below(5)});
    }
    for (uint32_t i = 0; i < 3; i++)
        r.track[i] = gnomon_add_track(
            b, &(gnomon_track_info){.run = r.run,
                                    .kind = i == 2 ? GNOMON_TRACK_STREAM
                                                   : GNOMON_TRACK_THREAD,
                                    .device = i == 2 ? 0 : -1,
                                    .index = i,
                                    .name = names[random_below(2)],
                                    .thread_count = 1 + random_below(3),
                                    .os_id = random_below(100),
                                    .alive = (int32_t)random_below(2),
                                    .inexact = !random_below(8)});
    for (uint32_t i = 0; i < 2; i++)
        r.pool[i] =
            gnomon_add_track(b, &(gnomon_track_info){.run = r.run,
                                                     .kind = GNOMON_TRACK_POOL,
                                                     .index = turn ? 1 - i : i,
                                                     .name = "HBM"});
    random_nodes(b, &r);
    random_facts(b, &r);
}

/* The ranks in `ranks`. `life`: 0, or a number from which the runs have their content and
 * uuids: equal numbers of one rank mean one run. */
static inline gnomon_profile *random_profile_of(const char *ranks,
                                                uint64_t life, int has_uuids)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    uint32_t turn = life ? 0 : random_below(random_regions);
    for (uint32_t i = 0; i < random_regions; i++) {
        uint32_t which = (i + turn) % random_regions;
        char name[16] = {(char)('p' + which % 5)};
        if (which >= 5)
            snprintf(name + 1, sizeof name - 1, "%u", (unsigned)which / 5);
        gnomon_add_region(b, &(gnomon_region_info){.name = name});
    }
    for (uint32_t i = 0; i < 2; i++) {
        gnomon_add_view(
            b, &(gnomon_view_info){.words = (i + turn) % 2 ? "" : "filter=p"});
        gnomon_add_op(
            b, &(gnomon_op_info){.operation = (i + turn) % 2 ? "mm" : "add"});
    }
    for (; *ranks; ranks++) {
        const char uuid[] = {*ranks, 0};
        uint64_t word = random_word;
        if (life)
            random_word = life * 10 + (uint64_t)*ranks;
        random_rank(b, *ranks - '0', has_uuids ? uuid : NULL);
        if (life)
            random_word = word;
    }
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* ... with equal content. */
static inline gnomon_profile *random_profile(const char *ranks, uint64_t life)
{
    return random_profile_of(ranks, life, life != 0);
}

#endif

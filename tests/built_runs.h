/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds profiles from given durations, for tests of comparisons. */
#ifndef GNOMON_TESTS_BUILT_RUNS_H
#define GNOMON_TESTS_BUILT_RUNS_H

#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "test.h"

#define RUN_CELLS 1024

/* A run that is being built: a process with one thread. */
typedef struct built_run {
    gnomon_builder *builder;
    uint32_t run, track;
    uint32_t stage; /* the stage of added rows; 0: none */
    uint32_t ordinal;
    uint32_t view; /* the view of added rows; 0: none */
} built_run;

static inline built_run run_begin_as(gnomon_run_info info)
{
    built_run l = {.run = 0};
    CHECK_EQ(gnomon_builder_create(&l.builder), GNOMON_OK);
    l.run = gnomon_add_run(l.builder, &info);
    l.track = gnomon_add_track(
        l.builder,
        &(gnomon_track_info){.run = l.run, .name = "main", .device = -1});
    return l;
}

/* `uuid` NULL: a run that nothing identifies. */
static inline built_run run_begin(const char *job, int32_t rank,
                                  const char *uuid)
{
    return run_begin_as(
        (gnomon_run_info){.job = job, .rank = rank, .uuid = uuid});
}

static inline void run_stage(built_run *l, const char *name)
{
    l->stage = gnomon_add_stage(
        l->builder, &(gnomon_stage_info){
                        .run = l->run, .ordinal = ++l->ordinal, .name = name});
}

/* Executions of a region of this kind; half of their time is self time. */
static inline void run_row(built_run *l, uint32_t kind, const char *name,
                           const uint64_t *ns, size_t n)
{
    static uint64_t counts[RUN_CELLS];
    gnomon_cell cells[RUN_CELLS];
    gnomon_stats s = {.struct_size = sizeof s,
                      .count = n,
                      .min_ns = UINT64_MAX,
                      .cells = cells};
    uint32_t region = gnomon_add_region(
        l->builder, &(gnomon_region_info){.kind = kind, .name = name});
    for (size_t i = 0; i < n; i++) {
        counts[gnomon_cell_of(ns[i])]++;
        s.total_ns += ns[i];
        s.min_ns = ns[i] < s.min_ns ? ns[i] : s.min_ns;
        s.max_ns = ns[i] > s.max_ns ? ns[i] : s.max_ns;
    }
    s.self_ns = s.total_ns / 2;
    for (uint32_t i = 0; i < RUN_CELLS; i++)
        if (counts[i]) {
            cells[s.cell_count++] = (gnomon_cell){i, 0, counts[i]};
            counts[i] = 0;
        }
    /* The other half is in a child without statistics. */
    gnomon_add_node(l->builder,
                    &(gnomon_node_info){.track = l->track,
                                        .stage = l->stage,
                                        .view = l->view,
                                        .region = region,
                                        .flags = GNOMON_NODE_PARTIAL,
                                        .host = &s});
}

#define RUN_ROW(l, name, ...) \
    run_row(l, GNOMON_KIND_ACTION, name, (const uint64_t[]){__VA_ARGS__}, \
            sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* The caller frees it. */
static inline gnomon_profile *run_end(built_run *l)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(l->builder, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

#endif

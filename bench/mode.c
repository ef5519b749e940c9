/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attaches the profilers of a row, and reads how much of it they recorded. Called
 * between measurements, on the main thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"

#define HOOKS 4

/* For each hook and thread: no other thread writes it. */
static __thread uint64_t hook_pairs[HOOKS];

static void hook_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    *slot = 1;
}

static void hook_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)frame;
    hook_pairs[(size_t)(uintptr_t)self] += *slot;
}

static const gnomon_profiler hook = {
    .struct_size = sizeof hook,
    .abi = GNOMON_ABI,
    .name = "hook",
    .help = "counts in thread-local memory",
    .start = hook_start,
    .stop = hook_stop,
};

uint64_t bench_hooked(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < HOOKS; i++)
        sum += hook_pairs[i];
    return sum;
}

/* Reports are not needed: snapshots read what is recorded. */
static const struct {
    const char *spec;
    int hooks;
} modes[BENCH_MODES] = {
    [BENCH_OFF] = {"", 0},
    [BENCH_PASSTHROUGH] = {"passthrough", 0},
    [BENCH_SIMPLE] = {"simple,file=/dev/null", 0},
    [BENCH_ADVANCED] = {"advanced,file=/dev/null", 0},
    [BENCH_ONE_HOOK] = {"", 1},
    [BENCH_TWO_HOOKS] = {"", 2},
    [BENCH_FOUR_HOOKS] = {"", 4},
    [BENCH_TREE_AND_HOOK] = {"simple,file=/dev/null", 1},
    [BENCH_NVTX] = {"nvtx", 0},
    [BENCH_CUDA] = {"cuda,file=/dev/null", 0},
    [BENCH_NVTX_OFF] = {"nvtx(domain=off)", 0},
    [BENCH_TWO_VIEWS] = {"simple,advanced(exclude=nothing),file=/dev/null", 0},
    [BENCH_TREE_AND_STEPS] = {"simple,steps,file=/dev/null", 0},
    [BENCH_RING_OPEN] = {"simple,file=/dev/null", 0},
    [BENCH_RING_CLOSED] = {"simple,file=/dev/null", 0},
    [BENCH_TRACE] = {"trace(on_trace_ready=none)", 0},
    [BENCH_TREE_AND_TRACE] = {"simple,trace(on_trace_ready=none),"
                              "file=/dev/null",
                              0},
    [BENCH_TRACE_CLOSED] = {"simple,trace(on_trace_ready=none,"
                            "schedule=active:1/repeat:1),file=/dev/null",
                            0},
    [BENCH_MEMORY] = {BENCH_MEMORY_LIBRARY "(file=/dev/null)", 0},
    [BENCH_FLIP] = {"simple(schedule=wait:1/active:1),file=/dev/null", 0},
};

static void must(int code, const char *what)
{
    if (code == GNOMON_OK)
        return;
    fprintf(stderr, "bench: %s: %s: %s\n", what, gnomon_error_name(code),
            gnomon_error_text());
    exit(2);
}

static const char *recorder = "simple"; /* whose profile is read */

/* Its cycle has a scope, is over and delivered; the stage stays open. */
static void pass_window(void)
{
    must(gnomon_stage_begin("window"), "stage");
    gnomon_start("inside");
    gnomon_stop("inside");
    gnomon_step();
}

void bench_mode_enter(int mode)
{
    static int attached, has_stage;
    if (has_stage)
        must(gnomon_stage_end(), "stage");
    has_stage = mode == BENCH_TRACE_CLOSED;
    recorder = mode == BENCH_ADVANCED ? "advanced"
               : mode == BENCH_CUDA   ? "cuda"
               : mode == BENCH_MEMORY ? "memory"
               : mode == BENCH_TRACE || mode == BENCH_TREE_AND_TRACE ? "trace"
                                                                     : "simple";
    while (attached > 0) {
        attached--;
        must(gnomon_detach(&hook, (void *)(uintptr_t)attached), "detach");
    }
#ifdef BENCH_RING
    bench_ring_detach();
#endif
    must(gnomon_attach(NULL, NULL, modes[mode].spec), modes[mode].spec);
    if (has_stage)
        pass_window();
    if (mode == BENCH_MEMORY)
        bench_fill_pool();
#ifdef BENCH_RING
    if (mode == BENCH_RING_OPEN || mode == BENCH_RING_CLOSED)
        bench_ring_attach(mode == BENCH_RING_OPEN);
#endif
    for (; attached < modes[mode].hooks; attached++)
        must(gnomon_attach(&hook, (void *)(uintptr_t)attached, NULL), "attach");
}

int bench_hooks(int mode)
{
    return modes[mode].hooks;
}

/* The part after '#' distinguishes names of one row. */
static int is_labelled(const char *text, const char *label)
{
    size_t length = strlen(label);
    return strncmp(text, label, length) == 0 &&
           (!text[length] || text[length] == '#');
}

static uint64_t scopes_of(const gnomon_profile *p, const char *label)
{
    uint64_t sum = 0;
    size_t count = gnomon_profile_count(p, GNOMON_NODES);
    for (size_t i = 1; i <= count; i++) {
        gnomon_node_info node;
        gnomon_region_info region;
        if (gnomon_profile_node(p, i, &node) || !node.host ||
            gnomon_profile_region(p, node.region, &region))
            continue;
        if (is_labelled(region.name, label) ||
            is_labelled(region.category, label))
            sum += node.host->count;
    }
    return sum;
}

/* A tape's snapshot is exact: what is there, and what is missing, is all there was. */
static uint64_t events_of(const gnomon_profile *p, const char *label)
{
    uint64_t sum = 0;
    gnomon_event_info e;
    gnomon_node_info node;
    gnomon_region_info region;
    gnomon_loss_info loss;
    uint32_t last = 0;
    int is_taken = 0;
    size_t count = gnomon_profile_count(p, GNOMON_EVENTS);
    for (size_t i = 1; i <= count; i++) {
        (void)gnomon_profile_event(p, i, &e);
        if (e.node != last) {
            last = e.node;
            is_taken = !gnomon_profile_node(p, e.node, &node) &&
                       !gnomon_profile_region(p, node.region, &region) &&
                       is_labelled(region.name, label);
        }
        sum += is_taken && e.kind == GNOMON_EVENT_EXECUTION;
    }
    for (size_t i = 1; !gnomon_profile_loss(p, i, &loss); i++)
        if (strncmp(loss.kind, "events_", 7) == 0)
            sum += loss.count;
    return sum;
}

static uint64_t steps_of(const gnomon_profile *p)
{
    uint64_t sum = 0;
    size_t count = gnomon_profile_count(p, GNOMON_STAGES);
    for (size_t i = 1; i <= count; i++) {
        gnomon_stage_info stage;
        if (gnomon_profile_stage(p, i, &stage) == GNOMON_OK && stage.steps)
            sum += stage.steps->count;
    }
    return sum;
}

static uint64_t allocations_of(const gnomon_profile *p, const char *pool)
{
    uint64_t sum = 0;
    gnomon_node_info n;
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        for (size_t j = 0; j < n.memory_count; j++) {
            const gnomon_memory_stats *m = gnomon_memory_at(&n, j);
            if (!gnomon_profile_track(p, m->pool, &k) &&
                strcmp(k.name, pool) == 0)
                sum += m->allocations;
        }
    return sum;
}

uint64_t bench_recorded(const bench_row *row)
{
    gnomon_profile *p = NULL;
    must(gnomon_snapshot(&p, recorder, 1), "snapshot");
    uint64_t sum = row->record == BENCH_STEPS    ? steps_of(p)
                   : row->record == BENCH_POOLED ? allocations_of(p, row->name)
                   : row->record == BENCH_TAPED
                       ? events_of(p, row->label ? row->label : row->name)
                       : scopes_of(p, row->label ? row->label : row->name);
    gnomon_profile_free(p);
    return sum;
}

#define MANY 100000u

void bench_register_many(void)
{
    char name[32];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "region %u", i);
        gnomon_end(
            gnomon_begin(gnomon_region_get(name, "many", GNOMON_KIND_SCOPE)));
    }
}

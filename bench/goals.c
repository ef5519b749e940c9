/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Goals: ratios to floors of the same run, and counts. A goal that is missed is
 * printed and fails nothing; a row that did not record all that ran fails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum goal_kind {
    TO_FLOOR, /* times the row's floor, one thread */
    INSTRUCTIONS,
    LIKE_FLOOR,  /* as many instructions as the floor */
    BY_COUNT,    /* instructions by those of `other` */
    BEYOND,      /* times the row's floor, what it takes more than `other` */
    COLD,        /* times `other`, cold */
    TO_LIBRARY,  /* times Fno; the shared one: times Fno_so */
    TWO_THREADS, /* CPU time of two by that of one, compared with the floor's */
    TWO_COUNT,   /* instructions of two less those of one */
    FURTHER,     /* a further hook by a bare call pair */
    VALUE        /* ns or bytes */
};

typedef struct goal {
    int kind;
    const char *measure, *other;
    double shared, fixed; /* limits: of the shared, and of the static one */
    const char *text;
} goal;

static const goal goals[] = {
    {TO_FLOOR, "off_scope", 0, 1.05, 1.05, "off_scope <= 1.05 Fa"},
    {LIKE_FLOOR, "off_scope", "Fa", 0.05, 0.05,
     "off_scope: instructions beyond Fa's"},
    {TO_FLOOR, "off_byname", 0, 2, 2, "off_byname <= 2 Fa"},
    {TO_FLOOR, "passthrough", 0, 1.05, 1.05, "passthrough <= 1.05 Fa"},
    {TO_FLOOR, "simple_scope", 0, 1.05, 1.05, "simple_scope <= 1.05 Fw"},
    {INSTRUCTIONS, "simple_scope", 0, 100, 100,
     "simple_scope <= 100 instructions"},
    {TO_FLOOR, "op_scope", 0, 1.5, 1.5, "op_scope <= 1.5 Fb"},
    {TO_FLOOR, "memory_pair", 0, 3, 3, "memory_pair <= 3 Fd"},
    {TO_FLOOR, "memory_random", 0, 20, 20, "memory_random <= 20 Fd"},
    {TO_FLOOR, "advanced_scope", 0, 1.05, 1.05, "advanced_scope <= 1.05 Fw"},
    {TO_FLOOR, "repeated_names", 0, 1.1, 1.1, "repeated_names <= 1.1 Fw"},
    {INSTRUCTIONS, "repeated_names", 0, 110, 110,
     "repeated_names <= 110 instructions"},
    {TO_FLOOR, "two_views", 0, 1.6, 1.6, "two_views <= 1.6 Fw"},
    {TO_FLOOR, "tree_and_window", 0, 1.08, 1.08, "tree_and_window <= 1.08 Fw"},
    {TO_FLOOR, "tree_and_closed", 0, 1.05, 1.05, "tree_and_closed <= 1.05 Fw"},
    {TO_FLOOR, "trace_scope", 0, 1.05, 1.05, "trace_scope <= 1.05 Fw"},
    {TO_FLOOR, "simple_and_trace", 0, 1.08, 1.08,
     "simple_and_trace <= 1.08 Fw"},
    {INSTRUCTIONS, "simple_and_trace", 0, 105, 105,
     "simple_and_trace <= 105 instructions"},
    {TO_FLOOR, "trace_closed", 0, 1.05, 1.05, "trace_closed <= 1.05 Fw"},
    {TO_FLOOR, "snapshot_beside", 0, 1.1, 1.1, "snapshot_beside <= 1.1 alone"},
    {VALUE, "snapshot_node", 0, 1000, 1000, "snapshot_node <= 1 us (ns)"},
    {VALUE, "trace_end", 0, 100, 100, "trace_end <= 100 ns a scope"},
    {VALUE, "export_chrome", 0, 200, 200, "export_chrome <= 200 ns a scope"},
    {VALUE, "export_file", 0, 200, 200, "export_file <= 200 ns a scope"},
    {VALUE, "csv_file", 0, 200, 200, "csv_file <= 200 ns a scope"},
    {VALUE, "perfetto_file", 0, 200, 200, "perfetto_file <= 200 ns a scope"},
    {VALUE, "speedscope_file", 0, 200, 200,
     "speedscope_file <= 200 ns a scope"},
    {VALUE, "export_growth_bytes", 0, 65536, 65536,
     "export growth, 100 x the events <= 64 KiB"},
    {VALUE, "stage_switch_node", 0, 200, 200,
     "stage_switch <= 200 ns for each node"},
    {TO_FLOOR, "stage_switch_node", 0, 1.1, 1.1, "stage_switch: late by early"},
    /* A duration of a new magnitude needs a block of cells, in each path and stage. */
    {VALUE, "stage_growth_bytes", 0, 131072, 131072,
     "stages: growth, 10 x as many <= 128 KiB"},
    {TO_FLOOR, "mark_stated", 0, 1.2, 1.2, "mark_stated <= 1.2 shown"},
    {TO_FLOOR, "simple_100_names", 0, 1.5, 1.5, "simple_100_names <= 1.5 Fd"},
    {TO_FLOOR, "simple_byname", 0, 1.6, 1.6, "simple_byname <= 1.6 Fd"},
    {INSTRUCTIONS, "simple_byname", 0, 211, 211,
     "simple_byname <= 211 instructions"},
    {BY_COUNT, "trace_byname", "simple_byname", 1.2, 1.2,
     "trace_byname <= 1.2 simple_byname's"},
    {BY_COUNT, "steps_byname", "simple_byname", 1.2, 1.2,
     "steps_byname <= 1.2 simple_byname's"},
    {BY_COUNT, "hook_byname", "simple_byname", 1.2, 1.2,
     "hook_byname <= 1.2 simple_byname's"},
    {BY_COUNT, "both_byname", "tree_and_hook", 1.4, 1.4,
     "both_byname <= 1.4 tree_and_hook's"},
    {BEYOND, "nvtx_in", "nvtx_call", 1.6, 1.6,
     "nvtx_in <= 1.6 Fd and NVTX's call"},
    {TO_FLOOR, "one_hook", 0, 0.5, 0.5, "one_hook <= 0.5 Fd"},
    {FURTHER, "a further hook", 0, 2, 2, "a further hook <= 2 call pairs"},
    {COLD, "simple_scope", "Fdo_so", 1.6, 1.0,
     "simple_scope cold <= 1.6; 1.0 Fdo_so"},
    {TO_LIBRARY, "nvtx_out", 0, 1.3, 1.3, "nvtx_out <= 1.3 Fno; Fno_so"},
    {TO_FLOOR, "nvtx_out_off", 0, 1.05, 1.05, "nvtx_out_off <= 1.05 Fa"},
    {TO_FLOOR, "step_flip", 0, 1000, 1000, "step_flip <= 1000 Fd"},
    {TO_FLOOR, "step_flip_far", 0, 1000, 1000, "step_flip_far <= 1000 Fd"},
    {TWO_THREADS, "off_scope", 0, 1.02, 1.02, "off_scope: 2T <= 1.02 1T"},
    {TWO_THREADS, "simple_scope", 0, 1.02, 1.02, "simple_scope: 2T <= 1.02 1T"},
    {TWO_COUNT, "simple_scope", 0, 0.5, 0.5,
     "simple_scope: instructions 2T - 1T"},
    {TWO_THREADS, "simple_byname", 0, 1.02, 1.02,
     "simple_byname: 2T <= 1.02 1T"},
    {TWO_THREADS, "one_hook", 0, 1.02, 1.02, "one_hook: 2T <= 1.02 1T"},
    {TWO_COUNT, "one_hook", 0, 0.5, 0.5, "one_hook: instructions 2T - 1T"},
    {VALUE, "first_mark_thread", 0, 20000, 20000,
     "first_mark_thread <= 20 us (ns)"},
    {VALUE, "first_mark_region", 0, 2000, 2000,
     "first_mark_region <= 2 us (ns)"},
    {VALUE, "first_mark_herd", 0, 60e6, 60e6,
     "first_mark_herd <= 60 ms of CPU (ns)"},
    {VALUE, "first_mark_herd_wall", 0, 100e6, 100e6,
     "first_mark_herd_wall <= 100 ms (ns)"},
    {VALUE, "first_mark_herd_slow", 0, 60e6, 60e6,
     "first_mark_herd_slow <= 60 ms of CPU (ns)"},
    {VALUE, "first_mark_herd_slow_wall", 0, 360e6, 360e6,
     "first_mark_herd_slow_wall <= the plugin's 300 + 60 ms (ns)"},
    {VALUE, "startup", 0, 200000, 200000, "startup <= 0.2 ms (ns)"},
    /* As tests/size. What each room takes is in README.md. */
    {VALUE, "text_bytes", 0, 592e3, 592e3, "text <= 592 KB"},
    /* A page or two: a duration of a new magnitude needs a block of cells. */
    {VALUE, "rss_growth_bytes", 0, 16384, 16384,
     "rss growth, 100 x the scopes <= 16 KiB"},
};

typedef struct view {
    bench_table *t;
    const char *linkage;
} view;

static const bench_result *at(view v, const char *measure, int threads)
{
    static const bench_result none = {.ns_min = BENCH_EMPTY,
                                      .ns_median = BENCH_EMPTY,
                                      .ratio_min = BENCH_EMPTY,
                                      .ratio_median = BENCH_EMPTY,
                                      .instructions = BENCH_EMPTY,
                                      .cold_ns = BENCH_EMPTY};
    const bench_result *r = bench_line(v.t, measure, threads, v.linkage, 0);
    return r ? r : &none;
}

/* ns of a pair of calls: from Fi, but at least `calls`, because in Fi calls may
 * overlap with clock reads. Hooks without times read no clock. */
static double call_pair(view v)
{
    double behind =
        (at(v, "Fi4", 1)->ns_median - at(v, "Fi1", 1)->ns_median) / 3;
    return fmax(behind, at(v, "calls", 1)->ns_median);
}

static double reached(view v, const goal *g)
{
    const bench_result *one = at(v, g->measure, 1), *two = at(v, g->measure, 2);
    switch (g->kind) {
    case TO_FLOOR:
        return one->ratio_median;
    case INSTRUCTIONS:
        return one->instructions;
    case LIKE_FLOOR:
        return fabs(one->instructions - at(v, g->other, 1)->instructions);
    case BY_COUNT:
        return one->instructions / at(v, g->other, 1)->instructions;
    case BEYOND:
        return one->ratio_median *
               (1 - at(v, g->other, 1)->ns_median / one->ns_median);
    case COLD:
        return one->cold_ns / at(v, g->other, 1)->cold_ns;
    case TO_LIBRARY: {
        int is_shared = strcmp(v.linkage, "shared") == 0;
        return one->ns_median /
               at(v, is_shared ? "Fno_so" : "Fno", 1)->ns_median;
    }
    case TWO_THREADS:
        return two->ratio_median / one->ratio_median;
    case TWO_COUNT:
        return fabs(two->instructions - one->instructions);
    case FURTHER:
        return (at(v, "four_hooks", 1)->ns_median -
                at(v, "one_hook", 1)->ns_median) /
               3 / call_pair(v);
    default:
        return one->ns_median;
    }
}

static void judge(view v, const goal *g, double limit)
{
    double value = reached(v, g);
    if (isnan(value))
        printf(" %10s %-5s", "-", "");
    else
        printf(" %10.*f %-5s", value < 1000 ? 2 : 0, value,
               value <= limit ? "ok" : "over");
}

void bench_print_goals(bench_table *t)
{
    view shared = {t, "shared"}, fixed = {t, "static"};
    double kind =
        at(shared, "Fw", 1)->ns_median / at(shared, "Fd", 1)->ns_median;
    printf("\nFw / Fd = %.2f: %s\n", kind,
           kind < 1.1 ? "plain instructions hide behind the clock reads"
                      : "a clock read waits for what comes before it");
    putchar('\n');
    printf("%-40s %-16s %-16s\n", "goal", "    shared", "    static");
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        goal g = goals[i];
        if (kind < 1.1 && g.kind == TO_FLOOR &&
            strcmp(g.measure, "simple_byname") == 0) {
            g.shared = g.fixed = 1.5;
            g.text = "simple_byname <= 1.5 Fd";
        }
        printf("%-40s", g.text);
        judge(shared, &g, g.shared);
        judge(fixed, &g, g.fixed);
        putchar('\n');
    }
}

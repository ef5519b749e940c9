/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages that alternate, as with a validation in each epoch: the time to switch from
 * one to the next, early in a run and late, without reports. It runs in its own
 * process, whose memory is measured. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "gnomon.h"
#include "gnomon/tool.h"

#define BLOCK 10u /* rounds that are timed at once */
#define EARLY 10u /* first round of the early part; the late part has as many */
#define NODES 61u /* one scope, and 60 in it */

/* A tree like that of simple, but without reports, which would take most of the
 * time. */
static const gnomon_profiler keeper = {.struct_size = sizeof keeper,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE,
                                       .name = "keeper"};

#define STAGE_SITE(a, b) \
    { \
        GNOMON_SCOPE_IN("stage_switch", "path " #a #b); \
        BENCH_FENCE(); \
    }

static BENCH_ALIGNED void mark_all(void)
{
    GNOMON_SCOPE_IN("stage_switch", "all");
    BENCH_TEN(STAGE_SITE, 0)
    BENCH_TEN(STAGE_SITE, 1)
    BENCH_TEN(STAGE_SITE, 2)
    BENCH_TEN(STAGE_SITE, 3)
    BENCH_TEN(STAGE_SITE, 4)
    BENCH_TEN(STAGE_SITE, 5)
}

static void mark_in(const char *stage)
{
    if (stage && gnomon_stage_begin(stage))
        exit(2);
    mark_all();
    if (stage && gnomon_stage_end())
        exit(2);
}

/* ns of a round, the median of the blocks. */
static double time_rounds(uint32_t rounds, const char *one, const char *other)
{
    double *ns = calloc(rounds / BLOCK + 1, sizeof *ns);
    if (!ns)
        exit(2);
    for (uint32_t i = 0; i < rounds / BLOCK; i++) {
        uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
        for (uint32_t k = 0; k < BLOCK; k++) {
            mark_in(one);
            mark_in(other);
        }
        ns[i] = (double)(bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / BLOCK;
    }
    double median = bench_median(ns, rounds / BLOCK);
    free(ns);
    return median;
}

/* Prints ns of a switch, early and late, of a round without any, and by how many
 * bytes memory grew between. */
int bench_stages(uint32_t rounds)
{
    uint32_t some = rounds / 10;
    if (gnomon_attach(NULL, NULL, "") || gnomon_attach(&keeper, NULL, NULL))
        return 2;
    mark_all();
    bench_resident_bytes();
    time_rounds(EARLY, "fit", "validate");
    double early = time_rounds(some, "fit", "validate");
    double before = bench_resident_bytes();
    time_rounds(rounds - EARLY - 2 * some, "fit", "validate");
    double late = time_rounds(some, "fit", "validate");
    double growth = bench_resident_bytes() - before;
    if (gnomon_stage_begin("fit"))
        return 2;
    double marks = time_rounds(some, NULL, NULL);
    printf("%.1f %.1f %.1f %.0f\n", (early - marks) / 2, (late - marks) / 2,
           marks / 2, growth);
    return gnomon_detach(&keeper, NULL);
}

void bench_measure_stages(bench_table *t)
{
    char command[512];
    double early, late, marks, growth;
    snprintf(command, sizeof command, "'%s' --stages %s", bench_self(),
             bench_effort_now.smoke ? "100" : "1000");
    FILE *f = popen(command, "r");
    int count =
        f ? fscanf(f, "%lf %lf %lf %lf", &early, &late, &marks, &growth) : 0;
    if (f)
        pclose(f);
    if (count != 4)
        return;
    bench_result *r = bench_own(t, "stage_switch", 1);
    r->ns_min = r->ns_median = late;
    r = bench_own(t, "stage_switch_early", 1);
    r->ns_min = r->ns_median = early;
    r = bench_own(t, "stage_switch_node", 1);
    r->ns_min = r->ns_median = late / NODES;
    snprintf(r->floor, sizeof r->floor, "early");
    r->ratio_min = r->ratio_median = late / early;
    r = bench_own(t, "stage_growth_bytes", 1);
    r->ns_min = r->ns_median = growth;
}

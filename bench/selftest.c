/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tests the benchmark: it plants faults in what is measured. Each fault must break a
 * criterion that the row without a fault meets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define SOUND 3 /* the first rows of bench_plants have no fault */

static int differs(double value, double by, double than)
{
    return !isnan(value) && !isnan(than) && fabs(value - than) > by;
}

/* Prints the criteria that find the fault; returns how many. */
static int shows(bench_table *t, const bench_row *plant, int threads)
{
    const bench_result *r = bench_own(t, plant->name, threads);
    const bench_result *good = bench_own(t, plant->label, threads);
    const bench_result *floor = bench_own(t, plant->floor, threads);
    int is_off = plant->record == BENCH_SWITCHED, found = 0;
    printf("%-14s in %-13s %d thread(s):", plant->name, plant->label, threads);
    if (r->ratio_median > 1.05 && r->ratio_median > 1.05 * good->ratio_median)
        found++, printf(" %.2f %s, sound %.2f;", r->ratio_median, plant->floor,
                        good->ratio_median);
    if (is_off ? differs(r->instructions, 0.25, floor->instructions) &&
                     !differs(good->instructions, 0.25, floor->instructions)
               : r->instructions > 100 && good->instructions <= 100)
        found++, printf(" %.1f instructions, sound %.1f;", r->instructions,
                        good->instructions);
    if (r->recorded != r->ran && good->recorded == good->ran)
        found++, printf(" %lld of %lld recorded;", (long long)r->recorded,
                        (long long)r->ran);
    puts(found ? "" : " nothing");
    return found;
}

int bench_selftest(void)
{
    bench_table t = {.count = 0};
    int missed = 0, threads = bench_cpu(1) < 0 ? 1 : 2;
    bench_measure(&t, bench_floors, bench_floor_count);
    bench_measure(&t, bench_plants, bench_plant_count);
    bench_count(&t, "plants");
    bench_print(&t);
    printf("\nplanted faults, and what gives them away\n");
    for (size_t i = SOUND; i < bench_plant_count; i++) {
        int found = 0;
        for (int k = 1; k <= threads; k++)
            found += shows(&t, bench_plants + i, k);
        if (!found)
            printf("NOT NOTICED: %s\n", bench_plants[i].name);
        missed += !found;
    }
    for (size_t i = 0; i < SOUND; i++) {
        const bench_result *r = bench_own(&t, bench_plants[i].name, 1);
        if (r->recorded == r->ran)
            continue;
        missed++;
        printf("%s is not sound itself\n", r->measure);
    }
    printf(missed ? "\nFAILED: %d were not noticed\n" : "\nall were noticed\n",
           missed);
    return missed != 0;
}

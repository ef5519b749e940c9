/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench [--smoke] [--output FILE]   measures both linkages, prints one table
 * bench --instructions             only checks the instruction counts
 *
 * The programs use the other options to call each other. The shared program runs
 * the static one and adds its lines to the table. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

bench_effort bench_effort_now = {31, 201, 1e6, 0};
static const bench_effort smoke_effort = {2, 3, 2e3, 1};

#define ROWS_FAILED 3 /* exit status of --part: the table has wrong rows */

static uint64_t start_ticks, start_ns;

/* From the program's start until now. Call it late: a longer time is more exact. */
double bench_ns_per_tick(void)
{
    uint64_t ns = bench_now_ns(CLOCK_MONOTONIC) - start_ns;
    return (double)ns / (double)(floor_ticks() - start_ticks);
}

int bench_cpu(int index)
{
    static cpu_set_t allowed; /* from before threads were pinned */
    static int known;
    if (!known) {
        known = 1;
        if (sched_getaffinity(0, sizeof allowed, &allowed))
            CPU_ZERO(&allowed);
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && index-- == 0)
            return (int)cpu;
    return -1;
}

void bench_pin(int index)
{
    cpu_set_t set;
    int cpu = bench_cpu(index);
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

const char *bench_self(void)
{
    static char path[512];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return path;
}

/* How many rows failed. */
static int measure_all(bench_table *t)
{
    int failed = bench_measure(t, bench_floors, bench_floor_count);
    failed += bench_measure(t, bench_marks, bench_mark_count);
    bench_measure_cold(t, bench_floors, bench_floor_count);
    bench_measure_cold(t, bench_marks, bench_mark_count);
    bench_measure_lone(t);
    bench_register_many();
    failed += bench_measure(t, bench_late, bench_late_count);
    bench_measure_far_flips(t);
    if (!bench_effort_now.smoke)
        bench_count(t, "all");
    return failed;
}

static int part(const char *path)
{
    bench_table t = {.count = 0};
    int failed = measure_all(&t);
    return bench_write(&t, path) ? 2 : failed ? ROWS_FAILED : 0;
}

/* Runs `program` for its part of the table. */
static int add_part(bench_table *t, const char *program, const char *path)
{
    const char *argv[] = {program, "--part", path,
                          bench_effort_now.smoke ? "--smoke" : NULL, NULL};
    printf("measuring: %s\n", program);
    fflush(stdout);
    int code = bench_run_program(argv, 0);
    if ((code != 0 && code != ROWS_FAILED) || bench_read(t, path))
        exit(2);
    unlink(path);
    return code != 0;
}

static int whole(const char *output)
{
    bench_table t = {.count = 0};
    char path[512];
    snprintf(path, sizeof path, "%s.part", output);
    int failed = add_part(&t, bench_self(), path);
    failed |= add_part(&t, BENCH_STATIC, path);
#ifdef BENCH_PROFILES
    failed |= add_part(&t, BENCH_PROFILES, path);
#endif
#ifdef BENCH_NVTX_IN
    failed |= add_part(&t, BENCH_NVTX_IN, path);
#endif
    if (bench_write(&t, output))
        return 2;
    /* Print what is in the file. */
    bench_table again = {.count = 0};
    if (bench_read(&again, output) || again.count != t.count)
        return 2;
    bench_print(&again);
    bench_print_goals(&again);
    printf("\nwritten to %s\n", output);
    if (failed)
        printf("FAILED: a row did not record what ran, see above\n");
    return failed;
}

int main(int argc, char **argv)
{
    const char *output = BENCH_OUTPUT, *own = NULL;
    const char *plants = getenv("GNOMON_BENCH_SELFTEST");
    int guard = 0;
    unsetenv(
        "GNOMON"); /* rows set the profilers; start-up is measured without */
    start_ns = bench_now_ns(CLOCK_MONOTONIC);
    start_ticks = floor_ticks();
    bench_cpu(0);
    bench_nvtx_listen();
    bench_cuda_use();
    near_enter();
    far_enter();
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--smoke") == 0)
            bench_effort_now = smoke_effort;
        else if (strcmp(argv[i], "--instructions") == 0)
            guard = 1;
        else if (strcmp(argv[i], "--output") == 0 && *next)
            output = argv[++i];
        else if (strcmp(argv[i], "--part") == 0 && *next)
            own = argv[++i];
        else if (strcmp(argv[i], "--rss") == 0 && *next)
            return bench_rss(strtoull(next, NULL, 10));
        else if (strcmp(argv[i], "--stages") == 0 && *next)
            return bench_stages((uint32_t)strtoul(next, NULL, 10));
        else if (strcmp(argv[i], "--count-inside") == 0 && i + 2 < argc)
            return bench_count_inside(next, argv[i + 2]);
        else {
            fprintf(stderr, "usage: bench [--smoke] [--output FILE]\n"
                            "       bench --instructions\n");
            return 2;
        }
    }
    if (guard) {
        bench_table t = {.count = 0};
        return bench_guard(&t);
    }
    if (own)
        return part(own);
    if (plants && *plants && strcmp(plants, "0") != 0)
        return bench_selftest();
    return whole(output);
}

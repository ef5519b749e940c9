/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cold pairs: each runs after all memory of the process was evicted from all
 * caches, code too, except the code of its own site. The result is the 10-90 %
 * trimmed mean of many. Cache lines are flushed by address, over all resident pages
 * of all mappings; address translations stay nearly warm. If the processor has no
 * such instruction, reading more memory than the caches hold evicts them.
 *
 * A cold pair has its own site, which never runs warm: a site in a program is
 * either cold or warm, and its durations share a few histogram cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define MAX_SAMPLES 256
#define MAX_ROWS 40

#ifdef __x86_64__

#define MAX_PAGES 65536
#define LARGEST ((uintptr_t)1 << 32) /* larger mappings are only reserved */

static char *pages[MAX_PAGES];
static size_t page_count;

static void add_mapping(uintptr_t from, uintptr_t to)
{
    static unsigned char resident[LARGEST >> 12];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (to - from > LARGEST || mincore((void *)from, to - from, resident))
        return;
    for (uintptr_t i = 0; from + i * page < to; i++)
        if ((resident[i] & 1) && page_count < MAX_PAGES)
            pages[page_count++] = (char *)(from + i * page);
}

/* Call it for each row, because a row may map new memory. */
static void learn(void)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    page_count = 0;
    while (f && fgets(line, sizeof line, f)) {
        unsigned long from, to;
        char may_read;
        if (sscanf(line, "%lx-%lx %c", &from, &to, &may_read) == 3 &&
            may_read == 'r' && !strstr(line, "[v"))
            add_mapping(from, to);
    }
    if (f)
        fclose(f);
}

static void evict(void)
{
    long page = sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < page_count; i++)
        for (long k = 0; k < page; k += 64)
            __builtin_ia32_clflush(pages[i] + k);
    __builtin_ia32_mfence();
}

#else

#define SWEPT (96u << 20)

static void learn(void)
{
}

static void evict(void)
{
    static volatile char *memory;
    if (!memory)
        memory = calloc(SWEPT, 1);
    for (size_t i = 0; memory && i < SWEPT; i += 64)
        memory[i]++;
}

#endif

static BENCH_ALIGNED uint64_t nothing_once(void)
{
    uint64_t begin = bench_ticks_alone();
    return bench_ticks_alone() - begin;
}

/* The row's own code stays cached, as in a program that has just come to a mark. The
 * code that calls it stays too, because the first call returns there: the processor
 * fetches the code after a return early, and clock reads wait for it. */
static __attribute__((noinline)) uint64_t time_cold(uint64_t (*once)(void))
{
    _Alignas(64) uint64_t (*volatile call[2])(void) = {nothing_once, once};
    const volatile char *code = (const volatile char *)(uintptr_t)once;
    uint64_t ticks = 0;
    evict();
    for (int i = 0; i < 4; i++)
        (void)code[64 * i];
    for (int i = 0; i < 2; i++)
        ticks = call[i]();
    return ticks;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double trimmed_mean(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    size_t cut = count / 10;
    double sum = 0;
    for (size_t i = cut; i < count - cut; i++)
        sum += values[i];
    return sum / (double)(count - 2 * cut);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The first four calls pay what only first calls cost. */
static void sample_cold(uint64_t (*once)(void), double *ticks, size_t samples)
{
    for (int i = 0; i < 4; i++)
        once();
    learn();
    for (int i = 0; i < 4; i++)
        time_cold(once);
    for (size_t i = 0; i < samples; i++)
        ticks[i] = (double)time_cold(once);
}

void bench_measure_cold(bench_table *t, const bench_row *rows, size_t count)
{
    static double ticks[MAX_ROWS + 1][MAX_SAMPLES];
    size_t samples = (size_t)bench_effort_now.cold_samples;
    if (count > MAX_ROWS || samples > MAX_SAMPLES)
        exit(2);
    bench_pin(0);
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        bench_mode_enter(mode);
        for (size_t i = 0; i < count; i++)
            if (rows[i].mode == mode && rows[i].once)
                sample_cold(rows[i].once, ticks[i], samples);
    }
    bench_mode_enter(BENCH_OFF);
    sample_cold(nothing_once, ticks[MAX_ROWS], samples);
    double nothing = trimmed_mean(ticks[MAX_ROWS], samples);
    for (size_t i = 0; i < count; i++)
        if (rows[i].once)
            bench_own(t, rows[i].name, 1)->cold_ns =
                (trimmed_mean(ticks[i], samples) - nothing) *
                bench_ns_per_tick();
}

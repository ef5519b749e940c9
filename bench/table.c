/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table as memory, as tab-separated text, and as people read it. An empty
 * cell is NaN, of `recorded` -1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char header[] =
    "measure\tthreads\tns_min\tns_median\tfloor\tratio_min\tratio_median\t"
    "instructions\tcold_ns\tlinkage\trecorded\n";
#define COLUMNS 11

bench_result *bench_line(bench_table *t, const char *measure, int threads,
                         const char *linkage, int make)
{
    for (size_t i = 0; i < t->count; i++) {
        bench_result *r = &t->line[i];
        if (r->threads == threads && strcmp(r->measure, measure) == 0 &&
            strcmp(r->linkage, linkage) == 0)
            return r;
    }
    if (!make || t->count == sizeof t->line / sizeof *t->line)
        return NULL;
    bench_result *r = &t->line[t->count++];
    *r = (bench_result){.threads = threads, .recorded = -1, .ran = -1};
    r->ns_min = r->ns_median = r->ratio_min = r->ratio_median = BENCH_EMPTY;
    r->instructions = r->cold_ns = BENCH_EMPTY;
    snprintf(r->measure, sizeof r->measure, "%s", measure);
    snprintf(r->linkage, sizeof r->linkage, "%s", linkage);
    return r;
}

bench_result *bench_own(bench_table *t, const char *measure, int threads)
{
    bench_result *r = bench_line(t, measure, threads, BENCH_LINKAGE, 1);
    if (!r) {
        fprintf(stderr, "bench: the table is full\n");
        exit(2);
    }
    return r;
}

/* ---- As a file ----------------------------------------------------------- */

static void put_number(FILE *f, double value, int decimals)
{
    if (!isnan(value))
        fprintf(f, "%.*f", decimals, value);
    fputc('\t', f);
}

int bench_write(const bench_table *t, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return -1;
    }
    fputs(header, f);
    for (size_t i = 0; i < t->count; i++) {
        const bench_result *r = &t->line[i];
        fprintf(f, "%s\t%d\t", r->measure, r->threads);
        put_number(f, r->ns_min, 3);
        put_number(f, r->ns_median, 3);
        fprintf(f, "%s\t", r->floor);
        put_number(f, r->ratio_min, 3);
        put_number(f, r->ratio_median, 3);
        put_number(f, r->instructions, 1);
        put_number(f, r->cold_ns, 1);
        fprintf(f, "%s\t", r->linkage);
        if (r->recorded >= 0)
            fprintf(f, "%lld", (long long)r->recorded);
        fputc('\n', f);
    }
    return fclose(f);
}

/* An empty cell or a number, and nothing else. */
static int get_number(const char *text, double *value)
{
    char *end;
    *value = BENCH_EMPTY;
    if (!*text)
        return 0;
    *value = strtod(text, &end);
    return *end || end == text || isnan(*value) ? -1 : 0;
}

static int get_line(bench_table *t, char *text)
{
    char *cell[COLUMNS], *rest = text;
    size_t n = 0;
    rest[strcspn(rest, "\n")] = 0;
    while (rest && n < COLUMNS)
        cell[n++] = strsep(&rest, "\t");
    double threads, recorded;
    if (n != COLUMNS || rest || get_number(cell[1], &threads) ||
        get_number(cell[10], &recorded) || isnan(threads) || !*cell[0] ||
        bench_line(t, cell[0], (int)threads, cell[9], 0))
        return -1;
    bench_result *r = bench_line(t, cell[0], (int)threads, cell[9], 1);
    if (!r)
        return -1;
    snprintf(r->floor, sizeof r->floor, "%s", cell[4]);
    r->recorded = isnan(recorded) ? -1 : (int64_t)recorded;
    return get_number(cell[2], &r->ns_min) |
           get_number(cell[3], &r->ns_median) |
           get_number(cell[5], &r->ratio_min) |
           get_number(cell[6], &r->ratio_median) |
           get_number(cell[7], &r->instructions) |
           get_number(cell[8], &r->cold_ns);
}

int bench_read(bench_table *t, const char *path)
{
    char text[512];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    int bad = !fgets(text, sizeof text, f) || strcmp(text, header) != 0;
    for (int line = 2; !bad && fgets(text, sizeof text, f); line++) {
        bad = get_line(t, text);
        if (bad)
            fprintf(stderr, "%s:%d: not a line of the table\n", path, line);
    }
    fclose(f);
    return bad ? -1 : 0;
}

/* ---- For people ---------------------------------------------------------- */

static void show(double value, int width, int decimals)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, decimals, value);
}

static void show_line(const bench_result *r)
{
    int digits = r->ns_min < 100000 ? 2 : 0;
    printf("%-20s %-6s %d", r->measure, r->linkage, r->threads);
    show(r->ns_min, 11, digits);
    show(r->ns_median, 11, digits);
    printf(" %-6s", r->floor);
    show(r->ratio_min, 8, 2);
    show(r->ratio_median, 8, 2);
    show(r->instructions, 8, 1);
    show(r->cold_ns, 8, 0);
    if (r->recorded >= 0)
        printf(" %11lld", (long long)r->recorded);
    putchar('\n');
}

void bench_print(const bench_table *t)
{
    printf("%-20s %-6s %s %11s %11s %-6s %8s %8s %8s %8s %11s\n", "measure",
           "linked", "T", "ns min", "median", "floor", "x min", "x median",
           "instr", "cold ns", "recorded");
    /* A measure's lines together, whatever order they came in. */
    for (size_t i = 0; i < t->count; i++) {
        size_t first = 0;
        while (strcmp(t->line[first].measure, t->line[i].measure) != 0)
            first++;
        if (first != i)
            continue;
        for (size_t k = i; k < t->count; k++)
            if (strcmp(t->line[k].measure, t->line[i].measure) == 0)
                show_line(&t->line[k]);
    }
}

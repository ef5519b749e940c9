/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX in: what a push and its pop cost in a program without gnomon under
 * libgnomon-nvtx.so and GNOMON=simple, compared with the floor Fd and with NVTX's
 * call of a tool that does nothing.
 *
 * bench_nvtx --part FILE [--smoke]   writes a part of bench's table. It runs itself
 * once more to measure, and reads from that run's report what was recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "../bench.h"
#include "bare.h"

#define ROWS_FAILED 3 /* of --part: see main.c */

static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t registered = {
    .version = NVTX_VERSION,
    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
    .messageType = NVTX_MESSAGE_TYPE_REGISTERED};

/* ---- Pairs ---------------------------------------------------------------- */

/* Fd, copied from floors.c, whose other rows need more than this program has. */
static __thread floor_slot fd_slot = {0, 0, 0, UINT64_MAX, 0};

static BENCH_ALIGNED void fd_pairs(uint64_t n)
{
    for (; n; n--) {
        uint64_t begin = floor_ticks();
        BENCH_FENCE();
        floor_add(&fd_slot, floor_ticks() - begin);
    }
}

static BENCH_ALIGNED void in_pairs(uint64_t n)
{
    for (; n; n--) {
        nvtxDomainRangePushEx(domain, &registered);
        BENCH_FENCE();
        nvtxDomainRangePop(domain);
    }
}

static BENCH_ALIGNED void inline_pairs(uint64_t n)
{
    for (; n; n--) {
        nvtxRangePushA("nvtx_in_inline");
        BENCH_FENCE();
        nvtxRangePop();
    }
}

static void call_pairs(uint64_t n)
{
    if (!bare_pairs(n)) {
        fprintf(stderr, "bench: the tool of NVTX's bare call is not there\n");
        exit(2);
    }
}

typedef struct nvtx_row {
    const char *name;
    void (*pairs)(uint64_t n);
    int recorded;
    uint64_t ran;
    double ns[64], ratio[64];
} nvtx_row;

static nvtx_row rows[] = {
    {.name = "nvtx_call", .pairs = call_pairs},
    {.name = "nvtx_in", .pairs = in_pairs, .recorded = 1},
    {.name = "nvtx_in_inline", .pairs = inline_pairs, .recorded = 1}};
#define ROWS (sizeof rows / sizeof *rows)

static double ns_of(void (*pairs)(uint64_t), uint64_t n)
{
    uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    pairs(n);
    return (double)(bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)n;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Writes the table, with the number of pairs that ran as `recorded`. */
static int measure(const char *path, int smoke)
{
    static bench_table t;
    int repetitions = smoke ? 3 : 31;
    uint64_t n = smoke ? 100 : 30000;
    /* Each module loads the tool of this variable at its first call. */
    setenv("NVTX_INJECTION64_PATH", BENCH_NVTX_BARE, 1);
    call_pairs(1);
    setenv("NVTX_INJECTION64_PATH", BENCH_NVTX_LIBRARY, 1);
    domain = nvtxDomainCreateA("bench");
    registered.message.registered =
        nvtxDomainRegisterStringA(domain, "nvtx_in");
    for (int i = -1; i < repetitions; i++) /* the first, to warm up */
        for (nvtx_row *r = rows; r < rows + ROWS; r++) {
            double floor = ns_of(fd_pairs, n);
            double ns = ns_of(r->pairs, n);
            r->ran += n;
            r->ns[i < 0 ? 0 : i] = ns;
            r->ratio[i < 0 ? 0 : i] = ns / floor;
        }
    for (nvtx_row *r = rows; r < rows + ROWS; r++) {
        bench_result *out = bench_line(&t, r->name, 1, "shared", 1);
        qsort(r->ns, (size_t)repetitions, sizeof *r->ns, by_value);
        qsort(r->ratio, (size_t)repetitions, sizeof *r->ratio, by_value);
        out->ns_min = r->ns[0];
        out->ns_median = r->ns[repetitions / 2];
        snprintf(out->floor, sizeof out->floor, "Fd");
        out->ratio_min = r->ratio[0];
        out->ratio_median = r->ratio[repetitions / 2];
        if (r->recorded)
            out->recorded = (int64_t)r->ran;
    }
    return bench_write(&t, path) != 0;
}

/* ---- What was recorded ---------------------------------------------------- */

/* The calls of this row in simple's table; -1: it is not in it. */
static long long calls_in(const char *report, const char *name)
{
    char line[512], row[64];
    long long calls = -1, row_calls;
    FILE *f = fopen(report, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "| %63s | %*s | %lld", row, &row_calls) == 2 &&
            strcmp(row, name) == 0)
            calls = row_calls;
    if (f)
        fclose(f);
    return calls;
}

static int check(const char *path, const char *report)
{
    static bench_table t;
    int failed = bench_read(&t, path) ? 2 : 0;
    for (size_t i = 0; i < t.count; i++) {
        bench_result *r = &t.line[i];
        long long recorded = calls_in(report, r->measure);
        if (r->recorded < 0 || r->recorded == recorded)
            continue;
        fprintf(stderr, "bench: %s: %lld ran, %lld are recorded\n", r->measure,
                (long long)r->recorded, recorded);
        r->recorded = recorded;
        failed = ROWS_FAILED;
    }
    return bench_write(&t, path) ? 2 : failed;
}

int main(int argc, char **argv)
{
    char report[600], spec[700];
    int status = 0;
    if (argc < 3)
        return 2;
    int smoke = argc > 3 && strcmp(argv[3], "--smoke") == 0;
    if (strcmp(argv[1], "--inside") == 0)
        return measure(argv[2], smoke);
    snprintf(report, sizeof report, "%s.txt", argv[2]);
    snprintf(spec, sizeof spec, "simple,file=\"%s\"", report);
    setenv("GNOMON", spec, 1);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "--inside", argv[2],
              smoke ? "--smoke" : NULL, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 2;
    status = check(argv[2], report);
    unlink(report);
    return status;
}

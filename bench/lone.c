/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Measures that are not pairs: first marks, start-up, memory and size. A measure
 * whose name ends in _bytes has bytes instead of ns. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "gnomon.h"

#define MANY 64

static void put(bench_table *t, const char *measure, double *values,
                size_t count)
{
    bench_result *r = bench_own(t, measure, 1);
    r->ns_median = bench_median(values, count); /* sorts */
    r->ns_min = values[0];
}

static void put_one(bench_table *t, const char *measure, double value)
{
    put(t, measure, &value, 1);
}

/* ---- First marks --------------------------------------------------------- */

static gnomon_region first_region = GNOMON_REGION_INIT(
    GNOMON_KIND_SCOPE, "first_mark_thread", NULL, "first_marks");
static gnomon_region fresh[MANY];

static double time_pair(gnomon_region *region)
{
    uint64_t begin = bench_ticks_alone();
    gnomon_end(gnomon_begin(region));
    return (double)(bench_ticks_alone() - begin) * bench_ns_per_tick();
}

static void *first_of_thread(void *out)
{
    errno = 77;
    *(double *)out = time_pair(&first_region);
    if (errno != 77)
        *(double *)out = BENCH_EMPTY;
    return NULL;
}

static void first_marks(bench_table *t)
{
    double ns[MANY];
    int count = bench_effort_now.smoke ? 2 : MANY;
    bench_mode_enter(BENCH_SIMPLE);
    time_pair(&first_region);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, first_of_thread, ns + i))
            exit(2);
        pthread_join(thread, NULL);
    }
    put(t, "first_mark_thread", ns, (size_t)count);
    for (int i = 0; i < count; i++) {
        fresh[i] = (gnomon_region)GNOMON_REGION_INIT(
            GNOMON_KIND_SCOPE, "fresh", "first_mark", "first_marks");
        ns[i] = time_pair(fresh + i);
    }
    put(t, "first_mark_region", ns, (size_t)count);
    bench_mode_enter(BENCH_OFF);
}

/* ---- Windows that are far apart, over many regions ----------------------- */

/* Steps take 1 ms, so the masks are cleared between windows and set again. */
void bench_measure_far_flips(bench_table *t)
{
    enum { WAIT = 8 };
    double ns[MANY];
    int count = bench_effort_now.smoke ? 2 : MANY / 2;
    if (gnomon_attach(NULL, NULL,
                      "simple(schedule=wait:8/active:8),file=/dev/null"))
        exit(2);
    for (int i = 0; i < count; i++) {
        for (int k = 1; k < WAIT; k++) {
            gnomon_step();
            usleep(1000);
        }
        uint64_t begin = bench_ticks_alone();
        gnomon_step();
        ns[i] = (double)(bench_ticks_alone() - begin) * bench_ns_per_tick();
        usleep(1000);
    }
    put(t, "step_flip_far", ns, (size_t)count);
    bench_result *r = bench_own(t, "step_flip_far", 1);
    const bench_result *fd = bench_own(t, "Fd", 1);
    snprintf(r->floor, sizeof r->floor, "Fd");
    r->ratio_min = r->ns_min / fd->ns_min;
    r->ratio_median = r->ns_median / fd->ns_median;
    bench_mode_enter(BENCH_OFF);
}

/* ---- Start-up ------------------------------------------------------------ */

static double time_program(const char *path)
{
    const char *argv[] = {path, NULL};
    uint64_t begin = bench_now_ns(CLOCK_MONOTONIC);
    if (bench_run_program(argv, 0)) {
        fprintf(stderr, "bench: %s failed\n", path);
        exit(2);
    }
    return (double)(bench_now_ns(CLOCK_MONOTONIC) - begin);
}

/* Runs the same tiny program with and without a mark, in turn. */
static void start_up(bench_table *t)
{
    enum { PAIRS = 150 };
    static double with[PAIRS], without[PAIRS];
    size_t count = bench_effort_now.smoke ? 2 : PAIRS;
    for (size_t i = 0; i < count; i++) {
        without[i] = time_program(BENCH_START "_plain");
        with[i] = time_program(BENCH_START "_" BENCH_LINKAGE);
    }
    double median = bench_median(with, count) - bench_median(without, count);
    bench_result *r = bench_own(t, "startup", 1);
    r->ns_median = median;
    r->ns_min = with[0] - without[0];
}

/* First marks of 500 threads at once, under `spec`. */
static void first_mark_herd(bench_table *t, const char *cpu_row,
                            const char *wall_row, const char *spec)
{
    enum { HERDS = 9 };
    static double cpu[HERDS], wall[HERDS];
    size_t count = bench_effort_now.smoke ? 1 : HERDS;
    char command[1024];
    snprintf(command, sizeof command, "GNOMON='%s' %s", spec,
             BENCH_START "_herd_" BENCH_LINKAGE);
    for (size_t i = 0; i < count; i++) {
        FILE *f = popen(command, "r");
        if (!f || fscanf(f, "%lf %lf", &cpu[i], &wall[i]) != 2 || pclose(f)) {
            fprintf(stderr, "bench: %s failed\n", command);
            exit(2);
        }
    }
    put(t, cpu_row, cpu, count);
    put(t, wall_row, wall, count);
}

static void herds(bench_table *t)
{
    first_mark_herd(t, "first_mark_herd", "first_mark_herd_wall", "simple");
    first_mark_herd(t, "first_mark_herd_slow", "first_mark_herd_slow_wall",
                    BENCH_START_SLOW ",simple");
}

/* ---- Memory -------------------------------------------------------------- */

double bench_resident_bytes(void)
{
    char line[256];
    double kib = BENCH_EMPTY;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Rss:", 4) == 0)
            kib = strtod(line + 4, NULL);
    if (f)
        fclose(f);
    return kib * 1024;
}

static void mark_many(uint64_t scopes)
{
    for (uint64_t i = 0; i < scopes / 10; i++) {
        GNOMON_SCOPE("outer");
        for (int k = 0; k < 9; k++) {
            GNOMON_SCOPE("inner");
            BENCH_FENCE();
        }
    }
}

/* Prints by how much memory grew from 10^5 scopes to `scopes`. */
int bench_rss(uint64_t scopes)
{
    if (gnomon_attach(NULL, NULL, "simple,file=/dev/null"))
        return 2;
    bench_resident_bytes();
    mark_many(100000);
    double before = bench_resident_bytes();
    mark_many(scopes - 100000);
    printf("%.0f\n", bench_resident_bytes() - before);
    return 0;
}

static void memory(bench_table *t)
{
    char command[512];
    double bytes = BENCH_EMPTY;
    const char *soak = getenv("GNOMON_SOAK");
    snprintf(command, sizeof command, "'%s' --rss %s", bench_self(),
             soak && *soak            ? "1000000000"
             : bench_effort_now.smoke ? "200000"
                                      : "10000000");
    FILE *f = popen(command, "r");
    if (f && fscanf(f, "%lf", &bytes) != 1)
        bytes = BENCH_EMPTY;
    if (f)
        pclose(f);
    put_one(t, "rss_growth_bytes", bytes);
}

/* ---- Size ---------------------------------------------------------------- */

/* Of an ELF file: bytes that are loaded and not writable, and its thread-locals. */
static void sizes(const char *path, double *text, double *tls)
{
    struct stat info;
    *text = *tls = BENCH_EMPTY;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info))
        return;
    const char *file =
        mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return;
    const ElfW(Ehdr) *elf = (const void *)file;
    const ElfW(Shdr) *section = (const void *)(file + elf->e_shoff);
    const ElfW(Phdr) *segment = (const void *)(file + elf->e_phoff);
    *text = *tls = 0;
    for (int i = 0; i < elf->e_shnum; i++)
        if ((section[i].sh_flags & (SHF_ALLOC | SHF_WRITE)) == SHF_ALLOC)
            *text += (double)section[i].sh_size;
    for (int i = 0; i < elf->e_phnum; i++)
        if (segment[i].p_type == PT_TLS)
            *tls = (double)segment[i].p_memsz;
    union {
        const char *read;
        void *mapped;
    } whole = {file};
    munmap(whole.mapped, (size_t)info.st_size);
}

/* Shared: the size of the library. Static: what it adds to the tiny program. */
static void size(bench_table *t)
{
    double text, tls, plain_text = 0, plain_tls = 0;
    if (strcmp(BENCH_LINKAGE, "static") == 0) {
        sizes(BENCH_START "_static", &text, &tls);
        sizes(BENCH_START "_plain", &plain_text, &plain_tls);
    } else {
        Dl_info info;
        union {
            const char *(*function)(void);
            void *address;
        } symbol = {gnomon_version};
        if (!dladdr(symbol.address, &info))
            return;
        sizes(info.dli_fname, &text, &tls);
    }
    put_one(t, "text_bytes", text - plain_text);
    put_one(t, "static_tls_bytes", tls - plain_tls);
}

void bench_measure_lone(bench_table *t)
{
    first_marks(t);
    start_up(t);
    herds(t);
    memory(t);
    bench_measure_stages(t);
    bench_measure_footer(t);
    bench_measure_snapshots(t);
    bench_measure_ends(t);
    size(t);
}

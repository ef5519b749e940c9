/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Instructions of a pair. The program runs itself under callgrind, which writes a
 * count each time bench_count_mark is called. A run of n2 pairs minus a run of n1
 * is exactly n2 - n1 pairs. The least of several is taken, because a clock that
 * jumps makes marks take slow paths.
 *
 * Each run makes its two threads; their cost cancels out. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

#define RUNS 3
#define SHORT 128u /* pairs, at least */
#define LONG 16u   /* times that */

/* The most instructions of a pair. They catch growth; goals.c has the goals. */
static const struct {
    const char *name;
    int threads;          /* two new ones change their tapes' blocks often */
    double shared, fixed; /* of the shared library, and of the static one */
    const char *of;       /* they are times this row's, as goals.c has them */
} limits[] = {
    {"simple_scope", 2, 93, 89, NULL},
    {"op_scope", 1, 420, 420, NULL},
    {"trace_scope", 1, 105, 101, NULL},
    {"simple_and_trace", 1, 105, 101, NULL},
    {"tree_and_window", 1, 0, 175, NULL},
    /* With 34 for strcmp where a text is at the end of a page. */
    {"simple_byname", 1, 245, 245, NULL},
    {"trace_byname", 1, 1.2, 1.2, "simple_byname"},
    {"steps_byname", 1, 1.2, 1.2, "simple_byname"},
    {"hook_byname", 1, 1.2, 1.2, "simple_byname"},
    {"range", 1, 280, 280, NULL},
    {"tree_and_hook", 1, 385, 385, NULL},
    {"both_byname", 1, 500, 500, NULL},
    {"views_byname", 1, 560, 560, NULL},
    {"changing_buffer", 1, 390, 390, NULL},
    {"buffer_and_hook", 1, 450, 450, NULL},
};

typedef struct counted {
    const bench_row *row;
    int threads;
    uint64_t pairs[2];
} counted;

/* ---- Inside callgrind ---------------------------------------------------- */

void bench_count_mark(void);

__attribute__((noinline)) void bench_count_mark(void)
{
    BENCH_FENCE();
}

static void *count_thread(void *argument)
{
    const counted *c = argument;
    near_enter();
    far_enter();
    c->row->pairs(c->pairs[0]);
    near_leave();
    far_leave();
    return NULL;
}

static void count_run(const counted *c, uint64_t pairs)
{
    counted once = *c;
    pthread_t thread[2];
    once.pairs[0] = pairs;
    if (c->threads == 1) {
        c->row->pairs(pairs);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(thread + i, NULL, count_thread, &once))
            exit(2);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void count_row(const bench_row *row, FILE *list)
{
    uint64_t rounds = (SHORT + row->sites - 1) / row->sites;
    for (int threads = 1; threads <= (row->record == BENCH_HALF ? 1 : 2);
         threads++) {
        counted c = {row, threads, {rounds * row->sites, 0}};
        c.pairs[1] = LONG * c.pairs[0];
        count_run(&c, c.pairs[1]);
        for (int i = 0; i < RUNS; i++) {
            for (int k = 0; k < 2; k++) {
                bench_count_mark();
                count_run(&c, c.pairs[k]);
            }
        }
        bench_count_mark();
        fprintf(list, "%s %d %llu %llu\n", row->name, threads,
                (unsigned long long)c.pairs[0], (unsigned long long)c.pairs[1]);
    }
}

static int is_among(const char *name, const char *what)
{
    if (strcmp(what, "few") != 0)
        return 1;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(name, limits[i].name) == 0)
            return 1;
    return strcmp(name, "Fa") == 0 || strcmp(name, "off_scope") == 0;
}

static void count_rows(const bench_row *rows, size_t count, const char *what,
                       FILE *list)
{
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        int entered = 0;
        if (mode == BENCH_CUDA) /* instructions of the reader would count too */
            continue;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].mode != mode || !is_among(rows[i].name, what))
                continue;
            if (!entered++)
                bench_mode_enter(mode);
            count_row(rows + i, list);
        }
    }
    bench_mode_enter(BENCH_OFF);
}

int bench_count_inside(const char *what, const char *path)
{
    FILE *list = fopen(path, "w");
    if (!list)
        return 2;
    count_rows(bench_floors, bench_floor_count, what, list);
    if (strcmp(what, "plants") == 0)
        count_rows(bench_plants, bench_plant_count, what, list);
    else
        count_rows(bench_marks, bench_mark_count, what, list);
    if (strcmp(what, "all") == 0) {
        bench_register_many();
        count_rows(bench_late, bench_late_count, what, list);
    }
    return fclose(list) ? 2 : 0;
}

/* ---- Outside ------------------------------------------------------------- */

int bench_run_program(const char *const argv[], int quiet)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    union { /* posix_spawn does not write to argv, but its type lacks const */
        const char *const *given;
        char *const *taken;
    } arguments = {argv};
    int code =
        posix_spawnp(&pid, argv[0], &actions, NULL, arguments.taken, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What dump `number` counted; NaN: there is none. */
static double read_dump(const char *folder, int number)
{
    char text[512];
    double value = BENCH_EMPTY;
    snprintf(text, sizeof text, "%s/out.%d", folder, number);
    FILE *f = fopen(text, "r");
    while (f && fgets(text, sizeof text, f)) {
        const char *at = strstr(text, "summary: ");
        if (at == text || (at = strstr(text, "totals: ")) == text)
            value = strtod(strchr(at, ' '), NULL);
    }
    if (f)
        fclose(f);
    return value;
}

/* Dump k ends what began at mark k - 1; a row makes 2 RUNS + 1 marks. */
static int take_counts(bench_table *t, const char *folder, const char *list)
{
    char name[32];
    int threads, dump = 1, missing = 0;
    unsigned long long pairs[2];
    FILE *f = fopen(list, "r");
    if (!f)
        return -1;
    while (fscanf(f, "%31s %d %llu %llu", name, &threads, pairs, pairs + 1) ==
           4) {
        double least[2] = {DBL_MAX, DBL_MAX};
        for (int i = 0; i < 2 * RUNS; i++)
            least[i % 2] = fmin(least[i % 2], read_dump(folder, ++dump));
        dump++;
        double each = (least[1] - least[0]) / (double)(pairs[1] - pairs[0]);
        if (least[0] < DBL_MAX && least[1] < DBL_MAX)
            bench_own(t, name, threads)->instructions = each / threads;
        else
            missing = -1;
    }
    fclose(f);
    return missing;
}

static void remove_dumps(const char *folder, const char *list)
{
    char path[96];
    int dump = 0;
    do
        snprintf(path, sizeof path, "%s/out.%d", folder, ++dump);
    while (remove(path) == 0);
    snprintf(path, sizeof path, "%s/out", folder);
    remove(path);
    remove(list);
    rmdir(folder);
}

int bench_count(bench_table *t, const char *what)
{
    char folder[] = "/tmp/gnomon-bench-XXXXXX";
    char list[64], out[96];
    if (!mkdtemp(folder))
        return -1;
    snprintf(list, sizeof list, "%s/list", folder);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", folder);
    const char *argv[] = {"valgrind",   "--tool=callgrind",
                          out,          "--dump-before=bench_count_mark",
                          bench_self(), "--count-inside",
                          what,         list,
                          NULL};
    int code = bench_run_program(argv, 1);
    if (code == 0)
        code = take_counts(t, folder, list);
    remove_dumps(folder, list);
    if (code)
        fprintf(stderr, "bench: no instruction counts: valgrind is not here, "
                        "or cannot run this program\n");
    return code ? -1 : 0;
}

static int guard_limits(bench_table *t, int threads)
{
    int is_shared = strcmp(BENCH_LINKAGE, "shared") == 0, bad = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        double most = is_shared ? limits[i].shared : limits[i].fixed;
        if (limits[i].of)
            most *= bench_own(t, limits[i].of, threads)->instructions;
        if (most == 0 || threads > limits[i].threads)
            continue;
        double n = bench_own(t, limits[i].name, threads)->instructions;
        printf("  %s %.1f (at most %.0f)\n", limits[i].name, n, most);
        bad |= !(n > 20 && n < most + 0.25);
    }
    return bad;
}

/* For ctest: limits that catch growth. Not all iterations are equal: they differ by
 * some hundredths. */
int bench_guard(bench_table *t)
{
    if (bench_count(t, "few"))
        return 77;
    int bad = 0;
    for (int threads = 1; threads <= 2; threads++) {
        double fa = bench_own(t, "Fa", threads)->instructions;
        double off = bench_own(t, "off_scope", threads)->instructions;
        printf("%s, %d thread(s): Fa %.2f, off_scope %.2f (as many)\n",
               BENCH_LINKAGE, threads, fa, off);
        bad |= !(fabs(off - fa) < 0.25);
        bad |= guard_limits(t, threads);
    }
    return bad;
}

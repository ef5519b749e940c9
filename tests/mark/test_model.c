/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random programs of marks, run by the library and by the model. A seed
 * repeats one. A failing program is reduced to the operations that matter,
 * and printed.
 *
 * links: testing
 * timeout: 600 */
#include <stdlib.h>

#include "model_program.h"

#define SHORT_PROGRAMS 3000
#define SOAK_PROGRAMS 2000000
#define PARTS 4 /* of the short ones, so that they may run at once */
#define MOST 256

static uint64_t dice, seed;
static char left_out[MOST + 1]; /* 'x': that operation is left out */

static uint32_t roll(uint32_t below)
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(dice >> 33) % below;
}

static int rolled_out(void)
{
    return 0;
}

static void roll_for(uint32_t operation)
{
    dice = (seed * 0x9e3779b97f4a7c15ull) ^
           ((uint64_t)operation + 1) * 0xbf58476d1ce4e5b9ull;
    dice ^= dice >> 29;
    (void)roll(2);
}

static int is_left_out(uint32_t operation)
{
    return operation < MOST && left_out[operation] == 'x';
}

static int may_fork(void)
{
    return 1;
}

/* ---- A shorter program that fails too ------------------------------------------------- */

static char said[64]; /* a file: the output of the last one */

/* In a process of its own: it may crash. */
static int fails_without(const char *out, int is_shown)
{
    char number[32];
    int status = 0;
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("MODEL_SEED", number, 1);
        setenv("MODEL_LEFT_OUT", out, 1);
        if (!is_shown)
            setenv("MODEL_QUIET", said, 1);
        execl("/proc/self/exe", "test", TEST_SUITE "one_program", (char *)0);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

/* The first line of it: which check. */
static void read_said(char *line, size_t size)
{
    FILE *f = fopen(said, "r");
    *line = 0;
    if (f && !fgets(line, (int)size, f))
        *line = 0;
    if (f)
        fclose(f);
}

static int fails_alike(const char *out, const char *line)
{
    char its[256];
    if (!fails_without(out, 0))
        return 0;
    read_said(its, sizeof its);
    return strcmp(its, line) == 0;
}

static void shorten(void)
{
    char best[MOST + 1], trial[MOST + 1], line[256];
    snprintf(said, sizeof said, "/tmp/gnomon-model-%d.txt", (int)getpid());
    memset(best, '.', MOST);
    best[MOST] = 0;
    if (!fails_without(best, 0)) {
        fprintf(stderr, "program %llu fails only after others\n",
                (unsigned long long)seed);
        unlink(said);
        return;
    }
    read_said(line, sizeof line);
    for (size_t size = MOST / 2; size; size /= 2)
        for (size_t at = 0; at < MOST; at += size) {
            memcpy(trial, best, sizeof trial);
            memset(trial + at, 'x', size);
            if (memcmp(trial, best, MOST) != 0 && fails_alike(trial, line))
                memcpy(best, trial, sizeof best);
        }
    unlink(said);
    fprintf(stderr, "MODEL_SEED=%llu MODEL_LEFT_OUT=%s: what remains:\n",
            (unsigned long long)seed, best);
    fails_without(best, 1);
}

/* ---- Programs ---------------------------------------------------------------------------- */

static void end_world(void)
{
    for (int i = 1; i < MODEL_THREADS; i++)
        end_worker(i);
}

static int one(void)
{
    roll_for(UINT32_MAX - 1);
    return run_program();
}

/* Of $MODEL_SEED, as above. */
TEST(one_program)
{
    const char *number = getenv("MODEL_SEED"), *out = getenv("MODEL_LEFT_OUT");
    if (getenv("MODEL_QUIET") && !freopen(getenv("MODEL_QUIET"), "w", stderr))
        return;
    seed = number ? strtoull(number, NULL, 10) : 1;
    snprintf(left_out, sizeof left_out, "%s", out ? out : "");
    is_told = number && !getenv("MODEL_QUIET");
    if (world_start())
        one();
    end_world();
}

static void run_programs(uint64_t first, uint64_t count)
{
    if (!world_start())
        return;
    for (seed = first; seed < first + count; seed++) {
        if (!one())
            break;
        world_tidy();
    }
    /* A run's memory is freed: programs need 520 KB, however many. */
    CHECK(health_now().mapped_bytes < 2 << 20);
    end_world();
    if (test_failures)
        fprintf(stderr, "program %llu fails\n", (unsigned long long)seed);
    if (test_failures && !getenv("MODEL_NO_SHORTER"))
        shorten();
}

/* From seed $MODEL_FIRST on, if it is set. */
static void run_part(uint64_t part)
{
    const char *first = getenv("MODEL_FIRST");
    int is_soak = getenv("GNOMON_SOAK") != NULL;
    uint64_t count = is_soak ? SOAK_PROGRAMS : SHORT_PROGRAMS / SHARE;
    run_programs(first ? strtoull(first, NULL, 10) : 1 + part * SOAK_PROGRAMS,
                 count / PARTS);
}

TEST(soak_random_programs)
{
    run_part(0);
}

TEST(soak_more_random_programs)
{
    run_part(1);
}

TEST(soak_random_programs_of_a_third_part)
{
    run_part(2);
}

TEST(soak_the_last_random_programs)
{
    run_part(3);
}

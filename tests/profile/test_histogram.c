/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Histograms: which cell a duration belongs to, that recorded ones land there,
 * and quantiles of known distributions within the stated 6.3 %.
 * links: testing
 * threads: none */
#include <math.h>
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- Cells ------------------------------------------------------------------------- */

/* The boundaries, written out: one ns each to 32, then 16 to the octave. */
TEST(cells_are_what_the_format_says)
{
    uint64_t low = 0, width = 1;
    for (uint32_t cell = 0; cell < 975; cell++) {
        CHECK_EQ(gnomon_cell_low(cell), low);
        CHECK_EQ(gnomon_cell_of(low), cell);
        CHECK_EQ(gnomon_cell_of(low + width - 1), cell);
        CHECK_EQ(gnomon_cell_of(low + width / 2), cell);
        low += width;
        if (cell >= 31 && cell % 16 == 15)
            width *= 2;
    }
    CHECK_EQ(low, 31ull << 59);
    CHECK_EQ(gnomon_cell_of(UINT64_MAX), 975);
    CHECK_EQ(gnomon_cell_of(0), 0);
}

static void check_cells(const gnomon_stats *s, const uint64_t *ns, int n)
{
    static uint64_t expected[1024];
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < n; i++)
        expected[gnomon_cell_of(ns[i])]++;
    for (size_t i = 0; i < s->cell_count; i++) {
        CHECK_EQ(s->cells[i].count, expected[s->cells[i].cell]);
        expected[s->cells[i].cell] = 0;
    }
    for (int i = 0; i < 1024; i++)
        CHECK_EQ(expected[i], 0);
}

/* Durations of all sizes, in an order that moves the histogram's window;
 * compared after each, as first and second executions are stored
 * differently. */
TEST(recorded_durations_land_in_their_cells)
{
    uint64_t ns[300];
    attach_probe();
    for (int i = 0; i < 300; i++) {
        ns[i] = random_bits() >> (10 + random_bits() % 54);
        if (i < 4)
            ns[i] = i & 1 ? 0 : 1ull << 40;
        gnomon_token t = gnomon_begin(region("a"));
        pass(ns[i]);
        gnomon_end(t);
        if (i > 5 && i % 37)
            continue;
        gnomon_profile *p = profile_of("probe", 0);
        gnomon_stats s = stats_at(p, "a");
        CHECK_EQ(s.count, i + 1);
        check_cells(&s, ns, i + 1);
        gnomon_profile_free(p);
    }
}

/* ---- Quantiles ----------------------------------------------------------------------- */

#define SAMPLES 20000

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Records the samples; every quantile is within a cell of the exact one. */
static void check_quantiles(const char *name, uint64_t *ns, int n)
{
    static const double q[] = {0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1};
    for (int i = 0; i < n; i++) {
        gnomon_start(name);
        pass(ns[i]);
        gnomon_stop(name);
    }
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_stats s = stats_at(p, name);
    qsort(ns, (size_t)n, sizeof *ns, by_size);
    CHECK_EQ(s.count, n);
    CHECK_EQ(s.min_ns, ns[0]);
    CHECK_EQ(s.max_ns, ns[n - 1]);
    for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
        int rank = (int)ceil(q[i] * n);
        double exact = (double)ns[rank ? rank - 1 : 0];
        double got = (double)gnomon_quantile_ns(&s, q[i]);
        if (!CHECK(fabs(got - exact) <= 0.063 * exact + 0.5))
            fprintf(stderr, "    %s q %g: %g, not %g\n", name, q[i], got,
                    exact);
    }
    gnomon_profile_free(p);
}

TEST(quantiles_of_known_distributions)
{
    static uint64_t ns[SAMPLES];
    attach_probe();
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = (uint64_t)i;
    check_quantiles("uniform", ns, SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = (uint64_t)exp(20.0 * i / SAMPLES);
    check_quantiles("log-uniform", ns, SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = (uint64_t)(-1e6 * log((i + 0.5) / SAMPLES));
    check_quantiles("exponential", ns, SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = 123456789;
    check_quantiles("constant", ns, SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = i % 10 ? 100 : 1000000;
    check_quantiles("two peaks", ns, SAMPLES);
    ns[0] = 77777;
    check_quantiles("once", ns, 1);
    ns[0] = 5;
    ns[1] = 1ull << 50;
    check_quantiles("two", ns, 2);
}

TEST(quantiles_of_nothing)
{
    gnomon_stats none = {sizeof none, 0, 0, 0, 0, 0, 0, NULL, 0};
    CHECK_EQ(gnomon_quantile_ns(&none, 0.5), 0);
}

/* The clock of another processor may be a little behind: the duration is 0
 * then. */
TEST(a_clock_that_goes_back)
{
    pass(1000);
    attach_probe();
    for (int i = 0; i < 3; i++) {
        gnomon_token t = gnomon_begin(region("a"));
        gnomon__test_pass(-(uint64_t)10);
        gnomon_end(t);
        gnomon_start("b");
        gnomon__test_pass(-(uint64_t)1);
        gnomon_stop("b");
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 3, 0, 0);
    CHECK_NODE(p, "b", 3, 0, 0);
    gnomon_profile_free(p);
}

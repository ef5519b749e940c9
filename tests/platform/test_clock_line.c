/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * threads: none
 * The conversion of ticks to ns, with simulated clocks: it stays close to
 * CLOCK_MONOTONIC, never goes back, and never changes the time of a moment. */
#include "clock_world.h"

/* ---- Close to CLOCK_MONOTONIC -------------------------------------------- */

/* Drift with the temperature: within 0.1 ppm, some hundredths of it a
 * second, in a wave of minutes. */
static double live_and_wander(world *w, uint64_t ns, uint64_t every)
{
    double worst = 0, mean = w->drift;
    for (uint64_t at = 0; at < ns; at += SECOND) {
        double wave = sin((double)at / (200.0 * SECOND)) * 8e-8;
        double noise = ((double)(world_random(w) % 2001) - 1000) * 2e-11;
        w->drift = mean + wave + noise;
        world_live(w, SECOND, every);
        worst = w->worst > worst ? w->worst : worst;
    }
    return worst;
}

TEST(hours_of_conversions)
{
    world *w = world_create(1);
    world_begin(w);
    CHECK(live_and_wander(w, 3 * HOUR, 50 * MS) <= NEAR + w->error_ns);
    CHECK(w->anchors < 3 * 3600 * 5);
    CHECK(w->line.count > GNOMON__LINE_PIECES / 2); /* it was merged */
    CHECK(world_stated(w) < 5000);
    check_log(w);
    free(w);
}

/* The first ms of a run, in which the rate is known worst. */
TEST(from_the_first_moment_on)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        world *w = world_create(seed);
        world_begin(w);
        world_pass(w, 1 + world_random(w) % 1000000);
        CHECK(world_live(w, 20 * MS, 10000) <= NEAR + w->error_ns);
        CHECK(world_live(w, 2 * SECOND, MS) <= NEAR + w->error_ns);
        CHECK_EQ(world_changed(w), 0);
        free(w);
    }
}

/* Only a thread takes anchors. A conversion at the end is exact. */
TEST(converted_at_the_end)
{
    static const uint64_t distances[] = {100000, MS, SECOND, HOUR};
    for (size_t d = 0; d < 4; d++) {
        static uint64_t ticks[2000], ns[2000];
        world *w = world_create(d);
        w->drift += d == 3 ? 4e-4 : 0;
        world_begin(w);
        for (int i = 0; i < 2000; i++) {
            world_pass(w, distances[d] / 2);
            ticks[i] = world_ticks(w);
            ns[i] = world_ns(w);
            world_pass(w, distances[d] / 2);
            world_draw(w);
        }
        for (int i = 0; i < 2000; i++) {
            double off =
                (double)gnomon__line_ns(&w->line, ticks[i]) - (double)ns[i];
            CHECK(fabs(off) <= NEAR + w->error_ns);
        }
        free(w);
    }
}

/* Interrupts between two reads make an anchor worthless, not the line. */
TEST(anchors_with_errors_of_50_us)
{
    world *w = world_create(2);
    w->spike_ns = 50000;
    world_begin(w);
    CHECK(world_live(w, HOUR / 2, 20 * MS) <= NEAR + w->error_ns);
    check_log(w);
    w->error_ns = 50000; /* all of them */
    CHECK(world_live(w, 60 * SECOND, MS) <= NEAR + w->error_ns);
    free(w);
}

/* A counter of 1 GHz that stands still for 32 ns, or 1 us, and one of 25
 * MHz. */
TEST(counters_that_move_in_steps)
{
    static const struct {
        double ghz, error_ns;
        uint64_t step;
    } kinds[] = {{1, 25, 32}, {1, 25, 1000}, {0.025, 40, 0}};
    for (size_t i = 0; i < 3; i++) {
        world *w = world_create(i);
        w->ghz = kinds[i].ghz;
        w->step = kinds[i].step;
        w->error_ns = kinds[i].error_ns;
        world_begin(w);
        /* A read is behind by a step, and so is an anchor. */
        double own = w->error_ns + 2 * (double)w->step;
        CHECK(world_live(w, SECOND, 50000) <= NEAR + own);
        CHECK(world_live(w, HOUR / 4, 10 * MS) <= NEAR + own);
        check_log(w);
        w->slew =
            5e-4; /* the rate is known late, and the line does not wait for it */
        world_live(w, 5 * SECOND, MS);
        CHECK(world_live(w, 5 * SECOND, MS) <= NEAR + own);
        free(w);
    }
}

/* NTP slews by 500 ppm at most. The next anchor, 250 ms later, shows it, and
 * the line is corrected from there. */
TEST(slews_of_the_systems_clock)
{
    static const double slews[] = {5e-4, 0, -5e-4, 5e-4};
    world *w = world_create(3);
    world_begin(w);
    world_live(w, 10 * SECOND, MS);
    for (size_t i = 0; i < 40; i++) {
        double change = fabs(slews[i % 4] - w->slew);
        w->slew = slews[i % 4];
        CHECK(world_live(w, 2 * SECOND, MS) <= change * 0.3 * SECOND + NEAR);
        CHECK(world_live(w, 2 * SECOND, MS) <= NEAR + w->error_ns);
        CHECK(gnomon__line_rate(&w->line, 0, world_ticks(w)) > 0);
    }
    check_log(w);
    free(w);
}

/* ---- Rates --------------------------------------------------------------- */

/* Sums of parts by one rate: no more than the whole, and nearly all of it. */
TEST(parts_never_exceed_the_whole_line)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        world *w = world_create(seed);
        w->slew = (double)(seed % 11) * 1e-4 - 5e-4;
        world_begin(w);
        world_pass(w, 1000);
        for (int i = 0; i < 100; i++) {
            world_ask(w);
            uint64_t from = world_ticks(w), begin = world_ask(w), parts = 0;
            w->slew = -w->slew;
            world_live(w, world_random(w) % (SECOND >> i % 30) + 10, SECOND);
            uint64_t to = world_ticks(w), whole = world_ask(w) - begin;
            uint64_t rate = gnomon__line_rate(&w->line, from, to);
            uint64_t cut = from + world_random(w) % (to - from);
            parts += gnomon__line_scale(cut - from, rate);
            parts += gnomon__line_scale(to - cut, rate);
            CHECK(parts <= whole);
            CHECK(whole - parts <= 3 + whole / 1000000);
        }
        free(w);
    }
}

/* A clock whose ticks are ns needs no anchors. */
TEST(a_line_that_is_exact)
{
    gnomon__line line;
    gnomon__anchor a = {5000, 77, 1};
    gnomon__line_begin_exact(&line, 1000);
    CHECK_EQ(gnomon__line_add(&line, &a, 9000), 0);
    CHECK_EQ(gnomon__line_ns(&line, 999), 0);
    CHECK_EQ(gnomon__line_ns(&line, 12345), 11345);
    CHECK_EQ(gnomon__line_ns(&line, UINT64_MAX - 1), UINT64_MAX - 1001);
    CHECK_EQ(gnomon__line_rate(&line, 1000, 2000), 1ll << GNOMON__CLOCK_SHIFT);
    CHECK_EQ(gnomon__line_rate(&line, 2000, 1000), 1ll << GNOMON__CLOCK_SHIFT);
}

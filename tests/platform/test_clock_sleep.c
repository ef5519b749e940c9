/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * threads: none
 * The line from ticks to ns where the machine slept, its counter began again,
 * stood still, or changed its rate: what ran while it was awake is measured
 * as if nothing had happened. */
#include "clock_world.h"

/* ---- The machine sleeps -------------------------------------------------- */

/* The duration of 1 ms of ticks, by the rate since `from`. */
static void check_scope_by_rate(world *w, uint64_t from, double most)
{
    uint64_t rate = gnomon__line_rate(&w->line, from, world_ticks(w));
    double ticks = w->ghz * (1 + w->drift) * MS;
    double d = (double)gnomon__line_scale((uint64_t)ticks, rate);
    CHECK(fabs(d - MS) <= most);
}

/* A scope of 1 ms that begins now, by conversions at its ends, and by the
 * rate of the whole run. */
static void check_a_scope(world *w, uint64_t run_began)
{
    uint64_t begin = world_ask(w), ticks = world_ticks(w);
    world_pass(w, MS);
    double d = (double)(world_ask(w) - begin);
    CHECK(fabs(d - MS) <= 600); /* 500 ppm, and rounding */
    uint64_t rate = gnomon__line_rate(&w->line, run_began, world_ticks(w));
    d = (double)gnomon__line_scale(world_ticks(w) - ticks, rate);
    CHECK(fabs(d - MS) <= 10);
}

static void sleep_8_hours(world *w, int resets)
{
    w->drift = 2e-7;
    world_begin(w);
    uint64_t began = world_ticks(w);
    world_live(w, HOUR / 2, 10 * MS);
    check_a_scope(w, began);
    uint64_t before = world_ask(w), begin_ticks = world_ticks(w);
    world_pass(w, 10 * MS);
    if (resets)
        world_sleep_and_reset(w);
    else
        world_sleep(w, 8 * HOUR);
    world_pass(w, 700 * MS); /* until the next conversion */
    uint64_t after = world_ask(w);
    CHECK(fabs((double)(after - before) - 710 * MS) <= 300000);
    CHECK_EQ(gnomon__line_ns(&w->line, begin_ticks), before); /* still open */
    world_live(w, 2 * SECOND, MS);
    check_a_scope(w, began);
    CHECK(world_live(w, HOUR / 2, 10 * MS) <= NEAR + w->error_ns);
    check_a_scope(w, began);
    CHECK(fabs((double)world_ask(w) - (double)HOUR) < 4 * SECOND);
    CHECK(gnomon__line_ns(&w->line, began) <= 2 * 25);
    check_log(w);
}

TEST(eight_hours_of_sleep_while_the_counter_advances)
{
    world *w = world_create(4);
    sleep_8_hours(w, 0);
    free(w);
}

TEST(eight_hours_of_sleep_and_a_counter_that_begins_again)
{
    world *w = world_create(5);
    sleep_8_hours(w, 1);
    free(w);
}

/* Anchors at the ends of a run only: the line rises at the known rate, and is
 * flat then. */
TEST(sleep_between_two_anchors_of_a_run)
{
    world *w = world_create(6);
    world_begin(w);
    world_live(w, 5 * SECOND, MS);
    uint64_t began = world_ticks(w);
    world_pass(w, HOUR / 2);
    uint64_t asleep = world_ticks(w);
    world_sleep(w, 8 * HOUR);
    world_pass(w, HOUR / 2);
    world_draw(w);
    double d = (double)gnomon__line_ns(&w->line, asleep) - 1805.0 * SECOND;
    CHECK(fabs(d) < 5 * MS); /* what 1 ppm is in that time */
    d = (double)gnomon__line_ns(&w->line, world_ticks(w) - 1000);
    CHECK(fabs(d - 3605.0 * SECOND) < 1000);
    uint64_t rate = gnomon__line_rate(&w->line, began, world_ticks(w) - 1000);
    double ms = (double)gnomon__line_scale((uint64_t)(w->ghz * MS), rate);
    CHECK(fabs(ms - MS) < 20); /* 10 ppm, its drift, and more */
    free(w);
}

/* Shorter than the range that is converted already: that part stays, and the
 * line returns slowly, to keep durations right. */
TEST(sleep_shorter_than_the_converted_range)
{
    world *w = world_create(14);
    world_begin(w);
    world_live(w, 5 * SECOND, MS);
    for (uint64_t n = w->anchors; w->anchors == n;)
        world_live(w, MS, MS);
    world_sleep(w, 100 * MS);
    CHECK(world_live(w, SECOND, MS) < 110 * MS);
    for (int i = 0; i < 100; i++) {
        uint64_t begin = world_ask(w);
        world_pass(w, 100 * MS);
        CHECK(fabs((double)(world_ask(w) - begin) - 100 * MS) < 55000);
    }
    /* And long, while the line is still ahead. */
    world_sleep(w, 8 * HOUR);
    world_live(w, 10 * SECOND, MS);
    check_log(w);
    world_live(w, 200 * SECOND, 10 * MS);
    CHECK(world_live(w, SECOND, MS) <= NEAR + w->error_ns);
    check_log(w);
    free(w);
}

/* Each in an epoch of its own: an open scope of one before the last. */
TEST(scopes_of_epochs_that_are_over)
{
    uint64_t begin[8], told_ns[8];
    world *w = world_create(7);
    world_begin(w);
    for (uint64_t i = 0; i < 8; i++) {
        world_live(w, (20 - i) * SECOND, MS); /* each shorter */
        begin[i] = world_ticks(w);
        told_ns[i] = world_ask(w);
        world_pass(w, 300 * MS);
        world_sleep_and_reset(w);
        world_pass(w, MS);
        world_ask(w);
        for (uint64_t k = 0; k <= i; k++)
            CHECK_EQ(gnomon__line_ns(&w->line, begin[k]), told_ns[k]);
    }
    /* Sleep after anchors, without conversions. */
    world_draw(w);
    world_sleep(w, HOUR);
    uint64_t before = world_ns(w);
    world_pass(w, SECOND);
    double d = (double)(world_ask(w) - before);
    CHECK(fabs(d - (double)SECOND) < NEAR);
    /* A scope without conversions, that began after the last anchor. */
    world_live(w, SECOND, MS);
    world_draw(w);
    uint64_t ns = world_ns(w), late;
    world_pass(w, 400 * MS);
    late = world_ticks(w);
    world_sleep_and_reset(w);
    world_pass(w, 200 * MS);
    world_ask(w);
    d = (double)gnomon__line_ns(&w->line, late) - (double)ns;
    CHECK(fabs(d - 400 * MS) < 1000);
    free(w);
}

/* More often than there are pieces. */
TEST(sleeps_day_after_day)
{
    for (int resets = 0; resets < 2; resets++) {
        world *w = world_create(8);
        world_begin(w);
        uint64_t zero = world_ticks(w);
        for (int day = 0; day < 300; day++) {
            uint64_t today = world_ticks(w);
            world_live(w, 3 * SECOND, 10 * MS);
            w->drift = (day % 5) * 1e-6; /* makes pieces */
            world_live(w, SECOND, 10 * MS);
            check_scope_by_rate(w, resets ? today : zero, 600);
            if (resets)
                world_sleep_and_reset(w);
            else
                world_sleep(w, 8 * HOUR);
        }
        CHECK(world_live(w, 3 * SECOND, 10 * MS) < 500 * MS);
        CHECK(world_live(w, SECOND, 10 * MS) <= NEAR + w->error_ns);
        CHECK(w->line.count <= GNOMON__LINE_PIECES);
        free(w);
    }
}

/* ---- Unusual counters ---------------------------------------------------- */

/* The guest was stopped, and its counter with it: time jumps, rates do not. */
TEST(a_counter_that_stood_still)
{
    world *w = world_create(9);
    world_begin(w);
    world_live(w, 5 * SECOND, MS);
    uint64_t before = world_ask(w), began = world_ticks(w);
    world_pass(w, 100 * MS);
    w->monotonic += (fine)(20 * SECOND) << 40;
    world_pass(w, 400 * MS); /* more than the converted range */
    double d = (double)(world_ask(w) - before);
    CHECK(fabs(d - 20.5 * SECOND) < NEAR + w->error_ns);
    CHECK(world_live(w, 5 * SECOND, MS) <= NEAR + w->error_ns);
    uint64_t rate = gnomon__line_rate(&w->line, began, world_ticks(w));
    d = (double)gnomon__line_scale((uint64_t)(w->ghz * MS), rate);
    CHECK(fabs(d - MS) < 20);
    check_log(w);
    free(w);
}

/* A guest moved to a host with another counter: after some anchors its rate
 * is used. */
TEST(a_permanent_change_of_rate)
{
    static const double clocks[] = {2.0, 3.1, 2.6};
    world *w = world_create(10);
    world_begin(w);
    for (size_t i = 0; i < 3; i++) {
        world_live(w, 5 * SECOND, MS);
        w->ghz = clocks[i];
        world_live(w, 30 * SECOND, MS);
        double d =
            (double)gnomon__line_scale((uint64_t)(w->ghz * MS), w->line.rate);
        CHECK(fabs(d - MS) < 20);
    }
    world_live(w, 600 * SECOND, 10 * MS);
    CHECK(world_live(w, SECOND, MS) <= NEAR + w->error_ns);
    check_log(w);
    free(w);
}

/* Read on a core whose counter is behind: no new epoch, nothing below zero. */
TEST(cores_that_are_behind_one_another)
{
    world *w = world_create(11);
    world_begin(w);
    world_live(w, SECOND, MS);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t behind = (uint64_t)(w->ghz * (double)(world_random(w) % MS));
        world_pass(w, 100000);
        uint64_t ns = gnomon__line_ns(&w->line, world_ticks(w) - behind);
        CHECK(ns <= world_ask(w));
        if (i % 2500 == 0) {
            gnomon__anchor a = world_anchor(w);
            a.ticks -= behind;
            gnomon__line_add(&w->line, &a, 0);
        }
    }
    CHECK_EQ(w->line.epoch, 0);
    CHECK_EQ(gnomon__line_ns(&w->line, UINT64_MAX),
             gnomon__line_ns(&w->line, w->line.limit));
    CHECK_EQ(gnomon__line_ns(&w->line, 0), 0);
    CHECK_EQ(gnomon__line_ns(&w->line, w->first_ticks - 1), 0);
    check_log(w);
    free(w);
}

/* The counter overflows 64 bits: handled like a reset. */
TEST(a_counter_that_overflows)
{
    world *w = world_create(12);
    w->first_ticks = UINT64_MAX - (uint64_t)(10.1 * 2.6e9);
    world_begin(w);
    world_live(w, 10 * SECOND, 10 * MS);
    uint64_t before = world_ask(w);
    w->run++;
    world_pass(w, 5 * SECOND);
    CHECK(world_ticks(w) < w->first_ticks);
    double d = (double)(world_ask(w) - before);
    CHECK(fabs(d - 5.0 * SECOND) < 300000);
    CHECK(world_live(w, 10 * SECOND, 10 * MS) < 300000);
    CHECK(world_live(w, SECOND, 10 * MS) <= NEAR + w->error_ns);
    check_log(w);
    free(w);
}

/* Useless anchors keep the known rate; without a rate there is no
 * conversion. */
TEST(anchors_that_failed)
{
    gnomon__anchor none = {0, 0, UINT64_MAX};
    world *w = world_create(13);
    world_begin(w);
    uint64_t zero = w->line.limit;
    CHECK_EQ(gnomon__line_add(&w->line, &none, zero + 5), 0);
    CHECK_EQ(gnomon__line_ns(&w->line, zero + 5), 0);
    CHECK_EQ(gnomon__line_rate(&w->line, zero, zero + 5), 0);
    world_live(w, SECOND, MS);
    world_pass(w, SECOND);
    CHECK_EQ(gnomon__line_add(&w->line, &none, 0), 0);
    CHECK_EQ(gnomon__line_add(&w->line, &none, world_ticks(w)), 1);
    double off =
        (double)gnomon__line_ns(&w->line, world_ticks(w)) - (double)world_ns(w);
    CHECK(fabs(off) < NEAR + w->error_ns);
    free(w);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static Random events of a clock: whatever happens to the machine,
 * threads: none
 * converted times do not change, later ticks give later times, memory is bounded,
 * and in quiet times the line is back at CLOCK_MONOTONIC. A failure prints its seed. */
#include "clock_world.h"

#define LIVES 1500

static uint64_t up_to(world *w, uint64_t n)
{
    return world_random(w) % n;
}

static uint64_t asked_parts;

/* All moments of a part are converted as by a search. */
static void ask_part(world *w, uint64_t ticks)
{
    gnomon__line_part part = gnomon__line_part_of(&w->line, ticks);
    uint64_t at[] = {ticks, part.ticks, part.ticks + part.length - 1};
    for (int i = 0; part.length && i < 3; i++)
        CHECK_EQ(part.ns + gnomon__line_scale(at[i] - part.ticks, part.mult),
                 gnomon__line_ns(&w->line, at[i]));
    CHECK(!part.length || ticks - part.ticks < part.length);
    asked_parts += part.length != 0;
}

/* Ticks converted before: they must give the same ns. */
static void ask_again(world *w)
{
    const logged_conversion *t = &w->log[up_to(w, w->logged)];
    if (t->run != w->run)
        return;
    uint64_t ns = gnomon__line_ns(&w->line, t->ticks);
    uint64_t by = ns > t->ns ? ns - t->ns : t->ns - ns;
    CHECK(by <= world_stated(w));
    ask_part(w, t->ticks);
}

/* Read on a core that is ahead or behind by some us. */
static void ask_elsewhere(world *w)
{
    uint64_t ticks = world_ticks(w) + up_to(w, 10000);
    ticks -= ticks < 5000 ? ticks : 5000;
    if (ticks < w->line.limit)
        CHECK(gnomon__line_ns(&w->line, ticks) <= world_ns(w) + HOUR);
}

/* A counter that was reset and reached its old value looks like one that
 * went on. */
static int may_reset(const world *w)
{
    return (double)w->line.last.ticks > 3e9 * w->ghz;
}

static void sleep_somehow(world *w)
{
    uint64_t ns = 300 * MS + up_to(w, 1ull << (30 + up_to(w, 15)));
    switch (up_to(w, 4)) {
    case 0:
        if (may_reset(w)) {
            world_sleep_and_reset(w);
            world_pass(w, up_to(w, SECOND));
            world_ask(w);
        }
        break;
    case 1: /* and the guest with it */
        w->monotonic += (fine)ns << 40;
        break;
    default:
        world_sleep(w, ns);
    }
    world_pass(w, up_to(w, SECOND));
}

static void change_something(world *w)
{
    static const double errors[] = {25, 25, 1000, 50000};
    switch (up_to(w, 4)) {
    case 0:
        w->slew = ((double)up_to(w, 1001) - 500) * 1e-6;
        break;
    case 1:
        w->drift += ((double)up_to(w, 2001) - 1000) * 1e-10;
        break;
    case 2:
        w->error_ns = errors[up_to(w, 4)];
        break;
    default:
        w->spike_ns = up_to(w, 2) ? 50000 : 0;
    }
}

static void live_once(uint64_t seed)
{
    static const double clocks[] = {2.6, 3.9, 1, 0.025};
    world *w = world_create(seed * 7919);
    w->ghz = clocks[seed % 4];
    w->step = seed % 4 == 2 ? 32 : 0;
    world_begin(w);
    world_pass(w, 1 + up_to(w, 100000));
    world_ask(w);
    for (int i = 0; i < 2000; i++) {
        switch (up_to(w, 64)) {
        case 0:
            sleep_somehow(w);
            break;
        case 1:
        case 2:
        case 3:
            change_something(w);
            break;
        case 4:
        case 5:
        case 6:
        case 7:
            world_draw(w);
            break;
        case 8:
            ask_elsewhere(w);
            break;
        default:
            ask_again(w);
            world_pass(w, up_to(w, 1ull << up_to(w, 31)));
            world_ask(w);
        }
        CHECK(w->line.count <= GNOMON__LINE_PIECES);
        CHECK(w->line.epoch < w->line.count);
    }
    check_log(w);
    w->slew = w->spike_ns = 0;
    w->error_ns = 25;
    world_live(w, 600 * SECOND, 100 * MS);
    double own = w->error_ns + 2 * (double)w->step + 40;
    CHECK(world_live(w, 10 * SECOND, 10 * MS) <= NEAR + own);
    free(w);
}

TEST(random_changes_of_the_clock)
{
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        int before = test_failures;
        live_once(seed);
        if (test_failures > before)
            fprintf(stderr, "    seed %d\n", (int)seed);
    }
    CHECK(asked_parts > LIVES);
}

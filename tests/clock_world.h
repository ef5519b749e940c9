/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Simulated clocks: CLOCK_MONOTONIC, a counter that drifts from it, anchors
 * with errors, a machine that sleeps. And a log of all conversions from
 * ticks to ns, to be repeated later. */
#ifndef GNOMON_TESTS_CLOCK_WORLD_H
#define GNOMON_TESTS_CLOCK_WORLD_H

#include <math.h>
#include <stdlib.h>

#include "platform/clock_line.h"
#include "test.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
#define LOGGED 50000
#define NEAR 1000 /* ns from CLOCK_MONOTONIC, without the anchors' error */
#define MS 1000000u

__extension__ typedef unsigned __int128 fine; /* parts of 2^40 */

/* A conversion of ticks to ns, since the counter began. */
typedef struct logged_conversion {
    uint64_t ticks, ns, run;
} logged_conversion;

typedef struct world {
    fine monotonic, counter;
    uint64_t first_ticks; /* where the counter began */
    uint64_t step;        /* by which it moves; 0: by one */
    double ghz, drift;    /* what it is sold as, and its error */
    double slew;          /* of CLOCK_MONOTONIC */
    double error_ns;      /* of an anchor: at most */
    double spike_ns;      /* in one anchor of twenty; 0: none */
    uint64_t state;       /* of random numbers */
    uint64_t run;         /* how often the counter was reset */
    uint64_t last_ns;     /* the largest ns that was returned */
    uint64_t asked, anchors;
    double worst; /* ns between the line and CLOCK_MONOTONIC */
    gnomon__line line;
    logged_conversion log[LOGGED]; /* a sample */
    size_t logged;
} world;

static inline uint64_t world_random(world *w)
{
    w->state ^= w->state << 13;
    w->state ^= w->state >> 7;
    w->state ^= w->state << 17;
    return w->state;
}

static inline uint64_t world_ns(const world *w)
{
    return (uint64_t)(w->monotonic >> 40);
}

static inline uint64_t world_ticks(const world *w)
{
    uint64_t ticks = w->first_ticks + (uint64_t)(w->counter >> 40);
    return w->step ? ticks - ticks % w->step : ticks;
}

static inline void world_pass(world *w, uint64_t ns)
{
    const double one = (double)(1ull << 40);
    w->monotonic += (fine)ns * (uint64_t)((1 + w->slew) * one);
    w->counter += (fine)ns * (uint64_t)(w->ghz * (1 + w->drift) * one);
}

/* Only the counter goes on. */
static inline void world_sleep(world *w, uint64_t ns)
{
    w->counter += (fine)ns * (uint64_t)(w->ghz * (double)(1ull << 40));
}

static inline void world_sleep_and_reset(world *w)
{
    w->counter = 0;
    w->first_ticks = 0;
    w->run++;
}

static inline gnomon__anchor world_anchor(world *w)
{
    int is_spike = w->spike_ns > 0 && world_random(w) % 20 == 0;
    double ns = is_spike ? w->spike_ns : w->error_ns;
    uint64_t error = (uint64_t)(ns * w->ghz) + 1;
    uint64_t off = world_random(w) % (2 * error - 1);
    gnomon__anchor a = {world_ticks(w) + off, world_ns(w), error + w->step};
    a.ticks -= a.ticks < error - 1 ? a.ticks : error - 1;
    w->anchors++;
    return a;
}

/* A processor of 2.6 GHz with 10 ppm of drift, read within 25 ns. */
static inline world *world_create(uint64_t seed)
{
    world *w = calloc(1, sizeof *w);
    if (!w)
        exit(1);
    w->ghz = 2.6;
    w->drift = 1e-5;
    w->error_ns = 25;
    w->first_ticks = 1000000000000000;
    w->state = 88172645463325252u + seed;
    return w;
}

static inline void world_begin(world *w)
{
    gnomon__anchor first = world_anchor(w);
    gnomon__line_begin(&w->line, &first);
    w->monotonic = 0;
}

/* What clock.c does for ticks of now; time passes where the rate is not
 * known. */
static inline uint64_t world_ask(world *w)
{
    uint64_t ticks = world_ticks(w), ns;
    for (int i = 0; i < 10000 && (ticks >= w->line.limit ||
                                  gnomon__line_began_again(&w->line, ticks));
         i++) {
        gnomon__anchor a = world_anchor(w);
        if (!gnomon__line_add(&w->line, &a, ticks)) {
            world_pass(w, 10000);
            ticks = world_ticks(w);
        }
    }
    CHECK(ticks < w->line.limit);
    ns = gnomon__line_ns(&w->line, ticks);
    CHECK(ns >= w->last_ns); /* later is never earlier */
    w->last_ns = ns;
    if (w->asked++ % 7 == 0 && w->logged < LOGGED)
        w->log[w->logged++] = (logged_conversion){ticks, ns, w->run};
    double off = fabs((double)ns - (double)world_ns(w));
    w->worst = off > w->worst ? off : w->worst;
    return ns;
}

static inline void world_draw(world *w)
{
    gnomon__anchor a = world_anchor(w);
    gnomon__line_add(&w->line, &a, 0);
}

/* `ns` pass, with a conversion each `every` ns. Returns the error of the
 * line. */
static inline double world_live(world *w, uint64_t ns, uint64_t every)
{
    w->worst = 0;
    for (uint64_t at = 0; at < ns; at += every) {
        world_pass(w, every);
        world_ask(w);
    }
    return w->worst;
}

/* The largest change of returned values that the line reports. */
static inline uint64_t world_stated(const world *w)
{
    uint64_t error = 0;
    for (uint64_t i = 0; i < w->line.count; i++)
        if (w->line.pieces[i].error > error)
            error = w->line.pieces[i].error;
    return error;
}

/* Repeats all conversions since the counter began. Returns the largest
 * difference to the first results. */
static inline uint64_t world_changed(const world *w)
{
    uint64_t most = 0;
    for (size_t i = 0; i < w->logged; i++) {
        const logged_conversion *t = &w->log[i];
        uint64_t ns = gnomon__line_ns(&w->line, t->ticks);
        uint64_t by = ns > t->ns ? ns - t->ns : t->ns - ns;
        if (t->run == w->run && by > most)
            most = by;
    }
    return most;
}

static inline void check_log(const world *w)
{
    CHECK(w->logged > 0);
    CHECK(world_changed(w) <= world_stated(w));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The line is the least squares of the ends, without those that are far off. Its error is
 * proved apart: a line is a point (its values at the first barrier and at the last one);
 * each barrier allows the points between two straight lines; so what all barriers allow is
 * a polygon, and the error is the distance to its farthest corner. */
#include "merge/clock_fit.h"

#include <stdint.h>

/* Each barrier cuts off at most two corners and adds as many. Those that add more than so
 * many are left out, which can only make the error larger. */
#define MOST_CORNERS 64

/* Before any barrier: 10^14 ns, more than a day. */
#define ANY_OFFSET 1e14

/* Two clocks that are steered drift apart by no more: Linux changes the rate of each by at
 * most 500 ppm (adjtimex(2), MAXFREQ), and crystals differ by less. */
#define MOST_DRIFT 1e-3

static double distance(double a, double b)
{
    return a < b ? b - a : a - b;
}

/* ---- The line -------------------------------------------------------------------- */

static void fit_ends(gnomon__clock_fit *f, const gnomon__clock_pair *pairs,
                     size_t count, double within)
{
    double n = 0, at = 0, end = 0, squares = 0, products = 0;
    for (size_t i = 0; i < count; i++) {
        double off = gnomon__clock_fit_at(f, pairs[i].at) - pairs[i].end;
        if (within > 0 && distance(off, 0) > within)
            continue;
        n++;
        at += pairs[i].at - f->from;
        end += pairs[i].end - pairs[0].end;
    }
    if (n < 1)
        return;
    at /= n;
    end /= n;
    const gnomon__clock_fit old = *f;
    for (size_t i = 0; i < count; i++) {
        double off = gnomon__clock_fit_at(&old, pairs[i].at) - pairs[i].end;
        if (within > 0 && distance(off, 0) > within)
            continue;
        double x = pairs[i].at - f->from - at;
        double y = pairs[i].end - pairs[0].end - end;
        squares += x * x;
        products += x * y;
    }
    f->drift = squares > 0 ? products / squares : 0;
    f->drift = f->drift > MOST_DRIFT    ? MOST_DRIFT
               : f->drift < -MOST_DRIFT ? -MOST_DRIFT
                                        : f->drift;
    f->offset = pairs[0].end + end - f->drift * at;
}

static double mean_distance(const gnomon__clock_fit *f,
                            const gnomon__clock_pair *pairs, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += distance(gnomon__clock_fit_at(f, pairs[i].at), pairs[i].end);
    return sum / (double)count;
}

/* ---- Its error -------------------------------------------------------------------- */

/* x, y: what is added at the first barrier, and at the last. */
typedef struct fit_point {
    double x, y;
} fit_point;

typedef struct fit_polygon {
    fit_point of[MOST_CORNERS + 2];
    int count;
} fit_polygon;

/* Keeps the part where a * x + b * y <= c. */
static void cut_polygon(fit_polygon *p, double a, double b, double c)
{
    fit_polygon kept = {.count = 0};
    if (p->count > MOST_CORNERS)
        return;
    for (int i = 0; i < p->count && kept.count <= MOST_CORNERS; i++) {
        const fit_point from = p->of[i], to = p->of[(i + 1) % p->count];
        const double over_from = a * from.x + b * from.y - c;
        const double over_to = a * to.x + b * to.y - c;
        if (over_from <= 0)
            kept.of[kept.count++] = from;
        if ((over_from < 0 && over_to > 0) || (over_from > 0 && over_to < 0)) {
            const double part = over_from / (over_from - over_to);
            kept.of[kept.count++] =
                (fit_point){from.x + part * (to.x - from.x),
                            from.y + part * (to.y - from.y)};
        }
    }
    *p = kept;
}

/* The farthest corner; below 0: there is none. */
static double farthest(const fit_polygon *p, fit_point from)
{
    double most = -1;
    for (int i = 0; i < p->count; i++) {
        const double x = distance(p->of[i].x, from.x);
        const double y = distance(p->of[i].y, from.y);
        most = x > most ? x : most;
        most = y > most ? y : most;
    }
    return most;
}

static double proved_error(const gnomon__clock_fit *f,
                           const gnomon__clock_pair *pairs, size_t count)
{
    const double time = f->until - f->from, base = f->offset;
    const double any = ANY_OFFSET;
    fit_polygon p = {{{-any, -any}, {any, -any}, {any, any}, {-any, any}}, 4};
    if (time > 0) {
        cut_polygon(&p, -1, 1, MOST_DRIFT * time);
        cut_polygon(&p, 1, -1, MOST_DRIFT * time);
    }
    for (size_t i = 0; i < count; i++) {
        const double y = time > 0 ? (pairs[i].at - f->from) / time : 0;
        cut_polygon(&p, 1 - y, y, pairs[i].most - base);
        cut_polygon(&p, y - 1, -y, base - pairs[i].least);
    }
    if (time <= 0) /* of one barrier only its own moment is known */
        for (int i = 0; i < p.count; i++)
            p.of[i].y = p.of[i].x;
    return farthest(&p, (fit_point){0, f->drift * time});
}

gnomon__clock_fit gnomon__clock_fit_of(const gnomon__clock_pair *pairs,
                                       size_t count)
{
    gnomon__clock_fit f = {pairs[0].at, pairs[0].at, 0, 0, 0, 0, count};
    for (size_t i = 0; i < count; i++) {
        f.from = pairs[i].at < f.from ? pairs[i].at : f.from;
        f.until = pairs[i].at > f.until ? pairs[i].at : f.until;
    }
    fit_ends(&f, pairs, count, 0);
    for (int again = 0; again < 4; again++)
        fit_ends(&f, pairs, count, 2 * mean_distance(&f, pairs, count) + 1);
    f.error = proved_error(&f, pairs, count);
    f.is_loose = f.error < 0;
    for (size_t i = 0; f.is_loose && i < count; i++) {
        double off =
            distance(gnomon__clock_fit_at(&f, pairs[i].at), pairs[i].end);
        f.error = off > f.error ? off : f.error;
    }
    return f;
}

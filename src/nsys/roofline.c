/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Both axes are logarithmic, from decade to decade around what is drawn. */
#include "nsys/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/output.h"
#include "print/order.h"

/* ---- The drawing ------------------------------------------------------------------------ */

enum { WIDE = 760, HIGH = 480, LEFT = 70, TOP = 20, RIGHT = 740, BOTTOM = 430 };

typedef struct plot {
    const gnomon__peaks *peaks;
    const gnomon__roofline_point *points;
    size_t count;
    double x0, x1, y0, y1; /* decades */
} plot;

static double across(const plot *p, double intensity)
{
    return LEFT + (log10(intensity) - p->x0) / (p->x1 - p->x0) * (RIGHT - LEFT);
}

static double upward(const plot *p, double tflops)
{
    return BOTTOM - (log10(tflops) - p->y0) / (p->y1 - p->y0) * (BOTTOM - TOP);
}

#define LETTERS 32 /* of a name; the rest is dots */

static void put_name(const gnomon_writer *out, const char *text)
{
    for (size_t letters = 0; *text; text++) {
        letters += ((unsigned char)*text & 0xc0) != 0x80;
        if (letters > LETTERS) {
            out->print(out, "...");
            break;
        }
        if (strchr("<>&\"'", *text) || (unsigned char)*text < 0x20)
            out->print(out, "&#%d;", (unsigned char)*text < 0x20 ? '?' : *text);
        else
            out->write(out, text, 1);
    }
}

/* Up to the decade below it, and so far above it that its words have room. */
static void widen(double *low, double *high, double value)
{
    if (value > 0 && floor(log10(value)) < *low)
        *low = floor(log10(value));
    if (value > 0 && log10(value) + 0.3 > *high)
        *high = log10(value) + 0.3;
}

static void set_axes(plot *p)
{
    p->x0 = p->y0 = 0;
    p->x1 = p->y1 = 1;
    for (size_t i = 0; i < p->count; i++) {
        widen(&p->x0, &p->x1, p->points[i].intensity);
        widen(&p->y0, &p->y1, p->points[i].tflops);
    }
    for (int k = 0; k < GNOMON__PEAK_KINDS; k++) {
        widen(&p->y0, &p->y1, p->peaks->tflops[k]);
        if (p->peaks->gbs > 0)
            widen(&p->x0, &p->x1, p->peaks->tflops[k] * 1000 / p->peaks->gbs);
    }
}

static void put_axes(const plot *p, const gnomon_writer *out)
{
    for (int d = (int)p->x0; d <= p->x1; d++)
        out->print(out,
                   "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
                   "class=\"grid\"/><text x=\"%.1f\" y=\"%d\" "
                   "text-anchor=\"middle\">%g</text>\n",
                   across(p, pow(10, d)), TOP, across(p, pow(10, d)), BOTTOM,
                   across(p, pow(10, d)), BOTTOM + 16, pow(10, d));
    for (int d = (int)p->y0; d <= p->y1; d++)
        out->print(out,
                   "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" "
                   "class=\"grid\"/><text x=\"%d\" y=\"%.1f\" "
                   "text-anchor=\"end\">%g</text>\n",
                   LEFT, upward(p, pow(10, d)), RIGHT, upward(p, pow(10, d)),
                   LEFT - 6, upward(p, pow(10, d)) + 4, pow(10, d));
    out->print(out,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">Intensity, FLOP "
               "a byte</text>\n<text transform=\"translate(16 %d) "
               "rotate(-90)\" text-anchor=\"middle\">TFLOP/s</text>\n",
               (LEFT + RIGHT) / 2, BOTTOM + 36, (TOP + BOTTOM) / 2);
}

/* Along its roof, below where that leaves the picture. */
static void put_memory(const plot *p, const gnomon_writer *out)
{
    const double slope = p->peaks->gbs / 1000, low = pow(10, p->x0),
                 foot = pow(10, p->y0) / slope,
                 at = 3 * (foot > low ? foot : low),
                 turn = atan2((BOTTOM - TOP) / (p->y1 - p->y0),
                              (RIGHT - LEFT) / (p->x1 - p->x0));
    out->print(out,
               "<text transform=\"translate(%.1f %.1f) rotate(%.1f)\">%g "
               "GB/s</text>\n",
               across(p, at) - 5, upward(p, slope * at) - 5,
               -turn * 180 / 3.14159265, p->peaks->gbs);
}

/* From where memory bounds to the ridge, and on at the peak. Types of one peak have one. */
static void put_roofs(const plot *p, const gnomon_writer *out)
{
    const double slope = p->peaks->gbs / 1000, low = pow(10, p->x0);
    const double *peaks = p->peaks->tflops;
    for (int k = 0; k < GNOMON__PEAK_KINDS; k++) {
        const double peak = peaks[k];
        bool is_new = peak > 0;
        for (int i = 0; i < k; i++)
            is_new &= peaks[i] < peak || peaks[i] > peak;
        if (!is_new)
            continue;
        const double ridge = slope > 0 ? peak / slope : low;
        const double foot = pow(10, p->y0) / (slope > 0 ? slope : 1);
        out->print(out, "<polyline class=\"roof\" points=\"");
        if (slope > 0)
            out->print(out, "%.1f,%.1f ", across(p, foot > low ? foot : low),
                       upward(p, slope * (foot > low ? foot : low)));
        out->print(out,
                   "%.1f,%.1f %d,%.1f\"/><text x=\"%d\" y=\"%.1f\" "
                   "text-anchor=\"end\">%s",
                   across(p, ridge), upward(p, peak), RIGHT, upward(p, peak),
                   RIGHT - 4, upward(p, peak) - 4, gnomon__peak_words[k]);
        for (int i = k + 1; i < GNOMON__PEAK_KINDS; i++)
            if (!(peaks[i] < peak) && !(peaks[i] > peak))
                out->print(out, ", %s", gnomon__peak_words[i]);
        out->print(out, " %g TFLOP/s", peak);
        if (slope > 0)
            out->print(out, ", ridge at %.4g", ridge);
        out->print(out, "</text>\n");
        if (slope > 0)
            out->print(out,
                       "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%d\" "
                       "class=\"ridge\"/>\n",
                       across(p, ridge), upward(p, peak), across(p, ridge),
                       BOTTOM);
    }
    if (slope > 0)
        put_memory(p, out);
}

#define NAMED 10 /* points, which are the largest */

/* Where a name is, and its base line. */
typedef struct place {
    double left, right, y;
} place;

/* How far down a roof is at so far across. */
static double roof_at(const plot *p, double peak, double x)
{
    const double decade = p->x0 + (x - LEFT) / (RIGHT - LEFT) * (p->x1 - p->x0),
                 by_memory = pow(10, decade) * p->peaks->gbs / 1000;
    return upward(p, by_memory > 0 && by_memory < peak ? by_memory : peak);
}

/* On no other name, point or roof. */
static bool is_free(const plot *p, const place *names, size_t count, place at)
{
    for (size_t i = 0; i < count; i++)
        if (at.left < names[i].right && names[i].left < at.right &&
            fabs(at.y - names[i].y) < 12)
            return false;
    for (size_t i = 0; i < p->count; i++) {
        const double x = across(p, p->points[i].intensity),
                     y = upward(p, p->points[i].tflops);
        if (at.left < x + 5 && x - 5 < at.right && fabs(at.y - 4 - y) < 10)
            return false;
    }
    for (int k = 0; k < GNOMON__PEAK_KINDS; k++) {
        const double peak = p->peaks->tflops[k];
        if (peak > 0 && roof_at(p, peak, at.left) > at.y - 12 &&
            roof_at(p, peak, at.right) < at.y + 3)
            return false;
    }
    return at.left > LEFT && at.right < WIDE && at.y > TOP && at.y < BOTTOM;
}

/* The nearest free place, to the right or the left, up or down; else beside the point. */
static place place_of(const plot *p, const place *names, size_t i)
{
    const size_t letters = strlen(p->points[i].name);
    const double x = across(p, p->points[i].intensity),
                 y = upward(p, p->points[i].tflops) + 4,
                 wide = 6.5 * (double)(letters < LETTERS ? letters : LETTERS);
    for (int k = 0; k < 8 * NAMED; k++) {
        const int far = (k / 2 + 1) / 2 * 12 * (k / 2 % 2 ? 1 : -1);
        const double left = k % 2 ? x - 8 - wide : x + 8;
        const place at = {left, left + wide, y + far};
        if (is_free(p, names, i, at))
            return at;
    }
    return (place){x + 8, x + 8 + wide, y};
}

static void put_points(const plot *p, const gnomon_writer *out)
{
    place names[NAMED];
    for (size_t i = 0; i < p->count; i++) {
        const double x = across(p, p->points[i].intensity),
                     y = upward(p, p->points[i].tflops);
        out->print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>", x, y,
                   i < NAMED ? 5 : 3);
        if (i < NAMED) {
            names[i] = place_of(p, names, i);
            const double end =
                names[i].left > x ? names[i].left - 2 : names[i].right + 2;
            if (fabs(names[i].y - y) > 8)
                out->print(out,
                           "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                           "y2=\"%.1f\" class=\"to\"/>",
                           x, y, end, names[i].y - 4);
            out->print(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                       names[i].left > x ? names[i].left : names[i].right,
                       names[i].y, names[i].left > x ? "start" : "end");
            put_name(out, p->points[i].name);
            out->print(out, "</text>");
        }
        out->print(out, "\n");
    }
}

static int make_svg(void *context, int form, const gnomon_writer *out)
{
    const plot *p = context;
    (void)form;
    out->print(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
               "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<style>.grid{stroke:#ddd}.roof{fill:none;stroke:#c33;"
               "stroke-width:2}.ridge{stroke:#c33;stroke-dasharray:2 4}"
               ".to{stroke:#999}circle{fill:#36c;fill-opacity:.6}</style>\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               WIDE, HIGH);
    put_axes(p, out);
    put_roofs(p, out);
    put_points(p, out);
    return out->print(out, "</svg>\n");
}

GNOMON__ORDER(by_time, gnomon__roofline_point, DOWN(ns))

int gnomon__roofline_draw(const char *path, const gnomon__peaks *peaks,
                          gnomon__roofline_point *points, size_t count)
{
    plot p = {.peaks = peaks, .points = points, .count = count};
    GNOMON__SORT(points, count, by_time);
    set_axes(&p);
    return gnomon__cli_make(path, make_svg, &p);
}

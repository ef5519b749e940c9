/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Extending the line: what an anchor says of the rate, and how the line goes on
 * from its limit; its pieces; and reading it. clock_line.h states the
 * guarantees.
 *
 * This is a phase-locked loop. If the limit is not beyond the last anchor,
 * the line is drawn to the new anchor exactly. Else the line is fixed beyond
 * it already, and the next piece leads it back. */
#include "platform/clock_line.h"
#include "platform/atomic.h"

__extension__ typedef unsigned __int128 line_wide;

/* Errors of rates and slopes, as 1 part in so many. */
#define LINE_FIRST_PART 5000u    /* 200 ppm: the first rate is believed */
#define LINE_GOOD_PART 10000000u /* 0.1 ppm: it replaces one that is known */
#define LINE_KEPT_PART 4000000u  /* 0.25 ppm: a slope is as good as the rate */
#define LINE_BEND_PART 2000u     /* 500 ppm: to lead the line back */
/* CLOCK_MONOTONIC is slewed by up to 500 ppm. An anchor that is off by twice
 * that, and a millisecond, is an outlier: something else happened. */
#define LINE_OUTLIER_PART 1000u
#define LINE_OUTLIER_NS 1000000u
/* So many outliers in a row that agree tell the new rate: the guest was
 * moved to a host with another counter. */
#define LINE_OUTLIERS_MOST 3

static uint64_t line_ticks_of(uint64_t ns, uint64_t mult)
{
    line_wide ticks = ((line_wide)ns << GNOMON__CLOCK_SHIFT) / mult;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* The slope that rises so far in so many ticks. */
static uint64_t line_mult(uint64_t ns, uint64_t ticks)
{
    return (uint64_t)(((line_wide)ns << GNOMON__CLOCK_SHIFT) / ticks);
}

static uint64_t sum_or_most(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t less_or_0(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t line_apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t line_ns_on(const gnomon__line_piece *p, uint64_t ticks)
{
    return p->ns + gnomon__line_scale(less_or_0(ticks, p->ticks), p->mult);
}

/* ---- Pieces -------------------------------------------------------------- */

static gnomon__line_piece *line_last(gnomon__line *l)
{
    return &l->pieces[l->count - 1];
}

static uint64_t line_ns_at_limit(gnomon__line *l)
{
    return line_ns_on(line_last(l), l->limit);
}

static uint64_t line_ns_at_last_anchor(gnomon__line *l)
{
    uint64_t i = l->count - 1;
    while (i > l->epoch && l->pieces[i].ticks > l->last.ticks)
        i--;
    return line_ns_on(&l->pieces[i], l->last.ticks);
}

/* Appends a piece from the limit on. */
static void line_draw(gnomon__line *l, uint64_t ns, uint64_t mult)
{
    gnomon__line_append(l, l->limit, ns, mult);
}

/* Appends a piece with the known rate, up to `ticks`. */
static void line_draw_to(gnomon__line *l, uint64_t ticks)
{
    line_draw(l, line_ns_at_limit(l), l->rate);
    l->limit = ticks;
}

/* ---- The rate ------------------------------------------------------------ */

/* Whether x in y is no more than a in b. */
static int is_smaller_part(uint64_t x, uint64_t y, uint64_t a, uint64_t b)
{
    return (line_wide)x * b <= (line_wide)a * y;
}

/* Takes the rate from the base to the anchor: if it is the first, more exact
 * than the known one, exact enough, or surely another. The base moves to the
 * anchor if the rate is exact or another. Returns 0 while there is no rate. */
static int line_learn(gnomon__line *l, const gnomon__anchor *a)
{
    uint64_t ticks = less_or_0(a->ticks, l->base.ticks);
    uint64_t ns = less_or_0(a->ns, l->base.ns);
    uint64_t error = sum_or_most(l->base.error, a->error) | 1; /* not 0 */
    if (!ticks || !ns || ns >> 15 >= ticks) /* it stood still */
        return l->rate != 0;
    int is_good = is_smaller_part(error, ticks, 1, LINE_GOOD_PART);
    if (!l->rate) {
        if (!is_smaller_part(error, ticks, 1, LINE_FIRST_PART) &&
            ns < GNOMON__LINE_FAR_NS)
            return 0;
    } else {
        uint64_t off = line_apart(ns, gnomon__line_scale(ticks, l->rate));
        uint64_t noise = gnomon__line_scale(error, l->rate);
        uint64_t may_be =
            (uint64_t)((line_wide)ns * l->rate_error / l->rate_span);
        int is_new = off > 2 * noise + may_be;
        if (!is_good && !is_new &&
            !is_smaller_part(error, ticks, l->rate_error, l->rate_span))
            return 1;
        is_good |= is_new;
    }
    l->rate = line_mult(ns, ticks);
    l->rate_error = error;
    l->rate_span = ticks;
    if (is_good)
        l->base = *a;
    return 1;
}

/* After an outlier: whether the last ones agree on a rate. */
static int line_has_new_rate(gnomon__line *l, const gnomon__anchor *a)
{
    uint64_t ticks = less_or_0(a->ticks, l->base.ticks);
    uint64_t ns = less_or_0(a->ns, l->base.ns), rate;
    if (!ticks || !ns || ns >> 15 >= ticks)
        return 0;
    rate = line_mult(ns, ticks);
    if (line_apart(rate, l->outlier_rate) > rate >> 8)
        l->outliers = 0;
    l->outlier_rate = rate;
    return ++l->outliers >= LINE_OUTLIERS_MOST;
}

/* ---- Sleep, jumps and outliers
 * -------------------------------------------- */

/* Moves the limit back over ticks that nobody can have converted: the line
 * now ends where it has `most` ns, and no moment before the machine slept
 * had more. */
static void line_cut(gnomon__line *l, uint64_t most)
{
    while (l->count > 1 && line_last(l)->ns > most &&
           line_last(l)->ticks > l->last.ticks)
        l->count--;
    gnomon__line_piece *p = line_last(l);
    if (p->mult && p->ns <= most) {
        uint64_t ticks =
            sum_or_most(p->ticks, line_ticks_of(most - p->ns, p->mult));
        if (ticks < l->limit)
            l->limit = ticks;
    }
}

/* The machine slept at some moment between the last anchor and this one. The
 * line rises at its rate to the anchor's ns, and is flat from there to the
 * anchor, or, if the counter began again, to the end of its epoch.
 * `surplus`: by how many ns the counter is ahead. */
static void line_sleep_to(gnomon__line *l, const gnomon__anchor *a,
                          int is_again, uint64_t surplus)
{
    uint64_t at_last = line_ns_at_last_anchor(l);
    uint64_t promised = less_or_0(line_ns_at_limit(l), at_last);
    /* Before the sleep the line was ahead of CLOCK_MONOTONIC by no more than at
     * the last anchor, and than a slew can have brought it since. */
    uint64_t most = a->ns + less_or_0(at_last, l->last.ns) +
                    promised / LINE_OUTLIER_PART + 4ull * GNOMON__LINE_NEAR_NS;
    if (is_again || surplus > promised) /* the limit was passed asleep */
        line_cut(l, most);
    uint64_t ns = line_ns_at_limit(l);
    if (ns < a->ns) {
        uint64_t up = sum_or_most(l->limit, line_ticks_of(a->ns - ns, l->rate));
        uint64_t most_ticks = a->ticks > l->limit ? a->ticks : l->limit;
        line_draw_to(l, up < most_ticks || is_again ? up : most_ticks);
    }
    line_draw(l, line_ns_at_limit(l), 0);
    if (!is_again) {
        if (a->ticks > l->limit)
            l->limit = a->ticks;
        return;
    }
    /* The new epoch begins at tick 0: flat, and then rises to the anchor. */
    gnomon__line_append(l, 0, ns, 0);
    l->epoch = l->count - 1;
    uint64_t from =
        less_or_0(a->ticks, line_ticks_of(less_or_0(a->ns, ns), l->rate));
    uint64_t rise = gnomon__line_scale(a->ticks - from, l->rate);
    l->limit = from;
    line_draw(l, a->ns > ns ? a->ns - rise : ns, a->ns > ns ? l->rate : 0);
    l->limit = a->ticks;
}

/* The counter stood still, or the whole guest did: the line rises at its rate,
 * and jumps right before the ticks that are asked for, or at the anchor. */
static void line_jump_to(gnomon__line *l, const gnomon__anchor *a,
                         uint64_t until)
{
    uint64_t at = until && until < a->ticks ? until : a->ticks;
    if (at > l->limit)
        line_draw_to(l, at);
    uint64_t ns =
        a->ns + gnomon__line_scale(less_or_0(l->limit, a->ticks), l->rate);
    ns = less_or_0(ns,
                   gnomon__line_scale(less_or_0(a->ticks, l->limit), l->rate));
    if (ns > line_ns_at_limit(l))
        line_draw(l, ns, l->rate);
}

/* Extends the line over what happened between the last anchor and this one,
 * if that was more than time passing: returns 1. */
static int line_pass_outlier(gnomon__line *l, const gnomon__anchor *a,
                             uint64_t until)
{
    uint64_t ns = less_or_0(a->ns, l->last.ns);
    uint64_t shown =
        gnomon__line_scale(less_or_0(a->ticks, l->last.ticks), l->rate);
    uint64_t usual =
        LINE_OUTLIER_NS + ns / LINE_OUTLIER_PART +
        gnomon__line_scale(sum_or_most(a->error, l->last.error), l->rate);
    int is_again = gnomon__line_began_again(l, a->ticks);
    if (!is_again && line_apart(shown, ns) <= usual) {
        l->outliers = 0;
        return 0;
    }
    if (!is_again && line_has_new_rate(l, a)) {
        l->rate_error = l->rate_span; /* any other rate is known better */
        l->outliers = 0;
        return 0;
    }
    if (is_again || shown > ns)
        line_sleep_to(l, a, is_again, shown - ns);
    else
        line_jump_to(l, a, until);
    l->base = *a;
    return 1;
}

/* ---- Drawing on ---------------------------------------------------------- */

/* How far beyond the anchor the limit may go: until the rate's error could
 * move the line by NEAR_NS and a quarter of the anchors' error. */
static uint64_t line_ticks_ahead(const gnomon__line *l)
{
    uint64_t most = line_ticks_of(GNOMON__LINE_AHEAD_NS, l->rate);
    line_wide near =
        (line_wide)4 * line_ticks_of(GNOMON__LINE_NEAR_NS, l->rate) +
        l->rate_error;
    line_wide ahead = near * l->rate_span / l->rate_error / 4 + 1;
    return ahead < most ? (uint64_t)ahead : most;
}

/* Draws from the limit so that the line comes within `error` ns of `ns` at
 * `ticks`, as far as its bend allows. */
static void line_aim(gnomon__line *l, uint64_t ticks, uint64_t ns,
                     uint64_t error)
{
    uint64_t from = line_ns_at_limit(l), span = ticks - l->limit;
    uint64_t want = from + gnomon__line_scale(span, l->rate);
    uint64_t least = l->rate - l->rate / LINE_BEND_PART;
    uint64_t most = l->rate + l->rate / LINE_BEND_PART;
    if (want > ns + error)
        want = ns + error;
    if (want < less_or_0(ns, error))
        want = less_or_0(ns, error);
    line_wide mult = ((line_wide)less_or_0(want, from) << GNOMON__CLOCK_SHIFT) /
                     (span ? span : 1);
    line_draw(l, from,
              mult < least  ? least
              : mult > most ? most
                            : (uint64_t)mult);
    l->limit = ticks;
}

/* Whether the last piece is near `ns` at `ticks`. */
static int line_is_near(gnomon__line *l, uint64_t ticks, uint64_t ns,
                        uint64_t error)
{
    return line_apart(line_ns_on(line_last(l), ticks), ns) <=
           error + GNOMON__LINE_NEAR_NS;
}

/* Whether the last slope is the rate, as far as that is known, and not one that
 * leads the line back. */
static int line_has_rate(gnomon__line *l)
{
    uint64_t off = line_apart(line_last(l)->mult, l->rate);
    return is_smaller_part(off, l->rate, 1, LINE_KEPT_PART) ||
           is_smaller_part(off, l->rate, l->rate_error, l->rate_span);
}

static void line_draw_on(gnomon__line *l, const gnomon__anchor *a, uint64_t to)
{
    uint64_t error = gnomon__line_scale(a->error, l->rate);
    uint64_t ns = a->ns + gnomon__line_scale(to - a->ticks, l->rate);
    int is_kept =
        line_has_rate(l) && line_is_near(l, to, ns, error) &&
        (a->ticks < l->limit || line_is_near(l, a->ticks, a->ns, error));
    if (!is_kept) {
        /* Nobody has converted ticks between the limit and the anchor: if
         * they are many, they get their true slope. */
        if (a->ticks > l->limit && a->ticks - l->limit > (to - a->ticks) / 8)
            line_aim(l, a->ticks, a->ns, error);
        if (to > l->limit)
            line_aim(l, to, ns, error);
    }
    l->limit = to;
}

int gnomon__line_add(gnomon__line *l, const gnomon__anchor *a, uint64_t until)
{
    int is_again = gnomon__line_began_again(l, a->ticks);
    int is_usable = a->error != UINT64_MAX && a->ns >= l->last.ns &&
                    (a->ticks >= l->last.ticks || is_again);
    uint64_t to = is_usable ? a->ticks : 0;
    if (l->limit == UINT64_MAX ||
        (!is_again && to < l->limit && until < l->limit))
        return 0;
    if (!is_usable) {
        if (!l->rate || until < l->limit)
            return 0;
        if (!line_last(l)->mult)
            line_draw(l, line_ns_at_limit(l), l->rate);
        l->limit = sum_or_most(until, line_ticks_ahead(l));
    } else {
        if (!l->rate ? !line_learn(l, a)
                     : !line_pass_outlier(l, a, until) && !line_learn(l, a))
            return 0;
        if (until)
            to = sum_or_most(until > to ? until : to, line_ticks_ahead(l));
        if (to > l->limit)
            line_draw_on(l, a, to);
        l->last = *a;
    }
    l->end = *line_last(l);
    return 1;
}

/* ---- Beginning ----------------------------------------------------------- */

void gnomon__line_begin(gnomon__line *l, const gnomon__anchor *first)
{
    l->limit = first->ticks;
    l->end = (gnomon__line_piece){first->ticks, 0, 0, 0};
    l->pieces[0] = l->end;
    l->count = 1;
    l->epoch = l->rate = l->rate_error = l->rate_span = 0;
    l->outlier_rate = l->outliers = 0;
    l->last = l->base = *first;
    l->last.ns = l->base.ns = 0;
}

void gnomon__line_begin_exact(gnomon__line *l, uint64_t zero_ticks)
{
    gnomon__anchor first = {zero_ticks, 0, 0};
    gnomon__line_begin(l, &first);
    l->limit = UINT64_MAX;
    l->rate = l->end.mult = l->pieces[0].mult = 1ull << GNOMON__CLOCK_SHIFT;
}

/* ---- More pieces ---------------------------------------------------------------- */

/* Appends one, and merges two when the array is full: on a copy that no other
 * thread sees. */

#define PIECE_STAYS UINT32_MAX
/* Rounding may make a merged piece end so much lower. */
#define PIECE_ROUNDED_NS 1u

/* ns by which values change if one piece goes from the beginning of i - 1 to
 * the end of i; PIECE_STAYS: one of the two is flat. */
static uint32_t piece_cost(const gnomon__line *l, uint64_t i, uint64_t *mult)
{
    const gnomon__line_piece *a = &l->pieces[i - 1], *b = a + 1, *c = a + 2;
    if (!a->mult || !b->mult) /* the first and last of an epoch are flat */
        return PIECE_STAYS;
    *mult = line_mult(line_ns_on(b, c->ticks) - a->ns, c->ticks - a->ticks);
    uint64_t now = a->ns + gnomon__line_scale(b->ticks - a->ticks, *mult);
    uint64_t cost = (a->error > b->error ? a->error : b->error) +
                    line_apart(now, b->ns) + PIECE_ROUNDED_NS;
    return cost < PIECE_STAYS ? (uint32_t)cost : PIECE_STAYS - 1;
}

static void piece_take_out(gnomon__line *l, uint64_t i)
{
    l->count--;
    if (i <= l->epoch && l->epoch)
        l->epoch--;
    for (; i < l->count; i++)
        l->pieces[i] = l->pieces[i + 1];
}

/* Merges two pieces where that changes values least. If none can be merged
 * the machine slept dozens of times: the oldest piece goes, and its ticks
 * get the ns of its end from then on. */
static void piece_make_room(gnomon__line *l)
{
    uint64_t best = 0, best_mult = 0, mult = 0;
    uint32_t least = PIECE_STAYS;
    for (uint64_t i = 1; i < l->count - GNOMON__LINE_RECENT; i++) {
        uint32_t cost = piece_cost(l, i, &mult);
        if (cost < least) {
            least = cost;
            best = i;
            best_mult = mult;
        }
    }
    if (!best) {
        piece_take_out(l, 0);
        return;
    }
    l->pieces[best - 1].mult = best_mult;
    l->pieces[best - 1].error = least;
    piece_take_out(l, best);
}

void gnomon__line_append(gnomon__line *l, uint64_t ticks, uint64_t ns,
                         uint64_t mult)
{
    gnomon__line_piece *last = &l->pieces[l->count - 1];
    if (last->ticks == ticks) {
        last->ns = ns;
        last->mult = mult;
    } else {
        if (l->count == GNOMON__LINE_PIECES)
            piece_make_room(l);
        l->pieces[l->count++] = (gnomon__line_piece){ticks, ns, mult, 0};
    }
}

/* ---- Reading -------------------------------------------------------------------- */

/* Reading a line that another thread may overwrite meanwhile. Each word is
 * loaded by itself, every loop ends, and no index leaves the array, whatever
 * the words hold. The caller checks afterwards that the line is the same
 * (clock.c). */

static gnomon__line_piece read_piece(const gnomon__line *l, uint64_t i)
{
    const gnomon__line_piece *p = &l->pieces[i % GNOMON__LINE_PIECES];
    return (gnomon__line_piece){load_relaxed(&p->ticks), load_relaxed(&p->ns),
                                load_relaxed(&p->mult), 0};
}

/* The first piece of the epoch that ends before piece `end`. */
static uint64_t read_epoch_before(const gnomon__line *l, uint64_t end)
{
    uint64_t first = end - 1;
    while (first &&
           read_piece(l, first).ticks >= read_piece(l, first - 1).ticks)
        first--;
    return first;
}

/* The piece that `ticks` are in. Ticks above the limit belong to the last
 * epoch that reached them, if one is over. */
static uint64_t read_piece_of(const gnomon__line *l, uint64_t ticks)
{
    uint64_t first = load_relaxed(&l->epoch), end = load_relaxed(&l->count);
    if (ticks >= load_relaxed(&l->limit) && first) {
        uint64_t old_end = first, old = read_epoch_before(l, old_end);
        end = old_end;
        first = old;
        while (old && ticks > read_piece(l, old_end - 1).ticks) {
            old_end = old;
            old = read_epoch_before(l, old_end);
        }
        if (ticks <= read_piece(l, old_end - 1).ticks) {
            end = old_end;
            first = old;
        }
    }
    while (first + 1 < end) {
        uint64_t middle = first + (end - first) / 2;
        if (read_piece(l, middle).ticks <= ticks)
            first = middle;
        else
            end = middle;
    }
    return first;
}

uint64_t gnomon__line_ns(const gnomon__line *l, uint64_t ticks)
{
    uint64_t limit = load_relaxed(&l->limit), i = read_piece_of(l, ticks);
    gnomon__line_piece p = read_piece(l, i);
    if (ticks > limit && i + 1 == load_relaxed(&l->count))
        ticks = limit;
    return line_ns_on(&p, ticks);
}

gnomon__line_part gnomon__line_part_of(const gnomon__line *l, uint64_t ticks)
{
    uint64_t end = load_relaxed(&l->limit), i = read_piece_of(l, ticks);
    gnomon__line_piece p = read_piece(l, i);
    int is_fixed =
        ticks >= p.ticks && ticks < end && i >= load_relaxed(&l->epoch);
    if (i + 1 < load_relaxed(&l->count))
        end = read_piece(l, i + 1).ticks;
    return (gnomon__line_part){p.ticks, is_fixed ? end - p.ticks : 0, p.ns,
                               p.mult};
}

uint64_t gnomon__line_rate(const gnomon__line *l, uint64_t from, uint64_t to)
{
    uint64_t i = read_piece_of(l, from), last = read_piece_of(l, to), ticks = 0,
             ns = 0;
    line_wide sum = 0, most;
    for (uint64_t begin = from; i <= last; i++, begin = 0) {
        gnomon__line_piece p = read_piece(l, i);
        uint64_t end = i == last ? to : read_piece(l, i + 1).ticks;
        if (begin < p.ticks)
            begin = p.ticks;
        if (!p.mult || end <= begin)
            continue;
        ticks += end - begin;
        ns += line_ns_on(&p, end) - line_ns_on(&p, begin);
        sum += (line_wide)(end - begin) * p.mult;
    }
    if (!ticks)
        return load_relaxed(&l->rate);
    /* Each piece's end is rounded down. */
    most = (((line_wide)ns + 1) << GNOMON__CLOCK_SHIFT) - 1;
    return (uint64_t)((sum < most ? sum : most) / ticks);
}

int gnomon__line_began_again(const gnomon__line *l, uint64_t now)
{
    uint64_t last = load_relaxed(&l->last.ticks), rate = load_relaxed(&l->rate);
    return now < last && rate &&
           gnomon__line_scale(last - now, rate) > GNOMON__LINE_BACK_NS;
}

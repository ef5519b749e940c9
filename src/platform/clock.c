/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The one line of the process (clock_line.h): how it is extended, and how
 * readers see it.
 *
 * To extend it, a thread copies the line, changes the copy, writes it into a
 * buffer that nobody uses, and makes that buffer the line by a compare-and-swap
 * of `clock_head`. Whoever loses the swap begins again with the winner's line.
 * So no thread waits for one that was stopped halfway, and a signal handler may
 * do all of it. A reader reads the buffer that the head names, and then the
 * head again: a buffer is written only after another one became the head.
 *
 * Values never change: ticks are converted only below the line's limit, and
 * no change touches what is below it. errno is kept. */
#include "platform/clock.h"

#include "platform/atomic.h"
#include "platform/os_wait.h"
#include "platform/ticks.h"

static int clock_kind_chosen;
static gnomon__os_once clock_once = GNOMON__OS_ONCE;

static void clock_begin(void);

int gnomon__clock_kind(void)
{
    return load_relaxed(&clock_kind_chosen);
}

void gnomon__clock_start(void)
{
    gnomon__os_make_once(&clock_once, clock_begin);
}

/* Anchors taken by gnomon__clock_anchor_due are at least so far apart. */
#define ANCHOR_DISTANCE_NS 100000000u
/* For so long after a call it is not called again. */
#define QUIET_NS 20000000u
#define ANCHOR_TRIES 5
/* One is the line; each of the others may belong to a stopped thread. */
#define LINE_BUFFERS 8u
/* More than the 10 ms after which a rate is known. */
#define FIND_TRIES 100000
#define MOMENTS_KEPT (GNOMON__CLOCK_MOMENTS - 2) /* beside the zero and now */
#define MOMENTS_DISTANCE_NS 1000000000u
#define MOMENTS_TRIES 1000000 /* in a child, the owner may not exist */

typedef uint64_t __attribute__((__may_alias__)) line_word;
#define LINE_HEAD_WORDS (offsetof(gnomon__line, pieces) / sizeof(line_word))
#define LINE_PIECE_WORDS (sizeof(gnomon__line_piece) / sizeof(line_word))

static gnomon__line clock_lines[LINE_BUFFERS];
static uint64_t clock_head; /* changes * LINE_BUFFERS + the line's buffer */
static uint32_t clock_claims = 1; /* buffers in use; the first is empty */
static uint64_t clock_step;       /* by which a read may be late */
static uint64_t clock_zero_ns;

static const gnomon__line *line_at_head(uint64_t head)
{
    return &clock_lines[head % LINE_BUFFERS];
}

/* Pairs with the release fence of publish_line. */
static int is_still_head(uint64_t head)
{
    fence_acquire();
    return load_relaxed(&clock_head) == head;
}

/* Word by word and atomically, as another thread may write or read the other
 * line meanwhile. */
static void copy_line(gnomon__line *to, const gnomon__line *from)
{
    uint64_t n =
        LINE_HEAD_WORDS + LINE_PIECE_WORDS * load_relaxed(&from->count);
    for (uint64_t i = 0; i < n; i++)
        store_relaxed((line_word *)to + i,
                      load_relaxed((const line_word *)from + i));
}

static void publish_line(uint64_t head, const gnomon__line *line)
{
    uint32_t claims = load_relaxed(&clock_claims), mine;
    do {
        mine = ~claims & (claims + 1);
        if (mine >> LINE_BUFFERS)
            return;
    } while (!cas_acq_rel(&clock_claims, &claims, claims | mine));
    /* A reader that sees a word of the new line then sees that its own head
     * is no longer current. */
    fence_release();
    uint64_t index = (uint64_t)__builtin_ctz(mine), was = head;
    copy_line(&clock_lines[index], line);
    uint64_t next = (head / LINE_BUFFERS + 1) * LINE_BUFFERS + index;
    if (cas_acq_rel(&clock_head, &was, next))
        mine = 1u << head % LINE_BUFFERS;
    sub_release(&clock_claims, mine);
}

/* Reads `system` between two reads of the ticks, several times, and returns the most
 * exact pair; error UINT64_MAX where the ticks ran backwards. */
static gnomon__anchor take_anchor(uint64_t (*system)(void))
{
    gnomon__anchor best = {gnomon__ticks(), system(), UINT64_MAX};
    for (int i = 0; i < ANCHOR_TRIES; i++) { /* an interrupt widens one */
        uint64_t before = gnomon__ticks(), ns = system();
        uint64_t after = gnomon__ticks();
        uint64_t error = (after - before + 1) / 2 + clock_step;
        if (after >= before && error < best.error) {
            best.ticks = before + (after - before) / 2;
            best.ns = ns;
            best.error = error;
        }
    }
    return best;
}

/* ---- Moments ------------------------------------------------------------- */

/* Moments of the run with the system's clock, which show whether it was set.
 * A thread that takes an anchor keeps a moment if one is due. One thread at
 * a time; a second one skips it. When the array is full every other moment
 * is dropped, so that they stay about equally far apart. */

static uint32_t moments_owned;
static uint64_t moments_due = MOMENTS_DISTANCE_NS; /* when to keep the next */
static uint64_t moments_distance_ns = MOMENTS_DISTANCE_NS;
static gnomon__clock_moment kept_moments[MOMENTS_KEPT];
static size_t kept_count;
static gnomon__anchor unix_zero; /* right after the zero */

static int own_moments(void)
{
    uint32_t nobody = 0;
    return cas_acq_rel(&moments_owned, &nobody, 1);
}

static void thin_moments(void)
{
    for (size_t i = 1; i < MOMENTS_KEPT; i += 2)
        kept_moments[i / 2] = kept_moments[i];
    kept_count = MOMENTS_KEPT / 2;
    moments_distance_ns *= 2;
}

/* Keeps the present moment, `ticks`, if the last one kept is long ago; never waits.
 * `ns` is its ns, `rate` the rate of ticks. */
static void keep_moment(uint64_t ticks, uint64_t ns, uint64_t rate)
{
    if (ns < load_relaxed(&moments_due) || !own_moments())
        return;
    gnomon__anchor now = take_anchor(gnomon__os_unix_ns);
    if (now.error != UINT64_MAX && now.ticks >= ticks) {
        if (kept_count == MOMENTS_KEPT)
            thin_moments();
        kept_moments[kept_count++] = (gnomon__clock_moment){
            ns + gnomon__line_scale(now.ticks - ticks, rate), now.ns,
            gnomon__line_scale(now.error, rate) + 1};
        store_relaxed(&moments_due, ns + moments_distance_ns);
    }
    store_release(&moments_owned, 0);
}

/* ---- The start ------------------------------------------------------------- */

static void clock_begin(void)
{
    gnomon__line line;
    int is_counter = gnomon__counter_is_usable(&clock_step);
    gnomon__anchor first = {0, 0, UINT64_MAX};
    if (is_counter) {
        store_relaxed(&clock_kind_chosen, GNOMON__CLOCK_COUNTER);
        first = take_anchor(gnomon__os_monotonic_ns);
    }
    if (first.error == UINT64_MAX) {
        store_relaxed(&clock_kind_chosen, GNOMON__CLOCK_SYSTEM);
        clock_step = 0;
        first.ticks = first.ns = gnomon__os_monotonic_ns();
        gnomon__line_begin_exact(&line, first.ticks);
    } else {
        gnomon__line_begin(&line, &first);
    }
    clock_zero_ns = first.ns;
    unix_zero = take_anchor(gnomon__os_unix_ns);
    publish_line(load_relaxed(&clock_head), &line);
}

const char *gnomon__clock_name(void)
{
    if (gnomon__clock_kind() == GNOMON__CLOCK_SYSTEM)
        return "monotonic";
#if defined(__x86_64__)
    return "tsc";
#elif defined(__aarch64__)
    return "cntvct";
#else
    return "monotonic";
#endif
}

/* ---- Ticks to ns --------------------------------------------------------- */

/* Extends the line by an anchor taken now. 0: there is no rate, and there
 * will be none. */
static int draw_line_now(uint64_t until)
{
    gnomon__line line;
    uint64_t head = load_acquire(&clock_head);
    copy_line(&line, line_at_head(head));
    if (!is_still_head(head))
        return 1;
    gnomon__anchor now = take_anchor(gnomon__os_monotonic_ns);
    now.ns = now.ns > clock_zero_ns ? now.ns - clock_zero_ns : 0;
    if (gnomon__line_add(&line, &now, until))
        publish_line(head, &line);
    return line.rate || now.ns < GNOMON__LINE_FAR_NS;
}

/* ns of ticks that are not on the last piece, or above the limit. This also
 * notices that the counter began again: ticks below the last piece may then
 * be new. */
static __attribute__((__noinline__)) uint64_t find_ns(uint64_t ticks)
{
    gnomon__clock_start();
    for (int tries = 0;; tries++) {
        uint64_t head = load_acquire(&clock_head), now = gnomon__ticks();
        const gnomon__line *l = line_at_head(head);
        uint64_t rate = load_relaxed(&l->rate), until = ticks;
        /* Ticks of an epoch that is over, or invalid ones: no reason to move
         * the limit there. */
        if (ticks > now && (!rate || gnomon__line_scale(ticks - now, rate) >
                                         GNOMON__LINE_BACK_NS))
            until = now;
        int is_ready = until < load_relaxed(&l->limit) &&
                       !gnomon__line_began_again(l, now);
        if (!is_ready && tries < FIND_TRIES && draw_line_now(until))
            continue;
        uint64_t ns = gnomon__line_ns(l, ticks);
        if (is_still_head(head))
            return ns;
    }
}

uint64_t gnomon__clock_ns(uint64_t ticks)
{
    uint64_t head = load_acquire(&clock_head);
    const gnomon__line *l = line_at_head(head);
    uint64_t limit = load_relaxed(&l->limit);
    uint64_t from = load_relaxed(&l->end.ticks), ns = load_relaxed(&l->end.ns);
    uint64_t mult = load_relaxed(&l->end.mult);
    if (likely(ticks >= from && ticks < limit && is_still_head(head)))
        return ns + gnomon__line_scale(ticks - from, mult);
    return find_ns(ticks);
}

uint64_t gnomon__clock_ns_far(gnomon__line_part *near, uint64_t ticks)
{
    uint64_t head, ns = gnomon__clock_ns(ticks); /* so the limit is above */
    do {
        head = load_acquire(&clock_head);
        *near = gnomon__line_part_of(line_at_head(head), ticks);
    } while (!is_still_head(head));
    return ns;
}

uint64_t gnomon__clock_rate(uint64_t from, uint64_t to)
{
    uint64_t head, rate;
    (void)gnomon__clock_ns(to); /* the limit is above `to` from here on */
    do {
        head = load_acquire(&clock_head);
        rate = gnomon__line_rate(line_at_head(head), from, to);
    } while (!is_still_head(head));
    return rate;
}

/* ---- Anchors ------------------------------------------------------------- */

uint64_t gnomon__quiet_from, gnomon__quiet_ticks;

void gnomon__clock_anchor_due(uint64_t now)
{
    const gnomon__line *l = line_at_head(load_acquire(&clock_head));
    uint64_t rate = load_relaxed(&l->rate);
    if (!load_relaxed(&l->count)) /* not started */
        return;
    if (gnomon__line_began_again(l, now) ||
        (now >= load_relaxed(&l->limit) &&
         (!rate || gnomon__line_scale(now - load_relaxed(&l->last.ticks),
                                      rate) >= ANCHOR_DISTANCE_NS)))
        (void)draw_line_now(0);
    l = line_at_head(load_acquire(&clock_head));
    if (rate && now < load_relaxed(&l->limit))
        keep_moment(now, gnomon__line_ns(l, now), rate);
    store_relaxed(&gnomon__quiet_from, now);
    store_relaxed(&gnomon__quiet_ticks,
                  rate ? ((uint64_t)QUIET_NS << 32) / ((rate >> 16) + 1) : 0);
}

/* ---- Moments, read --------------------------------------------------------- */

size_t gnomon__clock_moments(gnomon__clock_moment out[GNOMON__CLOCK_MOMENTS])
{
    gnomon__clock_start();
    gnomon__anchor now = take_anchor(gnomon__os_unix_ns);
    uint64_t ns = gnomon__clock_ns(now.ticks); /* which makes a rate known */
    uint64_t rate = gnomon__clock_rate(unix_zero.ticks, now.ticks);
    size_t n = 1;
    out[0].ns = 0;
    out[0].unix_ns = unix_zero.ns - gnomon__clock_ns(unix_zero.ticks);
    out[0].error_ns = gnomon__line_scale(unix_zero.error, rate) + 1;
    for (int tries = 0; tries < MOMENTS_TRIES; tries++) {
        if (!own_moments())
            continue;
        for (size_t i = 0; i < kept_count && kept_moments[i].ns < ns; i++)
            out[n++] = kept_moments[i];
        store_release(&moments_owned, 0);
        break;
    }
    out[n].ns = ns;
    out[n].unix_ns = now.ns;
    out[n].error_ns = gnomon__line_scale(now.error, rate) + 1;
    return n + 1;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The order of the events of a thread, beside that of a plain stable sort: random tapes
 * of scopes, recursions, ranges, moments and long executions, on fine and coarse clocks.
 * Ten thousand tapes, with $GNOMON_SOAK a million. And how often events are moved. */
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"
#include "record/tape_read.h"
#include "recording_threads.h"

#define MOST_EVENTS 4096u
#define MOST_OPEN 1024u

/* A tape that is written: a clock, and the scopes that are open. */
typedef struct written_tape {
    gnomon__tape_events e;
    gnomon__tape_thread t;
    uint64_t now, coarse;
    uint64_t open[MOST_OPEN];
    size_t depth;
} written_tape;

static uint64_t dice_state;

static uint64_t dice(uint64_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (dice_state >> 33) % sides;
}

/* ---- The plain sort ------------------------------------------------------------------ */

static int is_moment(const gnomon__tape_entry *a)
{
    return GNOMON__ENTRY_KIND(a->what) != GNOMON_EVENT_EXECUTION;
}

/* Whether b, which was written before a, goes before it. */
static int plainly_before(const gnomon__tape_events *e,
                          const gnomon__tape_entry *b,
                          const gnomon__tape_entry *a)
{
    uint64_t of_b = gnomon__entry_length(e, b);
    uint64_t of_a = gnomon__entry_length(e, a);
    if (b->begin != a->begin)
        return b->begin < a->begin;
    return of_b != of_a ? of_b > of_a : is_moment(a);
}

/* Stable, of events in the reversed order of their records. */
static void sort_plainly(const gnomon__tape_events *e, gnomon__tape_entry *of,
                         gnomon__tape_entry *room, size_t count)
{
    size_t half = count / 2, i = 0, k = half, at = 0;
    if (count < 2)
        return;
    sort_plainly(e, of, room, half);
    sort_plainly(e, of + half, room, count - half);
    while (at < count)
        if (i < half && (k == count || !plainly_before(e, &of[k], &of[i])))
            room[at++] = of[i++];
        else
            room[at++] = of[k++];
    memcpy(of, room, count * sizeof *of);
}

/* ---- Tapes ---------------------------------------------------------------------------- */

static void write_event(written_tape *w, uint64_t begin, uint64_t length,
                        uint32_t kind)
{
    gnomon__tape_events *e = &w->e;
    uint32_t number = (uint32_t)w->t.count; /* tells equal events apart */
    uint32_t short_length = (uint32_t)length;
    uint32_t more = length >> 32 || kind != GNOMON_EVENT_EXECUTION || !dice(50);
    if (w->t.count == MOST_EVENTS)
        return;
    if (more) {
        e->more[e->more_count] = (gnomon__tape_more){.length = length};
        short_length = (uint32_t)e->more_count++;
    }
    w->t.entries[w->t.count++] = (gnomon__tape_entry){
        begin, short_length,
        kind << 30 | (more ? GNOMON__ENTRY_MORE : 0) | number};
}

static uint64_t clock_of(const written_tape *w)
{
    return w->now / w->coarse * w->coarse;
}

/* A scope may also end behind one that was opened later. */
static void end_one(written_tape *w)
{
    size_t which = dice(40) ? w->depth - 1 : dice(w->depth);
    uint64_t begin = w->open[which], now = clock_of(w);
    write_event(w, begin, now > begin ? now - begin : 0,
                GNOMON_EVENT_EXECUTION);
    memmove(&w->open[which], &w->open[which + 1],
            (--w->depth - which) * sizeof *w->open);
}

/* One of `deep` chances is a begin where no other is: tapes go deep. */
static void write_some(written_tape *w, size_t count, uint64_t deep)
{
    while (w->t.count < count) {
        uint64_t what = dice(100);
        w->now += dice(3) ? dice(4) : 0;
        if (!dice(5000))
            w->now += 1ull << 33;
        if (!dice(2000) && w->now > 100)
            w->now -= 100; /* on another processor */
        if (what < 3)
            write_event(w, clock_of(w), 0, GNOMON_EVENT_MARK);
        else if (what < 6)
            write_event(w, clock_of(w), 0, GNOMON_EVENT_COUNTER);
        else if (what < 9)
            write_event(w, clock_of(w) / 2, clock_of(w) - clock_of(w) / 2,
                        GNOMON_EVENT_EXECUTION);
        else if (w->depth && (w->depth == MOST_OPEN || dice(100) >= deep))
            end_one(w);
        else
            w->open[w->depth++] = clock_of(w);
    }
    while (w->depth)
        end_one(w);
}

static written_tape *new_tape(void)
{
    written_tape *w = calloc(1, sizeof *w);
    w->t.entries = gnomon__alloc(MOST_EVENTS * sizeof *w->t.entries);
    w->e.more = gnomon__alloc(MOST_EVENTS * sizeof *w->e.more);
    return w;
}

static written_tape *make_tape(uint64_t seed)
{
    written_tape *w = new_tape();
    dice_state = seed;
    w->now = 1000 + dice(1000);
    w->coarse = dice(2) ? 1 : 1 + dice(50);
    if (seed % 64 == 0) /* so that moves become too many */
        write_some(w, 3000, 70);
    else
        write_some(w, dice(150), 40 + dice(25));
    return w;
}

/* Frees it. */
static int check_order(written_tape *w, uint64_t seed)
{
    const size_t count = w->t.count, bytes = count * sizeof *w->t.entries;
    gnomon__tape_entry *plain = malloc(bytes + 1), *room = malloc(bytes + 1);
    for (size_t i = 0; i < count; i++)
        plain[i] = w->t.entries[count - 1 - i];
    sort_plainly(&w->e, plain, room, count);
    int is_same = gnomon__tape_sort(&w->e, &w->t) && w->t.count == count &&
                  memcmp(w->t.entries, plain, bytes) == 0;
    if (!CHECK(is_same))
        fprintf(stderr, "tape %llu\n", (unsigned long long)seed);
    gnomon__free(w->t.entries);
    gnomon__free(w->e.more);
    free(w);
    free(plain);
    free(room);
    return is_same;
}

TEST(soak_random_tapes_are_in_the_order_of_a_plain_sort)
{
    const uint64_t tapes = (uint64_t)live_times(10000, 1000000);
    for (uint64_t seed = 1; seed <= tapes && check_order(make_tape(seed), seed);
         seed++)
        ;
}

/* ---- Moves ---------------------------------------------------------------------------- */

/* The clock goes on at each `coarse` marks. */
static uint64_t clock_at_mark(written_tape *w)
{
    return w->now++ / w->coarse;
}

static void write_flat(written_tape *w)
{
    uint64_t begin = clock_at_mark(w);
    write_event(w, begin, clock_at_mark(w) - begin, GNOMON_EVENT_EXECUTION);
}

static void write_recursion(written_tape *w, int depth)
{
    uint64_t begin = clock_at_mark(w);
    if (depth > 1)
        write_recursion(w, depth - 1);
    write_event(w, begin, clock_at_mark(w) - begin, GNOMON_EVENT_EXECUTION);
}

static void write_deep(written_tape *w)
{
    write_recursion(w, 1000);
}

/* A step of 10 layers of 3 operations. */
static void write_step(written_tape *w)
{
    uint64_t step = clock_at_mark(w);
    for (int i = 0; i < 10; i++) {
        uint64_t layer = clock_at_mark(w);
        for (int k = 0; k < 3; k++)
            write_flat(w);
        write_event(w, layer, clock_at_mark(w) - layer, GNOMON_EVENT_EXECUTION);
    }
    write_event(w, step, clock_at_mark(w) - step, GNOMON_EVENT_EXECUTION);
}

TEST(an_event_is_moved_four_times_at_most_on_any_clock)
{
    static void (*const shapes[])(written_tape *) = {write_flat, write_deep,
                                                     write_step};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint64_t coarse = 1; coarse <= 10000; coarse *= 10) {
            written_tape *w = new_tape();
            w->coarse = coarse;
            while (w->t.count < MOST_EVENTS)
                shapes[i](w);
            gnomon__test_tape_moves = 0;
            check_order(w, coarse);
            CHECK(gnomon__test_tape_moves <= 4 * MOST_EVENTS);
        }
}

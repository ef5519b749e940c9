/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The order of a thread's events: by their begins. Records come in the order of ends, so
 * what ran inside an execution is one block just before it, and the execution goes in
 * front of that block. Few events are ordered so one by one; halves are merged in the same
 * way, by blocks, and of two halves only what is not in order yet is read or moved. What is
 * in the reversed order is turned round at once. So an event is moved less than four
 * times, in loops of scopes, recursions, and on coarse clocks. */
#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"
#include "record/tape_read.h"

#define FEW_EVENTS 32u

#ifdef GNOMON_TESTING
uint64_t gnomon__test_tape_moves;
#define MOVED(count) (gnomon__test_tape_moves += (count))
#else
#define MOVED(count) ((void)0)
#endif

/* Whether b goes before a, which was written after it. Executions come before moments of
 * no length; of equal executions the one that was written last comes first, as it is
 * around the others, and of equal moments the one that was written first. */
static int goes_before(const gnomon__tape_events *e,
                       const gnomon__tape_entry *b, const gnomon__tape_entry *a)
{
    if (b->begin != a->begin)
        return b->begin < a->begin;
    uint64_t length = gnomon__entry_length(e, b),
             other = gnomon__entry_length(e, a);
    if (length != other)
        return length > other;
    return GNOMON__ENTRY_KIND(a->what) != GNOMON_EVENT_EXECUTION;
}

/* Where `entry`, which was written after them, goes among `count` ordered ones. That is
 * near the end: the distance is doubled, and then halved. */
static size_t place_of_entry(const gnomon__tape_events *e,
                             const gnomon__tape_entry *of, size_t count,
                             const gnomon__tape_entry *entry)
{
    size_t low = count, high = count;
    for (size_t step = 1; low; step *= 2) {
        high = low;
        low = high > step ? high - step : 0;
        if (!goes_before(e, &of[low], entry))
            continue;
        for (low++; low < high;) {
            size_t middle = low + (high - low) / 2;
            if (goes_before(e, &of[middle], entry))
                low = middle + 1;
            else
                high = middle;
        }
        return high;
    }
    return 0;
}

/* The first `left` events are in order, and so are those behind them, which were written
 * after these. Only those that go before the last of the first are moved, each once, by
 * way of `other`, and the first a block at a time. */
static void merge_halves(const gnomon__tape_events *e, gnomon__tape_entry *of,
                         size_t left, size_t count, gnomon__tape_entry *other)
{
    size_t k = 0;
    while (left + k < count && !goes_before(e, &of[left - 1], &of[left + k])) {
        other[k] = of[left + k];
        k++;
    }
    while (k--) {
        size_t at = place_of_entry(e, of, left, &other[k]);
        memmove(&of[at + k + 1], &of[at], (left - at) * sizeof *of);
        MOVED(left - at + 1);
        of[at + k] = other[k];
        left = at;
    }
}

/* How many of the first events are in the reversed order: a recursion, or what began and
 * ended between two steps of a coarse clock. */
static size_t reversed_run(const gnomon__tape_events *e,
                           const gnomon__tape_entry *of, size_t count)
{
    size_t run = 1;
    while (run < count && !goes_before(e, &of[run - 1], &of[run]))
        run++;
    return run;
}

static void turn_round(gnomon__tape_entry *of, size_t count)
{
    for (size_t i = 0; i < --count; i++) {
        gnomon__tape_entry first = of[i];
        of[i] = of[count];
        of[count] = first;
        MOVED(2);
    }
}

/* `other` has room for half of them and FEW_EVENTS. */
static void order_events(const gnomon__tape_events *e, gnomon__tape_entry *of,
                         size_t count, gnomon__tape_entry *other)
{
    size_t half = count / 2, run = reversed_run(e, of, count);
    if (count > FEW_EVENTS && run < count) {
        order_events(e, of, half, other);
        order_events(e, of + half, count - half, other);
        merge_halves(e, of, half, count, other);
        return;
    }
    turn_round(of, run);
    for (size_t i = run; i < count; i += run) {
        run = reversed_run(e, of + i, count - i);
        turn_round(of + i, run);
        merge_halves(e, of, i, i + run, other);
    }
}

int gnomon__tape_sort(const gnomon__tape_events *e, gnomon__tape_thread *t)
{
    gnomon__tape_entry *other = NULL;
    size_t room = 0;
    if (!gnomon__grow(&other, &room, t->count / 2 + FEW_EVENTS, sizeof *other))
        return 0;
    order_events(e, t->entries, t->count, other);
    gnomon__free(other);
    return 1;
}

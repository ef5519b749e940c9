/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ends that come from another thread. Each thread has a list that any thread
 * pushes onto and its owner takes as a whole, under the lock. A push shuts the
 * owner's hot path, as a cut does, so that a mark need not check the list.
 *
 * Memory: 32 bytes for each end that waits, reused; at most
 * MOST_FOREIGN_ENDS for a thread, which cannot have more scopes open. */
#include "mark/foreign.h"

#include "mark/frame.h"
#include "mark/observer.h"
#include "mark/position.h"
#include "platform/ticks.h"
#include "platform/os.h"
#include "platform/process.h"

#define MOST_FOREIGN_ENDS 2048u
#define FOREIGN_END_BYTES 1024u
#define WORDS_RUN_ON 4u /* threads whose numbers a word may pass */

typedef struct foreign_end {
    uint64_t token;
    uint64_t end; /* ticks */
    uint32_t next;
    uint32_t reserved[3];
} foreign_end;

static uint32_t free_ends GNOMON__OF_PROCESS; /* under the lock */

static foreign_end *foreign_end_at(uint32_t at)
{
    return (foreign_end *)(void *)(gnomon__marks_arena.base + at);
}

/* Puts an end before those of a list. Under the lock. */
static void list_end(uint32_t *list, uint32_t at)
{
    foreign_end_at(at)->next = *list;
    store_relaxed(list, at);
}

/* Under the lock. 0: no memory. */
static uint32_t take_end(void)
{
    if (!free_ends) {
        uint32_t chunk =
            gnomon__chunk_take(FOREIGN_END_BYTES, GNOMON__FOR_PATHS);
        for (uint32_t i = 0; chunk && i < FOREIGN_END_BYTES;
             i += (uint32_t)sizeof(foreign_end))
            list_end(&free_ends, chunk + i);
    }
    uint32_t at = free_ends;
    free_ends = at ? foreign_end_at(at)->next : 0;
    return at;
}

/* ---- Telling --------------------------------------------------------------------- */

/* The thread that gave out the token. A word begins at its thread's number
 * and may run on past the number of the next thread, so threads before that
 * number are asked too. NULL: no thread gave it out. */
static gnomon__thread *owner_of(uint64_t token)
{
    uint64_t number = token >> GNOMON__TOKEN_SHIFT;
    if ((token & GNOMON__TOKEN_FLAGS) == GNOMON__TOKEN_BELOW_OTHER) {
        number = (token & ~GNOMON__TOKEN_FLAGS) >> GNOMON__TOKEN_SHIFT;
        return (uint32_t)token ? gnomon__thread_numbered(number) : NULL;
    }
    for (uint32_t i = 0; i < WORDS_RUN_ON && i <= number; i++) {
        gnomon__thread *t = gnomon__thread_numbered(number - i);
        if (t && token - t->born <= load_relaxed(&t->seq) - t->born)
            return t;
    }
    return NULL;
}

/* Under the lock. */
static int push_end(gnomon__thread *t, uint64_t token, uint64_t now)
{
    uint32_t at = t->foreign.waiting < MOST_FOREIGN_ENDS ? take_end() : 0;
    if (!at)
        return 0;
    foreign_end_at(at)->token = token;
    foreign_end_at(at)->end = now;
    list_end(&t->foreign.ends, at);
    t->foreign.waiting++;
    return 1;
}

int gnomon__foreign_end(uint64_t token)
{
    gnomon__thread *t = owner_of(token);
    if (!t)
        return 0;
    if (!load_relaxed(&t->alive) || !load_relaxed(&t->attached))
        return 1;         /* counted as left open; or not seen */
    gnomon__ticks_wait(); /* the begin was read before the token was sent */
    uint64_t now = gnomon__ticks();
    gnomon__lock();
    int is_told = 1;
    if (token & GNOMON__TOKEN_FLAGS)
        store_relaxed(&t->foreign.below_other, t->foreign.below_other + 1);
    else
        is_told = push_end(t, token, now);
    if (is_told)
        gnomon__thread_shut(t);
    gnomon__unlock();
    return is_told;
}

/* ---- Ending ---------------------------------------------------------------------- */

/* The end time, moved to the last begin inside the scope: before its thread
 * sees the end, it may begin more scopes inside. */
static uint64_t not_before(gnomon__thread *t, uint32_t bits, uint64_t token,
                           uint64_t end)
{
    gnomon__each_bit(bit, bits) {
        uint32_t node = gnomon__tree_find(t, bit, token);
        uint32_t at = gnomon__cursor_of(t, bit)->current;
        for (; at != node; at = gnomon__front_at(t, at)->parent) {
            uint64_t begin = gnomon__front_at(t, at)->begin;
            end = begin > end ? begin : end;
        }
    }
    return end;
}

/* Ends one scope. 0: only the owner may, as hooks saw it. */
static int end_foreign(gnomon__thread *t, const foreign_end *e, int on_owner)
{
    uint32_t bits, node = gnomon__trees_find(t, &bits, e->token);
    uint64_t now = not_before(t, bits, e->token, e->end);
    int has_frame = gnomon__frame_end_foreign(t, e->token, now, on_owner);
    if (has_frame < 0)
        return 0;
    if (!has_frame &&
        (!node || (gnomon__front_at(t, node)->token & GNOMON__TOKEN_ACTION))) {
        /* Else all who saw it are gone, or it was counted as left open. */
        if (e->token >= t->stale &&
            t->epoch == load_relaxed(&gnomon__observer_epoch))
            gnomon__trouble(t, foreign);
        return 1;
    }
    if (!has_frame)
        gnomon__close_in_trees(t, e->token, now);
    gnomon__each_bit(bit, bits)
        gnomon__tree_shorten(t, bit, now, 0, 0);
    return 1;
}

/* Ends scopes below an "(other)": only their number is known. */
static void end_foreign_below_other(gnomon__thread *t, uint32_t n)
{
    gnomon__tree *tree =
        t->hot_bit < GNOMON__BITS ? gnomon__tree_of(t, t->hot_bit) : NULL;
    uint32_t open = tree ? tree->other_depth : 0, known = open;
    if (tree && tree->other_depth_valid > open)
        known = tree->other_depth_valid; /* their "(other)" ended before them */
    if (n && known)
        tree->other_depth_valid = known;
    if (open)
        tree->other_depth -= n < open ? n : open;
    for (; n > known; n--)
        gnomon__trouble(t, foreign);
}

/* Takes the list and sorts it, the earliest end first. Pushed last is mostly
 * the latest. Under the lock. */
static uint32_t take_in_order(gnomon__thread *t)
{
    uint32_t sorted = 0;
    for (uint32_t at = t->foreign.ends, next; at; at = next) {
        uint32_t *to = &sorted;
        next = foreign_end_at(at)->next;
        while (*to && foreign_end_at(*to)->end < foreign_end_at(at)->end)
            to = &foreign_end_at(*to)->next;
        list_end(to, at);
    }
    store_relaxed(&t->foreign.ends, 0);
    return sorted;
}

void gnomon__foreign_take(gnomon__thread *t, int on_owner)
{
    gnomon__lock();
    uint32_t at = take_in_order(t), below = t->foreign.below_other;
    if (on_owner)
        store_relaxed(&t->foreign.below_other, 0);
    gnomon__unlock();
    if (on_owner)
        end_foreign_below_other(t, below);
    for (uint32_t next; at; at = next) {
        next = foreign_end_at(at)->next;
        int is_over = end_foreign(t, foreign_end_at(at), on_owner);
        gnomon__lock();
        list_end(is_over ? &free_ends : &t->foreign.ends, at);
        t->foreign.waiting -= (uint32_t)is_over;
        gnomon__unlock();
    }
}

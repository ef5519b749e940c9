/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* States of threads, from the first mark to the thread's end. The state of
 * an ended thread keeps its trees and is taken over by the next thread of
 * its name, so that a program which keeps starting threads needs memory only
 * for those that run at one time. */
#include "mark/thread.h"

#include <errno.h>
#include <string.h>

#include "mark/foreign.h"
#include "mark/frame.h"
#include "mark/recorder.h"
#include "mark/segment.h"
#include "mark/observer.h"
#include "mark/tape.h"
#include "mark/tls.h"
#include "mark/upcall.h"
#include "platform/clock.h"
#include "platform/os.h"
#include "platform/process.h"

#define DEAD_LIMIT 1024u /* with more than these, any free state is taken */

const char gnomon__ended_threads[] = "(ended threads)";

static uint32_t dead_count GNOMON__OF_PROCESS;
static uint64_t first_word; /* above all words of the process forked from */

/* Destructors of other keys may mark after ours has run. */
static __thread int has_ended GNOMON__TLS;

/* ---- A thread's end ---------------------------------------------------------- */

/* Ends what is open, as unfinished. Returns how many scopes these were: the
 * largest number that a tree or the hooks have open. */
static uint64_t abandon(gnomon__thread *t)
{
    uint64_t most = gnomon__frames_abandon(t);
    gnomon__lock();
    gnomon__thread_take_changes(t);
    gnomon__each_bit(bit, t->tree_bits) {
        uint64_t open = gnomon__tree_abandon(t, bit);
        if (open > most)
            most = open;
    }
    gnomon__unlock();
    return most;
}

void gnomon__thread_give_up(gnomon__thread *t)
{
    gnomon__tls_set(&gnomon__no_thread);
    gnomon__frames_drop(t);
    t->stale = load_relaxed(&t->seq);
    gnomon__leave(t);
    gnomon__thread_shut(t);
    store_relaxed(&t->alive, 0);
    dead_count += !t->is_torn;
}

/* Whether the end waits for the next round of destructors: those of keys that were made
 * later than ours may still mark, and end what is open. They cannot where the thread was
 * cancelled inside a mark; then a detach that waits for that mark must not wait for
 * them. */
static int is_too_early(gnomon__thread *t)
{
    if (t->watched != GNOMON__WATCHED || (load_relaxed(&t->seq) & 1))
        return 0;
    t->watched = GNOMON__WATCHED_LAST;
    return gnomon__thread_watch_again(t);
}

/* A thread whose host named it after its first mark keeps that name when it ends, but its
 * state is not found by the name that the next such thread begins with. So only few do. */
#define MOST_RENAMED 64u

/* Stored by words, as readers load them. */
static void set_os_name(gnomon__thread *t, const char *os_name)
{
    uint64_t words[2];
    memcpy(words, os_name, sizeof words);
    store_relaxed(&t->os_name[0], words[0]);
    store_relaxed(&t->os_name[1], words[1]);
}

/* The destructor of the thread's key. If the word is odd, the thread was
 * cancelled inside a mark, between any two instructions or in a callback,
 * and that mark may be half done. The chains that are walked here are whole,
 * as changes of several words are made under the guard; but no other thread
 * takes such a state over. */
static void thread_over(void *state)
{
    gnomon__thread *t = state;
    if (t != gnomon__tls_now()->thread)
        return; /* of the process that this one was forked from */
    if (is_too_early(t))
        return;
    int cancel = gnomon__os_cancel_off();
    uint64_t word = load_relaxed(&t->seq);
    store_relaxed(&t->is_torn, (uint8_t)(word & 1));
    store_relaxed(&t->seq, word | 1);
    store_relaxed(&t->in_hook, 0); /* a callback may have ended the thread */
    fence_release();               /* both before what is written now */
    if (!t->is_torn)
        gnomon__thread_settle(t); /* others may have ended scopes of it */
    uint64_t open = abandon(t);
    if (open)
        store_relaxed(&t->health.left_open, t->health.left_open + open);
    for (uint32_t at = t->actions.list; at;) {
        gnomon__action *a = gnomon__at(t, at);
        a->token = 0;
        at = a->next;
    }
    char os_name[16];
    gnomon__os_thread_name(os_name);
    gnomon__lock();
    has_ended = 1;
    if (!t->named && t->lives == 1 && dead_count < MOST_RENAMED)
        set_os_name(t, os_name);
    gnomon__thread_give_up(t);
    gnomon__unlock();
    gnomon__os_cancel_back(cancel);
}

/* ---- A forked child --------------------------------------------------------- */

/* In a forked child: forgets all threads. The child's tokens are above all
 * of the parent's, so that none names an execution of both. A mark that the
 * fork interrupted, by a handler or in a callback, ends in the state that it
 * has. */
void gnomon__threads_forget(void)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    gnomon__each_thread(its) {
        uint64_t word = load_relaxed(&its->seq);
        word &= (1ull << GNOMON__TOKEN_SHIFT) - 1;
        if (word > first_word)
            first_word = (word + 2) & ~1ull;
    }
    store_relaxed(&gnomon__forks, gnomon__forks + 1);
    store_relaxed(&gnomon__thread_total, 0);
    gnomon__no_thread.health = (gnomon__mark_counts){0};
    if (t == &gnomon__no_thread) {
        if (!gnomon__busy()) /* else in a first mark, which goes on in it */
            gnomon__chunks_forget();
        return;
    }
    t->epoch = gnomon__observer_epoch; /* there is nothing to adopt */
    t->segment = gnomon__segment;
    t->open_bits = t->attached = 0;
    t->foreign.ends = t->foreign.waiting = t->foreign.below_other = 0;
    t->recorder_bits = t->tree_bits = t->end_only_bits = 0;
    gnomon__thread_shut(t);
    if (gnomon__busy())
        return;
    gnomon__chunks_forget();
    /* A handler that forked may have come right before the word turned odd:
     * that mark then counts in the parent's memory, which stays mapped. */
    gnomon__tls_now()->guess = 0;
    fence_signal();
    gnomon__tls_now()->thread = &gnomon__no_thread;
}

/* ---- A thread's first mark --------------------------------------------------- */

/* Under the lock. A torn state, of a thread that was cancelled inside a
 * mark, is never free. */
static int is_free(const gnomon__thread *t)
{
    return !t->alive && !load_relaxed(&t->is_torn);
}

/* A state whose thread ended: with this given name, or this name of the
 * system, or any. NULL: none. */
static gnomon__thread *find_dead(const char *os_name, const char *name)
{
    if (!dead_count)
        return NULL;
    gnomon__each_thread(t) {
        const char *its = !t->named == !name ? t->name : NULL;
        const char *wanted = name ? name : os_name;
        if (is_free(t) && (!wanted || (its && strcmp(its, wanted) == 0)))
            return t;
    }
    return NULL;
}

static gnomon__thread *make_state(void)
{
    gnomon__arena *arena = &gnomon__marks_arena;
    uint32_t number = gnomon__thread_total;
    uint32_t bytes = ((uint32_t)sizeof(gnomon__thread) + 1023) & ~1023u;
    if (number >= GNOMON__MAX_THREADS || !arena->base)
        return NULL;
    uint32_t at = gnomon__arena_take(arena, bytes);
    if (!at && !(at = gnomon__chunk_take(bytes, GNOMON__FOR_OTHER)))
        return NULL;
    gnomon__thread *t = (gnomon__thread *)(void *)(arena->base + at);
    t->base = t->ground = arena->base;
    t->seq = ((uint64_t)number << GNOMON__TOKEN_SHIFT) | first_word | 1;
    t->born = t->seq;
    t->number = number;
    t->segment = gnomon__segment;
    t->segment_begin = gnomon__segment_begin;
    t->hot.pending = GNOMON__NO_CELL;
    t->actions.slots = gnomon__no_slots;
    gnomon__slots_clear(t->actions.slots);
    t->hot_bit = GNOMON__BITS;
    gnomon__thread_shut(t);
    t->name = (const char *)t->os_name;
    store_release(&gnomon__threads[number], t);
    store_release(&gnomon__thread_total, number + 1);
    return t;
}

/* Whether less than an eighth of the arena is left, which paths, frames and names need.
 * Events leave a quarter. */
static int is_short_of_room(void)
{
    const gnomon__arena *arena = &gnomon__marks_arena;
    return load_relaxed(&arena->used) > arena->size - arena->size / 8;
}

/* A state for a new thread. Beyond DEAD_LIMIT ended threads, threads with
 * new names share one state; what ended before keeps its name. If memory is
 * short, or no state can be made, the state of any ended thread is used. */
static gnomon__thread *find_state(const char *os_name, const char *name)
{
    gnomon__thread *t = find_dead(os_name, name);
    int is_many = dead_count > DEAD_LIMIT, is_short = is_short_of_room();
    int is_new_name = !t;
    if (!t && (is_many || is_short))
        t = find_dead(NULL, gnomon__ended_threads);
    if (!t && is_short)
        t = find_dead(NULL, NULL);
    if (!t)
        t = make_state();
    if (!t)
        t = find_dead(NULL, NULL);
    if (t && !(load_relaxed(&t->seq) & 1)) { /* one that ended */
        store_relaxed(&t->seq, load_relaxed(&t->seq) | 1);
        fence_release(); /* before what is written now */
        dead_count--;
        is_many |= is_new_name;
    }
    if (t && is_new_name && is_many) {
        t->named = 1;
        store_release(&t->name, gnomon__ended_threads);
    }
    return t;
}

/* The key for the ends of threads is made here too: not every C library can
 * make keys in a signal handler. */
int gnomon__marks_map(uint64_t budget)
{
    if (gnomon__marks_arena.base)
        return GNOMON_OK;
    gnomon__arena arena;
    int code = gnomon__arena_map(&arena, budget);
    if (code)
        return code;
    /* All pieces are multiples of 1 KiB, so all are aligned to it. */
    gnomon__arena_take(&arena, 1024 - arena.used);
    gnomon__lock();
    gnomon__marks_arena = arena;
    gnomon__threads_watch(thread_over);
    gnomon__unlock();
    return GNOMON_OK;
}

gnomon__thread *gnomon__thread_enter(const char *name)
{
    char os_name[16];
    if (gnomon__busy() || has_ended) {
        gnomon__trouble(&gnomon__no_thread, reentered);
        return NULL;
    }
    int kept = errno;
    uint32_t forks = load_relaxed(&gnomon__forks);
    gnomon__guard();
    if (gnomon__tls_now()->thread !=
        &gnomon__no_thread) { /* a handler came first */
        gnomon__unguard();
        return gnomon__enter();
    }
    gnomon__os_thread_name(os_name);
    gnomon__lock();
    gnomon__thread *t = find_state(os_name, name);
    if (t) {
        store_relaxed(&t->alive, 1);
        store_relaxed(&t->lives, t->lives + 1);
        store_relaxed(&t->os_id, gnomon__os_thread_id());
        t->error = &errno;
        if (!t->named)
            set_os_name(t, os_name);
        t->watched = GNOMON__UNWATCHED;
        t->leave_serial = gnomon__leave_serial; /* nothing is open */
        gnomon__thread_take_changes(t);
        gnomon__thread_watch(t);
    } else if (!name) { /* a name alone is no mark that is lost */
        gnomon__trouble(&gnomon__no_thread, lost_scopes);
    }
    if (unlikely(forks != load_relaxed(&gnomon__forks))) {
        /* A handler forked amid this: the child has no thread yet. */
        gnomon__tls_set(&gnomon__no_thread);
        store_relaxed(&gnomon__thread_total, 0);
        dead_count = 0;
        t = NULL;
    }
    gnomon__unlock();
    gnomon__unguard();
    errno = kept;
    return t;
}

int gnomon__is_refused(void)
{
    if (gnomon__is_reentered())
        return 1;
    if (gnomon__upcall_start())
        return 0;
    gnomon__trouble(&gnomon__no_thread, reentered);
    return 1;
}

gnomon__thread *gnomon__enter(void)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (t == &gnomon__no_thread) {
        if ((load_relaxed(&gnomon_enabled) & GNOMON_MASK_UNSEEN) &&
            !gnomon__upcall_start()) {
            gnomon__trouble(t, reentered);
            return NULL;
        }
        if (!load_relaxed(&gnomon_enabled))
            return NULL; /* off: nothing is kept of threads */
        return gnomon__thread_enter(NULL);
    }
    uint64_t seq = load_relaxed(&t->seq);
    if (seq & 1) {
        gnomon__trouble(t, reentered);
        return NULL;
    }
    gnomon__word_add(&t->seq, 1);
    fence_release(); /* the odd word before what is written now */
    gnomon__thread_settle(t);
    return t;
}

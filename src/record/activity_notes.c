/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One table for the process, in the memory for marks: a correlation has one slot, and a
 * later one takes it over. Vendors count correlations up, so a note stays for as many
 * launches as there are slots.
 *
 * A slot is a copy that is checked by a word: odd while somebody writes it. Of two
 * launches that write one slot at once the second is not noted. */
#include "record/activity_notes.h"

#include "mark/observer.h"
#include "mark/position.h"
#include "mark/segment.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "platform/process.h"

#define MOST_NOTES 65536u /* 4 MiB, of which the used ones take pages */
#define NOTES_SHARE 8u    /* of mem=, at most */

/* A line of the cache. */
typedef struct work_slot {
    uint64_t key; /* source and correlation */
    uint64_t ticks;
    uint32_t written; /* odd: somebody writes it */
    uint32_t launcher;
    uint32_t launched_in; /* segment */
    uint32_t events;
    uint32_t of_view[GNOMON__ACTIVITY_VIEWS]; /* generations */
    uint32_t at_path[GNOMON__ACTIVITY_VIEWS];
} work_slot;
_Static_assert(sizeof(work_slot) == 64, "a line of the cache");

gnomon__activity_view
    gnomon__activity_views[GNOMON__ACTIVITY_VIEWS] GNOMON__OF_PROCESS;
uint32_t gnomon__activity_bits GNOMON__OF_PROCESS;
static work_slot *work_slots GNOMON__OF_PROCESS;    /* stays once it is made */
static uint32_t work_slot_count GNOMON__OF_PROCESS; /* a power of two */

int gnomon__activity_notes_make(void)
{
    uint32_t count = MOST_NOTES, at;
    if (load_relaxed(&work_slots))
        return 1;
    while (count * sizeof(work_slot) > gnomon__marks_arena.size / NOTES_SHARE)
        count /= 2;
    at = count ? gnomon__chunk_take(count * (uint32_t)sizeof(work_slot),
                                    GNOMON__FOR_PATHS)
               : 0;
    if (!at)
        return 0;
    work_slot_count = count;
    store_release(&work_slots,
                  (work_slot *)(void *)(gnomon__marks_arena.base + at));
    return 1;
}

uint32_t gnomon__activity_view_of(uint32_t generation)
{
    uint32_t i = 0;
    while (i < GNOMON__ACTIVITY_VIEWS &&
           load_relaxed(&gnomon__activity_views[i].generation) != generation)
        i++;
    return i;
}

#define NOTE_IS_OWN \
    (1u << 31) /* in the word of events, which has a bit a view */

/* Sources count from small numbers, so each begins in another part of the table. */
static work_slot *note_slot(work_slot *all, uint32_t source,
                            uint64_t correlation)
{
    uint32_t first = source * (work_slot_count / GNOMON__ACTIVITY_SOURCES);
    return &all[(first + (uint32_t)correlation) & (work_slot_count - 1)];
}

/* The thread's number of its innermost open path in the view; 0: none. */
static uint32_t innermost_path(gnomon__thread *t, uint32_t bit,
                               uint32_t generation)
{
    if (!t->states[bit] || t->generations[bit] != generation)
        return 0;
    uint32_t node = gnomon__cursor_of(t, bit)->current;
    return node == gnomon__tree_of(t, bit)->root
               ? 0
               : gnomon__node_at(t, node)->number;
}

/* `t`: the calling thread, entered; NULL: it has no open scope. */
static void fill_note(gnomon__activity_note *n, gnomon__thread *t)
{
    uint32_t open = load_relaxed(&gnomon__open_bits);
    n->ticks = gnomon__ticks();
    n->thread = t ? t->number : GNOMON__NO_LAUNCHER;
    n->segment = t ? t->segment : load_relaxed(&gnomon__segment);
    n->events = 0;
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        const gnomon__activity_view *v = &gnomon__activity_views[i];
        uint32_t generation = load_acquire(&v->generation);
        uint32_t bit = load_relaxed(&v->bit);
        n->generation[i] = open >> bit & 1 ? generation : 0;
        n->path[i] = t && generation ? innermost_path(t, bit, generation) : 0;
        if (open & load_relaxed(&v->tapes))
            n->events |= 1u << i;
    }
}

static void write_note(work_slot *s, uint64_t key,
                       const gnomon__activity_note *n)
{
    uint32_t written = load_relaxed(&s->written);
    if (written & 1 || !cas_acq_rel(&s->written, &written, written + 1))
        return;
    fence_release(); /* the odd word before what is written now */
    store_relaxed(&s->key, key);
    store_relaxed(&s->ticks, n->ticks);
    store_relaxed(&s->launcher, n->thread);
    store_relaxed(&s->launched_in, n->segment);
    store_relaxed(&s->events, n->events);
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        store_relaxed(&s->of_view[i], n->generation[i]);
        store_relaxed(&s->at_path[i], n->path[i]);
    }
    store_release(&s->written, written + 2);
}

void gnomon__activity_note_launch(uint32_t source, uint64_t correlation,
                                  int is_own)
{
    work_slot *all = load_acquire(&work_slots);
    gnomon__activity_note note;
    if (!load_relaxed(&gnomon__activity_bits) || !all || !correlation)
        return;
    /* A launch inside a callback of ours is of no scope: its thread is busy. */
    gnomon__thread *t = gnomon__tls_now()->thread;
    t = t == &gnomon__no_thread || gnomon__busy() ? NULL : gnomon__enter();
    fill_note(&note, t);
    if (t)
        gnomon__leave(t);
    if (is_own)
        note.events = NOTE_IS_OWN;
    write_note(note_slot(all, source, correlation),
               gnomon__note_key(source, correlation), &note);
}

enum gnomon__activity_noted gnomon__activity_noted(uint32_t source,
                                                   uint64_t correlation)
{
    work_slot *all = load_acquire(&work_slots);
    const work_slot *s =
        all && correlation ? note_slot(all, source, correlation) : NULL;
    if (!s || load_relaxed(&s->key) != gnomon__note_key(source, correlation))
        return GNOMON__NOT_NOTED;
    return load_relaxed(&s->events) & NOTE_IS_OWN ? GNOMON__NOTED_OWN
                                                  : GNOMON__NOTED;
}

int gnomon__activity_note_find(gnomon__activity_note *out, uint32_t source,
                               uint64_t correlation, uint64_t begin_ns)
{
    work_slot *all = load_acquire(&work_slots);
    if (all && correlation) {
        const work_slot *s = note_slot(all, source, correlation);
        uint32_t written = load_acquire(&s->written);
        uint64_t key = load_relaxed(&s->key);
        out->ticks = load_relaxed(&s->ticks);
        out->thread = load_relaxed(&s->launcher);
        out->segment = load_relaxed(&s->launched_in);
        out->events = load_relaxed(&s->events);
        for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
            out->generation[i] = load_relaxed(&s->of_view[i]);
            out->path[i] = load_relaxed(&s->at_path[i]);
        }
        fence_acquire();
        if (!(written & 1) && load_relaxed(&s->written) == written &&
            key == gnomon__note_key(source, correlation))
            return 1;
    }
    fill_note(out, NULL);
    if (out->segment > 1 &&
        begin_ns < gnomon__clock_ns(load_relaxed(&gnomon__segment_begin)))
        out->segment--;
    return 0;
}

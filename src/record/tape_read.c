/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies the blocks of tapes. What to copy is listed under the lock, where no block
 * changes its use; the bytes are copied without it. A block that got another use
 * meanwhile is seen by its serial: what it held is lost, and counted. */
#include "record/tape_read.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "mark/foreign.h"
#include "mark/observer.h"
#include "mark/segment.h"
#include "platform/ticks.h"

#define HEAD ((uint32_t)sizeof(gnomon__tape_block))
#define RECORD ((uint32_t)sizeof(gnomon__tape_record))

/* A part of a block, as it was when it was listed. */
typedef struct tape_piece {
    uint64_t serial;
    uint32_t at, used, thread;
    uint32_t reserved;
} tape_piece;

typedef struct tape_pieces {
    tape_piece *of;
    size_t count, room, wanted;
    size_t full; /* so many of the queue's blocks are among them */
} tape_pieces;

/* ---- Where a reader is ------------------------------------------------------------ */

static enum gnomon__tape_reader tape_reader_of(enum gnomon__tape_which which)
{
    return gnomon__tape_is_of_stage(which) ? GNOMON__TAPE_STAGES
           : gnomon__tape_is_cycle(which)  ? GNOMON__TAPE_CYCLES
                                           : GNOMON__TAPE_WHOLE;
}

/* From its cursor on, and from where somebody may still need something. */
static void set_cursor(const gnomon__tape_events *e, gnomon__tape_thread *to,
                       const gnomon__tape *tape)
{
    const gnomon__tape_cursor *whole = &tape->cursors[GNOMON__TAPE_WHOLE],
                              *stages = &tape->cursors[GNOMON__TAPE_STAGES];
    const int is_on_time = gnomon__tape_is_on_time(tape),
              is_of_stage = gnomon__tape_is_of_stage(e->which);
    gnomon__tape_cursor *c = &to->cursor;
    *c = tape->cursors[tape_reader_of(e->which)];
    if (gnomon__tape_is_before(c->from, whole->from)) {
        c->from = whole->from;
        c->told = 0;
    }
    to->is_taped = 1;
    to->began = tape->began;
    to->cut_at = tape->cut_at;
    to->gone = tape->gone;
    to->first_segment = tape->first_segment;
    to->is_live =
        !is_of_stage && (e->which != GNOMON__TAPE_OVER || !is_on_time);
    to->until = c->from;
    if (!to->is_live && is_on_time)
        to->until = stages->to;
    if (gnomon__tape_is_before(to->until, c->from))
        to->until = c->from;
}

/* ---- Which blocks ----------------------------------------------------------------- */

/* A block, of which so much is written. */
static void list_piece(tape_pieces *p, uint32_t at, uint32_t thread,
                       uint32_t used)
{
    p->wanted++;
    if (p->count < p->room)
        p->of[p->count++] = (tape_piece){
            .serial = load_relaxed(&gnomon__tape_block_at(at)->serial),
            .at = at,
            .used = used,
            .thread = thread};
}

/* Whether all of a full block is before the cursor. Records of earlier stages may link to
 * an execution that ends in this one. */
static int is_before_cursor(const gnomon__tape_events *e,
                            const gnomon__tape_block *b)
{
    return !gnomon__tape_is_late(e->which) &&
           !gnomon__tape_is_before(e->threads[b->thread].cursor.from,
                                   gnomon__tape_behind(b));
}

/* Whether these are all. */
static int list_full(tape_pieces *p, const gnomon__tape_events *e,
                     uint32_t first)
{
    size_t bytes = 0;
    uint32_t at = first;
    for (; at && (!e->most || bytes < e->most);
         at = gnomon__tape_block_at(at)->next) {
        const gnomon__tape_block *b = gnomon__tape_block_at(at);
        if (b->thread >= e->thread_count) {
            if (e->most)
                return 0; /* its thread came meanwhile: the next time */
            continue;
        }
        bytes += b->used;
        p->full++;
        if (!is_before_cursor(e, b))
            list_piece(p, at, b->thread, b->used);
    }
    return !at;
}

/* A thread's own block. What it lost before that is read with the blocks before it. */
static void list_open(tape_pieces *p, const gnomon__tape_events *e,
                      gnomon__tape_thread *t, const gnomon__tape *tape)
{
    uint64_t number = load_relaxed(&tape->number);
    if (t->is_live && number > t->until.number)
        t->until.number = number;
    if (tape->block && !e->most)
        list_piece(p, tape->block, t->thread,
                   gnomon__tape_used(tape, load_acquire(&tape->next)));
}

/* Under the lock: no thread has another block until it is free. */
static void list_pieces(tape_pieces *p, gnomon__tape_events *e)
{
    const gnomon__tape_pool *pool = &gnomon__tape_pools[e->bit];
    const gnomon__tape *tape;
    p->count = p->wanted = p->full = 0;
    if (pool->generation != e->generation)
        return;
    e->since = pool->since;
    e->now = gnomon__ticks();
    for (uint32_t i = 0; i < e->thread_count; i++)
        if ((tape = gnomon__tape_with(gnomon__threads[i], e->bit,
                                      e->generation)) != NULL)
            set_cursor(e, &e->threads[i], tape);
    int are_all = list_full(p, e, pool->first);
    for (uint32_t i = 0; i < e->thread_count && are_all; i++)
        if ((tape = gnomon__tape_with(gnomon__threads[i], e->bit,
                                      e->generation)) != NULL)
            list_open(p, e, &e->threads[i], tape);
}

static int list_all(tape_pieces *p, gnomon__tape_events *e)
{
    for (;;) {
        gnomon__lock();
        list_pieces(p, e);
        int is_whole = p->wanted <= p->room;
        gnomon__unlock();
        if (is_whole)
            return 1;
        if (!gnomon__grow(&p->of, &p->room, p->wanted + p->wanted / 4 + 16,
                          sizeof *p->of))
            return 0;
    }
}

/* ---- Bytes -------------------------------------------------------------------- */

/* Relaxed word by word: its thread may be writing. */
static void copy_records(gnomon__tape_entry *to, uint32_t at, uint32_t bytes)
{
    const uint64_t *from = (const void *)(gnomon__marks_arena.base + at);
    for (size_t i = 0; i < bytes / 16; i++) {
        uint64_t words[2] = {load_relaxed(&from[2 * i]),
                             load_relaxed(&from[2 * i + 1])};
        memcpy(&to[i], words, sizeof words);
    }
}

/* With its place in front of them. */
static uint32_t records_of(const tape_piece *p)
{
    return (p->used - HEAD) / RECORD + 1;
}

/* At once: an array that grows copies what it has, and new pages cost as much as all
 * else. 0: no memory. */
static int room_for_pieces(gnomon__tape_events *e, const tape_pieces *pieces)
{
    int ok = 1;
    for (size_t i = 0; i < pieces->count; i++)
        e->threads[pieces->of[i].thread].count += records_of(&pieces->of[i]);
    for (size_t i = 0; ok && i < e->thread_count; i++) {
        gnomon__tape_thread *t = &e->threads[i];
        ok = gnomon__grow(&t->entries, &t->room, t->count, RECORD);
        t->count = 0;
    }
    return ok;
}

/* A block that was overwritten meanwhile is left out, and so it is missing. */
static void copy_piece(gnomon__tape_thread *t, const tape_piece *p)
{
    uint32_t count = records_of(p);
    copy_records(t->entries + t->count, p->at + HEAD - RECORD, count * RECORD);
    fence_acquire();
    if (load_relaxed(&gnomon__tape_block_at(p->at)->serial) == p->serial)
        t->count += count;
}

/* ---- Open ranges ------------------------------------------------------------------ */

/* Marks under way may have read the clock before, or found the range on the tape. */
static void await_marks(void)
{
    gnomon__observer_barrier();
    (void)gnomon__observer_marks_over(0);
}

static void lose_open(void *to, uint32_t thread, uint64_t begin,
                      uint32_t segment)
{
    (void)segment;
    gnomon__tape_events *e = to;
    gnomon__tape_lose(&e->threads[thread].lost, 1, begin, begin);
}

/* Ranges that are open though their cycle is over are lost to it: no later profile may
 * come. Where others need the tape too, their events come, and a later cycle loses them. */
static void lose_opens(gnomon__tape_events *e)
{
    const uint64_t told = gnomon__tape_pools[e->bit].told[GNOMON__TAPE_CYCLES];
    await_marks();
    gnomon__ranges_lose(e->bit, told ? told : e->from, e->until,
                        (uint32_t)e->thread_count, lose_open, e);
    await_marks();
}

/* ---- The whole ----------------------------------------------------------------- */

void gnomon__tape_told(const gnomon__tape_events *e)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[e->bit];
    gnomon__lock();
    for (size_t i = 0; i < e->thread_count; i++) {
        const gnomon__tape_thread *t = &e->threads[i];
        gnomon__tape *tape =
            gnomon__tape_with(gnomon__threads[i], e->bit, e->generation);
        if (!tape || !t->is_taped || e->which < GNOMON__TAPE_PART)
            continue;
        tape->cursors[tape_reader_of(e->which)] = t->cursor;
        if (e->which == GNOMON__TAPE_CYCLE_ALONE)
            tape->cursors[GNOMON__TAPE_WHOLE] = t->cursor;
    }
    if (gnomon__tape_is_cycle(e->which) && pool->generation == e->generation) {
        pool->told[GNOMON__TAPE_CYCLES] = e->until;
        if (e->which == GNOMON__TAPE_CYCLE_ALONE) {
            pool->told[GNOMON__TAPE_WHOLE] = e->until;
            gnomon__tape_give_over(e->bit);
        }
    }
    gnomon__unlock();
}

void gnomon__tape_events_free(gnomon__tape_events *e)
{
    for (size_t i = 0; i < e->thread_count; i++)
        gnomon__free(e->threads[i].entries);
    gnomon__free(e->threads);
    gnomon__free(e->more);
    gnomon__free(e->named);
    gnomon__free(e->links);
    gnomon__free(e->steps);
    memset(e, 0, sizeof *e);
}

/* A thread's blocks are in the queue in the order in which they were full, and its own
 * comes last. */
static int copy_and_decode(gnomon__tape_events *e)
{
    tape_pieces pieces = {0};
    int ok = list_all(&pieces, e) && room_for_pieces(e, &pieces);
    for (size_t i = 0; ok && i < pieces.count; i++)
        copy_piece(&e->threads[pieces.of[i].thread], &pieces.of[i]);
    if (ok && e->which == GNOMON__TAPE_PART)
        gnomon__tape_streamed(e->bit, e->generation, pieces.full);
    gnomon__free(pieces.of);
    ok = ok && gnomon__tape_decode(e);
    if (ok && gnomon__tape_is_of_stage(e->which))
        gnomon__tape_told(e);
    return ok;
}

int gnomon__tape_read(gnomon__tape_events *e)
{
    gnomon__foreign_settle();
    uint32_t total = load_acquire(&gnomon__thread_total);
    e->threads = gnomon__alloc((total + 1) * sizeof *e->threads);
    if (e->threads) {
        e->thread_count = total;
        for (uint32_t i = 0; i < total; i++)
            e->threads[i].thread = i;
        if (e->which == GNOMON__TAPE_CYCLE_ALONE)
            lose_opens(e);
        if (copy_and_decode(e))
            return GNOMON_OK;
        gnomon__tape_events_free(e);
    }
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the events of a profile");
}

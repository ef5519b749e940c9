/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies the blocks of tapes. What to copy is listed under the lock, where no block
 * changes its use; the bytes are copied without it. A block that got another use
 * meanwhile is seen by its serial: what it held is lost, and counted. */
#include "record/tape_read.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "mark/observer.h"
#include "mark/segment.h"

#define HEAD ((uint32_t)sizeof(gnomon__tape_block))

/* A part of a block, as it was when it was listed. */
typedef struct tape_piece {
    uint64_t serial;
    uint32_t at, used, thread;
    uint32_t events; /* of a full block */
    uint64_t first, last;
} tape_piece;

typedef struct tape_pieces {
    tape_piece *of;
    size_t count, room, wanted;
} tape_pieces;

/* ---- Which blocks ------------------------------------------------------------- */

static void list_piece(tape_pieces *p, uint32_t at, uint32_t used,
                       uint32_t thread)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    p->wanted++;
    if (p->count < p->room)
        p->of[p->count++] = (tape_piece){b->serial, at,       used,   thread,
                                         b->events, b->first, b->last};
}

/* Of `lost` events, those that `told` counts, all before `until`, were told. */
static void take_lost(gnomon__tape_thread *to, const gnomon__tape *tape,
                      uint64_t lost, uint64_t told, uint64_t until)
{
    to->lost.count = lost > told ? lost - told : 0;
    to->lost.first = load_relaxed(&tape->lost.first);
    to->lost.last = load_relaxed(&tape->lost.last);
    if (told && to->lost.first < until)
        to->lost.first = until;
}

static void take_losses(gnomon__tape_thread *to, const gnomon__tape *tape,
                        uint64_t until)
{
    to->overwritten = tape->overwritten;
    take_lost(to, tape, load_relaxed(&tape->lost.count), tape->told, until);
}

/* For the profile of a stage: what was lost up to the stage's end, without what profiles of
 * earlier stages have counted. */
static void take_stage_losses(gnomon__tape_thread *to, const gnomon__tape *tape,
                              uint32_t keep)
{
    uint64_t told = tape->lost_reported;
    if (keep == GNOMON__KEEP_STREAM && tape->told > told)
        told = tape->told; /* by parts of the stream */
    to->overwritten = tape->unreported;
    take_lost(to, tape, tape->lost_at_cut, told, tape->reported_at);
}

/* The copy has all that ended before the cut, or counts it: what is overwritten of that
 * from now on is not missed. */
static void note_reported(const gnomon__tape_thread *to, gnomon__tape *tape)
{
    tape->last_unreported = tape->unreported.count;
    tape->last_lost = tape->lost_at_cut;
    tape->reported_at = to->cut_at == UINT64_MAX ? gnomon__ticks() : to->cut_at;
}

/* A thread that stayed inside one mark was not cut. */
static void take_cuts(gnomon__tape_thread *to, const gnomon__thread *t,
                      const gnomon__tape *tape)
{
    int is_cut = load_relaxed(&t->segment) == gnomon__segment;
    to->cut_at = is_cut ? tape->cut_at : UINT64_MAX;
    to->stage_at = tape->stage_at;
}

/* Under the lock: no thread has another block until it is free. */
static void list_pieces(tape_pieces *p, gnomon__tape_events *out, uint32_t bit,
                        uint32_t generation)
{
    const gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    p->count = p->wanted = 0;
    if (pool->generation != generation)
        return;
    if (out->from < pool->until && out->which == GNOMON__TAPE_ALL)
        out->from = pool->until; /* the rest was taken */
    out->taken = out->from < pool->until ? pool->until : out->from;
    out->since = pool->since;
    size_t bytes = 0;
    for (uint32_t at = pool->first; at && (!out->most || bytes < out->most);
         at = gnomon__tape_block_at(at)->next) {
        bytes += gnomon__tape_block_at(at)->used;
        list_piece(p, at, gnomon__tape_block_at(at)->used,
                   gnomon__tape_block_at(at)->thread);
    }
    for (uint32_t i = 0; i < out->thread_count; i++) {
        const gnomon__thread *t = gnomon__threads[i];
        if (load_relaxed(&t->generations[bit]) != generation)
            continue;
        const gnomon__tape *tape = gnomon__tape_of(t, bit);
        take_cuts(&out->threads[i], t, tape);
        if (out->which == GNOMON__TAPE_ON_TIME)
            take_stage_losses(&out->threads[i], tape, pool->keep);
        else if (out->which == GNOMON__TAPE_ALL)
            take_losses(&out->threads[i], tape,
                        pool->until > pool->told ? pool->until : pool->told);
        if (out->most)
            continue;
        uint32_t next = load_acquire(&tape->next);
        if (tape->block && next > tape->block + HEAD)
            list_piece(p, tape->block, next - tape->block, i);
    }
}

/* Under the lock: the lists of this stage are complete. */
static void note_stage(const gnomon__tape_events *out, uint32_t bit,
                       uint32_t generation)
{
    for (uint32_t i = 0; i < out->thread_count; i++) {
        const gnomon__thread *t = gnomon__threads[i];
        if (load_relaxed(&t->generations[bit]) == generation)
            note_reported(&out->threads[i], gnomon__tape_of(t, bit));
    }
}

static int list_all(tape_pieces *p, gnomon__tape_events *out, uint32_t bit,
                    uint32_t generation)
{
    for (;;) {
        gnomon__lock();
        list_pieces(p, out, bit, generation);
        int is_whole = p->wanted <= p->room;
        if (is_whole && out->which == GNOMON__TAPE_ON_TIME)
            note_stage(out, bit, generation);
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

/* A block that was overwritten meanwhile is lost, unless all in it is later than `until`.
 * 0: no memory. */
static int copy_piece(gnomon__tape_thread *t, const tape_piece *p,
                      uint64_t from, uint64_t until)
{
    uint32_t bytes = p->used - HEAD;
    if (!bytes || (p->last && p->last < from))
        return 1; /* an empty block, or a full one of an earlier time */
    if (!gnomon__grow(&t->entries, &t->room,
                      t->count + bytes / sizeof *t->entries,
                      sizeof *t->entries))
        return 0;
    copy_records(t->entries + t->count, p->at + HEAD, bytes);
    fence_acquire();
    if (load_relaxed(&gnomon__tape_block_at(p->at)->serial) == p->serial)
        t->count += bytes / sizeof *t->entries;
    else if (p->first <= until)
        gnomon__tape_lose(&t->overwritten,
                          p->events ? p->events : bytes / sizeof *t->entries,
                          p->first > from ? p->first : from,
                          p->last ? p->last : gnomon__ticks());
    return 1;
}

/* ---- The whole ----------------------------------------------------------------- */

/* The thread's tape that a stream was taken from; NULL: it is gone. */
static gnomon__tape *tape_taken(const gnomon__tape_events *e, size_t i)
{
    const gnomon__thread *t = gnomon__threads[i];
    return t->states[e->bit] &&
                   load_relaxed(&t->generations[e->bit]) == e->generation
               ? gnomon__tape_of(t, e->bit)
               : NULL;
}

/* Losses that come meanwhile are told the next time. */
static void give_pieces(gnomon__tape_events *e, const tape_pieces *p)
{
    gnomon__lock();
    gnomon__tape_streamed(e->bit, e->generation, p->count, gnomon__ticks());
    for (size_t i = 0; i < p->count; i++)
        if (p->of[i].thread < e->thread_count)
            e->threads[p->of[i].thread].taken += p->of[i].events;
    for (size_t i = 0; i < e->thread_count; i++) {
        gnomon__tape *tape = tape_taken(e, i);
        if (!tape)
            continue;
        tape->told += e->threads[i].lost.count;
        tape->overwritten = (gnomon__tape_loss){0};
    }
    gnomon__unlock();
    e->is_streamed = 1;
}

static void count_undelivered(gnomon__tape_events *e)
{
    gnomon__lock();
    for (size_t i = 0; i < e->thread_count; i++) {
        const gnomon__tape_thread *t = &e->threads[i];
        gnomon__tape *tape = tape_taken(e, i);
        uint64_t now = gnomon__ticks();
        if (!tape)
            continue;
        tape->told -= t->lost.count;
        gnomon__tape_lose(&tape->overwritten, t->overwritten.count,
                          t->overwritten.first, t->overwritten.last);
        gnomon__tape_lose(&tape->overwritten, t->taken, now, now);
    }
    gnomon__unlock();
}

void gnomon__tape_events_free(gnomon__tape_events *e)
{
    if (e->is_streamed)
        count_undelivered(e);
    for (size_t i = 0; i < e->thread_count; i++)
        gnomon__free(e->threads[i].entries);
    gnomon__free(e->threads);
    gnomon__free(e->more);
    gnomon__free(e->named);
    gnomon__free(e->links);
    gnomon__free(e->steps);
    memset(e, 0, sizeof *e);
}

/* Blocks that were full before this moment have nothing that is asked for. Without it each
 * stage's end would copy the events of all stages before. */
static uint64_t needed_since(const gnomon__tape_events *e,
                             const gnomon__tape_thread *t)
{
    int is_stage = e->which == GNOMON__TAPE_ON_TIME;
    return is_stage && t->stage_at > e->taken ? t->stage_at : e->taken;
}

/* Blocks that were taken after this moment had nothing that is missed. Late events are few,
 * and the profile of the stage has counted the blocks. */
static uint64_t missed_until(const gnomon__tape_events *e,
                             const gnomon__tape_thread *t)
{
    if (e->which == GNOMON__TAPE_LATE)
        return 0;
    return e->which == GNOMON__TAPE_ON_TIME ? t->cut_at : UINT64_MAX;
}

/* A thread's blocks are in the queue in the order in which they were full, and its own
 * comes last. */
static int copy_and_decode(gnomon__tape_events *out, uint32_t bit,
                           uint32_t generation)
{
    tape_pieces pieces = {0};
    int ok = list_all(&pieces, out, bit, generation);
    for (size_t i = 0; ok && i < pieces.count; i++) {
        const tape_piece *p = &pieces.of[i];
        gnomon__tape_thread *t =
            p->thread < out->thread_count ? &out->threads[p->thread] : NULL;
        ok = !t || copy_piece(t, p, needed_since(out, t), missed_until(out, t));
    }
    if (ok && out->most)
        give_pieces(out, &pieces);
    gnomon__free(pieces.of);
    return ok && gnomon__tape_decode(out);
}

/* *out has what is asked for. */
static int copy_tapes(gnomon__tape_events *out, uint32_t bit,
                      uint32_t generation)
{
    uint32_t total = load_acquire(&gnomon__thread_total);
    out->threads = gnomon__alloc((total + 1) * sizeof *out->threads);
    if (out->threads) {
        out->thread_count = total;
        for (uint32_t i = 0; i < total; i++)
            out->threads[i].thread = i;
        if (copy_and_decode(out, bit, generation))
            return GNOMON_OK;
        gnomon__tape_events_free(out);
    }
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the events of a profile");
}

int gnomon__tape_read(gnomon__tape_events *out, uint32_t bit,
                      uint32_t generation, uint64_t from, uint64_t until,
                      enum gnomon__tape_which which)
{
    *out = (gnomon__tape_events){.from = from, .until = until, .which = which};
    return copy_tapes(out, bit, generation);
}

int gnomon__tape_take(gnomon__tape_events *out, uint32_t bit,
                      uint32_t generation, size_t most)
{
    *out = (gnomon__tape_events){.until = UINT64_MAX,
                                 .most = most,
                                 .bit = bit,
                                 .generation = generation};
    return copy_tapes(out, bit, generation);
}

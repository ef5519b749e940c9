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
#include "platform/ticks.h"

#define HEAD ((uint32_t)sizeof(gnomon__tape_block))
#define RECORD ((uint32_t)sizeof(gnomon__tape_record))

/* A part of a block, as it was when it was listed. */
typedef struct tape_piece {
    uint64_t serial;
    uint32_t at, used, thread;
    uint32_t early;  /* bytes that were written before the stage; 0: none */
    uint32_t events; /* behind these */
    uint64_t first, last;
    size_t copied; /* its first record among the copied ones, plus 1; 0: none */
} tape_piece;

typedef struct tape_pieces {
    tape_piece *of;
    size_t count, room, wanted;
} tape_pieces;

/* ---- Which blocks ------------------------------------------------------------- */

/* A block, of which so much is written; of a stage up to the cut. */
static void list_piece(tape_pieces *p, const gnomon__tape_events *e,
                       uint32_t at, uint32_t thread, uint32_t used,
                       uint32_t events)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    gnomon__tape_place all = {b->serial, used, events}, early = {0, 0, 0};
    if (thread >= e->thread_count)
        return;
    if (gnomon__tape_is_of_stage(e->which)) {
        const gnomon__tape_thread *t = &e->threads[thread];
        early = gnomon__tape_before(t->stage.from, all);
        all = gnomon__tape_before(t->stage.until, all);
    }
    /* Records of earlier stages may link to an execution that ends in this one. */
    if (all.used <= (gnomon__tape_is_late(e->which) ? HEAD : early.used))
        return;
    p->wanted++;
    if (p->count < p->room)
        p->of[p->count++] = (tape_piece){.serial = b->serial,
                                         .at = at,
                                         .used = all.used,
                                         .thread = thread,
                                         .early = early.used,
                                         .events = all.events - early.events,
                                         .first = b->first,
                                         .last = b->last};
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
    take_lost(to, tape, tape->lost_at_cut, told, tape->stage.from_at);
}

/* Under the lock: no thread has another block until it is free. */
static void list_pieces(tape_pieces *p, gnomon__tape_events *out, uint32_t bit,
                        uint32_t generation)
{
    const gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    const gnomon__tape *tape;
    p->count = p->wanted = 0;
    if (pool->generation != generation)
        return;
    if (out->from < pool->until && !gnomon__tape_is_of_stage(out->which))
        out->from = pool->until; /* the rest was taken */
    if (!gnomon__tape_is_of_stage(out->which))
        out->taken = out->from < pool->until ? pool->until : out->from;
    out->since = pool->since;
    for (uint32_t i = 0; i < out->thread_count; i++) {
        if (!(tape = gnomon__tape_with(gnomon__threads[i], bit, generation)))
            continue;
        gnomon__tape_thread *to = &out->threads[i];
        to->stage = tape->stage;
        to->is_first = out->which != GNOMON__TAPE_CYCLE &&
                       (!gnomon__tape_is_late(out->which) ||
                        tape->late == GNOMON__TAPE_LATE_UNKNOWN);
        if (gnomon__tape_is_of_stage(out->which) &&
            !gnomon__tape_is_on_time(gnomon__threads[i], tape)) {
            to->stage.from = tape->stage.until; /* nothing of it, and */
            to->stage.until_at = UINT64_MAX;    /* count_late leaves it out */
            to->is_first = 0;
        }
        if (to->is_first && out->which == GNOMON__TAPE_ALL)
            take_losses(to, tape,
                        pool->until > pool->told ? pool->until : pool->told);
        else if (to->is_first)
            take_stage_losses(to, tape, pool->keep);
    }
    size_t bytes = 0;
    for (uint32_t at = pool->first; at && (!out->most || bytes < out->most);
         at = gnomon__tape_block_at(at)->next) {
        const gnomon__tape_block *b = gnomon__tape_block_at(at);
        if (out->most && b->thread >= out->thread_count)
            break; /* its thread came meanwhile: the next time */
        bytes += b->used;
        list_piece(p, out, at, b->thread, b->used, b->events);
    }
    for (uint32_t i = 0; i < out->thread_count && !out->most; i++) {
        if (!(tape = gnomon__tape_with(gnomon__threads[i], bit, generation)) ||
            !tape->block)
            continue;
        uint32_t used = load_acquire(&tape->next) - tape->block;
        list_piece(p, out, tape->block, i, used,
                   gnomon__tape_events_in(tape, used));
    }
}

static int list_all(tape_pieces *p, gnomon__tape_events *out, uint32_t bit,
                    uint32_t generation)
{
    for (;;) {
        gnomon__lock();
        list_pieces(p, out, bit, generation);
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

/* A full block of an earlier time. */
static int is_earlier_piece(const gnomon__tape_events *e, const tape_piece *p)
{
    return p->last && p->last < e->taken;
}

/* At once: an array that grows copies what it has, and new pages cost as much as all
 * else. 0: no memory. */
static int room_for_pieces(gnomon__tape_events *e, const tape_pieces *pieces)
{
    int ok = 1;
    for (size_t i = 0; i < pieces->count; i++) {
        const tape_piece *p = &pieces->of[i];
        if (!is_earlier_piece(e, p))
            e->threads[p->thread].count += (p->used - HEAD) / RECORD;
    }
    for (size_t i = 0; ok && i < e->thread_count; i++) {
        gnomon__tape_thread *t = &e->threads[i];
        ok = gnomon__grow(&t->entries, &t->room, t->count, RECORD);
        t->count = 0;
    }
    return ok;
}

/* A block that was overwritten meanwhile is lost, for whom counts the stage's losses. */
static void copy_piece(gnomon__tape_events *e, gnomon__tape_thread *t,
                       tape_piece *p)
{
    uint32_t bytes = p->used - HEAD;
    if (is_earlier_piece(e, p))
        return;
    copy_records(t->entries + t->count, p->at + HEAD, bytes);
    fence_acquire();
    if (load_relaxed(&gnomon__tape_block_at(p->at)->serial) == p->serial) {
        p->copied = t->count + 1;
        t->count += bytes / RECORD;
        if (p->early)
            t->early += (p->early - HEAD) / RECORD;
    } else if (t->is_first) {
        gnomon__tape_lose(&t->overwritten, p->events,
                          p->first > e->taken ? p->first : e->taken,
                          p->last ? p->last : gnomon__ticks());
    }
}

/* ---- The whole ----------------------------------------------------------------- */

/* Losses that come meanwhile are told the next time. */
static void give_pieces(gnomon__tape_events *e, const tape_pieces *p)
{
    gnomon__lock();
    gnomon__tape_streamed(e->bit, e->generation, p->count, gnomon__ticks());
    for (size_t i = 0; i < p->count; i++)
        e->threads[p->of[i].thread].taken += p->of[i].events;
    for (size_t i = 0; i < e->thread_count; i++) {
        gnomon__tape *tape =
            gnomon__tape_with(gnomon__threads[i], e->bit, e->generation);
        if (!tape)
            continue;
        tape->told += e->threads[i].lost.count;
        tape->overwritten = (gnomon__tape_loss){0};
    }
    gnomon__unlock();
    e->is_taken = 1;
}

/* Events of a copied piece that the profile has. */
static uint64_t count_copied(const gnomon__tape_events *e, const tape_piece *p)
{
    const gnomon__tape_entry *r = e->threads[p->thread].entries + p->copied - 1;
    uint64_t n = 0;
    for (uint32_t i = 0; i < (p->used - HEAD) / sizeof *r;
         i += 1 + GNOMON__TAPE_MORE_OF(r[i].what))
        n += r[i].begin >= e->taken && r[i].begin < e->until &&
             GNOMON__TAPE_IS_EVENT(r[i].what);
    return n;
}

/* Blocks that were overwritten after they were copied are among the losses, but are not
 * missing. */
static void find_overwritten(gnomon__tape_events *e, tape_pieces *p)
{
    for (size_t i = 0; i < p->count; i++) {
        tape_piece *piece = &p->of[i];
        const gnomon__tape_block *b = gnomon__tape_block_at(piece->at);
        if (!piece->copied || load_relaxed(&b->serial) == piece->serial)
            continue;
        e->threads[piece->thread].not_missing += count_copied(e, piece);
        piece->copied = 0;
    }
}

/* Tells all losses up to now, and takes what the copy has. */
static void take_copied(gnomon__tape_events *e, tape_pieces *p)
{
    const gnomon__tape_pool *pool = &gnomon__tape_pools[e->bit];
    find_overwritten(e, p); /* most of them, without the lock */
    gnomon__lock();
    find_overwritten(e, p);
    for (size_t i = 0; i < e->thread_count; i++) {
        gnomon__tape_thread *t = &e->threads[i];
        gnomon__tape *tape =
            gnomon__tape_with(gnomon__threads[i], e->bit, e->generation);
        if (!tape)
            continue;
        take_losses(t, tape, e->taken);
        t->overwritten.count -= t->not_missing < t->overwritten.count
                                    ? t->not_missing
                                    : t->overwritten.count;
        tape->told += t->lost.count;
        tape->overwritten = (gnomon__tape_loss){0};
    }
    if (pool->generation == e->generation && e->until > pool->until)
        gnomon__tape_give_until(e->bit, e->until);
    gnomon__unlock();
    e->is_taken = 1;
}

static void count_undelivered(gnomon__tape_events *e)
{
    gnomon__lock();
    for (size_t i = 0; i < e->thread_count; i++) {
        const gnomon__tape_thread *t = &e->threads[i];
        gnomon__tape *tape =
            gnomon__tape_with(gnomon__threads[i], e->bit, e->generation);
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
    if (e->is_taken)
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

/* What one part of a file saw of late events, no later one may find any more. */
static void count_late(gnomon__tape_events *e, uint32_t bit,
                       uint32_t generation)
{
    gnomon__lock();
    for (uint32_t i = 0; i < e->thread_count; i++) {
        gnomon__tape_thread *t = &e->threads[i];
        gnomon__tape *tape =
            gnomon__tape_with(gnomon__threads[i], bit, generation);
        if (!tape || tape->stage.until_at != t->stage.until_at)
            continue; /* or it was cut after its blocks were listed */
        if (t->is_first)
            tape->late = t->late;
        tape->late -= t->asked;
        if (e->which != GNOMON__TAPE_LATE_LAST)
            continue;
        gnomon__tape_lose(&t->overwritten, tape->late, tape->stage.from_at,
                          tape->stage.until_at);
        tape->late = 0;
    }
    gnomon__unlock();
}

/* A thread's blocks are in the queue in the order in which they were full, and its own
 * comes last. */
static int copy_and_decode(gnomon__tape_events *out, uint32_t bit,
                           uint32_t generation)
{
    tape_pieces pieces = {0};
    int ok = list_all(&pieces, out, bit, generation) &&
             room_for_pieces(out, &pieces);
    for (size_t i = 0; ok && i < pieces.count; i++) {
        tape_piece *p = &pieces.of[i];
        copy_piece(out, &out->threads[p->thread], p);
    }
    if (ok && out->most)
        give_pieces(out, &pieces);
    if (ok && out->which == GNOMON__TAPE_CYCLE)
        take_copied(out, &pieces);
    gnomon__free(pieces.of);
    ok = ok && gnomon__tape_decode(out);
    for (size_t i = 0; out->is_taken && !out->most && i < out->thread_count;
         i++)
        out->threads[i].taken = out->threads[i].count;
    if (ok && gnomon__tape_is_of_stage(out->which))
        count_late(out, bit, generation);
    return ok;
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
    *out = (gnomon__tape_events){.from = from,
                                 .until = until,
                                 .which = which,
                                 .bit = bit,
                                 .generation = generation};
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

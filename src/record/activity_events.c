/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A view's blocks are a queue, the oldest first; only the last one has room. They are
 * chunks of the arena, as those of tapes (mark/tape_blocks.c), and become larger with
 * each. Where there is no memory, and below its share, the view takes the oldest block of
 * its tapes; then its own oldest one makes room.
 *
 * Stored by atomic words: a reader of what the memory held before may still read it. */
#include "record/activity_events.h"

#include <string.h>

#include "platform/memory.h"
#include "platform/process.h"
#include "record/activity_notes.h"
#include "record/activity_tables.h"

/* A view has at most such a part of the memory for marks (mem=): 350 000 events of
 * 64 MiB. */
#define EVENT_SHARE 4u
#define EVENT_LAST_BLOCK 65536u
/* A view without memory looks for it again once in so many events. */
#define EVENT_TRY_AGAIN 64u
#define EVENT_WORDS (sizeof(gnomon__activity_event) / sizeof(uint64_t))

typedef struct event_block {
    uint64_t chunk; /* of the arena's free chunks */
    uint32_t bytes;
    uint32_t next; /* 0: it is the last */
    uint64_t count;
    uint64_t newest; /* ticks: its latest launch */
} event_block;

typedef struct event_queue {
    int is_kept;
    uint32_t first, last; /* 0: it is empty */
    uint32_t bytes;       /* of all its blocks */
    uint32_t block_bytes; /* of its next one */
    uint32_t refused;     /* events since there was no memory; 0: there was */
    uint64_t serials;     /* of all that were put */
    gnomon__tape_loss missing; /* in ns */
    uint64_t told;             /* of these, in the profile that was read last */
} event_queue;

static event_queue queues[GNOMON__ACTIVITY_VIEWS] GNOMON__OF_PROCESS;
/* Ticks; any thread. */
static uint64_t work_taken[GNOMON__ACTIVITY_VIEWS] GNOMON__OF_PROCESS;

static event_block *block_at(uint32_t at)
{
    return (event_block *)(void *)(gnomon__marks_arena.base + at);
}

static gnomon__activity_event *events_at(uint32_t at)
{
    return (gnomon__activity_event *)(void *)(block_at(at) + 1);
}

static uint32_t event_share(void)
{
    return gnomon__marks_arena.size / EVENT_SHARE;
}

/* ---- Blocks ----------------------------------------------------------------------- */

static uint32_t unqueue_block(event_queue *q)
{
    uint32_t at = q->first;
    q->first = block_at(at)->next;
    q->last = q->first ? q->last : 0;
    q->bytes -= block_at(at)->bytes;
    return at;
}

static void queue_block(event_queue *q, uint32_t at, uint32_t bytes)
{
    event_block *b = block_at(at);
    store_relaxed(&b->bytes, bytes);
    store_relaxed(&b->next, 0);
    store_relaxed(&b->count, 0);
    store_relaxed(&b->newest, 0);
    if (q->last)
        store_relaxed(&block_at(q->last)->next, at);
    else
        q->first = at;
    q->last = at;
    q->bytes += bytes;
}

static void give_first(event_queue *q)
{
    uint32_t bytes = block_at(q->first)->bytes;
    gnomon__chunk_give(unqueue_block(q), bytes);
}

static void lose_event(gnomon__tape_loss *loss, const gnomon__activity_event *e)
{
    gnomon__tape_lose(loss, 1, e->begin_ns, e->begin_ns);
}

/* The oldest block, whose events are missing if nobody took them; 0: they stay. */
static uint32_t overwrite_first(event_queue *q, uint32_t tapes, uint64_t taken)
{
    if (!q->first || !gnomon__tapes_keep(tapes, GNOMON__KEEP_LAST))
        return 0;
    const event_block *b = block_at(q->first);
    const gnomon__activity_event *e = events_at(q->first);
    for (uint64_t i = 0; i < b->count; i++)
        if (e[i].launched >= taken)
            lose_event(&q->missing, &e[i]);
    return unqueue_block(q);
}

/* Memory for a block of *bytes, or of another size, which it sets. 0: there is none. */
static uint32_t find_event_block(event_queue *q, uint32_t tapes, uint64_t taken,
                                 uint32_t *bytes)
{
    uint32_t at = 0;
    if (q->bytes + *bytes <= event_share() && !(at = gnomon__tape_chunk(bytes)))
        at = gnomon__tapes_oldest(tapes, bytes);
    if (!at && (at = overwrite_first(q, tapes, taken)) != 0)
        *bytes = block_at(at)->bytes;
    return at;
}

/* 0: there is no room. A stream is taken from before there is none. */
static int add_block(event_queue *q, uint32_t tapes, uint64_t taken)
{
    uint32_t bytes = q->block_bytes;
    if (q->refused && q->refused++ % EVENT_TRY_AGAIN)
        return 0;
    while (q->first && block_at(q->first)->newest < taken)
        give_first(q);
    const uint32_t at = find_event_block(q, tapes, taken, &bytes);
    if (at)
        queue_block(q, at, bytes);
    if (at && q->block_bytes < EVENT_LAST_BLOCK)
        q->block_bytes *= 2;
    if ((!at || q->bytes > event_share() / 2) &&
        gnomon__tapes_keep(tapes, GNOMON__KEEP_STREAM))
        gnomon__tapes_fill();
    q->refused = !at;
    return at != 0;
}

static int has_event_room(const event_queue *q)
{
    if (!q->last)
        return 0;
    const event_block *b = block_at(q->last);
    return sizeof *b + (b->count + 1) * sizeof(gnomon__activity_event) <=
           b->bytes;
}

/* ---- A view's ------------------------------------------------------------------------ */

void gnomon__activity_events_drop(uint32_t view)
{
    while (queues[view].first)
        give_first(&queues[view]);
    queues[view] = (event_queue){0};
    store_relaxed(&work_taken[view], 0);
}

void gnomon__activities_keep(uint32_t generation, uint32_t bits)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    if (view == GNOMON__ACTIVITY_VIEWS)
        return;
    gnomon__activities_lock();
    event_queue *q = &queues[view];
    store_relaxed(&gnomon__activity_views[view].tapes, bits);
    if (!bits)
        gnomon__activity_events_drop(view);
    else if (!q->is_kept)
        *q = (event_queue){.is_kept = 1,
                           .block_bytes = GNOMON__TAPE_FIRST_BLOCK};
    gnomon__activities_unlock();
}

void gnomon__activity_events_put(uint32_t view,
                                 const gnomon__activity_event *event)
{
    event_queue *q = &queues[view];
    const uint32_t tapes = load_relaxed(&gnomon__activity_views[view].tapes);
    gnomon__activity_event its = *event;
    uint64_t words[EVENT_WORDS];
    if (!q->is_kept)
        return;
    if (!event->leaf ||
        (!has_event_room(q) &&
         !add_block(q, tapes, load_relaxed(&work_taken[view])))) {
        lose_event(&q->missing, event);
        return;
    }
    event_block *b = block_at(q->last);
    uint64_t *to = (uint64_t *)(void *)&events_at(q->last)[b->count];
    its.serial = ++q->serials;
    memcpy(words, &its, sizeof words);
    for (size_t i = 0; i < EVENT_WORDS; i++)
        store_relaxed(&to[i], words[i]);
    store_relaxed(&b->count, b->count + 1);
    if (its.launched > b->newest)
        store_relaxed(&b->newest, its.launched);
}

/* ---- Copies ---------------------------------------------------------------------------- */

/* The last block of about `most` bytes from the oldest on; 0: there is none. */
static uint32_t last_of_part(const event_queue *q, size_t most, size_t *count)
{
    uint32_t last = 0;
    size_t bytes = 0;
    *count = 0;
    for (uint32_t at = q->first; at && (!most || bytes < most);
         at = block_at(at)->next) {
        bytes += block_at(at)->bytes;
        *count += (size_t)block_at(at)->count;
        last = at;
    }
    return last;
}

/* Those that were given away are gone, and so is what is told with them. */
static void give_away(event_queue *q, uint32_t last)
{
    for (uint32_t left = last; left; give_first(q))
        left = q->first == last ? 0 : left;
    q->missing = (gnomon__tape_loss){0};
    q->told = 0;
    q->refused = 0;
}

static int copy_events(gnomon__activity_events *out, uint32_t view,
                       uint64_t from, uint64_t until, size_t most)
{
    event_queue *q = &queues[view];
    uint64_t taken = load_relaxed(&work_taken[view]);
    size_t room;
    out->missing = q->missing;
    const uint32_t last = last_of_part(q, most, &room);
    from = taken > from ? taken : from;
    if (room && !(out->of = gnomon__alloc(room * sizeof *out->of)))
        return 0;
    for (uint32_t at = q->first, left = last; left; at = block_at(at)->next) {
        const gnomon__activity_event *e = events_at(at);
        for (uint64_t i = 0; i < block_at(at)->count; i++)
            if (e[i].launched >= from && e[i].launched < until)
                out->of[out->count++] = e[i];
        left = at == last ? 0 : left;
    }
    if (most) {
        give_away(q, last);
        out->given_by = view + 1;
    } else {
        q->told = q->missing.count;
    }
    return 1;
}

int gnomon__activities_read(gnomon__activity_events *out, uint32_t generation,
                            uint64_t from, uint64_t until, size_t most)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    *out = (gnomon__activity_events){0};
    if (view == GNOMON__ACTIVITY_VIEWS)
        return 1;
    gnomon__activities_lock();
    int ok = copy_events(out, view, from, until, most);
    gnomon__activities_unlock();
    return ok;
}

uint64_t gnomon__activities_waiting(uint32_t generation)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    gnomon__activities_lock();
    uint64_t bytes = view < GNOMON__ACTIVITY_VIEWS ? queues[view].bytes : 0;
    gnomon__activities_unlock();
    return bytes;
}

void gnomon__activity_events_miss(gnomon__activity_events *e,
                                  const gnomon__activity_event *event)
{
    if (e->given_by)
        lose_event(&e->missing, event);
}

void gnomon__activity_events_free(gnomon__activity_events *e)
{
    if (e->given_by) {
        gnomon__activities_lock();
        gnomon__tape_loss *missing = &queues[e->given_by - 1].missing;
        for (size_t i = 0; i < e->count; i++)
            lose_event(missing, &e->of[i]);
        gnomon__tape_lose(missing, e->missing.count, e->missing.first,
                          e->missing.last);
        gnomon__activities_unlock();
    }
    gnomon__free(e->of);
    *e = (gnomon__activity_events){0};
}

static void take_until(uint32_t view, uint64_t until)
{
    if (until > load_relaxed(&work_taken[view]))
        store_relaxed(&work_taken[view], until);
}

void gnomon__activities_taken(uint32_t generation, uint64_t until)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    if (view < GNOMON__ACTIVITY_VIEWS)
        take_until(view, until);
}

static void lose_until(event_queue *q, uint64_t taken, uint64_t until)
{
    for (uint32_t at = q->first; at; at = block_at(at)->next) {
        const gnomon__activity_event *e = events_at(at);
        for (uint64_t i = 0; i < block_at(at)->count; i++)
            if (e[i].launched >= taken && e[i].launched < until)
                lose_event(&q->missing, &e[i]);
    }
}

void gnomon__activities_over(uint32_t generation, uint64_t until, int is_told)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    if (view == GNOMON__ACTIVITY_VIEWS)
        return;
    gnomon__activities_lock();
    event_queue *q = &queues[view];
    if (!is_told)
        lose_until(q, load_relaxed(&work_taken[view]), until);
    else if (!(q->missing.count -= q->told))
        q->missing = (gnomon__tape_loss){0};
    q->told = 0;
    take_until(view, until);
    gnomon__activities_unlock();
}

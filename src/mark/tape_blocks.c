/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of tapes: blocks of 1 to 64 KiB. A thread's first block is small and comes
 * with its first event; each further one is twice as large. Blocks that are full wait
 * in the queue of their bit, where the oldest is used again once there is
 * no other memory (GNOMON__KEEP_LAST). A thread that marks nothing does not keep its
 * block from others then.
 *
 * Invariant: under the lock each block is in the queue or is the block of one tape. */
#include "mark/tape.h"

#include <string.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/os.h"
#include "platform/process.h"
#include "platform/ticks.h"

#define TAPE_LAST_BLOCK 65536u
#define HEAD ((uint32_t)sizeof(gnomon__tape_block))
#define RECORD ((uint32_t)sizeof(gnomon__tape_record))
/* A thread without a block looks for one at each so many marks: those that had all may
 * be idle by now. */
#define TRY_AGAIN 64u

/* No other word of the arena looks like one by chance. */
static uint64_t block_serials = 0x9e3779b900000000u;

gnomon__tape *gnomon__tape_with(const gnomon__thread *t, uint32_t bit,
                                uint32_t generation)
{
    return t && t->states[bit] &&
                   load_relaxed(&t->generations[bit]) == generation
               ? gnomon__tape_of(t, bit)
               : NULL;
}

/* ---- The queue ------------------------------------------------------------------ */

/* The queue of a bit's full blocks, the oldest first. Under the lock. */

#define LOOKS 64u /* at so many blocks, as a mark waits for it */

gnomon__tape_pool gnomon__tape_pools[GNOMON__BITS] GNOMON__OF_PROCESS;

/* Takes the first block of at least `bytes` out of the queue. 0: none of its first LOOKS
 * is that large. */
static uint32_t unqueue(gnomon__tape_pool *pool, uint32_t bytes)
{
    uint32_t at = pool->first, before = 0, looks = 0;
    while (at && gnomon__tape_block_at(at)->bytes < bytes) {
        before = at;
        at = ++looks < LOOKS ? gnomon__tape_block_at(at)->next : 0;
    }
    if (!at)
        return 0;
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    if (before)
        store_relaxed(&gnomon__tape_block_at(before)->next, b->next);
    else
        pool->first = b->next;
    pool->newest = pool->newest == at ? before : pool->newest;
    pool->queued -= b->bytes;
    return at;
}

/* It is a block no more, and its memory may be another's. Returns its bytes. */
static uint32_t retire_block(uint32_t at)
{
    gnomon__tape_block *b = gnomon__tape_block_at(at);
    uint32_t bytes = b->bytes;
    store_relaxed(&b->serial, 0);
    fence_release(); /* before its memory is another's */
    return bytes;
}

static void give_block(uint32_t at)
{
    gnomon__chunk_give(at, retire_block(at));
}

/* Takes the first block of at least `bytes`, and gives up what it holds. */
static uint32_t lose_oldest(gnomon__tape_pool *pool, uint32_t bit,
                            uint32_t *bytes)
{
    uint32_t at = unqueue(pool, *bytes);
    if (!at)
        return 0;
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    gnomon__tape *tape = gnomon__tape_with(gnomon__thread_numbered(b->thread),
                                           bit, pool->generation);
    uint64_t end = gnomon__tape_behind(b).number;
    if (tape && tape->gone < end)
        tape->gone = end;
    *bytes = retire_block(at);
    return at;
}

/* A block may be had again. */
static void note_freed(gnomon__tape_pool *pool)
{
    store_relaxed(&pool->freed, pool->freed + 1 ? pool->freed + 1 : 1);
}

/* The end of what the thread has written so far. Under the lock, while it writes nothing. */
static gnomon__tape_place place_here(const gnomon__tape *tape)
{
    gnomon__tape_place here = {load_relaxed(&tape->number),
                               load_relaxed(&tape->others), 0};
    if (!tape->block)
        return here;
    const gnomon__tape_block *b = gnomon__tape_block_at(tape->block);
    uint32_t used = gnomon__tape_used(tape, load_relaxed(&tape->next)) - HEAD;
    here.number += used / (uint32_t)sizeof(gnomon__tape_record) -
                   (here.others - b->place.ticks);
    return here;
}

/* The tape's block, with nothing newer than `last`, goes into the queue; `is_oldest`: in
 * front. */
static void close_block(gnomon__tape *tape, gnomon__tape_pool *pool,
                        uint64_t last, int is_oldest)
{
    const uint32_t at = tape->block;
    gnomon__tape_block *b = gnomon__tape_block_at(at);
    uint64_t number = place_here(tape).number;
    store_relaxed(&b->used, gnomon__tape_used(tape, load_relaxed(&tape->next)));
    store_relaxed(&b->events, (uint32_t)(number - tape->number));
    store_relaxed(&b->last, last);
    store_relaxed(&tape->number, number);
    const int is_last = !is_oldest || !pool->first;
    store_relaxed(&b->next, is_last ? 0 : pool->first);
    if (is_last && pool->first)
        store_relaxed(&gnomon__tape_block_at(pool->newest)->next, at);
    else
        pool->first = at;
    pool->newest = is_last ? at : pool->newest;
    pool->open -= b->bytes;
    pool->queued += b->bytes;
    pool->unswept += b->bytes;
    tape->block = 0;
    store_relaxed(&tape->next, NULL);
    tape->end = NULL;
}

/* ---- Blocks of idle threads ----------------------------------------------------- */

/* Blocks of threads that mark nothing. Such a block is not full, so it is not in the
 * queue, and what is in it may be older than all that is.
 *
 * A sweep notes how far each thread has written, and so since when at least it is idle.
 * A sweep comes each time that a sixteenth of all memory was written, and costs O(threads)
 * then. Where memory is full, it moves blocks with nothing newer than the queue's first
 * one in front of that.
 *
 * Only its thread writes into a block, without the lock. So the thread is shut first, as
 * for a cut (outside.c): after the barrier a thread that is outside of marks takes the
 * lock before it writes again. One that is inside a mark keeps its block. */

/* Which blocks a sweep takes. */
typedef struct tape_sweep {
    gnomon__tape_pool *pool;
    const gnomon__thread *self;
    uint32_t bit;
    uint32_t idle, others;
    uint64_t now;
    uint64_t idle_until; /* of threads idle since this moment or earlier, ... */
    uint64_t opened_until; /* ... or opened then or earlier; 0: none */
    uint64_t ages;         /* sum of those of `others` */
} tape_sweep;

/* Where it writes: the lower bits, which are its own in the arena. */
static uint32_t written_to(const gnomon__tape *tape)
{
    return (uint32_t)(uintptr_t)load_relaxed(&tape->next);
}

/* The thread's tape, if it has a block; NULL: it has not. */
static gnomon__tape *swept_tape(const tape_sweep *s, const gnomon__thread *t)
{
    gnomon__tape *tape =
        t == s->self ? NULL : gnomon__tape_with(t, s->bit, s->pool->generation);
    return tape && tape->block ? tape : NULL;
}

static void note_tape(tape_sweep *s, gnomon__tape *tape)
{
    uint64_t opened = gnomon__tape_block_at(tape->block)->first;
    uint32_t next = written_to(tape);
    if (tape->noted != next || opened > tape->idle_since) {
        tape->noted = next;
        tape->idle_since = s->now;
    }
    s->idle += tape->idle_since <= s->idle_until;
    s->others++;
    s->ages += s->now > opened ? s->now - opened : 0;
}

static int is_chosen(const tape_sweep *s, const gnomon__tape *tape)
{
    return tape->idle_since <= s->idle_until ||
           gnomon__tape_block_at(tape->block)->first <= s->opened_until;
}

/* Shuts the threads whose blocks are taken. Whether some are alive. */
static int shut_chosen(const tape_sweep *s)
{
    int any = 0;
    gnomon__each_thread(t) {
        const gnomon__tape *tape = swept_tape(s, t);
        if (tape && is_chosen(s, tape) && t->alive) {
            gnomon__thread_shut(t);
            any = 1;
        }
    }
    return any;
}

static void close_chosen(const tape_sweep *s, int has_barrier)
{
    gnomon__each_thread(t) {
        gnomon__tape *tape = swept_tape(s, t);
        if (!tape || !is_chosen(s, tape) ||
            (t->alive && (!has_barrier || (load_acquire(&t->seq) & 1))))
            continue;
        int is_idle = written_to(tape) == tape->noted;
        close_block(tape, s->pool, is_idle ? tape->idle_since : gnomon__ticks(),
                    1);
        tape->bytes = GNOMON__TAPE_FIRST_BLOCK;
    }
}

/* Whether it is time for a sweep. */
static int is_sweep_due(const gnomon__tape_pool *pool)
{
    return pool->unswept > gnomon__marks_arena.size / 16;
}

/* Notes which threads are idle. With `takes`, blocks with nothing newer than what the
 * queue's first one has go in front of it; or where the queue is empty, the oldest
 * blocks. Leaves out those of `self`. */
static void sweep(const gnomon__thread *self, gnomon__tape_pool *pool,
                  uint32_t bit, int takes)
{
    tape_sweep s = {.pool = pool, .self = self, .bit = bit};
    pool->unswept = 0;
    s.now = gnomon__ticks();
    s.idle_until = pool->first ? gnomon__tape_block_at(pool->first)->last
                               : s.now - 1; /* not those noted now */
    gnomon__each_thread(t) {
        gnomon__tape *tape = swept_tape(&s, t);
        if (tape)
            note_tape(&s, tape);
    }
    if (!takes || !s.others)
        return;
    if (!pool->first && !s.idle) /* the older half of all */
        s.opened_until = s.now - s.ages / s.others;
    if (s.idle || s.opened_until)
        close_chosen(&s, shut_chosen(&s) && gnomon__os_barrier());
}

/* ---- Streams -------------------------------------------------------------------- */

/* Streams: full blocks are given away while threads mark (run/streams.c). A thread never
 * waits for that: without memory its events are lost, and counted. */

enum { STREAMS_WAIT, STREAMS_ARE_FULL, STREAMS_HAVE_NO_ROOM };

static uint32_t streams_state GNOMON__OF_PROCESS; /* written under the lock */

int gnomon__tapes_are_full(void)
{
    return load_relaxed(&streams_state) != STREAMS_WAIT;
}

/* A pool is no stream any more. After the last one nobody is to be woken. */
static void stream_over(void)
{
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++)
        if (gnomon__tape_pools[bit].keep == GNOMON__KEEP_STREAM)
            return;
    store_relaxed(&streams_state, STREAMS_WAIT);
}

/* After a thread looked for a block. Whether who takes full blocks is to be woken. */
static int is_full_now(const gnomon__tape_pool *pool, int has_room)
{
    uint32_t was = streams_state;
    if (pool->keep != GNOMON__KEEP_STREAM)
        return 0;
    if (!has_room)
        store_relaxed(&streams_state, STREAMS_HAVE_NO_ROOM);
    else if (pool->queued >= gnomon__marks_arena.size / 4 && !was)
        store_relaxed(&streams_state, STREAMS_ARE_FULL);
    return was != load_relaxed(&streams_state);
}

void gnomon__tapes_fill(void)
{
    if (gnomon__tapes_are_full())
        return;
    gnomon__lock();
    int wakes = streams_state == STREAMS_WAIT;
    if (wakes)
        store_relaxed(&streams_state, STREAMS_ARE_FULL);
    gnomon__unlock();
    if (wakes)
        gnomon__upcall_wake();
}

uint64_t gnomon__tape_gather(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    int is_it = pool->generation == generation;
    if (is_it && streams_state == STREAMS_HAVE_NO_ROOM)
        sweep(NULL, pool, bit, 1);
    store_relaxed(&streams_state, STREAMS_WAIT);
    uint64_t bytes = is_it ? pool->queued : 0;
    gnomon__unlock();
    return bytes;
}

void gnomon__tape_streamed(uint32_t bit, uint32_t generation, size_t count)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation) {
        while (count-- && pool->first)
            give_block(unqueue(pool, 0));
        note_freed(pool);
    }
    gnomon__unlock();
}

/* ---- Pages ahead of need -------------------------------------------------------- */

/* Memory for tapes, ahead of need. A new page costs the mark that touches it first about
 * as much as 60 marks, and a tape comes to one every 256 scopes until its ring comes
 * round. So our own thread (run/end.c) asks the system for pages beyond those in use: for
 * as much again, and at most MOST_AHEAD. Where it has not come so far, or the system
 * cannot (Linux before 5.14), marks touch new pages as before. */

#define PAGE 4096u
#define MOST_AHEAD (1u << 20)
/* In one call, during which the host can map no memory: 70 us. */
#define AT_ONCE 65536u

/* Under the lock: the end of the arena's pages that were asked for, an offset; whether our
 * thread was woken, and is not done; whether the system refused. */
static uint32_t pages_end GNOMON__OF_PROCESS;
static int pages_are_wanted GNOMON__OF_PROCESS;
static int pages_are_refused;

static uint32_t most_ahead(uint32_t used)
{
    return used < MOST_AHEAD ? used : MOST_AHEAD;
}

int gnomon__tape_wants_pages(void)
{
    uint32_t used = load_relaxed(&gnomon__marks_arena.used);
    uint32_t left = pages_end > used ? pages_end - used : 0;
    if (pages_are_wanted || pages_are_refused || left >= most_ahead(used) / 2 ||
        pages_end >= gnomon__marks_arena.size / PAGE * PAGE)
        return 0;
    pages_are_wanted = 1;
    return 1;
}

void gnomon__tape_take_pages(void)
{
    gnomon__lock();
    while (pages_are_wanted) {
        uint64_t size = gnomon__marks_arena.size;
        uint32_t used = load_relaxed(&gnomon__marks_arena.used);
        uint64_t end = (uint64_t)used + most_ahead(used);
        uint32_t from = used > pages_end ? used / PAGE * PAGE : pages_end;
        end = (end < size ? end : size) / PAGE * PAGE;
        pages_are_wanted = from < end;
        if (!pages_are_wanted)
            break;
        uint32_t bytes =
            end - from < AT_ONCE ? (uint32_t)(end - from) : AT_ONCE;
        gnomon__unlock();
        int is_done =
            gnomon__os_populate(gnomon__marks_arena.base + from, bytes);
        gnomon__lock();
        pages_end = from + bytes;
        pages_are_refused = !is_done;
        pages_are_wanted = is_done;
    }
    gnomon__unlock();
}

/* ---- Blocks of a tape -------------------------------------------------------------- */

static void open_block(gnomon__thread *t, gnomon__tape *tape, uint32_t at,
                       uint32_t bytes, uint64_t now)
{
    gnomon__tape_block *b = gnomon__at(t, at);
    store_relaxed(&b->serial, ++block_serials);
    fence_release(); /* the serial before what is written now */
    /* Atomic, as a reader may copy these bytes as records of a larger block. */
    store_relaxed(&b->bytes, bytes);
    store_relaxed(&b->thread, t->number);
    store_relaxed(&b->first, now);
    store_relaxed(&b->place.begin, tape->number);
    store_relaxed(&b->place.ticks, tape->others);
    store_relaxed(&b->place.what,
                  t->segment << GNOMON__TAPE_SEGMENT | GNOMON__TAPE_PLACE);
    tape->block = at;
    gnomon__tape_pools[tape->bit].open += bytes;
    store_relaxed(&tape->next, (gnomon__tape_record *)(void *)(b + 1));
    tape->end = gnomon__at(t, at + bytes);
}

uint32_t gnomon__tape_chunk(uint32_t *bytes)
{
    uint32_t at = gnomon__chunk_take(*bytes, GNOMON__FOR_EVENTS);
    while (!at && *bytes > GNOMON__TAPE_FIRST_BLOCK)
        at = gnomon__chunk_take(*bytes /= 2, GNOMON__FOR_EVENTS);
    return at;
}

/* The oldest block, or so much of it as is asked for: else threads that mark little would
 * hold the large blocks of one that marks much. 0: there is none, or full ones are kept. */
static uint32_t take_oldest(const gnomon__thread *t, gnomon__tape_pool *pool,
                            uint32_t bit, uint32_t *bytes)
{
    if (pool->keep != GNOMON__KEEP_LAST)
        return 0;
    if (!pool->first || is_sweep_due(pool))
        sweep(t, pool, bit, 1);
    uint32_t size = 0, at = lose_oldest(pool, bit, &size);
    for (; at && size > *bytes; size /= 2)
        gnomon__chunk_give(at + size / 2, size / 2);
    *bytes = size;
    return at;
}

static int next_block(gnomon__thread *t, gnomon__tape *tape)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    uint64_t now = gnomon__ticks();
    if (pool->generation != tape->generation)
        return 0;
    if (tape->block)
        close_block(tape, pool, now, 0);
    uint32_t bytes = tape->bytes, at = gnomon__tape_chunk(&bytes);
    if (at && is_sweep_due(pool))
        sweep(t, pool, tape->bit, 0);
    bytes = at ? bytes : tape->bytes;
    if (!at)
        at = take_oldest(t, pool, tape->bit, &bytes);
    tape->full_at = at ? 0 : pool->freed;
    if (!at)
        return 0;
    open_block(t, tape, at, bytes, now);
    if (tape->bytes < TAPE_LAST_BLOCK)
        tape->bytes *= 2;
    return 1;
}

int gnomon__tape_room(gnomon__thread *t, gnomon__tape *tape, uint32_t more)
{
    if (tape->block && tape->end - tape->next > (ptrdiff_t)more)
        return 1;
    if (tape->full_at &&
        tape->full_at == load_relaxed(&gnomon__tape_pools[tape->bit].freed) &&
        ++tape->refused % TRY_AGAIN)
        return 0; /* without the lock, which all that are full would take */
    gnomon__lock();
    int has_room = next_block(t, tape);
    int wakes = is_full_now(&gnomon__tape_pools[tape->bit], has_room);
    /* A thread that makes few marks needs none. */
    if (has_room &&
        gnomon__tape_block_at(tape->block)->bytes == TAPE_LAST_BLOCK)
        wakes |= gnomon__tape_wants_pages();
    gnomon__unlock();
    if (wakes)
        gnomon__upcall_wake();
    return has_room;
}

/* The tape's block is full, and it needs no other one yet. */
static void leave_block(gnomon__tape *tape)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    if (pool->generation == tape->generation)
        close_block(tape, pool, gnomon__ticks(), 0);
    gnomon__unlock();
}

void gnomon__tape_gap(gnomon__tape *tape, uint64_t when)
{
    if (tape->block && gnomon__tape_has_room(tape)) {
        gnomon__tape_write(tape, when, 0, GNOMON__TAPE_GAP);
        return;
    }
    if (tape->block)
        leave_block(tape);
    gnomon__tape_skip(tape);
}

void gnomon__tapes_lose(gnomon__thread *t, uint32_t tree, uint64_t ticks)
{
    gnomon__each_bit(bit, t->tape_bits & load_relaxed(&t->open_bits)) {
        if (load_relaxed(&gnomon__tape_pools[bit].tree) == tree)
            gnomon__tape_gap(gnomon__tape_of(t, bit), ticks);
    }
}

int gnomon__tape_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    uint32_t at =
        gnomon__chunk_take((uint32_t)sizeof(gnomon__tape), GNOMON__FOR_PATHS);
    if (!at)
        return 0;
    gnomon__tape *tape = gnomon__at(t, at);
    tape->bit = bit;
    tape->generation = generation;
    tape->bytes = GNOMON__TAPE_FIRST_BLOCK;
    for (int i = 0; i < GNOMON__TAPE_READERS; i++)
        tape->cursors[i].from_at = gnomon__tape_pools[bit].told[i];
    tape->cursors[GNOMON__TAPE_STAGES].from_at = t->segment_begin;
    tape->began = gnomon__ticks();
    tape->segment = tape->first_segment = t->segment;
    store_release(&t->states[bit], at);
    return 1;
}

/* Full blocks are given back by gnomon__tape_stop. */
void gnomon__tape_drop(gnomon__thread *t, uint32_t bit)
{
    uint32_t at = t->states[bit];
    const gnomon__tape *tape = gnomon__at(t, at);
    if (tape->block) {
        if (gnomon__tape_pools[bit].generation == tape->generation)
            gnomon__tape_pools[bit].open -=
                gnomon__tape_block_at(tape->block)->bytes;
        give_block(tape->block);
    }
    store_relaxed(&t->states[bit], 0);
    fence_release();
    gnomon__chunk_give(at, (uint32_t)sizeof *tape);
}

/* ---- For events of devices ---------------------------------------------------------- */

int gnomon__tapes_keep(uint32_t bits, uint32_t mode)
{
    int is_any = 0;
    gnomon__lock();
    gnomon__each_bit(bit, bits)
        is_any |= gnomon__tape_pools[bit].keep == mode;
    gnomon__unlock();
    return is_any;
}

uint32_t gnomon__tapes_oldest(uint32_t bits, uint32_t *bytes)
{
    uint32_t at = 0;
    *bytes = 0;
    gnomon__lock();
    gnomon__each_bit(bit, bits) {
        gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
        if (!at && pool->keep == GNOMON__KEEP_LAST)
            at = lose_oldest(pool, bit, bytes);
    }
    gnomon__unlock();
    return at;
}

/* Trees need little beside a ring, and lose whole threads without it; what the ring loses
 * is old. An eighth of all memory stays its own. What can do without memory, as it then
 * only gets coarser, leaves it a quarter. Blocks smaller than what is needed stay too. */
static int shrink_ring(uint32_t bytes, int can_do_without)
{
    uint64_t stays = gnomon__marks_arena.size / (can_do_without ? 4 : 8);
    uint32_t at = 0;
    for (uint32_t bit = 0; !at && bit < GNOMON__BITS; bit++) {
        gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
        int has_more = pool->queued + pool->open > stays;
        if (!bytes && pool->is_shrunk && !has_more)
            return 0;
        if (!bytes || !has_more || pool->keep != GNOMON__KEEP_LAST)
            continue;
        if (!pool->first)
            sweep(NULL, pool, bit, 1);
        at = lose_oldest(pool, bit, &bytes);
        pool->is_shrunk = 1;
    }
    if (at)
        gnomon__chunk_give(at, bytes);
    return at != 0 || !bytes;
}

/* ---- All of a bit ------------------------------------------------------------------- */

/* Word by word, as a mark under way may still read `tree` and `freed`. */
static void set_pool(gnomon__tape_pool *pool, uint32_t generation,
                     uint32_t tree, uint32_t keep)
{
    pool->generation = generation;
    store_relaxed(&pool->tree, tree);
    pool->keep = keep;
    store_relaxed(&pool->freed, 1u);
    pool->first = pool->newest = pool->is_shrunk = 0;
    pool->queued = pool->open = pool->unswept = 0;
    pool->since = 0;
    memset(pool->told, 0, sizeof pool->told);
}

void gnomon__tape_start(uint32_t bit, uint32_t generation, uint32_t tree,
                        uint32_t keep)
{
    gnomon__lock();
    gnomon__chunks_short = shrink_ring;
    set_pool(&gnomon__tape_pools[bit], generation, tree, keep);
    gnomon__each_thread(t)
        gnomon__thread_shut(t); /* they look which tape is hot */
    gnomon__unlock();
}

void gnomon__tape_stop(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    while (pool->generation == generation && pool->first)
        give_block(unqueue(pool, 0));
    if (pool->generation == generation)
        set_pool(pool, 0, 0, 0);
    stream_over();
    gnomon__unlock();
}

void gnomon__tape_expire(uint32_t bit, uint32_t generation, uint64_t since)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation && since > pool->since) {
        pool->since = since;
        while (pool->first &&
               gnomon__tape_block_at(pool->first)->last < since) {
            uint32_t bytes = 0, at = lose_oldest(pool, bit, &bytes);
            gnomon__chunk_give(at, bytes);
        }
    }
    gnomon__unlock();
}

/* ---- Cursors -------------------------------------------------------------------- */

/* Cursors of tapes. A cut notes the place of each thread, so that tree and tape tell stages
 * apart in the same way. record/tape_read.c reads from a cursor on, and moves it. Full
 * blocks before GNOMON__TAPE_WHOLE are given back. Under the lock, which functions of a
 * bit's generation take. */

/* In the block at hand; the next one says itself of which segment it is. If nothing
 * was recorded since the previous cut, the record of that cut is changed instead. */
static void write_cut(gnomon__tape *tape)
{
    if (!tape->block)
        return;
    gnomon__tape_record *last = tape->next - 1;
    if (last->what == GNOMON__TAPE_CUT) {
        store_relaxed(&last->ticks, gnomon__segment);
    } else if (gnomon__tape_has_room(tape)) {
        store_relaxed(&tape->others, tape->others + 1);
        gnomon__tape_write(tape, 0, gnomon__segment, GNOMON__TAPE_CUT);
    }
}

/* The thread began ranges that no later profile can have. The thread writes nothing, so they
 * are numbers that have no record. */
static void number_opens(gnomon__tape *tape)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    if (!tape->opens || pool->generation != tape->generation)
        return;
    if (tape->block)
        close_block(tape, pool, gnomon__ticks(), 0);
    store_relaxed(&tape->number, tape->number + tape->opens);
    tape->opens = 0;
}

/* A late cut moves nothing: the stage that is being reported goes without the thread. */
void gnomon__tape_cut(gnomon__thread *t, uint32_t bit)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    gnomon__tape_cursor *c = &tape->cursors[GNOMON__TAPE_STAGES];
    number_opens(tape);
    if (gnomon__segment_settled != gnomon__segment) {
        tape->segment = gnomon__segment;
        tape->cut_at = gnomon__ticks();
        c->to = place_here(tape);
    }
    write_cut(tape);
}

/* The first place and moment after the last cut. Those of a thread that was not cut in time
 * come with the next stage, and what began before belongs to this one. */
static gnomon__tape_cursor behind_cut(const gnomon__tape *tape)
{
    const gnomon__tape_cursor *c = &tape->cursors[GNOMON__TAPE_STAGES];
    const int is_on_time = gnomon__tape_is_on_time(tape);
    gnomon__tape_place from = is_on_time ? c->to : c->from;
    return (gnomon__tape_cursor){
        from, from, is_on_time ? tape->cut_at : gnomon__segment_begin, 0};
}

/* Moves a cursor of all threads behind the last cut. */
static void move_behind_cut(uint32_t bit, uint32_t generation,
                            enum gnomon__tape_reader reader)
{
    gnomon__each_thread(t) {
        gnomon__tape *tape = gnomon__tape_with(t, bit, generation);
        if (!tape)
            continue;
        gnomon__tape_cursor to = behind_cut(tape);
        if (!gnomon__tape_is_before(to.from, tape->cursors[reader].from))
            tape->cursors[reader] = to;
        if (reader == GNOMON__TAPE_STAGES)
            tape->first_segment = gnomon__segment;
    }
}

void gnomon__tape_reported(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    move_behind_cut(bit, generation, GNOMON__TAPE_STAGES);
    gnomon__unlock();
}

/* Whether no profile needs anything of the block. */
static int is_over(const gnomon__tape_pool *pool, uint32_t bit, uint32_t at)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    const gnomon__tape *tape = gnomon__tape_with(
        gnomon__thread_numbered(b->thread), bit, pool->generation);
    return !tape ||
           !gnomon__tape_is_before(tape->cursors[GNOMON__TAPE_WHOLE].from,
                                   gnomon__tape_behind(b));
}

void gnomon__tape_give_over(uint32_t bit)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    while (pool->first && is_over(pool, bit, pool->first))
        give_block(unqueue(pool, 0));
    note_freed(pool);
}

void gnomon__tape_over(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    if (gnomon__tape_pools[bit].generation == generation) {
        move_behind_cut(bit, generation, GNOMON__TAPE_WHOLE);
        gnomon__tape_pools[bit].told[GNOMON__TAPE_WHOLE] =
            gnomon__segment_begin;
        gnomon__tape_give_over(bit);
    }
    gnomon__unlock();
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tapes: what a thread finished, one record after the other. The tree says how much,
 * the tape when.
 *
 * A record has 16 bytes: when it began, how many ticks it took, and the node of the
 * call tree beside it. So its path is known though records of its parents are missing,
 * are still to come, or crossed it. What does not fit follows in further records, in
 * the same block.
 *
 * A thread writes into its own block. Blocks are chunks of the arena, and full ones
 * wait in a queue for each bit, the oldest first. A block's change is the only moment
 * at which a mark takes the lock: once in 4000 scopes or so.
 *
 * Readers copy blocks while threads write (record/tape_read.c). So a block is changed
 * only by atomic stores, and has a serial that changes when it gets another use. */
#ifndef GNOMON_MARK_TAPE_H
#define GNOMON_MARK_TAPE_H

#include "mark/segment.h"
#include "mark/tree.h"
#include "spec/keep.h"

/* The lower six bits of `what`, as nodes lie at multiples of 64. */
enum gnomon__tape_kind {
    GNOMON__TAPE_SCOPE = 0, /* begin, ticks; node */
    /* The same, where the ticks need more bits or the token is known: a further record
     * with {ticks, token}. A range is one. */
    GNOMON__TAPE_LONG = 1,
    GNOMON__TAPE_MARK = 2,   /* when, key; the node around it */
    GNOMON__TAPE_SAMPLE = 3, /* when, key; the node around it; {double, 0} */
    /* The scope open on the node at this moment has this token, and something may
     * link to it: {token, 0}. */
    GNOMON__TAPE_LINK_OUT = 4,
    /* It was caused by another: when, kind of link; node; {its token, the cause's}. */
    GNOMON__TAPE_LINK_IN = 5,
    GNOMON__TAPE_STEP = 6, /* begin, 0; {ticks, number} */
    GNOMON__TAPE_KINDS
};
#define GNOMON__TAPE_KIND(what) ((what)&15u)
/* Links and steps are no events, and are not counted where they are lost. */
#define GNOMON__TAPE_IS_EVENT(what) \
    (GNOMON__TAPE_KIND(what) < GNOMON__TAPE_LINK_OUT)
#define GNOMON__TAPE_MORE \
    16u /* so much more in `what` for each further record */
#define GNOMON__TAPE_MORE_OF(what) ((what) >> 4 & 3u)
#define GNOMON__TAPE_NODE(what) ((what) & ~63u)

typedef struct gnomon__tape_record {
    uint64_t begin; /* ticks */
    uint32_t ticks;
    uint32_t what;
} gnomon__tape_record;

/* A block's first 64 bytes. Written under the lock. */
typedef struct gnomon__tape_block {
    uint64_t chunk;  /* of the arena's free chunks */
    uint64_t serial; /* of this use; 0: it is no block */
    uint32_t bytes;
    uint32_t used;   /* once it is full: bytes, with these 64 */
    uint32_t events; /* likewise */
    uint32_t thread;
    uint32_t next; /* in the queue */
    uint32_t reserved;
    uint64_t first, last; /* ticks: it was taken, and full, at these moments */
    uint64_t zero;
} gnomon__tape_block;
_Static_assert(sizeof(gnomon__tape_block) == 64, "records are aligned");

/* How many events are missing, and between which moments, in ticks. */
typedef struct gnomon__tape_loss {
    uint64_t count;
    uint64_t first, last;
} gnomon__tape_loss;

#define GNOMON__TAPE_LATE_UNKNOWN \
    UINT64_MAX /* no profile of the stage was made yet */

/* A place between two records of a tape: what was written before it is in blocks with
 * lower serials, and in the first `used` bytes of this one. */
typedef struct gnomon__tape_place {
    uint64_t serial; /* 0: before all */
    uint32_t used;
    uint32_t events; /* in these bytes */
} gnomon__tape_place;

/* What the next profile of a stage has of the tape: from the end of the last stage that
 * was reported, up to the thread's last cut. An event in it that began before `from_at`
 * belongs to an earlier stage, and is called late. */
typedef struct gnomon__tape_stage {
    gnomon__tape_place from, until;
    uint64_t from_at, until_at; /* ticks */
} gnomon__tape_stage;

/* One thread's tape for one bit. */
typedef struct gnomon__tape {
    gnomon__state state;
    uint32_t next; /* offset of the next record; readers load it */
    uint32_t end;  /* of the block; `next` == `end`: it has no room */
    uint32_t block;
    uint32_t bit;
    uint32_t generation;
    uint32_t
        more; /* records in the block that are no events; readers load it */
    uint32_t bytes;   /* of its next block */
    uint32_t full_at; /* the pool's `freed` when it had no block; 0: it had */
    uint64_t linked;  /* token of the newest GNOMON__TAPE_LINK_OUT */
    gnomon__tape_loss lost;        /* no room, or no node */
    gnomon__tape_loss overwritten; /* under the lock */
    uint64_t told;            /* of `lost`, in what was taken; under the lock */
    gnomon__tape_stage stage; /* under the lock, as all to idle_since */
    /* Events written since stage.from that were overwritten: `unreported` were written
     * before the last cut, `newer` after it. So only one stage's profile counts each. */
    gnomon__tape_loss unreported, newer;
    uint64_t lost_at_cut;   /* `lost` at the last cut */
    uint64_t lost_reported; /* of `lost`, in profiles of reported stages */
    uint64_t late; /* late events that a file has neither got nor counted yet */
    /* At the last sweep, under the lock: `next`, and since when it was that. */
    uint32_t noted;
    uint32_t refused; /* marks that found no room */
    uint32_t is_late; /* its last cut came after all others had theirs */
    uint64_t idle_since;
} gnomon__tape;

/* The tapes of one bit. Under the lock. */
typedef struct gnomon__tape_pool {
    uint32_t generation; /* 0: not in use */
    uint32_t tree;       /* bit of the tree whose nodes records name */
    uint32_t keep;
    uint32_t freed;         /* changes when a block may be had again */
    uint32_t first, newest; /* the queue of full blocks; 0: it is empty */
    uint32_t is_shrunk;     /* trees took memory of it */
    uint64_t queued;        /* bytes of it */
    uint64_t open;          /* bytes of blocks of tapes */
    uint64_t unswept;       /* bytes that were queued since the last sweep */
    uint64_t until; /* ticks: what began earlier was taken, and is not missed */
    uint64_t since; /* ticks: what began earlier is not wanted, and missing */
    uint64_t told;  /* ticks: losses until then were given away */
} gnomon__tape_pool;

GNOMON__DATA gnomon__tape_pool gnomon__tape_pools[GNOMON__BITS];

static inline gnomon__tape *gnomon__tape_of(const gnomon__thread *t,
                                            uint32_t bit)
{
    return gnomon__at(t, load_relaxed(&t->states[bit]));
}

static inline gnomon__tape_block *gnomon__tape_block_at(uint32_t offset)
{
    return (gnomon__tape_block *)(void *)(gnomon__marks_arena.base + offset);
}

/* Whether the thread was cut together with the others. One that stayed inside one mark for
 * a second was left out: what it recorded comes with the next stage. Under the lock. */
static inline int gnomon__tape_is_on_time(const gnomon__thread *t,
                                          const gnomon__tape *tape)
{
    return load_relaxed(&t->segment) == gnomon__segment && !tape->is_late;
}

/* ---- Places ------------------------------------------------------------------- */

/* What is before the place of a block that ends at `all`. */
static inline gnomon__tape_place gnomon__tape_before(gnomon__tape_place place,
                                                     gnomon__tape_place all)
{
    if (place.serial > all.serial)
        return all;
    return place.serial == all.serial ? place : (gnomon__tape_place){0, 0, 0};
}

/* Events of a block in use that has so many bytes. */
static inline uint32_t gnomon__tape_events_in(const gnomon__tape *tape,
                                              uint32_t used)
{
    return (used - (uint32_t)sizeof(gnomon__tape_block)) /
               (uint32_t)sizeof(gnomon__tape_record) -
           load_relaxed(&tape->more);
}

/* The end of what the thread has written so far. Under the lock, while it writes nothing. */
gnomon__tape_place gnomon__tape_here(const gnomon__tape *tape);

/* ---- Blocks: tape_blocks.c -------------------------------------------------- */

/* The bit's tapes name nodes of the tree of bit `tree` from now on. Takes the lock;
 * after the bit was attached and before its window opens. */
void gnomon__tape_start(uint32_t bit, uint32_t generation, uint32_t tree,
                        uint32_t keep);
/* NULL: the thread has no such tape. Under the lock. */
gnomon__tape *gnomon__tape_with(const gnomon__thread *t, uint32_t bit,
                                uint32_t generation);
/* Gives the full blocks back. Takes the lock; after the bit was detached. */
void gnomon__tape_stop(uint32_t bit, uint32_t generation);
/* What began before `since` is not wanted any more: counts as overwritten, and full
 * blocks with nothing newer are given back. Takes the lock. */
void gnomon__tape_expire(uint32_t bit, uint32_t generation, uint64_t since);

/* ---- What profiles have: tape_taken.c ------------------------------------------- */

/* For the table of recorders. */
void gnomon__tape_cut(gnomon__thread *t, uint32_t bit);
/* The stage that the last cut ended was reported: no later stage has its events, or counts
 * its losses. Takes the lock. */
void gnomon__tape_reported(uint32_t bit, uint32_t generation);

/* No profile needs what began before `until`: full blocks with nothing newer are given
 * back. `is_told`: a profile had it, and told what is lost of it, which counts no more;
 * else it counts as overwritten. Takes the lock. */
void gnomon__tape_over(uint32_t bit, uint32_t generation, uint64_t until,
                       int is_told);
/* Only gives those blocks back, and changes no count. Under the lock. */
void gnomon__tape_give_until(uint32_t bit, uint64_t until);

/* ---- GNOMON__KEEP_STREAM: tape_stream.c ---------------------------------------- */

/* Whether a quarter of all memory is full blocks, or a thread found no memory. Any
 * time. */
int gnomon__tapes_are_full(void);
/* The same of events of devices, which streams give away too. Takes the lock. */
void gnomon__tapes_fill(void);
/* A round of taking begins, after which a thread may find memory full again. Where one
 * found none, blocks of idle threads join the full ones. Takes the lock. Bytes of these. */
uint64_t gnomon__tape_gather(uint32_t bit, uint32_t generation);
/* The first `count` full blocks were copied, and losses told up to `now`: gives the
 * blocks back. Takes the lock. */
void gnomon__tape_streamed(uint32_t bit, uint32_t generation, size_t count,
                           uint64_t now);
/* After a thread looked for a block. Under the lock. Whether who takes full blocks is to
 * be woken. */
int gnomon__tape_is_full(const gnomon__tape_pool *pool, int has_room);

/* A pool is no stream any more. After the last one nobody is to be woken. Under the
 * lock. */
void gnomon__tape_stream_over(void);

/* Room for a record and `more` further ones. 0: there is none. On the owning thread, its
 * word odd. */
int gnomon__tape_room(gnomon__thread *t, gnomon__tape *tape, uint32_t more);

/* How many events in the first `used` bytes of a block began in this time. Under the
 * lock. */
uint64_t gnomon__tape_count(uint32_t at, uint32_t used, uint64_t from,
                            uint64_t until);

void gnomon__tape_lose(gnomon__tape_loss *loss, uint64_t count, uint64_t first,
                       uint64_t last);

/* A chunk of `bytes`, or where there is none a part of a larger one, or a smaller one,
 * which sets `bytes`. 0: there is no memory for events. */
uint32_t gnomon__tape_chunk(uint32_t *bytes);
/* Of tapes `bits`: whether one has this gnomon__keep_mode; and of those that keep the last
 * events the oldest full block, which becomes the caller's, with its size. 0: there is
 * none. Takes the lock. */
int gnomon__tapes_keep(uint32_t bits, uint32_t mode);
uint32_t gnomon__tapes_oldest(uint32_t bits, uint32_t *bytes);

/* A scope that has no node of its own in the tree of bit `tree`: lost on each tape
 * beside that tree whose window is open. */
void gnomon__tapes_lose(gnomon__thread *t, uint32_t tree, uint64_t ticks);

int gnomon__tape_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation);
void gnomon__tape_drop(gnomon__thread *t, uint32_t bit);
/* In a forked child, under the lock. */
void gnomon__tapes_forget(void);

/* ---- The queue: tape_queue.c. Under the lock. --------------------------------- */

#define GNOMON__TAPE_FIRST_BLOCK 1024u /* bytes */

/* The tape's block, with nothing newer than `last`, goes into the queue; `is_oldest`: in
 * front. */
void gnomon__tape_close(gnomon__tape *tape, gnomon__tape_pool *pool,
                        uint64_t last, int is_oldest);
/* Takes the first block of at least `bytes` out of the queue. 0: none of its first 64 is
 * that large. */
uint32_t gnomon__tape_unqueue(gnomon__tape_pool *pool, uint32_t bytes);
/* Gives its memory back. */
void gnomon__tape_give(uint32_t at);

/* ---- Blocks of idle threads: tape_idle.c. Under the lock. ---------------------- */

/* Whether it is time for a sweep. */
int gnomon__tapes_are_due(const gnomon__tape_pool *pool);
/* Notes which threads are idle. With `takes`, blocks with nothing newer than what the
 * queue's first one has go in front of it; or where the queue is empty, the oldest
 * blocks. Leaves out those of `self`. */
void gnomon__tapes_sweep(const gnomon__thread *self, gnomon__tape_pool *pool,
                         uint32_t bit, int takes);

/* ---- Pages ahead of need: tape_pages.c ------------------------------------------ */

/* Under the lock. Whether our thread is to be woken, which then takes them. */
int gnomon__tape_wants_pages(void);
/* In that thread: asks the system for them, under no lock. */
void gnomon__tape_take_pages(void);
/* In a forked child, under the lock. */
void gnomon__tape_forget_pages(void);

/* ---- Marks: tape.c ---------------------------------------------------------- */

/* For the table of recorders. */
void gnomon__tape_end(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f);
void gnomon__tape_ended(gnomon__thread *t, const gnomon__front *n,
                        uint64_t ticks);
void gnomon__tape_range(gnomon__thread *t, uint32_t bit,
                        const gnomon__finished *f, uint32_t segment);
void gnomon__tape_mark(gnomon__thread *t, uint32_t bit,
                       const gnomon__finished *f);
void gnomon__tape_sample(gnomon__thread *t, uint32_t bit, uint32_t key,
                         double value);
void gnomon__tape_step(gnomon__thread *t, uint32_t bit,
                       const gnomon__stepped *done);
void gnomon__tape_link_out(gnomon__thread *t, uint32_t bit);
void gnomon__tape_link_in(gnomon__thread *t, uint32_t bit, int kind,
                          uint64_t from);

/* An execution of more than 32 bits of ticks, or where the block is full. */
void gnomon__tape_scope_slow(gnomon__thread *t, gnomon__tape *tape,
                             uint64_t begin, uint64_t ticks, uint32_t node);

/* A block was last written when the ring came round, so its lines are in no near cache.
 * Each is asked for 32 records before it is written: else stores wait for memory, 2 ns
 * a scope. In words. */
#define GNOMON__TAPE_AHEAD 64

/* Writes a record, for which there is room. `ticks` has 32 bits. */
static inline void gnomon__tape_write(const gnomon__thread *t,
                                      gnomon__tape *tape, uint64_t begin,
                                      uint64_t ticks, uint32_t what)
{
    uint32_t next = tape->next;
    uint64_t *at = gnomon__at(t, next);
    __builtin_prefetch(at + GNOMON__TAPE_AHEAD, 1);
    store_relaxed(&at[0], begin);
    store_relaxed(&at[1], ticks | (uint64_t)what << 32);
    store_release(&tape->next, next + (uint32_t)sizeof(gnomon__tape_record));
}

/* Whether the block at hand takes a record. */
static inline int gnomon__tape_has_room(const gnomon__tape *tape)
{
    return tape->next != tape->end;
}

/* A finished execution. */
static inline void gnomon__tape_scope(gnomon__thread *t, gnomon__tape *tape,
                                      uint64_t begin, uint64_t ticks,
                                      uint32_t node)
{
    if (unlikely(!gnomon__tape_has_room(tape) || ticks > UINT32_MAX)) {
        gnomon__tape_scope_slow(t, tape, begin, ticks, node);
        return;
    }
    gnomon__tape_write(t, tape, begin, ticks, node | GNOMON__TAPE_SCOPE);
}

#endif

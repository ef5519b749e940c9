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
    /* The same, where the ticks need more bits, or it began in an earlier segment: a
     * further record with {ticks, token}, and that segment in place of ticks; 0: it began
     * in this one. Ranges are such, and they alone have a token. */
    GNOMON__TAPE_LONG = 1,
    GNOMON__TAPE_MARK = 2, /* when, key; the node around it */
    GNOMON__TAPE_SAMPLE =
        3, /* when, key; the node around it; {double, 0}; of a pool
                            * its bytes and the block's address */
    GNOMON__TAPE_GAP = 4, /* when: an event without a node, which is lost */
    /* The scope open on the node at this moment has this token, and something may
     * link to it: {token, 0}. */
    GNOMON__TAPE_LINK_OUT = 5,
    /* It was caused by another: when, the node of the cause then with the lower bits of
     * the link's kind; node; {its token, the cause's}. */
    GNOMON__TAPE_LINK_IN = 6,
    GNOMON__TAPE_STEP = 7, /* begin, 0; {ticks, number} */
    /* A block's first record: its place, and the lower bits of its segment as node. */
    GNOMON__TAPE_PLACE = 8,
    GNOMON__TAPE_CUT =
        9, /* what follows is of another segment: 0, its number */
    GNOMON__TAPE_KINDS
};
#define GNOMON__TAPE_KIND(what) ((what)&15u)
/* Links, steps, places and cuts are no events, and have no number. */
#define GNOMON__TAPE_IS_EVENT(what) \
    (GNOMON__TAPE_KIND(what) < GNOMON__TAPE_LINK_OUT)
#define GNOMON__TAPE_MORE \
    16u /* so much more in `what` for each further record */
#define GNOMON__TAPE_MORE_OF(what) ((what) >> 4 & 3u)
#define GNOMON__TAPE_NODE(what) ((what) & ~63u)
#define GNOMON__TAPE_SEGMENT 6u /* a place's is so much further up */

typedef struct gnomon__tape_record {
    uint64_t begin; /* ticks; of a PLACE: number */
    uint32_t ticks; /* of a PLACE: others */
    uint32_t what;
} gnomon__tape_record;

/* A block's first 64 bytes. Written under the lock. */
typedef struct gnomon__tape_block {
    uint64_t first;  /* ticks: it was taken; while it is free, the arena's */
    uint64_t serial; /* of this use; 0: it is no block */
    uint32_t bytes;
    uint32_t used; /* once it is full: bytes, with these 64 */
    uint32_t thread;
    uint32_t next;   /* in the queue */
    uint64_t last;   /* ticks: it was full */
    uint32_t events; /* once it is full */
    uint32_t reserved;
    gnomon__tape_record place; /* readers copy it with the records */
} gnomon__tape_block;
_Static_assert(sizeof(gnomon__tape_block) == 64, "records are aligned");

/* A place between two records of a tape. An event that finds no room has a place too. So
 * what is missing between two places is what a reader did not find there. */
typedef struct gnomon__tape_place {
    uint64_t number; /* of events before it */
    uint32_t others; /* of other records before it, and of further ones */
    uint32_t reserved;
} gnomon__tape_place;

static inline int gnomon__tape_is_before(gnomon__tape_place a,
                                         gnomon__tape_place b)
{
    return a.number != b.number ? a.number < b.number
                                : (int32_t)(a.others - b.others) < 0;
}

/* How far a reader has come in the tape of one thread. Under the lock. */
typedef struct gnomon__tape_cursor {
    gnomon__tape_place from, to; /* `to`: of what it reads, or read last */
    /* Ticks: events that began earlier were delivered already, or belong to an
     * earlier stage. */
    uint64_t from_at;
    uint64_t told; /* how many events behind `from` were delivered already */
} gnomon__tape_cursor;

enum gnomon__tape_reader {
    GNOMON__TAPE_WHOLE, /* of all that somebody may still need; streams */
    GNOMON__TAPE_CYCLES,
    GNOMON__TAPE_STAGES, /* from cut to cut */
    GNOMON__TAPE_READERS
};

/* One thread's tape for one bit. */
typedef struct gnomon__tape {
    gnomon__state state;
    gnomon__tape_record *next; /* readers load it; NULL: there is no block */
    gnomon__tape_record
        *end;       /* of the block; `next` == `end`: it has no room */
    uint32_t block; /* its offset */
    uint32_t bit;
    uint32_t generation;
    uint32_t others;  /* of the place of `next`; readers load it */
    uint32_t bytes;   /* of its next block */
    uint32_t full_at; /* the pool's `freed` when it had no block; 0: it had */
    uint64_t number;  /* of its block's first event; without one, of the next */
    uint64_t linked;  /* token of the newest GNOMON__TAPE_LINK_OUT */
    gnomon__tape_cursor cursors[GNOMON__TAPE_READERS];
    uint64_t
        gone; /* a number: blocks before it were overwritten; under the lock */
    uint64_t began;         /* ticks */
    uint64_t cut_at;        /* ticks: its last cut in time; under the lock */
    uint32_t segment;       /* that began with this; likewise */
    uint32_t first_segment; /* of GNOMON__TAPE_STAGES; likewise */
    /* At the last sweep, under the lock: `next`, and since when it was that. */
    uint32_t noted;
    uint16_t refused; /* marks that found no room */
    uint16_t opens;   /* ranges that get a number at the cut; under the lock */
    uint64_t idle_since;
} gnomon__tape;
_Static_assert(sizeof(gnomon__tape) <= 256, "a thread's, in little memory");

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
    uint64_t since; /* ticks: what began earlier is not wanted, and missing */
    /* Ticks: this cursor has delivered all events that began earlier, on all
     * threads. */
    uint64_t told[GNOMON__TAPE_READERS];
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

/* Bytes of the tape's block that are written, as `next` says. */
static inline uint32_t gnomon__tape_used(const gnomon__tape *tape,
                                         const gnomon__tape_record *next)
{
    return (uint32_t)((const char *)next -
                      (const char *)gnomon__tape_block_at(tape->block));
}

/* The place behind a full block. */
static inline gnomon__tape_place
gnomon__tape_behind(const gnomon__tape_block *b)
{
    uint32_t all =
        (b->used - (uint32_t)sizeof *b) / (uint32_t)sizeof(gnomon__tape_record);
    return (gnomon__tape_place){b->place.begin + b->events,
                                b->place.ticks + (all - b->events), 0};
}

/* Whether the thread was cut together with the others. One that stayed inside one mark for
 * a second was left out: what it recorded comes with the next stage. Under the lock. */
static inline int gnomon__tape_is_on_time(const gnomon__tape *tape)
{
    return tape->segment == gnomon__segment;
}

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

/* ---- Cursors -------------------------------------------------------------------- */

/* For the table of recorders. */
void gnomon__tape_cut(gnomon__thread *t, uint32_t bit);
/* The stage that the last cut ended was reported: the next one begins there. Takes the
 * lock. */
void gnomon__tape_reported(uint32_t bit, uint32_t generation);
/* No profile needs what was before the last cut any more. Takes the lock. */
void gnomon__tape_over(uint32_t bit, uint32_t generation);
/* Full blocks that no profile needs are given back. Under the lock. */
void gnomon__tape_give_over(uint32_t bit);

/* ---- GNOMON__KEEP_STREAM -------------------------------------------------------- */

/* Whether a quarter of all memory is full blocks, or a thread found no memory. Any
 * time. */
int gnomon__tapes_are_full(void);
/* The same of events of devices, which streams give away too. Takes the lock. */
void gnomon__tapes_fill(void);
/* A round of taking begins, after which a thread may find memory full again. Where one
 * found none, blocks of idle threads join the full ones. Takes the lock. Bytes of these. */
uint64_t gnomon__tape_gather(uint32_t bit, uint32_t generation);
/* The first `count` full blocks were copied: gives them back. Takes the lock. */
void gnomon__tape_streamed(uint32_t bit, uint32_t generation, size_t count);
/* Room for a record and `more` further ones. 0: there is none. On the owning thread, its
 * word odd. */
int gnomon__tape_room(gnomon__thread *t, gnomon__tape *tape, uint32_t more);

/* An event has no node: writes a GAP where the block has room, else raises the number, so
 * that it takes no memory. Likewise. */
void gnomon__tape_gap(gnomon__tape *tape, uint64_t when);

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

#define GNOMON__TAPE_FIRST_BLOCK 1024u /* bytes */

/* ---- Pages ahead of need -------------------------------------------------------- */

/* Under the lock. Whether our thread is to be woken, which then takes them. */
int gnomon__tape_wants_pages(void);
/* In that thread: asks the system for them, under no lock. */
void gnomon__tape_take_pages(void);

/* ---- Marks: tape.c ---------------------------------------------------------- */

/* The recorder of tapes, and its `ended`. */
GNOMON__DATA const gnomon__recorder gnomon__tape_recorder;
void gnomon__tape_ended(gnomon__thread *t, const gnomon__front *n,
                        uint64_t ticks);
/* Bytes that a pool, a region, gave, or got back where they are below 0. */
void gnomon__tape_memory(gnomon__thread *t, uint32_t bit, uint32_t key,
                         double bytes, uint64_t pointer);
/* A link goes out from the innermost open scope, or comes in to it from the execution
 * `token`, whose node in the tree is `from`; 0: that tree saw none. */
void gnomon__tape_link_out(gnomon__thread *t, uint32_t bit);
void gnomon__tape_link_in(gnomon__thread *t, uint32_t bit, int kind,
                          uint32_t from, uint64_t token);

/* An execution of more than 32 bits of ticks, or where the block is full. */
void gnomon__tape_scope_slow(gnomon__thread *t, gnomon__tape *tape,
                             uint64_t begin, uint64_t ticks, uint32_t node);

/* A block was last written when the ring came round, so its lines are in no near cache.
 * Each is asked for 32 records before it is written: else stores wait for memory, 2 ns
 * a scope. */
#define GNOMON__TAPE_AHEAD 32

/* Writes a record, for which there is room. `ticks` has 32 bits. */
static inline void gnomon__tape_write(gnomon__tape *tape, uint64_t begin,
                                      uint64_t ticks, uint32_t what)
{
    gnomon__tape_record *at = tape->next;
    __builtin_prefetch(at + GNOMON__TAPE_AHEAD, 1);
    store_relaxed(&at->begin, begin);
    store_relaxed(&at->ticks, (uint32_t)ticks);
    store_relaxed(&at->what, what);
#if defined(__x86_64__) && !defined(GNOMON__TSAN)
    /* A release: its stores keep their order. */
    gnomon__word_add((void *)&tape->next, sizeof *at);
#else
    store_release(&tape->next, at + 1);
#endif
}

/* Whether the block at hand takes a record. */
static inline int gnomon__tape_has_room(const gnomon__tape *tape)
{
    return tape->next != tape->end;
}

/* An event finds no room: only its number is left. */
static inline void gnomon__tape_skip(gnomon__tape *tape)
{
    if (!tape->block)
        store_relaxed(&tape->number, tape->number + 1);
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
    gnomon__tape_write(tape, begin, ticks, node | GNOMON__TAPE_SCOPE);
}

#endif

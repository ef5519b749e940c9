/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorder of memory: its mark is on the hot path of a program.
 *
 * Sums of memory by path and pool. Each thread adds to accounts of its own, which any
 * thread may read, and which never move: those of the paths in which it allocates and
 * frees, and those of the paths whose blocks it frees. Sums only grow; a reader keeps what
 * they were when the stage began. What all threads share is the table of blocks and each
 * pool's use and peak (pool.h).
 *
 * Who held a pool's memory at its peak: each peak has a number, and an account whose
 * number is an older one notes what it holds before it changes. So a peak costs nothing
 * but itself. */
#include <string.h>

#include "gnomon/tool.h"
#include "memory/blocks.h"
#include "memory/memory.h"
#include "memory/pool.h"
#include "platform/atomic.h"
#include "profile/strip.h"

#define POOLS \
    65536u /* ids of regions below it; others are of pool 1, "(other)" */
#define THREADS 65536u
#define FIRST_INDEX 256u
#define LEVELS 16u
#define PART 64u /* accounts that are mapped at once */

typedef struct memory_counts {
    uint64_t allocations, frees, allocated, freed;
    int64_t held; /* allocated on its path less freed, by this thread */
    uint64_t failures, unknown;
} memory_counts;

/* Its first two lines have what each mark needs. */
typedef struct account {
    uint64_t key; /* node << 16 | pool */
    memory_counts now;
    purse *purse; /* of its thread and pool */
    uint64_t peak_number;
    int64_t at_peak;    /* held at the peak of that number */
    int64_t live, peak; /* of its thread, in the stage */
    uint32_t stage, reserved_words;
    uint64_t reserved;
    memory_counts before, seen; /* as the stage began; as was read last */
} account;

/* A new purse is of a new account, and in the same part. */
typedef struct part {
    struct part *next;
    uint32_t purse_count;
    purse purses[PART];
    account of[PART];
} part;

/* One thread's. */
typedef struct ledger {
    uint32_t generation;  /* of `begin` */
    uint32_t count, room; /* of the index, a power of two */
    account *last;
    account **index;  /* by hash */
    part *parts, *at; /* `at`: the one in use */
    uint32_t used;    /* in it */
} ledger;

static pool pools[POOLS];
static ledger *ledgers[THREADS];
static uint16_t met[POOLS]; /* pools; 0: not written yet */
static uint32_t ledger_count, met_count, generation, stage;
static uint64_t lost; /* marks */

/* ---- Accounts ---------------------------------------------------------------------- */

static uint32_t slot_of(account *const *index, uint32_t room, uint64_t key)
{
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
    while (index[at] && index[at]->key != key)
        at = (at + 1) & (room - 1);
    return at;
}

/* 0: no memory. */
static int grow_index(ledger *l)
{
    const uint32_t room = l->room ? 2 * l->room : FIRST_INDEX;
    account **index = gnomon__memory_map(room * sizeof *index);
    if (!index)
        return 0;
    for (uint32_t i = 0; i < l->room; i++)
        if (l->index[i])
            index[slot_of(index, room, l->index[i]->key)] = l->index[i];
    if (l->index)
        gnomon__memory_unmap(l->index, l->room * sizeof *index);
    l->index = index;
    l->room = room;
    return 1;
}

/* The pool is among those that are read. */
static void meet(uint32_t pool_id)
{
    uint32_t was = load_relaxed(&pools[pool_id].is_met);
    if (!was && cas_acq_rel(&pools[pool_id].is_met, &was, 1))
        store_release(&met[add_relaxed(&met_count, 1)], (uint16_t)pool_id);
}

static purse *purse_of(const ledger *l, uint32_t pool_id)
{
    pool *p = &pools[pool_id];
    for (part *at = l->parts; at; at = at->next)
        for (uint32_t i = 0; i < at->purse_count; i++)
            if (at->purses[i].pool == pool_id)
                return &at->purses[i];
    purse *u = &l->at->purses[l->at->purse_count++];
    u->pool = pool_id;
    u->next = load_relaxed(&p->purses);
    while (!cas_acq_rel(&p->purses, &u->next, u))
        ;
    return u;
}

static account *new_account(ledger *l, uint64_t key)
{
    part *p = l->at;
    if (2 * (l->count + 1) > l->room && !grow_index(l))
        return NULL;
    if (!p || l->used == PART) {
        part *next = p ? p->next : l->parts;
        if (!next && !(next = gnomon__memory_map(sizeof *next)))
            return NULL;
        store_release(p ? &p->next : &l->parts, next);
        l->at = p = next;
        l->used = 0;
    }
    const uint32_t pool_id = (uint32_t)(key & (POOLS - 1));
    meet(pool_id);
    account *a = &p->of[l->used++];
    a->stage = load_relaxed(&stage);
    a->purse = purse_of(l, pool_id);
    store_release(&a->key, key); /* with the reader */
    l->index[slot_of(l->index, l->room, key)] = a;
    l->count++;
    return a;
}

/* NULL: no memory. */
static inline account *account_of(ledger *l, uint64_t key)
{
    account *a = l->last;
    if (likely(a && a->key == key))
        return a;
    a = l->room ? l->index[slot_of(l->index, l->room, key)] : NULL;
    if (!a)
        a = new_account(l, key);
    l->last = a;
    return a;
}

/* All is forgotten: what was mapped stays. */
static void forget_accounts(ledger *l)
{
    const uint32_t now = load_acquire(&generation);
    if (l->index)
        memset((void *)l->index, 0, l->room * sizeof(account *));
    for (part *p = l->parts; p; p = p->next) {
        memset(p->of, 0, sizeof p->of);
        memset(p->purses, 0, p->purse_count * sizeof *p->purses);
        p->purse_count = 0;
    }
    l->at = NULL;
    l->last = NULL;
    l->count = l->used = 0;
    store_release(&l->generation, now);
}

static ledger *new_ledger(uint32_t thread)
{
    ledger *l = ledgers[thread];
    if (!l && !(l = gnomon__memory_map(sizeof *l)))
        return NULL;
    forget_accounts(l);
    store_release(&ledgers[thread], l);
    for (uint32_t count = load_relaxed(&ledger_count);
         count <= thread && !cas_acq_rel(&ledger_count, &count, thread + 1);)
        ;
    return l;
}

/* ---- Marks ----------------------------------------------------------------------------- */

/* What the account's path holds, and who held what at the peak. */
static inline void hold(account *a, const pool *p, int64_t bytes)
{
    const uint64_t number = load_relaxed(&p->number);
    if (a->peak_number != number) {
        store_relaxed(&a->at_peak, a->now.held);
        store_relaxed(&a->peak_number, number);
    }
    store_relaxed(&a->now.held, a->now.held + bytes);
}

/* What is of one stage begins anew in the next one. */
static inline void enter_stage(account *a)
{
    const uint32_t now = load_relaxed(&stage);
    if (likely(a->stage == now))
        return;
    a->live = 0;
    store_relaxed(&a->peak, 0);
    store_relaxed(&a->reserved, 0);
    store_relaxed(&a->stage, now);
}

/* What the account's path took less what it gave back. */
static inline void live(account *a, int64_t bytes)
{
    enter_stage(a);
    a->live += bytes;
    if (a->live > a->peak)
        store_relaxed(&a->peak, a->live);
}

static void reserve(account *a, uint64_t bytes)
{
    enter_stage(a);
    if (bytes > a->reserved)
        store_relaxed(&a->reserved, bytes);
}

static int64_t lose(void)
{
    (void)add_relaxed(&lost, 1);
    return 0;
}

/* A block of another path or this one is no more. Returns its size. */
static int64_t release(ledger *l, const block *b)
{
    const int64_t bytes = (int64_t)(b->value >> (64 - BLOCK_SIZE_BITS));
    const uint64_t node = b->value & ((1u << (64 - BLOCK_SIZE_BITS)) - 1);
    pool *p = &pools[b->key & (POOLS - 1)];
    account *owner =
        account_of(l, node << (BLOCK_NODE_SHIFT + 16) | (b->key & (POOLS - 1)));
    if (owner)
        hold(owner, p, -bytes);
    give_use(p, owner ? owner->purse : NULL, bytes);
    return bytes;
}

static int64_t allocated(ledger *l, account *a, uint64_t pointer,
                         uint64_t bytes)
{
    pool *p = &pools[a->key & (POOLS - 1)];
    const block b = {pointer << 16 | (a->key & (POOLS - 1)),
                     bytes << (64 - BLOCK_SIZE_BITS) |
                         a->key >> (16 + BLOCK_NODE_SHIFT)};
    block old = {0, 0};
    int64_t gone = 0;
    store_relaxed(&a->now.allocations, a->now.allocations + 1);
    store_relaxed(&a->now.allocated, a->now.allocated + bytes);
    live(a, (int64_t)bytes);
    const int is_kept = gnomon__block_add(b, &old);
    if (unlikely(old.key != 0)) {
        store_relaxed(&a->now.unknown, a->now.unknown + 1);
        gone = release(l, &old);
    }
    if (unlikely(!is_kept)) /* its free will be unknown */
        return lose() - gone;
    hold(a, p, (int64_t)bytes);
    take_use(p, a->purse, (int64_t)bytes);
    return (int64_t)bytes - gone;
}

static int64_t freed(ledger *l, account *a, uint64_t pointer)
{
    const block b = gnomon__block_take(pointer);
    if (unlikely(!b.key)) {
        store_relaxed(&a->now.unknown, a->now.unknown + 1);
        return 0;
    }
    const int64_t bytes = release(l, &b);
    store_relaxed(&a->now.frees, a->now.frees + 1);
    store_relaxed(&a->now.freed, a->now.freed + (uint64_t)bytes);
    live(a, -bytes);
    return -bytes;
}

int64_t gnomon__memory_marked(uint32_t thread, uint32_t node, uint32_t pool_id,
                              int kind, const void *pointer, uint64_t bytes)
{
    ledger *l = thread < THREADS ? load_relaxed(&ledgers[thread]) : NULL;
    if (unlikely(!l || l->generation != load_relaxed(&generation)) &&
        (thread >= THREADS || !(l = new_ledger(thread))))
        return lose();
    const uint64_t at = (uint64_t)(uintptr_t)pointer;
    if (unlikely(!node)) {
        const block b = gnomon__block_take(at);
        return b.key ? -release(l, &b) : 0;
    }
    pool_id = pool_id < POOLS ? pool_id : 1;
    account *a = account_of(l, (uint64_t)node << 16 | pool_id);
    if (unlikely(!a))
        return lose();
    const int is_block = kind <= GNOMON_MEMORY_FREED;
    if (unlikely(is_block && !at))
        return 0;
    if (unlikely(is_block &&
                 (at >> BLOCK_POINTER_BITS || bytes >> BLOCK_SIZE_BITS)))
        store_relaxed(&a->now.unknown, a->now.unknown + 1);
    else if (kind == GNOMON_MEMORY_ALLOCATED)
        return allocated(l, a, at, bytes);
    else if (kind == GNOMON_MEMORY_FREED)
        return freed(l, a, at);
    else if (kind == GNOMON_MEMORY_EXHAUSTED)
        store_relaxed(&a->now.failures, a->now.failures + 1);
    else
        reserve(a, bytes);
    return 0;
}

/* ---- By steps ------------------------------------------------------------------------------ */

/* Pools in the order in which they are met: what was in use as steps of the stage ended. */
static struct level {
    uint32_t count; /* of bins; 0: it was not met */
    uint32_t shift; /* a bin has 1 << shift steps */
    gnomon_bin bins[GNOMON__BINS];
} in_use[LEVELS];

static void count_level(struct level *l, uint64_t at, int64_t bytes)
{
    /* Less than 0: a block is freed by one thread while another still adds it. */
    const double use = bytes > 0 ? (double)bytes : 0;
    const gnomon_bin one = {.count = 1, .min = use, .max = use, .sum = use};
    for (; at >> l->shift >= GNOMON__BINS; l->shift++)
        for (uint32_t i = 0; i < GNOMON__BINS; i++) {
            const gnomon_bin narrow = l->bins[i];
            l->bins[i] = (gnomon_bin){0};
            gnomon__bin_add(&l->bins[i / 2], &narrow);
        }
    l->count = (uint32_t)(at >> l->shift) + 1;
    gnomon__bin_add(&l->bins[l->count - 1], &one);
}

void gnomon__memory_step(uint64_t at)
{
    for (uint32_t i = 0; i < LEVELS && i < load_relaxed(&met_count); i++) {
        const pool *p = &pools[load_acquire(&met[i])];
        if (load_relaxed(&p->peak))
            count_level(&in_use[i], at, gnomon__pool_use(p));
    }
}

static void forget_levels(void)
{
    for (uint32_t i = 0; i < LEVELS; i++)
        if (in_use[i].count)
            memset(&in_use[i], 0, sizeof in_use[i]);
}

/* ---- Reading ------------------------------------------------------------------------------- */

void gnomon__memory_begin(void)
{
    gnomon__blocks_forget();
    forget_levels();
    for (uint32_t i = 0; i < load_relaxed(&met_count); i++)
        gnomon__pool_begin(&pools[load_acquire(&met[i])]);
    store_release(&generation, generation + 1); /* with forget_accounts */
}

static memory_counts counts_of(const account *a)
{
    return (memory_counts){
        load_relaxed(&a->now.allocations), load_relaxed(&a->now.frees),
        load_relaxed(&a->now.allocated),   load_relaxed(&a->now.freed),
        load_relaxed(&a->now.held),        load_relaxed(&a->now.failures),
        load_relaxed(&a->now.unknown)};
}

/* Since the stage began. 0: there is nothing. */
static int sums_of(account *a, gnomon_memory_stats *out)
{
    const memory_counts now = counts_of(a), *then = &a->before;
    a->seen = now;
    const pool *p = &pools[a->key & (POOLS - 1)];
    const int64_t at_peak =
        load_relaxed(&a->peak_number) == load_relaxed(&p->number)
            ? load_relaxed(&a->at_peak)
            : now.held;
    *out = (gnomon_memory_stats){
        .struct_size = sizeof *out,
        .allocations = now.allocations - then->allocations,
        .frees = now.frees - then->frees,
        .allocated_bytes = now.allocated - then->allocated,
        .freed_bytes = now.freed - then->freed,
        .held_bytes = now.held - then->held,
        .at_peak_bytes = (uint64_t)at_peak,
        .failures = now.failures - then->failures,
        .unknown = now.unknown - then->unknown};
    out->live_bytes = (int64_t)(out->allocated_bytes - out->freed_bytes);
    if (load_relaxed(&a->stage) == load_relaxed(&stage)) {
        out->peak_bytes = (uint64_t)load_relaxed(&a->peak);
        out->reserved_bytes = load_relaxed(&a->reserved);
    }
    if (out->peak_bytes > out->allocated_bytes) /* it is allocating just now */
        out->peak_bytes = out->allocated_bytes;
    return out->allocations || out->frees || out->held_bytes || at_peak ||
           out->reserved_bytes || out->failures || out->unknown;
}

/* Calls `each` for all accounts. */
static int each_account(int (*each)(void *context, account *a), void *context)
{
    int ok = 1;
    for (uint32_t i = 0; i < load_acquire(&ledger_count); i++) {
        const ledger *l = load_acquire(&ledgers[i]);
        if (!l || load_acquire(&l->generation) != generation)
            continue;
        for (part *p = load_acquire(&l->parts); p; p = load_acquire(&p->next))
            for (uint32_t k = 0; k < PART && load_acquire(&p->of[k].key); k++)
                ok &= each(context, &p->of[k]);
    }
    return ok;
}

typedef struct reading {
    void *to;
    int (*put)(void *to, uint32_t node, uint32_t pool,
               const gnomon_memory_stats *sums);
} reading;

static int read_account(void *context, account *a)
{
    const reading *r = context;
    gnomon_memory_stats sums;
    return !sums_of(a, &sums) ||
           r->put(r->to, (uint32_t)(a->key >> 16),
                  (uint32_t)(a->key & (POOLS - 1)), &sums);
}

int gnomon__memory_read(void *to,
                        int (*put)(void *to, uint32_t node, uint32_t pool,
                                   const gnomon_memory_stats *sums))
{
    reading r = {to, put};
    return each_account(read_account, &r);
}

static int next_account(void *context, account *a)
{
    (void)context;
    a->before = a->seen;
    return 1;
}

/* A pool's peak is from now on that of the next stage. What was marked since the last
 * reading is in the next stage too. */
void gnomon__memory_next(void)
{
    (void)each_account(next_account, NULL);
    store_relaxed(&stage, stage + 1);
    forget_levels();
    for (uint32_t i = 0; i < load_relaxed(&met_count); i++)
        gnomon__pool_next(&pools[load_acquire(&met[i])]);
}

uint64_t gnomon__memory_lost(void)
{
    return swap_acq_rel(&lost, (uint64_t)0);
}

int gnomon__memory_levels(void *to,
                          int (*put)(void *to, uint32_t pool, uint64_t width,
                                     const gnomon_bin *bins, size_t count))
{
    int ok = 1;
    for (uint32_t i = 0; i < LEVELS; i++) {
        struct level *l = &in_use[i];
        for (uint32_t k = 0; k < l->count; k++)
            l->bins[k].struct_size = sizeof *l->bins;
        if (l->count)
            ok &= put(to, met[i], 1ull << l->shift, l->bins, l->count);
    }
    return ok;
}

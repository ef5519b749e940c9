/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds all results that a weakly ordered machine may give for a program of a few
 * operations on two or three threads, one state after the other.
 *
 * Memory is one, as on aarch64: a store is seen by all others at once. But each
 * thread performs its operations in whichever order, also a store before an earlier
 * load, unless something orders the two: one word, an acquire or a release, a fence
 * between them, a lock, or a store that hangs on what was loaded. What C11 leaves
 * open is open here even where aarch64's instruction for it orders more: so a
 * release fence lets later loads go before earlier stores. A load takes what an
 * earlier store of its own thread has not shown to the others. */
#ifndef GNOMON_TESTS_WEAK_MEMORY_H
#define GNOMON_TESTS_WEAK_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum weak_kind { WEAK_NONE, LOAD, STORE, UPDATE, FENCE, LOCK, UNLOCK, BARRIER };
enum weak_order { RELAXED, ACQUIRE, RELEASE, ACQ_REL };

#define WEAK_THREADS 3
#define WEAK_OPS 14
#define WEAK_WORDS 10
#define WEAK_REGISTERS 8
#define ANY 255 /* an update of whatever is there */

typedef struct weak_op {
    uint8_t kind, order;
    uint8_t word;
    uint8_t value;    /* stored; of a BARRIER: the other thread */
    uint8_t into;     /* register that takes what is loaded */
    uint8_t expected; /* by an UPDATE, which else changes nothing; or ANY */
    uint8_t if_register, if_least, if_most; /* a store is made: or 0, 0, 0 */
    uint8_t
        is_spare; /* its order is needed by other programs, not by this one */
    const char *source; /* where it is: `file: function: text` */
} weak_op;

typedef uint8_t weak_registers[WEAK_THREADS][WEAK_REGISTERS];

typedef struct weak_program {
    const char *name;
    uint8_t first[WEAK_WORDS]; /* what the words hold at the begin */
    int (*is_bad)(weak_registers r);
    weak_op thread[WEAK_THREADS][WEAK_OPS];
} weak_program;

typedef struct weak_state {
    uint16_t done[WEAK_THREADS];
    uint8_t word[WEAK_WORDS];
    weak_registers r;
} weak_state;

typedef struct weak_search {
    const weak_program *program;
    weak_state
        *seen; /* open addressing; a state with done[0] == UINT16_MAX: none */
    size_t room, count;
    int is_bad;
} weak_search;

/* ---- What comes before what -------------------------------------------------- */

static inline int weak_reads(const weak_op *o)
{
    return o->kind == LOAD || o->kind == UPDATE || o->kind == LOCK;
}

static inline int weak_writes(const weak_op *o)
{
    return o->kind == STORE || o->kind == UPDATE || o->kind == LOCK ||
           o->kind == UNLOCK;
}

static inline int weak_acquires(const weak_op *o)
{
    return o->kind == LOCK || o->order == ACQUIRE || o->order == ACQ_REL;
}

static inline int weak_releases(const weak_op *o)
{
    return o->kind == UNLOCK || o->order == RELEASE || o->order == ACQ_REL;
}

/* Whether operation `i` of a thread waits for its earlier one `j`. */
static inline int weak_waits(const weak_op *thread, int j, int i)
{
    const weak_op *a = &thread[j], *b = &thread[i];
    if (a->kind == BARRIER || b->kind == BARRIER)
        return 1;
    if (a->word == b->word)
        return !(a->kind == STORE && b->kind == LOAD && !a->if_most &&
                 !a->order && !b->order);
    if ((weak_reads(a) && weak_acquires(a)) ||
        (weak_writes(b) && weak_releases(b)))
        return 1;
    if (weak_writes(b) && b->if_most && weak_reads(a) &&
        a->into == b->if_register)
        return 1;
    for (int f = j + 1; f < i; f++)
        if (thread[f].kind == FENCE &&
            ((weak_releases(&thread[f]) && weak_writes(b)) ||
             (weak_acquires(&thread[f]) && weak_reads(a))))
            return 1;
    return 0;
}

static inline int weak_is_done(const weak_state *s, int thread, int i)
{
    return s->done[thread] >> i & 1;
}

/* A barrier falls between two instructions of the other thread: what is before is
 * seen by all, what is after has not begun. */
static inline int weak_is_between(const weak_program *p, const weak_state *s,
                                  int thread)
{
    int is_after = 0;
    for (int i = 0; i < WEAK_OPS && p->thread[thread][i].kind; i++) {
        if (p->thread[thread][i].kind == FENCE)
            continue;
        if (is_after && weak_is_done(s, thread, i))
            return 0;
        is_after |= !weak_is_done(s, thread, i);
    }
    return 1;
}

static inline int weak_may_run(const weak_program *p, const weak_state *s,
                               int thread, int i)
{
    const weak_op *ops = p->thread[thread], *o = &ops[i];
    if (weak_is_done(s, thread, i))
        return 0;
    for (int j = 0; j < i; j++)
        if (!weak_is_done(s, thread, j) && ops[j].kind != FENCE &&
            weak_waits(ops, j, i))
            return 0;
    return o->kind == LOCK      ? !s->word[o->word]
           : o->kind == BARRIER ? weak_is_between(p, s, o->value)
                                : 1;
}

/* ---- One step ---------------------------------------------------------------- */

static inline uint8_t weak_look(const weak_program *p, const weak_state *s,
                                int thread, int i)
{
    const weak_op *ops = p->thread[thread];
    for (int j = i; j-- > 0;)
        if (ops[j].kind == STORE && ops[j].word == ops[i].word &&
            !weak_is_done(s, thread, j))
            return ops[j].value;
    return s->word[ops[i].word];
}

static inline void weak_run(const weak_program *p, weak_state *s, int thread,
                            int i)
{
    const weak_op *o = &p->thread[thread][i];
    uint8_t *r = s->r[thread];
    int is_made = !o->if_most || (r[o->if_register] >= o->if_least &&
                                  r[o->if_register] <= o->if_most);
    if (o->kind == LOAD || o->kind == UPDATE)
        r[o->into] = weak_look(p, s, thread, i);
    if (o->kind == STORE ? is_made
                         : o->kind == UPDATE && (o->expected == ANY ||
                                                 o->expected == r[o->into]))
        s->word[o->word] = o->value;
    if (o->kind == LOCK || o->kind == UNLOCK)
        s->word[o->word] = o->kind == LOCK;
    s->done[thread] |= (uint16_t)(1u << i);
}

/* ---- All states ---------------------------------------------------------- */

/* Whether the state is new. */
static inline int weak_note(weak_search *all, const weak_state *s)
{
    if (2 * all->count >= all->room) {
        weak_search grown = {.room = all->room ? 4 * all->room : 1024};
        grown.seen = malloc(grown.room * sizeof *grown.seen);
        memset(grown.seen, 255, grown.room * sizeof *grown.seen);
        for (size_t i = 0; i < all->room; i++)
            if (all->seen[i].done[0] != UINT16_MAX)
                weak_note(&grown, &all->seen[i]);
        free(all->seen);
        all->seen = grown.seen;
        all->room = grown.room;
    }
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *s; i++)
        h = (h ^ ((const uint8_t *)s)[i]) * 1099511628211u;
    for (size_t at = h ^ h >> 32;; at++) {
        weak_state *slot = &all->seen[at & (all->room - 1)];
        if (slot->done[0] == UINT16_MAX) {
            *slot = *s;
            all->count++;
            return 1;
        }
        if (memcmp(slot, s, sizeof *s) == 0)
            return 0;
    }
}

static inline void weak_go_on(weak_search *all, const weak_state *s)
{
    int is_over = 1;
    for (int t = 0; t < WEAK_THREADS && !all->is_bad; t++)
        for (int i = 0; i < WEAK_OPS && all->program->thread[t][i].kind; i++) {
            if (all->program->thread[t][i].kind == FENCE)
                continue;
            is_over &= weak_is_done(s, t, i);
            if (!weak_may_run(all->program, s, t, i))
                continue;
            weak_state next = *s;
            weak_run(all->program, &next, t, i);
            if (weak_note(all, &next))
                weak_go_on(all, &next);
        }
    if (is_over) {
        weak_state end = *s;
        all->is_bad |= all->program->is_bad(end.r) != 0;
    }
}

/* Whether the program can end in a bad state; *states: how many were seen. */
static inline int weak_can_go_wrong(const weak_program *p, size_t *states)
{
    weak_search all = {.program = p};
    weak_state first = {{0}, {0}, {{0}}};
    memcpy(first.word, p->first, sizeof first.word);
    weak_go_on(&all, &first);
    free(all.seen);
    *states = all.count;
    return all.is_bad;
}

/* Without the order of one operation. */
static inline weak_program weak_without(const weak_program *p, int thread,
                                        int i)
{
    weak_program weaker = *p;
    weak_op *o = &weaker.thread[thread][i];
    if (o->kind == BARRIER) {
        o->kind = FENCE;
        o->word = 0;
    }
    o->order = RELAXED;
    return weaker;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The out-of-line halves of the floors. Compiled twice: as near_* into the program,
 * where thread-locals are cheapest, and as far_* into a shared library, which needs
 * a procedure table and an address table. The state of a thread is behind one
 * thread-local pointer. */
#include "floor/calls.h"

#include <stddef.h>
#include <stdlib.h>

#ifdef FLOOR_FAR
#define CALL(name) far_##name
#else
#define CALL(name) near_##name
#endif
#define OUT __attribute__((noinline, aligned(64)))

struct open {
    uint64_t token;
    const floor_nvtx *target;
};

typedef struct state {
    floor_slot slot;
    uint64_t rest[3];
    volatile uint64_t word[16]; /* two lines: half is read, half written */
    uint64_t seq;               /* odd: inside */
    struct open *top, open_scopes[64];
} state;

static __thread state *self __attribute__((tls_model("initial-exec")));

void CALL(enter)(void)
{
    if (self)
        return;
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(state)))
        abort();
    self = memory;
    *self = (state){.slot = {0, 0, 0, UINT64_MAX, 0}};
    self->top = self->open_scopes;
}

void CALL(leave)(void)
{
    free(self);
    self = NULL;
}

/* ---- Off: the test, not inlined ------------------------------------------ */

OUT uint64_t CALL(off_begin)(const uint32_t *mask)
{
    return __atomic_load_n(mask, __ATOMIC_RELAXED);
}

OUT void CALL(off_end)(uint64_t token)
{
    if (__builtin_expect(token != 0, 0))
        self->slot.count++;
}

/* ---- Fdo: an aggregating pair -------------------------------------------- */

OUT void CALL(do_begin)(void)
{
    self->slot.begin = floor_ticks();
}

OUT void CALL(do_end)(void)
{
    uint64_t now = floor_ticks();
    floor_slot *s = &self->slot;
    floor_add(s, now - s->begin);
}

/* ---- Fw: the same and 50 plain instructions ------------------------------ */

/* 25 instructions: 8 loads, 5 stores, and 12 between them, in chains of at most
 * three. Stored words are never loaded, so nothing waits for a store. */
static inline __attribute__((always_inline)) void work(state *s)
{
#ifdef __x86_64__
    uint64_t a, b, c, d;
    __asm__ volatile("movq 64(%4), %0\n\tmovq 72(%4), %1\n\t"
                     "movq 80(%4), %2\n\tmovq 88(%4), %3\n\t"
                     "addq %1, %0\n\txorq %3, %2\n\t"
                     "movq %0, 128(%4)\n\tmovq %2, 136(%4)\n\t"
                     "shrq $3, %1\n\tandq $15, %3\n\t"
                     "testq %1, %1\n\tleaq 1(%3), %0\n\t"
                     "movq 96(%4), %1\n\tmovq 104(%4), %2\n\t"
                     "subq $1, %1\n\torq $2, %2\n\t"
                     "movq %0, 144(%4)\n\tmovq %1, 152(%4)\n\t"
                     "movq 112(%4), %3\n\tmovq 120(%4), %0\n\t"
                     "andq $31, %3\n\tcmpq %3, %0\n\t"
                     "leaq (%3,%2), %1\n\txorq $1, %0\n\t"
                     "movq %1, 160(%4)"
                     : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d)
                     : "r"(s)
                     : "memory", "cc");
#else
    volatile uint64_t *w = s->word;
    uint64_t a = w[0], b = w[1], c = w[2], d = w[3];
    w[8] = a + b;
    w[9] = c ^ d;
    w[10] = (d & 15) + 1;
    uint64_t e = w[4] - 1, f = w[5] | 2;
    w[11] = e;
    uint64_t g = w[6] & 31, h = w[7] ^ 1;
    w[12] = g + f + (h > g) + (b >> 3);
#endif
}

OUT void CALL(w_begin)(void)
{
    state *s = self;
    work(s);
    s->slot.begin = floor_ticks();
}

OUT void CALL(w_end)(void)
{
    uint64_t now = floor_ticks();
    state *s = self;
    floor_add(&s->slot, now - s->slot.begin);
    work(s);
}

_Static_assert(offsetof(state, word) == 64, "the work's first line");

/* ---- Fno: a push and a pop of NVTX --------------------------------------- */

#if GNOMON_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

/* A word that keeps signal handlers out, and a stack that pairs ends with begins.
 * No filters, windows, detaching, or reports of misuse. */
OUT uint64_t CALL(n_begin)(const floor_nvtx *target)
{
    state *s = self;
    uint64_t seq = s->seq;
    struct open *o = s->top;
    if (__builtin_expect(seq & 1 || o == s->open_scopes + 64, 0))
        return 0;
    s->seq = seq + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *o = (struct open){seq + 1, target};
    s->top = o + 1;
    nvtxDomainRangePushEx(target->domain, target->event);
    __atomic_store_n(&s->seq, seq + 2, __ATOMIC_RELEASE);
    return seq + 1;
}

OUT void CALL(n_end)(uint64_t token)
{
    state *s = self;
    uint64_t seq = s->seq;
    struct open *top = s->top;
    if (__builtin_expect(
            seq & 1 || top == s->open_scopes || top[-1].token != token, 0))
        return;
    s->seq = seq + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->top = --top;
    nvtxDomainRangePop(top->target->domain);
    __atomic_store_n(&s->seq, seq + 2, __ATOMIC_RELEASE);
}
#endif

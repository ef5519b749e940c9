/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A second recorder besides call trees, as one for single events would be:
 * it writes 16 bytes for each scope that ends into a ring for each thread,
 * in a window of its own. It shows what an entry of the table of recorders
 * (mark/recorder.h) needs. For test programs with src/. */
#ifndef GNOMON_TESTS_RING_RECORDER_H
#define GNOMON_TESTS_RING_RECORDER_H

#include <stdint.h>

#include "gnomon/tool.h"
#include "mark/hot.h"
#include "mark/observer.h"
#include "mark/recorder.h"
#include "run/run.h"

#define RING_SLOTS 4096u /* a power of two: 64 KiB a thread */

typedef struct ring_record {
    uint64_t begin; /* ticks */
    uint32_t key;   /* the region's id */
    uint32_t ticks; /* larger durations: UINT32_MAX */
} ring_record;

/* In the arena, like the states of threads. */
typedef struct ring {
    gnomon__state state;
    uint64_t written;
    uint32_t generation;
    uint32_t reserved;
    ring_record slots[];
} ring;

#define RING_BYTES (2 * RING_SLOTS * (uint32_t)sizeof(ring_record))
_Static_assert(RING_BYTES >= sizeof(ring) + RING_SLOTS * sizeof(ring_record),
               "chunks are powers of two");

static uint32_t ring_bit = GNOMON__BITS, ring_generation;
static uint64_t ring_steps; /* steps that it received */

/* ---- The table's entry ------------------------------------------------------ */

static int ring_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    uint32_t at = gnomon__chunk_take(RING_BYTES, GNOMON__FOR_PATHS);
    if (!at)
        return 0;
    ((ring *)gnomon__at(t, at))->generation = generation;
    store_relaxed(&t->states[bit], at);
    return 1;
}

static void ring_drop(gnomon__thread *t, uint32_t bit)
{
    gnomon__chunk_give(t->states[bit], RING_BYTES);
    store_relaxed(&t->states[bit], 0);
}

static inline void ring_write(ring *r, uint64_t begin, uint32_t key,
                              uint64_t ticks)
{
    uint64_t n = load_relaxed(&r->written);
    ring_record *slot = &r->slots[n % RING_SLOTS];
    store_relaxed(&slot->begin, begin);
    store_relaxed(&slot->key, key);
    store_relaxed(&slot->ticks,
                  ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
    store_release(&r->written, n + 1);
}

/* It has no `begin`, so it adds nothing to a begin that trees handle. */
static void ring_end(gnomon__thread *t, uint32_t bit, const gnomon__finished *f)
{
    ring_write(gnomon__at(t, t->states[bit]), f->begin, f->key,
               f->end - f->begin);
}

static void ring_ended(gnomon__thread *t, const gnomon__front *n,
                       uint64_t ticks)
{
    ring_write((ring *)t->beside, n->begin, n->key, ticks);
    gnomon__turn_even(t);
}

static void ring_step(gnomon__thread *t, uint32_t bit,
                      const gnomon__stepped *done)
{
    (void)t;
    (void)bit;
    (void)done;
    add_relaxed(&ring_steps, 1);
}

static const gnomon__recorder ring_recorder = {
    .name = "ring",
    .adopt = ring_adopt,
    .drop = ring_drop,
    .end = ring_end,
    .ended = ring_ended,
    .step = ring_step,
};

/* ---- Attaching -------------------------------------------------------------- */

/* Its window is that of a profiler without callbacks and tree. */
static const gnomon_profiler ring_window = {
    .struct_size = sizeof ring_window, .abi = GNOMON_ABI, .name = "ring"};

static gnomon__view *ring_view(void)
{
    gnomon__attachment *a = gnomon__attachments;
    while (a->given != &ring_window)
        a = a->next;
    return a->view;
}

/* Attaches it in a view of its own: `options` as gnomon_attach takes them, such as
 * "schedule=wait:1/active:2". Not twice at once. GNOMON_OK or why not. */
static inline int ring_attach(const char *options)
{
    int code = gnomon_attach(&ring_window, NULL, options);
    if (code)
        return code;
    code = gnomon__control_enter();
    if (code)
        return code;
    code = gnomon__observer_attach(&ring_recorder, NULL, NULL, &ring_bit);
    if (!code) {
        ring_generation = gnomon__observers[ring_bit].generation;
        gnomon__view_add_bit(ring_view(), ring_bit);
        gnomon__windows_refresh(1);
    }
    gnomon__control_leave();
    return code;
}

static inline int ring_detach(void)
{
    int code = gnomon__control_enter();
    if (code)
        return code;
    code = gnomon__observer_detach(ring_bit);
    gnomon__step_lock();
    gnomon__lock();
    ring_view()->bits &= ~(1u << ring_bit);
    gnomon__unlock();
    gnomon__step_unlock();
    gnomon__control_leave();
    ring_bit = GNOMON__BITS;
    return code ? code : gnomon_detach(&ring_window, NULL);
}

/* ---- Reading ---------------------------------------------------------------- */

static const ring *ring_of(uint32_t number)
{
    if (number >= load_acquire(&gnomon__thread_total))
        return NULL;
    const gnomon__thread *t = load_acquire(&gnomon__threads[number]);
    if (load_acquire(&t->generations[ring_bit]) != ring_generation)
        return NULL;
    return gnomon__at(t, load_relaxed(&t->states[ring_bit]));
}

/* Copies what the ring of thread `number` (in order of their first marks,
 * from 0) holds, the oldest first. Returns how many: RING_SLOTS at most.
 * *dropped: how many were overwritten. The thread must make no mark
 * meanwhile. */
static inline uint32_t ring_read(uint32_t number, ring_record out[RING_SLOTS],
                                 uint64_t *dropped)
{
    const ring *r = ring_of(number);
    uint64_t end = r ? load_acquire(&r->written) : 0;
    uint64_t from = end > RING_SLOTS ? end - RING_SLOTS : 0;
    for (uint64_t i = from; i < end; i++)
        out[i - from] = r->slots[i % RING_SLOTS];
    *dropped = from;
    return (uint32_t)(end - from);
}

/* All scopes since it was attached, with those that were overwritten. */
static inline uint64_t ring_total(uint64_t *dropped)
{
    uint64_t total = 0;
    *dropped = 0;
    for (uint32_t i = 0; i < load_acquire(&gnomon__thread_total); i++) {
        const ring *r = ring_of(i);
        uint64_t n = r ? load_acquire(&r->written) : 0;
        total += n;
        *dropped += n > RING_SLOTS ? n - RING_SLOTS : 0;
    }
    return total;
}

#endif

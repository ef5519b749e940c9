/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bits: who they are, armed and open. Everything here is called by control
 * calls, one at a time; the lock excludes threads that register or adopt.
 *
 * To change the configuration: write the table, raise the epoch, take the fast
 * path from every thread. A thread adopts it at its next mark; until then it
 * sees at most fewer bits than are attached, since control clears theirs. */
#include "mark/sink.h"

#include "mark/region.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/os.h"

#define PATIENCE_NS 1000000000ull
#define REWRITE_PART 2048u
#define MAX_GATES 64u

gnomon__sink gnomon__sinks[GNOMON__BITS];
uint32_t gnomon__tree_bits;
uint32_t gnomon__time_bits;
uint32_t gnomon__sink_epoch;
uint32_t gnomon__needs_fence;
uint32_t gnomon_gate = GNOMON_MASK_UNSEEN;
uint64_t gnomon__step_under_way;

static uint32_t attached_bits, armed_bits, open_bits, stage_key;
static uint32_t leaving_bits; /* detached, but a callback may still run */
static uint32_t generations;
static int barrier_prepared; /* the barrier */

/* Those of the other copies that joined this one. */
static uint32_t *gates[MAX_GATES];
static uint32_t gate_count;

uint32_t gnomon__sink_armed(void)
{
    return armed_bits;
}

uint32_t gnomon__sink_open_bits(void)
{
    return open_bits;
}

uint32_t gnomon__sink_attached_bits(void)
{
    return attached_bits;
}

uint32_t gnomon__sink_stage_key(void)
{
    return stage_key;
}

void gnomon__sink_gates(uint32_t bits)
{
    store_relaxed(&gnomon_gate, bits);
    for (uint32_t i = 0; i < gate_count; i++)
        store_relaxed(gates[i], bits);
}

int gnomon__sink_add_gate(uint32_t *gate)
{
    int code = GNOMON_OK;
    gnomon__lock();
    uint32_t i = 0;
    while (i < gate_count && gates[i] != gate)
        i++;
    if (i == MAX_GATES) {
        code = gnomon__fail(GNOMON_EFULL,
                            "%u copies of gnomon are in this "
                            "process, no more fit",
                            MAX_GATES);
    } else {
        gates[i] = gate;
        gate_count = i < gate_count ? gate_count : i + 1;
        store_relaxed(gate, load_relaxed(&gnomon_gate));
    }
    gnomon__unlock();
    return code;
}

/* Under the lock. Threads take the new configuration at their next mark. */
static void publish(void)
{
    store_release(&gnomon__sink_epoch, gnomon__sink_epoch + 1);
    gnomon__sink_gates(attached_bits);
    for (uint32_t i = 0; i < gnomon__thread_total; i++) {
        gnomon__thread *t = gnomon__threads[i];
        gnomon__thread_slow(t);
        store_relaxed(&t->gate, load_relaxed(&t->gate) & attached_bits);
        store_relaxed(&t->attached, load_relaxed(&t->attached) & attached_bits);
    }
}

void gnomon__sink_start(void)
{
    gnomon__lock();
    if (load_relaxed(&gnomon_gate) & GNOMON_MASK_UNSEEN) {
        stage_key = 1u << GNOMON__REGION_BITS;
        if (gnomon__forks) /* all regions are unseen again */
            gnomon__region_rewrite(0, 1, UINT32_MAX);
        if (gnomon__forks && gnomon__here.thread != &gnomon__nobody)
            gnomon__here_set(&gnomon__nobody);
        store_release(&gnomon__sink_epoch, gnomon__sink_epoch + 1);
        gnomon__sink_gates(attached_bits);
    }
    gnomon__unlock();
}

void gnomon__sinks_forget(int starts)
{
    for (uint32_t i = 0; i < GNOMON__BITS; i++)
        gnomon__sinks[i].kind = 0;
    gnomon__tree_bits = gnomon__time_bits = 0;
    attached_bits = armed_bits = open_bits = leaving_bits = 0;
    barrier_prepared = 0;
    gnomon__regions_forget(starts ? GNOMON_MASK_UNSEEN : 0);
    gnomon__sink_gates(starts ? GNOMON_MASK_UNSEEN : 0);
    store_release(&gnomon__sink_epoch, gnomon__sink_epoch + 1);
}

int gnomon__sink_attach(int kind, const gnomon_profiler *hook, void *self,
                        uint32_t *bit)
{
    gnomon__clock_start(); /* opens a file: not before anybody records */
    if (kind == GNOMON__SINK_HOOK && !barrier_prepared) {
        barrier_prepared = 1;
        if (!gnomon__os_barrier_prepare())
            store_relaxed(&gnomon__needs_fence, 1);
    }
    if (!gnomon__marks_arena.base && kind == GNOMON__SINK_TREE)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for recording");
    gnomon__lock();
    /* Above all others, so that hooks run in the order of their coming; below
     * only when there is no more room above. */
    uint32_t taken = attached_bits | leaving_bits;
    uint32_t b = taken ? 32u - (uint32_t)__builtin_clz(taken) : 0;
    if (b >= GNOMON__BITS)
        b = (uint32_t)__builtin_ctz(~taken);
    if (b >= GNOMON__BITS) {
        gnomon__unlock();
        return gnomon__fail(GNOMON_EFULL,
                            "%d profilers and recorders are attached, no more "
                            "fit: detach one first",
                            GNOMON__BITS);
    }
    gnomon__sink *s = &gnomon__sinks[b];
    generations += generations == UINT32_MAX ? 2 : 1; /* 0 is none */
    s->kind = (uint32_t)kind;
    s->generation = generations;
    store_relaxed(&s->epoch, gnomon__sink_epoch + 1);
    s->hook = hook;
    s->self = self;
    s->start = hook ? hook->start : NULL;
    s->stop = hook ? hook->stop : NULL;
    s->times = hook && (hook->wants & GNOMON_WANT_TIMES) ? 1 : 0;
    uint32_t one = 1u << b;
    if (kind == GNOMON__SINK_TREE)
        gnomon__tree_bits |= one;
    else
        gnomon__tree_bits &= ~one;
    if (kind == GNOMON__SINK_TREE || s->times)
        gnomon__time_bits |= one;
    else
        gnomon__time_bits &= ~one;
    attached_bits |= one;
    publish();
    gnomon__unlock();
    *bit = b;
    return GNOMON_OK;
}

/* Whether every thread has been seen outside marks, and so outside callbacks,
 * since the barrier. Nothing inside a mark waits for us: no lock is held here. */
static int callbacks_over(void)
{
    uint64_t start = gnomon__os_monotonic_ns();
    uint32_t total = load_acquire(&gnomon__thread_total);
    for (uint32_t i = 0; i < total; i++) {
        const gnomon__thread *t = load_acquire(&gnomon__threads[i]);
        uint64_t seen = load_acquire(&t->seq);
        uint64_t pause = 1000;
        while ((seen & 1) && load_acquire(&t->seq) == seen) {
            if (gnomon__os_monotonic_ns() - start > PATIENCE_NS)
                return 0;
            gnomon__os_sleep_ns(pause);
            pause = pause < 1000000 ? 2 * pause : pause;
        }
    }
    return 1;
}

int gnomon__sink_detach(uint32_t bit)
{
    uint32_t one = 1u << bit;
    gnomon__lock();
    attached_bits &= ~one;
    open_bits &= ~one;
    leaving_bits |= one;
    gnomon__region_unwant(bit);
    armed_bits &= ~one;
    gnomon__region_rewrite(armed_bits, 1, UINT32_MAX);
    publish();
    gnomon__unlock();
    if (gnomon__sinks[bit].kind == GNOMON__SINK_HOOK) {
        gnomon__os_barrier();
        if (!callbacks_over())
            return gnomon__fail(GNOMON_EBUSY,
                                "a callback of the profiler has been running "
                                "for a second: detach again when it is over");
    }
    gnomon__lock();
    gnomon__sinks[bit].kind = 0;
    gnomon__tree_bits &= ~one;
    gnomon__time_bits &= ~one;
    leaving_bits &= ~one;
    publish();
    gnomon__unlock();
    return GNOMON_OK;
}

void gnomon__sink_filter(uint32_t bit)
{
    gnomon__lock();
    gnomon__region_filter(bit);
    gnomon__region_rewrite(armed_bits, 1, UINT32_MAX);
    gnomon__unlock();
}

void gnomon__sink_arm(uint32_t bits)
{
    gnomon__lock();
    armed_bits = bits & attached_bits;
    gnomon__unlock();
}

void gnomon__sink_rewrite(void)
{
    uint32_t from = 1;
    do {
        gnomon__lock();
        from = gnomon__region_rewrite(armed_bits, from, REWRITE_PART);
        gnomon__unlock();
    } while (from);
}

void gnomon__sink_gate(uint32_t which, uint32_t open)
{
    gnomon__lock();
    uint32_t was = open_bits;
    open_bits = ((open_bits & ~which) | (open & which)) & attached_bits;
    for (uint32_t i = 0; was != open_bits && i < gnomon__thread_total; i++) {
        gnomon__thread *t = gnomon__threads[i];
        /* Bits that the thread has not adopted yet it takes with the rest. */
        store_relaxed(&t->gate, load_relaxed(&t->attached) & open_bits);
    }
    gnomon__unlock();
}

void gnomon__sink_stage(uint32_t ordinal)
{
    gnomon__lock();
    stage_key = ordinal << GNOMON__REGION_BITS;
    for (uint32_t i = 0; i < gnomon__thread_total; i++)
        store_relaxed(&gnomon__threads[i]->stage_key, stage_key);
    gnomon__unlock();
}

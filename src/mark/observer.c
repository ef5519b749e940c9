/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bits of observers: attached, armed, open. All functions here are called
 * by control calls, one at a time; the lock excludes threads that register or
 * adopt.
 *
 * A change of the configuration: write the table, raise the epoch, shut the
 * hot path of every thread. A thread adopts the change at its next mark.
 * Until then it sees at most fewer bits than are attached, as control calls
 * clear them in its state. */
#include "mark/observer.h"

#include "gnomon/tool.h"
#include "mark/recorder.h"
#include "mark/region.h"
#include "mark/tls.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/process.h"

#define REWRITE_PART 2048u
#define MAX_COPIES 64u
#define NO_BARRIER_NS 1000000u
#define NO_BARRIER_TRIES 100000

static uint32_t generations;
/* gnomon__os_barrier_prepare was called. */
static int barrier_prepared GNOMON__OF_PROCESS;

/* The active words of the other copies of the library that joined this one. */
static uint32_t *active_words[MAX_COPIES];
static uint32_t active_word_count;

void gnomon__observer_write_active_words(uint32_t bits)
{
    store_relaxed(&gnomon_enabled, bits);
    for (uint32_t i = 0; i < active_word_count; i++)
        store_relaxed(active_words[i], bits);
}

static void disarm(uint32_t *active_word)
{
    uint32_t unseen = GNOMON_MASK_UNSEEN;
    cas_acq_rel(active_word, &unseen, 0u);
}

void gnomon__observer_disarm(void)
{
    disarm(&gnomon_enabled);
    for (uint32_t i = 0; i < active_word_count; i++)
        disarm(active_words[i]);
}

int gnomon__observer_add_active_word(uint32_t *active_word)
{
    int code = GNOMON_OK;
    gnomon__lock();
    uint32_t i = 0;
    while (i < active_word_count && active_words[i] != active_word)
        i++;
    if (i == MAX_COPIES) {
        code = gnomon__fail(GNOMON_EFULL,
                            "%u copies of gnomon are in this "
                            "process, no more fit",
                            MAX_COPIES);
    } else {
        active_words[i] = active_word;
        active_word_count = i < active_word_count ? active_word_count : i + 1;
        store_relaxed(active_word, load_relaxed(&gnomon_enabled));
    }
    gnomon__unlock();
    return code;
}

/* Bits for which scopes may begin. */
static uint32_t staying_bits(void)
{
    return gnomon__attached_bits & ~gnomon__leaving_bits;
}

/* Under the lock. Threads take the new configuration at their next mark. */
static void publish(void)
{
    store_release(&gnomon__observer_epoch, gnomon__observer_epoch + 1);
    if (!gnomon__attached_bits)
        store_relaxed(&gnomon__observer_offs, gnomon__observer_offs + 1);
    gnomon__observer_write_active_words(staying_bits() | gnomon__start_mask);
    gnomon__each_thread(t) {
        gnomon__thread_shut(t);
        store_relaxed(&t->open_bits,
                      load_relaxed(&t->open_bits) & staying_bits());
        store_relaxed(&t->attached,
                      load_relaxed(&t->attached) & gnomon__attached_bits);
    }
}

void gnomon__observer_start(void)
{
    gnomon__lock();
    if (gnomon__forks && gnomon__tls_now()->thread != &gnomon__no_thread)
        gnomon__tls_set(&gnomon__no_thread);
    store_relaxed(&gnomon__start_mask, GNOMON_MASK_UNSEEN);
    gnomon__region_rewrite(0, 1, UINT32_MAX);
    publish();
    gnomon__unlock();
}

void gnomon__observer_started(void)
{
    gnomon__lock();
    store_relaxed(&gnomon__start_mask, 0);
    gnomon__region_rewrite(gnomon__armed_bits, 1, UINT32_MAX);
    gnomon__observer_write_active_words(staying_bits());
    gnomon__unlock();
}

void gnomon__observers_forget(int starts)
{
    for (uint32_t i = 0; i < GNOMON__BITS; i++)
        gnomon__observers[i].generation = 0;
    store_release(&gnomon__observer_is_idle, 1);
    gnomon__regions_forget(starts ? GNOMON_MASK_UNSEEN : 0);
    gnomon__observer_write_active_words(starts ? GNOMON_MASK_UNSEEN : 0);
    store_release(&gnomon__observer_epoch, gnomon__observer_epoch + 1);
}

int gnomon__observer_attach(const gnomon__recorder *recorder,
                            const gnomon_profiler *hook, void *self,
                            uint32_t *bit)
{
    if (swap_acq_rel(&gnomon__observer_is_idle, 0)) {
        fence_full();
        gnomon__regions_wake();
    }
    gnomon__clock_start(); /* opens a file: only if needed */
    if (!barrier_prepared) {
        barrier_prepared = 1;
        if (!gnomon__os_barrier_prepare())
            store_relaxed(&gnomon__needs_fence, 1);
    }
    if (!gnomon__marks_arena.base && recorder)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for recording");
    gnomon__lock();
    /* The next bit above all taken ones, so that hooks mostly run in the
     * order of attaching; a lower free one when there is none above. */
    uint32_t taken = gnomon__attached_bits | gnomon__leaving_bits;
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
    gnomon__observer *s = &gnomon__observers[b];
    generations += generations == UINT32_MAX ? 2 : 1; /* 0 means none */
    s->recorder = recorder;
    s->generation = generations;
    store_relaxed(&s->epoch, gnomon__observer_epoch + 1);
    s->hook = hook;
    s->self = self;
    gnomon__attached_bits |= 1u << b;
    publish();
    gnomon__unlock();
    *bit = b;
    return GNOMON_OK;
}

/* Without the system's barrier, which a sandbox may forbid at any time:
 * callbacks then use fences of their own from their threads' next mark on,
 * and this waits for a millisecond, after which others see what a thread
 * stored before. */
void gnomon__observer_barrier(void)
{
    if (gnomon__os_barrier())
        return;
    if (!load_relaxed(&gnomon__needs_fence)) {
        gnomon__lock();
        store_relaxed(&gnomon__needs_fence, 1);
        publish();
        gnomon__unlock();
    }
    /* By the clock and a count: a sandbox may forbid the sleep or the clock. */
    uint64_t since = gnomon__os_monotonic_ns();
    int tries = NO_BARRIER_TRIES;
    do
        gnomon__os_sleep_ns(NO_BARRIER_NS);
    while (--tries && gnomon__os_monotonic_ns() - since < NO_BARRIER_NS);
}

/* ---- Leaving: leave.c -------------------------------------------------------- */

void gnomon__observer_shut(uint32_t bit)
{
    uint32_t one = 1u << bit;
    gnomon__lock();
    gnomon__attached_bits |= one; /* a detach that gave up clears it */
    store_relaxed(&gnomon__open_bits, gnomon__open_bits & ~one);
    gnomon__leaving_bits |= one;
    store_relaxed(&gnomon__leave_serial, gnomon__leave_serial + 1);
    gnomon__region_unwant(bit);
    gnomon__armed_bits &= ~one;
    gnomon__region_rewrite(gnomon__armed_bits, 1, UINT32_MAX);
    publish();
    gnomon__unlock();
}

void gnomon__observer_stop_callbacks(uint32_t bit)
{
    gnomon__lock();
    gnomon__attached_bits &= ~(1u << bit);
    publish();
    gnomon__unlock();
}

void gnomon__observer_free(uint32_t bit)
{
    uint32_t one = 1u << bit;
    gnomon__lock();
    gnomon__observers[bit].generation = 0;
    gnomon__leaving_bits &= ~one;
    if (!(gnomon__attached_bits | gnomon__leaving_bits))
        store_release(&gnomon__observer_is_idle, 1);
    publish();
    gnomon__unlock();
}

/* ---- Windows ------------------------------------------------------------------ */

void gnomon__observer_filter(uint32_t bit)
{
    gnomon__lock();
    gnomon__region_filter(bit);
    gnomon__region_rewrite(gnomon__armed_bits, 1, UINT32_MAX);
    gnomon__unlock();
}

void gnomon__observer_arm(uint32_t bits)
{
    gnomon__lock();
    gnomon__armed_bits = bits & staying_bits();
    gnomon__unlock();
}

void gnomon__observer_rewrite(void)
{
    uint32_t from = 1;
    do {
        gnomon__lock();
        from = gnomon__region_rewrite(gnomon__armed_bits, from, REWRITE_PART);
        gnomon__unlock();
    } while (from);
}

static void open_in_threads(uint32_t changed, uint32_t now)
{
    gnomon__each_thread(t) {
        uint32_t trees = load_relaxed(&t->tree_bits);
        /* With several trees, the hot one depends on which are open. */
        if (changed & trees && trees & (trees - 1))
            gnomon__thread_shut(t);
        /* Only bits that the thread has adopted: it takes the others when it
         * settles. */
        store_relaxed(&t->open_bits, load_relaxed(&t->attached) & now);
    }
}

/* Without the lock where nothing changes, as at most steps: bits are set here alone, by
 * one thread at a time, and what others clear meanwhile stays clear. */
void gnomon__observer_open(uint32_t which, uint32_t open)
{
    if (((load_relaxed(&gnomon__open_bits) ^ open) & which) == 0)
        return;
    gnomon__lock();
    uint32_t was = gnomon__open_bits;
    uint32_t now = ((was & ~which) | (open & which)) & staying_bits();
    store_relaxed(&gnomon__open_bits, now);
    if (was != now)
        open_in_threads(was ^ now, now);
    gnomon__unlock();
}

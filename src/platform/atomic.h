/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Atomic access, named by memory order, so that a grep lists every order in
 * use. Shared words are plain integers, accessed by builtins of GCC and
 * Clang: types of <stdatomic.h> would get into public structs. */
#ifndef GNOMON_PLATFORM_ATOMIC_H
#define GNOMON_PLATFORM_ATOMIC_H

#include <stdint.h>
#include <string.h>

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define sub_release(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELEASE)
#define and_acq_rel(p, v) __atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)
#define or_acq_rel(p, v) __atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)
#define swap_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define cas_acq_rel(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQ_REL, \
                                __ATOMIC_RELAXED)

/* Of these all threads see one order. */
#define load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define store_ordered(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define add_ordered(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define sub_ordered(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)
#define swap_ordered(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define cas_ordered(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, \
                                __ATOMIC_RELAXED)

/* A word that one thread writes and any may read: no locked instruction. */
#define bump_relaxed(p, v) store_relaxed((p), load_relaxed(p) + (v))

/* Order against signal handlers on this thread only; no instruction. */
#define fence_signal() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Fences for seqlocks: the writer's odd word comes before its data, the
 * reader's data before its second read of the word. No instruction on
 * x86-64. TSan does not model fences; all data under a seqlock is accessed
 * atomically. */
#if defined(__SANITIZE_THREAD__)
#define GNOMON__TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GNOMON__TSAN 1
#endif
#endif
#ifdef GNOMON__TSAN
#define fence_release() fence_signal()
#define fence_acq_rel() fence_signal()
#define fence_acquire() fence_signal()
#define fence_full() fence_signal()
#define load_loose(p) load_relaxed(p)
#define load_pair(p) load_relaxed((const uint64_t *)(const void *)(p))
#else
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define fence_acq_rel() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define fence_full() __atomic_thread_fence(__ATOMIC_SEQ_CST)
/* A plain load on the hot path, of a word that another thread may write
 * meanwhile; the value is then not used. So the compiler may load it in the
 * instruction that compares it. */
#define load_loose(p) (*(p))
static inline uint64_t load_pair(const void *two_words)
{
    uint64_t pair;
    memcpy(&pair, two_words, sizeof pair);
    return pair;
}
#endif

/* Declares data of the library that another file defines: its own data has a known
 * distance, and needs no look-up in the table of addresses (GOT). */
#define GNOMON__DATA extern __attribute__((visibility("hidden")))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif

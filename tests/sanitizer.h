/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* IS_ASAN, IS_TSAN, IS_SANITIZED: 1 where the test is built with that sanitizer,
 * with either, else 0.
 * IS_SLOW: code runs ten times slower and more, by a sanitizer or an emulator.
 * EACH: tests that do a thing for each of many on one thread do it for each
 * EACH-th where that takes long and shows nothing new. gcc's build does each;
 * the others' numbers have no common factor, so together they do more of them.
 * EACH_RUN: the same of things that are whole runs, with gcc too, and of fewer with
 * ThreadSanitizer; 1 in a soak.
 * TEST_ALONE: a TEST that takes long and starts no thread, so that ThreadSanitizer would
 * see nothing: its build is without.
 * SHARE: what is random, for instance programs, is this many times less with a
 * sanitizer too: more of the same. */
#ifndef GNOMON_TESTS_SANITIZER_H
#define GNOMON_TESTS_SANITIZER_H

#include <stdlib.h>

#ifdef __has_feature
#define GNOMON_HAS_FEATURE(x) __has_feature(x)
#else
#define GNOMON_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || GNOMON_HAS_FEATURE(address_sanitizer)
#define IS_ASAN 1
#else
#define IS_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || GNOMON_HAS_FEATURE(thread_sanitizer)
#define IS_TSAN 1
#else
#define IS_TSAN 0
#endif

#if defined(__aarch64__) /* mostly because of an emulator */
#define IS_EMULATED 1
#else
#define IS_EMULATED 0
#endif

#define IS_SANITIZED (IS_ASAN || IS_TSAN)
#define IS_SLOW (IS_SANITIZED || IS_EMULATED)

#if IS_EMULATED
#define EACH 13
#elif IS_TSAN
#define EACH 11
#elif defined(__clang__) && !IS_ASAN
#define EACH 7
#else
#define EACH 1
#endif
#if IS_TSAN
#define TEST_ALONE(name) \
    __attribute__((unused)) static void test_alone_##name(void)
#else
#define TEST_ALONE(name) TEST(name)
#endif

#define SHARE (IS_ASAN ? 3 : EACH)
#define EACH_RUN \
    (getenv("GNOMON_SOAK") ? 1u \
     : IS_ASAN             ? 5u \
     : IS_TSAN             ? 23u \
     : EACH == 1           ? 3u \
                           : EACH)

/* First in a test of children that start threads. */
#if IS_TSAN
#define NEEDS_THREADS_AFTER_FORK() \
    SKIP("the sanitizer starts no thread in a child of threads")
#else
#define NEEDS_THREADS_AFTER_FORK() (void)0
#endif

#endif

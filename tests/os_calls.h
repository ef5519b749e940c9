/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of the testing library that reach the kernel or the loader, which tests let
 * fail: os_calls.c has the table. */
#ifndef GNOMON_TESTS_OS_CALLS_H
#define GNOMON_TESTS_OS_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* From now on the n-th call (1: the next) of `name` (NULL: of any) fails, and
 * those after it, `many` in all, with `error` (0: its usual one). n = 0: none
 * does. For a moment when no other thread of ours runs. */
void gnomon__test_fail_calls(const char *name, uint64_t n, uint64_t many,
                             int error);
/* From now on each call, of whichever thread, calls `act` first; NULL: none. */
void gnomon__test_at_calls(void (*act)(void));
/* Calls of that name since then. */
uint64_t gnomon__test_calls(void);
/* The i-th name of the table, from 0; NULL: there are no more. */
const char *gnomon__test_call_name(size_t i);

#endif

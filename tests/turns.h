/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waiting for another thread:
 *
 *     for (uint32_t tries = 0; !load_acquire(&is_there);)
 *         give_turn(&tries);
 *
 * Spins at first, so that two threads with a processor each meet. Then it sleeps, and
 * does not yield: the scheduler lets a thread that yields wait for a whole turn of each
 * process that is busy there, and a test with thousands of waits for minutes. */
#ifndef GNOMON_TESTS_TURNS_H
#define GNOMON_TESTS_TURNS_H

#include <stdint.h>
#include <unistd.h>

static inline void give_turn(uint32_t *tries)
{
    if (++*tries % 1024 == 0)
        usleep(20);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stops at one instruction of the program, without a step to it: a breakpoint is written
 * in its place, as debuggers do. One at a time, for code that one thread runs. The
 * handler of SIGTRAP asks breakpoint_is_hit. With CAN_STEP only (stepping.h). */
#ifndef GNOMON_TESTS_BREAKPOINT_H
#define GNOMON_TESTS_BREAKPOINT_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stepping.h"

#if CAN_STEP
#define BREAKPOINT 0xcc /* int3 */
#define TRAP_FLAG 0x100ll

static unsigned char *breakpoint_at, breakpoint_covers;
static unsigned breakpoint_left; /* hits until the one that counts */

static inline void breakpoint_write(unsigned char byte)
{
    __atomic_store_n(breakpoint_at, byte, __ATOMIC_SEQ_CST);
}

/* At the address, when it is reached for the `times`-th time. 0: a program may not write
 * into its code here. */
static inline int breakpoint_set(uintptr_t address, unsigned times)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (mprotect((void *)(address & ~(page - 1)), page,
                 PROT_READ | PROT_WRITE | PROT_EXEC))
        return 0;
    breakpoint_at = (unsigned char *)address;
    breakpoint_covers = *breakpoint_at;
    breakpoint_left = times;
    breakpoint_write(BREAKPOINT);
    return 1;
}

static inline void breakpoint_clear(void)
{
    if (breakpoint_at)
        breakpoint_write(breakpoint_covers);
    breakpoint_at = NULL;
}

/* Whether it was reached so many times. Then it is gone, and the instruction is next. A
 * hit before is stepped over. */
static inline int breakpoint_is_hit(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (!breakpoint_at)
        return 0;
    if (registers[REG_EFL] & TRAP_FLAG) { /* was stepped over */
        registers[REG_EFL] &= ~TRAP_FLAG;
        breakpoint_write(BREAKPOINT);
        return 0;
    }
    registers[REG_RIP]--;
    breakpoint_write(breakpoint_covers);
    if (--breakpoint_left) {
        registers[REG_EFL] |= TRAP_FLAG;
        return 0;
    }
    breakpoint_at = NULL;
    return 1;
}
#else
static inline int breakpoint_set(uintptr_t address, unsigned times)
{
    (void)address, (void)times;
    return 0;
}

static inline void breakpoint_clear(void)
{
}

static inline int breakpoint_is_hit(void *context)
{
    (void)context;
    return 0;
}
#endif

#endif

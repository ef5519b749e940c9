/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs code by single steps of the processor: a handler of SIGTRAP is called after
 * each of its instructions, on the thread that runs it. Where CAN_STEP is 0 the
 * machine cannot do that, and it is never called. */
#ifndef GNOMON_TESTS_STEPPING_H
#define GNOMON_TESTS_STEPPING_H

#include <signal.h>
#include <ucontext.h>

#include "sanitizer.h"

#if defined(__x86_64__) && !IS_SANITIZED
#define CAN_STEP 1

/* The 128 bytes below the stack's pointer are the compiler's (the red zone). */
#define STEPPING_FLAGS(change) \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change \
                     ", (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" :: \
                         : "memory", "cc")
#define STEPPING_ON() STEPPING_FLAGS("orq $0x100")
#define STEPPING_OFF() STEPPING_FLAGS("andq $~0x100")

extern char __executable_start[], etext[]; /* defined by the linker */

/* In the handler: the next instruction. */
static inline uintptr_t stepping_address(const void *context)
{
    const ucontext_t *c = context;
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
}

/* In the handler: whether the next instruction is the program's own. The
 * kernel's clock code (vDSO) would restart its reading for ever when each
 * instruction takes long. */
static inline int stepping_is_in_program(const void *context)
{
    uintptr_t at = stepping_address(context);
    return at >= (uintptr_t)__executable_start && at < (uintptr_t)etext;
}

/* How often each instruction of the program was counted, 255 at most. */
static unsigned char stepping_counts[1 << 21];

static inline unsigned char *stepping_count_of(uintptr_t address)
{
    return &stepping_counts[(address - (uintptr_t)__executable_start) %
                            sizeof stepping_counts];
}

/* Counts the next instruction, which is the program's: 1 the first time. A loop's later
 * rounds show little that its first ones do not. */
static inline unsigned stepping_count(const void *context)
{
    unsigned char *here = stepping_count_of(stepping_address(context));
    *here = (unsigned char)(*here + (*here < 255));
    return *here;
}

/* The interrupted code goes on without single steps. */
static inline void stepping_leave(void *context)
{
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
}
#else
#define CAN_STEP 0
#define STEPPING_ON() (void)0
#define STEPPING_OFF() (void)0

static inline int stepping_is_in_program(const void *context)
{
    (void)context;
    return 0;
}

static inline unsigned stepping_count(const void *context)
{
    (void)context;
    return 1;
}

static inline void stepping_leave(void *context)
{
    (void)context;
}
#endif

static inline void step_through(void (*code)(void),
                                void (*at_step)(int, siginfo_t *, void *))
{
    struct sigaction act = {.sa_flags = SA_SIGINFO};
    act.sa_sigaction = at_step;
    sigaction(SIGTRAP, &act, NULL);
    STEPPING_ON();
    code();
    STEPPING_OFF();
}

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether the calling code runs inside a signal handler. The system does not
 * say, but there are signs: a handler's signal is blocked while it runs, unless
 * it was installed with SA_NODEFER; and the interrupted state is on the stack,
 * in a layout that the kernel never changes. Used at first marks only.
 *
 * Invariant: takes no lock and no memory, changes nothing, keeps errno, and
 * reads no unreadable page. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/os.h"

#define STACK_PAGE 4096u
#define SEARCHED 65536u /* bytes of stack that a handler may use */
#define SIGNALS 64
#define RESTORERS 4

/* Not instrumented by sanitizers, as it reads the frames of other functions. */
#define PLAIN \
    __attribute__((noinline, no_sanitize("address", "undefined", "thread")))

/* The kernel's struct: libc's sigaction refuses the signals that libc uses
 * itself. */
typedef struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
} kernel_action;

/* Handlers that may be running, by the blocked signals, and their return
 * addresses. */
typedef struct handlers {
    uint64_t blocked;
    int count;
    void *restorers[RESTORERS];
} handlers;

static void find_handlers(handlers *h)
{
    for (int s = 1; s <= SIGNALS; s++) {
        kernel_action a = {0, 0, NULL, 0};
        if (syscall(SYS_rt_sigaction, s, NULL, &a, sizeof a.mask) != 0)
            continue;
        /* A handler that runs once is removed before it is called. */
        int handled = (a.handler != (uintptr_t)SIG_DFL &&
                       a.handler != (uintptr_t)SIG_IGN) ||
                      (a.flags & (unsigned long)SA_RESETHAND) != 0;
        int open = (a.flags & (unsigned long)SA_NODEFER) != 0;
        if (!handled || (!open && !(h->blocked >> (s - 1) & 1)))
            continue;
        int known = 0;
        for (int i = 0; i < h->count; i++)
            known |= h->restorers[i] == a.restorer;
        if (!known && h->count < RESTORERS)
            h->restorers[h->count++] = a.restorer;
    }
}

/* Asks for an invalid change of the signal mask: EFAULT if the address
 * cannot be read, else EINVAL. */
int gnomon__os_can_read(const void *address)
{
    int kept_errno = errno;
    int can =
        syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) == 0 ||
        errno != EFAULT;
    errno = kept_errno;
    return can;
}

/* What the kernel puts below the interrupted code's stack. */
#if defined(__x86_64__)

typedef struct signal_frame {
    void *returns; /* to the restorer */
    uint64_t flags;
    void *link;
    uint64_t stack[3];
    uint64_t registers[15];
    uint64_t sp;
    uint64_t rest[16];
    uint64_t mask;
} signal_frame;

PLAIN static int is_ours(const handlers *h, const signal_frame *f)
{
    int found = 0;
    for (int i = 0; i < h->count; i++)
        found |= h->restorers[i] == f->returns;
    return found;
}

#elif defined(__aarch64__)

typedef struct signal_frame {
    uint64_t info[16];
    uint64_t flags;
    void *link;
    uint64_t stack[3];
    uint64_t mask;
    uint64_t room[16];
    uint64_t fault;
    uint64_t registers[31];
    uint64_t sp, pc, state, align;
    uint32_t magic, bytes; /* of the first record: floating point */
} signal_frame;

PLAIN static int is_ours(const handlers *h, const signal_frame *f)
{
    (void)h;
    return f->magic == 0x46508001u && f->bytes == 528;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* Searches the stack upwards from `at`. The interrupted code's blocked
 * signals are blocked in the handler too. */
PLAIN static int find_frame(const handlers *h, uintptr_t at)
{
    uintptr_t end = at + SEARCHED;
    uintptr_t readable = (at & ~(uintptr_t)(STACK_PAGE - 1)) + STACK_PAGE;
    for (; at < end; at += 8) {
        while (at + sizeof(signal_frame) > readable) {
            if (!gnomon__os_can_read((const void *)readable))
                return 0; /* the stack ends: no frame fits any more */
            readable += STACK_PAGE;
        }
        const signal_frame *f = (const signal_frame *)at;
        if (is_ours(h, f) && f->flags < 16 && !f->link &&
            !(f->mask & ~h->blocked))
            return 1;
    }
    return 0;
}

#else

static int find_frame(const handlers *h, uintptr_t at)
{
    (void)at;
    return h->count;
}

#endif

__attribute__((noinline)) int gnomon__os_in_handler(int roughly)
{
    /* Frames of this function and its callees are below. */
    uintptr_t above = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
    int kept_errno = errno;
    handlers h = {0, 0, {NULL}};
    (void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &h.blocked,
                  sizeof h.blocked);
    if (h.blocked || !roughly)
        find_handlers(&h);
    int found = h.count && find_frame(&h, above);
    errno = kept_errno;
    return found;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether the calling code runs inside a signal handler. The system does not
 * say, but leaves traces: a handler's signal is blocked while it runs, unless it
 * was installed otherwise; and what was interrupted lies on the stack, in a
 * layout that the kernel never changes. Asked at first marks only.
 *
 * Invariant: takes no lock and no memory, changes nothing, keeps errno, and
 * reads no page that cannot be read. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/os.h"
#include "platform/os_calls.h"

#define STACK_PAGE 4096u
#define SEARCHED 65536u /* bytes of stack: what a handler may use itself */
#define SIGNALS 64
#define RESTORERS 4

/* Reads what belongs to other functions. */
#define PLAIN \
    __attribute__((noinline, no_sanitize("address", "undefined", "thread")))

/* As the kernel has it; libc hides the signals that it keeps to itself. */
typedef struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
} kernel_action;

/* Handlers that could be running, by what is blocked, and where they return. */
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
        /* One that runs once is taken out before it is called. */
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

/* Asks for a change of the mask that there is not: EFAULT where it cannot be
 * read, else EINVAL. */
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

/* Upwards from `at`. A handler has at least blocked what the code that it
 * stopped had. */
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
    /* What this function knows lies below. */
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

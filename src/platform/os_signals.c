/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The few signals that end a process: catching them, and ending the process
 * as they would have. A handler of the host is never replaced: a signal is
 * caught only from its default action, or from another run's handler, and
 * restored only if our handler is still installed. Handlers of ours may run on other
 * threads meanwhile, and read what is written here. Also the event for the thread that
 * waits for such signals, and whether only our threads are left. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/os.h"
#include "platform/os_wait.h"

/* ---- Catching ------------------------------------------------------------ */

static void (*end_handler)(int number, int again);

static void caught(int number, siginfo_t *info, void *context)
{
    int kept_errno = errno;
    void (*handler)(int, int) = load_acquire(&end_handler);
    (void)context;
    handler(number, info->si_code == SI_TIMER);
    errno = kept_errno;
}

/* Handlers of other runs, in other namespaces, which this one's replaced. They get the
 * signal when this run is done with it. NULL: the default action. Kept when ours is
 * released, as one that still runs dies by it. */
typedef void signal_handler(int number, siginfo_t *info, void *context);
static signal_handler *beneath[SIGTERM + 1];
static char
    is_in_chain[SIGTERM + 1]; /* ours is installed, or beneath another */

/* Runs know each other's handlers by what these block meanwhile: signals that nobody
 * uses in this choice. */
static const int marks_of_ours[] = {41, 43, 47, 53, 59, 61};
#define MARKS_OF_OURS (sizeof marks_of_ours / sizeof *marks_of_ours)
#define FLAGS_OF_OURS (SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER)

static int is_of_a_run(const struct sigaction *action)
{
    size_t found = 0, others = 0;
    for (int s = 1; s <= 64; s++) {
        int is_mark = 0;
        for (size_t i = 0; i < MARKS_OF_OURS; i++)
            is_mark |= s == marks_of_ours[i];
        if (sigismember(&action->sa_mask, s) == 1)
            *(is_mark ? &found : &others) += 1;
    }
    return found == MARKS_OF_OURS && !others &&
           (action->sa_flags & FLAGS_OF_OURS) == FLAGS_OF_OURS;
}

/* NULL: the default action. */
static int install(int number, signal_handler *handler, struct sigaction *was)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_DFL;
    for (size_t i = 0; handler && i < MARKS_OF_OURS; i++)
        sigaddset(&action.sa_mask, marks_of_ours[i]);
    if (handler) {
        action.sa_sigaction = handler;
        action.sa_flags = FLAGS_OF_OURS;
    }
    return sigaction(number, &action, was) == 0;
}

/* Installs `handler` in the place of `expected` and returns 1. 0: the host has installed
 * another one since it was looked at, which is put back. -1: the system refuses. Safe in a
 * signal handler. */
static int replace(int number, signal_handler *expected,
                   signal_handler *handler)
{
    struct sigaction was;
    if (!install(number, handler, &was))
        return -1;
    if (was.sa_sigaction == expected)
        return 1;
    return sigaction(number, &was, NULL);
}

static int is_caught(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == caught;
}

int gnomon__os_catch(int number, void (*handler)(int number, int again))
{
    struct sigaction now;
    if (is_caught(number)) { /* perhaps the host has put it back */
        store_relaxed(&is_in_chain[number], 1);
        return 1;
    }
    if (sigaction(number, NULL, &now) != 0)
        return -1;
    int is_run = is_of_a_run(&now);
    if (is_run && load_relaxed(&is_in_chain[number]))
        return 1;
    if (getpid() == 1 ||
        (!is_run && ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)))
        return 0;
    store_release(&end_handler, handler);
    store_release(&beneath[number], is_run ? now.sa_sigaction : NULL);
    int code = replace(number, now.sa_sigaction, caught);
    store_relaxed(&is_in_chain[number], code > 0);
    return code;
}

void gnomon__os_release(int number)
{
    if (!is_caught(number))
        return;
    store_relaxed(&is_in_chain[number], 0);
    (void)replace(number, caught, load_acquire(&beneath[number]));
}

void gnomon__os_release_all(void)
{
    for (int number = 1; number <= SIGTERM; number++)
        if (load_relaxed(&is_in_chain[number]))
            gnomon__os_release(number);
}

/* ---- Ending -------------------------------------------------------------- */

void gnomon__os_die(int number)
{
    struct sigaction now;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    /* Else another run's is there already: SIGINT's is restored early. */
    if (is_caught(number) || sigaction(number, NULL, &now) != 0 ||
        !is_of_a_run(&now))
        (void)install(number, load_acquire(&beneath[number]), NULL);
    (void)raise(number);
    (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* A timer of the kernel needs no thread and no lock of the process. By
 * system call, as timer_create of older libcs allocates. */
void gnomon__os_die_in(int number, uint64_t ns)
{
    struct sigevent event;
    struct itimerspec when;
    int timer;
    memset(&event, 0, sizeof event);
    memset(&when, 0, sizeof when);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = number;
    when.it_value.tv_sec = (time_t)(ns / 1000000000u);
    when.it_value.tv_nsec = (long)(ns % 1000000000u);
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0)
        (void)syscall(SYS_timer_settime, timer, 0, &when, NULL);
}

/* ---- The bell ------------------------------------------------------------ */

/* 1: it was set. No semaphore: its wait ends by a clock that can be set. */
static uint32_t end_bell;

void gnomon__os_bell_make(void)
{
    store_release(&end_bell, 0);
}

void gnomon__os_bell_ring(void)
{
    store_release(&end_bell, 1); /* pairs with bell_rang */
    gnomon__os_wake(&end_bell);
}

static int bell_rang(void)
{
    return swap_acq_rel(&end_bell, 0) != 0; /* pairs with _bell_ring */
}

int gnomon__os_bell_wait(uint64_t ns)
{
    gnomon__os_wait_until(&end_bell, 1, ns);
    return bell_rang();
}

/* ---- The last thread ----------------------------------------------------- */

/* Or may have. A main thread that has ended has no memory any more, though its
 * number stays. */
static int main_may_have_ended(void)
{
    char byte = 0;
    struct iovec to = {&byte, 1}, from = {&byte, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1;
}

/* /proc/self/stat from the state on, its third field; NULL: it cannot be read. The
 * line is "pid (name) state ...", and the name may hold any character. */
static const char *own_state(char *text, size_t size)
{
    size_t bytes = gnomon__os_read_small("/proc/self/stat", text, size);
    const char *at = bytes ? strrchr(text, ')') : NULL;
    return at && at[1] == ' ' ? at + 2 : NULL;
}

/* The number in that field; the state is at `at`. 0: there is none. */
static uint64_t state_field(const char *at, int field)
{
    while (at && --field >= 3)
        at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t gnomon__os_begun_unix_ns(int as_child)
{
    char text[1024];
    struct timespec up;
    const uint64_t tick_ns = 10000000; /* in files of /proc, on all machines */
    const uint64_t executes_parents = 0x40; /* PF_FORKNOEXEC */
    const char *state = own_state(text, sizeof text);
    uint64_t ticks = state_field(state, 22);
    if (as_child && !(state_field(state, 9) & executes_parents))
        return 0;
    if (!ticks || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0;
    return gnomon__os_unix_ns() - (uint64_t)up.tv_sec * 1000000000u -
           (uint64_t)up.tv_nsec + ticks * tick_ns;
}

/* The 20th field is the number of threads, with the main one, which is a zombie
 * while others run. */
int gnomon__os_is_deserted(void)
{
    char text[1024];
    const char *state = own_state(text, sizeof text);
    if (state == NULL)
        return main_may_have_ended() ? -1 : 0;
    if (*state != 'Z')
        return 0;
    /* The program's own run must see its threads alone, and be the one that
     * exits: exit in a namespace runs the handlers of that namespace only. */
    if (gnomon__os_is_namespace())
        return -1;
    return state_field(state, 20) == 1 + gnomon__os_thread_count();
}

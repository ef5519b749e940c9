/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks that a child makes new, and sleeps that another thread ends. */
#include "platform/os_wait.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"

/* ---- Sleeps -------------------------------------------------------------------- */

#define FIRST_PAUSE_NS 100000u
#define LONGEST_PAUSE_NS 10000000u
/* A wake may be refused that was not before. */
#define LONGEST_WAIT_NS 1000000000u

/* The values of <linux/futex.h>, which is not there for musl. */
enum { OS_FUTEX_WAIT = 0 | 128, OS_FUTEX_WAKE = 1 | 128 };

void gnomon__os_pause(uint64_t *pause, uint64_t most_ns)
{
    uint64_t ns = *pause ? *pause : FIRST_PAUSE_NS;
    gnomon__os_sleep_ns(ns < most_ns ? ns : most_ns);
    *pause = 2 * ns < LONGEST_PAUSE_NS ? 2 * ns : LONGEST_PAUSE_NS;
}

void gnomon__os_wait(const uint32_t *word, uint32_t seen, uint64_t most_ns,
                     uint64_t *pause)
{
    int kept_errno = errno;
    most_ns = most_ns < LONGEST_WAIT_NS ? most_ns : LONGEST_WAIT_NS;
    const struct timespec most = {(time_t)(most_ns / 1000000000u),
                                  (long)(most_ns % 1000000000u)};
    if (syscall(SYS_futex, word, OS_FUTEX_WAIT, seen, &most) != 0 &&
        errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
        gnomon__os_pause(pause, most_ns);
    errno = kept_errno;
}

void gnomon__os_wait_until(const uint32_t *word, uint32_t wanted,
                           uint64_t most_ns)
{
    uint64_t now = gnomon__os_monotonic_ns(), until = now + most_ns, pause = 0;
    uint32_t seen = load_acquire(word);
    for (; seen != wanted && now < until; now = gnomon__os_monotonic_ns()) {
        gnomon__os_wait(word, seen, until - now, &pause);
        seen = load_acquire(word);
    }
}

static int wake_some(const uint32_t *word, int most)
{
    int kept_errno = errno;
    long woken = syscall(SYS_futex, word, OS_FUTEX_WAKE, most);
    errno = kept_errno;
    return woken >= 0;
}

int gnomon__os_wake(const uint32_t *word)
{
    return wake_some(word, INT_MAX);
}

/* ---- Locks --------------------------------------------------------------------- */

/* Beside a number in a lock: a thread of that process makes it new. */
#define BEING_MADE (1u << 31)

/* How long a lock is tried for that a thread of another process seems to hold, where
 * no page is wiped: the caller may be vfork's child, which shares the lock. */
#define OTHERS_NS 100000000u

/* Most locks are held for less than it takes to sleep. With more looks, or without a
 * rest between, two threads that take a lock all the time take turns, and each waits for
 * the other's cache lines. */
#define LOOKS_BEFORE_SLEEP 6

static inline int take_now(gnomon__os_lock *lock)
{
    uint32_t seen = 0;
    return cas_acq_rel(&lock->locked, &seen, 1u);
}

static void renew(gnomon__os_lock *lock, uint32_t number)
{
    store_relaxed(&lock->locked, 0);
    lock->pid = 0;
    store_release(&lock->made_in, number);
}

/* Two threads of a child may be here at once. The one that does not renew waits for the
 * other, which is of its own process: a child of this one has another number. */
static __attribute__((noinline, cold)) void renew_stale(gnomon__os_lock *lock,
                                                        uint32_t number)
{
    uint32_t made_in = load_acquire(&lock->made_in);
    uint64_t pause = 0;
    while (made_in != number) {
        if (made_in == (number | BEING_MADE))
            gnomon__os_pause(&pause, FIRST_PAUSE_NS);
        else if (cas_acq_rel(&lock->made_in, &made_in, number | BEING_MADE))
            renew(lock, number);
        made_in = load_acquire(&lock->made_in);
    }
}

/* Tries for a while, and then makes the lock new. */
static __attribute__((noinline, cold)) void renew_by_pid(gnomon__os_lock *lock)
{
    uint32_t pid = (uint32_t)gnomon__os_pid(), known = load_relaxed(&lock->pid);
    uint64_t pause = 0;
    int left = OTHERS_NS / FIRST_PAUSE_NS;
    if (known == pid)
        return;
    for (; known && left && !take_now(lock); left--)
        gnomon__os_pause(&pause, FIRST_PAUSE_NS);
    if (known && left)
        gnomon__os_lock_give(lock);
    else if (known)
        renew(lock, gnomon__os_own_number());
    store_relaxed(&lock->pid, pid);
}

static inline void look_for_child(gnomon__os_lock *lock)
{
    uint32_t number = gnomon__os_own_number();
    if (unlikely(load_acquire(&lock->made_in) != number))
        renew_stale(lock, number);
    else if (unlikely(load_relaxed(&gnomon__os_own_state) ==
                      GNOMON__OS_NOT_WIPED))
        renew_by_pid(lock);
}

int gnomon__os_is_new_child(uint32_t *made_in, uint32_t *pid)
{
    if (load_relaxed(&gnomon__os_own_state) != GNOMON__OS_NOT_WIPED) {
        uint32_t seen = load_relaxed(made_in), its = gnomon__os_own_number();
        return seen != its && cas_acq_rel(made_in, &seen, its);
    }
    uint32_t before = load_relaxed(pid), now = (uint32_t)gnomon__os_pid();
    store_relaxed(pid, now);
    return before && before != now;
}

static __attribute__((noinline, cold)) void wait_for_lock(gnomon__os_lock *lock)
{
    uint64_t pause = 0;
    for (int i = 0; i < LOOKS_BEFORE_SLEEP; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (!load_relaxed(&lock->locked) && take_now(lock))
            return;
    }
    while (swap_acq_rel(&lock->locked, 2u))
        gnomon__os_wait(&lock->locked, 2, UINT64_MAX, &pause);
}

void gnomon__os_lock_take(gnomon__os_lock *lock)
{
    look_for_child(lock);
    if (unlikely(!take_now(lock)))
        wait_for_lock(lock);
    if (unlikely(load_relaxed(&gnomon__os_is_watched)))
        gnomon__os_lock_watch(lock, 0);
}

int gnomon__os_lock_try(gnomon__os_lock *lock)
{
    look_for_child(lock);
    int is_taken = take_now(lock);
    if (unlikely(load_relaxed(&gnomon__os_is_watched)) && is_taken)
        gnomon__os_lock_watch(lock, 0);
    return is_taken;
}

void gnomon__os_lock_give(gnomon__os_lock *lock)
{
    if (unlikely(load_relaxed(&gnomon__os_is_watched)))
        gnomon__os_lock_watch(lock, 1);
    if (unlikely(swap_acq_rel(&lock->locked, 0u) == 2))
        (void)wake_some(&lock->locked, 1);
}

int gnomon__os_turn_wait(uint32_t *turns, gnomon__os_lock *lock, uint64_t until)
{
    uint32_t seen = load_relaxed(turns);
    uint64_t now = gnomon__os_monotonic_ns(), pause = 0;
    gnomon__os_lock_give(lock);
    for (; load_relaxed(turns) == seen && now < until;
         now = gnomon__os_monotonic_ns())
        gnomon__os_wait(turns, seen, until - now, &pause);
    gnomon__os_lock_take(lock);
    return load_relaxed(turns) != seen;
}

void gnomon__os_turn_tell(uint32_t *turns)
{
    add_relaxed(turns, 1);
    (void)gnomon__os_wake(turns);
}

/* Cancellation would leave the others waiting. */
void gnomon__os_once_slow(gnomon__os_once *once, void (*make)(void))
{
    int cancel = gnomon__os_cancel_off();
    gnomon__os_lock_take(&once->lock);
    if (!load_relaxed(&once->is_made)) {
        make();
        store_release(&once->is_made, 1);
    }
    gnomon__os_lock_give(&once->lock);
    gnomon__os_cancel_back(cancel);
}

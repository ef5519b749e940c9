/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waiting: a lock that no child of a fork finds held by a thread that it does not
 * have, and sleeps that another thread ends. */
#ifndef GNOMON_PLATFORM_OS_WAIT_H
#define GNOMON_PLATFORM_OS_WAIT_H

#include "platform/os.h"

/* A lock that records in which process it was initialized. A child has a copy of the
 * lock as it was at the fork: another thread of the parent may hold it, and will never
 * release it in the child. So a thread that takes a lock of an earlier process
 * initializes it first. Where the kernel wipes no page (os.h), process ids are compared
 * too. Not libc's: steps take one each, and where the kernel refuses futex, glibc ends the
 * process as a thread has to wait. */
typedef struct gnomon__os_lock {
    uint32_t locked;  /* 2: and others may sleep until it is not */
    uint32_t made_in; /* a number of a process */
    uint32_t pid; /* of who took it, where no page is wiped; 0: nobody did */
} gnomon__os_lock;

#define GNOMON__OS_LOCK \
    { \
        0, GNOMON__OS_FIRST_NUMBER, 0 \
    }

/* The page must be there before: gnomon__os_own_page. Before it is, a child's locks are as
 * they were. */
void gnomon__os_lock_take(gnomon__os_lock *lock);
int gnomon__os_lock_try(gnomon__os_lock *lock); /* 0: another thread has it */
void gnomon__os_lock_give(gnomon__os_lock *lock);
/* helgrind or drd runs, to which is told what comes after a take and before a give:
 * os_valgrind.c. */
GNOMON__DATA uint32_t gnomon__os_is_watched;
void gnomon__os_lock_watch(const gnomon__os_lock *lock, int is_given);

/* Like pthread_once, but in a child of clone no caller waits for ever. */
typedef struct gnomon__os_once {
    gnomon__os_lock lock;
    uint32_t is_made;
} gnomon__os_once;

#define GNOMON__OS_ONCE \
    { \
        GNOMON__OS_LOCK, 0 \
    }

void gnomon__os_once_slow(gnomon__os_once *once, void (*make)(void));
static inline void gnomon__os_make_once(gnomon__os_once *once,
                                        void (*make)(void))
{
    if (unlikely(!load_acquire(&once->is_made)))
        gnomon__os_once_slow(once, make);
}

/* 1: in a child, at the first such question that it asks with these two words, which are
 * GNOMON__OS_FIRST_NUMBER and 0 at first. */
int gnomon__os_is_new_child(uint32_t *made_in, uint32_t *pid);

/* Sleeps for *pause, `most` at most, and doubles it, up to 10 ms. 0: 0.1 ms. For what no
 * other thread can tell. */
void gnomon__os_pause(uint64_t *pause, uint64_t most_ns);

/* Sleeps while *word is `seen`, until it is woken, for `most_ns` at most, and a second.
 * It may return earlier. Where the kernel refuses that, it pauses, as above. Keeps errno; also in a
 * signal handler. */
void gnomon__os_wait(const uint32_t *word, uint32_t seen, uint64_t most_ns,
                     uint64_t *pause);
/* Until *word is `wanted`, by whoever changes and wakes it, for `most_ns` at most. */
void gnomon__os_wait_until(const uint32_t *word, uint32_t wanted,
                           uint64_t most_ns);
/* Wakes all who wait for it. The word was changed before. 0: the kernel refuses it. */
int gnomon__os_wake(const uint32_t *word);

/* A condition variable: libc's end the process where the kernel refuses futex. The word
 * counts the calls of _tell. Both are called with the lock, which _wait gives away while
 * it waits. `until` is by gnomon__os_monotonic_ns; 0: it has come. */
int gnomon__os_turn_wait(uint32_t *turns, gnomon__os_lock *lock,
                         uint64_t until);
void gnomon__os_turn_tell(uint32_t *turns);

#endif

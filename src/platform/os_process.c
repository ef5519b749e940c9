/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether the memory is that of the process that recorded into it, or a child's
 * copy. fork() runs handlers; clone(), _Fork() and vfork() do not. So the
 * kernel is asked to give every child one page of zeroes, and where memory is
 * shared, as after vfork(), the process ids are compared. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/os.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define OWN_PAGE 4096u

/* Used in place of the page until one is needed, and where there is none. */
static uint32_t no_page[GNOMON__OS_OWN_WORDS] = {UINT32_MAX,
                                                 GNOMON__OS_FIRST_NUMBER};
_Static_assert(GNOMON__OS_OWN_RUN == 0, "it is a mask");
uint32_t *gnomon__os_own = no_page;
uint32_t gnomon__os_own_state;
static int64_t owner_pid;
static uint32_t last_number = GNOMON__OS_FIRST_NUMBER; /* that was taken */

/* Two threads may be here at once: one page is kept. The page is stored before the
 * call that makes the kernel wipe it in children, and a thread takes no lock before
 * that call. So a fork, which excludes that call, copies no held lock without the
 * page that says so. */
void gnomon__os_own_page_slow(void)
{
    uint32_t *none = no_page, *page = gnomon__os_map(OWN_PAGE);
    int kept_errno = errno;
    if (page) {
        memcpy(page, no_page, sizeof no_page);
        if (!cas_acq_rel(&gnomon__os_own, &none, page)) /* or in a child */
            gnomon__os_unmap(page, OWN_PAGE);
    }
    page = load_relaxed(&gnomon__os_own);
    /* Since Linux 4.14; before it only process ids are compared. */
    int is_wiped = page != no_page && !madvise(page, OWN_PAGE, MADV_WIPEONFORK);
    store_release(&gnomon__os_own_state,
                  is_wiped ? GNOMON__OS_WIPED : GNOMON__OS_NOT_WIPED);
    errno = kept_errno;
}

/* In a child. If several threads are here, one of them sets it. The last number is
 * raised first: a child that is forked in between takes a higher one. */
uint32_t gnomon__os_own_number_slow(uint32_t *word)
{
    uint32_t number = 0, next = add_relaxed(&last_number, 1) + 1;
    return cas_acq_rel(word, &number, next) ? next : number;
}

void gnomon__os_own_forget(void)
{
    store_relaxed(&load_relaxed(&gnomon__os_own)[GNOMON__OS_OWN_NUMBER], 0);
}

int64_t gnomon__os_claim(void)
{
    int64_t before = load_relaxed(&owner_pid);
    gnomon__os_own_page();
    store_relaxed(&load_acquire(&gnomon__os_own)[GNOMON__OS_OWN_RUN],
                  load_relaxed(&gnomon__os_own_state) == GNOMON__OS_WIPED
                      ? UINT32_MAX
                      : 0);
    store_relaxed(&owner_pid, (int64_t)getpid());
    return before;
}

int gnomon__os_is_copy(void)
{
    return gnomon__os_runs_in_copy() && load_relaxed(&owner_pid) &&
           load_relaxed(&gnomon__os_own_state) != GNOMON__OS_NOT_WIPED;
}

int gnomon__os_runs_in_child(void)
{
    return load_relaxed(&gnomon__os_own_state) != GNOMON__OS_NOT_WIPED ||
           load_relaxed(&owner_pid) != getpid();
}

int gnomon__os_is_owner(void)
{
    int64_t by = load_relaxed(&owner_pid);
    return !by || (!gnomon__os_is_copy() && by == getpid());
}

/* Without random bytes of the kernel: numbers that no other process has at
 * this time. */
void gnomon__os_random(void *bytes, size_t size)
{
    static uint32_t times;
    char *at = bytes;
    if (getrandom(bytes, size, GRND_NONBLOCK) == (ssize_t)size)
        return;
    uint64_t x = gnomon__os_unix_ns() ^ (uint64_t)gnomon__os_pid() << 40;
    x += add_relaxed(&times, 1);
    for (size_t i = 0; i < size; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        at[i] = (char)(x >> 56);
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linux with glibc or musl: time, identity, pages, barriers. The other
 * os_*.c files have files, libraries, signals and forks.
 *
 * What a mark can reach (map, unmap, and all that only reads) keeps errno.
 * Nothing here allocates. */
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; headers may be older */
#endif

/* ---- Time and identity --------------------------------------------------- */

static uint64_t read_clock(clockid_t id)
{
    struct timespec now = {0, 0};
    clock_gettime(id, &now); /* fails only where a sandbox forbids it */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t gnomon__os_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t gnomon__os_unix_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t gnomon__os_pid(void)
{
    return getpid();
}

int64_t gnomon__os_thread_id(void)
{
    return syscall(SYS_gettid);
}

void gnomon__os_thread_name(char name[16])
{
    *name = 0;
    (void)prctl(PR_GET_NAME, name);
}

void gnomon__os_name_of_thread(int64_t id, char name[16])
{
    char path[48], text[17];            /* with the newline */
    if (id == gnomon__os_thread_id()) { /* a file of /proc takes 6 us */
        gnomon__os_thread_name(name);
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/self/task/%" PRId64 "/comm", id);
    size_t n = gnomon__os_read_small(path, text, sizeof text);
    if (n)
        memcpy(name, text, n);
    if (n)
        name[n - 1] = 0;
}

void gnomon__os_host_name(char name[256])
{
    if (gethostname(name, 255) != 0)
        *name = 0;
    name[255] = 0;
}

size_t gnomon__os_read_small(const char *path, char *text, size_t size)
{
    int cancel = gnomon__os_cancel_off();
    int kept_errno = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        (void)close(fd);
    }
    errno = kept_errno;
    gnomon__os_cancel_back(cancel);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

void gnomon__os_clock_source(char *buffer, size_t size)
{
    (void)gnomon__os_read_small("/sys/devices/system/clocksource/clocksource0/"
                                "current_clocksource",
                                buffer, size);
    buffer[strcspn(buffer, "\n")] = 0;
}

int gnomon__os_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

uint64_t gnomon__hang_ns(void)
{
#ifdef GNOMON_TESTING
    return gnomon__test_hang_ns;
#else
    return GNOMON__HANG_NS;
#endif
}

void gnomon__os_sleep_ns(uint64_t ns)
{
    struct timespec left;
    left.tv_sec = (time_t)(ns / 1000000000u);
    left.tv_nsec = (long)(ns % 1000000000u);
    /* libc's nanosleep may be a cancellation point */
    while (syscall(SYS_nanosleep, &left, &left) != 0 && errno == EINTR)
        continue;
}

/* ---- Pages --------------------------------------------------------------- */

#define LARGE_MAPPING (1u << 20)

int gnomon__os_locks_pages(void)
{
    int kept_errno = errno, locks;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char is_there = 0;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        locks = errno == EAGAIN; /* RLIMIT_MEMLOCK is reached */
    } else {
        locks = mincore(page, size, &is_there) == 0 && (is_there & 1);
        (void)munmap(page, size);
    }
    errno = kept_errno;
    return locks;
}

/* Maps pages without locking them: pages without access are not filled, and
 * unlocked ones are not filled when they get access. */
static void *map_unlocked(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return pages;
    (void)munlock(pages, bytes);
    if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0)
        return pages;
    (void)munmap(pages, bytes);
    return MAP_FAILED;
}

void *gnomon__os_map(size_t bytes)
{
    int kept_errno = errno;
    void *pages;
#ifdef GNOMON_TESTING
    if (gnomon__test_allocation_fails())
        return NULL;
#endif
    if (bytes >= LARGE_MAPPING && gnomon__os_locks_pages())
        pages = map_unlocked(bytes);
    else
        pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = kept_errno;
    return pages == MAP_FAILED ? NULL : pages;
}

void *gnomon__os_map_shared(void)
{
    int kept_errno = errno;
    void *page =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    errno = kept_errno;
    return page == MAP_FAILED ? NULL : page;
}

void gnomon__os_unmap(void *pages, size_t bytes)
{
    int kept_errno = errno;
    if (pages != NULL)
        (void)munmap(pages, bytes);
    errno = kept_errno;
}

int gnomon__os_populate(void *pages, size_t bytes)
{
    int kept_errno = errno;
    int is_done = madvise(pages, bytes, MADV_POPULATE_WRITE) == 0;
    errno = kept_errno;
    return is_done;
}

/* The smallest unit of statm is a page, its first word all that is mapped, its
 * sixth what is private and writable. Where it cannot be read, a quarter of the
 * limit is taken to be free. */
uint64_t gnomon__os_mappable_bytes(void)
{
    int kept_errno = errno, field = 0;
    uint64_t used[7] = {0}, page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit all, data;
    char text[128];
    if (getrlimit(RLIMIT_AS, &all) != 0)
        all.rlim_cur = RLIM_INFINITY;
    if (getrlimit(RLIMIT_DATA, &data) != 0)
        data.rlim_cur = RLIM_INFINITY;
    errno = kept_errno;
    if (all.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    size_t n = gnomon__os_read_small("/proc/self/statm", text, sizeof text), i;
    for (i = 0; i < n && field < 7; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            used[field] = used[field] * 10 + (uint64_t)(text[i] - '0');
        else
            field++;
    }
    uint64_t room[2] = {all.rlim_cur, data.rlim_cur};
    for (i = 0; i < 2; i++) {
        uint64_t taken = page * used[i == 0 ? 0 : 5];
        if (room[i] == RLIM_INFINITY)
            room[i] = UINT64_MAX;
        else if (n == 0)
            room[i] /= 4;
        else
            room[i] = room[i] > taken ? room[i] - taken : 0;
    }
    return room[0] < room[1] ? room[0] : room[1];
}

/* ---- Barriers ------------------------------------------------------------ */

/* membarrier(2); not every libc has its header. */
enum barrier_commands {
    BARRIER_QUERY = 0,
    BARRIER_GLOBAL = 1, /* waits for a grace period: milliseconds */
    BARRIER_PRIVATE = 1 << 3,
    BARRIER_REGISTER_PRIVATE = 1 << 4
};

/* The command in use; 0: not asked yet, -1: there is none. */
static int barrier_command;

static int call_membarrier(int command)
{
    int kept_errno = errno;
    long result = syscall(SYS_membarrier, command, 0, 0);
    errno = kept_errno;
    return (int)result;
}

int gnomon__os_barrier_prepare(void)
{
    int known = call_membarrier(BARRIER_QUERY), command = -1;
    if (known > 0) {
        if ((known & BARRIER_PRIVATE) &&
            call_membarrier(BARRIER_REGISTER_PRIVATE) == 0)
            command = BARRIER_PRIVATE;
        else if (known & BARRIER_GLOBAL)
            command = BARRIER_GLOBAL;
    }
    store_relaxed(&barrier_command, command);
    return command > 0;
}

int gnomon__os_barrier(void)
{
    int command = load_relaxed(&barrier_command);
    if (command == 0) {
        (void)gnomon__os_barrier_prepare();
        command = load_relaxed(&barrier_command);
    }
    return command > 0 && call_membarrier(command) == 0;
}

/* ---- Cancellation ----------------------------------------------------------- */

/* Not in POSIX's list for signal handlers, but a few words of the thread in glibc
 * and in musl.
 *
 * glibc gives a thread its tables of characters when it starts it. A thread of
 * another namespace's libc (dlmopen) has none of this one, and printf of a double
 * crashes. Setting the locale that the thread has sets them too. */
int gnomon__os_cancel_off(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    (void)uselocale(uselocale((locale_t)0));
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void gnomon__os_cancel_back(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

int gnomon__os_async_off(void)
{
    int before = PTHREAD_CANCEL_DEFERRED;
    (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    return before;
}

void gnomon__os_async_back(int before)
{
    if (unlikely(before != PTHREAD_CANCEL_DEFERRED))
        (void)pthread_setcanceltype(before, NULL);
}

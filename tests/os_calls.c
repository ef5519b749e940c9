/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one table of calls that reach the kernel or the loader and may fail. In the testing
 * library they have the names of functions here (cmake/GnomonTesting.cmake), each of which
 * counts, then fails or makes the real call; a test makes the n-th of one name, or of all,
 * fail (tests/run/test_faults.c). tests/imports lists what else the library may call: a
 * call that is in neither list fails there, so that nobody forgets to add a line here.
 *
 * Not here is what fails only by a mistake of ours (pthread_join, mutexes, sets
 * of signals) and the heap, whose failures memory.h makes.
 *
 * One fault is set at a time. Calls of any thread count, also those of a
 * thread of ours that runs meanwhile. */
#include "os_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/os.h"

static struct call_fault {
    const char *name;
    uint64_t first, many, seen;
    int error;
} fault;

void gnomon__test_fail_calls(const char *name, uint64_t n, uint64_t many,
                             int error)
{
    store_relaxed(&fault.first, 0);
    store_relaxed(&fault.name, name);
    store_relaxed(&fault.many, many);
    store_relaxed(&fault.error, error);
    store_relaxed(&fault.seen, 0);
    store_release(&fault.first, n); /* pairs with call_fails */
}

static void (*at_call)(void);

void gnomon__test_at_calls(void (*act)(void))
{
    store_release(&at_call, act); /* pairs with call_fails */
}

uint64_t gnomon__test_calls(void)
{
    return load_relaxed(&fault.seen);
}

/* The error this call is to fail with; 0: none. */
static int call_fails(const char *name, int usual)
{
    uint64_t first = load_acquire(&fault.first), seen;
    const char *which = load_relaxed(&fault.name);
    void (*act)(void) = load_acquire(&at_call);
    if (act != NULL)
        act();
    if (first == 0 || (which != NULL && strcmp(which, name) != 0))
        return 0;
    seen = add_relaxed(&fault.seen, 1) + 1;
    if (seen < first || seen - first >= load_relaxed(&fault.many))
        return 0;
    int error = load_relaxed(&fault.error);
    return error != 0 ? error : usual;
}

#ifdef __GLIBC__ /* whose getrlimit takes an enum */
typedef __rlimit_resource_t os_resource;
#else
typedef int os_resource;
#endif
/* One call in each line: its name, its return type, its value when it fails
 * with `error`, its usual error, its parameters, its arguments. A close that
 * fails has closed the descriptor, as on Linux. */
#define OS_CALLS(CALL) \
    CALL(atexit, int, error, ENOMEM, (void (*f)(void)), (f)) \
    CALL(clock_gettime, int, (errno = error, -1), EPERM, \
         (clockid_t clock, struct timespec * out), (clock, out)) \
    CALL(close, int, (close(fd), errno = error, -1), EIO, (int fd), (fd)) \
    CALL(dlinfo, int, -1, EINVAL, (void *library, int what, void *out), \
         (library, what, out)) \
    CALL(dlopen, void *, NULL, ENOMEM, (const char *file, int flags), \
         (file, flags)) \
    CALL(dlsym, void *, NULL, ENOENT, (void *library, const char *name), \
         (library, name)) \
    CALL(fcntl, int, (errno = error, -1), EBADF, (int fd, int what, int with), \
         (fd, what, with)) \
    CALL(fstat, int, (errno = error, -1), EIO, (int fd, struct stat *out), \
         (fd, out)) \
    CALL(fstatat, int, (errno = error, -1), EIO, \
         (int folder, const char *path, struct stat *out, int flags), \
         (folder, path, out, flags)) \
    CALL(ftruncate, int, (errno = error, -1), EIO, (int fd, off_t size), \
         (fd, size)) \
    CALL(futimens, int, (errno = error, -1), EPERM, \
         (int fd, const struct timespec times[2]), (fd, times)) \
    CALL(getcwd, char *, (errno = error, NULL), ENOENT, \
         (char *buffer, size_t size), (buffer, size)) \
    CALL(gethostname, int, (errno = error, -1), EPERM, \
         (char *name, size_t size), (name, size)) \
    CALL(getrandom, ssize_t, (errno = error, -1), EAGAIN, \
         (void *bytes, size_t size, unsigned flags), (bytes, size, flags)) \
    CALL(getrlimit, int, (errno = error, -1), EINVAL, \
         (os_resource resource, struct rlimit * out), (resource, out)) \
    CALL(ioctl, int, (errno = error, -1), ENOTTY, \
         (int fd, unsigned long what, struct winsize *size), (fd, what, size)) \
    CALL(madvise, int, (errno = error, -1), EINVAL, \
         (void *at, size_t size, int advice), (at, size, advice)) \
    CALL(mincore, int, (errno = error, -1), ENOSYS, \
         (void *at, size_t size, unsigned char *out), (at, size, out)) \
    CALL(mkdirat, int, (errno = error, -1), EROFS, \
         (int folder, const char *path, mode_t mode), (folder, path, mode)) \
    CALL(mmap, void *, (errno = error, MAP_FAILED), ENOMEM, \
         (void *at, size_t size, int prot, int flags, int fd, off_t from), \
         (at, size, prot, flags, fd, from)) \
    CALL(mprotect, int, (errno = error, -1), ENOMEM, \
         (void *at, size_t size, int prot), (at, size, prot)) \
    CALL(munlock, int, (errno = error, -1), EPERM, \
         (const void *at, size_t size), (at, size)) \
    CALL(munmap, int, (errno = error, -1), ENOMEM, (void *at, size_t size), \
         (at, size)) \
    CALL(open, int, (errno = error, -1), EMFILE, \
         (const char *path, int flags, mode_t mode), (path, flags, mode)) \
    CALL(openat, int, (errno = error, -1), ENFILE, \
         (int folder, const char *path, int flags, mode_t mode), \
         (folder, path, flags, mode)) \
    CALL(poll, int, (errno = error, -1), ENOMEM, \
         (struct pollfd * files, nfds_t count, int ms), (files, count, ms)) \
    CALL(prctl, int, (errno = error, -1), EPERM, (int option, char *name), \
         (option, name)) \
    CALL(process_vm_readv, ssize_t, (errno = error, -1), EPERM, \
         (pid_t of, const struct iovec *to, unsigned long a, \
          const struct iovec *from, unsigned long b, unsigned long flags), \
         (of, to, a, from, b, flags)) \
    CALL(pthread_atfork, int, error, ENOMEM, \
         (void (*a)(void), void (*b)(void), void (*c)(void)), (a, b, c)) \
    CALL(pthread_create, int, error, EAGAIN, \
         (pthread_t * out, const pthread_attr_t *how, void *(*run)(void *), \
          void *argument), \
         (out, how, run, argument)) \
    CALL(pthread_key_create, int, error, EAGAIN, \
         (pthread_key_t * out, void (*end)(void *)), (out, end)) \
    CALL(pthread_setspecific, int, error, ENOMEM, \
         (pthread_key_t key, const void *value), (key, value)) \
    CALL(pthread_sigmask, int, error, EPERM, \
         (int how, const sigset_t *set, sigset_t *old), (how, set, old)) \
    CALL(pread, ssize_t, (errno = error, -1), EIO, \
         (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at)) \
    CALL(read, ssize_t, (errno = error, -1), EIO, \
         (int fd, void *bytes, size_t size), (fd, bytes, size)) \
    CALL(readlinkat, ssize_t, (errno = error, -1), EIO, \
         (int folder, const char *path, char *text, size_t size), \
         (folder, path, text, size)) \
    CALL(raise, int, (errno = error, -1), EPERM, (int number), (number)) \
    CALL(renameat, int, (errno = error, -1), EXDEV, \
         (int from, const char *name, int to, const char *new_name), \
         (from, name, to, new_name)) \
    CALL(sigaction, int, (errno = error, -1), EPERM, \
         (int number, const struct sigaction *want, struct sigaction *old), \
         (number, want, old)) \
    CALL(sigpending, int, (errno = error, -1), EPERM, (sigset_t * out), (out)) \
    CALL(sigtimedwait, int, (errno = error, -1), EPERM, \
         (const sigset_t *set, siginfo_t *out, const struct timespec *most), \
         (set, out, most)) \
    CALL(statx, int, (errno = error, -1), ENOSYS, \
         (int folder, const char *path, int flags, unsigned what, \
          struct statx *out), \
         (folder, path, flags, what, out)) \
    CALL(syscall, long, (errno = error, -1), ENOSYS, \
         (long number, long a, long b, long c, long d, long e), \
         (number, a, b, c, d, e)) \
    CALL(unlinkat, int, (errno = error, -1), EROFS, \
         (int folder, const char *path, int flags), (folder, path, flags)) \
    CALL(write, ssize_t, (errno = error, -1), ENOSPC, \
         (int fd, const void *bytes, size_t size), (fd, bytes, size))

/* Arguments that the caller leaves out are whatever the register holds, and go on so. */
#define OS_CALL(name, type, failed, usual, parameters, args) \
    type gnomon__test_##name parameters; \
    type gnomon__test_##name parameters \
    { \
        int error = call_fails(#name, usual); \
        return error != 0 ? (failed) : name args; \
    }
OS_CALLS(OS_CALL)

static const char *const call_names[] = {
#define OS_CALL_NAME(name, type, failed, usual, parameters, args) #name,
    OS_CALLS(OS_CALL_NAME)};

const char *gnomon__test_call_name(size_t i)
{
    return i < sizeof call_names / sizeof *call_names ? call_names[i] : NULL;
}

uint64_t gnomon__test_hang_ns = 60 * GNOMON__HANG_NS;

/* Profilers and exports use libc's heap: their calls in tests. */
void *gnomon__test_calloc(size_t count, size_t bytes);
void *gnomon__test_realloc(void *old, size_t bytes);

void *gnomon__test_calloc(size_t count, size_t bytes)
{
    return gnomon__test_allocation_fails() ? NULL : calloc(count, bytes);
}

void *gnomon__test_realloc(void *old, size_t bytes)
{
    return gnomon__test_allocation_fails() ? NULL : realloc(old, bytes);
}
